//! Filter lists in the syntax of Adblock Plus: the rules for requests whose pattern starts with a host (`||host`), which
//! are nearly all that lists have. Patterns without a host, regular expressions, and rules that hide elements or change
//! responses are skipped. Lists of host names, also in the form of a hosts file, are read too.

use std::collections::{HashMap, HashSet};

use harvestman_core::scope::registrable_domain;
use url::{Position, Url};

/// Compiled lists.
#[derive(Default)]
pub(crate) struct FilterLists {
    /// Hosts that nothing is requested from.
    hosts: HashSet<Box<str>>,
    /// Hosts that only their own site may request from.
    third_party_hosts: HashSet<Box<str>>,
    /// All other rules, by the host that their pattern starts with.
    rules: HashMap<Box<str>, Vec<Rule>>,
}

/// Types of resources, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ResourceType(u16);

impl ResourceType {
    const ALL: Self = Self(u16::MAX);
    pub(crate) const SUBDOCUMENT: Self = Self(1);
    pub(crate) const SCRIPT: Self = Self(1 << 1);
    pub(crate) const STYLESHEET: Self = Self(1 << 2);
    pub(crate) const IMAGE: Self = Self(1 << 3);
    pub(crate) const FONT: Self = Self(1 << 4);
    pub(crate) const MEDIA: Self = Self(1 << 5);
    pub(crate) const XMLHTTPREQUEST: Self = Self(1 << 6);
    pub(crate) const PING: Self = Self(1 << 7);
    pub(crate) const OTHER: Self = Self(1 << 8);

    /// Returns the type of an option of a rule.
    fn of_option(name: &str) -> Option<Self> {
        Some(match name {
            "subdocument" | "frame" => Self::SUBDOCUMENT,
            "script" => Self::SCRIPT,
            "stylesheet" | "css" => Self::STYLESHEET,
            "image" => Self::IMAGE,
            "font" => Self::FONT,
            "media" => Self::MEDIA,
            "xmlhttprequest" | "xhr" => Self::XMLHTTPREQUEST,
            "ping" | "beacon" => Self::PING,
            "object" | "websocket" | "other" => Self::OTHER,
            _ => return None,
        })
    }
}

/// What is done with requests to a host, beyond blocking all of them.
#[derive(PartialEq, Debug)]
struct Rule {
    /// What follows the host, in lower case: `*` stands for anything, `^` for a separator, a final `|` for the end.
    pattern: Box<str>,
    is_exception: bool,
    /// No exception applies.
    is_important: bool,
    /// Only requests to other sites, or only those to the same site.
    third_party: Option<bool>,
    types: ResourceType,
    /// Only on pages of these hosts; empty: on all.
    on: Vec<Box<str>>,
    /// Not on pages of these hosts.
    not_on: Vec<Box<str>>,
}

impl FilterLists {
    /// Adds the rules of a list.
    pub(crate) fn add(&mut self, list: &str) {
        for line in list.lines().map(str::trim) {
            match line.starts_with("||") || line.starts_with("@@||") {
                true => self.add_rule(line),
                false => self.add_host(line),
            }
        }
    }

    fn add_rule(&mut self, line: &str) {
        let Some((host, rule)) = parse(line) else {
            return;
        };
        let blocks_host = rule.is_plain();
        match rule.third_party {
            None if blocks_host => _ = self.hosts.insert(host.into()),
            Some(true) if blocks_host => _ = self.third_party_hosts.insert(host.into()),
            _ => self.rules.entry(host.into()).or_default().push(rule),
        }
    }

