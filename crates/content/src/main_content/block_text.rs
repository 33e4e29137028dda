//! The text of each block: its size, what it is made of, and where its links lead.

use super::link_target::{self, LinkTarget};
use super::skipped::is_skipped;
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// The text directly in one block, without the text of blocks inside it.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockText {
    pub(super) id: NodeId,
    pub(super) bytes: i32,
    pub(super) linked: i32,
    /// Bytes in links to parts of this page, and to other sites.
    pub(super) to_fragments: i32,
    pub(super) to_sites: i32,
    pub(super) words: i32,
    pub(super) links: i32,
    pub(super) sentences: i32,
    pub(super) commas: i32,
    pub(super) digits: i32,
    pub(super) capitals: i32,
    pub(super) closed: bool,
    pub(super) begins: u8,
    pub(super) kept: bool,
    hash: TextHash,
    pub(super) symbols: i32,
    pub(super) images: i32,
    /// Bytes in emphasis, and in strong emphasis.
    pub(super) emphasised: i32,
    pub(super) strong: i32,
    /// Images between the previous block and this one.
    pub(super) images_before: i32,
}

/// Collects the text of each block.
pub(super) fn block_texts(dom: &Dom, host: &str, weights: &TextWeights, kept: &[bool]) -> Vec<BlockText> {
    let mut index = vec![u32::MAX; dom.nodes.len()];
    let mut owns: Vec<BlockText> = Vec::new();
    let (mut link_end, mut emphasis_end, mut strong_end) = (0, 0, 0);
    let mut target = LinkTarget::Site;
    let mut images = 0;
    let mut at: NodeId = 1;
    while at < dom.len() {
        let tag = dom.tag(at);
        match tag {
            Tag::Em | Tag::I => emphasis_end = emphasis_end.max(dom.end(at)),
            Tag::Strong | Tag::B => strong_end = strong_end.max(dom.end(at)),
            Tag::Img => images += 1,
            _ => {}
        }
        if is_skipped(dom, at) {
            at = dom.end(at);
            continue;
        }
        let href = if tag == Tag::A {
            dom.attr(at, attr::HREF)
        } else {
            None
        };
        let linked = href.is_some();
        if let Some(href) = href {
            link_end = link_end.max(dom.end(at));
            target = link_target::of(href, host);
        }
        if tag == Tag::Text {
            let text = dom.text(at);
            if dom.ink(at) > 0 && !text.trim().is_empty() {
                let block = weights.block(at);
                let slot = &mut index[block as usize];
                if *slot == u32::MAX {
                    *slot = owns.len() as u32;
                    owns.push(BlockText {
                        id: block,
                        kept: kept[block as usize],
                        images_before: std::mem::take(&mut images),
                        ..BlockText::default()
                    });
                }
                let own = &mut owns[*slot as usize];
                let before = own.bytes;
                add(own, text, at < link_end);
                let added = own.bytes - before;
                match target {
                    LinkTarget::Fragment if at < link_end => own.to_fragments += added,
                    LinkTarget::OtherSite if at < link_end => own.to_sites += added,
                    _ => {}
                }
                own.emphasised += if at < emphasis_end { added } else { 0 };
                own.strong += if at < strong_end { added } else { 0 };
            }
        } else if linked || tag == Tag::Img {
            let slot = index[weights.block(at) as usize];
            if slot != u32::MAX {
                let own = &mut owns[slot as usize];
                match linked {
                    true => own.links += 1,
                    false => own.images += 1,
                }
            }
        }
        at += 1;
    }
    owns
}

/// Kinds of characters that are counted, as steps of four counters in one number.
const SENTENCE: u64 = 1;
const COMMA: u64 = 1 << 16;
const DIGIT: u64 = 1 << 32;
const CAPITAL: u64 = 1 << 48;
/// Largest value of one of the counters, and bytes after which they are read.
const MAX_COUNT: usize = 0xffff;

/// The step of each byte.
static STEPS: [u64; 256] = steps();

const fn steps() -> [u64; 256] {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        steps[byte] = match byte as u8 {
            b'.' | b'!' | b'?' => SENTENCE,
            b',' => COMMA,
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' => CAPITAL,
            _ => 0,
        };
        byte += 1;
    }
    steps
}

