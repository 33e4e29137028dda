//! Splits a prompt into clauses of words. Quoted text is one word; list markers are dropped.

/// A word, or a quoted text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Word {
    /// As written, without quotes and trailing punctuation.
    pub(super) text: String,
    /// In lower case; empty for quoted text.
    pub(super) lower: String,
    /// What precedes it and may join two steps.
    pub(super) separator: Separator,
}

/// What precedes a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Separator {
    None,
    Comma,
    And,
}

impl Word {
    pub(super) fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.lower.is_empty()
    }
}

const QUOTES: [(char, char); 6] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('‘', '’'),
    ('«', '»'),
];

/// Words before a noun that do not identify it.
pub(super) const ARTICLES: &[&str] = &[
    "the", "a", "an", "this", "that", "my", "your", "our", "its", "any", "some",
];

/// Splits a prompt at line ends, sentence ends, semicolons, and words such as `then`.
pub(super) fn clauses(prompt: &str) -> Vec<Vec<Word>> {
    let mut clauses = Vec::new();
    let mut clause: Vec<Word> = Vec::new();
    for line in prompt.lines() {
        for piece in pieces(line) {
            match piece {
                Piece::Word(word) if word.is(&["then", "afterwards", "afterward", "thereafter"]) => {
                    end_clause(&mut clauses, &mut clause);
                }
                Piece::Word(word) => clause.push(word),
                Piece::Stop => end_clause(&mut clauses, &mut clause),
            }
        }
        end_clause(&mut clauses, &mut clause);
    }
    clauses
}

fn end_clause(clauses: &mut Vec<Vec<Word>>, clause: &mut Vec<Word>) {
    if !clause.is_empty() {
        clauses.push(std::mem::take(clause));
    }
}

enum Piece {
    Word(Word),
    Stop,
}

fn pieces(line: &str) -> Vec<Piece> {
    let line = without_list_marker(line.trim());
    let mut pieces = Vec::new();
    let mut separator = Separator::None;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        if let Some((inside, behind)) = split_quoted(rest) {
            pieces.push(Piece::Word(Word {
                text: inside.to_owned(),
                lower: String::new(),
                separator,
            }));
            separator = Separator::None;
            rest = behind;
            if let Some(behind) = rest.strip_prefix(',') {
                (separator, rest) = (Separator::Comma, behind);
            } else if let Some(behind) = rest.strip_prefix(['.', ';', '!', '?']) {
                pieces.push(Piece::Stop);
                rest = behind;
            }
            continue;
        }
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        rest = behind;
        // `2)` within a line starts the next step.
        let number = word.trim_start_matches('(').strip_suffix(')');
        if number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        {
            pieces.push(Piece::Stop);
            continue;
        }
        let (bare, mark) = without_punctuation(word);
        if bare.is_empty() {
            if mark.is_some() {
                pieces.push(Piece::Stop);
            }
            continue;
        }
        let lower = bare.to_lowercase();
        if lower == "and" || lower == "&" {
            separator = Separator::And;
            continue;
        }
        pieces.push(Piece::Word(Word {
            text: bare.to_owned(),
            lower,
            separator,
        }));
        separator = Separator::None;
        match mark {
            Some(',') => separator = Separator::Comma,
            Some(_) => pieces.push(Piece::Stop),
            None => {}
        }
    }
    pieces
}

/// Returns the quoted text at the start of `text`, and what follows it.
fn split_quoted(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let inside = &text[first.len_utf8()..];
    let is_end = |behind: &str| behind.chars().next().is_none_or(|next| !next.is_alphanumeric());
    let mut from = 0;
    while let Some(at) = inside[from..].find(*close) {
        let behind = &inside[from + at + close.len_utf8()..];
        // An apostrophe within a word does not close the quote.
        if is_end(behind) {
            return Some((&inside[..from + at], behind));
        }
        from += at + close.len_utf8();
    }
    None
}

/// Splits a word from its trailing punctuation.
fn without_punctuation(word: &str) -> (&str, Option<char>) {
    let bare = word.trim_end_matches(['.', ',', ';', '!', '?', ':']);
    let marks = &word[bare.len()..];
    let stop = marks.chars().find(|mark| *mark != ':');
    (bare.trim_start_matches(['(', '→']), stop)
}

/// Strips a list marker: `1.`, `2)`, `-`, `*`, `•`, `Step 3:`, `[ ]`.
fn without_list_marker(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', '•', '–', '—', '>', '#', ' ', '\t']);
    let line = line.strip_prefix("[ ]").unwrap_or(line).trim_start();
    let step = line
        .get(..4)
        .filter(|word| word.eq_ignore_ascii_case("step"))
        .map_or(line, |_| line[4..].trim_start());
    let digits = step.trim_start_matches('(');
    let behind = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = behind.len() < digits.len() && digits.len() - behind.len() <= 3;
    match behind.strip_prefix(['.', ')', ':', '-']) {
        // `3.5 km` is not a marker.
        Some(text) if numbered && text.starts_with(|c: char| !c.is_ascii_digit()) => {
            text.trim_start_matches([')', ':', '-', ' '])
        }
        _ => line,
    }
}

/// Joins words with the commas and `and`s between them.
pub(super) fn text(words: &[Word]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            text.push_str(match word.separator {
                Separator::None => " ",
                Separator::Comma => ", ",
                Separator::And => " and ",
            });
        }
        text.push_str(&word.text);
    }
    text
}

/// Strips the first word if it is one of these.
pub(super) fn without_first<'a>(words: &'a [Word], known: &[&str]) -> &'a [Word] {
    match words {
        [first, rest @ ..] if first.is(known) => rest,
        _ => words,
    }
}

/// Strips the last word if it is one of these.
pub(super) fn without_last<'a>(words: &'a [Word], known: &[&str]) -> &'a [Word] {
    match words {
        [rest @ .., last] if last.is(known) => rest,
        _ => words,
    }
}

/// Returns whether the words are exactly these.
pub(super) fn is_all(words: &[Word], known: &[&str]) -> bool {
    words.len() == known.len() && words.iter().zip(known).all(|(word, known)| word.lower == *known)
}

/// Returns whether every word is an article or one of these.
pub(super) fn only(words: &[Word], known: &[&str]) -> bool {
    words.iter().all(|word| word.is(ARTICLES) || word.is(known))
}
