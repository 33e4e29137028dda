//! Rejects circles of imports between the files of a crate: to change one file of a circle, you must understand all of
//! them. A file may use the file above it (`foo/bar.rs` may use `foo.rs`, which uses it): together they are one module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::source::Source;

/// Circles that may stay, each with the reason.
const KNOWN: &[Circle] = &[
    Circle {
        folder: "crates/server/src",
        files: "app auth",
        reason: "the application state authenticates, with the state",
    },
    Circle {
        folder: "web/src",
        files: "components/action_list components/field components/field_group components/schema_editor",
        reason: "fields of a form are nested",
    },
];

struct Circle {
    /// Folder of the crate's source.
    folder: &'static str,
    /// Files without their extension, separated by spaces.
    files: &'static str,
    /// Why the circle is there.
    reason: &'static str,
}

pub(super) fn problems(sources: &[Source]) -> Vec<String> {
    problems_except(KNOWN, sources)
}

fn problems_except(known: &[Circle], sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for source in sources {
        if let Some((folder, file)) = location(&source.path) {
            crates.entry(folder).or_default().insert(file, &source.code);
        }
    }
    let mut found = Vec::new();
    let mut is_present = vec![false; known.len()];
    for (folder, files) in &crates {
        for circle in circles(files) {
            let is_listed = |one: &Circle| {
                one.folder == *folder
                    && circle
                        .iter()
                        .all(|file| one.files.split(' ').any(|one| one == *file))
            };
            match known.iter().position(is_listed) {
                Some(index) => is_present[index] = true,
                None => found.push(format!(
                    "{folder}: {} import each other in a circle; move what they share into a file of its own",
                    circle.join(", ")
                )),
            }
        }
    }
    let gone = known.iter().zip(is_present).filter(|(_, is_present)| !is_present);
    found.extend(gone.map(|(circle, _)| {
        format!(
            "{}: the circle of {} ({}) is gone; remove it from the list in xtask tidy",
            circle.folder, circle.files, circle.reason
        )
    }));
    found
}

/// Returns the source folder of the file's crate, and the file in it without its extension; empty for the root of a
/// library. `None` for tests and further programs.
fn location(path: &Path) -> Option<(&str, &str)> {
    let path = path.to_str()?.strip_suffix(".rs")?;
    let (folder, file) = path.split_at(path.find("/src/")? + "/src/".len());
    if file.starts_with("bin/") || file.rsplit('/').next() == Some("tests") {
        return None;
    }
    Some((
        folder.trim_end_matches('/'),
        if file == "lib" { "" } else { file },
    ))
}

/// Returns the circles of a crate.
fn circles<'s>(files: &BTreeMap<&'s str, &str>) -> BTreeSet<Vec<&'s str>> {
    let arrows: BTreeMap<&str, BTreeSet<&'s str>> = files
        .iter()
        .map(|(file, code)| (*file, imports(files, file, code)))
        .collect();
    let reached: BTreeMap<&str, BTreeSet<&'s str>> =
        files.keys().map(|file| (*file, reach(&arrows, file))).collect();
    let circle = |file: &&str| -> Vec<&'s str> {
        let others = reached[*file].iter().copied();
        others.filter(|other| reached[other].contains(*file)).collect()
    };
    let found = files.keys().map(circle);
    found.filter(|circle| !circle.is_empty()).collect()
}

/// Returns the files that `from` imports, directly or indirectly.
fn reach<'s>(arrows: &BTreeMap<&str, BTreeSet<&'s str>>, from: &str) -> BTreeSet<&'s str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in &arrows[file] {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

/// Returns the files that the code of `file` names, except those above it.
fn imports<'s>(files: &BTreeMap<&'s str, &str>, file: &str, code: &str) -> BTreeSet<&'s str> {
    let is_above = |other: &str| {
        let below = file.strip_prefix(other);
        below.is_some_and(|below| other.is_empty() || below.is_empty() || below.starts_with('/'))
    };
    let named = paths(code)
        .into_iter()
        .filter_map(|path| named_file(files, file, &path));
    named.filter(|other| !is_above(other)).collect()
}

