//! A text as a reader sees it: escapes of Markdown, HTML, URLs and JSON decoded, so that one set of rules works for
//! all of them. Byte offsets lead back to the original.

use std::borrow::Cow;

use super::Span;

/// Longest character reference or escape in bytes.
const MAX_ESCAPE_BYTES: usize = 10;

/// A decoded text and its connection to the original.
pub(super) struct View<'t> {
    text: Cow<'t, str>,
    /// Where the offsets shift, in order.
    shifts: Vec<Shift>,
}

/// An escape in the original.
struct Shift {
    /// Offset in the view of the decoded character.
    at: usize,
    /// Offset in the view after the decoded character.
    view_end: usize,
    /// Offset in the original of the escape.
    start: usize,
    /// Offset in the original after the escape.
    end: usize,
}

impl<'t> View<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut decoded = String::new();
        let mut shifts = Vec::new();
        let mut copied = 0;
        for start in memchr::memchr3_iter(b'&', b'\\', b'%', bytes) {
            if start < copied {
                continue;
            }
            let Some((character, length)) = escape(&text[start..]) else {
                continue;
            };
            decoded.push_str(&text[copied..start]);
            let at = decoded.len();
            decoded.push(character);
            copied = start + length;
            shifts.push(Shift {
                at,
                view_end: decoded.len(),
                start,
                end: copied,
            });
        }
        if shifts.is_empty() {
            return Self {
                text: Cow::Borrowed(text),
                shifts,
            };
        }
        decoded.push_str(&text[copied..]);
        Self {
            text: Cow::Owned(decoded),
            shifts,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Changes the offsets of sorted spans to those of the original.
    pub(super) fn map_back(&self, spans: &mut [Span]) {
        for span in spans {
            span.start = self.original(span.start, |shift| shift.start);
            span.end = self.original(span.end, |shift| shift.end);
        }
    }

    /// Returns the offset in the original; `inside` decides within an escape.
    fn original(&self, offset: usize, inside: impl Fn(&Shift) -> usize) -> usize {
        let before = self.shifts.partition_point(|shift| shift.at <= offset);
        let Some(shift) = before.checked_sub(1).map(|index| &self.shifts[index]) else {
            return offset;
        };
        match offset {
            _ if offset == shift.at => shift.start,
            _ if offset < shift.view_end => inside(shift),
            _ => shift.end + (offset - shift.view_end),
        }
    }
}

/// Returns the character that an escape at the start of the text stands for, and the bytes of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    match bytes[0] {
        b'\\' => match *bytes.get(1)? {
            b'u' => {
                let code = u32::from_str_radix(text.get(2..6)?, 16).ok()?;
                Some((char::from_u32(code)?, 6))
            }
            next if next.is_ascii_punctuation() => Some((char::from(next), 2)),
            _ => None,
        },
        b'%' => {
            let code = u8::from_str_radix(text.get(1..3)?, 16).ok()?;
            let is_useful = matches!(code, b' ' | b'(' | b')' | b'+' | b'-' | b'.' | b':' | b'@');
            is_useful.then_some((char::from(code), 3))
        }
        _ => {
            let window = &bytes[..bytes.len().min(MAX_ESCAPE_BYTES)];
            let end = memchr::memchr(b';', window)?;
            let name = text.get(1..end)?;
            let character = match name.strip_prefix('#') {
                Some(number) => {
                    let hex = number.strip_prefix(['x', 'X']);
                    let code = match hex {
                        Some(hex) => u32::from_str_radix(hex, 16),
                        None => number.parse(),
                    };
                    char::from_u32(code.ok()?)?
                }
                None => match name {
                    "commat" => '@',
                    "period" => '.',
                    "plus" => '+',
                    "lpar" => '(',
                    "rpar" => ')',
                    "colon" => ':',
                    "equals" => '=',
                    "nbsp" => '\u{a0}',
                    "quot" => '"',
                    "apos" => '\'',
                    "amp" => '&',
                    _ => return None,
                },
            };
            Some((character, end + 1))
        }
    }
}
