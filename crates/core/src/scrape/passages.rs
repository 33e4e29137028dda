//! Splits Markdown into plain-text passages, which are ranked for highlights and summaries. Made for the
//! Markdown that this product writes, tolerant of any other. Takes time linear in the text.

mod plain;

use plain::plain;

/// Length in bytes at which text without a sentence end is split.
const LONG_SENTENCE_BYTES: usize = 600;
/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "no", "vs", "e.g", "i.e", "etc", "cf", "al", "fig", "approx",
    "inc", "ltd", "z.b", "bzw", "ca", "u.s", "u.k",
];

/// A sentence, table row or short item, without Markdown syntax.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Passage {
    pub(crate) text: String,
    /// Index of its block.
    pub(crate) block: usize,
    /// Number of the heading above, counted from 1; 0 for none.
    pub(crate) heading: usize,
    /// Whether it is prose rather than a table row or a line of code.
    pub(crate) is_prose: bool,
}

/// The passages of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Text {
    pub(crate) passages: Vec<Passage>,
    /// Headings in document order; see [`Passage::heading`].
    pub(crate) headings: Vec<String>,
    blocks: usize,
}

impl Text {
    /// Splits Markdown.
    pub(crate) fn of(markdown: &str) -> Self {
        let mut text = Text::default();
        for_each_block(markdown, |block| text.push(block));
        text
    }

    fn push(&mut self, block: Block<'_>) {
        match block {
            Block::Heading(line) => return self.headings.push(line.to_owned()),
            Block::Prose(line) => {
                let mut rest = line;
                while !rest.is_empty() {
                    let (sentence, after) = rest.split_at(sentence_end(rest));
                    self.add(sentence.trim(), true);
                    rest = after;
                }
            }
            Block::Row(line) => self.add(line, false),
        }
        self.blocks += 1;
    }

    fn add(&mut self, text: &str, is_prose: bool) {
        if text.contains(char::is_alphanumeric) {
            self.passages.push(Passage {
                text: text.to_owned(),
                block: self.blocks,
                heading: self.headings.len(),
                is_prose,
            });
        }
    }
}

/// A block of a page as one line of plain text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Block<'a> {
    Heading(&'a str),
    /// A paragraph or list item; may be empty.
    Prose(&'a str),
    /// A table row or a line of code.
    Row(&'a str),
}

/// Splits Markdown into blocks.
pub(crate) fn for_each_block(markdown: &str, mut each: impl FnMut(Block<'_>)) {
    // Prose of the block that is still open.
    let mut open = String::new();
    let mut fence: Option<(char, usize)> = None;
    for line in markdown.lines() {
        let bare = line.trim().trim_start_matches(['>', ' ']);
        if let Some((mark, count)) = fence {
            if bare.len() >= count && bare.trim_matches(mark).is_empty() {
                fence = None;
            } else {
                each(Block::Row(line.trim()));
            }
            continue;
        }
        let opened = fence_marks(bare);
        let starts_block =
            opened.is_some() || bare.is_empty() || bare.starts_with(['#', '|']) || item(bare).is_some();
        if starts_block {
            each(Block::Prose(&plain(&open)));
            open.clear();
        }
        if opened.is_some() {
            fence = opened;
        } else if let Some(title) = heading(bare) {
            each(Block::Heading(&plain(title)));
        } else if bare.starts_with('|') {
            let cells: Vec<String> = bare.trim_matches('|').split('|').map(plain).collect();
            each(Block::Row(cells.join(" | ").trim()));
        } else {
            open.push_str(item(bare).unwrap_or(bare));
            open.push('\n');
        }
    }
    each(Block::Prose(&plain(&open)));
}

/// Returns the character of a code fence and its length.
fn fence_marks(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let count = line.len() - line.trim_start_matches(mark).len();
    (count >= 3).then_some((mark, count))
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let marks = line.len() - title.len();
    let is_heading = (1..=6).contains(&marks) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| title.trim())
}

/// Returns the text of a list item or footnote.
fn item(line: &str) -> Option<&str> {
    if let Some(note) = line.strip_prefix("[^") {
        return note.split_once("]: ").map(|(_, text)| text);
    }
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = line.len() - rest.len();
            rest.strip_prefix(['.', ')'])
                .filter(|_| (1..=9).contains(&digits))?
        }
    };
    let text = rest.strip_prefix([' ', '\t'])?.trim_start();
    let boxes = ["[ ] ", "[x] ", "[X] "];
    Some(
        boxes
            .iter()
            .find_map(|mark| text.strip_prefix(mark))
            .unwrap_or(text),
    )
}

