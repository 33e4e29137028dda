//! Text of elements that contain only text (HTML sections 13.2.5.2 to 13.2.5.4, 13.2.5.9 to 13.2.5.31).

use super::tags::is_space;
use super::{TokenSink, Tokenizer};

impl<S: TokenSink> Tokenizer<'_, S> {
    /// Returns true when the end tag of the last start tag is at a position.
    fn is_end_tag(&self, at: usize) -> bool {
        let rest = &self.input.as_bytes()[at..];
        let length = 2 + self.last_start.len();
        rest.starts_with(b"</")
            && !self.last_start.is_empty()
            && rest.len() > length
            && rest[2..length].eq_ignore_ascii_case(self.last_start.as_bytes())
            && (is_space(rest[length]) || matches!(rest[length], b'/' | b'>'))
    }

    /// Emits text up to a position; if an end tag is there, reads it.
    fn finish_raw_text(&mut self, end: usize) {
        self.emit_raw(end);
        if end < self.input.len() {
            self.at += 2;
            self.end_tag();
        }
    }

    pub(super) fn rcdata(&mut self) {
        let mut from = self.at;
        loop {
            let found = memchr::memchr2(b'<', b'&', &self.input.as_bytes()[from..]);
            let Some(at) = found.map(|n| from + n) else {
                return self.finish_raw_text(self.input.len());
            };
            if self.input.as_bytes()[at] == b'&' {
                self.emit_raw(at);
                self.reference_in_text();
                from = self.at;
            } else if self.is_end_tag(at) {
                return self.finish_raw_text(at);
            } else {
                from = at + 1;
            }
        }
    }

    pub(super) fn rawtext(&mut self) {
        let bytes = self.input.as_bytes();
        let end = memchr::memchr_iter(b'<', self.rest())
            .map(|n| self.at + n)
            .find(|&at| self.is_end_tag(at));
        self.finish_raw_text(end.unwrap_or(bytes.len()));
    }

    /// Reads the text of a script. Inside of `<!--` an end tag may belong to a script in the comment.
    pub(super) fn script(&mut self) {
        let bytes = self.input.as_bytes();
        // Where the dashes of an open comment may start, and whether a `<script` is open in it.
        let (mut comment, mut nested) = (None, false);
        let mut from = self.at;
        let end = loop {
            let found = match comment {
                None => memchr::memchr(b'<', &bytes[from..]),
                Some(_) => memchr::memchr2(b'<', b'>', &bytes[from..]),
            };
            let Some(at) = found.map(|n| from + n) else {
                break bytes.len();
            };
            from = at + 1;
            match comment {
                Some(start) if bytes[at] == b'>' => {
                    let ends = bytes[start..at].ends_with(b"--");
                    if ends {
                        (comment, nested) = (None, false);
                    }
                }
                _ if nested => nested = !names_script(&bytes[at + 1..], b"/script"),
                _ if self.is_end_tag(at) => break at,
                None if bytes[at..].starts_with(b"<!--") => {
                    comment = Some(at + 2);
                    from = at + 4;
                }
                None => {}
                Some(_) => nested = names_script(&bytes[at + 1..], b"script"),
            }
        };
        self.finish_raw_text(end);
    }
}

/// Returns true when `rest` starts with the name and a byte that ends it.
fn names_script(rest: &[u8], name: &[u8]) -> bool {
    rest.len() > name.len()
        && rest[..name.len()].eq_ignore_ascii_case(name)
        && (is_space(rest[name.len()]) || matches!(rest[name.len()], b'/' | b'>'))
}
