//! The tokenizer (HTML section 13.2.5). The whole page is in memory, so the states of the standard are
//! functions that run from one token to the next: text here, tags in `tags`, text-only elements in `raw_text`,
//! comments and doctypes in `markup`. Never goes back in the page, so the work is linear.

mod markup;
mod quirks;
mod raw_text;
mod reference;
mod tags;

use std::borrow::Cow;
use std::ops::Range;

pub(super) use self::markup::Doctype;
use super::build::arena::Arena;
use super::dom::Attribute;
use super::tag::Tag;

/// How text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Data,
    Rcdata,
    Rawtext,
    Script,
    Plaintext,
}

/// A start tag or an end tag.
#[derive(Debug)]
pub(super) struct TagToken {
    pub(super) tag: Tag,
    /// Number of its name.
    pub(super) name: u16,
    pub(super) self_closing: bool,
    /// The attributes of a start tag, with values in the buffer of the arena.
    pub(super) attributes: Vec<Attribute>,
    /// Attributes were left out.
    pub(super) truncated: bool,
}

/// Receives the tokens of a page.
pub(super) trait TokenSink {
    /// Returns the arena for names and values.
    fn arena(&mut self) -> &mut Arena;
    /// Returns true when the rest of the page is not needed.
    fn is_full(&mut self) -> bool;
    /// Receives the start of a tag, before its values are in the buffer of the arena.
    fn open_tag(&mut self);
    /// Receives a start tag; returns how the text after it is read.
    fn start_tag(&mut self, token: &mut TagToken) -> Text;
    /// Receives an end tag.
    fn end_tag(&mut self, token: &TagToken);
    /// Receives text without NUL.
    fn text(&mut self, text: &str);
    /// Receives a NUL in ordinary text.
    fn null(&mut self);
    /// Receives a comment as it is in the page.
    fn comment(&mut self, data: &str);
    /// Receives a doctype.
    fn doctype(&mut self, doctype: Doctype);
    /// Returns true while the current node is foreign, so that CDATA sections are text.
    fn allows_cdata(&self) -> bool;
}

/// Returns the page with line feeds as its only line ends.
pub(super) fn normalize_newlines(html: &str) -> Cow<'_, str> {
    let mut rest = html;
    let mut normal = String::new();
    while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
        normal.reserve(if normal.is_empty() { html.len() } else { 0 });
        normal.push_str(&rest[..at]);
        normal.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    if rest.len() == html.len() {
        return Cow::Borrowed(html);
    }
    normal.push_str(rest);
    Cow::Owned(normal)
}

/// The tokenizer.
pub(super) struct Tokenizer<'a, S> {
    input: &'a str,
    at: usize,
    has_null: bool,
    text: Text,
    sink: S,
    token: TagToken,
    /// The name read last: its range, and its text if that differs from the page.
    name: Range<usize>,
    adjusted_name: Option<String>,
    /// Name of the last start tag whose text is not markup.
    last_start: String,
}

impl<'a, S: TokenSink> Tokenizer<'a, S> {
    /// Returns a tokenizer of a page with normalized newlines.
    pub(super) fn new(input: &'a str, sink: S) -> Tokenizer<'a, S> {
        Tokenizer {
            input,
            at: 0,
            has_null: memchr::memchr(0, input.as_bytes()).is_some(),
            text: Text::Data,
            sink,
            token: TagToken {
                tag: Tag::Other,
                name: 0,
                self_closing: false,
                attributes: Vec::new(),
                truncated: false,
            },
            name: 0..0,
            adjusted_name: None,
            last_start: String::new(),
        }
    }

    /// Reads the whole page and returns the sink.
    pub(super) fn run(mut self) -> S {
        while self.at < self.input.len() && !self.sink.is_full() {
            match self.text {
                Text::Data => self.data(),
                Text::Rcdata => self.rcdata(),
                Text::Rawtext => self.rawtext(),
                Text::Script => self.script(),
                Text::Plaintext => {
                    self.emit_raw(self.input.len());
                }
            }
        }
        self.sink
    }

    fn peek(&self) -> Option<u8> {
        self.input.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.input.as_bytes()[self.at..]
    }

    /// Reads ordinary text up to the next markup, and that markup.
    fn data(&mut self) {
        let found = memchr::memchr2(b'<', b'&', self.rest());
        self.emit_text(found.map_or(self.input.len(), |n| self.at + n));
        match self.peek() {
            Some(b'<') => self.markup(),
            Some(_) => self.reference_in_text(),
            None => {}
        }
    }

    /// Emits ordinary text up to a position.
    fn emit_text(&mut self, end: usize) {
        let text = &self.input[self.at..end];
        self.at = end;
        if text.is_empty() {
            return;
        }
        if !self.has_null {
            return self.sink.text(text);
        }
        for (number, piece) in text.split('\0').enumerate() {
            if number > 0 {
                self.sink.null();
            }
            if !piece.is_empty() {
                self.sink.text(piece);
            }
        }
    }

    /// Emits text in which NUL is replaced up to a position.
    fn emit_raw(&mut self, end: usize) {
        let text = &self.input[self.at..end];
        self.at = end;
        if !text.is_empty() {
            self.sink.text(&self.without_null(text));
        }
    }

    fn without_null<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.has_null && text.contains('\0') {
            Cow::Owned(text.replace('\0', "\u{fffd}"))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Reads a `&`: a character reference or a plain ampersand.
    fn reference_in_text(&mut self) {
        match reference::read(&self.rest()[1..], false) {
            Some((length, characters)) => {
                self.at += 1 + length;
                for character in characters.into_iter().filter(|&c| c != '\0') {
                    self.sink.text(character.encode_utf8(&mut [0; 4]));
                }
            }
            None => {
                self.at += 1;
                self.sink.text("&");
            }
        }
    }
}

#[cfg(test)]
mod tests;
