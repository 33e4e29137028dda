//! Writes a ZIP archive of text files (APPNOTE 4.3) that were compressed elsewhere. File names are sanitized for every
//! operating system.

use std::collections::HashSet;

use harvestman_core::time::Timestamp;

use crate::display;

/// Maximum number of entries without the ZIP64 extension.
const MAX_ENTRIES: usize = 65_535;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Version 2.0 of the format is needed to extract.
const VERSION: u16 = 20;
/// Flag: names are UTF-8.
const UTF8: u16 = 1 << 11;
/// 1980-01-01, the earliest date of the format.
const FIRST_DAY: u16 = 0x21;
/// Methods of compression.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Extra field with the time of the last change in seconds since 1970 (Info-ZIP): the dates of the format itself have
/// no time zone.
const TIME_FIELD: u16 = 0x5455;
/// Length of that field with its header.
const TIME_FIELD_BYTES: u16 = 9;
/// Longest segment of a name, characters.
const NAME_CHARS: usize = 60;

/// A file to add.
#[derive(Clone, Copy)]
pub struct ZipFile<'a> {
    /// Its text.
    pub text: &'a str,
    /// The text as raw deflate data; without it the text is stored uncompressed.
    pub deflated: Option<&'a [u8]>,
    /// When it was last changed.
    pub modified: Timestamp,
}

/// An archive under construction.
#[derive(Default)]
pub struct Zip {
    bytes: Vec<u8>,
    central: Vec<u8>,
    names: HashSet<String>,
    /// Bytes returned by `take` so far.
    taken_bytes: usize,
}

impl Zip {
    /// Adds a file under a sanitized, unique form of `name` and returns that form, or `None` if the archive is full.
    pub fn add(&mut self, name: &str, file: ZipFile<'_>) -> Option<String> {
        let offset = u32::try_from(self.taken_bytes + self.bytes.len()).ok()?;
        let data = file.deflated.unwrap_or(file.text.as_bytes());
        u32::try_from(data.len().max(file.text.len())).ok()?;
        if self.names.len() == MAX_ENTRIES {
            return None;
        }
        let name = self.unique_name(name);
        let shared_header = shared_header(&name, &file, data.len());
        let time_field = time_field(file.modified);
        push(&mut self.bytes, &LOCAL.to_le_bytes());
        push(&mut self.bytes, &shared_header);
        push(&mut self.bytes, name.as_bytes());
        push(&mut self.bytes, &time_field);
        push(&mut self.bytes, data);
        push(&mut self.central, &CENTRAL.to_le_bytes());
        push(&mut self.central, &VERSION.to_le_bytes());
        push(&mut self.central, &shared_header);
        // No comment, first disk, no attributes.
        push(&mut self.central, &[0; 10]);
        push(&mut self.central, &offset.to_le_bytes());
        push(&mut self.central, name.as_bytes());
        push(&mut self.central, &time_field);
        Some(name)
    }

    /// Returns the bytes written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.taken_bytes += self.bytes.len();
        std::mem::take(&mut self.bytes)
    }

    /// Returns the rest of the archive, or `None` if it is too large for the format.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        let offset = u32::try_from(self.taken_bytes + self.bytes.len()).ok()?;
        let size = u32::try_from(self.central.len()).ok()?;
        let count = u16::try_from(self.names.len()).ok()?.to_le_bytes();
        self.bytes.append(&mut self.central);
        push(&mut self.bytes, &END.to_le_bytes());
        push(&mut self.bytes, &[0; 4]);
        push(&mut self.bytes, &count);
        push(&mut self.bytes, &count);
        push(&mut self.bytes, &size.to_le_bytes());
        push(&mut self.bytes, &offset.to_le_bytes());
        push(&mut self.bytes, &[0; 2]);
        Some(self.bytes)
    }

    /// Returns a sanitized name that no other file has, also on case-insensitive file systems.
    fn unique_name(&mut self, path: &str) -> String {
        let (stem, ending) = path.rsplit_once('.').unwrap_or((path, "txt"));
        let stem = sanitize(stem);
        let mut name = format!("{stem}.{ending}");
        let mut number = 2;
        while !self.names.insert(name.to_lowercase()) {
            name = format!("{stem}-{number}.{ending}");
            number += 1;
        }
        name
    }
}

fn push(bytes: &mut Vec<u8>, more: &[u8]) {
    bytes.extend_from_slice(more);
}

