//! Parses the Markdown of real pages with an independent parser: no page is empty, no table is broken, no
//! text is lost. With `HARVESTMAN_CORPUS` the same is checked for every page of a corpus (docs/MARKDOWN.md).

#![allow(clippy::unwrap_used, reason = "a test")]

mod pages;
mod rendered_text;
mod source_text;

use std::collections::BTreeMap;

use pages::{Converted, converted, on_all, selection};
use source_text::source_text;

/// Minimum number of characters of main content, unless the whole page has fewer than twice as many.
const MIN_CHARS: usize = 40;

#[test]
fn no_page_is_empty() {
    for [whole, main] in converted() {
        let chars = |page: &Converted| -> usize {
            page.rendered
                .text
                .split_whitespace()
                .map(|w| w.chars().count())
                .sum()
        };
        let html = source_text(&whole.html, &[]);
        assert_eq!(chars(whole) == 0, words(&html.must).is_empty(), "{}", whole.name);
        assert!(
            chars(main) >= MIN_CHARS.min(chars(whole).div_ceil(2)),
            "{}",
            main.name
        );
    }
}

#[test]
fn written_tables_render_as_tables() {
    let mut seen = 0;
    for page in converted().as_flattened() {
        let mut at = 0;
        for line in page.markdown.split_inclusive('\n') {
            // Only container prefixes precede a table; the delimiter row makes it one.
            let table = line.trim_start_matches(['>', ' ']);
            let start = at + line.len() - table.len();
            at += line.len();
            if table.starts_with("| --- |") && !page.rendered.code.iter().any(|code| code.contains(&start)) {
                let found = page.rendered.tables.iter().any(|range| range.contains(&start));
                assert!(found, "{}: no table: {line}", page.name);
            }
        }
        for range in &page.rendered.tables {
            // Count bars, because a parser fills short rows and cuts long ones.
            let bars = |line: &str| line.matches('|').count() - line.matches("\\|").count();
            let mut rows = page.markdown[range.clone()].lines().map(bars);
            let head = rows.next();
            assert!(
                rows.all(|row| Some(row) == head),
                "{}: {}",
                page.name,
                &page.markdown[range.clone()]
            );
        }
        seen += page.rendered.tables.len();
    }
    assert!(seen > 4);
}

/// The rendered Markdown has every word as often as the HTML of the same content shows it, no word that the
/// HTML does not show (such as the URL of a broken link), and no HTML.
#[test]
fn no_text_is_lost() {
    for page in converted().as_flattened() {
        assert!(
            page.rendered.html.is_empty(),
            "{}: {:?}",
            page.name,
            page.rendered.html
        );
        let html = source_text(&page.html, &page.rendered.labels);
        let shown = words(&page.rendered.text);
        // Per word: how often it is shown, minus how often it must be.
        let mut surplus: BTreeMap<&str, i64> = BTreeMap::new();
        shown
            .iter()
            .for_each(|word| *surplus.entry(word).or_default() += 1);
        words(&html.must)
            .iter()
            .for_each(|word| *surplus.entry(word).or_default() -= 1);
        for word in below_zero(&surplus) {
            // Delimiters need a space where they could not close otherwise: `*[a](b)* c`.
            if let Some(parts) = parts(word, &shown) {
                let times = surplus.insert(word, 0).unwrap();
                parts
                    .iter()
                    .for_each(|part| *surplus.get_mut(part).unwrap() += times);
            }
        }
        let lost = below_zero(&surplus);
        assert!(lost.is_empty(), "{}: lost: {lost:?}", page.name);
        words(&html.may)
            .iter()
            .for_each(|word| *surplus.entry(word).or_default() -= 1);
        surplus.retain(|_, times| *times > 0);
        assert!(surplus.is_empty(), "{}: never written: {surplus:?}", page.name);
    }
}

#[test]
fn conversion_is_deterministic() {
    let again = on_all(|source| source.page().convert(&selection(true)).markdown());
    for ([_, main], again) in converted().iter().zip(again) {
        assert_eq!(main.markdown, again, "{}", main.name);
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

fn below_zero<'a>(surplus: &BTreeMap<&'a str, i64>) -> Vec<&'a str> {
    let below = surplus.iter().filter(|(_, times)| **times < 0);
    below.map(|(word, _)| *word).collect()
}

/// Returns the consecutive words into which a word was split.
fn parts<'a>(word: &str, words: &'a [&'a str]) -> Option<&'a [&'a str]> {
    (0..words.len()).find_map(|first| {
        let (mut rest, mut end) = (word, first);
        while !rest.is_empty() {
            rest = rest.strip_prefix(words.get(end)?)?;
            end += 1;
        }
        Some(&words[first..end])
    })
}

/// Returns text without invisible characters.
fn visible(text: &str) -> String {
    let is_seen =
        |c: &char| !matches!(c, '\u{AD}' | '\u{200B}' | '\u{FEFF}') && (c.is_whitespace() || !c.is_control());
    text.chars().filter(is_seen).collect()
}