    /// Adds a line of a list of host names, such as `ads.example` or `0.0.0.0 ads.example`.
    fn add_host(&mut self, line: &str) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let host = match (words.next(), words.next(), words.next()) {
            (Some(host), None, _) | (Some("0.0.0.0" | "127.0.0.1" | "::" | "::1"), Some(host), None) => host,
            _ => return,
        };
        if is_host(host) && host.contains('.') && registrable_domain(host).is_some() {
            self.hosts.insert(host.to_ascii_lowercase().into());
        }
    }

    /// Returns whether a page at `document` must not request `url`.
    pub(crate) fn blocks(&self, url: &Url, document: &Url, of: ResourceType) -> bool {
        let (Some(host), Some(page)) = (url.domain(), document.host_str()) else {
            return false;
        };
        let site = |host| registrable_domain(host).unwrap_or(host);
        let is_third_party = site(host) != site(page);
        let rest = url[Position::AfterHost..].to_ascii_lowercase();
        let (mut is_blocked, mut is_excepted) = (false, false);
        for host in suffixes(host) {
            is_blocked |=
                self.hosts.contains(host) || (is_third_party && self.third_party_hosts.contains(host));
            let rules = self.rules.get(host).map(Vec::as_slice).unwrap_or_default();
            let applies = |rule: &&Rule| rule.applies(&rest, page, is_third_party, of);
            for rule in rules.iter().filter(applies) {
                if rule.is_important && !rule.is_exception {
                    return true;
                }
                match rule.is_exception {
                    true => is_excepted = true,
                    false => is_blocked = true,
                }
            }
        }
        is_blocked && !is_excepted
    }
}

impl Rule {
    /// Returns whether the rule blocks a host as a whole.
    fn is_plain(&self) -> bool {
        matches!(&*self.pattern, "" | "^")
            && !self.is_exception
            && !self.is_important
            && self.types == ResourceType::ALL
            && self.on.is_empty()
            && self.not_on.is_empty()
    }

    fn applies(&self, rest: &str, page: &str, is_third_party: bool, of: ResourceType) -> bool {
        let is_on = |hosts: &[Box<str>]| suffixes(page).any(|page| hosts.iter().any(|host| **host == *page));
        self.types.0 & of.0 != 0
            && self
                .third_party
                .is_none_or(|third_party| third_party == is_third_party)
            && (self.on.is_empty() || is_on(&self.on))
            && !is_on(&self.not_on)
            && matches(self.pattern.as_bytes(), rest.as_bytes())
    }
}

/// Returns the host and the rule of a line `||host...`; `None` if it is of a kind that is skipped.
fn parse(line: &str) -> Option<(&str, Rule)> {
    let (is_exception, text) = match line.strip_prefix("@@") {
        Some(text) => (true, text),
        None => (false, line),
    };
    let (text, options) = match text.rsplit_once('$') {
        Some((text, options)) => (text, options),
        None => (text, ""),
    };
    let text = text.strip_prefix("||")?;
    let end = text.find(|c: char| !is_host_char(c)).unwrap_or(text.len());
    let (host, pattern) = text.split_at(end);
    if !is_host(host) || pattern.starts_with('*') || host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let mut rule = Rule {
        pattern: pattern.to_ascii_lowercase().into(),
        is_exception,
        is_important: false,
        third_party: None,
        types: ResourceType::ALL,
        on: Vec::new(),
        not_on: Vec::new(),
    };
    let (mut only, mut not) = (0, 0);
    for option in options.split(',').filter(|option| !option.is_empty()) {
        match option {
            "third-party" | "3p" => rule.third_party = Some(true),
            "~third-party" | "1p" => rule.third_party = Some(false),
            "important" => rule.is_important = true,
            _ => match (option.strip_prefix("domain="), option.strip_prefix('~')) {
                (Some(domains), _) => {
                    for domain in domains.split('|') {
                        match domain.strip_prefix('~') {
                            Some(domain) => rule.not_on.push(domain.into()),
                            None => rule.on.push(domain.into()),
                        }
                    }
                }
                (None, Some(name)) => not |= ResourceType::of_option(name)?.0,
                (None, None) => only |= ResourceType::of_option(option)?.0,
            },
        }
    }
    rule.types = ResourceType(if only == 0 { u16::MAX } else { only } & !not);
    Some((host, rule))
}

fn is_host(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('.') && !text.ends_with('.') && text.chars().all(is_host_char)
}

fn is_host_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Returns a host and the hosts that it is below.
fn suffixes(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |host| Some(host.split_once('.')?.1))
}