/// Returns the file of the module that a path in `file` starts with.
fn named_file<'s>(files: &BTreeMap<&'s str, &str>, file: &str, path: &[&str]) -> Option<&'s str> {
    let mut base = file;
    let mut rest = path;
    match path[0] {
        "crate" => (base, rest) = ("", &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while let Some((&"super", after)) = rest.split_first() {
                base = base.rsplit_once('/').map_or("", |(above, _)| above);
                rest = after;
            }
        }
        child => {
            files.get(join(file, child).as_str())?;
        }
    }
    let mut target = base.to_owned();
    for segment in rest {
        let next = join(&target, segment);
        if !files.contains_key(next.as_str()) {
            break;
        }
        target = next;
    }
    files.get_key_value(target.as_str()).map(|(file, _)| *file)
}

fn join(above: &str, name: &str) -> String {
    format!("{above}/{name}").trim_start_matches('/').to_owned()
}

/// Returns the paths in the code, groups in braces as one path each.
fn paths(code: &str) -> Vec<Vec<&str>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = match tokens.get(at + 1) {
            Some(&"::") if is_word(tokens[at]) => read_path(&tokens, at, &[], &mut found),
            _ => at + 1,
        };
    }
    found
}

/// Reads the path at `at` below a prefix. Returns the index after it.
fn read_path<'c>(
    tokens: &[&'c str],
    mut at: usize,
    prefix: &[&'c str],
    found: &mut Vec<Vec<&'c str>>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        if *token == "{" {
            at += 1;
            while tokens.get(at).is_some_and(|token| *token != "}") {
                at = match tokens[at] {
                    token if is_word(token) && token != "as" => read_path(tokens, at, &path, found),
                    _ => at + 1,
                };
            }
            return at + 1;
        }
        if !is_word(token) {
            break;
        }
        path.push(token);
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    found.push(path);
    at
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits code into words, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            word => word,
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_through_groups_and_qualified_paths() {
        let found = problems_except(
            &[],
            &[
                Source::of("crates/a/src/lib.rs", "mod one; mod two; pub use one::One;"),
                Source::of(
                    "crates/a/src/one.rs",
                    "use crate::{three, two::{self, Two as Second}};",
                ),
                Source::of("crates/a/src/two.rs", "fn f() { super::three::Three::new() }"),
                Source::of("crates/a/src/three.rs", "mod part; fn f() { part::f() }"),
                Source::of("crates/a/src/three/part.rs", "use crate::one::One;"),
                Source::of("crates/b/src/one.rs", "use crate::two;"),
            ],
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("crates/a/src: one, three, three/part, two import each other"),
            "{found:?}"
        );
    }

    #[test]
    fn a_file_may_use_the_files_above_it() {
        let sources = [
            Source::of("crates/a/src/lib.rs", "mod one;"),
            Source::of("crates/a/src/one.rs", "mod part; use part::Part;"),
            Source::of("crates/a/src/one/part.rs", "use super::One; use crate::Root;"),
        ];
        assert_eq!(problems_except(&[], &sources), Vec::<String>::new());
    }

    #[test]
    fn a_listed_circle_may_shrink_and_leaves_the_list_when_it_is_gone() {
        let known = [Circle {
            folder: "crates/a/src",
            files: "one two three",
            reason: "historical",
        }];
        let two = Source::of("crates/a/src/two.rs", "use crate::one;");
        let circle = [Source::of("crates/a/src/one.rs", "use crate::two;"), two];
        assert_eq!(problems_except(&known, &circle), Vec::<String>::new());
        let found = problems_except(&known, &circle[1..]);
        assert!(found.len() == 1 && found[0].contains("is gone"), "{found:?}");
        let larger = [
            Source::of("crates/a/src/one.rs", "use crate::four;"),
            Source::of("crates/a/src/four.rs", "use crate::one;"),
        ];
        assert_eq!(problems_except(&known, &larger).len(), 2);
    }
}
