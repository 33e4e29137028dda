//! Writes a ZIP archive of uncompressed text files (APPNOTE 4.3). File names are sanitized for every operating
//! system.

use std::collections::HashSet;

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
/// Longest segment of a name, characters.
const NAME_CHARS: usize = 60;

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
    pub fn add(&mut self, name: &str, text: &str) -> Option<String> {
        let offset = u32::try_from(self.taken_bytes + self.bytes.len()).ok()?;
        let size = u32::try_from(text.len()).ok()?;
        if self.names.len() == MAX_ENTRIES {
            return None;
        }
        let name = self.unique_name(name);
        let shared_header = shared_header(&name, crc32(text.as_bytes()), size);
        push(&mut self.bytes, &LOCAL.to_le_bytes());
        push(&mut self.bytes, &shared_header);
        push(&mut self.bytes, name.as_bytes());
        push(&mut self.bytes, text.as_bytes());
        push(&mut self.central, &CENTRAL.to_le_bytes());
        push(&mut self.central, &VERSION.to_le_bytes());
        push(&mut self.central, &shared_header);
        // No comment, first disk, no attributes.
        push(&mut self.central, &[0; 10]);
        push(&mut self.central, &offset.to_le_bytes());
        push(&mut self.central, name.as_bytes());
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
fn shared_header(name: &str, crc: u32, size: u32) -> Vec<u8> {
    let mut shared_header = Vec::with_capacity(26);
    for number in [VERSION, UTF8, 0, 0, FIRST_DAY] {
        push(&mut shared_header, &number.to_le_bytes());
    }
    for number in [crc, size, size] {
        push(&mut shared_header, &number.to_le_bytes());
    }
    // A sanitized name is far shorter than 65,535 bytes.
    push(&mut shared_header, &(name.len() as u16).to_le_bytes());
    push(&mut shared_header, &[0; 2]);
    shared_header
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
            "e.com/../../etc/passwd.md",
            "e.com/A b.md",
            "e.com/a-b.md",
            ".md",
            "e.com/ü.md",
        ];
        let names = names.map(|name| zip.unique_name(name));
        assert_eq!(
            names,
            [
                "e.com/etc/passwd.md",
                "e.com/A-b.md",
                "e.com/a-b-2.md",
                "index.md",
                "e.com/ü.md"
            ]
        );
    }

    #[test]
    fn the_end_record_points_to_the_central_directory() {
        let mut zip = Zip::default();
        assert_eq!(zip.add("a.md", "alpha").as_deref(), Some("a.md"));
        assert_eq!(zip.add("b/c.md", "beta").as_deref(), Some("b/c.md"));
        let mut bytes = zip.take();
        bytes.extend(zip.finish().unwrap());
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let end = bytes.len() - 22;
        assert_eq!(number(end), END as usize);
        let (size, offset) = (number(end + 12), number(end + 16));
        assert_eq!((offset + size, number(offset)), (end, CENTRAL as usize));
        // The second local header follows the first file: 30 bytes, name, text.
        assert_eq!(number(30 + 4 + 5), LOCAL as usize);
    }
}
