//! The inline content of the current paragraph. Collapses white space, and opens emphasis and links only when
//! content follows, so that spaces stay outside and empty markup disappears.

use super::escape::{self, EscapeContext};

/// An inline mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Emphasis,
    Deleted,
    /// Kept as an HTML element (`sup`, `sub`).
    Html(&'static str),
    Link(String),
}

#[derive(Debug)]
struct OpenMark {
    mark: Mark,
    /// Its opening delimiter is written, because content followed.
    written: bool,
    /// Written only in the first block that it covers.
    once: bool,
    /// Written once, and not again; kept so that closing stays balanced.
    spent: bool,
}

/// The text of one paragraph so far.
#[derive(Default)]
pub(super) struct Inline {
    text: String,
    space: bool,
    breaks: usize,
    /// An element that is not written follows the text.
    separated: bool,
    /// The last character, if it is page text.
    last: Option<char>,
    marks: Vec<OpenMark>,
    /// Length of the text after the last closing delimiter, with its mark.
    closed: Option<(usize, Mark)>,
    /// Length of the text after the last code span.
    after_code: Option<usize>,
    /// Inside a table cell: pipes are escaped, and line breaks are `<br>`.
    pub(super) cell: bool,
    /// Nesting of places where line breaks become spaces (headings, link texts).
    pub(super) one_line: usize,
}

fn delimiter(mark: &Mark) -> &'static str {
    match mark {
        Mark::Strong => "**",
        Mark::Emphasis => "*",
        Mark::Deleted => "~~",
        Mark::Html(_) | Mark::Link(_) => "",
    }
}

fn is_word(c: char) -> bool {
    !c.is_whitespace() && !is_punctuation(c)
}

/// Returns true for punctuation, approximately as CommonMark's emphasis rules define it: no letter, digit,
/// combining mark or space.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || (!c.is_ascii()
            && !c.is_alphanumeric()
            && !c.is_whitespace()
            && !('\u{300}'..='\u{36f}').contains(&c))
}

impl Inline {
    /// Returns true when there is no text.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns true when a mark of this kind is open.
    pub(super) fn is_open(&self, mark: &Mark) -> bool {
        self.marks.iter().any(|open| open.mark == *mark)
    }

    /// Returns true inside a link.
    pub(super) fn in_link(&self) -> bool {
        self.marks
            .iter()
            .any(|open| matches!(open.mark, Mark::Link(_)) && !open.spent)
    }

