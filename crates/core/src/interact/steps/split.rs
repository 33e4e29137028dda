//! Splits a clause into steps, and lists the verbs that start one.

use crate::interact::words::{Separator, Word};

/// Polite words and words that number steps.
const FILLERS: &[&str] = &[
    "please", "now", "next", "also", "finally", "first", "firstly", "second", "secondly", "third", "thirdly",
    "lastly", "last", "just", "kindly", "so", "and", "ok", "okay", "you", "should", "must", "need", "to",
    "can", "could", "would", "i", "want", "i'd", "like", "let's", "lets", "try", "once", "done", "again",
    "immediately", "simply",
];
/// Openings of several words without a meaning of their own.
const OPENINGS: &[&[&str]] = &[
    &["after", "that"],
    &["go", "ahead"],
    &["make", "sure"],
    &["when", "done"],
    &["in", "the", "end"],
    &["at", "the", "end"],
    &["on", "the", "page"],
    &["on", "this", "page"],
];
pub(super) const OPEN: &[&str] = &[
    "go", "goto", "open", "visit", "navigate", "browse", "load", "head", "surf",
];
pub(super) const CLICK: &[&str] = &[
    "click", "tap", "follow", "doubleclick", "double-click", "double", "activate", "expand",
];
pub(super) const PRESS: &[&str] = &["press", "hit", "push", "strike"];
pub(super) const TYPE: &[&str] = &[
    "type", "enter", "write", "input", "put", "fill", "set", "insert", "paste",
];
pub(super) const CLEAR: &[&str] = &["clear", "empty", "erase"];
pub(super) const SELECT: &[&str] = &["select", "choose", "pick"];
pub(super) const CHECK: &[&str] = &["check", "tick", "enable", "mark"];
pub(super) const UNCHECK: &[&str] = &["uncheck", "untick", "disable", "unmark", "deselect"];
const HOVER: &[&str] = &["hover", "mouse"];
pub(super) const WAIT: &[&str] = &["wait", "pause", "sleep"];
pub(super) const READ: &[&str] = &[
    "read", "tell", "give", "get", "return", "extract", "show", "report", "print", "output", "what",
    "what's", "whats", "find", "note", "copy", "grab", "fetch", "list", "how",
];
const OTHER: &[&str] = &[
    "scroll", "back", "forward", "reload", "refresh", "submit", "send", "search", "screenshot", "take",
    "capture", "turn", "switch", "move", "return", "accept",
];
const VERBS: [&[&str]; 14] = [
    OPEN, CLICK, PRESS, TYPE, CLEAR, SELECT, CHECK, UNCHECK, HOVER, WAIT, READ, OTHER, PAIRS, MODEL_VERBS,
];
/// First words of phrases that are clicked without another verb: `sign in`, `log out`.
pub(super) const PAIRS: &[&str] = &["sign", "log", "login", "logout"];

/// Verbs of steps that need a model. After `and` or a comma, they are never part of a name.
const MODEL_VERBS: &[&str] = &[
    "analyse", "analyze", "calculate", "compare", "compute", "count", "decide", "describe", "explain", "if",
    "repeat", "solve", "summarise", "summarize", "translate", "unless", "verify",
];

/// Prepositions between a text and its field.
pub(super) const INTO: &[&str] = &["into", "in", "inside", "within", "as", "for", "to", "under"];

/// Splits a clause where a comma or `and` is followed by another step.
pub(super) fn split_steps(clause: Vec<Word>) -> Vec<Vec<Word>> {
    let mut steps: Vec<Vec<Word>> = Vec::new();
    let mut rest = &clause[..];
    let mut step: Vec<Word> = Vec::new();
    while let Some((word, after)) = rest.split_first() {
        if word.separator != Separator::None && !step.is_empty() {
            if starts_step(rest) {
                steps.push(std::mem::take(&mut step));
            } else if continues_typing(&step, rest) {
                // `type a into X and b into Y`.
                let verb = step.iter().find(|word| word.is(TYPE)).cloned();
                steps.push(std::mem::replace(&mut step, verb.into_iter().collect()));
            }
        }
        step.push(word.clone());
        rest = after;
    }
    steps.push(step);
    steps.retain(|step| !without_fillers(step).is_empty());
    steps
}

fn starts_step(words: &[Word]) -> bool {
    let words = without_fillers(words);
    words
        .first()
        .is_some_and(|word| VERBS.iter().any(|verbs| word.is(verbs)))
}

/// Returns whether a typing step is followed by another text for another field.
fn continues_typing(step: &[Word], rest: &[Word]) -> bool {
    let types = without_fillers(step).first().is_some_and(|word| word.is(TYPE));
    let place = |words: &[Word]| words.iter().any(|word| word.is(&["into", "in", "as", "with"]));
    let until = 1 + rest[1..]
        .iter()
        .take_while(|word| word.separator == Separator::None)
        .count();
    types && place(step) && place(&rest[1..until])
}

pub(super) fn without_fillers(mut words: &[Word]) -> &[Word] {
    loop {
        let opening = OPENINGS.iter().find(|opening| {
            words.len() >= opening.len()
                && opening
                    .iter()
                    .zip(words)
                    .all(|(known, word)| word.lower == **known)
        });
        match (opening, words.first()) {
            (Some(opening), _) => words = &words[opening.len()..],
            (None, Some(word)) if word.is(FILLERS) => words = &words[1..],
            _ => return words,
        }
    }
}
