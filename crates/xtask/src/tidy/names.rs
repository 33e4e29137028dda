//! Names and sizes of files.

use std::path::{Path, PathBuf};

use crate::source::Source;

/// Beyond this, two ideas share the file.
const MAX_LINES: usize = 600;
/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helpers", "manager", "misc", "util", "utils"];

pub(super) fn problems(files: &[PathBuf], sources: &[Source]) -> Vec<String> {
    let long = sources.iter().filter(|source| source.lines > MAX_LINES);
    let long = long.map(|source| {
        format!(
            "{}: {} lines, at most {MAX_LINES} are one idea",
            source.path.display(),
            source.lines
        )
    });
    files
        .iter()
        .filter_map(|file| name_problem(file))
        .chain(long)
        .collect()
}

fn name_problem(file: &Path) -> Option<String> {
    if file.file_name()? == "mod.rs" {
        return Some(format!(
            "{}: `foo.rs` beside `foo/`, never mod.rs",
            file.display()
        ));
    }
    let mut parts = file
        .iter()
        .filter_map(|part| Path::new(part).file_stem()?.to_str());
    let empty = parts.find(|part| EMPTY_NAMES.contains(part))?;
    Some(format!(
        "{}: `{empty}` does not say what is inside",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_meaning_are_found_in_files_and_folders() {
        let problem = |path: &str| name_problem(Path::new(path)).is_some();
        assert!(problem("crates/core/src/utils.rs"));
        assert!(problem("web/src/common/button.rs"));
        assert!(problem("crates/core/src/api/mod.rs"));
        assert!(!problem("crates/core/src/api/model.rs"));
        assert!(!problem("tests/src/misconduct.rs"));
    }
}
