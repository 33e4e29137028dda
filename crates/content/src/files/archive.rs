//! Zip archives of documents. Entries are unpacked one by one, against a budget of bytes.

use std::collections::HashMap;
use std::io::{Cursor, Read, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::FileError;
use crate::limits;

/// An archive with a budget of unpacked bytes.
#[derive(Debug)]
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
}

impl<'a> Archive<'a> {
    /// Opens an archive.
    ///
    /// # Errors
    ///
    /// Fails for bytes that are not an archive, and for archives with too many entries.
    pub(super) fn open(body: &'a [u8]) -> Result<Self, FileError> {
        let zip = ZipArchive::new(Cursor::new(body)).map_err(|error| failure(&error))?;
        if zip.len() > limits::ARCHIVE_ENTRIES {
            let what = format!("its archive has more than {} entries", limits::ARCHIVE_ENTRIES);
            return Err(FileError::TooLarge(what));
        }
        Ok(Archive {
            zip,
            left: limits::ARCHIVE_BYTES,
        })
    }

    /// Returns an entry as text; `None` when there is no such entry.
    ///
    /// # Errors
    ///
    /// Fails for damaged, encrypted and too large entries.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, FileError> {
        Ok(self.bytes(name)?.map(|bytes| text(&bytes)))
    }

    fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        let entry = match self.zip.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(failure(&error)),
        };
        let stored = entry.compressed_size();
        let most = self.left.min(
            stored
                .saturating_mul(limits::ARCHIVE_RATIO)
                .saturating_add(limits::SLACK_BYTES as u64),
        );
        let mut bytes = Vec::new();
        entry
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| FileError::Damaged(error.to_string()))?;
        let size = bytes.len() as u64;
        if size > most {
            return Err(FileError::TooLarge(format!(
                "its archive unpacks to more than {most} bytes"
            )));
        }
        self.left -= size;
        Ok(Some(bytes))
    }

    /// Returns a copy of the archive with other texts of XML entries; `None` when none changes, or it is damaged.
    pub(super) fn changed_texts(self, mut change: impl FnMut(&str) -> Option<String>) -> Option<Vec<u8>> {
        let change = |bytes: &[u8]| change(&text(bytes)).map(String::into_bytes);
        self.changed(|name| name.ends_with(".xml"), change)
    }

    /// Returns a copy of the archive with other contents of some entries; `None` when none changes, or it is damaged.
    pub(super) fn changed(
        mut self,
        is_changed: impl Fn(&str) -> bool,
        mut change: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let names = self.zip.file_names().map(|name| Ok(name?.into_owned()));
        let names = names.collect::<Result<Vec<String>, ZipError>>().ok()?;
        let mut contents = HashMap::new();
        for name in names.into_iter().filter(|name| is_changed(name)) {
            let bytes = self.bytes(&name).ok().flatten();
            if let Some(content) = bytes.and_then(|bytes| change(&bytes)) {
                contents.insert(name, content);
            }
        }
        if contents.is_empty() {
            return None;
        }
        let mut copy = ZipWriter::new(Cursor::new(Vec::new()));
        for index in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(index).ok()?;
            match contents.remove_entry(&*entry.name().ok()?) {
                Some((name, content)) => {
                    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
                    copy.start_file(name, options).ok()?;
                    copy.write_all(&content).ok()?;
                }
                None => copy.raw_copy_file(entry).ok()?,
            }
        }
        Some(copy.finish().ok()?.into_inner())
    }

    /// Returns an entry as [`Archive::text`] does; fails when it does not exist.
    pub(super) fn required(&mut self, name: &str) -> Result<String, FileError> {
        self.text(name)?
            .ok_or_else(|| FileError::Damaged(format!("`{name}` is missing in its archive")))
    }
}

fn text(xml: &[u8]) -> String {
    crate::decode(xml, Some("application/xml")).text.into_owned()
}

fn failure(error: &ZipError) -> FileError {
    match error {
        ZipError::UnsupportedArchive(what) if what.to_ascii_lowercase().contains("password") => {
            FileError::Encrypted
        }
        error => FileError::Damaged(error.to_string()),
    }
}
