//! Files of packages, and the archive for a machine without a package manager.

use std::{
    borrow::Cow,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use flate2::write::GzEncoder;

use super::{Effort, PROGRAM, Release};

/// File in a package.
pub(super) struct Entry<'a> {
    pub(super) path: String,
    pub(super) is_program: bool,
    pub(super) bytes: Cow<'a, [u8]>,
}

impl<'a> Entry<'a> {
    pub(super) fn text(path: impl Into<String>, text: String) -> Entry<'a> {
        Entry {
            path: path.into(),
            is_program: false,
            bytes: Cow::Owned(text.into_bytes()),
        }
    }

    /// Reads a file of this machine.
    pub(super) fn file(path: impl Into<String>, file: &Path) -> Result<Entry<'a>> {
        Ok(Entry {
            path: path.into(),
            is_program: false,
            bytes: Cow::Owned(fs::read(file).with_context(|| file.display().to_string())?),
        })
    }

    pub(super) fn program(path: impl Into<String>, bytes: &'a [u8]) -> Entry<'a> {
        Entry {
            path: path.into(),
            is_program: true,
            bytes: Cow::Borrowed(bytes),
        }
    }

    /// Returns the same file at another path.
    pub(super) fn at(&self, path: String) -> Entry<'_> {
        Entry {
            path,
            is_program: self.is_program,
            bytes: Cow::Borrowed(&self.bytes),
        }
    }

    /// Returns the permission bits.
    pub(super) fn mode(&self) -> u32 {
        match self.is_program {
            true => 0o755,
            false => 0o644,
        }
    }
}

/// Writes the archive: program, texts, shell completions and man pages in one folder.
pub(super) fn write(release: &Release<'_>, manual: &[Entry<'_>], folder: &Path) -> Result<PathBuf> {
    let name = format!("{PROGRAM}-{}-{}", release.version, release.platform.triple);
    let mut entries = vec![Entry::program(format!("{name}/{PROGRAM}"), &release.binary)];
    entries.extend(release.texts_in(&format!("{name}/")));
    entries.extend(
        manual
            .iter()
            .map(|entry| entry.at(format!("{name}/{}", entry.path))),
    );
    let bytes = tar_gz(&entries, release.effort, release.time)?;
    // Without the version, so that the URL of the latest release stays the same.
    let file = format!("{PROGRAM}-{}.tar.gz", release.platform.triple);
    release.write(&folder.join(file), &bytes)
}

/// Returns a compressed tar archive of files that belong to root.
pub(super) fn tar_gz(entries: &[Entry<'_>], effort: Effort, time: u64) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), effort.gzip()));
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(entry.mode());
        header.set_mtime(time);
        archive
            .append_data(&mut header, &entry.path, &*entry.bytes)
            .with_context(|| entry.path.clone())?;
    }
    Ok(archive.into_inner()?.finish()?)
}
