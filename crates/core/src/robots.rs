//! robots.txt (RFC 9309) for one agent, as tolerant as Google's open-source parser: it accepts common
//! misspellings and missing colons and dashes. Parsing keeps only the rules for the agent. Matching
//! never backtracks and takes time linear in pattern plus path.

mod lines;
mod pattern;

use std::borrow::Cow;

use crate::crawl::limits::{CRAWL_DELAY_MAX_MS, ROBOTS_SITEMAPS_MAX};

pub use lines::line_of;
use lines::{Key, Lines};
use pattern::Pattern;

/// The rules of one robots.txt for one agent. The default allows everything.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Longest pattern first, `Allow` before `Disallow`: the first match decides.
    rules: Vec<Rule>,
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
        Robots {
            rules,
            crawl_delay_ms: group.crawl_delay_ms,
            sitemaps,
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
        let rule = self.rules.iter().find(|rule| rule.pattern.matches(path));
        RobotsVerdict {
            allowed: rule.is_none_or(|rule| rule.allow),
            line: rule.map(|rule| rule.line),
        }
    }

    /// Returns the approximate memory use in bytes.
    pub fn memory_bytes(&self) -> usize {
        let rules = self
            .rules
            .iter()
            .map(|rule| rule.pattern.as_bytes().len() + size_of::<Rule>());
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

    #[test]
    fn matching_a_hostile_file_takes_bounded_time() {
        let mut text = b"User-agent: *\n".to_vec();
        for i in 0..30_000 {
            text.extend_from_slice(format!("Allow: /*a*{i:x}q\n").as_bytes());
        }
        let path = format!("/{}", "a".repeat(8000));
        assert!(Robots::parse(&text, "bot").allows(&path));
    }
}
