//! Lists in documents of Word before 2007. `office_oxide` takes adjacent lists for one, and bullets for numbers. This
//! module reads to which list each paragraph belongs ([MS-DOC]).

use std::collections::HashMap;

use super::lists::{Counter, DocumentPlaces, MAX_LEVEL, Place, Places};
use super::old_document::{OldDocument, properties, u16_at, u32_at};
use super::old_styles::{OUTLINE_LEVEL, OldStyles, TEXT_LEVEL};

/// Places in the file information block (section 2.5): offsets of lists and uses of lists.
const LISTS: usize = 0x2E2;
const LIST_USES: usize = 0x2EA;
/// Number formats without numbers: bullets and nothing (section 2.9.191).
const UNNUMBERED: [u8; 2] = [0x17, 0xFF];

/// Returns the places of the items in the main text, in order.
pub(super) fn places(body: &[u8]) -> Option<DocumentPlaces> {
    let document = OldDocument::open(body)?;
    let lists = Lists::read(document.tables_from(LISTS)?, document.tables_from(LIST_USES)?)?;
    let styles = OldStyles::read(&document);
    let is_heading = |style| styles.as_ref().is_some_and(|styles| styles.is_heading(style));
    let paragraphs = document.paragraphs()?;
    let mut numbers = Counter::default();
    let mut items = Vec::new();
    for piece in document.pieces(document.text_length()?)? {
        let bytes = piece.bytes;
        let from = paragraphs.partition_point(|paragraph| paragraph.bytes.end <= bytes.start);
        let inside = paragraphs[from..]
            .iter()
            .take_while(|paragraph| paragraph.bytes.end <= bytes.end);
        items.extend(inside.filter_map(|paragraph| {
            let (list, level) = item(is_heading(paragraph.style), paragraph.properties)?;
            Some(Place {
                list: u32::from(list),
                level,
                is_numbered: lists.level(list, level).is_some_and(|level| level.is_numbered),
                number: Some(lists.number(list, level, &mut numbers)),
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

/// Returns the use and level of a list that a paragraph names in its properties. `is_heading`: according to its style.
fn item(mut is_heading: bool, own: &[u8]) -> Option<(u16, u8)> {
    let (mut list, mut level, mut is_in_table) = (0, 0, false);
    for (kind, value) in properties(own) {
        match kind {
            0x460B => list = u16_at(value, 0)?.cast_signed().unsigned_abs(),
            0x260A => level = value[0].min(MAX_LEVEL),
            0x2416 => is_in_table = value[0] != 0,
            OUTLINE_LEVEL if value[0] <= TEXT_LEVEL => is_heading = value[0] < TEXT_LEVEL,
            _ => {}
        }
    }
    (!is_heading && !is_in_table && (1..=0x07FE).contains(&list)).then_some((list, level))
}

/// A level of a list.
#[derive(Clone, Copy)]
struct Level {
    is_numbered: bool,
    /// Its first number.
    start: u32,
}

/// A use of a list definition.
struct ListUse {
    list: usize,
    /// The levels that it changes. Their numbers start again.
    levels: HashMap<u8, Level>,
}

/// The list definitions of a document.
struct Lists {
    /// The levels of each list.
    levels: HashMap<usize, Vec<Level>>,
    uses: Vec<ListUse>,
}

impl Lists {
    /// Reads lists and uses of lists (sections 2.9.147, 2.9.150, 2.9.131).
    fn read(lists: &[u8], uses: &[u8]) -> Option<Self> {
        let count = usize::from(u16_at(lists, 0)?);
        let mut at = 2 + count * 28;
        let mut levels = HashMap::new();
        for number in 0..count {
            let list = lists.get(2 + number * 28..2 + (number + 1) * 28)?;
            let count = if list[26] & 1 == 1 { 1 } else { 9 };
            let own = (0..count).map(|_| read_level(lists, &mut at));
            levels.insert(u32_at(list, 0)?, own.collect::<Option<_>>()?);
        }
        let mut lists = Lists {
            levels,
            uses: Vec::new(),
        };
        // A damaged list of changes ends where it is damaged.
        let _ = lists.read_uses(uses);
        Some(lists)
    }

    /// Reads the uses, and the levels that each changes (sections 2.9.131, 2.9.132, 2.9.134).
    fn read_uses(&mut self, uses: &[u8]) -> Option<()> {
        let count = u32_at(uses, 0)?.min(uses.len() / 16);
        let mut counts = Vec::new();
        for at in 0..count {
            let list_use = uses.get(4 + at * 16..20 + at * 16)?;
            counts.push(list_use[12]);
            self.uses.push(ListUse {
                list: u32_at(list_use, 0)?,
                levels: HashMap::new(),
            });
        }
        let mut at = 4 + count * 16;
        for (list_use, count) in self.uses.iter_mut().zip(counts) {
            at += 4;
            for _ in 0..count {
                let (start, flags) = (u32_at(uses, at)?, u32_at(uses, at + 4)?);
                at += 8;
                let number = (flags & 0x0F) as u8;
                let levels = self.levels.get(&list_use.list);
                let inherited = levels.and_then(|levels| levels.get(usize::from(number)).copied());
                let changed = match flags & 0x20 {
                    0 => None,
                    _ => Some(read_level(uses, &mut at)?),
                };
                let start = (flags & 0x10 != 0).then(|| u32::try_from(start).unwrap_or(1));
                if let Some(level) = changed
                    .or(inherited)
                    .filter(|_| start.is_some() || changed.is_some())
                {
                    let start = start.unwrap_or(level.start);
                    list_use.levels.insert(number, Level { start, ..level });
                }
            }
        }
        Some(())
    }

    /// Returns a level of a list, by the number of its use, from 1.
    fn level(&self, list_use: u16, level: u8) -> Option<&Level> {
        let list_use = self.uses.get(usize::from(list_use).checked_sub(1)?)?;
        list_use.levels.get(&level).or_else(|| {
            let levels = self.levels.get(&list_use.list)?;
            levels.get(usize::from(level)).or(levels.first())
        })
    }

    /// Returns the number of the next item. Uses of a list continue its numbers, unless they say where they start.
    fn number(&self, list_use: u16, level: u8, numbers: &mut Counter<(usize, bool)>) -> u32 {
        let start = self.level(list_use, level).map_or(1, |level| level.start);
        let index = usize::from(list_use);
        let known = self.uses.get(index.wrapping_sub(1));
        let key = match known.filter(|known| !known.levels.contains_key(&level)) {
            Some(known) => (known.list, true),
            None => (index, false),
        };
        numbers.next(key, level, start)
    }
}

/// Reads a level (section 2.9.150), and moves to its end.
fn read_level(data: &[u8], at: &mut usize) -> Option<Level> {
    let head = data.get(*at..*at + 28)?;
    *at += 28 + usize::from(head[24]) + usize::from(head[25]);
    *at += 2 + 2 * usize::from(u16_at(data, *at)?);
    Some(Level {
        is_numbered: !UNNUMBERED.contains(&head[4]),
        start: u32::try_from(u32_at(head, 0)?).unwrap_or(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_name_a_list_and_a_level() {
        let of_list = b"\x0B\x46\x02\0\x0A\x26\x01";
        assert_eq!(item(false, of_list), Some((2, 1)));
        assert_eq!(item(true, of_list), None, "a heading");
        let level = |level: &[u8]| [&of_list[..], b"\x40\x26", level].concat();
        assert_eq!(item(false, &level(&[2])), None, "a heading");
        assert_eq!(
            item(true, &level(&[9])),
            Some((2, 1)),
            "text in the style of a heading"
        );
        assert_eq!(item(false, b"\x16\x24\x01\x0B\x46\x02\0"), None, "in a table");
        assert_eq!(item(false, b"\x0B\x46\x01\xF8"), None, "taken out of its list");
        assert_eq!(item(false, b""), None);
        assert_eq!(item(false, b"\x0B\x46\x02\0\x0A\x26\xFF"), Some((2, MAX_LEVEL)));
    }

    #[test]
    fn items_have_the_numbers_of_their_levels() {
        let list = |id: u8| [&[id, 0, 0, 0][..], &[0; 22], &[1, 0]].concat();
        let level = |start: u8, format: u8| {
            [
                &[start, 0, 0, 0, format][..],
                &[0; 19],
                &[1, 2, 0, 0],
                b"abc",
                &[1, 0, b'.', 0],
            ]
            .concat()
        };
        let lists = [vec![2, 0], list(7), list(8), level(1, 0x17), level(3, 0)].concat();
        let list_use = |id: u8, changes: u8| [&[id, 0, 0, 0][..], &[0; 8], &[changes, 0, 0, 0]].concat();
        let changed = [&[0xFF; 4][..], &[5, 0, 0, 0, 0x10, 0, 0, 0]].concat();
        let uses = [
            vec![4, 0, 0, 0],
            list_use(8, 0),
            list_use(7, 0),
            list_use(8, 0),
            list_use(8, 1),
            vec![0xFF; 12],
            changed,
        ];
        let lists = Lists::read(&lists, &uses.concat()).unwrap();
        let is_numbered = |list_use| lists.level(list_use, 0).map(|level| level.is_numbered);
        assert_eq!(
            [1, 2, 4, 5].map(is_numbered),
            [Some(true), Some(false), Some(true), None]
        );
        let mut numbers = Counter::default();
        let numbers = [1, 1, 3, 4, 4, 1, 5].map(|list_use| lists.number(list_use, 0, &mut numbers));
        assert_eq!(numbers, [3, 4, 5, 5, 6, 6, 1]);
    }
}
