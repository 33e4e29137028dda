//! Hash over files and strings that shows whether a finished build step is still up to date. Not for security.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Hash of the inputs of a step.
#[derive(Default)]
pub(crate) struct Fingerprint(DefaultHasher);

impl Fingerprint {
    /// Adds a setting or version that the step depends on.
    pub(crate) fn word(mut self, word: &str) -> Fingerprint {
        word.hash(&mut self.0);
        self
    }

    /// Adds a file, or all files under a folder, with names and contents. A missing path adds nothing.
    pub(crate) fn tree(mut self, path: &Path) -> Result<Fingerprint> {
        for file in files_under(path)? {
            file.strip_prefix(path).unwrap_or(&file).hash(&mut self.0);
            fs::read(&file)
                .with_context(|| file.display().to_string())?
                .hash(&mut self.0);
        }
        Ok(self)
    }

    /// Returns the hash in hexadecimal.
    pub(crate) fn finish(self) -> String {
        format!("{:016x}", self.0.finish())
    }
}

/// Shows whether a finished build step is still up to date. Its output counts as well as its inputs, because other builds,
/// such as `trunk serve`, write to the same folder.
pub(crate) struct Stamp<'a> {
    /// File with the fingerprint of the last build.
    pub(crate) file: PathBuf,
    /// Folder that the step writes.
    pub(crate) output: PathBuf,
    /// Files and folders that the step reads, below `base`.
    pub(crate) inputs: &'a [&'a str],
    pub(crate) base: &'a Path,
}

impl Stamp<'_> {
    pub(crate) fn is_current(&self) -> bool {
        fs::read_to_string(&self.file)
            .is_ok_and(|recorded| self.fingerprint().is_ok_and(|now| now == recorded))
    }

    /// Records that the step is up to date now.
    pub(crate) fn record(&self) -> Result<()> {
        fs::write(&self.file, self.fingerprint()?).with_context(|| self.file.display().to_string())
    }

    fn fingerprint(&self) -> Result<String> {
        let mut print = Fingerprint::default().tree(&self.output)?;
        for input in self.inputs {
            print = print.word(input).tree(&self.base.join(input))?;
        }
        Ok(print.finish())
    }
}

/// Returns all files under `path` (or `path` itself if it is a file), sorted; none if it does not exist.
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
