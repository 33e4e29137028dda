//! Reads the project's Rust source for structure rules, without comments, contents of literals, and unit tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{project::Project, run};

/// Rust file of the project.
pub(crate) struct Source {
    /// Path from the root of the clone.
    pub(crate) path: PathBuf,
    pub(crate) lines: usize,
    /// Code with blank comments and literals, without the unit tests at its end.
    pub(crate) code: String,
}

/// Returns all files of the project: tracked by git, or new and not ignored.
pub(crate) fn files(project: &Project) -> Result<Vec<PathBuf>> {
    let mut git = run::command("git");
    git.current_dir(project.root())
        .args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let list = run::output(&mut git)?;
    Ok(list
        .lines()
        .map(PathBuf::from)
        .filter(|file| project.root().join(file).is_file())
        .collect())
}

/// Reads all Rust files of the project.
pub(crate) fn rust(project: &Project) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for path in files(project)?
        .into_iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "rs"))
    {
        let text =
            fs::read_to_string(project.root().join(&path)).with_context(|| path.display().to_string())?;
        let code = blank(&text);
        let tests = ["#[cfg(test)]\nmod ", "#[cfg(all(test,"].map(|start| code.find(start));
        let end = tests.into_iter().flatten().min().unwrap_or(code.len());
        found.push(Source {
            lines: text.lines().count(),
            code: code[..end].to_owned(),
            path,
        });
    }
    Ok(found)
}

impl Source {
    /// Creates a file of one line.
    #[cfg(test)]
    pub(crate) fn of(path: &str, code: &str) -> Source {
        Source {
            path: path.into(),
            lines: 1,
            code: code.to_owned(),
        }
    }

    /// Returns whether the file is in this folder of the clone.
    pub(crate) fn is_under(&self, folder: &str) -> bool {
        self.path.starts_with(Path::new(folder))
    }

    /// Returns whether the file is part of an integration test.
    pub(crate) fn is_test(&self) -> bool {
        self.path.iter().any(|part| part == "tests")
    }

    /// Returns the numbers of the lines that contain `words` as whole words.
    pub(crate) fn lines_with(&self, words: &str) -> Vec<usize> {
        let lines = self.code.lines().enumerate();
        lines
            .filter(|(_, line)| contains_words(line, words))
            .map(|(index, _)| index + 1)
            .collect()
    }
}

fn contains_words(line: &str, words: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(words).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + words.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Replaces comments and contents of literals with spaces; line breaks stay.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { c } else { ' ' }));
            at = end;
        }
    }
    out
}

/// Returns the end of the comment or literal that starts at `at`, or `at` if none does.
fn literal_end(chars: &[char], at: usize) -> usize {
    let after_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    let next = |offset: usize| chars.get(at + offset).copied();
    match chars[at] {
        '/' if next(1) == Some('/') => position(chars, at, |i| chars[i] == '\n'),
        '/' if next(1) == Some('*') => block_comment_end(chars, at),
        '"' => text_end(chars, at + 1),
        'r' if !after_word => raw_text_end(chars, at + 1).unwrap_or(at),
        'b' if !after_word && next(1) == Some('r') => raw_text_end(chars, at + 2).unwrap_or(at),
        // A lifetime has no closing quote one character (or escape) later.
        '\'' if next(1) == Some('\\') => position(chars, at + 3, |i| chars[i] == '\'') + 1,
        '\'' if next(2) == Some('\'') => at + 3,
        _ => at,
    }
    .min(chars.len())
}

fn position(chars: &[char], from: usize, found: impl Fn(usize) -> bool) -> usize {
    (from..chars.len())
        .find(|&index| found(index))
        .unwrap_or(chars.len())
}

fn block_comment_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut index = at;
    while index + 1 < chars.len() {
        match (chars[index], chars[index + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                index += 1;
                continue;
            }
        }
        index += 2;
        if depth == 0 {
            return index;
        }
    }
    chars.len()
}

fn text_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the end of a raw string. `at` is after the `r`: any number of `#`, a quote, and everything up to a quote
/// with as many `#`.
fn raw_text_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
    let start = at + hashes;
    if chars.get(start) != Some(&'"') {
        return None;
    }
    let closes = |index: usize| {
        chars[index] == '"'
            && chars[index + 1..]
                .iter()
                .take(hashes)
                .filter(|&&c| c == '#')
                .count()
                == hashes
    };
    Some(position(chars, start + 1, closes) + 1 + hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(
            blank(text).split_whitespace().collect::<Vec<_>>().join(" "),
            expected,
            "{text}"
        );
    }

    #[test]
    fn comments_and_literals_are_blank_and_code_stays() {
        check("a(); // std::fs\nb();", "a(); b();");
        check("a /* x /* y */ z */ b", "a b");
        check(r#"f("std::fs \" tokio", g)"#, "f( , g)");
        check(r##"f(r#"a " b"#, g)"##, "f( , g)");
        check("f('\"', 'x', '\\'', g)", "f( , , , g)");
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check("for x in y { bar }", "for x in y { bar }");
    }

    #[test]
    fn only_whole_words_match() {
        assert!(contains_words("use std::fs;", "std::fs"));
        assert!(!contains_words("use std::fs_extra;", "std::fs"));
        assert!(!contains_words("let notokio = 1;", "tokio"));
    }
}
