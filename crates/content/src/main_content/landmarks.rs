//! What the author of a page marks as its main content. A page with one `main` needs no guess about its navigation and
//! footers, and in documentation hardly any about what is in the `main`: signatures, lists of members and tables of links
//! have few words, but are what readers look for.

use super::features::Block;
use super::kind::PageKind;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Words from which a `main` counts: less may be a placeholder.
const MIN_WORDS: i64 = 5;
/// Least probability of a block in the `main` of documentation, in per mille.
const DOCUMENTATION_PROBABILITY: i32 = 600;

/// Adjusts the probabilities of blocks by the only `main` of a page. Returns false if it has none with text.
pub(super) fn adjust(
    dom: &Dom,
    body: NodeId,
    kind: PageKind,
    blocks: &[Block],
    probabilities: &mut [i32],
) -> bool {
    let Some(main) = only_main(dom, body) else {
        return false;
    };
    let is_inside = |block: &Block| (main..dom.end(main)).contains(&block.id);
    let own = blocks.iter().filter(|block| is_inside(block) && !block.of_site);
    if own.map(|block| i64::from(block.size())).sum::<i64>() < MIN_WORDS {
        return false;
    }
    for (block, probability) in blocks.iter().zip(probabilities) {
        if !is_inside(block) && block.of_site && !block.is_title() {
            *probability = 0;
        } else if is_inside(block) && kind == PageKind::Documentation && !block.named_beside && !block.of_site
        {
            *probability = (*probability).max(DOCUMENTATION_PROBABILITY);
        }
    }
    true
}

/// Returns the `main` of a page that has exactly one.
fn only_main(dom: &Dom, body: NodeId) -> Option<NodeId> {
    let is_main = |&id: &NodeId| dom.tag(id) == Tag::Main || dom.attr(id, attr::ROLE) == Some("main");
    let first = dom.below(body).find(is_main)?;
    let another = (dom.end(first)..dom.end(body)).find(is_main);
    another.is_none().then_some(first)
}
