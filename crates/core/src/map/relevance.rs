//! How well a link matches a search: the words of its title, path and description, weighted as in BM25. A
//! prefix match counts half. If the search is a URL, that URL ranks first, followed by links that share
//! words of its path. A link with none of the words scores 0.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::api::map::MapLink;
use crate::limits::MAP_SEARCH_WORDS_MAX;
use crate::text::Bm25;

const TITLE: f64 = 3.0;
const PATH: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
/// Weight of a prefix match.
const PREFIX: f64 = 0.5;
/// Minimum characters of a prefix.
const PREFIX_MIN_CHARS: usize = 3;
/// How much the number of words of a link matters.
const LENGTH: f64 = 0.75;

/// A search word that occurs in a link.
struct TermMatch {
    link: usize,
    word: usize,
    weight: f64,
}

/// Returns the score of each link, in order. Higher is better.
pub(super) fn scores<'a>(search: &str, links: impl ExactSizeIterator<Item = &'a MapLink>) -> Vec<f64> {
    let searched_url = Url::parse(search).ok().filter(Url::has_host);
    let search = searched_url.as_ref().map_or(search.into(), path);
    let mut terms: Vec<String> = Vec::new();
    for word in words(&search) {
        if terms.len() < MAP_SEARCH_WORDS_MAX && !terms.contains(&word) {
            terms.push(word);
        }
    }
    let mut matches = Vec::new();
    let mut containing = vec![0; terms.len()];
    let mut lengths = Vec::with_capacity(links.len());
    let mut exact = None;
    for (index, link) in links.enumerate() {
        if searched_url
            .as_ref()
            .is_some_and(|searched_url| searched_url.as_str() == link.url)
        {
            exact = Some(index);
        }
        let (weights, length) = term_weights(link, &terms);
        lengths.push(length);
        for (word, weight) in weights
            .into_iter()
            .enumerate()
            .filter(|(_, weight)| *weight > 0.0)
        {
            containing[word] += 1;
            matches.push(TermMatch {
                link: index,
                word,
                weight,
            });
        }
    }
    let bm25 = Bm25::of(&lengths, LENGTH);
    let mut scores = vec![0.0; lengths.len()];
    for TermMatch { link, word, weight } in matches {
        scores[link] += bm25.rarity(containing[word]) * bm25.saturated(weight, lengths[link]);
    }
    if let Some(exact) = exact {
        scores[exact] = f64::INFINITY;
    }
    scores
}

/// Returns the percent-decoded path of a URL.
fn path(url: &Url) -> Cow<'_, str> {
    percent_decode_str(url.path()).decode_utf8_lossy()
}

/// Returns the weight of each search word in a link, and the number of words in the link.
fn term_weights(link: &MapLink, terms: &[String]) -> (Vec<f64>, f64) {
    let mut weights = vec![0.0; terms.len()];
    let mut length = 0.0;
    let url = Url::parse(&link.url).ok();
    let path = url.as_ref().map(path).unwrap_or_default();
    let fields = [
        (TITLE, link.title.as_deref().unwrap_or_default()),
        (PATH, &path),
        (DESCRIPTION, link.description.as_deref().unwrap_or_default()),
    ];
    for (weight, text) in fields {
        let mut best = vec![0.0_f64; terms.len()];
        for word in words(text) {
            length += 1.0;
            for (best, term) in best.iter_mut().zip(terms) {
                *best = best.max(similarity(term, &word));
            }
        }
        for (total, best) in weights.iter_mut().zip(best) {
            *total += weight * best;
        }
    }
    (weights, length)
}

/// Returns 1 for equal words, [`PREFIX`] if one is a prefix of the other, else 0.
fn similarity(term: &str, word: &str) -> f64 {
    let (short, long) = match term.len() <= word.len() {
        true => (term, word),
        false => (word, term),
    };
    if short == long {
        1.0
    } else if long.starts_with(short) && short.chars().nth(PREFIX_MIN_CHARS - 1).is_some() {
        PREFIX
    } else {
        0.0
    }
}

/// Splits text into lower-case words of letters and digits.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(path: &str, title: &str, description: &str) -> MapLink {
        MapLink {
            url: format!("http://pricing.test{path}"),
            title: Some(title.to_owned()),
            description: Some(description.to_owned()),
        }
    }

    /// Checks the order of the links by score, best first.
    #[track_caller]
    fn check(search: &str, best_first: &[MapLink]) {
        let scores = scores(search, best_first.iter());
        assert!(scores.is_sorted_by(|one, next| one > next), "{scores:?}");
    }

    #[test]
    fn title_beats_path_beats_description() {
        check(
            "pricing",
            &[
                link("/a", "Pricing", ""),
                link("/pricing", "A", ""),
                link("/b", "A", "pricing"),
                link("/c", "A", "b"),
            ],
        );
    }

    #[test]
    fn the_host_does_not_match() {
        assert_eq!(scores("pricing", [link("/a", "", "")].iter()), [0.0]);
    }

    #[test]
    fn a_url_search_finds_that_url_and_similar_ones() {
        check(
            "http://pricing.test/127/9",
            &[
                link("/127/9", "", ""),
                link("/9/127/0", "", ""),
                link("/9/pricing", "", ""),
                link("/http/test", "", ""),
            ],
        );
    }

    #[test]
    fn more_and_rarer_words_score_higher() {
        check(
            "install docs",
            &[
                link("/docs/install", "", ""),
                link("/guide/install", "", ""),
                link("/docs/a", "", ""),
                link("/docs/b/c", "", ""),
            ],
        );
    }

    #[test]
    fn prefixes_count_less_and_short_ones_not_at_all() {
        check(
            "install",
            &[
                link("/install", "", ""),
                link("/installation", "", ""),
                link("/in", "", ""),
            ],
        );
        assert_eq!(scores("in", [link("/installation", "", "")].iter()), [0.0]);
    }

    #[test]
    fn case_punctuation_and_percent_encoding_are_ignored() {
        let found = scores(
            "  \u{dc}BER-uns! ",
            [link("/%C3%BCber_Uns", "", ""), link("/x", "", "")].iter(),
        );
        assert!(found[0] > 1.0 && found[1] == 0.0, "{found:?}");
        assert_eq!(scores("!!", [link("/a", "", "")].iter()), [0.0]);
    }

    #[test]
    fn the_number_of_search_words_is_limited() {
        let search: String = (0..5_000).map(|n| format!("w{n} ")).collect();
        let found = scores(&search, [link("/w0", "", ""), link("/w4999", "", "")].iter());
        assert!(found[0] > 0.0 && found[1] == 0.0, "{found:?}");
    }
}
