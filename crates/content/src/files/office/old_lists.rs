//! Lists in documents of Word before 2007. `office_oxide` takes adjacent lists for one, and bullets for numbers. This
//! module reads to which list each paragraph belongs ([MS-DOC]).

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::Range;

use office_oxide::cfb::CfbReader;

use super::lists::{Counter, DocumentPlaces, MAX_LEVEL, Place, Places};

/// Places in the file information block (section 2.5): length of the main text; offset and length of the tables of
/// paragraphs, pieces of text, lists, and uses of lists.
const TEXT_LENGTH: usize = 0x4C;
const PARAGRAPHS: usize = 0x102;
const PIECES: usize = 0x1A2;
const LISTS: usize = 0x2E2;
const LIST_USES: usize = 0x2EA;
/// Size of a page of paragraph properties (section 2.9.85).
const PAGE: usize = 512;
/// Number formats without numbers: bullets and nothing (section 2.9.191).
const UNNUMBERED: [u8; 2] = [0x17, 0xFF];

/// Returns the places of the items in the main text, in order.
pub(super) fn places(body: &[u8]) -> Option<DocumentPlaces> {
    let mut file = CfbReader::new(Cursor::new(body)).ok()?;
    let main = file.open_stream("WordDocument").ok()?;
    // Versions before 97 have another file information block.
    if u16_at(&main, 2)? < 0xC1 {
        return None;
    }
    let name = if main.get(0x0B)? & 2 == 0 {
        "0Table"
    } else {
        "1Table"
    };
    let tables = file.open_stream(name).ok()?;
    let table = |place: usize| {
        let (from, length) = (u32_at(&main, place)?, u32_at(&main, place + 4)?);
        tables.get(from..from.checked_add(length)?)
    };
    let lists = Lists::read(
        tables.get(u32_at(&main, LISTS)?..)?,
        tables.get(u32_at(&main, LIST_USES)?..)?,
    )?;
    let mut paragraphs = paragraphs(&main, table(PARAGRAPHS)?)?;
    paragraphs.sort_by_key(|(end, _)| *end);
    let mut counter = Counter::default();
    let mut items = Vec::new();
    for piece in pieces(table(PIECES)?, u32_at(&main, TEXT_LENGTH)?)? {
        let from = paragraphs.partition_point(|(end, _)| *end <= piece.start);
        let inside = paragraphs[from..].iter().take_while(|(end, _)| *end <= piece.end);
        items.extend(inside.filter_map(|(_, use_and_level)| {
            let (list, level) = (*use_and_level)?;
            Some(Place {
                list: u32::from(list),
                level,
                is_numbered: lists.is_numbered(list, level),
                number: Some(counter.next(list, level, 1)),
            })
        }));
    }
    let text = Places {
        items,
        ..Places::default()
    };
    Some(DocumentPlaces {
        text,
        ..DocumentPlaces::default()
    })
}

/// Returns where the pieces of the main text are in the file (section 2.8.35).
fn pieces(mut table: &[u8], text_length: usize) -> Option<Vec<Range<usize>>> {
    // Property lists come before the pieces.
    while table.first()? == &1 {
        table = table.get(3 + usize::from(u16_at(table, 1)?)..)?;
    }
    let table = table.get(5..)?;
    let count = table.len().saturating_sub(4) / 12;
    let mut pieces = Vec::new();
    for at in 0..count {
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
        pieces.push(from..from + end.saturating_sub(start) * size);
    }
    Some(pieces)
}

/// A paragraph: where it ends in the file, and the use and level of a list if it is an item.
type Paragraph = (usize, Option<(u16, u8)>);

/// Returns the paragraphs of all parts of the document (sections 2.8.6 and 2.9.85).
fn paragraphs(main: &[u8], table: &[u8]) -> Option<Vec<Paragraph>> {
    let count = table.len().saturating_sub(4) / 8;
    let mut paragraphs = Vec::new();
    for at in 0..count {
        let page = (u32_at(table, (count + 1) * 4 + at * 4)? & 0x3F_FFFF) * PAGE;
        let page = main.get(page..page + PAGE)?;
        let count = usize::from(page[PAGE - 1]);
        for at in 0..count {
            let end = u32_at(page, (at + 1) * 4)?;
            let place = usize::from(*page.get((count + 1) * 4 + at * 13)?) * 2;
            paragraphs.push((end, item(page, place)));
        }
    }
    Some(paragraphs)
}

