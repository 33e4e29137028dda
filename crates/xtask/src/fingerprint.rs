//! A short hash over files and words, to tell whether a finished step is still good. Never a security measure.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Collects what a step depends on.
#[derive(Default)]
pub(crate) struct Fingerprint(DefaultHasher);

impl Fingerprint {
    /// A setting or version that the step depends on.
    pub(crate) fn word(mut self, word: &str) -> Fingerprint {
        word.hash(&mut self.0);
        self
    }

    /// A file, or all files under a folder, with names and contents; one that does not exist counts as such.
    pub(crate) fn tree(mut self, path: &Path) -> Result<Fingerprint> {
        for file in files_under(path)? {
            file.strip_prefix(path).unwrap_or(&file).hash(&mut self.0);
            fs::read(&file)
                .with_context(|| file.display().to_string())?
                .hash(&mut self.0);
        }
        Ok(self)
    }

    /// The hash in hex.
    pub(crate) fn finish(self) -> String {
        format!("{:016x}", self.0.finish())
    }
}

/// All files under `path` (itself, if it is one), sorted; nothing if it does not exist.
pub(crate) fn files_under(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![path.to_path_buf()];
    while let Some(next) = open.pop() {
        if next.is_file() {
            found.push(next);
        } else if next.is_dir() {
            for entry in fs::read_dir(&next).with_context(|| next.display().to_string())? {
                open.push(entry?.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
