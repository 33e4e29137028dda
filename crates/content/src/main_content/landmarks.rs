//! Uses what the author of a page marks as its main content, and what as navigation: there is no need to guess at them.
//! In documentation, there is hardly any need to guess at what is among the content either: signatures, lists of members
//! and tables of links have few words, but are what readers look for. If a `main`, or a page without one, has few words,
//! there is too little to compare, and all of its words are kept.

use std::ops::Range;

use super::block::Block;
use super::classifier;
use super::kind::PageKind;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;
use crate::markdown::{code, shape};

/// Minimum words of a `main` that counts: less may be a placeholder.
const MIN_WORDS: i64 = 5;
/// Words below which everything in a `main`, or in a page without one, is its content.
const SHORT_WORDS: i64 = 40;
/// Minimum probability of a block that is likely to be content, in per mille.
const LIKELY: i32 = 500;
/// The same in documentation where the best cut is lower.
const MIN_LIKELY: i32 = 350;
/// Minimum probability of a block in the `main` of documentation, or in a short one, in per mille.
const CONTENT_PROBABILITY: i32 = 600;
/// Share of the likely words that the element of the content has, in percent.
const CONTENT_PERCENT: i64 = 98;
/// Share of its words in links from which a block may lead to other pages, in percent.
const LINKED_PERCENT: i32 = 50;
/// Maximum number of elements between a text and the code block that it is in.
const MAX_CODE_LEVELS: usize = 4;
/// Minimum words of a paragraph after the last text that is likely content.
const PARAGRAPH_WORDS: i32 = 12;

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
    let is_of_site = |block: &Block| match main {
        Some(_) => !is_inside(block) && block.is_of_site(),
        None => block.is_in_navigation(),
    };
    let (mut own, mut likely, mut navigation) = (0, 0, 0);
    for (block, &probability) in blocks.iter().zip(&*probabilities) {
        let (size, is_likely) = (i64::from(block.size()), probability >= LIKELY);
        if is_of_site(block) {
            navigation += if is_likely { size } else { 0 };
        } else if is_inside(block) && !block.is_of_site() {
            own += size;
            likely += if is_likely { size } else { 0 };
        }
    }
    let is_documentation = kind == PageKind::Documentation;
    let keeps_inside = own < SHORT_WORDS || is_documentation && main.is_some();
    let leaves_navigation = own >= MIN_WORDS && (keeps_inside || navigation > likely);
    let content = match main {
        None if is_documentation && !keeps_inside => content(dom, body, blocks, probabilities),
        _ => 0..0,
    };
    if content.is_empty() && !leaves_navigation && (main.is_some() || !keeps_inside) {
        return false;
    }
    // Text that has no element of its own belongs to the content when the content begins after it.
    let (start, is_found) = (content.start, !content.is_empty());
    let is_around = |block: &Block| is_found && block.id < start && start < dom.end(block.id);
    for (block, probability) in blocks.iter().zip(probabilities) {
        let is_linked = leads_elsewhere(dom, block);
        // In documentation, a name such as `meta` or `tags` is that of a note.
        let is_beside = block.is_of_site()
            || match is_documentation && !is_linked {
                true => block.is_surely_beside(),
                false => block.is_named_beside(),
            };
        if leaves_navigation && is_of_site(block) && !block.is_title() {
            *probability = 0;
        } else if !is_beside
            && (keeps_inside && is_inside(block)
                || !is_linked && (content.contains(&block.id) || is_around(block)))
        {
            *probability = (*probability).max(CONTENT_PROBABILITY);
        }
    }
    leaves_navigation || keeps_inside
}

/// Returns true for text that is mainly links. Links in code lead to definitions.
fn leads_elsewhere(dom: &Dom, block: &Block) -> bool {
    let mut around = dom.inclusive_ancestors(block.id).take(MAX_CODE_LEVELS + 1);
    block.linked_percent() >= LINKED_PERCENT && !around.any(|id| code::is_block(dom, id))
}

/// Returns the nodes from the first to the last text that is likely content in the smallest element that has most of it.
fn content(dom: &Dom, body: NodeId, blocks: &[Block], probabilities: &[i32]) -> Range<NodeId> {
    let sized = blocks.iter().zip(probabilities);
    let mut sized: Vec<(i32, i64)> = sized
        .map(|(block, &probability)| (probability, i64::from(block.size())))
        .collect();
    let least = classifier::cut(&mut sized, 1000).0.clamp(MIN_LIKELY, LIKELY);
    let is_likely = |&(block, &probability): &(&Block, &i32)| probability >= least && !block.is_of_site();
    let likely = || {
        blocks
            .iter()
            .zip(probabilities)
            .filter(is_likely)
            .map(|(block, _)| block)
    };
    let mut words = vec![0i64; dom.nodes.len()];
    for block in likely() {
        words[block.id as usize] = i64::from(block.size());
    }
    for id in (body + 1..dom.end(body)).rev() {
        words[dom.parent(id) as usize] += words[id as usize];
    }
    let least = (words[body as usize] * CONTENT_PERCENT / 100).max(1);
    let mut element = body;
    while let Some(child) = dom
        .children(element)
        .find(|&child| words[child as usize] >= least)
    {
        element = child;
    }
    let range = element..dom.end(element);
    let mut inside = likely().map(|block| block.id).filter(|id| range.contains(id));
    let Some(first) = inside.next() else {
        return 0..0;
    };
    let last = inside.next_back().unwrap_or(first);
    let start = blocks.partition_point(|block| block.id < first);
    let end = blocks.partition_point(|block| block.id <= last);
    // Paragraphs that follow belong to it, too.
    let is_paragraph = |block: &&Block| {
        block.size() >= PARAGRAPH_WORDS && block.linked_percent() < LINKED_PERCENT && !block.is_of_site()
    };
    let after = blocks[end..]
        .iter()
        .take_while(|block| range.contains(&block.id))
        .take_while(is_paragraph);
    beginning(dom, &blocks[..start]).unwrap_or(first)..after.last().map_or(last, |block| block.id) + 1
}

/// Returns the first block of those before the likely content that belong to it: up to the title of the page, and not
/// beyond links.
fn beginning(dom: &Dom, before: &[Block]) -> Option<NodeId> {
    let mut first = None;
    for block in before.iter().rev() {
        let is_beside = match block.linked_percent() {
            0 => block.is_surely_beside(),
            _ => block.is_named_beside(),
        };
        if block.is_of_site() || is_beside || leads_elsewhere(dom, block) {
            break;
        }
        first = Some(block.id);
        if block.is_title() || shape::is_doxygen_title(dom, block.id) {
            break;
        }
    }
    first
}

/// Returns the `main` of a page that has exactly one.
fn only_main(dom: &Dom, body: NodeId) -> Option<NodeId> {
    let is_main = |&id: &NodeId| dom.tag(id) == Tag::Main || dom.attr(id, attr::ROLE) == Some("main");
    let first = dom.below(body).find(is_main)?;
    let another = (dom.end(first)..dom.end(body)).find(is_main);
    another.is_none().then_some(first)
}
