//! Words for ranking: lower case, stemmed. In scripts without spaces, each character is a word.

/// Iterates over the words of a text.
pub(crate) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let start = self.rest.find(char::is_alphanumeric)?;
        let text = &self.rest[start..];
        let first = text.chars().next()?;
        let end = match is_unspaced(first) {
            true => first.len_utf8(),
            false => text
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')) || is_unspaced(c))
                .unwrap_or(text.len()),
        };
        self.rest = &text[end..];
        Some(stem(text[..end].to_lowercase()))
    }
}

/// Returns whether a character belongs to a script without spaces: ideographs, kana, Thai.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Stems an English word. Harmless in other languages, because queries and pages are stemmed alike.
fn stem(mut word: String) -> String {
    if let Some(at) = word.find(['\'', '’']) {
        word.truncate(at);
    }
    for (ending, replacement, shortest) in [
        ("ies", "y", 5),
        ("ied", "y", 5),
        ("sses", "ss", 6),
        ("ing", "", 6),
        ("ed", "", 5),
        ("es", "e", 5),
        ("s", "", 4),
    ] {
        if word.len() >= shortest && word.ends_with(ending) && !(ending == "s" && word.ends_with("ss")) {
            word.truncate(word.len() - ending.len());
            word.push_str(replacement);
            if matches!(ending, "ing" | "ed") {
                undouble(&mut word);
            }
            break;
        }
    }
    if word.len() > 4 && word.ends_with('e') {
        word.pop();
    }
    word
}

/// Undoubles a final consonant: `stopp` of `stopping` becomes `stop`; `bill`, `pass` and `add` stay.
fn undouble(word: &mut String) {
    let mut ends = word.chars().rev();
    if let (Some(last), Some(before)) = (ends.next(), ends.next())
        && word.len() > 3
        && last == before
        && matches!(last, 'b' | 'd' | 'g' | 'm' | 'n' | 'p' | 'r' | 't')
    {
        word.pop();
    }
}

/// Returns whether a word, as returned by [`Words`], says nothing about a topic.
pub(crate) fn is_stop_word(word: &str) -> bool {
    const STOP_WORDS: &[&str] = &[
        "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "befor",
        "but", "by", "can", "could", "did", "do", "does", "doe", "for", "from", "had", "has", "have", "he",
        "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "mor", "more", "most",
        "not", "of", "on", "one", "or", "other", "our", "out", "over", "she", "should", "so", "some", "such",
        "than", "that", "the", "their", "them", "then", "ther", "there", "thes", "these", "they", "thi",
        "this", "thos", "those", "to", "up", "us", "wa", "was", "we", "were", "what", "when", "wher",
        "where", "which", "whil", "while", "who", "why", "will", "with", "would", "you", "your",
    ];
    STOP_WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_and_ideographs_are_separate_words() {
        let words = |text: &str| Words::of(text).collect::<Vec<_>>().join(" ");
        assert_eq!(
            words("Price prices PRICING priced price's"),
            "pric pric pric pric pric"
        );
        assert_eq!(words("City, cities; class classes"), "city city class class");
        assert_eq!(
            words("stop stopped; retry retried; billing"),
            "stop stop retry retry bill"
        );
        assert_eq!(words("東京 is 2026"), "東 京 is 2026");
        assert_eq!(words(" -- … "), "");
        assert!(Words::of("this those where was").all(|word| is_stop_word(&word)));
    }
}
