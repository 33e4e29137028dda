//! Splits a robots.txt into keys and values, without comments and unknown lines.

use crate::crawl::limits::{ROBOTS_LINE_MAX_BYTES, ROBOTS_MAX_BYTES};

/// Key of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    UserAgent,
    Allow,
    Disallow,
    Sitemap,
    CrawlDelay,
}

/// Spellings of the keys found on the web, in lower case. A line matches if it starts with one.
const SPELLINGS: &[(&str, Key)] = &[
    ("user-agent", Key::UserAgent),
    ("useragent", Key::UserAgent),
    ("user agent", Key::UserAgent),
    ("allow", Key::Allow),
    ("disallow", Key::Disallow),
    ("dissallow", Key::Disallow),
    ("dissalow", Key::Disallow),
    ("disalow", Key::Disallow),
    ("diasllow", Key::Disallow),
    ("disallaw", Key::Disallow),
    ("sitemap", Key::Sitemap),
    ("site-map", Key::Sitemap),
    ("crawl-delay", Key::CrawlDelay),
    ("crawldelay", Key::CrawlDelay),
    ("crawl delay", Key::CrawlDelay),
];

/// Iterates over the lines with a known key, each with its number from 1.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u32,
}

impl<'a> Lines<'a> {
    /// Skips a byte order mark and ignores everything after the last full line of the first 512 KiB.
    pub(super) fn new(text: &'a [u8]) -> Self {
        let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if rest.len() > ROBOTS_MAX_BYTES {
            rest = &rest[..ROBOTS_MAX_BYTES];
            let end = rest.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
            rest = &rest[..end.unwrap_or(0)];
        }
        Self { rest, number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u32, Key, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            let ending = if rest.starts_with(b"\r\n") { 2 } else { 1 };
            self.rest = rest.get(ending..).unwrap_or_default();
            self.number += 1;
            if let Some((key, value)) = read(&line[..line.len().min(ROBOTS_LINE_MAX_BYTES)]) {
                return Some((self.number, key, value));
            }
        }
        None
    }
}

/// Returns the line with this number, counted from 1 and trimmed.
pub fn line_of(text: &str, number: u32) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split("\r\n").flat_map(|part| part.split(['\n', '\r']));
    lines.nth(number.checked_sub(1)? as usize).map(str::trim)
}

fn read(line: &[u8]) -> Option<(Key, &[u8])> {
    let comment = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len());
    let line = trim(&line[..comment]);
    let (key, value) = match line.iter().position(|byte| *byte == b':') {
        Some(colon) => (trim(&line[..colon]), trim(&line[colon + 1..])),
        // A missing colon is tolerated if there are exactly two words.
        None => {
            let blank = line.iter().position(u8::is_ascii_whitespace)?;
            let value = trim(&line[blank..]);
            if value.iter().any(u8::is_ascii_whitespace) {
                return None;
            }
            (&line[..blank], value)
        }
    };
    let starts = |name: &str| {
        key.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
    };
    SPELLINGS
        .iter()
        .find(|(name, _)| starts(name))
        .map(|(_, key)| (*key, value))
}

/// Trims whitespace including the vertical tab.
fn trim(mut text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    while let [first, rest @ ..] = text
        && is_blank(first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_blank(last)
    {
        text = rest;
    }
    text
}
