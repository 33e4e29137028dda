//! Parses queries in common search-engine syntax: words, `"phrases"`, `-word`, `site:`, `-site:`,
//! `intitle:`, `inurl:`, `filetype:`. Anything else is a word.

use url::Url;

use super::filter::is_below;
use crate::limits::MAX_SEARCH_WORDS;
use crate::text::{Words, is_stop_word};
use crate::url_key::bare_host;

/// A parsed query.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// Words; a page must have some of them.
    pub words: Vec<String>,
    /// Phrases; a page must have all of them.
    pub phrases: Vec<String>,
    /// Words and phrases that a page must not have.
    pub without: Vec<String>,
    /// Words that the title must have.
    pub in_title: Vec<String>,
    /// Words that the URL must have.
    pub in_url: Vec<String>,
    /// Allowed hosts. The page must be on one of them or on a subdomain.
    pub sites: Vec<String>,
    /// Hosts that the page must not be on.
    pub without_sites: Vec<String>,
    /// Allowed file extensions. The path must have one of them.
    pub file_types: Vec<String>,
}

impl Query {
    /// Parses a query. Never fails.
    pub fn of(text: &str) -> Self {
        let mut query = Self::default();
        for (token, is_quoted) in tokens(text).take(MAX_SEARCH_WORDS) {
            query.add(token, is_quoted);
        }
        query.remove_stop_words();
        query
    }

    /// Returns whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty() && self.in_title.is_empty() && self.in_url.is_empty()
    }

    /// Returns what the text of a page should have: words and phrases, without operators and what they exclude.
    pub fn terms(&self) -> String {
        [&self.words[..], &self.phrases, &self.in_title]
            .concat()
            .join(" ")
    }

    /// Returns whether a URL satisfies `site:` and `filetype:`.
    pub fn allows(&self, url: &Url) -> bool {
        let is_on = |sites: &[String]| sites.iter().any(|site| is_below(bare_host(url), site));
        let path = url.path().to_lowercase();
        (self.sites.is_empty() || is_on(&self.sites))
            && !is_on(&self.without_sites)
            && (self.file_types.is_empty()
                || self
                    .file_types
                    .iter()
                    .any(|kind| path.ends_with(&format!(".{kind}"))))
    }

    fn add(&mut self, token: &str, is_quoted: bool) {
        let (negated, bare) = match token.strip_prefix('-') {
            Some(rest) if !rest.is_empty() => (true, rest),
            _ => (false, token),
        };
        if is_quoted {
            let phrase = bare.trim_matches('"').to_owned();
            match negated {
                true => self.without.push(phrase),
                false => self.phrases.push(phrase),
            }
            return;
        }
        let (list, value) = match bare.split_once(':') {
            Some((_, "")) | None => (None, bare),
            Some((name, value)) => match (name.to_ascii_lowercase().as_str(), negated) {
                ("site", false) => (Some(&mut self.sites), value),
                ("site", true) => (Some(&mut self.without_sites), value),
                ("intitle", false) => (Some(&mut self.in_title), value),
                ("inurl", false) => (Some(&mut self.in_url), value),
                ("filetype" | "ext", false) => (Some(&mut self.file_types), value),
                _ => (None, bare),
            },
        };
        match list {
            Some(list) => list.push(value.trim_matches(['"', '.', '/']).to_lowercase()),
            None if !bare.contains(char::is_alphanumeric) => {}
            None if negated => self.without.push(bare.to_owned()),
            // An operator between words, not a word to match.
            None if matches!(bare, "OR" | "AND") => {}
            None => self.words.push(bare.to_owned()),
        }
    }

    /// Removes stop words such as `how` and `the` unless the query has nothing else.
    fn remove_stop_words(&mut self) {
        let is_stop = |word: &String| Words::of(word).all(|word| is_stop_word(&word));
        if !self.words.iter().all(is_stop) || !self.phrases.is_empty() {
            self.words.retain(|word| !is_stop(word));
        }
    }
}

/// Splits a query into words and quoted phrases, including a leading `-`.
fn tokens(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let sign = usize::from(rest.starts_with('-'));
        if rest[sign..].starts_with('"')
            && let Some(end) = rest[sign + 1..].find('"')
            && end > 0
        {
            let end = sign + 1 + end + 1;
            let token = &rest[..end];
            rest = &rest[end..];
            return Some((token, true));
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let token = &rest[..end];
        rest = &rest[end..];
        Some((token, false))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_engine_syntax_is_parsed() {
        let query = Query::of(
            r#"how to "sort a list" of dicts -java -"old way" site:Docs.Python.org -site:x.test intitle:sort inurl:howto filetype:PDF a:b"#,
        );
        assert_eq!(query.words, ["dicts", "a:b"]);
        assert_eq!(query.phrases, ["sort a list"]);
        assert_eq!(query.without, ["java", "old way"]);
        assert_eq!(
            (query.in_title[0].as_str(), query.in_url[0].as_str()),
            ("sort", "howto")
        );
        assert_eq!(query.sites, ["docs.python.org"]);
        assert_eq!(query.without_sites, ["x.test"]);
        assert_eq!(query.file_types, ["pdf"]);
        let allows = |url: &str| query.allows(&Url::parse(url).unwrap());
        assert!(allows("https://docs.python.org/a/B.PDF") && !allows("https://docs.python.org/a"));
        assert!(!allows("https://b.test/a.pdf"));
    }

    #[test]
    fn stop_words_count_only_if_there_is_nothing_else() {
        assert_eq!(Query::of("to be or not to be").words.len(), 6);
        assert_eq!(Query::of("the heron").words, ["heron"]);
        assert!(Query::of("  - \" ?? ").is_empty());
        assert_eq!(Query::of("site:a.test").words.len(), 0);
        assert_eq!(Query::of("\"unclosed phrase").words, ["\"unclosed", "phrase"]);
    }
}
