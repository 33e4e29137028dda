//! Comments, doctypes and CDATA sections (HTML sections 13.2.5.41 to 13.2.5.71).

use super::tags::is_space;
use super::{TokenSink, Tokenizer};

/// A doctype, as it is in the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Doctype<'a> {
    pub(in super::super) name: Option<&'a str>,
    pub(in super::super) public_id: Option<&'a str>,
    pub(in super::super) system_id: Option<&'a str>,
    pub(in super::super) force_quirks: bool,
}

impl<'a, S: TokenSink> Tokenizer<'a, S> {
    /// Reads `<!`.
    pub(super) fn declaration(&mut self) {
        let rest = &self.rest()[2..];
        self.at += 2;
        if rest.starts_with(b"--") {
            self.at += 2;
            self.comment();
        } else if rest.len() >= 7 && rest[..7].eq_ignore_ascii_case(b"doctype") {
            self.at += 7;
            self.doctype();
        } else if rest.starts_with(b"[CDATA[") && self.sink.allows_cdata() {
            self.at += 7;
            self.cdata();
        } else {
            self.bogus_comment();
        }
    }

    /// Reads a comment that ends with the next `>`.
    pub(super) fn bogus_comment(&mut self) {
        let start = self.at;
        let end = memchr::memchr(b'>', self.rest()).map_or(self.input.len(), |n| start + n);
        self.at = (end + 1).min(self.input.len());
        self.sink.comment(&self.input[start..end]);
    }

    fn comment(&mut self) {
        let rest = self.rest();
        let (length, skipped) = comment_length(rest);
        let data = &self.input[self.at..self.at + length];
        self.at += length + skipped;
        self.sink.comment(data);
    }

    /// Reads the rest of a CDATA section.
    pub(super) fn cdata(&mut self) {
        let start = self.at;
        let mut ends = memchr::memchr_iter(b'>', self.rest()).map(|n| start + n);
        let bytes = self.input.as_bytes();
        match ends.find(|&end| bytes[start..end].ends_with(b"]]")) {
            Some(end) => {
                self.emit_text(end - 2);
                self.at = end + 1;
            }
            None => self.emit_text(self.input.len()),
        }
    }

    fn doctype(&mut self) {
        let mut doctype = Doctype::default();
        doctype.force_quirks = self.read_doctype(&mut doctype).is_none();
        let rest = self.rest();
        self.at += memchr::memchr(b'>', rest).map_or(rest.len(), |n| n + 1);
        self.sink.doctype(doctype);
    }

    /// Reads a doctype up to where only its `>` is missing; `None` forces quirks mode.
    fn read_doctype(&mut self, doctype: &mut Doctype<'a>) -> Option<()> {
        self.skip_doctype_space();
        let name = self.doctype_run(|byte| is_space(byte) || byte == b'>');
        if name.is_empty() {
            return None;
        }
        doctype.name = Some(name);
        self.skip_doctype_space();
        let keyword = self.rest().get(..6).unwrap_or_default();
        if self.peek()? == b'>' {
            return Some(());
        } else if keyword.eq_ignore_ascii_case(b"public") {
            self.at += 6;
            self.skip_doctype_space();
            doctype.public_id = Some(self.doctype_id(&mut doctype.force_quirks)?);
            if doctype.force_quirks {
                return None;
            }
            self.skip_doctype_space();
            if self.peek()? == b'>' {
                return Some(());
            }
        } else if keyword.eq_ignore_ascii_case(b"system") {
            self.at += 6;
            self.skip_doctype_space();
        } else {
            return None;
        }
        doctype.system_id = Some(self.doctype_id(&mut doctype.force_quirks)?);
        if doctype.force_quirks {
            return None;
        }
        self.skip_doctype_space();
        // Other bytes before the `>` are ignored.
        self.peek().map(drop)
    }

    /// Reads a quoted id; `None` when there is none. `broken` is set when it does not end with its quote.
    fn doctype_id(&mut self, broken: &mut bool) -> Option<&'a str> {
        let quote = self.peek().filter(|byte| matches!(byte, b'"' | b'\''))?;
        self.at += 1;
        let id = self.doctype_run(|byte| byte == quote || byte == b'>');
        if self.peek() == Some(quote) {
            self.at += 1;
        } else {
            *broken = true;
        }
        Some(id)
    }

    fn doctype_run(&mut self, ends: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let start = self.at;
        self.at += rest.iter().position(|&byte| ends(byte)).unwrap_or(rest.len());
        &self.input[start..self.at]
    }

    fn skip_doctype_space(&mut self) {
        self.doctype_run(|byte| !is_space(byte));
    }
}

/// Returns the length of the comment at the start of `rest`, and of what ends it.
fn comment_length(rest: &[u8]) -> (usize, usize) {
    if rest.starts_with(b">") {
        return (0, 1);
    }
    if rest.starts_with(b"->") {
        return (0, 2);
    }
    for end in memchr::memchr_iter(b'>', rest) {
        if rest[..end].ends_with(b"--") {
            return (end - 2, 3);
        }
        if rest[..end].ends_with(b"--!") {
            return (end - 3, 4);
        }
    }
    let open = [&b"--!"[..], b"--", b"-"];
    let end = open
        .iter()
        .find(|end| rest.ends_with(end))
        .map_or(0, |end| end.len());
    (rest.len() - end, end)
}
