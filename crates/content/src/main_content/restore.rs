//! Corrects the model's decisions where the structure of the page says more than one block can: keeps what
//! stands among kept text, and everything where the page has no part that stands out.

use super::features::Block;
use super::kind::PageKind;
use crate::html::dom::Dom;
use crate::html::tag::Tag;

/// Expected score of the best cut, in millionths, below which the main content is unclear.
const MIN_EXPECTED: i64 = 350_000;
/// Least probability of a heading that introduces kept text, in per mille.
const MIN_HEADING_PROBABILITY: i32 = 100;
/// The same for a block next to the paragraphs of a `main` or `article`.
const MIN_BESIDE_PROBABILITY: i32 = 200;
/// The same for the heading of a section of which most words are kept.
const MIN_SECTION_PROBABILITY: i32 = 50;
/// Blocks of a section that are read, and words of it that must be kept.
const SECTION_BLOCKS: usize = 40;
const MIN_SECTION_WORDS: i32 = 4;

/// Raises the probabilities of blocks that belong to kept content to `cut`.
pub(super) fn restore(dom: &Dom, kind: PageKind, blocks: &[Block], probabilities: &mut [i32], cut: i32) {
    let keep: Vec<bool> = probabilities.iter().map(|&p| p >= cut).collect();
    let is_kept = |at: Option<usize>| at.and_then(|at| keep.get(at)).is_some_and(|&kept| kept);
    // Backwards, so that a heading can introduce one that introduces text.
    for (at, block) in blocks.iter().enumerate().rev() {
        if keep[at] || block.leads_away || block.named_beside {
            continue;
        }
        // Text is below every heading.
        let level = |at: usize| dom.tag(blocks[at].id).heading_level().map_or(7, u32::from);
        let introduces = (2..7).contains(&level(at))
            && probabilities[at] >= MIN_HEADING_PROBABILITY
            && probabilities.get(at + 1).is_some_and(|&next| next >= cut)
            && level(at + 1) > level(at);
        let among = is_kept(at.checked_sub(1)) && is_kept(Some(at + 1));
        let beside = block.within_main && probabilities[at] >= MIN_BESIDE_PROBABILITY;
        if introduces || block.in_contents || (block.among_paragraphs && (among || beside)) {
            probabilities[at] = cut;
        }
    }
    // A discussion has no sections: what stands between its posts is of the site.
    if kind != PageKind::Forum {
        restore_headings(dom, blocks, probabilities, cut);
    }
    restore_tables(dom, blocks, probabilities, cut);
    restore_lists(dom, blocks, probabilities, cut);
}

/// Keeps the heading of a section or card of which most words are kept.
fn restore_headings(dom: &Dom, blocks: &[Block], probabilities: &mut [i32], cut: i32) {
    let level = |at: usize| dom.tag(blocks[at].id).heading_level().map_or(7, u32::from);
    for at in (0..blocks.len()).rev() {
        let may_introduce = (2..7).contains(&level(at))
            && (MIN_SECTION_PROBABILITY..cut).contains(&probabilities[at])
            && !blocks[at].leads_away
            && !blocks[at].named_beside;
        if !may_introduce {
            continue;
        }
        let section = (at + 1..blocks.len())
            .take(SECTION_BLOCKS)
            .take_while(|&next| level(next) > level(at));
        let (mut all, mut kept) = (0, 0);
        for next in section {
            let size = blocks[next].size();
            all += size;
            kept += if probabilities[next] >= cut { size } else { 0 };
        }
        if kept >= MIN_SECTION_WORDS && kept * 2 >= all {
            probabilities[at] = cut;
        }
    }
}

/// Keeps a table that stands between kept paragraphs.
fn restore_tables(dom: &Dom, blocks: &[Block], probabilities: &mut [i32], cut: i32) {
    let mut at = 1;
    while at < blocks.len() {
        let (id, before) = (blocks[at].id, &blocks[at - 1]);
        let is_cell = matches!(dom.tag(id), Tag::Td | Tag::Th);
        let table = dom.ancestors(id).take(4).find(|&up| dom.tag(up) == Tag::Table);
        let Some(table) = table.filter(|_| is_cell) else {
            at += 1;
            continue;
        };
        let outside = |block: &Block| block.id < table || block.id >= dom.end(table);
        let cells = blocks[at..].iter().position(outside);
        let end = cells.map_or(blocks.len(), |cells| at + cells);
        if before.among_paragraphs
            && dom.parent(before.id) == dom.parent(table)
            && probabilities[at - 1] >= cut
            && probabilities.get(end).is_some_and(|&after| after >= cut)
        {
            for (block, probability) in blocks[at..end].iter().zip(&mut probabilities[at..end]) {
                if !block.leads_away && !block.named_beside {
                    *probability = cut.max(*probability);
                }
            }
        }
        at = end;
    }
}

/// Keeps the items of a list together when half of their words are kept.
fn restore_lists(dom: &Dom, blocks: &[Block], probabilities: &mut [i32], cut: i32) {
    let list_of = |at: usize| {
        let id = blocks[at].id;
        matches!(dom.tag(id), Tag::Li | Tag::Dt | Tag::Dd).then(|| dom.parent(id))
    };
    let mut by_list: Vec<(u32, usize)> = (0..blocks.len())
        .filter_map(|at| Some((list_of(at)?, at)))
        .collect();
    by_list.sort_unstable();
    for items in by_list.chunk_by(|a, b| a.0 == b.0) {
        let words = |at: usize| i64::from(blocks[at].size());
        let all: i64 = items.iter().map(|&(_, at)| words(at)).sum();
        let kept = items.iter().filter(|&&(_, at)| probabilities[at] >= cut);
        if kept.map(|&(_, at)| words(at)).sum::<i64>() * 2 >= all {
            for &(_, at) in items {
                if !blocks[at].named_beside {
                    probabilities[at] = probabilities[at].max(cut);
                }
            }
        }
    }
}

/// Keeps all text but that of navigation, headers and footers when the best cut is not expected to be right.
/// Returns whether it did.
pub(super) fn keep_all_if_unclear(blocks: &[Block], probabilities: &mut [i32], expected: i64) -> bool {
    if expected >= MIN_EXPECTED || blocks.iter().all(|block| block.of_site) {
        return false;
    }
    for (probability, block) in probabilities.iter_mut().zip(blocks) {
        *probability = if block.of_site { 0 } else { 1000 };
    }
    true
}
