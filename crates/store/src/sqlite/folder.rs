//! The data folder: its lock file, and the marker file that shows whether the last server stopped cleanly.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::config::DATABASE_FILE;
use crate::error::StoreError;

const LOCK: &str = "harvestman.lock";
const RUNNING: &str = "harvestman.running";

/// A data folder, locked by this process until dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The operating system releases the lock when the file is closed, also after `kill -9`.
    _lock: File,
    after_crash: bool,
    /// The files of the open database.
    files: Vec<(PathBuf, FileId)>,
}

/// Identifies a file whatever its name; unknown on systems where an open file cannot be removed.
type FileId = Option<(u64, u64)>;

fn file_id(path: &Path) -> FileId {
    #[cfg(unix)]
    return std::fs::metadata(path).ok().map(|metadata| {
        use std::os::unix::fs::MetadataExt;
        (metadata.dev(), metadata.ino())
    });
    #[cfg(not(unix))]
    None
}

impl Folder {
    /// Creates the folder when missing, readable by its owner only, and locks it.
    pub(crate) fn lock(path: &Path) -> Result<Self, StoreError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let unusable = |action: &str, path: &Path, error: io::Error| {
            StoreError::Setup(format!(
                "cannot {action} {}: {error}; name a folder that this server may write with --data-dir or \
                 HARVESTMAN_DATA_DIR",
                path.display()
            ))
        };
        builder
            .create(path)
            .map_err(|error| unusable("create the data folder", path, error))?;
        let lock_path = path.join(LOCK);
        let opening = |error| unusable("open", &lock_path, error);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(opening)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(opening(error)),
        }
        let after_crash = path.join(RUNNING).exists();
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
            after_crash,
            files: Vec::new(),
        })
    }

    /// Creates the database file when missing, and makes it and the files next to it readable by their owner only.
    /// SQLite gives new files the mode of the database.
    pub(crate) fn make_private(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::io("cannot make the data folder private", &error);
        File::options()
            .create(true)
            .append(true)
            .open(self.database())
            .map_err(failed)?;
        #[cfg(unix)]
        for entry in std::fs::read_dir(&self.path).map_err(failed)? {
            use std::os::unix::fs::PermissionsExt;
            let entry = entry.map_err(failed)?;
            let metadata = entry.metadata().map_err(failed)?;
            let is_ours = entry.file_name().to_string_lossy().starts_with("harvestman.");
            if is_ours
                && metadata.is_file()
                && metadata.permissions().mode() & 0o077 != 0
                && let Err(error) = std::fs::set_permissions(entry.path(), PermissionsExt::from_mode(0o600))
            {
                tracing::warn!(path = %entry.path().display(), %error, "other users can read this file");
            }
        }
        Ok(())
    }

    /// Returns the path of the database file.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE_FILE)
    }

    /// Returns the path of the write-ahead log.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join(format!("{DATABASE_FILE}-wal"))
    }

    /// Records which files the open database has.
    pub(crate) fn record_files(&mut self) {
        self.files = [self.database(), self.log()]
            .map(|path| (path.clone(), file_id(&path)))
            .into();
    }

    /// Checks that the database still has these files. What is written to a removed file is lost when the server stops.
    pub(crate) fn check_files(&self) -> Result<(), StoreError> {
        match self.files.iter().find(|(path, id)| file_id(path) != *id) {
            None => Ok(()),
            Some((path, _)) => Err(StoreError::Transient(format!(
                "{} was removed or replaced while this server uses it: put it back, or stop the server",
                path.display()
            ))),
        }
    }

    /// Returns whether the last server on this folder did not stop cleanly.
    pub(crate) fn after_crash(&self) -> bool {
        self.after_crash
    }

    /// Creates the marker of a running server.
    pub(crate) fn mark_running(&self) -> Result<(), StoreError> {
        let path = self.path.join(RUNNING);
        File::create(&path)
            .and_then(|file| file.sync_all())
            .map_err(|error| StoreError::io(&format!("cannot write {}", path.display()), &error))
    }

    /// Removes the marker of a running server, and unlocks the folder.
    pub(crate) fn mark_stopped(self) -> Result<(), StoreError> {
        let path = self.path.join(RUNNING);
        std::fs::remove_file(&path)
            .map_err(|error| StoreError::io(&format!("cannot remove {}", path.display()), &error))
    }
}

/// Creates an empty file that no other user can read at any time, in place of an old one.
///
/// # Errors
/// If the old file cannot be removed, or the new one cannot be created.
pub fn create_private(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_used_is_named_with_what_to_do() {
        let file = std::env::temp_dir().join(format!("harvestman-folder-{}", std::process::id()));
        std::fs::write(&file, "not a folder").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = Folder::lock(&path).unwrap_err();
            assert!(matches!(error, StoreError::Setup(_)), "{error:?}");
            let text = error.to_string();
            assert!(
                text.contains(&path.display().to_string()) && text.contains("--data-dir"),
                "{text}"
            );
        }
        std::fs::remove_file(&file).unwrap();
    }
}
