//! Applies the model's decisions to the tree: drops single texts, elements in which nothing is left, and
//! table rows only as a whole.

use std::ops::Range;

use super::block::Block;
use super::decisions::Decisions;
use super::skipped::is_skipped;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;
use crate::markdown::code;

/// Maximum number of words of a caption.
const MAX_CAPTION_WORDS: i32 = 60;
/// A text with this share of its words in links refers to another page, and so does the image next to it, in percent.
const MIN_REFERENCE_PERCENT: i32 = 90;
/// Maximum number of elements between a caption, its picture and the kept text around it.
const MAX_LEVELS: usize = 4;
/// Ends of the path of a link to an image.
const IMAGE_ENDINGS: [&str; 7] = [".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"];

/// Marks in `dropped` what is dropped below the body. `kept` is the choice of the rules; blocks are in
/// document order. Returns false, and marks nothing, when no text would be left: a whole table row may score
/// lower than a short cell of it.
pub(super) fn apply(page: &Decisions, kept: &[bool], dropped: &mut [bool]) -> bool {
    let (dom, blocks) = (page.dom, page.blocks);
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    let keep = kept_blocks(page);
    let Some(texts) = Texts::of(page, body, &keep) else {
        return false;
    };
    let content = texts.with_images(dom, body);
    let shows = pictures(dom, blocks, &keep, &texts.has_kept, content.clone());
    for id in dom.below(body) {
        let at = id as usize;
        let outside = !kept[at] || !content.contains(&id);
        dropped[at] = !texts.has_kept[at]
            && (texts.has_dropped[at] && !shows[at] || (dom.tag(id) != Tag::Text && outside));
    }
    true
}

/// Returns by node whether it is a block that is kept. Cells of one row are kept or dropped together.
fn kept_blocks(page: &Decisions) -> Vec<bool> {
    let (dom, blocks, cut) = (page.dom, page.blocks, page.cut);
    let mut keep = vec![false; dom.nodes.len()];
    let mut at = 0;
    while at < blocks.len() {
        let row = row_of(dom, blocks[at].id);
        let mut end = at + 1;
        while row.is_some() && end < blocks.len() && row_of(dom, blocks[end].id) == row {
            end += 1;
        }
        let (mut size, mut likely, mut sum) = (0, 0, 0);
        for (block, &probability) in blocks[at..end].iter().zip(&page.probabilities[at..end]) {
            let words = i64::from(block.size());
            size += words;
            likely += if probability >= cut.max(1) { words } else { 0 };
            sum += words * i64::from(probability);
        }
        if likely * 2 > size || sum >= i64::from(cut.max(1)) * size {
            blocks[at..end].iter().for_each(|b| keep[b.id as usize] = true);
        }
        at = end;
    }
    keep
}

/// The texts that are kept and dropped.
struct Texts {
    /// By node: whether text below it is kept, and whether text below it is dropped.
    has_kept: Vec<bool>,
    has_dropped: Vec<bool>,
    /// The first and the last text that are kept.
    first: NodeId,
    last: NodeId,
}

impl Texts {
    /// Reads the texts of a page, without widgets; `None` if none of them is kept.
    fn of(page: &Decisions, body: NodeId, keep: &[bool]) -> Option<Texts> {
        let (dom, weights) = (page.dom, page.weights);
        let mut has_kept = vec![false; dom.nodes.len()];
        let mut has_dropped = vec![false; dom.nodes.len()];
        let (mut first, mut last) = (None, 0);
        let mut at = body + 1;
        while at < dom.end(body) {
            if is_skipped(dom, at) || page.in_widget[at as usize] {
                at = dom.end(at);
                continue;
            }
            if dom.tag(at) == Tag::Text && !dom.text(at).trim().is_empty() {
                let is_kept = keep[weights.block(at) as usize];
                (has_kept[at as usize], has_dropped[at as usize]) = (is_kept, !is_kept);
                if is_kept {
                    (first, last) = (first.or(Some(at)), at);
                }
            }
            at += 1;
        }
        let first = first?;
        for id in dom.below(body).rev() {
            let parent = dom.parent(id) as usize;
            has_kept[parent] |= has_kept[id as usize];
            has_dropped[parent] |= has_dropped[id as usize];
        }
        let mut texts = Texts {
            has_kept,
            has_dropped,
            first,
            last,
        };
        texts.keep_code_whole(dom, body);
        Some(texts)
    }

    /// Keeps all of a code block when one of its lines is kept.
    fn keep_code_whole(&mut self, dom: &Dom, body: NodeId) {
        let mut at = body + 1;
        while at < dom.end(body) {
            let end = dom.end(at);
            if self.has_kept[at as usize] && code::is_block(dom, at) {
                self.has_kept[at as usize..end as usize].fill(true);
                self.has_dropped[at as usize..end as usize].fill(false);
                at = end;
            } else {
                at += 1;
            }
        }
    }

    /// Returns the nodes from the first to the last kept text, with what has no text (images) before and after, up to
    /// the nearest dropped text, within the enclosing element.
    fn with_images(&self, dom: &Dom, body: NodeId) -> Range<NodeId> {
        let whole = |id: NodeId| {
            let up = dom
                .ancestors(id)
                .take_while(|&n| n > body && !self.has_dropped[n as usize]);
            up.last().unwrap_or(id)
        };
        let is_dropped = |&id: &NodeId| {
            dom.tag(id) == Tag::Text && self.has_dropped[id as usize] && figure_of(dom, id).is_none()
        };
        let (first, last) = (whole(self.first), whole(self.last));
        let start = dom.parent(first) + 1;
        let end = dom.end(dom.parent(last));
        let dropped_before = (start..first).rev().find(is_dropped);
        let dropped_after = (dom.end(last)..end).find(is_dropped);
        dropped_before.map_or(start, |text| text + 1)..dropped_after.unwrap_or(end)
    }
}

