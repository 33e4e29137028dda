//! The order of stored pages that fit a query: how well their words fit, how many of the wanted words they have, and
//! whether their title and address are about them. Of the same page under several addresses one is shown.

use std::collections::HashSet;

use percent_encoding::percent_decode_str;
use url::Url;

use super::Query;
use crate::scrape::passages::Words;
use crate::time::Timestamp;
use crate::url_key::{Identity, UrlKey};

/// How much a page gains that has all words of the query.
const ALL_WORDS: f64 = 0.6;
/// How much it gains when its title has all of them, and when its title has nothing else.
const TITLE: f64 = 0.5;
const TITLE_ALONE: f64 = 0.6;
/// How much it gains when the words are in the last part of its address.
const ADDRESS: f64 = 0.3;

/// A stored page that has some words of a query.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Which, in the store.
    pub id: i64,
    /// Its address.
    pub url: Url,
    /// Its title.
    pub title: Option<String>,
    /// What it says of itself.
    pub description: Option<String>,
    /// Value of `Content-Type`.
    pub content_type: Option<String>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// How well its words fit; larger is better.
    pub fit: f64,
    /// Whether it has all words.
    pub has_all: bool,
}

/// Pages, best first, each once.
pub fn ordered(query: &Query, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let wanted: HashSet<String> = query
        .words
        .iter()
        .chain(&query.phrases)
        .flat_map(|word| Words::of(word))
        .collect();
    let score = |page: &Candidate| {
        let title: HashSet<String> = page.title.iter().flat_map(|title| Words::of(title)).collect();
        let path = percent_decode_str(page.url.path()).decode_utf8_lossy();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let last: HashSet<String> = Words::of(last).collect();
        let part = |having: &HashSet<String>| {
            let met = wanted.iter().filter(|word| having.contains(*word)).count();
            met as f64 / wanted.len().max(1) as f64
        };
        let in_title = part(&title);
        let alone = in_title * wanted.len() as f64 / title.len().max(1) as f64;
        let all = if page.has_all { ALL_WORDS } else { 0.0 };
        page.fit * (1.0 + all + TITLE * in_title + TITLE_ALONE * alone.min(1.0) + ADDRESS * part(&last))
    };
    let mut scored: Vec<(f64, Candidate)> = candidates.drain(..).map(|page| (score(&page), page)).collect();
    // Of two that fit the same the newer one.
    scored.sort_by(|(a, one), (b, next)| b.total_cmp(a).then(next.fetched_at.cmp(&one.fetched_at)));
    let same = Identity {
        ignore_query: false,
        merge_similar: true,
    };
    let mut seen = HashSet::new();
    let pages = scored.into_iter().map(|(_, page)| page);
    pages
        .filter(|page| seen.insert(UrlKey::of(&page.url, same)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, title: &str, fit: f64, has_all: bool) -> Candidate {
        Candidate {
            id: 0,
            url: Url::parse(url).unwrap(),
            title: Some(title.to_owned()),
            description: None,
            content_type: None,
            fetched_at: Timestamp(0),
            fit,
            has_all,
        }
    }

    #[track_caller]
    fn check(query: &str, best_first: &[Candidate]) {
        let found = ordered(&Query::of(query), best_first.iter().rev().cloned().collect());
        assert_eq!(found, best_first);
    }

    #[test]
    fn titles_and_completeness_count() {
        check(
            "sort lists",
            &[
                page("https://a.test/1", "Sorting lists", 5.0, true),
                page(
                    "https://a.test/2",
                    "All about sorting lists of any kind",
                    5.0,
                    true,
                ),
                page("https://a.test/3", "Other", 5.0, true),
                page("https://a.test/4", "Other", 5.0, false),
            ],
        );
    }

    #[test]
    fn a_page_is_shown_once() {
        let pages = vec![
            page("http://www.a.test/x/", "X", 1.0, true),
            page("https://a.test/x", "X", 2.0, true),
        ];
        let found = ordered(&Query::of("x"), pages);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].url.as_str(), "https://a.test/x");
    }
}
