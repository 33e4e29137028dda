//! Restores words: splits ligatures, and joins words that a line break divided.

use std::collections::HashSet;

use super::block::{Block, PdfPage, Text};

/// Restores the words of all pages. The spelling in the rest of the document decides whether a hyphen at the
/// end of a line belongs to the word.
pub(super) fn restore(pages: &mut [PdfPage]) {
    for_each_text(pages, &mut |text| {
        for run in &mut text.runs {
            if run
                .text
                .contains(|c: char| matches!(c, '\u{FB00}'..='\u{FB06}' | '\u{AD}'))
            {
                run.text = without_ligatures(&run.text);
            }
        }
    });
    let mut hyphenated = HashSet::new();
    for_each_text(pages, &mut |text| {
        for run in &text.runs {
            for word in run.text.split_whitespace().map(bare) {
                if word.trim_end_matches('-').contains('-') {
                    hyphenated.insert(word.to_lowercase());
                }
            }
        }
    });
    for_each_text(pages, &mut |text| {
        for run in &mut text.runs {
            if run.text.contains("- ") {
                run.text = join_words(&run.text, &hyphenated);
            }
        }
    });
}

fn for_each_text(pages: &mut [PdfPage], act: &mut dyn FnMut(&mut Text)) {
    for block in pages.iter_mut().flat_map(|page| &mut page.blocks) {
        match block {
            Block::Text(text) => act(text),
            Block::Table(table) => table
                .rows
                .iter_mut()
                .flatten()
                .for_each(|cell| act(&mut cell.text)),
            Block::Code(_) => {}
        }
    }
}

fn without_ligatures(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{FB00}' => out.push_str("ff"),
            '\u{FB01}' => out.push_str("fi"),
            '\u{FB02}' => out.push_str("fl"),
            '\u{FB03}' => out.push_str("ffi"),
            '\u{FB04}' => out.push_str("ffl"),
            '\u{FB05}' | '\u{FB06}' => out.push_str("st"),
            '\u{AD}' => {}
            c => out.push(c),
        }
    }
    out
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Joins divided words: `admin- istrator` is one word; `pre- and post-` stays; `third- party` becomes
/// `third-party` if that occurs elsewhere.
fn join_words(text: &str, hyphenated: &HashSet<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("- ") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        out.push_str(before);
        let first = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let second = after.split(char::is_whitespace).next().unwrap_or_default();
        let divides = first.chars().last().is_some_and(char::is_alphabetic)
            && second.chars().next().is_some_and(char::is_lowercase)
            && !matches!(
                bare(second),
                "and" | "or" | "to" | "und" | "oder" | "et" | "ou" | "y" | "o"
            );
        if !divides {
            out.push_str("- ");
        } else if hyphenated.contains(&format!("{first}-{}", bare(second)).to_lowercase()) {
            out.push('-');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_words_are_joined_by_the_spelling_elsewhere() {
        let known = HashSet::from(["third-party".to_owned()]);
        let check = |text: &str, expected: &str| assert_eq!(join_words(text, &known), expected);
        check("the list admin- istrator at", "the list administrator at");
        check("a third- party, who", "a third-party, who");
        check("pre- and post-war", "pre- and post-war");
        check("see - this", "see - this");
        check("4- bit", "4- bit");
        check("ends with co- ", "ends with co- ");
        assert_eq!(without_ligatures("e\u{FB03}cient \u{FB01}x"), "efficient fix");
    }
}