/// Returns whether the start of `text` matches the pattern of a rule.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let is_separator =
        |byte: u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%'));
    let (mut at, mut position) = (0, 0);
    // Where to continue if the pattern after a `*` does not match.
    let mut retry = None;
    while at < pattern.len() {
        let is_match = match (pattern[at], text.get(position)) {
            (b'*', _) => {
                retry = Some((at + 1, position));
                at += 1;
                continue;
            }
            (b'|', end) if at + 1 == pattern.len() => end.is_none(),
            (b'^', None) => true,
            (b'^', Some(byte)) => is_separator(*byte),
            (expected, byte) => byte == Some(&expected),
        };
        match (is_match, retry) {
            (true, _) => (at, position) = (at + 1, (position + 1).min(text.len())),
            (false, Some((after, from))) if from < text.len() => {
                retry = Some((after, from + 1));
                (at, position) = (after, from + 1);
            }
            (false, _) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lists: &FilterLists, url: &str, page: &str, of: ResourceType, expected: bool) {
        let found = lists.blocks(&url.parse().unwrap(), &page.parse().unwrap(), of);
        assert_eq!(found, expected, "{url} on {page}");
    }

    #[test]
    fn rules_apply_by_host_path_party_type_and_page() {
        const PAGE: &str = "https://news.test/story";
        let mut lists = FilterLists::default();
        lists.add(
            "! comment\n[Adblock Plus 2.0]\n##.banner\n-ads-banner.\n/regex/\n||ads.test^\n||cdn.test^$third-party\n\
             ||shop.test/Track/*.gif|$image\n||fonts.test^$~font,domain=news.test|~blog.news.test\n\
             @@||ok.ads.test^$script\n||forced.ads.test^$important\n@@||forced.ads.test^\n||bad.test^$popup\n\
             0.0.0.0 hosts.test\nplain.test\n127.0.0.1 localhost\n||*.wild.test^",
        );
        let check = |url, page, of, expected| check(&lists, url, page, of, expected);
        check("https://ads.test/a.js", PAGE, ResourceType::SCRIPT, true);
        check("https://x.ads.test:8443/", PAGE, ResourceType::IMAGE, true);
        check("https://noads.test/a.js", PAGE, ResourceType::SCRIPT, false);
        check("https://ads.test.example/", PAGE, ResourceType::SCRIPT, false);
        check("https://cdn.test/a.js", PAGE, ResourceType::SCRIPT, true);
        check(
            "https://cdn.test/a.js",
            "https://www.cdn.test/",
            ResourceType::SCRIPT,
            false,
        );
        check("https://shop.test/track/1.gif", PAGE, ResourceType::IMAGE, true);
        check(
            "https://shop.test/track/1.gif?x",
            PAGE,
            ResourceType::IMAGE,
            false,
        );
        check("https://shop.test/track/1.gif", PAGE, ResourceType::SCRIPT, false);
        check("https://fonts.test/a", PAGE, ResourceType::STYLESHEET, true);
        check("https://fonts.test/a", PAGE, ResourceType::FONT, false);
        check(
            "https://fonts.test/a",
            "https://blog.news.test/",
            ResourceType::STYLESHEET,
            false,
        );
        check(
            "https://fonts.test/a",
            "https://other.test/",
            ResourceType::STYLESHEET,
            false,
        );
        check("https://ok.ads.test/a.js", PAGE, ResourceType::SCRIPT, false);
        check("https://ok.ads.test/a.gif", PAGE, ResourceType::IMAGE, true);
        check("https://forced.ads.test/a.js", PAGE, ResourceType::SCRIPT, true);
        check("https://bad.test/", PAGE, ResourceType::SCRIPT, false);
        check("https://hosts.test/", PAGE, ResourceType::SCRIPT, true);
        check("https://plain.test/", PAGE, ResourceType::SCRIPT, true);
        check(
            "http://127.0.0.1/ads",
            "http://127.0.0.1/",
            ResourceType::SCRIPT,
            false,
        );
        check("http://localhost/", PAGE, ResourceType::SCRIPT, false);
    }

    #[test]
    fn patterns_match_from_the_end_of_the_host() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        };
        check("", "/a", true);
        check("^", "", true);
        check("^", "/a", true);
        check("^", ".com/", false);
        check("/ads/", "/ads/x", true);
        check("/ads/", "/x/ads/", false);
        check("/*/ads^", "/x/y/ads?1", true);
        check("/*/ads^", "/x/y/adsense", false);
        check("/a*b*c|", "/a1b2bc3c", true);
        check("/a*b*c|", "/a1b2bc3", false);
    }
}