/// Returns the byte offset of the end of the first sentence; never 0 for a non-empty line.
fn sentence_end(line: &str) -> usize {
    let mut word = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_whitespace() {
            if at >= LONG_SENTENCE_BYTES {
                return at;
            }
            word = at + c.len_utf8();
        }
        if matches!(c, '。' | '！' | '？') {
            return at + c.len_utf8();
        }
        if !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        while chars
            .next_if(|(_, c)| matches!(c, '.' | '!' | '?' | ')' | ']' | '"' | '\'' | '”' | '’' | '»'))
            .is_some()
        {}
        let end = chars.peek().map_or(line.len(), |(at, _)| *at);
        let mut after = line[end..].chars();
        let is_spaced = after.next().is_none_or(char::is_whitespace);
        let goes_on = line[end..]
            .trim_start()
            .chars()
            .next()
            .is_some_and(char::is_lowercase);
        if is_spaced && !goes_on && !(c == '.' && is_abbreviation(&line[word..at])) {
            return end;
        }
    }
    line.len()
}

/// Returns whether a word is an initial or a known abbreviation.
fn is_abbreviation(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '"', '“']);
    let mut chars = word.chars();
    let is_initial = chars.next().is_some_and(char::is_uppercase) && chars.next().is_none();
    is_initial || ABBREVIATIONS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, expected: &[&str]) {
        let text = Text::of(markdown);
        let found: Vec<&str> = text
            .passages
            .iter()
            .map(|passage| passage.text.as_str())
            .collect();
        assert_eq!(found, expected, "{markdown}");
    }

    #[test]
    fn markdown_is_split_into_sentences_items_and_rows() {
        check(
            "# T\n\nOne two. Three\nfour! *Five*?",
            &["One two.", "Three four!", "Five?"],
        );
        check("- a b\n- [x] c\n  1. d\n     e\n\n* f", &["a b", "c", "d e", "f"]);
        check("> Quoted [text](https://a.test/x). End", &["Quoted text.", "End"]);
        check("| a | **b** |\n| --- | --- |\n| c | d |", &["a | b", "c | d"]);
        check(
            "```rust\nlet a = 1.0;\n# no heading\n```\ntext",
            &["let a = 1.0;", "# no heading", "text"],
        );
        check(
            "It costs 3.50 euros, e.g. here. Dr. J. Smith agrees.",
            &["It costs 3.50 euros, e.g. here.", "Dr. J. Smith agrees."],
        );
        check("これは文です。次の文です。", &["これは文です。", "次の文です。"]);
        check("---\n\n***\n\n", &[]);
        check("Text[^1].\n\n[^1]: The note.", &["Text.", "The note."]);
    }

    #[test]
    fn passages_know_their_heading_and_block() {
        let text = Text::of("a. B\n\n# One\n\nc\n\n## Two\n\nd. E");
        assert_eq!(text.headings, ["One", "Two"]);
        let places: Vec<_> = text.passages.iter().map(|p| (p.heading, p.block)).collect();
        assert_eq!(places[0], places[1]);
        assert_eq!(
            places.iter().map(|place| place.0).collect::<Vec<_>>(),
            [0, 0, 1, 2, 2]
        );
        assert!(places[1].1 < places[2].1 && places[2].1 < places[3].1);
    }

    #[test]
    fn hostile_markdown_takes_linear_time() {
        for piece in [
            "](", "[", "![](<", "*", "> ", "- ", "`", "```\n", "](a \"", "&lt", "\\", "a.",
        ] {
            Text::of(&piece.repeat(1_000_000 / piece.len()));
        }
    }
}