    /// Adds page text: white space collapses, markup characters are escaped.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            if is_collapsible(c) {
                self.space = true;
            } else if c == '\u{200B}' || c == '\u{FEFF}' || c == '\u{AD}' || (c.is_control() && c != '\n') {
                // Invisible character.
            } else {
                self.prepare(c);
                if matches!(c, '(' | ':') && self.text.ends_with(']') && !self.text.ends_with("\\]") {
                    let at = self.text.len() - 1;
                    if self.closed.as_ref().is_none_or(|(end, _)| *end != at + 1) {
                        self.text.insert(at, '\\');
                    }
                }
                let context = EscapeContext {
                    link: self.in_link(),
                    cell: self.cell,
                };
                // `rest` starts with this character, so that the escape rules see what follows it.
                escape::push_char(&mut self.text, c, after.chars().next(), rest, context);
                self.last = Some(c);
                // Nothing is pending now, so words follow as they are.
                let (words, behind) = after.split_at(plain_words(after.as_bytes()));
                self.text.push_str(words);
                self.last = words.chars().next_back().or(self.last);
                rest = behind;
                continue;
            }
            rest = after;
        }
    }

    /// Adds generated markup (code spans, images, footnote references) as it is.
    pub(super) fn raw(&mut self, markup: &str) {
        if let Some(first) = markup.chars().next() {
            self.prepare(first);
            self.text.push_str(markup);
            self.last = None;
        }
    }

    /// Adds an inline code span. Two spans must not touch.
    pub(super) fn code(&mut self, span: &str) {
        self.space |= self.after_code == Some(self.text.len());
        self.raw(span);
        self.after_code = Some(self.text.len());
    }

    /// Adds more of the code that the last span is a part of: as the same span, unless something separates them.
    pub(super) fn more_code(&mut self, span: &str) {
        let is_simple = |code: &str| !code.starts_with("``") && !code.ends_with("``");
        let is_pending = |open: &OpenMark| !open.written && !open.spent;
        let is_separate = self.space || self.breaks > 0 || self.marks.iter().any(is_pending);
        if is_separate
            || self.after_code != Some(self.text.len())
            || !is_simple(span)
            || !is_simple(&self.text)
        {
            return self.code(span);
        }
        self.text.pop();
        self.text.push_str(&span[1..]);
        self.after_code = Some(self.text.len());
    }

    /// Adds white space.
    pub(super) fn space(&mut self) {
        self.space = true;
    }

    /// Records an image or control that is not written, so that the words around it stay separate.
    pub(super) fn separate(&mut self) {
        self.separated = true;
    }

    /// Adds a line break.
    pub(super) fn line_break(&mut self) {
        match self.one_line {
            0 => self.breaks += 1,
            _ => self.space = true,
        }
    }

    /// Returns the number of pending line breaks; two start a new paragraph.
    pub(super) fn breaks(&self) -> usize {
        self.breaks
    }

    /// Writes what must precede content that starts with `first`: line breaks, spaces, opening delimiters,
    /// escapes.
    fn prepare(&mut self, first: char) {
        let breaks = std::mem::take(&mut self.breaks);
        let mut space = std::mem::take(&mut self.space);
        if std::mem::take(&mut self.separated) && first.is_alphanumeric() {
            space |= self.last.is_some_and(char::is_alphanumeric);
        }
        if self.text.is_empty() || self.text.ends_with('\n') {
            space = false;
        } else if breaks > 0 {
            self.text.push_str(if self.cell { "<br>" } else { "  \n" });
            space = false;
        }
        let pending = self.marks.iter().position(|open| !open.written && !open.spent);
        if let Some((end, mark)) = self.closed.take()
            && end == self.text.len()
            && !delimiter(&mark).is_empty()
            && !space
        {
            let length = delimiter(&mark).len();
            // `**a****b**` becomes one emphasis.
            if let Some(index) = pending
                && self.marks[index].mark == mark
            {
                self.text.truncate(end - length);
                self.marks[index].written = true;
                return self.open_pending();
            }
            // `**a:**b` would not close; a space after punctuation changes no word.
            let inner = self.text[..end - length].chars().next_back();
            if pending.is_none() && is_word(first) && inner.is_some_and(is_punctuation) {
                space = true;
            }
        }
        if let Some(index) = pending
            && !space
            && let Some(before) = self.text.chars().next_back()
        {
            let emphasis = !delimiter(&self.marks[index].mark).is_empty();
            if emphasis && is_word(before) && is_punctuation(first) {
                space = true;
            }
            if matches!(self.marks[index].mark, Mark::Link(_)) && before == '!' {
                let at = self.text.len() - 1;
                self.text.insert(at, '\\');
            }
        }
        if space {
            self.text.push(' ');
        }
        self.open_pending();
    }

    fn open_pending(&mut self) {
        let Inline { marks, text, .. } = self;
        for open in marks.iter_mut().filter(|open| !open.written && !open.spent) {
            open.written = true;
            match &open.mark {
                Mark::Link(_) => text.push('['),
                Mark::Html(name) => {
                    text.push('<');
                    text.push_str(name);
                    text.push('>');
                }
                mark => text.push_str(delimiter(mark)),
            }
        }
    }

    /// Opens a mark; it is written with the first content.
    pub(super) fn open(&mut self, mark: Mark, once: bool) {
        self.marks.push(OpenMark {
            mark,
            written: false,
            once,
            spent: false,
        });
    }

    /// Closes the innermost mark.
    pub(super) fn close(&mut self) {
        if let Some(open) = self.marks.pop() {
            self.write_close(&open);
        }
    }

    fn write_close(&mut self, open: &OpenMark) {
        if !open.written {
            return;
        }
        match &open.mark {
            Mark::Link(url) => {
                self.text.push_str("](");
                self.text.push_str(&escape::destination(url, self.cell));
                self.text.push(')');
            }
            Mark::Html(name) => {
                self.text.push_str("</");
                self.text.push_str(name);
                self.text.push('>');
            }
            mark => self.text.push_str(delimiter(mark)),
        }
        self.closed = Some((self.text.len(), open.mark.clone()));
    }

    /// Ends the paragraph and returns its text, with open marks closed. They open again in the next
    /// paragraph.
    pub(super) fn take(&mut self) -> String {
        let mut marks = std::mem::take(&mut self.marks);
        for open in marks.iter().rev() {
            self.write_close(open);
        }
        for open in &mut marks {
            open.spent |= std::mem::take(&mut open.written) && open.once;
        }
        self.marks = marks;
        self.space = false;
        self.breaks = 0;
        self.separated = false;
        self.last = None;
        self.closed = None;
        self.after_code = None;
        // The buffer is kept for the next paragraph.
        let text = self.text.clone();
        self.text.clear();
        text
    }
}

/// Returns the length of the text that is written unchanged after other text: ASCII words without markup
/// characters, with single spaces between them.
fn plain_words(text: &[u8]) -> usize {
    let is_plain = |byte: &u8| PLAIN[usize::from(*byte)];
    let mut end = 0;
    loop {
        end += text[end..].iter().take_while(|byte| is_plain(byte)).count();
        match text.get(end..end + 2) {
            Some([b' ', next]) if is_plain(next) => end += 2,
            _ => return end,
        }
    }
}

/// The characters that are never escaped, collapsed or left out, and escape nothing before them.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        plain[byte as usize] = !matches!(
            byte,
            b'*' | b'_' | b'`' | b'~' | b'[' | b']' | b'<' | b'&' | b'\\' | b'|' | b'(' | b':'
        );
        byte += 1;
    }
    plain
};

/// Returns true for white space that HTML collapses, and for the no-break space, which becomes a plain one,
/// as Markdown readers expect.
fn is_collapsible(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c' | '\u{A0}')
}
