//! The `summary` format without a model: the most representative sentences of a page in their order. Sentences are
//! verbatim quotes.

use std::collections::{HashMap, HashSet};

use super::highlights::join;
use super::passages::Text;
use crate::text::{Words, is_stop_word};

/// Maximum sentences of a summary.
const MAX_SENTENCES: usize = 4;
/// Bytes at which no further sentence is added.
const ENOUGH_BYTES: usize = 600;
/// Maximum sentences considered, from the start of the page.
const RANKED_SENTENCES: usize = 2000;
/// Minimum words of a sentence, and the number of words up to which length is not penalized.
const FEW_WORDS: usize = 5;
const MANY_WORDS: usize = 35;
/// Fraction of shared words at which two sentences count as duplicates.
const SAME: f64 = 0.5;
/// Bonus of the first sentence of a page, and how fast it fades.
const LEAD_WEIGHT: f64 = 1.0;
const LEAD_SENTENCES: f64 = 8.0;
/// Factor for words of the title.
const TITLE_WEIGHT: f64 = 1.5;

/// Returns a few sentences about the page, or its description or start if it has no sentences.
pub(super) fn summary(text: &Text, title: Option<&str>, description: Option<&str>) -> String {
    let sentences: Vec<(usize, HashSet<String>)> = text
        .passages
        .iter()
        .enumerate()
        .filter(|(_, passage)| {
            passage.is_prose && passage.text.ends_with(['.', '!', '?', '。', '！', '？', '…'])
        })
        .take(RANKED_SENTENCES)
        .map(|(index, passage)| (index, content_words(&passage.text)))
        .filter(|(_, words)| words.len() >= FEW_WORDS)
        .collect();
    let title = content_words(title.unwrap_or_default());
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for word in sentences.iter().flat_map(|(_, words)| words) {
        *counts.entry(word).or_default() += 1.0;
    }
    let score = |place: usize, words: &HashSet<String>| {
        let mut weights: Vec<f64> = words
            .iter()
            .map(|word| {
                let factor = if title.contains(word) { TITLE_WEIGHT } else { 1.0 };
                counts
                    .get(word.as_str())
                    .map_or(0.0, |count| (1.0 + count).ln() * factor)
            })
            .collect();
        // A floating-point sum depends on its order, and the order of a set is arbitrary.
        weights.sort_unstable_by(f64::total_cmp);
        let mean = weights.iter().sum::<f64>()
            / words.len().clamp(FEW_WORDS * 2, MANY_WORDS.max(words.len())) as f64;
        mean * (1.0 + LEAD_WEIGHT / (1.0 + place as f64 / LEAD_SENTENCES))
    };
    let mut ranked: Vec<(f64, usize)> = sentences
        .iter()
        .enumerate()
        .map(|(place, (_, words))| (score(place, words), place))
        .collect();
    ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));

    let mut chosen: Vec<usize> = Vec::new();
    let mut bytes = 0;
    for (_, place) in ranked {
        let words = &sentences[place].1;
        if chosen
            .iter()
            .any(|&known| overlap(&sentences[known].1, words) >= SAME)
        {
            continue;
        }
        bytes += text.passages[sentences[place].0].text.len();
        chosen.push(place);
        if chosen.len() == MAX_SENTENCES || bytes >= ENOUGH_BYTES {
            break;
        }
    }
    chosen.sort_unstable();
    if chosen.is_empty() {
        return start(text, description);
    }
    let chosen: Vec<usize> = chosen.into_iter().map(|place| sentences[place].0).collect();
    join(&text.passages, &chosen).replace("\n\n", " ")
}

fn start(text: &Text, description: Option<&str>) -> String {
    if let Some(description) = description {
        return description.to_owned();
    }
    let mut out = String::new();
    for passage in &text.passages {
        if out.len() + passage.text.len() > ENOUGH_BYTES {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&passage.text);
    }
    out
}

fn content_words(text: &str) -> HashSet<String> {
    Words::of(text).filter(|word| !is_stop_word(word)).collect()
}

/// Returns the number of shared words as a fraction of the smaller set.
fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    a.intersection(b).count() as f64 / a.len().min(b.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Grey herons\n\n\
        Grey herons are large wading birds that live near lakes and rivers all over Europe. Yes!\n\n\
        The grey heron hunts fish, frogs and small mammals by standing still in shallow water. \
        My neighbour has painted his garden fence green this year.\n\n\
        | Herons | Fish |\n|---|---|\n| 1 | 2 |\n\n\
        Herons nest in colonies high in trees near the water, often with other wading birds. \
        Herons nest in colonies high in trees near water, with other wading birds too.";

    #[test]
    fn a_summary_consists_of_the_most_representative_sentences() {
        let found = summary(&Text::of(PAGE), Some("Grey herons"), None);
        assert!(found.starts_with("Grey herons are large wading birds"), "{found}");
        assert!(found.contains("hunts fish"), "{found}");
        assert_eq!(found.matches("nest in colonies").count(), 1, "{found}");
        assert!(!found.contains("Yes!") && !found.contains('|'), "{found}");
        assert_eq!(found, summary(&Text::of(PAGE), Some("Grey herons"), None));
    }

    #[test]
    fn without_sentences_the_summary_is_the_description_or_the_start() {
        let text = Text::of("# Shop\n\n- Red shoes\n- Blue shoes");
        assert_eq!(summary(&text, None, Some("All shoes.")), "All shoes.");
        assert_eq!(summary(&text, None, None), "Red shoes Blue shoes");
        assert_eq!(summary(&Text::of(""), None, None), "");
    }
}
