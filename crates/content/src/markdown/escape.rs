//! Escapes text for CommonMark and GFM, only where it would otherwise be read as markup.

use std::borrow::Cow;

/// Appends a character of page text. `next` follows it in the same run, `rest` is the run from this character
/// on, and `context` says where the text goes.
pub(super) fn push_char(out: &mut String, c: char, next: Option<char>, rest: &str, context: EscapeContext) {
    let before = out.chars().next_back();
    let after_space = before.is_none_or(char::is_whitespace);
    let escape = match c {
        '*' => !(after_space && next.is_some_and(char::is_whitespace)),
        '_' => {
            let inside_word =
                before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric);
            // A separate run of underscores is a blank to fill in.
            !inside_word
                && !(next.is_none_or(|n| n.is_whitespace() || n == '_')
                    && (after_space || before == Some('_')))
        }
        '`' => true,
        '~' => next == Some('~') || before == Some('~'),
        '[' => context.link,
        ']' => context.link || matches!(next, Some('(' | ':')),
        '<' => next.is_some_and(|n| n.is_ascii_alphabetic() || matches!(n, '/' | '!' | '?')),
        '&' => is_entity(rest),
        '\\' => next.is_some_and(|n| n.is_ascii_punctuation()),
        '|' => context.cell,
        _ => false,
    };
    if escape {
        out.push('\\');
    }
    out.push(c);
}

/// Context of a text, as far as escaping depends on it.
#[derive(Clone, Copy, Default)]
pub(super) struct EscapeContext {
    /// Inside link text.
    pub(super) link: bool,
    /// Inside a table cell.
    pub(super) cell: bool,
}

/// Returns true when the text, from its `&` on, reads as a character reference.
fn is_entity(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    let mut at = 1;
    if bytes.get(at) == Some(&b'#') {
        at += 1;
    }
    let start = at;
    while at < bytes.len() && at - start < 32 && bytes[at].is_ascii_alphanumeric() {
        at += 1;
    }
    at > start && bytes.get(at) == Some(&b';')
}

/// Escapes what would start a block, at the start of each line of a paragraph.
pub(super) fn line_starts(paragraph: &str) -> Cow<'_, str> {
    if paragraph.split('\n').all(|line| block_start(line).is_none()) {
        return Cow::Borrowed(paragraph);
    }
    let mut out = String::with_capacity(paragraph.len() + 2);
    for (number, line) in paragraph.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        match block_start(line) {
            Some(at) => {
                out.push_str(&line[..at]);
                out.push('\\');
                out.push_str(&line[at..]);
            }
            None => out.push_str(line),
        }
    }
    Cow::Owned(out)
}

/// Returns where a backslash must be inserted so that the line does not start a block.
fn block_start(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let ends_word = |at: usize| bytes.get(at).is_none_or(|b| b.is_ascii_whitespace());
    match *bytes.first()? {
        b'#' => {
            let count = bytes.iter().take_while(|&&b| b == b'#').count();
            (count <= 6 && ends_word(count)).then_some(0)
        }
        b'>' => Some(0),
        b'-' | b'+' | b'*' if ends_word(1) => Some(0),
        mark @ (b'-' | b'=') if bytes.iter().all(|&b| b == mark || b == b' ') => Some(0),
        b'~' if line.starts_with("~~~") => Some(0),
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            (digits <= 9 && matches!(bytes.get(digits), Some(b'.' | b')')) && ends_word(digits + 1))
                .then_some(digits)
        }
        _ => None,
    }
}

/// Returns a link or image URL in the form for `(...)`.
pub(super) fn destination(url: &str, cell: bool) -> Cow<'_, str> {
    let is_plain =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'|' | b'\\');
    if url.bytes().all(is_plain) {
        return Cow::Borrowed(url);
    }
    let mut out = String::with_capacity(url.len());
    let balanced = {
        let mut depth = 0i32;
        url.bytes().all(|b| {
            depth += i32::from(b == b'(') - i32::from(b == b')');
            depth >= 0
        }) && depth == 0
    };
    for c in url.chars() {
        match c {
            '(' | ')' if !balanced => {
                out.push('\\');
                out.push(c);
            }
            ' ' => out.push_str("%20"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '|' if cell => out.push_str("%7C"),
            '\\' => out.push_str("%5C"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}
