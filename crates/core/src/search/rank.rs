//! Ranking of stored pages that match a query: by text match, by how many query words they have, and by
//! whether title and URL contain them. Lists a page found under several URLs once.

use std::collections::HashSet;

use percent_encoding::percent_decode_str;
use url::Url;

use super::Query;
use crate::text::Words;
use crate::time::Timestamp;
use crate::url_key::{Identity, UrlKey};

/// Bonus of a page that has all query words.
const ALL_WORDS: f64 = 0.6;
/// Bonus when the title has all query words, and when it has nothing else.
const TITLE: f64 = 0.5;
const TITLE_ALONE: f64 = 0.6;
/// Bonus when the last path segment of the URL has the query words.
const URL_WORDS: f64 = 0.3;

/// A stored page with some words of a query.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Id in the store.
    pub id: i64,
    /// URL of the page.
    pub url: Url,
    /// Title of the page.
    pub title: Option<String>,
    /// Description of the page.
    pub description: Option<String>,
    /// Value of `Content-Type`.
    pub content_type: Option<String>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Text match score; higher is better.
    pub score: f64,
    /// Whether it has all query words.
    pub has_all: bool,
}

/// Sorts pages best first and removes duplicates.
pub fn rank(query: &Query, candidates: Vec<Candidate>) -> Vec<Candidate> {
    let words: HashSet<String> = query
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
        let share = |text: &HashSet<String>| {
            let count = words.iter().filter(|word| text.contains(*word)).count();
            count as f64 / words.len().max(1) as f64
        };
        let in_title = share(&title);
        let alone = in_title * words.len() as f64 / title.len().max(1) as f64;
        let all = if page.has_all { ALL_WORDS } else { 0.0 };
        page.score * (1.0 + all + TITLE * in_title + TITLE_ALONE * alone.min(1.0) + URL_WORDS * share(&last))
    };
    let mut scored: Vec<(f64, Candidate)> = candidates.into_iter().map(|page| (score(&page), page)).collect();
    // Prefer the newer of two with the same score.
    scored.sort_by(|(a, one), (b, next)| b.total_cmp(a).then(next.fetched_at.cmp(&one.fetched_at)));
    let same = Identity {
        ignore_query: false,
        merge_similar: true,
    };
    let mut known = HashSet::new();
    let pages = scored.into_iter().map(|(_, page)| page);
    pages
        .filter(|page| known.insert(UrlKey::of(&page.url, same)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, title: &str, score: f64, has_all: bool) -> Candidate {
        Candidate {
            id: 0,
            url: Url::parse(url).unwrap(),
            title: Some(title.to_owned()),
            description: None,
            content_type: None,
            fetched_at: Timestamp(0),
            score,
            has_all,
        }
    }

    #[track_caller]
    fn check(query: &str, best_first: &[Candidate]) {
        let found = rank(&Query::of(query), best_first.iter().rev().cloned().collect());
        assert_eq!(found, best_first);
    }

    #[test]
    fn titles_and_completeness_raise_the_rank() {
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
    fn a_page_is_listed_once() {
        let pages = vec![
            page("http://www.a.test/x/", "X", 1.0, true),
            page("https://a.test/x", "X", 2.0, true),
        ];
        let found = rank(&Query::of("x"), pages);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].url.as_str(), "https://a.test/x");
    }
}
