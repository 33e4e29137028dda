//! BM25 over sections. A word in a heading weighs more than a word in the text, and the rest of the page raises
//! the score of a section.

use std::collections::HashMap;

use super::section::Section;
use super::terms::{is_topic, synonyms, terms};
use crate::limits::MAX_QUERY_WORDS;
use crate::text::Bm25;

/// Weight of a word in the page title, the section heading and the text.
const TITLE: f64 = 2.0;
const HEADING: f64 = 3.0;
const TEXT: f64 = 1.0;
/// How much the length of a section matters.
const LENGTH: f64 = 0.5;
/// Weight of a synonym relative to the word itself.
const SYNONYM: f64 = 0.35;
/// Weight of the page's score in the score of a section.
const PAGE: f64 = 1.0;
/// Minimum coverage of a question by a section and its page, weighted by the rarity of its words.
const MIN_COVERAGE: f64 = 0.25;

/// Word weights in sections and in pages.
#[derive(Clone, Debug)]
pub(super) struct Index {
    sections: TermIndex,
    pages: TermIndex,
    /// Index of each section's page.
    page_of: Vec<usize>,
}

/// Word statistics of a list of texts.
#[derive(Clone, Debug, Default)]
struct TermIndex {
    /// Postings: word to (text index, weight).
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
}

/// A matching section.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Hit {
    pub(super) section: usize,
    pub(super) score: f64,
    pub(super) words: Vec<String>,
}

/// A word of a question.
struct QueryTerm {
    text: String,
    /// The word itself and its synonyms, with their weights.
    words: Vec<(String, f64)>,
    rarity: f64,
}

impl Index {
    pub(super) fn of(sections: &[Section]) -> Self {
        let (mut own, mut pages) = (TermIndex::default(), TermIndex::default());
        let mut page_of = Vec::with_capacity(sections.len());
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for (number, section) in sections.iter().enumerate() {
            let known = numbers.len();
            let page = *numbers.entry(&section.page).or_insert(known);
            page_of.push(page);
            let title = section.headings.first().map_or("", String::as_str);
            let below = section.headings.get(1..).unwrap_or_default().join(" ");
            for (weight, text) in [(TITLE, title), (HEADING, &below), (TEXT, &section.text)] {
                own.add(number, weight, text);
            }
            if page == known {
                pages.add(page, HEADING, title);
                pages.add(page, TITLE, &section.page);
            }
            pages.add(page, TITLE, &below);
            pages.add(page, TEXT, &section.text);
        }
        Self {
            sections: own,
            pages,
            page_of,
        }
    }

    /// Returns the sections that cover enough of a question, best first.
    pub(super) fn rank(&self, question: &str) -> Vec<Hit> {
        let query_terms = self.query_terms(question);
        let all: f64 = query_terms.iter().map(|term| term.rarity).sum();
        let (own, pages) = (
            self.sections.scores(&query_terms),
            self.pages.scores(&query_terms),
        );
        let mut hits = Vec::new();
        for (section, found) in own.into_iter().enumerate() {
            let page = &pages[self.page_of[section]];
            let covered: f64 = query_terms
                .iter()
                .zip(found.coverage.iter().zip(&page.coverage))
                .map(|(term, (own, page))| term.rarity * own.max(page * PAGE))
                .sum();
            let words = query_terms
                .iter()
                .zip(&found.coverage)
                .filter(|(_, part)| **part > 0.0);
            let words: Vec<String> = words.map(|(term, _)| term.text.clone()).collect();
            if !words.is_empty() && covered >= all * MIN_COVERAGE {
                hits.push(Hit {
                    section,
                    score: found.score + PAGE * page.score,
                    words,
                });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.section.cmp(&b.section)));
        hits
    }

    fn query_terms(&self, question: &str) -> Vec<QueryTerm> {
        let bm25 = self.sections.bm25();
        let mut query_terms: Vec<QueryTerm> = Vec::new();
        for text in question.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))) {
            for word in terms(text) {
                let is_known = query_terms.iter().any(|term| term.words[0].0 == word);
                if is_known || !is_topic(&word) || query_terms.len() == MAX_QUERY_WORDS {
                    continue;
                }
                let mut synonyms = synonyms(&word);
                synonyms.retain(|synonym| *synonym != word);
                let words: Vec<(String, f64)> = std::iter::once((word.clone(), 1.0))
                    .chain(synonyms.into_iter().map(|synonym| (synonym, SYNONYM)))
                    .collect();
                query_terms.push(QueryTerm {
                    text: text.to_lowercase(),
                    rarity: bm25.rarity(self.sections.containing(&word)),
                    words,
                });
            }
        }
        query_terms
    }
}

/// How well one text matches a question.
#[derive(Clone, Default)]
struct TextScore {
    score: f64,
    /// Coverage of each query word: 1 for the word itself, less for a synonym.
    coverage: Vec<f64>,
}

impl TermIndex {
    fn add(&mut self, number: usize, weight: f64, text: &str) {
        if self.lengths.len() <= number {
            self.lengths.resize(number + 1, 0.0);
        }
        for word in terms(text) {
            self.lengths[number] += weight;
            let postings = self.postings.entry(word).or_default();
            match postings.last_mut().filter(|(last, _)| *last == number) {
                Some((_, sum)) => *sum += weight,
                None => postings.push((number, weight)),
            }
        }
    }

    fn bm25(&self) -> Bm25 {
        Bm25::of(&self.lengths, LENGTH)
    }

    /// Returns the number of texts that contain a word.
    fn containing(&self, word: &str) -> usize {
        self.postings.get(word).map_or(0, Vec::len)
    }

    fn scores(&self, query_terms: &[QueryTerm]) -> Vec<TextScore> {
        let empty = TextScore {
            score: 0.0,
            coverage: vec![0.0; query_terms.len()],
        };
        let mut scores = vec![empty; self.lengths.len()];
        let bm25 = self.bm25();
        for (at, term) in query_terms.iter().enumerate() {
            // Among a word and its synonyms, the best match counts.
            let mut best: HashMap<usize, f64> = HashMap::new();
            for (word, part) in &term.words {
                let rarity = bm25.rarity(self.containing(word));
                for (number, weight) in self.postings.get(word).into_iter().flatten() {
                    let score = part * rarity * bm25.saturated(*weight, self.lengths[*number]);
                    let best = best.entry(*number).or_default();
                    *best = best.max(score);
                    scores[*number].coverage[at] = scores[*number].coverage[at].max(*part);
                }
            }
            for (number, score) in best {
                scores[number].score += score;
            }
        }
        scores
    }
}
