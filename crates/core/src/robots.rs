//! robots.txt (RFC 9309) for one agent, as tolerant as Google's open-source parser: it accepts common
//! misspellings and missing colons and dashes. Parsing keeps only the rules for the agent. Matching
//! never backtracks, takes time linear in pattern plus path, and finds rules without wildcards by binary search.

mod lines;
mod pattern;

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::crawl::limits::{CRAWL_DELAY_MAX_MS, ROBOTS_SITEMAPS_MAX, ROBOTS_WORK_MAX};

pub use lines::line_of;
use lines::{Key, Lines};
use pattern::{ByteSet, Pattern};

/// Work of ruling out a pattern by the bytes of a path; see [`ROBOTS_WORK_MAX`].
const SKIP_WORK: usize = 8;
/// Work of matching one byte of a pattern, which may be a search of its own.
const PATTERN_BYTE_WORK: usize = 4;

/// The rules of one robots.txt for one agent. The default allows everything.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Longest pattern first, `Allow` before `Disallow`: the first match decides.
    rules: Vec<Rule>,
    /// Rules without wildcards, ordered by path; of equal paths the first rule is last.
    prefixes: Vec<u32>,
    /// The same for rules that must match the whole path.
    whole_paths: Vec<u32>,
    /// The other rules, in their order.
    wildcards: Vec<u32>,
    crawl_delay_ms: Option<u64>,
    sitemaps: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Rule {
    pattern: Pattern,
    allow: bool,
    line: u32,
}

/// Whether an agent may fetch a path, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RobotsVerdict {
    /// Whether it may be fetched.
    pub allowed: bool,
    /// The line that decided, counted from 1; `None` when no rule matches.
    pub line: Option<u32>,
}

/// Rules collected for one agent name.
#[derive(Default)]
struct Group {
    seen: bool,
    rules: Vec<Rule>,
    crawl_delay_ms: Option<u64>,
}

/// The agents that the current lines apply to.
#[derive(Default)]
struct Agents {
    specific: bool,
    general: bool,
    /// Whether the next `User-agent` line starts a new group.
    closed: bool,
}

impl Agents {
    fn start(&mut self) {
        if self.closed {
            *self = Agents::default();
        }
    }

    /// Returns the group of the current lines. Lines for both our agent and `*` count as ours.
    fn group<'a>(&self, specific: &'a mut Group, general: &'a mut Group) -> Option<&'a mut Group> {
        match (self.specific, self.general) {
            (true, _) => Some(specific),
            (false, true) => Some(general),
            (false, false) => None,
        }
    }
}

impl Robots {
    /// Parses a robots.txt for the product token `agent`, case-insensitive; anything after the token is
    /// ignored. Skips what it does not understand, so it never fails.
    pub fn parse(text: &[u8], agent: &str) -> Robots {
        let agent = product_token(agent.as_bytes());
        let mut specific = Group::default();
        let mut general = Group::default();
        let mut sitemaps = Vec::new();
        let (mut of_rules, mut of_delay) = (Agents::default(), Agents::default());
        for (line, key, value) in Lines::new(text) {
            match key {
                Key::UserAgent => {
                    // Only rules end a list of agents. `Crawl-delay` is not a rule in the RFC, so it
                    // ends the list for delays only.
                    of_rules.start();
                    of_delay.start();
                    if is_everyone(value) {
                        general.seen = true;
                        (of_rules.general, of_delay.general) = (true, true);
                    } else if !agent.is_empty() && product_token(value).eq_ignore_ascii_case(agent) {
                        specific.seen = true;
                        (of_rules.specific, of_delay.specific) = (true, true);
                    }
                }
                Key::Allow | Key::Disallow => {
                    (of_rules.closed, of_delay.closed) = (true, true);
                    if let (Some(group), false) =
                        (of_rules.group(&mut specific, &mut general), value.is_empty())
                    {
                        group.add(value, key == Key::Allow, line);
                    }
                }
                Key::CrawlDelay => {
                    of_delay.closed = true;
                    if let Some(group) = of_delay.group(&mut specific, &mut general) {
                        group.crawl_delay_ms = delay_ms(value).or(group.crawl_delay_ms);
                    }
                }
                Key::Sitemap => {
                    if let (Ok(value), true) =
                        (std::str::from_utf8(value), sitemaps.len() < ROBOTS_SITEMAPS_MAX)
                        && !value.is_empty()
                    {
                        sitemaps.push(value.to_owned());
                    }
                }
            }
        }
        let group = if specific.seen { specific } else { general };
        let mut rules = group.rules;
        rules.sort_by(|a, b| {
            let by_length = b.pattern.as_bytes().len().cmp(&a.pattern.as_bytes().len());
            let by_text = || a.pattern.as_bytes().cmp(b.pattern.as_bytes());
            by_length.then(b.allow.cmp(&a.allow)).then_with(by_text)
        });
        rules.dedup_by(|later, first| (&later.pattern, later.allow) == (&first.pattern, first.allow));
        let mut robots = Robots {
            rules,
            crawl_delay_ms: group.crawl_delay_ms,
            sitemaps,
            ..Robots::default()
        };
        robots.index();
        robots
    }

