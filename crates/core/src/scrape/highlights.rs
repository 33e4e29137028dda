//! The `highlights` format: passages of a page that match a query, ranked by BM25 over sentences. A matching heading
//! raises the passages below it. Passages are verbatim quotes.

use std::collections::HashMap;

use super::passages::{Passage, Text};
use crate::limits::MAX_QUERY_WORDS;
use crate::text::{Bm25, Words, is_stop_word};

/// Maximum number of passages.
const MAX_PASSAGES: usize = 10;
/// Bytes at which no further passage is added.
const ENOUGH_BYTES: usize = 2000;
/// Maximum passages considered, from the start of the page.
const RANKED_PASSAGES: usize = 50_000;
/// Minimum score as a fraction of the best score.
const MIN_SCORE_RATIO: f64 = 0.4;
/// Weight of a word in the heading relative to one in the passage.
const HEADING_WEIGHT: f64 = 0.5;
/// How much the length of a passage matters.
const LENGTH: f64 = 0.6;

/// Warning when nothing matches.
pub(super) const NO_MATCH: &str = "No passage of the page matches the query of `highlights`.";

/// Returns the best passages in document order, adjacent ones on one line; empty if nothing matches.
pub(crate) fn highlights(text: &Text, query: &str) -> String {
    let scores = scores(text, query);
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best <= 0.0 {
        return String::new();
    }
    let mut ranked: Vec<usize> = (0..scores.len())
        .filter(|&index| scores[index] >= best * MIN_SCORE_RATIO)
        .collect();
    ranked.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut chosen: Vec<usize> = Vec::new();
    let mut bytes = 0;
    for index in ranked {
        let passage = &text.passages[index].text;
        let is_repeated = chosen.iter().any(|&known| text.passages[known].text == *passage);
        if is_repeated {
            continue;
        }
        bytes += passage.len();
        chosen.push(index);
        if chosen.len() == MAX_PASSAGES || bytes >= ENOUGH_BYTES {
            break;
        }
    }
    chosen.sort_unstable();
    join(&text.passages, &chosen)
}

/// Joins passages: consecutive sentences of a block on one line, others as separate blocks.
pub(super) fn join(passages: &[Passage], chosen: &[usize]) -> String {
    let mut out = String::new();
    let mut last: Option<usize> = None;
    for &index in chosen {
        if let Some(last) = last {
            let follows = last + 1 == index && passages[last].block == passages[index].block;
            out.push_str(if follows { " " } else { "\n\n" });
        }
        out.push_str(&passages[index].text);
        last = Some(index);
    }
    out
}

fn scores(text: &Text, query: &str) -> Vec<f64> {
    let terms = terms(query);
    let headings: Vec<Vec<u32>> = text.headings.iter().map(|title| count(title, &terms).0).collect();
    let ranked = text.passages.iter().take(RANKED_PASSAGES);
    let counted: Vec<(Vec<u32>, f64)> = ranked.map(|passage| count(&passage.text, &terms)).collect();
    let lengths: Vec<f64> = counted.iter().map(|(_, length)| *length).collect();
    let bm25 = Bm25::of(&lengths, LENGTH);
    let rarities: Vec<f64> = (0..terms.len())
        .map(|term| bm25.rarity(counted.iter().filter(|(counts, _)| counts[term] > 0).count()))
        .collect();
    let score = |(passage, (counts, length)): (&Passage, &(Vec<u32>, f64))| {
        let heading = passage.heading.checked_sub(1).and_then(|at| headings.get(at));
        let own = |term: usize| bm25.saturated(f64::from(counts[term]), *length);
        let lifted = |term: usize| f64::from(heading.is_some_and(|counts| counts[term] > 0)) * HEADING_WEIGHT;
        (0..terms.len())
            .map(|term| rarities[term] * (own(term) + lifted(term)))
            .sum()
    };
    text.passages.iter().zip(&counted).map(score).collect()
}

/// Returns the distinct words of a query without stop words, or all words if nothing else is left.
fn terms(query: &str) -> HashMap<String, usize> {
    let mut words: Vec<String> = Words::of(query).filter(|word| !is_stop_word(word)).collect();
    if words.is_empty() {
        words = Words::of(query).collect();
    }
    let mut terms = HashMap::new();
    for word in words {
        let next = terms.len();
        if next == MAX_QUERY_WORDS {
            break;
        }
        terms.entry(word).or_insert(next);
    }
    terms
}

/// Counts the occurrences of each term in a text, and its words.
fn count(text: &str, terms: &HashMap<String, usize>) -> (Vec<u32>, f64) {
    let mut counts = vec![0_u32; terms.len()];
    let mut length = 0.0;
    for word in Words::of(text) {
        length += 1.0;
        if let Some(&term) = terms.get(&word) {
            counts[term] += 1;
        }
    }
    (counts, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Plans\n\nWe sell software. It is fast and small.\n\n## Pricing\n\n\
        The free plan costs nothing. The team plan costs 12 euros a month. Ask us for more.\n\n\
        ## Support\n\nWrite to us any day. We answer within two hours.\n\n\
        - Refunds are given within 30 days\n- No card needed\n\n| Plan | Price |\n|---|---|\n| Team | 12 euros |";

    #[track_caller]
    fn check(query: &str, with: &[&str], without: &[&str]) {
        let found = highlights(&Text::of(PAGE), query);
        for words in with {
            assert!(found.contains(words), "{query}: {words} is not in {found}");
        }
        for words in without {
            assert!(!found.contains(words), "{query}: {words} is in {found}");
        }
    }

    #[test]
    fn matching_passages_are_quoted_in_document_order() {
        check(
            "What does the team plan cost?",
            &["The free plan costs nothing. The team plan costs 12 euros a month."],
            &["Support", "Write", "fast"],
        );
        check(
            "refund policy",
            &["Refunds are given within 30 days"],
            &["plan", "hours"],
        );
        check(
            "How fast do you answer?",
            &["We answer within two hours."],
            &["costs"],
        );
        check("to us", &["Write to us any day."], &[]);
    }

    #[test]
    fn nothing_is_returned_if_nothing_matches() {
        assert_eq!(highlights(&Text::of(PAGE), "zebra"), "");
        assert_eq!(highlights(&Text::of(PAGE), "?!"), "");
        assert_eq!(highlights(&Text::of(""), "plan"), "");
    }

    #[test]
    fn the_number_of_passages_is_limited() {
        let page: String = (0..5000)
            .map(|n| format!("Herons number {n} fish.\n\n"))
            .collect();
        let found = highlights(&Text::of(&page), "herons");
        assert_eq!(found.split("\n\n").count(), MAX_PASSAGES);
    }
}
