//! Parts of documents of Word before 2007 that `office_oxide` does not return ([MS-DOC]).

use std::io::Cursor;
use std::ops::Range;

use encoding_rs::{UTF_16LE, WINDOWS_1252};
use office_oxide::cfb::{CfbHeader, CfbReader, MAX_REG_SECT};

/// The stream with the text.
const MAIN: &str = "WordDocument";
/// Places in the file information block (section 2.5): length of the main text; offset and length of the tables of
/// paragraphs and pieces of text.
const TEXT_LENGTH: usize = 0x4C;
const PARAGRAPHS: usize = 0x102;
const PIECES: usize = 0x1A2;
/// Size of a page of properties (sections 2.9.85 and 2.9.33).
pub(super) const PAGE: usize = 512;

/// The streams of a document.
pub(super) struct OldDocument {
    pub(super) main: Vec<u8>,
    tables: Vec<u8>,
}

/// A part of the text.
pub(super) struct Piece {
    /// Where it is in the main stream.
    pub(super) bytes: Range<usize>,
    /// Bytes per character.
    pub(super) size: usize,
}

/// A paragraph of any part of the document.
pub(super) struct Paragraph<'a> {
    /// Where it is in the main stream.
    pub(super) bytes: Range<usize>,
    pub(super) style: u16,
    pub(super) properties: &'a [u8],
}

impl OldDocument {
    /// Opens a document of Word 97 or newer. Versions before have another file information block.
    pub(super) fn open(body: &[u8]) -> Option<Self> {
        let mut file = CfbReader::new(Cursor::new(body)).ok()?;
        let main = file.open_stream(MAIN).ok()?;
        if u16_at(&main, 2)? < 0xC1 {
            return None;
        }
        let name = if main.get(0x0B)? & 2 == 0 {
            "0Table"
        } else {
            "1Table"
        };
        let tables = file.open_stream(name).ok()?;
        Some(Self { main, tables })
    }

    /// Returns the file with the main stream as it is now.
    pub(super) fn write(&self, body: &[u8]) -> Option<Vec<u8>> {
        let file = CfbReader::new(Cursor::new(body)).ok()?;
        let main = &file.entries()[file.find_entry(MAIN)?];
        let header = file.header();
        if main.stream_size < u64::from(header.mini_stream_cutoff) {
            return None;
        }
        let offset = |sector: u32| usize::try_from(header.sector_offset(sector)).ok();
        let next = next_sectors(body, header)?;
        let mut out = body.to_vec();
        let mut sector = main.start_sector;
        for part in self.main.chunks(header.sector_size) {
            let start = offset(sector)?;
            out.get_mut(start..start + part.len())?.copy_from_slice(part);
            sector = *next.get(sector as usize).unwrap_or(&u32::MAX);
        }
        Some(out)
    }

    /// Returns a number of the file information block.
    pub(super) fn number(&self, place: usize) -> Option<usize> {
        u32_at(&self.main, place)
    }

    /// Returns the tables from where the file information block says.
    pub(super) fn tables_from(&self, place: usize) -> Option<&[u8]> {
        self.tables.get(self.number(place)?..)
    }

    /// Returns the table whose offset and length are in the file information block.
    pub(super) fn table(&self, place: usize) -> Option<&[u8]> {
        self.tables_from(place)?.get(..self.number(place + 4)?)
    }

    /// Returns the number of characters of the main text.
    pub(super) fn text_length(&self) -> Option<usize> {
        self.number(TEXT_LENGTH)
    }

    /// Returns a text by its place in the main stream and the bytes per character.
    pub(super) fn text(&self, bytes: Range<usize>, size: usize) -> Option<String> {
        let encoding = if size == 1 { WINDOWS_1252 } else { UTF_16LE };
        let (text, _) = encoding.decode_without_bom_handling(self.main.get(bytes)?);
        Some(text.into_owned())
    }

    /// Returns the pieces of the text up to this number of characters (section 2.8.35).
    pub(super) fn pieces(&self, text_length: usize) -> Option<Vec<Piece>> {
        let mut table = self.table(PIECES)?;
        // Property lists come before the pieces.
        while table.first()? == &1 {
            table = table.get(3 + usize::from(u16_at(table, 1)?)..)?;
        }
        let table = table.get(5..)?;
        let count = table.len().saturating_sub(4) / 12;
        let piece = |at: usize| {
            let (start, end) = (
                u32_at(table, at * 4)?,
                u32_at(table, at * 4 + 4)?.min(text_length),
            );
            let place = u32_at(table, (count + 1) * 4 + at * 8 + 2)?;
            // Bit 30: one byte per character, and twice the offset.
            let (from, size) = match place & 1 << 30 {
                0 => (place, 2),
                _ => ((place & !(1 << 30)) / 2, 1),
            };
            let bytes = from..from + end.saturating_sub(start) * size;
            Some(Piece { bytes, size })
        };
        (0..count).map(piece).collect()
    }

