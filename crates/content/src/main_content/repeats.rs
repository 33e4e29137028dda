//! Finds kept blocks that repeat the text of earlier ones. Some pages have a second copy of their text for machines
//! or for another layout, often in one block.

use std::collections::hash_map::Entry;

use super::block::Block;
use super::decisions::Decisions;
use super::kind::PageKind;
use super::stated;
use crate::hash::{HashMap, HashSet};
use crate::html::dom::{Dom, attr};
use crate::html::tag::Tag;

/// Minimum words of a block that may be a copy of another. Short texts may repeat for a reason.
const MIN_WORDS: i32 = 12;
/// The same in articles, and for items and cells, each of which belongs to its own list or row.
const MIN_LONG_WORDS: i32 = 40;
/// Minimum words of a block that may be a copy of several.
const MIN_JOINED_WORDS: i32 = 100;
/// Minimum number of earlier blocks in a copy of several.
const MIN_JOINED: usize = 5;
/// Maximum blocks of a text that runs across the page, and its copies from which on it does.
const MAX_PERIOD: usize = 4;
const MIN_COPIES: usize = 3;
/// Bytes of blocks that are compared in all.
const MAX_BYTES: usize = 400_000;

/// Drops blocks that repeat a kept block word for word, or many kept blocks in one, and short copies that directly follow
/// their text.
pub(super) fn drop_repeated(page: &mut Decisions) {
    let (dom, kind) = (page.dom, page.kind);
    // Examples share their text.
    if kind == PageKind::Documentation {
        return;
    }
    drop_repeated_headings(page);
    // Songs repeat their lines.
    if matches!(kind, PageKind::Product | PageKind::Other) {
        drop_running_text(page);
    }
    let (mut texts, mut starts) = (HashMap::default(), HashSet::default());
    let mut left = MAX_BYTES;
    for (at, block) in page.blocks.iter().enumerate() {
        let Some(start) = block.start.filter(|_| page.is_kept(at)) else {
            continue;
        };
        let parent = dom.parent(block.id);
        let same_start = !starts.insert(start);
        let same_text = match texts.entry(block.hash) {
            // The author of a text repeats a paragraph for a reason.
            Entry::Occupied(first) => {
                *first.get() != parent || !matches!(dom.tag(block.id), Tag::P | Tag::Div)
            }
            Entry::Vacant(first) => {
                first.insert(parent);
                false
            }
        };
        let least = match (kind, dom.tag(block.id)) {
            // A forum repeats signatures, whatever the element.
            (PageKind::Forum, _) => MIN_WORDS,
            (PageKind::Article, _) | (_, Tag::Li | Tag::Td | Tag::Th | Tag::Dt | Tag::Dd) => MIN_LONG_WORDS,
            _ => MIN_WORDS,
        };
        if block.size() < least || is_quoted(dom, block) {
            continue;
        }
        let mut is_joined = || {
            let text = dom.text_of(block.id, left);
            left = left.saturating_sub(text.len());
            let bytes = text.bytes().filter(|b| !b.is_ascii_whitespace()).count();
            // The text of an element that contains other blocks is not its own.
            let is_own = bytes as u64 * 10 <= u64::from(block.bytes().unsigned_abs()) * 11;
            let others = stated::keys(&text).filter(|key| *key != start && starts.contains(key));
            is_own && others.collect::<HashSet<u64>>().len() >= MIN_JOINED
        };
        // Readers of a forum quote each other, so only copies of a single block are left out there.
        let may_be_joined = kind != PageKind::Forum && same_start;
        if same_text || (may_be_joined && block.size() >= MIN_JOINED_WORDS && is_joined()) {
            page.drop(at);
        }
    }
}

/// Drops a heading that repeats the one before it and its link, for example in a card for another layout.
fn drop_repeated_headings(page: &mut Decisions) {
    let dom = page.dom;
    let link = |block: &Block| dom.below(block.id).find_map(|id| dom.attr(id, attr::HREF));
    let mut before: Option<&Block> = None;
    for (at, block) in page.blocks.iter().enumerate() {
        if !page.is_kept(at) {
            continue;
        }
        let is_heading = dom.tag(block.id).heading_level().is_some();
        if is_heading
            && before.is_some_and(|before| is_copy(dom, block, before) && link(block) == link(before))
        {
            page.drop(at);
        }
        before = Some(block);
    }
}

/// Drops the copies of a short text that runs across the page. The cells of a table may be equal, and so may links and the
/// captions of images.
fn drop_running_text(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let kept: Vec<usize> = (0..blocks.len()).filter(|&at| page.is_kept(at)).collect();
    let may_run = |block: &Block| {
        block.size() < MIN_WORDS
            && block.linked_percent() == 0
            && !matches!(dom.tag(block.id), Tag::Td | Tag::Th)
            && !dom.below(block.id).any(|id| dom.tag(id) == Tag::Img)
    };
    for period in 1..=MAX_PERIOD {
        let mut copies = 0;
        for at in period..=kept.len() {
            let next = kept.get(at).map(|&next| &blocks[next]);
            if next.is_some_and(|next| is_copy(dom, next, &blocks[kept[at - period]]) && may_run(next)) {
                copies += 1;
                continue;
            }
            if copies >= period * MIN_COPIES {
                kept[at - copies..at].iter().for_each(|&copy| page.drop(copy));
            }
            copies = 0;
        }
    }
}

fn is_copy(dom: &Dom, block: &Block, of: &Block) -> bool {
    block.hash == of.hash && dom.tag(block.id) == dom.tag(of.id)
}

fn is_quoted(dom: &Dom, block: &Block) -> bool {
    dom.inclusive_ancestors(block.id)
        .take(11)
        .any(|up| matches!(dom.tag(up), Tag::Blockquote | Tag::Pre))
}

#[cfg(test)]
mod tests {
    use super::super::test_page::TestPage;
    use super::*;

    #[test]
    fn copies_that_follow_their_text_are_dropped() {
        for (html, kept) in [
            ("<h3>Lamp</h3><h3>Lamp</h3><p>A lamp</p><h3>Lamp</h3>", 3),
            ("<h2>Lamp</h2><h3>Lamp</h3>", 2),
            ("<h3><a href=/1>Lamp</a></h3><h3><a href=/2>Lamp</a></h3>", 2),
            (&"<p>Sale</p><p>Today only</p>".repeat(4), 2),
            (&"<p>Sale</p><p>Today only</p>".repeat(3), 6),
            (&"<p><a href=/a>Sale</a></p>".repeat(8), 8),
            (&"<p><img src=a>Sale</p>".repeat(8), 8),
            (&format!("<table><tr>{}</table>", "<td>no".repeat(8)), 8),
        ] {
            let page = TestPage::of(PageKind::Other, html);
            let mut decisions = page.decisions(|_| 600);
            drop_repeated(&mut decisions);
            assert_eq!(decisions.kept().count(), kept, "{html}");
        }
    }
}
