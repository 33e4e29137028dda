//! Uses what the author of a page marks as its main content. In a page with one `main`, there is no need to guess at
//! the navigation and footers. In documentation, there is hardly any need to guess at what is in the `main` either:
//! signatures, lists of members and tables of links have few words, but are what readers look for. If a `main`, or a
//! page without one, has few words, there is too little to compare, and all of its words are kept.

use super::features::Block;
use super::kind::PageKind;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Minimum words of a `main` that counts: less may be a placeholder.
const MIN_WORDS: i64 = 5;
/// Words below which everything in a `main`, or in a page without one, is its content.
const SHORT_WORDS: i64 = 40;
/// Minimum probability of a block that is likely to be content, in per mille.
const LIKELY: i32 = 500;
/// Minimum probability of a block in the `main` of documentation, or in a short one, in per mille.
const CONTENT_PROBABILITY: i32 = 600;

/// Adjusts the probabilities of blocks by the only `main` of a page: in documentation, where the `main` is short, and where
/// navigation would be taken for the content. Returns whether it did.
pub(super) fn adjust(
    dom: &Dom,
    body: NodeId,
    kind: PageKind,
    blocks: &[Block],
    probabilities: &mut [i32],
) -> bool {
    let main = only_main(dom, body);
    let is_inside = |block: &Block| main.is_none_or(|main| (main..dom.end(main)).contains(&block.id));
    let (mut own, mut likely, mut navigation) = (0, 0, 0);
    for (block, &probability) in blocks.iter().zip(&*probabilities) {
        let (size, is_likely) = (i64::from(block.size()), probability >= LIKELY);
        match (is_inside(block), block.of_site) {
            (true, false) => {
                own += size;
                likely += if is_likely { size } else { 0 };
            }
            (false, true) if is_likely => navigation += size,
            _ => {}
        }
    }
    let is_documentation = main.is_some() && kind == PageKind::Documentation;
    let keeps_inside = is_documentation || own < SHORT_WORDS;
    if (main.is_some() && own < MIN_WORDS) || !(keeps_inside || navigation > likely) {
        return false;
    }
    for (block, probability) in blocks.iter().zip(probabilities) {
        if !is_inside(block) && block.of_site && !block.is_title() {
            *probability = 0;
        } else if is_inside(block) && keeps_inside && !block.named_beside && !block.of_site {
            *probability = (*probability).max(CONTENT_PROBABILITY);
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
