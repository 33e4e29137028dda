//! `includePaths` and `excludePaths` (docs/API.md section 5 rule 8): user-supplied regular expressions,
//! compiled once under size limits and matched against bounded text. URLs are ASCII (the rest is
//! percent-encoded), so classes like `\w` are compiled without Unicode where possible, which gives
//! the same matches at a fortieth of the size.

#[cfg(not(target_family = "wasm"))]
mod list;
#[cfg(target_family = "wasm")]
#[path = "patterns/list_wasm.rs"]
mod list;

use regex::bytes::{Regex, RegexBuilder};

use crate::api::error::ApiError;
use crate::api::problem::{PathPart, Problem, bad_request};
use crate::crawl::limits::{
    PATTERN_COMPILED_MAX_BYTES, PATTERN_MAX_CHARS, PATTERN_PROBLEMS_MAX, PATTERN_TEXT_MAX_CHARS,
    PATTERNS_MAX, PATTERNS_MAX_CHARS,
};

use list::PatternList;

const TOO_LARGE: &str = "is a regular expression that is too large when compiled";

/// Both compiled lists.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    exclude: Option<PatternList>,
    /// `None`: everything is included.
    include: Option<PatternList>,
}

/// Result of matching a URL against both lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PatternMatch {
    Passes,
    Excluded,
    NotIncluded,
    /// Matching takes too long.
    TooCostly,
}

impl Patterns {
    /// Compiles both lists.
    ///
    /// # Errors
    /// 400 `BAD_REQUEST` with one entry in `details` per invalid or oversized pattern.
    pub(super) fn compile(exclude: &[String], include: &[String]) -> Result<Self, ApiError> {
        let mut problems = Vec::new();
        let chars = |list: &[String]| list.iter().map(|pattern| pattern.chars().count()).sum::<usize>();
        if exclude.len() + include.len() > PATTERNS_MAX
            || chars(exclude).saturating_add(chars(include)) > PATTERNS_MAX_CHARS
        {
            let message = format!(
                "must have at most {PATTERNS_MAX} patterns and {PATTERNS_MAX_CHARS} characters together with `includePaths`"
            );
            return Err(bad_request(&[problem("excludePaths", None, message)]));
        }
        let exclude = compile_list("excludePaths", exclude, &mut problems);
        let include = compile_list("includePaths", include, &mut problems);
        if problems.is_empty() {
            Ok(Self { exclude, include })
        } else {
            Err(bad_request(&problems))
        }
    }

    /// Applies `excludePaths`, then `includePaths`, to the first 8192 characters.
    pub(super) fn judge(&self, text: &str) -> PatternMatch {
        let text = match text.char_indices().nth(PATTERN_TEXT_MAX_CHARS) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        let matches = |list: &Option<PatternList>, empty| match list {
            Some(list) => list.is_match(text),
            None => Some(empty),
        };
        match matches(&self.exclude, false) {
            Some(true) => PatternMatch::Excluded,
            Some(false) => match matches(&self.include, true) {
                Some(true) => PatternMatch::Passes,
                Some(false) => PatternMatch::NotIncluded,
                None => PatternMatch::TooCostly,
            },
            None => PatternMatch::TooCostly,
        }
    }
}

fn compile_list(name: &str, list: &[String], problems: &mut Vec<Problem>) -> Option<PatternList> {
    let before = problems.len();
    let mut compiled = Vec::with_capacity(list.len());
    // Forms send an empty line as an empty pattern, which would match everything.
    let given = list
        .iter()
        .enumerate()
        .filter(|(_, pattern)| !pattern.trim().is_empty());
    for (i, pattern) in given {
        if problems.len() >= PATTERN_PROBLEMS_MAX {
            break;
        }
        if pattern.chars().count() > PATTERN_MAX_CHARS {
            let message = format!("must have at most {PATTERN_MAX_CHARS} characters");
            problems.push(problem(name, Some(i), message));
            continue;
        }
        match as_ascii(pattern) {
            Ok(pattern) => compiled.push(pattern),
            Err(error) => problems.push(problem(name, Some(i), sentence(&error))),
        }
    }
    if problems.len() > before || compiled.is_empty() {
        return None;
    }
    let list = PatternList::compile(&compiled);
    if list.is_none() {
        problems.push(problem(name, None, TOO_LARGE.to_owned()));
    }
    list
}

/// Returns the pattern without Unicode mode if it compiles that way, else unchanged.
///
/// # Errors
/// If the pattern does not compile either way.
fn as_ascii(pattern: &str) -> Result<String, regex::Error> {
    let ascii = format!("(?-u){pattern}");
    match build(&ascii) {
        Ok(_) => Ok(ascii),
        Err(_) => build(pattern).map(|_| pattern.to_owned()),
    }
}

fn build(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .size_limit(PATTERN_COMPILED_MAX_BYTES)
        .dfa_size_limit(PATTERN_COMPILED_MAX_BYTES)
        .build()
}

fn sentence(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => TOO_LARGE.to_owned(),
        // Only the last line is the message; the lines before it show the pattern.
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!(
                "is not a regular expression: {}",
                last.trim_start_matches("error: ")
            )
        }
    }
}

fn problem(list: &str, at: Option<usize>, message: String) -> Problem {
    let mut path = vec![PathPart::Key(list.to_owned())];
    path.extend(at.map(PathPart::Index));
    Problem { path, message }
}
