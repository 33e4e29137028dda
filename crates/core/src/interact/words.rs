//! A prompt cut into clauses of words: quotes kept together, list marks and polite words left out.

/// A word, or what stands in one pair of quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Word {
    /// As it is written, without quotes and marks behind it.
    pub(super) text: String,
    /// In lower case; empty for what was in quotes.
    pub(super) low: String,
    /// What stands before it that may join two steps: nothing, a comma, or `and`.
    pub(super) joined: Joint,
}

/// What stands before a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Joint {
    None,
    Comma,
    And,
}

impl Word {
    pub(super) fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.low.as_str())
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.low.is_empty()
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

/// Words before a thing that say nothing about which it is.
pub(super) const ARTICLES: &[&str] = &[
    "the", "a", "an", "this", "that", "my", "your", "our", "its", "any", "some",
];

/// The clauses of a prompt: cut at the ends of lines and sentences, at semicolons, and at `then` and its like.
pub(super) fn clauses(prompt: &str) -> Vec<Vec<Word>> {
    let mut clauses = Vec::new();
    let mut clause: Vec<Word> = Vec::new();
    for line in prompt.lines() {
        for piece in pieces(line) {
            match piece {
                Piece::Word(word) if word.is(&["then", "afterwards", "afterward", "thereafter"]) => {
                    end(&mut clauses, &mut clause);
                }
                Piece::Word(word) => clause.push(word),
                Piece::Stop => end(&mut clauses, &mut clause),
            }
        }
        end(&mut clauses, &mut clause);
    }
    clauses
}

fn end(clauses: &mut Vec<Vec<Word>>, clause: &mut Vec<Word>) {
    if !clause.is_empty() {
        clauses.push(std::mem::take(clause));
    }
}

enum Piece {
    Word(Word),
    Stop,
}

fn pieces(line: &str) -> Vec<Piece> {
    let line = without_mark(line.trim());
    let mut pieces = Vec::new();
    let mut joined = Joint::None;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        if let Some((inside, behind)) = quoted(rest) {
            pieces.push(Piece::Word(Word {
                text: inside.to_owned(),
                low: String::new(),
                joined,
            }));
            joined = Joint::None;
            rest = behind;
            if let Some(behind) = rest.strip_prefix(',') {
                (joined, rest) = (Joint::Comma, behind);
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
        let (bare, mark) = without_end(word);
        if bare.is_empty() {
            if mark.is_some() {
                pieces.push(Piece::Stop);
            }
            continue;
        }
        let low = bare.to_lowercase();
        if low == "and" || low == "&" {
            joined = Joint::And;
            continue;
        }
        pieces.push(Piece::Word(Word {
            text: bare.to_owned(),
            low,
            joined,
        }));
        joined = Joint::None;
        match mark {
            Some(',') => joined = Joint::Comma,
            Some(_) => pieces.push(Piece::Stop),
            None => {}
        }
    }
    pieces
}

/// What stands in quotes at the beginning, and what is behind them.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let inside = &text[first.len_utf8()..];
    let ends = |behind: &str| behind.chars().next().is_none_or(|next| !next.is_alphanumeric());
    let mut from = 0;
    while let Some(at) = inside[from..].find(*close) {
        let behind = &inside[from + at + close.len_utf8()..];
        // An apostrophe within a word ends nothing.
        if ends(behind) {
            return Some((&inside[..from + at], behind));
        }
        from += at + close.len_utf8();
    }
    None
}

/// A word without the mark that ends it, and that mark.
fn without_end(word: &str) -> (&str, Option<char>) {
    let bare = word.trim_end_matches(['.', ',', ';', '!', '?', ':']);
    let marks = &word[bare.len()..];
    let stop = marks.chars().find(|mark| *mark != ':');
    (bare.trim_start_matches(['(', '→']), stop)
}

/// A line without the mark of a list: `1.`, `2)`, `-`, `*`, `•`, `Step 3:`, `[ ]`.
fn without_mark(line: &str) -> &str {
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
        // `3.5 km` is no mark.
        Some(text) if numbered && text.starts_with(|c: char| !c.is_ascii_digit()) => {
            text.trim_start_matches([')', ':', '-', ' '])
        }
        _ => line,
    }
}

/// The words as they stand from one place to another, without those that join them at the ends.
pub(super) fn text(words: &[Word]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            text.push_str(match word.joined {
                Joint::None => " ",
                Joint::Comma => ", ",
                Joint::And => " and ",
            });
        }
        text.push_str(&word.text);
    }
    text
}

/// The words behind the first, when it is one of these.
pub(super) fn without_first<'a>(words: &'a [Word], known: &[&str]) -> &'a [Word] {
    match words {
        [first, rest @ ..] if first.is(known) => rest,
        _ => words,
    }
}

/// The words before the last, when it is one of these.
pub(super) fn without_last<'a>(words: &'a [Word], known: &[&str]) -> &'a [Word] {
    match words {
        [rest @ .., last] if last.is(known) => rest,
        _ => words,
    }
}

/// Whether these are all the words.
pub(super) fn is_all(words: &[Word], known: &[&str]) -> bool {
    words.len() == known.len() && words.iter().zip(known).all(|(word, known)| word.low == *known)
}

/// Whether there is nothing but articles and these.
pub(super) fn only(words: &[Word], known: &[&str]) -> bool {
    words.iter().all(|word| word.is(ARTICLES) || word.is(known))
}