/// Returns the fields shared by the local and the central header, from the version to the length of the extra field.
fn shared_header(name: &str, file: &ZipFile<'_>, data_bytes: usize) -> Vec<u8> {
    let mut shared_header = Vec::with_capacity(26);
    let method = if file.deflated.is_some() { DEFLATED } else { STORED };
    let (time, date) = dos_time(file.modified);
    for number in [VERSION, UTF8, method, time, date] {
        push(&mut shared_header, &number.to_le_bytes());
    }
    let crc = crc32(file.text.as_bytes());
    // The caller has checked that both sizes fit.
    for number in [crc, data_bytes as u32, file.text.len() as u32] {
        push(&mut shared_header, &number.to_le_bytes());
    }
    // A sanitized name is far shorter than 65,535 bytes.
    for number in [name.len() as u16, TIME_FIELD_BYTES] {
        push(&mut shared_header, &number.to_le_bytes());
    }
    shared_header
}

/// Returns time and date of the format, in UTC; dates before 1980 become the first one.
fn dos_time(at: Timestamp) -> (u16, u16) {
    let (year, month, day) = display::date_of(at.0);
    let Ok(year) = u16::try_from(year - 1980) else {
        return (0, FIRST_DAY);
    };
    let seconds = at.0 / 1000 % 86_400;
    let time = ((seconds / 3600) << 11) | ((seconds / 60 % 60) << 5) | (seconds % 60 / 2);
    let date = (year.min(127) << 9) | ((month as u16) << 5) | day as u16;
    (time as u16, date)
}

fn time_field(at: Timestamp) -> Vec<u8> {
    let mut field = Vec::with_capacity(usize::from(TIME_FIELD_BYTES));
    push(&mut field, &TIME_FIELD.to_le_bytes());
    push(&mut field, &(TIME_FIELD_BYTES - 4).to_le_bytes());
    // Only the time of the last change follows.
    push(&mut field, &[1]);
    push(
        &mut field,
        &u32::try_from(at.0 / 1000).unwrap_or(u32::MAX).to_le_bytes(),
    );
    field
}

/// Sanitizes a path for every operating system: no parent folders, no hidden files.
fn sanitize(name: &str) -> String {
    let parts = name.split('/').map(|part| {
        let part: String = part
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') {
                    c
                } else {
                    '-'
                }
            })
            .take(NAME_CHARS)
            .collect();
        part.trim_matches(['.', '-']).to_owned()
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).take(12).collect();
    match parts.is_empty() {
        true => "index".to_owned(),
        false => parts.join("/"),
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    static CRC_TABLE: [u32; 256] = crc_table();
    let step = |crc: u32, byte: &u8| CRC_TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8);
    !bytes.iter().fold(!0, step)
}

const fn crc_table() -> [u32; 256] {
    let mut crc_table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let (mut value, mut bit) = (at as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 {
                0xedb8_8320 ^ (value >> 1)
            } else {
                value >> 1
            };
            bit += 1;
        }
        crc_table[at] = value;
        at += 1;
    }
    crc_table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_matches_the_standard_vectors() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn names_are_sanitized_and_unique() {
        let mut zip = Zip::default();
        let names = [
            "e.com/../../etc/passwd.md", "e.com/A b.md", "e.com/a-b.md", ".md", "e.com/ü.md",
        ];
        let names = names.map(|name| zip.unique_name(name));
        assert_eq!(
            names,
            [
                "e.com/etc/passwd.md", "e.com/A-b.md", "e.com/a-b-2.md", "index.md", "e.com/ü.md"
            ]
        );
    }

    #[test]
    fn times_are_those_of_the_format() {
        // 2026-12-31 23:59:59 UTC; seconds are even.
        let (time, date) = dos_time(Timestamp(1_798_761_599_999));
        assert_eq!((time >> 11, (time >> 5) & 63, time & 31), (23, 59, 29));
        assert_eq!((date >> 9, (date >> 5) & 15, date & 31), (46, 12, 31));
        assert_eq!(dos_time(Timestamp(0)), (0, FIRST_DAY));
        assert_eq!(
            time_field(Timestamp(1_798_761_599_999)),
            [0x55, 0x54, 5, 0, 1, 0x7f, 0xec, 0x36, 0x6b]
        );
    }

    #[test]
    fn the_end_record_points_to_the_central_directory() {
        let mut zip = Zip::default();
        let file = |text| ZipFile {
            text,
            deflated: None,
            modified: Timestamp(1_798_761_599_999),
        };
        assert_eq!(zip.add("a.md", file("alpha")).as_deref(), Some("a.md"));
        assert_eq!(zip.add("b/c.md", file("beta")).as_deref(), Some("b/c.md"));
        let mut bytes = zip.take();
        bytes.extend(zip.finish().unwrap());
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let end = bytes.len() - 22;
        assert_eq!(number(end), END as usize);
        let (size, offset) = (number(end + 12), number(end + 16));
        assert_eq!((offset + size, number(offset)), (end, CENTRAL as usize));
        // The second local header follows the first file: 30 bytes, name, time, text.
        assert_eq!(number(30 + 4 + 9 + 5), LOCAL as usize);
    }
}
