//! Finds kept blocks that repeat the text of earlier ones. Some pages have a second copy of their text for machines
//! or for another layout, often in one block.

use std::collections::hash_map::Entry;

use super::block::Block;
use super::kind::PageKind;
use super::stated;
use crate::hash::{HashMap, HashSet};
use crate::html::dom::Dom;
use crate::html::tag::Tag;

/// Minimum words of a block that may be a copy of another. Short texts may repeat for a reason.
const MIN_WORDS: i32 = 12;
/// The same in articles, and for items and cells, each of which belongs to its own list or row.
const MIN_LONG_WORDS: i32 = 40;
/// Minimum words of a block that may be a copy of several.
const MIN_JOINED_WORDS: i32 = 100;
/// Minimum number of earlier blocks in a copy of several.
const MIN_JOINED: usize = 5;
/// Bytes of blocks that are compared in all.
const MAX_BYTES: usize = 400_000;

/// Sets the probability to 0 for blocks that repeat a kept block word for word, or many kept blocks in one.
pub(super) fn drop_repeated(
    dom: &Dom,
    kind: PageKind,
    blocks: &[Block],
    probabilities: &mut [i32],
    cut: i32,
) {
    // Examples share their text.
    if kind == PageKind::Documentation {
        return;
    }
    let (mut texts, mut starts) = (HashMap::default(), HashSet::default());
    let mut left = MAX_BYTES;
    for (block, probability) in blocks.iter().zip(probabilities) {
        let Some(start) = block.start.filter(|_| *probability >= cut) else {
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
            *probability = 0;
        }
    }
}

fn is_quoted(dom: &Dom, block: &Block) -> bool {
    std::iter::once(block.id)
        .chain(dom.ancestors(block.id).take(10))
        .any(|up| matches!(dom.tag(up), Tag::Blockquote | Tag::Pre))
}
