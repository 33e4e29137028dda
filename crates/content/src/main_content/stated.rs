//! The text that a page states as its own in JSON-LD: the body of an article or post, a description. A block that
//! is part of it is content, whatever its names say. Also provides the keys used to find repeated texts.

use memchr::memmem;

use crate::hash::HashSet;
use crate::html::dom::Dom;
use crate::html::json_ld;

/// Number of letters and digits that make up the key of a text.
const WIDTH: usize = 24;
/// Letters and digits of stated text that are read.
const MAX_CHARS: usize = 200_000;
/// Longest tag and longest character reference that are skipped in a text.
const MAX_MARKUP: usize = 300;
const MAX_REFERENCE: usize = 10;

/// Keys of all stretches of stated text that start with a word.
#[derive(Default)]
pub(super) struct StatedText {
    body: HashSet<u64>,
    description: HashSet<u64>,
}

impl StatedText {
    /// Reads the JSON-LD of a page. Broken JSON is read as far as its strings are complete.
    pub(super) fn of(dom: &Dom) -> StatedText {
        let mut stated = StatedText::default();
        let mut left = MAX_CHARS;
        for block in json_ld::blocks(dom) {
            for name in ["\"articleBody\"", "\"text\"", "\"description\""] {
                let keys = match name {
                    "\"description\"" => &mut stated.description,
                    _ => &mut stated.body,
                };
                for at in memmem::find_iter(block.as_bytes(), name) {
                    let Some(value) = string_after(&block[at + name.len()..]) else {
                        continue;
                    };
                    let folded = fold(value, left);
                    left -= folded.len();
                    keys.extend((0..folded.len()).filter_map(|at| key_at(&folded, at)));
                }
            }
        }
        stated
    }

    /// Returns how many of the first and last words of a text are in the stated body and in a description: 0 to
    /// 2, 3 for a text too short to tell, -1 when the page states none.
    pub(super) fn features(&self, start: &str) -> [i32; 2] {
        if self.body.is_empty() && self.description.is_empty() {
            return [-1, -1];
        }
        let folded = fold(start, usize::MAX);
        let first = key_at(&folded, 0);
        let last = (0..folded.len()).rev().find_map(|at| key_at(&folded, at));
        [&self.body, &self.description].map(|keys| match (first, last) {
            _ if keys.is_empty() => -1,
            (Some(first), Some(last)) => i32::from(keys.contains(&first)) + i32::from(keys.contains(&last)),
            _ => 3,
        })
    }
}

/// Returns the key of the start of a text, unless it is short.
pub(super) fn key(text: &str) -> Option<u64> {
    key_at(&fold(text, WIDTH), 0)
}

/// Returns the keys of all stretches of a text that start with a word.
pub(super) fn keys(text: &str) -> impl Iterator<Item = u64> {
    let folded = fold(text, MAX_CHARS);
    (0..folded.len()).filter_map(move |at| key_at(&folded, at))
}

/// Returns the letters and digits of a text in lower case, at most `max` of them.
pub(super) fn letters(text: &str, max: usize) -> String {
    fold(text, max).into_iter().map(|(letter, _)| letter).collect()
}

/// Returns the string value that follows a JSON key, still escaped.
pub(super) fn string_after(rest: &str) -> Option<&str> {
    let value = rest
        .trim_start()
        .strip_prefix(':')?
        .trim_start()
        .strip_prefix('"')?;
    let mut escaped = false;
    let end = value.bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    })?;
    Some(&value[..end])
}

/// Returns the letters and digits of a text in lower case, each with whether a word starts there. Skips escapes,
/// markup and character references.
fn fold(text: &str, max: usize) -> Vec<(char, bool)> {
    let mut out = Vec::with_capacity(text.len().min(max));
    let mut in_word = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next().filter(|_| out.len() < max) {
        if c.is_ascii_alphanumeric() {
            out.push((c.to_ascii_lowercase(), !in_word));
            in_word = true;
            rest = &rest[1..];
            continue;
        }
        let after = rest[c.len_utf8()..].chars().next().unwrap_or(' ');
        let (next, length) = match c {
            '\\' if after == 'u' => {
                let code = rest.get(2..6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                (code.and_then(char::from_u32).unwrap_or(' '), 6)
            }
            '\\' => (' ', 1 + after.len_utf8()),
            '<' if after.is_ascii_alphabetic() || after == '/' => (' ', length_to(rest, b'>', MAX_MARKUP)),
            '&' => (' ', length_to(rest, b';', MAX_REFERENCE)),
            c => (c, c.len_utf8()),
        };
        rest = rest.get(length..).unwrap_or("");
        if next.is_alphanumeric() {
            out.extend(next.to_lowercase().take(1).map(|c| (c, !in_word)));
            in_word = true;
        } else {
            in_word = false;
        }
    }
    out
}

/// Returns the bytes up to and with `end`; 1 when it is not within `max` bytes.
fn length_to(text: &str, end: u8, max: usize) -> usize {
    text.bytes()
        .take(max)
        .position(|b| b == end)
        .map_or(1, |at| at + 1)
}

/// Returns the key of the text from `at`, when a word starts there and the text is long enough.
fn key_at(folded: &[(char, bool)], at: usize) -> Option<u64> {
    let stretch = folded.get(at..at + WIDTH).filter(|stretch| stretch[0].1)?;
    Some(stretch.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &(c, _)| {
        (hash ^ u64::from(c as u32)).wrapping_mul(0x100_0000_01b3)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn blocks_of_the_stated_body_are_recognised() {
        let page = r#"<script type="application/ld+json">{"@type": "Article", "articleBody" : "<p>The harbour was
            closed for three days.\n\nThe ferries &quot;stayed&quot; at the qu\u00e4y, and waited.</p>", broken"#;
        let stated = StatedText::of(&parse(page));
        let body = |text: &str| stated.features(text)[0];
        assert_eq!(body("the harbour was closed for three days."), 2);
        assert_eq!(body("the ferries \"stayed\" at the quäy, and waited."), 2);
        assert_eq!(
            body("the harbour was closed for three days. no more today, says the mayor"),
            1
        );
        assert_eq!(body("more stories about harbours and ferries"), 0);
        assert_eq!(body("the harbour"), 3);
        assert_eq!(stated.features("the harbour")[1], -1);
        assert_eq!(StatedText::of(&parse("<p>x")).features("the harbour"), [-1, -1]);
    }

    #[test]
    fn any_text_can_be_folded() {
        for text in [
            "\\", "\\u", "\\u12", "\\u00zz", "&", "<", "&ä;é", "\\é", "\\ud83d\\ude00a",
        ] {
            fold(text, 10);
        }
        assert_eq!(
            key("İstanbul is a city of two continents"),
            key("i̇STANBUL is a city of two continents")
        );
    }

    #[test]
    fn texts_that_start_alike_have_the_same_key() {
        assert_eq!(
            key("Good morning! This is the tech news of today"),
            key("good morning: this is the tech news …")
        );
        assert_eq!(key("Good morning!"), None);
    }
}