/// Returns the use and level of a list that the properties of a paragraph name.
fn item(page: &[u8], place: usize) -> Option<(u16, u8)> {
    if place == 0 {
        return None;
    }
    let (from, length) = match usize::from(*page.get(place)?) {
        0 => (place + 2, usize::from(*page.get(place + 1)?) * 2),
        words => (place + 1, words * 2 - 1),
    };
    let style = u16_at(page, from)?;
    let mut rest = page.get(from + 2..(from + length).min(PAGE))?;
    let (mut list, mut level) = (0, 0);
    let mut is_text = !(1..=9).contains(&style);
    while let Some(kind) = u16_at(rest, 0) {
        let value = &rest[2..];
        // Section 2.6.2.
        let size = match kind >> 13 {
            0 | 1 => 1,
            2 | 4 | 5 => 2,
            3 => 4,
            7 => 3,
            _ if kind == 0xD608 => usize::from(u16_at(value, 0).unwrap_or(0)) + 1,
            _ => 1 + usize::from(value.first().copied().unwrap_or(0)),
        };
        let Some((value, after)) = value.split_at_checked(size) else {
            break;
        };
        rest = after;
        match kind {
            0x460B => list = u16_at(value, 0)?.cast_signed().unsigned_abs(),
            0x260A => level = value[0].min(MAX_LEVEL),
            // In a table, or a level of the outline: a heading.
            0x2416 => is_text &= value[0] == 0,
            0x2640 => is_text = value[0] == 9,
            _ => {}
        }
    }
    (is_text && (1..=0x07FE).contains(&list)).then_some((list, level))
}

/// The list definitions of a document.
struct Lists {
    /// Levels that have numbers, of each list.
    numbered: HashMap<usize, Vec<bool>>,
    /// The list of each use.
    uses: Vec<usize>,
}

impl Lists {
    /// Reads lists and uses of lists (sections 2.9.147, 2.9.150, 2.9.131).
    fn read(lists: &[u8], uses: &[u8]) -> Option<Self> {
        let count = usize::from(u16_at(lists, 0)?);
        let mut at = 2 + count * 28;
        let mut numbered = HashMap::new();
        for number in 0..count {
            let list = lists.get(2 + number * 28..2 + (number + 1) * 28)?;
            let levels = if list[26] & 1 == 1 { 1 } else { 9 };
            let mut is_numbered = Vec::new();
            for _ in 0..levels {
                let head = lists.get(at..at + 28)?;
                is_numbered.push(!UNNUMBERED.contains(&head[4]));
                at += 28 + usize::from(head[24]) + usize::from(head[25]);
                at += 2 + 2 * usize::from(u16_at(lists, at)?);
            }
            numbered.insert(u32_at(list, 0)?, is_numbered);
        }
        let count = u32_at(uses, 0)?.min(uses.len() / 16);
        let uses = (0..count).filter_map(|at| u32_at(uses, 4 + at * 16)).collect();
        Some(Lists { numbered, uses })
    }

    fn is_numbered(&self, list: u16, level: u8) -> bool {
        let list = self.uses.get(usize::from(list) - 1);
        let levels = list.and_then(|list| self.numbered.get(list));
        levels.is_some_and(|levels| {
            *levels
                .get(usize::from(level))
                .or(levels.first())
                .unwrap_or(&false)
        })
    }
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

fn u32_at(data: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*data.get(at..)?.first_chunk()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_name_a_list_and_a_level() {
        let page = |properties: &[u8]| {
            let mut page = vec![0; 20];
            page.push(u8::try_from(properties.len() / 2 + 1).unwrap());
            page.extend(properties);
            page.resize(PAGE, 0);
            page
        };
        let style = |style: u8, properties: &[u8]| item(&page(&[&[style, 0], properties].concat()), 20);
        let of_list = b"\x0B\x46\x02\0\x0A\x26\x01";
        assert_eq!(style(0, of_list), Some((2, 1)));
        assert_eq!(style(1, of_list), None, "a heading");
        assert_eq!(style(0, b"\x16\x24\x01\x0B\x46\x02\0"), None, "in a table");
        assert_eq!(style(0, b"\x0B\x46\x01\xF8"), None, "taken out of its list");
        assert_eq!(style(0, b""), None);
        assert_eq!(style(0, b"\x0B\x46\x02\0\x0A\x26\xFF"), Some((2, MAX_LEVEL)));
    }

    #[test]
    fn levels_of_lists_are_numbered_or_not() {
        let list = |id: u8| [&[id, 0, 0, 0][..], &[0; 22], &[1, 0]].concat();
        let level = |format: u8| {
            [
                &[1, 0, 0, 0, format][..],
                &[0; 19],
                &[1, 2, 0, 0],
                b"abc",
                &[1, 0, b'.', 0],
            ]
            .concat()
        };
        let lists = [vec![2, 0], list(7), list(8), level(0x17), level(0)].concat();
        let list_use = |id: u8| [&[id, 0, 0, 0][..], &[0; 12]].concat();
        let uses = [vec![2, 0, 0, 0], list_use(8), list_use(7)].concat();
        let lists = Lists::read(&lists, &uses).unwrap();
        assert_eq!(
            [1, 2, 3].map(|list| lists.is_numbered(list, 0)),
            [true, false, false]
        );
    }
}
