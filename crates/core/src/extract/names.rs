//! Property names: normalization of a name to words, and the schema.org properties that a name refers to.

mod synonyms;

use synonyms::SYNONYMS;

/// Splits a name into normalized words: `datePublished`, `date_published` and `Date published:` are equal.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let starts = c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit());
        if (!c.is_alphanumeric() || starts) && !word.is_empty() {
            words.push(singular(std::mem::take(&mut word)));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(singular(word));
    }
    words
}

/// Joins the words of a name into a key.
pub(super) fn key(name: &str) -> String {
    words(name).join(" ")
}

fn singular(mut word: String) -> String {
    let keep = word.len() < 4 || ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    if !keep && word.ends_with("ies") && word.len() > 5 {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if !keep && word.ends_with('s') {
        word.pop();
    }
    word
}

/// Returns whether the last word of a name is a unit of its value.
pub(super) fn is_unit(word: &str) -> bool {
    const UNITS: &[&str] = &[
        "second", "sec", "minute", "min", "hour", "day", "kg", "g", "gram", "cm", "mm", "m", "inch", "usd",
        "eur", "gbp", "percent", "text", "value", "amount", "string",
    ];
    UNITS.contains(&word)
}

/// Returns the schema.org paths of a key, best first.
pub(super) fn paths(key: &str) -> impl Iterator<Item = &'static str> {
    let known = SYNONYMS.iter().filter(move |(names, _)| names.contains(&key));
    known.flat_map(|(_, paths)| paths.iter().copied())
}

/// Returns the synonyms of a key, itself included.
pub(super) fn equals(key: &str) -> impl Iterator<Item = &'static str> {
    let known = SYNONYMS.iter().filter(move |(names, _)| names.contains(&key));
    known.flat_map(|(names, _)| names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_name_have_the_same_key() {
        for name in [
            "datePublished", "date_published", "Date-Published:", "date published",
        ] {
            assert_eq!(key(name), "date published", "{name}");
        }
        assert_eq!(key("imageURLs"), "image url");
        assert_eq!(key("categories"), "category");
        assert_eq!(key("status"), "status");
        assert_eq!(key("größe (cm)"), "größe cm");
        assert_eq!(key("???"), "");
    }

    #[test]
    fn every_name_in_the_table_is_a_key() {
        for name in SYNONYMS.iter().flat_map(|(names, _)| *names) {
            assert_eq!(key(name), *name);
        }
        assert!(paths("price").next() == Some("offers.price"));
        assert!(paths("nonsense").next().is_none());
    }
}