    fn index(&mut self) {
        for (index, rule) in (0..).zip(&self.rules) {
            match rule.pattern.literal() {
                Some((_, false)) => self.prefixes.push(index),
                Some((_, true)) => self.whole_paths.push(index),
                None => self.wildcards.push(index),
            }
        }
        let rules = &self.rules;
        for list in [&mut self.prefixes, &mut self.whole_paths] {
            list.sort_by_key(|index| (literal(rules, *index), Reverse(*index)));
        }
    }

    /// Returns whether the agent may fetch a path with query; see [`Robots::judge`].
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.judge(path_and_query).allowed
    }

    /// Judges a path with query as written in the URL (`/` for an empty one). The longest matching
    /// pattern decides; `Allow` wins a tie.
    pub fn judge(&self, path_and_query: &str) -> RobotsVerdict {
        let path = if path_and_query.is_empty() {
            "/"
        } else {
            path_and_query
        };
        let path = path.as_bytes();
        let literal = self.literal_rule(path);
        let Ok(wildcard) = self.wildcard_rule(path, literal) else {
            return RobotsVerdict {
                allowed: false,
                line: None,
            };
        };
        let rule = wildcard.or(literal).map(|index| &self.rules[index as usize]);
        RobotsVerdict {
            allowed: rule.is_none_or(|rule| rule.allow),
            line: rule.map(|rule| rule.line),
        }
    }

    /// Returns the first rule without wildcards that matches.
    fn literal_rule(&self, path: &[u8]) -> Option<u32> {
        let last_before = |list: &[u32], path: &[u8]| {
            let end = list.partition_point(|index| literal(&self.rules, *index) <= path);
            list[..end].last().copied()
        };
        let whole_path = last_before(&self.whole_paths, path);
        let whole_path = whole_path.filter(|index| literal(&self.rules, *index) == path);
        // No longer prefix of the path than what it has in common with the last one before it is in the list.
        let mut start = path;
        let prefix = loop {
            let Some(index) = last_before(&self.prefixes, start) else {
                break None;
            };
            let found = literal(&self.rules, index);
            let common = start.iter().zip(found).take_while(|(one, other)| one == other);
            match common.count() {
                length if length == found.len() => break Some(index),
                length => start = &start[..length],
            }
        };
        [whole_path, prefix].into_iter().flatten().min()
    }

    /// Returns the first rule with wildcards that matches, if it comes before the `other` one.
    ///
    /// # Errors
    /// If this takes more than [`ROBOTS_WORK_MAX`] and a rule that was not checked may disallow the path.
    fn wildcard_rule(&self, path: &[u8], other: Option<u32>) -> Result<Option<u32>, ()> {
        let before = |index: &u32| other.is_none_or(|other| *index < other);
        let count = self.wildcards.partition_point(before);
        let candidates = &self.wildcards[..count];
        let bytes = ByteSet::of(path);
        let mut work = ROBOTS_WORK_MAX;
        for (checked, &index) in candidates.iter().enumerate() {
            let pattern = &self.rules[index as usize].pattern;
            let may_match = pattern.may_match(bytes);
            let needed = match may_match {
                true => path.len() + pattern.as_bytes().len() * PATTERN_BYTE_WORK,
                false => SKIP_WORK,
            };
            let Some(rest) = work.checked_sub(needed) else {
                let mut unchecked = candidates[checked..].iter().chain(&other);
                return match unchecked.all(|index| self.rules[*index as usize].allow) {
                    true => Ok(None),
                    false => Err(()),
                };
            };
            work = rest;
            if may_match && pattern.matches(path) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Returns the approximate memory use in bytes.
    pub fn memory_bytes(&self) -> usize {
        let rules = self
            .rules
            .iter()
            .map(|rule| rule.pattern.as_bytes().len() + size_of::<Rule>() + size_of::<u32>());
        let sitemaps = self.sitemaps.iter().map(|line| line.len() + size_of::<String>());
        size_of::<Self>() + rules.sum::<usize>() + sitemaps.sum::<usize>()
    }

    /// Returns `Crawl-delay` in ms, at most [`CRAWL_DELAY_MAX_MS`].
    pub fn crawl_delay_ms(&self) -> Option<u64> {
        self.crawl_delay_ms
    }

    /// Returns the values of the `Sitemap` lines as written, in order.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

impl Group {
    /// Adds a rule. An `Allow` for `.../index.htm(l)` also allows the directory.
    fn add(&mut self, value: &[u8], allow: bool, line: u32) {
        if allow
            && let Some(slash) = value.iter().rposition(|byte| *byte == b'/')
            && value[slash..].starts_with(b"/index.htm")
        {
            let mut directory = value[..=slash].to_vec();
            directory.push(b'$');
            self.push(&directory, allow, line);
        }
        self.push(value, allow, line);
    }

    fn push(&mut self, value: &[u8], allow: bool, line: u32) {
        let pattern = Pattern::new(value);
        self.rules.push(Rule { pattern, allow, line });
    }
}

/// Returns the path of a rule without wildcards.
fn literal(rules: &[Rule], index: u32) -> &[u8] {
    rules[index as usize].pattern.literal().unwrap_or_default().0
}

/// Returns path and query as written in a URL, not normalized, without fragment.
pub fn path_and_query(url: &str) -> Cow<'_, str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    match rest.find(['/', '?', ';']) {
        Some(start) if rest[start..].starts_with('/') => Cow::Borrowed(&rest[start..]),
        Some(start) => Cow::Owned(format!("/{}", &rest[start..])),
        None => Cow::Borrowed("/"),
    }
}

