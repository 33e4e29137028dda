//! The words of a text, as they are indexed and searched.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::limits;

/// Returns the words of a text, separated by spaces, cut to what PostgreSQL can index.
pub(crate) fn fold(text: &str) -> String {
    let mut words = String::with_capacity(text.len().min(limits::INDEXED_TEXT_BYTES));
    for character in text.nfd().filter(|character| !is_combining_mark(*character)) {
        if words.len() >= limits::INDEXED_TEXT_BYTES {
            break;
        }
        match character.is_alphanumeric() {
            true => words.extend(character.to_lowercase()),
            false if words.ends_with(' ') => {}
            false => words.push(' '),
        }
    }
    words
}
