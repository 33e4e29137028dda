//! The folder that a browser writes downloads to, read through a descriptor: inside a sandbox it is in a file system
//! that this process does not see. The browser is not trusted: links are not followed, and only plain files are read.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use bytes::Bytes;
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};

/// A folder of downloads.
#[derive(Debug)]
pub(crate) struct DownloadFolder {
    directory: OwnedFd,
    path: String,
}

impl DownloadFolder {
    /// Wraps an open folder; `path` is its path as the browser sees it.
    pub(crate) fn new(directory: OwnedFd, path: &str) -> DownloadFolder {
        DownloadFolder {
            directory,
            path: path.to_owned(),
        }
    }

    /// Creates the folder at a path that browser and server share.
    pub(crate) fn create(path: &Path) -> io::Result<DownloadFolder> {
        std::fs::create_dir_all(path)?;
        let path = std::path::absolute(path)?;
        let directory = File::open(&path)?;
        Ok(Self::new(directory.into(), &path.display().to_string()))
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Reads and removes a file of at most `most` bytes.
    ///
    /// # Errors
    /// Why there is no content, for the caller.
    pub(crate) fn take(&self, name: &str, most: u64) -> Result<Bytes, String> {
        let content = self.read(name, most);
        self.remove(name);
        content.map_err(|error| format!("the browser did not keep the file: {error}"))
    }

    fn read(&self, name: &str, most: u64) -> io::Result<Bytes> {
        if !is_plain_name(name) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.directory, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a plain file"));
        }
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > most {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(bytes.into()),
        }
    }

    /// Removes a file, if there is one.
    pub(crate) fn remove(&self, name: &str) {
        if is_plain_name(name) {
            // A cancelled download leaves no file.
            let _ignored = unlinkat(&self.directory, name, AtFlags::empty());
        }
    }
}

/// Returns whether this is a name that the browser gives to a download: a GUID.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_within_the_limit_are_read() {
        let path = std::env::temp_dir().join(format!("harvestman-downloads-{}", std::process::id()));
        let folder = DownloadFolder::create(&path).unwrap();
        std::fs::write(path.join("a-1"), "heron").unwrap();
        std::fs::write(path.join("b-2"), "heron").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", path.join("c-3")).unwrap();
        std::fs::create_dir(path.join("d-4")).unwrap();
        assert_eq!(folder.take("a-1", 5).unwrap(), "heron");
        for (name, most) in [
            ("a-1", 5),
            ("b-2", 4),
            ("c-3", 5_000),
            ("d-4", 5),
            ("../b-2", 5),
            ("", 5),
        ] {
            assert!(folder.take(name, most).is_err(), "{name}");
        }
        assert!(!path.join("b-2").exists() && !path.join("c-3").exists());
        std::fs::remove_dir_all(path).unwrap();
    }
}