fn add(own: &mut BlockText, text: &str, linked: bool) {
    if own.bytes == 0 {
        own.begins = match text.trim_start().chars().next() {
            Some(c) if c.is_uppercase() => 1,
            Some(c) if c.is_lowercase() => 2,
            Some(c) if c.is_ascii_digit() => 3,
            Some(c) if c.is_ascii() => 4,
            _ => 5,
        };
    }
    // Local, so that the loop changes nothing in memory.
    let (mut hash, mut words, mut space) = (own.hash, 0, true);
    for piece in text.as_bytes().chunks(MAX_COUNT) {
        let mut counts = 0;
        for &byte in piece {
            if byte.is_ascii_whitespace() {
                space = true;
                continue;
            }
            words += i32::from(space);
            space = false;
            counts += STEPS[usize::from(byte)];
            hash.add(byte);
        }
        let count = |step: u64| (counts / step) as i32 & MAX_COUNT as i32;
        own.sentences = own.sentences.saturating_add(count(SENTENCE));
        own.commas = own.commas.saturating_add(count(COMMA));
        own.digits = own.digits.saturating_add(count(DIGIT));
        own.capitals = own.capitals.saturating_add(count(CAPITAL));
    }
    own.words = own.words.saturating_add(words);
    let bytes = hash.length.wrapping_sub(own.hash.length) as i32;
    own.bytes = own.bytes.saturating_add(bytes);
    own.hash = hash;
    if text.is_ascii() {
        own.symbols |= i32::from(text.contains('$'));
    } else {
        add_characters(own, text);
    }
    if linked {
        own.linked = own.linked.saturating_add(bytes);
    }
    own.closed = matches!(
        text.trim_end().chars().next_back(),
        Some('.' | '!' | '?' | ':' | '。' | '！' | '？' | '：' | '”' | '」' | '"' | ')' | '）')
    );
}

/// Counts what only characters outside ASCII tell: symbols, the punctuation of Chinese and Japanese, and the words of
/// scripts that put no spaces between them.
fn add_characters(own: &mut BlockText, text: &str) {
    let mut letters = 0;
    for c in text.chars() {
        match c {
            '。' | '！' | '？' => own.sentences = own.sentences.saturating_add(1),
            '、' | '，' => own.commas = own.commas.saturating_add(1),
            // A word has about two letters in Chinese and Japanese, four in Thai, Lao, Burmese and Khmer.
            '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => letters += 2,
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => letters += 1,
            _ => own.symbols |= symbol_bit(c),
        }
    }
    own.words = own.words.saturating_add(letters / 4);
}

/// Hash of a text that comes byte by byte: eight bytes are hashed at a time.
#[derive(Clone, Copy, Default)]
struct TextHash {
    hashed: u64,
    /// The last eight bytes.
    last: u64,
    /// Number of bytes.
    length: u32,
}

impl TextHash {
    fn add(&mut self, byte: u8) {
        self.last = self.last << 8 | u64::from(byte);
        self.length = self.length.wrapping_add(1);
        if self.length.is_multiple_of(8) {
            self.hashed = self.finish();
        }
    }

    fn finish(&self) -> u64 {
        let mixed = (self.hashed ^ self.last).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }
}

impl BlockText {
    /// Returns a hash of its text without white space.
    pub(super) fn hash(&self) -> u64 {
        self.hash.finish()
    }
}

/// Returns the bit of a symbol: currency, copyright, separator; 0 for other characters.
fn symbol_bit(c: char) -> i32 {
    match c {
        '$' | '€' | '£' | '¥' => 1,
        '©' | '®' | '™' => 2,
        '·' | '•' | '»' | '›' | '→' | '–' | '…' => 4,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_without_spaces_between_them() {
        for (text, words, sentences, commas) in [
            ("The harbour was closed, at last.", 6, 1, 1),
            ("昨日の嵐の後、港は閉鎖された。船は出ない。", 10, 2, 1),
            ("우리 배는 항구에 있다.", 4, 1, 0),
            ("ท่าเรือปิดเป็นเวลาสามวัน", 7, 0, 0),
        ] {
            let mut own = BlockText::default();
            add(&mut own, text, false);
            assert_eq!(
                (own.words, own.sentences, own.commas),
                (words, sentences, commas),
                "{text}"
            );
        }
    }
}
