//! The texts of the console use the words of its users: none of the phrases that this project has replaced.

use anyhow::{Context, Result};

use crate::project::Project;

/// File with the texts of the console.
const TEXTS: &str = "web/src/text.rs";
/// Phrases in lower case, each with its replacement.
const REPLACED: &[(&str, &str)] = &[
    ("any number", "unlimited"),
    ("beside", "next to"),
    ("by itself", "automatically, or by default"),
    ("from a sentence", "from a description"),
    ("is not acceptable", "has errors"),
    ("kept out", "blocked"),
    ("looked for", "search"),
    ("in the name of", "of"),
    ("make key", "create key"),
    ("went to", "was returned to"),
    ("what you see", "showing"),
    ("whoever", "the caller, the client or the user"),
    ("words from outside", "signals"),
    ("told", "reported, returned or logged"),
    ("forgotten", "deleted"),
    ("address", "URL"),
];

pub(super) fn problems(project: &Project) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(project.path(TEXTS)).context(TEXTS)?;
    Ok(phrases_in(&text))
}

fn phrases_in(text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let phrases = lines.flat_map(|(index, line)| {
        let line = words_of(line);
        let found = REPLACED
            .iter()
            .filter(move |(phrase, _)| line.contains(&format!(" {phrase} ")));
        found.map(move |(phrase, instead)| format!("{TEXTS}:{}: `{phrase}`; write {instead}", index + 1))
    });
    phrases.collect()
}

/// Returns the words of a line in lower case, each between single spaces.
fn words_of(line: &str) -> String {
    let lower = line.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_phrases_are_found_as_whole_words() {
        let found = phrases_in("pub const A: &str =\n    \"Retrying by itself.\";\n/// Whoever calls.");
        assert_eq!(
            found,
            [
                "web/src/text.rs:2: `by itself`; write automatically, or by default",
                "web/src/text.rs:3: `whoever`; write the caller, the client or the user"
            ]
        );
        assert!(phrases_in("pub const ADDRESSED: &str = \"untold besides\";").is_empty());
    }
}