/// Matches `*`, alone or followed by whitespace.
fn is_everyone(value: &[u8]) -> bool {
    value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace)
}

/// Returns the leading letters, `_` and `-`.
fn product_token(value: &[u8]) -> &[u8] {
    let is_token = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let end = value
        .iter()
        .position(|byte| !is_token(byte))
        .unwrap_or(value.len());
    &value[..end]
}

/// Parses seconds, possibly fractional. Returns `None` if the value is not a positive number.
fn delay_ms(value: &[u8]) -> Option<u64> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
    if seconds.is_nan() || seconds <= 0.0 {
        return None;
    }
    // At most 60 000, so the cast is exact enough.
    Some((seconds * 1000.0).min(CRAWL_DELAY_MAX_MS as f64).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crawl_delay_is_per_group_and_capped() {
        let text = b"User-agent: *\nCrawl-delay: 3\n\nUser-agent: bot\nCrawl-delay: 0.5\nDisallow: /x\n";
        assert_eq!(Robots::parse(text, "Bot/1.0").crawl_delay_ms(), Some(500));
        assert_eq!(Robots::parse(text, "other").crawl_delay_ms(), Some(3000));
        let long = Robots::parse(b"User-agent: *\nCrawl-delay: 86400", "bot");
        assert_eq!(long.crawl_delay_ms(), Some(60_000));
        for bad in ["x", "-1", "nan", "0", ""] {
            let text = format!("User-agent: *\nCrawl-delay: {bad}\n");
            assert_eq!(
                Robots::parse(text.as_bytes(), "bot").crawl_delay_ms(),
                None,
                "{bad}"
            );
        }
    }

    #[test]
    fn a_verdict_names_the_deciding_line() {
        let text = "\u{feff}User-agent: *\r\nDisallow: /a\n\n# no rule\rAllow: /a/b\nDisallow: /a\nAllow: /x/index.html";
        let robots = Robots::parse(text.as_bytes(), "bot");
        let verdict = |path: &str| {
            let RobotsVerdict { allowed, line } = robots.judge(path);
            (allowed, line.and_then(|line| line_of(text, line)))
        };
        assert_eq!(verdict("/a/c"), (false, Some("Disallow: /a")));
        assert_eq!(robots.judge("/a/c").line, Some(2), "the first of equal rules");
        assert_eq!(verdict("/a/b"), (true, Some("Allow: /a/b")));
        assert_eq!(verdict("/x/"), (true, Some("Allow: /x/index.html")));
        assert_eq!(verdict("/"), (true, None));
        assert_eq!(line_of(text, 1), Some("User-agent: *"));
    }

    #[test]
    fn sitemap_lines_belong_to_no_group() {
        let text = b"Sitemap: http://a.test/1.xml\nUser-agent: x\nSITE-MAP: /2.xml\nDisallow: /\nsitemap:\n";
        assert_eq!(
            Robots::parse(text, "bot").sitemaps(),
            ["http://a.test/1.xml", "/2.xml"]
        );
    }

    #[test]
    fn a_rule_truncated_by_the_size_limit_is_ignored() {
        let mut text = b"User-agent: *\n".to_vec();
        while text.len() < crate::crawl::limits::ROBOTS_MAX_BYTES - 11 {
            text.push(b'\n');
        }
        text.extend_from_slice(b"Disallow: /private\n");
        assert!(Robots::parse(&text, "bot").allows("/x"));
    }

    /// Returns a file with rules of every kind over few letters, so that many match.
    fn dense_file() -> String {
        let mut text = "User-agent: *\n".to_owned();
        let mut number = 1u32;
        for _ in 0..3000 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = if number >> 31 == 0 { "Allow" } else { "Disallow" };
            let letters =
                (0..1 + (number >> 28) % 7).map(|at| b"ab/*"[(number >> (at * 3)) as usize % 4] as char);
            let letters: String = letters.collect();
            let anchor = if number.is_multiple_of(5) { "$" } else { "" };
            text.push_str(&format!("{key}: /{letters}{anchor}\n"));
        }
        text
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let robots = Robots::parse(dense_file().as_bytes(), "bot");
        let mut decided = 0;
        for number in 0..3usize.pow(7) {
            let mut path = "/".to_owned();
            path.extend((0..number % 9).map(|at| b"ab/"[number / 3usize.pow(at as u32) % 3] as char));
            let matching = |rule: &&Rule| rule.pattern.matches(path.as_bytes());
            let rule = robots.rules.iter().find(matching);
            decided += usize::from(rule.is_some());
            assert_eq!(robots.judge(&path).line, rule.map(|rule| rule.line), "{path}");
        }
        assert!(decided > 500);
    }

    #[test]
    fn the_work_for_a_hostile_file_is_bounded() {
        let file = |key: &str| {
            let mut text = b"User-agent: *\nAllow: /a*\n".to_vec();
            for i in 0..30_000 {
                text.extend_from_slice(format!("{key}: /*b*{i:x}q\n").as_bytes());
            }
            Robots::parse(&text, "bot")
        };
        let (disallowing, allowing) = (file("Disallow"), file("Allow"));
        let long = format!("/{}0123456789abcdef", "q".repeat(8000));
        assert!(!disallowing.allows(&long), "not every rule can be checked");
        assert!(allowing.allows(&long), "no rule disallows");
        assert!(disallowing.allows("/b/q1"), "a short path is cheap");
        assert!(!disallowing.allows("/b/12q"));
        assert!(
            disallowing.allows(&"/z".repeat(4000)),
            "its bytes rule the patterns out"
        );
    }
}
