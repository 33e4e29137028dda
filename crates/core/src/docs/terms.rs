//! Index terms of questions and pages: words are stemmed, option names count as a whole and by their parts, and
//! synonyms match each other.

use crate::text::{Words, is_stop_word};

/// Words of questions that say nothing about their topic.
const QUESTION_WORDS: &[&str] = &[
    "am", "api", "does", "each", "every", "get", "gets", "give", "go", "good", "happens", "harvestman",
    "help", "know", "let", "like", "make", "me", "mean", "my", "need", "only", "own", "per", "please",
    "possible", "put", "really", "same", "say", "see", "server", "set", "show", "take", "tell", "thing",
    "try", "use", "using", "want", "way", "without", "work",
];

/// Groups of near-synonyms; each word also matches the others in its group.
const SYNONYMS: &[&[&str]] = &[
    &[
        "credit", "cost", "price", "charge", "pay", "bill", "money", "spend", "expensive", "cheap",
    ],
    &["cancel", "stop", "abort", "end", "kill", "interrupt"],
    &["delete", "remove", "erase", "forget", "purge"],
    &["key", "token", "secret", "password", "credential"],
    &[
        "login", "sign", "authentication", "authorization", "authenticate", "key",
    ],
    &["screenshot", "picture", "image", "photo"],
    &["delay", "pause", "slow", "polite", "politeness", "wait"],
    &["depth", "deep", "level"],
    &["link", "url", "address"],
    &["fetch", "download", "scrape"],
    &["backup", "back"],
    &["page", "web", "document"],
    &["exclude", "skip", "ignore", "omit", "avoid"],
    &["verify", "signature", "hmac", "genuine", "forged"],
    &["webhook", "callback", "notify", "notification", "receiver"],
    &["fresh", "stale", "cache", "cached", "copy", "old"],
    &["error", "fail", "failure", "problem", "broken"],
    &["limit", "most", "maximum", "max", "many", "bound"],
    &["pdf", "docx", "document", "file", "word", "office"],
    &["upload", "parse", "file"],
    &["schema", "json", "structured", "structure", "field"],
    &["install", "host", "deploy", "docker"],
    &[
        "configure", "configuration", "setting", "environment", "variable", "flag",
    ],
    &["browser", "chrome", "chromium", "playwright"],
    &["javascript", "script", "node", "code"],
    &["watch", "live", "view", "iframe", "embed"],
    &["change", "diff", "differ", "difference", "compare", "track"],
    &["private", "privacy", "retention", "intranet", "internal"],
    &["team", "user", "account"],
    &["rate", "throttle", "limit"],
    &["concurrency", "parallel", "simultaneous", "once"],
    &["country", "language", "location", "locale"],
    &["cookie", "session", "profile"],
    &["clean", "main", "content", "boilerplate", "navigation"],
    &["subdomain", "domain", "host", "site", "website"],
    &["question", "ask", "prompt"],
    &["budget", "quota", "allowance"],
    &["usage", "history", "consumption"],
];

/// Returns the terms of a text. A name such as `maxAge` yields itself and its parts.
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for token in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))) {
        terms.extend(Words::of(token));
        let parts = split_camel_case(token);
        if parts != token {
            terms.extend(Words::of(&parts));
        }
    }
    terms
}

/// Inserts a space before each capital letter that follows a lower-case one.
fn split_camel_case(token: &str) -> String {
    let mut out = String::with_capacity(token.len());
    let mut was_lower = false;
    for c in token.chars() {
        if was_lower && c.is_uppercase() {
            out.push(' ');
        }
        was_lower = c.is_lowercase();
        out.push(c);
    }
    out
}

/// Returns whether a word is in the list. Both are compared in the form of [`terms`].
fn is_among(word: &str, list: &[&str]) -> bool {
    list.iter()
        .flat_map(|known| Words::of(known))
        .any(|known| known == word)
}

/// Returns whether a word of a question relates to its topic.
pub(super) fn is_topic(word: &str) -> bool {
    // A count is not a topic, but a status code is.
    let is_count = word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    !is_count && !is_stop_word(word) && !is_among(word, QUESTION_WORDS)
}

/// Returns the words of every synonym group that contains `word`, itself included.
pub(super) fn synonyms(word: &str) -> Vec<String> {
    let groups = SYNONYMS.iter().filter(|group| is_among(word, group));
    groups
        .flat_map(|group| group.iter().flat_map(|synonym| Words::of(synonym)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_names_yield_themselves_and_their_parts() {
        assert_eq!(terms("`maxAge` in ms"), ["maxag", "max", "age", "in", "ms"]);
        assert_eq!(terms("HARVESTMAN_LOG"), ["harvestman", "log"]);
        assert_eq!(terms("JavaScript's"), ["javascript", "java", "script"]);
    }

    #[test]
    fn question_words_are_not_topics_and_others_have_synonyms() {
        assert!(!is_topic("make") && !is_topic("how") && is_topic("pric"));
        assert!(synonyms("pric").contains(&"credit".to_owned()));
        assert!(synonyms("heron").is_empty());
    }
}
