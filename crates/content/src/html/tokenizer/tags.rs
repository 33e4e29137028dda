//! Tags and attributes (HTML sections 13.2.5.6 to 13.2.5.8 and 13.2.5.32 to 13.2.5.40).

use super::super::dom::Attribute;
use super::super::name_hash::{HASH_START, hash, hash_byte};
use super::super::tag::Tag;
use super::{Text, TokenSink, Tokenizer, reference};
use crate::limits::ATTRIBUTES_PER_TAG;

/// Ends the name of a tag.
const TAG_END: u8 = 1;
/// Ends the name of an attribute.
const NAME_END: u8 = 2;
/// Ends an unquoted value, or starts a character reference in it.
const VALUE_END: u8 = 4;
/// Is replaced in a name.
const ADJUSTED: u8 = 8;

/// Classes of bytes.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\x0c' | b'>' => TAG_END | NAME_END | VALUE_END,
            b'/' => TAG_END | NAME_END,
            b'=' => NAME_END,
            b'&' => VALUE_END,
            b'A'..=b'Z' | 0 => ADJUSTED,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c')
}

impl<S: TokenSink> Tokenizer<'_, S> {
    /// Reads markup at a `<` in ordinary text.
    pub(super) fn markup(&mut self) {
        match self.rest().get(1) {
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.at += 1;
                self.start_tag();
            }
            Some(b'/') => self.end_tag_or_comment(),
            Some(b'!') => self.declaration(),
            Some(b'?') => {
                self.at += 1;
                self.bogus_comment();
            }
            _ => {
                let end = self.at + 1;
                self.emit_text(end);
            }
        }
    }

    fn end_tag_or_comment(&mut self) {
        match self.rest().get(2) {
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.at += 2;
                self.end_tag();
            }
            Some(b'>') => self.at += 3,
            Some(_) => {
                self.at += 2;
                self.bogus_comment();
            }
            None => {
                let end = self.input.len();
                self.emit_text(end);
            }
        }
    }

    fn start_tag(&mut self) {
        self.tag_name();
        let values = self.sink.arena().text.len();
        if !self.attributes(true) {
            return;
        }
        self.text = self.sink.start_tag(&mut self.token);
        if self.text != Text::Data {
            self.last_start.clear();
            let name = self.sink.arena().names.get(self.token.name);
            self.last_start.push_str(name);
        }
        if let Some(last) = self.token.attributes.last() {
            // The attributes were not used. Their values are not needed either, unless text was written after them.
            let stop = last.stop as usize;
            self.token.attributes.clear();
            let text = &mut self.sink.arena().text;
            if text.len() == stop {
                text.truncate(values);
            }
        }
    }

    /// Reads an end tag at its name.
    pub(super) fn end_tag(&mut self) {
        self.tag_name();
        if self.attributes(false) {
            self.sink.end_tag(&self.token);
            self.text = Text::Data;
        }
    }

    fn tag_name(&mut self) {
        self.sink.open_tag();
        let hash = self.read_name(TAG_END, 0);
        let name = match &self.adjusted_name {
            Some(name) => name,
            None => &self.input[self.name.clone()],
        };
        self.token.tag = Tag::parse(name, hash);
        self.token.name = self.sink.arena().names.element(name, self.token.tag);
        self.token.self_closing = false;
        self.token.truncated = false;
    }

    /// Reads a name up to a byte of the class `end` and returns its hash. The first `first` bytes are not
    /// checked for that class.
    fn read_name(&mut self, end: u8, first: usize) -> u32 {
        let bytes = self.input.as_bytes();
        let start = self.at;
        let mut at = start + first;
        let mut name_hash = hash_of(&bytes[start..at]);
        let mut seen = 0;
        while let Some(&byte) = bytes.get(at) {
            let class = CLASSES[byte as usize];
            if class & end != 0 {
                break;
            }
            seen |= class;
            name_hash = hash_byte(name_hash, byte);
            at += 1;
        }
        self.at = at;
        self.name = start..at;
        self.adjusted_name = None;
        if seen & ADJUSTED != 0 {
            let name = self.without_null(&self.input[start..at]).to_ascii_lowercase();
            name_hash = hash(&name);
            self.adjusted_name = Some(name);
        }
        name_hash
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// Reads the rest of a tag. Returns false when the page ends in it.
    fn attributes(&mut self, keep: bool) -> bool {
        loop {
            self.skip_space();
            let Some(byte) = self.peek() else {
                return false;
            };
            match byte {
                b'>' => {
                    self.at += 1;
                    return true;
                }
                b'/' => {
                    self.at += 1;
                    if self.peek() == Some(b'>') {
                        self.token.self_closing = true;
                    }
                }
                _ => self.attribute(keep),
            }
        }
    }

    fn attribute(&mut self, keep: bool) {
        let first = usize::from(self.peek() == Some(b'='));
        let hash = self.read_name(NAME_END, first);
        let mut kept = None;
        if keep && self.token.attributes.len() < ATTRIBUTES_PER_TAG {
            let name = match &self.adjusted_name {
                Some(name) => name,
                None => &self.input[self.name.clone()],
            };
            let name = self.sink.arena().names.attribute(name, hash);
            let known = self.token.attributes.iter().any(|known| known.name == name);
            kept = (!known).then_some(name);
        } else {
            self.token.truncated |= keep;
        }
        let start = self.sink.arena().text.len() as u32;
        self.skip_space();
        if self.peek() == Some(b'=') {
            self.at += 1;
            self.skip_space();
            match self.peek() {
                Some(quote @ (b'"' | b'\'')) => {
                    self.at += 1;
                    self.quoted_value(quote, kept.is_some());
                }
                Some(b'>') | None => {}
                Some(_) => self.unquoted_value(kept.is_some()),
            }
        }
        if let Some(name) = kept {
            let stop = self.sink.arena().text.len() as u32;
            self.token.attributes.push(Attribute { name, start, stop });
        }
    }

    fn quoted_value(&mut self, quote: u8, keep: bool) {
        loop {
            let found = memchr::memchr2(quote, b'&', self.rest());
            self.value_until(found.map_or(self.input.len(), |n| self.at + n), keep);
            match self.peek() {
                Some(b'&') => self.reference_in_value(keep),
                _ => {
                    self.at = (self.at + 1).min(self.input.len());
                    return;
                }
            }
        }
    }

    fn unquoted_value(&mut self, keep: bool) {
        loop {
            let rest = self.rest();
            let length = rest
                .iter()
                .position(|&byte| CLASSES[byte as usize] & VALUE_END != 0)
                .unwrap_or(rest.len());
            self.value_until(self.at + length, keep);
            match self.peek() {
                Some(b'&') => self.reference_in_value(keep),
                _ => return,
            }
        }
    }

    /// Adds the page up to a position to the value.
    fn value_until(&mut self, end: usize, keep: bool) {
        let value = &self.input[self.at..end];
        self.at = end;
        if keep {
            let value = self.without_null(value);
            self.sink.arena().text.push_str(&value);
        }
    }

    fn reference_in_value(&mut self, keep: bool) {
        let read = reference::read(&self.rest()[1..], true);
        let (length, characters) = read.unwrap_or((0, ['&', '\0']));
        self.at += 1 + length;
        if keep {
            let characters = characters.into_iter().filter(|&character| character != '\0');
            self.sink.arena().text.extend(characters);
        }
    }
}

fn hash_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(HASH_START, |hash, &byte| hash_byte(hash, byte))
}
