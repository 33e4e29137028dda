//! BM25 over sections. Words of a heading weigh more than words of the text, and the rest of its page raises the
//! score of a section.

use std::collections::HashMap;

use super::section::Section;
use super::terms::{alike, is_topic, terms};
use crate::limits::MAX_QUERY_WORDS;

/// Weight of a word in the page title, the section heading and the text.
const TITLE: f64 = 2.0;
const HEADING: f64 = 3.0;
const TEXT: f64 = 1.0;
/// BM25 parameters: term saturation (k1) and length normalization (b).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// Weight of a synonym relative to the word itself.
const ALIKE: f64 = 0.35;
/// Weight of the page's score in the score of a section.
const PAGE: f64 = 1.0;
/// Minimum coverage of a question by a section and its page, weighted by the rarity of its words.
const LEAST_COVERAGE: f64 = 0.25;

/// Word weights in sections and in pages.
#[derive(Clone, Debug)]
pub(super) struct Index {
    sections: Side,
    pages: Side,
    /// Index of each section's page.
    page_of: Vec<usize>,
}

/// Word statistics of a list of texts.
#[derive(Clone, Debug, Default)]
struct Side {
    /// Postings: word to (text index, weight).
    places: HashMap<String, Vec<(usize, f64)>>,
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
struct Wanted {
    asked: String,
    /// The word itself and its synonyms, with their weights.
    words: Vec<(String, f64)>,
    rarity: f64,
}

impl Index {
    pub(super) fn of(sections: &[Section]) -> Self {
        let (mut own, mut pages) = (Side::default(), Side::default());
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
        let wanted = self.wanted(question);
        let all: f64 = wanted.iter().map(|word| word.rarity).sum();
        let (own, pages) = (self.sections.scores(&wanted), self.pages.scores(&wanted));
        let mut hits = Vec::new();
        for (section, found) in own.into_iter().enumerate() {
            let page = &pages[self.page_of[section]];
            let met: f64 = wanted
                .iter()
                .zip(found.parts.iter().zip(&page.parts))
                .map(|(word, (own, page))| word.rarity * own.max(page * PAGE))
                .sum();
            let words = wanted.iter().zip(&found.parts).filter(|(_, part)| **part > 0.0);
            let words: Vec<String> = words.map(|(word, _)| word.asked.clone()).collect();
            if !words.is_empty() && met >= all * LEAST_COVERAGE {
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

    fn wanted(&self, question: &str) -> Vec<Wanted> {
        let mut wanted: Vec<Wanted> = Vec::new();
        for asked in question.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))) {
            for word in terms(asked) {
                let is_known = wanted.iter().any(|known| known.words[0].0 == word);
                if is_known || !is_topic(&word) || wanted.len() == MAX_QUERY_WORDS {
                    continue;
                }
                let mut like = alike(&word);
                like.retain(|like| *like != word);
                let words: Vec<(String, f64)> = std::iter::once((word.clone(), 1.0))
                    .chain(like.into_iter().map(|like| (like, ALIKE)))
                    .collect();
                wanted.push(Wanted {
                    asked: asked.to_lowercase(),
                    rarity: self.sections.rarity(&word),
                    words,
                });
            }
        }
        wanted
    }
}

/// How well one text matches a question.
#[derive(Clone, Default)]
struct Fit {
    score: f64,
    /// Coverage of each query word: 1 for the word itself, less for a synonym.
    parts: Vec<f64>,
}

impl Side {
    fn add(&mut self, number: usize, weight: f64, text: &str) {
        if self.lengths.len() <= number {
            self.lengths.resize(number + 1, 0.0);
        }
        for word in terms(text) {
            self.lengths[number] += weight;
            let places = self.places.entry(word).or_default();
            match places.last_mut().filter(|(last, _)| *last == number) {
                Some((_, sum)) => *sum += weight,
                None => places.push((number, weight)),
            }
        }
    }

    /// Returns the inverse document frequency of a word.
    fn rarity(&self, word: &str) -> f64 {
        let count = self.lengths.len() as f64;
        let having = self.places.get(word).map_or(0.0, |places| places.len() as f64);
        (1.0 + (count - having + 0.5) / (having + 0.5)).ln()
    }

    fn scores(&self, wanted: &[Wanted]) -> Vec<Fit> {
        let empty = Fit {
            score: 0.0,
            parts: vec![0.0; wanted.len()],
        };
        let mut fits = vec![empty; self.lengths.len()];
        let average = self.lengths.iter().sum::<f64>() / (self.lengths.len() as f64).max(1.0);
        for (at, one) in wanted.iter().enumerate() {
            // Among a word and its synonyms, the best match counts.
            let mut best: HashMap<usize, f64> = HashMap::new();
            for (word, part) in &one.words {
                let rarity = self.rarity(word);
                for (number, weight) in self.places.get(word).into_iter().flatten() {
                    let length = 1.0 - LENGTH + LENGTH * self.lengths[*number] / average.max(1.0);
                    let score = part * rarity * weight * (SATURATION + 1.0) / (weight + SATURATION * length);
                    let best = best.entry(*number).or_default();
                    *best = best.max(score);
                    fits[*number].parts[at] = fits[*number].parts[at].max(*part);
                }
            }
            for (number, score) in best {
                fits[number].score += score;
            }
        }
        fits
    }
}