    /// Returns the paragraphs of all parts of the document, by their ends (sections 2.8.6 and 2.9.85).
    pub(super) fn paragraphs(&self) -> Option<Vec<Paragraph<'_>>> {
        let mut paragraphs = Vec::new();
        for page in self.pages(PARAGRAPHS)? {
            let count = usize::from(page[PAGE - 1]);
            for at in 0..count {
                let bytes = u32_at(page, at * 4)?..u32_at(page, (at + 1) * 4)?;
                let place = usize::from(*page.get((count + 1) * 4 + at * 13)?) * 2;
                let (style, properties) = paragraph_properties(page, place).unwrap_or_default();
                paragraphs.push(Paragraph {
                    bytes,
                    style,
                    properties,
                });
            }
        }
        paragraphs.sort_by_key(|paragraph| paragraph.bytes.end);
        Some(paragraphs)
    }

    /// Returns the pages of properties that a table lists.
    pub(super) fn pages(&self, place: usize) -> Option<Vec<&[u8]>> {
        let table = self.table(place)?;
        let count = table.len().saturating_sub(4) / 8;
        let page = |at: usize| {
            let page = (u32_at(table, (count + 1) * 4 + at * 4)? & 0x3F_FFFF) * PAGE;
            self.main.get(page..page + PAGE)
        };
        (0..count).map(page).collect()
    }
}

/// Returns the sector that follows each sector of a file ([MS-CFB] sections 2.3 and 2.5).
fn next_sectors(body: &[u8], header: &CfbHeader) -> Option<Vec<u32>> {
    let read = |sector: u32| {
        let start = usize::try_from(header.sector_offset(sector)).ok()?;
        let numbers = body.get(start..start + header.sector_size)?.chunks_exact(4);
        let numbers = numbers.map(|number| u32::from_le_bytes([number[0], number[1], number[2], number[3]]));
        Some(numbers.collect::<Vec<u32>>())
    };
    let count = (header.fat_sector_count as usize).min(body.len() / header.sector_size);
    let mut tables = header.header_difat.clone();
    let mut more = header.first_difat_sector;
    while tables.len() < count && more <= MAX_REG_SECT {
        let mut numbers = read(more)?;
        more = numbers.pop()?;
        tables.extend(numbers);
    }
    tables.retain(|sector| *sector <= MAX_REG_SECT);
    tables.truncate(count);
    let parts = tables.into_iter().map(read);
    Some(parts.collect::<Option<Vec<_>>>()?.concat())
}

/// Returns style and properties of a paragraph, at a place of a page.
fn paragraph_properties(page: &[u8], place: usize) -> Option<(u16, &[u8])> {
    if place == 0 {
        return None;
    }
    let (from, length) = match usize::from(*page.get(place)?) {
        0 => (place + 2, usize::from(*page.get(place + 1)?) * 2),
        words => (place + 1, words * 2 - 1),
    };
    let properties = page.get(from + 2..(from + length).min(PAGE))?;
    Some((u16_at(page, from)?, properties))
}

/// Returns the properties in a list: the kind and the value of each, which has at least one byte (section 2.6).
pub(super) fn properties(mut list: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let kind = u16_at(list, 0)?;
        let value = &list[2..];
        // Section 2.6.2.
        let size = match kind >> 13 {
            0 | 1 => 1,
            2 | 4 | 5 => 2,
            3 => 4,
            7 => 3,
            _ if kind == 0xD608 => usize::from(u16_at(value, 0).unwrap_or(0)) + 1,
            _ => 1 + usize::from(value.first().copied().unwrap_or(0)),
        };
        let (value, after) = value.split_at_checked(size)?;
        list = after;
        Some((kind, value))
    })
}

/// Returns the last value of a property in a list.
pub(super) fn last_property(list: &[u8], kind: u16) -> Option<&[u8]> {
    let values = properties(list).filter(|(other, _)| *other == kind);
    values.last().map(|(_, value)| value)
}

pub(super) fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

pub(super) fn u32_at(data: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*data.get(at..)?.first_chunk()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_paragraphs_are_read() {
        let page = |head: &[u8], own: &[u8]| [&[0; 20][..], head, &[7, 0], own, &[0; PAGE]].concat();
        let own = b"\x16\x24\x01\x0D\xC6\x02ab\x0B\x46\x02\0";
        for page in [page(&[8], &[own, &[0][..]].concat()), page(&[0, 7], own)] {
            let (style, found) = paragraph_properties(&page[..PAGE], 20).unwrap();
            assert_eq!(style, 7);
            let found: Vec<_> = properties(found).take(3).collect();
            assert_eq!(
                found,
                [(0x2416, &[1][..]), (0xC60D, b"\x02ab"), (0x460B, &[2, 0])]
            );
        }
        assert_eq!(paragraph_properties(&[0; PAGE], 0), None);
        assert_eq!(properties(b"\x16\x24").count(), 0);
    }
}
