//! Names of people and places that a language model found. Each is redacted only where the text has it.

use regex::Regex;

use crate::api::options::PiiEntity;

/// Largest number of names of each kind.
const MAX_NAMES: usize = 1000;
/// Shortest and longest name in characters.
const NAME_CHARS: std::ops::RangeInclusive<usize> = 2..=100;

/// Names of people and places.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Names of people as the text has them.
    pub people: Vec<String>,
    /// Names of places and addresses as the text has them.
    pub places: Vec<String>,
}

impl Names {
    /// Returns a pattern that finds the names of a kind as whole words; `None` if there are none.
    pub(super) fn pattern(&self, entity: PiiEntity) -> Option<Regex> {
        let names = match entity {
            PiiEntity::Person => &self.people,
            PiiEntity::Location => &self.places,
            _ => return None,
        };
        let mut names: Vec<Vec<String>> = names
            .iter()
            .filter(|name| NAME_CHARS.contains(&name.trim().chars().count()))
            .take(MAX_NAMES)
            .map(|name| name.split_whitespace().map(regex::escape).collect())
            .collect();
        // The first alternative wins: `Ann Lee` before `Ann`.
        names.sort_by_key(|words| std::cmp::Reverse(words.iter().map(String::len).sum::<usize>()));
        names.dedup();
        let names: Vec<String> = names
            .iter()
            .map(|words| {
                let edge = |word: &str, at_end: bool| {
                    let c = if at_end {
                        word.chars().next_back()
                    } else {
                        word.chars().next()
                    };
                    if c.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                        r"\b"
                    } else {
                        ""
                    }
                };
                let (first, last) = (
                    words.first().map_or("", |word| word),
                    words.last().map_or("", |word| word),
                );
                format!("{}{}{}", edge(first, false), words.join(r"\s+"), edge(last, true))
            })
            .collect();
        if names.is_empty() {
            return None;
        }
        Regex::new(&names.join("|")).ok()
    }
}
