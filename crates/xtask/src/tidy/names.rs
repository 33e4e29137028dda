//! Rules for names and sizes of files.

use std::path::{Path, PathBuf};

use crate::source::Source;

/// Longest file; a longer one probably has two topics.
const MAX_LINES: usize = 600;
/// Names that do not describe the contents.
const EMPTY_NAMES: &[&str] = &["common", "helpers", "manager", "misc", "util", "utils"];

pub(super) fn problems(files: &[PathBuf], sources: &[Source]) -> Vec<String> {
    let long = sources.iter().filter(|source| source.lines > MAX_LINES);
    let long = long.map(|source| {
        format!(
            "{}: {} lines; the limit is {MAX_LINES}",
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
            "{}: use `foo.rs` next to `foo/` instead of mod.rs",
            file.display()
        ));
    }
    let mut parts = file
        .iter()
        .filter_map(|part| Path::new(part).file_stem()?.to_str());
    let empty = parts.find(|part| EMPTY_NAMES.contains(part))?;
    Some(format!(
        "{}: the name `{empty}` does not describe the contents",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vague_names_of_files_and_folders_are_found() {
        let problem = |path: &str| name_problem(Path::new(path)).is_some();
        assert!(problem("crates/core/src/utils.rs"));
        assert!(problem("web/src/common/button.rs"));
        assert!(problem("crates/core/src/api/mod.rs"));
        assert!(!problem("crates/core/src/api/model.rs"));
        assert!(!problem("tests/src/misconduct.rs"));
    }
}
