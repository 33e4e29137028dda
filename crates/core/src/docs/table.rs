//! Shortens the tables of a quoted section to the rows that a question is about.

use std::collections::HashSet;

use super::terms::{synonyms, terms};

/// A table with at most as many rows is quoted whole.
const SHORT_ROWS: usize = 5;
/// Weight of a synonym relative to the word itself.
const SYNONYM: f64 = 0.35;
/// Minimum score of a row as a fraction of the best score.
const MIN_SCORE_RATIO: f64 = 0.5;

/// Returns Markdown whose long tables have only the rows that match `words` best. A table in which no row stands out
/// stays whole.
pub(super) fn with_matching_rows(markdown: &str, words: &[String]) -> String {
    let lines: Vec<&str> = markdown.lines().collect();
    let mut kept: Vec<&str> = Vec::with_capacity(lines.len());
    let blocks = lines.chunk_by(|above, below| above.starts_with('|') == below.starts_with('|'));
    for block in blocks {
        match block {
            [head, rule, rows @ ..] if rule.starts_with("|--") && rows.len() > SHORT_ROWS => {
                kept.extend([head, rule]);
                kept.extend(matching(rows, words));
            }
            other => kept.extend(other),
        }
    }
    kept.join("\n")
}

fn matching<'r>(rows: &[&'r str], words: &[String]) -> Vec<&'r str> {
    let row_terms: Vec<HashSet<String>> = rows.iter().map(|row| terms(row).into_iter().collect()).collect();
    let mut scores = vec![0.0_f64; rows.len()];
    for word in words.iter().flat_map(|word| terms(word)) {
        let related = synonyms(&word);
        let found: Vec<f64> = row_terms
            .iter()
            .map(|row| match row.contains(&word) {
                true => 1.0,
                false if related.iter().any(|synonym| row.contains(synonym)) => SYNONYM,
                false => 0.0,
            })
            .collect();
        // A word of every row says nothing about one.
        let rarity = (rows.len() as f64 / found.iter().sum::<f64>().max(1.0))
            .ln()
            .max(0.0);
        for (score, part) in scores.iter_mut().zip(found) {
            *score += part * rarity;
        }
    }
    let best = scores.iter().copied().fold(0.0, f64::max);
    let rows = rows.iter().zip(scores);
    rows.filter(|(_, score)| *score >= best * MIN_SCORE_RATIO)
        .map(|(row, _)| *row)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str = "Options:\n\n| Field | What it does |\n|---|---|\n| `url` | Start of the crawl. |\n\
        | `prompt` | Describes the crawl. |\n| `limit` | Maximum number of pages of the crawl. |\n\
        | `delay` | Pause of the crawl between two requests. |\n| `sitemap` | Whether the crawl reads sitemaps. |\n\
        | `webhook` | Receiver of the events of the crawl. |\n\nMore.";

    #[track_caller]
    fn check(words: &[&str], expected: &[&str]) {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let short = with_matching_rows(OPTIONS, &words);
        assert!(
            short.starts_with("Options:\n\n| Field | What it does |\n|---|---|\n| `"),
            "{short}"
        );
        assert!(short.ends_with("|\n\nMore."), "{short}");
        let fields: Vec<&str> = short
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(field, _)| field)
            .collect();
        assert_eq!(fields, expected);
    }

    #[test]
    fn rows_that_match_the_question_are_kept() {
        check(&["limit", "pages", "crawl"], &["limit"]);
        check(&["wait", "crawl"], &["delay"]);
        check(
            &["crawl"],
            &["url", "prompt", "limit", "delay", "sitemap", "webhook"],
        );
        check(
            &["heron"],
            &["url", "prompt", "limit", "delay", "sitemap", "webhook"],
        );
    }

    #[test]
    fn short_tables_and_text_stay_whole() {
        let text = "| a | b |\n|---|---|\n| limit | 1 |\n| other | 2 |\n\n```\n| x\n```";
        assert_eq!(with_matching_rows(text, &["limit".to_owned()]), text);
    }
}