/// Returns by node whether it is or contains a picture among the paragraphs whose caption alone is dropped.
fn pictures(
    dom: &Dom,
    blocks: &[Block],
    keep: &[bool],
    has_kept: &[bool],
    within: Range<NodeId>,
) -> Vec<bool> {
    let mut shows = vec![false; dom.nodes.len()];
    let mut ids: Vec<NodeId> = blocks.iter().map(|block| block.id).collect();
    ids.sort_unstable();
    // Names around the last kept text, or the first one, say nothing about a caption.
    let first = blocks.iter().find(|block| keep[block.id as usize]);
    let mut beside_kept = first.map_or(0, |block| block.around.beside);
    // End of the figures that are done.
    let mut shown = 0;
    for block in blocks {
        if keep[block.id as usize] {
            beside_kept = block.around.beside;
            continue;
        }
        let is_caption = within.contains(&block.id)
            && block.id >= shown
            && block.size() <= MAX_CAPTION_WORDS
            && block.linked_percent() < MIN_REFERENCE_PERCENT
            && !block.leads_away
            && block.around.beside & !beside_kept == 0;
        if !is_caption {
            continue;
        }
        // The largest enclosing element that has no other text; the texts of a figure count as one.
        let figure = figure_of(dom, block.id).filter(|&figure| !has_kept[figure as usize]);
        let own = figure.unwrap_or(block.id);
        shown = figure.map_or(shown, |figure| dom.end(figure));
        let (before, rest) = ids.split_at(ids.partition_point(|&id| id < own));
        let after = rest.iter().find(|&&id| id >= dom.end(own));
        let before = before.last().map_or(0, |&id| id);
        let after = after.map_or(dom.len(), |&id| id);
        let alone = |&up: &NodeId| before < up && dom.end(up) <= after;
        let Some(whole) = dom
            .inclusive_ancestors(own)
            .take(MAX_LEVELS + 1)
            .take_while(alone)
            .last()
        else {
            continue;
        };
        if !dom
            .ancestors(whole)
            .take(MAX_LEVELS)
            .any(|up| has_kept[up as usize])
        {
            continue;
        }
        let is_picture = |&id: &NodeId| dom.tag(id) == Tag::Img && !is_reference(dom, id, whole);
        for image in dom.below(whole).filter(is_picture) {
            shows[image as usize] = true;
            for up in dom.ancestors(image).take_while(|&up| !has_kept[up as usize]) {
                shows[up as usize] = true;
            }
        }
    }
    shows
}

/// Returns the figure around a text.
fn figure_of(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let mut around = dom.ancestors(id).take(MAX_LEVELS);
    around.find(|&up| dom.tag(up) == Tag::Figure)
}

/// Returns true for an image in a link to another page; a link to a larger copy of the image does not count.
fn is_reference(dom: &Dom, image: NodeId, whole: NodeId) -> bool {
    let link = dom.ancestors(image).take_while(|&up| up > whole);
    let href = link
        .filter(|&up| dom.tag(up) == Tag::A)
        .find_map(|up| dom.attr(up, attr::HREF));
    href.is_some_and(|href| {
        let path = href.split(['?', '#']).next().unwrap_or("").to_ascii_lowercase();
        !IMAGE_ENDINGS.iter().any(|ending| path.ends_with(ending))
    })
}

fn row_of(dom: &Dom, id: NodeId) -> Option<NodeId> {
    matches!(dom.tag(id), Tag::Td | Tag::Th).then(|| dom.parent(id))
}

#[cfg(test)]
mod tests {
    use super::super::kind::PageKind;
    use super::super::test_page::TestPage;
    use super::*;

    /// Applies probabilities to a page: 0 for blocks with one of `words`, 600 for all others, with a cut of 500.
    /// Returns the text that is left; `None` when nothing is.
    fn left(html: &str, words: &[&str]) -> Option<String> {
        let page = TestPage::of(PageKind::Other, html);
        let dom = &page.dom;
        let (kept, mut dropped) = (vec![true; dom.nodes.len()], vec![false; dom.nodes.len()]);
        let text = |id: NodeId| dom.text_of(id, 100);
        let is_low = |block: &Block| words.iter().any(|word| text(block.id).contains(word));
        let decisions = page.decisions(|block| if is_low(block) { 0 } else { 600 });
        let is_applied = apply(&decisions, &kept, &mut dropped);
        let left = dom
            .below(page.body)
            .filter(|&id| !dropped[id as usize])
            .map(|id| dom.text(id));
        is_applied.then(|| left.collect())
    }

    #[test]
    fn a_code_block_is_kept_or_dropped_whole() {
        let page = "<p>Words</p><pre><div>1</div><div>one</div></pre>";
        assert_eq!(left(page, &["1"]).unwrap(), "Words1one");
        assert_eq!(left(page, &["1", "one"]).unwrap(), "Words");
    }

    #[test]
    fn a_row_is_kept_for_its_longest_cell() {
        let row = "<p>Words</p><table><tr><th>name</th><td>words of a long cell that go on</td></tr></table>";
        assert_eq!(
            left(row, &["name"]).unwrap(),
            "Wordsnamewords of a long cell that go on"
        );
        assert_eq!(left(row, &["long"]).unwrap(), "Words");
    }

    #[test]
    fn nothing_is_marked_when_nothing_would_be_left() {
        let row = "<table><tr><td>name</td><td>words of a long cell that go on</td></tr></table>";
        assert_eq!(left(row, &["long"]), None);
        assert_eq!(left(row, &[]).unwrap(), "namewords of a long cell that go on");
    }
}
