//! Styles of Word documents before 2007: whether they hide text, and whether they are styles of headings ([MS-DOC]).

use super::old_document::{OldDocument, last_property, u16_at};

/// Place in the file information block (section 2.5): offset and length of the styles.
const STYLES: usize = 0xA2;
/// Properties (section 2.6): whether text is hidden, and the level of a paragraph in the outline.
pub(super) const IS_HIDDEN: u16 = 0x083C;
pub(super) const OUTLINE_LEVEL: u16 = 0x2640;
/// The level of text in the outline; those of headings are smaller.
pub(super) const TEXT_LEVEL: u8 = 9;
/// Kinds of styles (section 2.9.260).
const OF_PARAGRAPHS: u16 = 1;
const OF_CHARACTERS: u16 = 2;
/// The number of the style of titles (section 2.9.260).
const TITLE: u16 = 0x3E;
/// Maximum number of ancestors of a style.
const PARENTS: usize = 16;

/// What a style sets.
#[derive(Default)]
struct Style {
    parent: Option<u16>,
    is_hidden: Option<bool>,
    is_heading: Option<bool>,
    is_title: bool,
}

/// The styles of a document.
pub(super) struct OldStyles(Vec<Style>);

impl OldStyles {
    pub(super) fn read(document: &OldDocument) -> Option<Self> {
        Self::read_sheet(document.table(STYLES)?)
    }

    /// Reads a style sheet (section 2.9.271).
    fn read_sheet(sheet: &[u8]) -> Option<Self> {
        let head = usize::from(u16_at(sheet, 0)?);
        let (count, base_length) = (u16_at(sheet, 2)?, usize::from(u16_at(sheet, 4)?));
        let mut at = 2 + head;
        let mut styles = Vec::new();
        for _ in 0..count {
            let length = usize::from(u16_at(sheet, at)?);
            styles.push(Style::read(sheet.get(at + 2..at + 2 + length)?, base_length).unwrap_or_default());
            at += 2 + length;
        }
        Some(Self(styles))
    }

    /// Returns whether a style hides text.
    pub(super) fn hide_text(&self) -> bool {
        self.0.iter().any(|style| style.is_hidden == Some(true))
    }

    pub(super) fn is_hidden(&self, style: u16) -> bool {
        self.chain(style).find_map(|style| style.is_hidden) == Some(true)
    }

    pub(super) fn is_heading(&self, style: u16) -> bool {
        self.chain(style).find_map(|style| style.is_heading) == Some(true)
    }

    /// Returns whether a style is that of the title of a document.
    pub(super) fn is_title(&self, style: u16) -> bool {
        self.chain(style).any(|style| style.is_title)
    }

    /// Returns a style and its ancestors.
    fn chain(&self, style: u16) -> impl Iterator<Item = &Style> {
        let find = |style: u16| self.0.get(usize::from(style));
        std::iter::successors(find(style), move |style| find(style.parent?)).take(PARENTS)
    }
}

impl Style {
    /// Reads a style (section 2.9.258). Its name is after a head of this length.
    fn read(style: &[u8], base_length: usize) -> Option<Self> {
        let number = u16_at(style, 0)? & 0x0FFF;
        let (kind, parent) = (u16_at(style, 2)? & 0x0F, u16_at(style, 2)? >> 4);
        let count = u16_at(style, 4)? & 0x0F;
        let name_end = base_length + 2 + 2 * usize::from(u16_at(style, base_length)?);
        let name = style.get(base_length + 2..name_end)?.chunks_exact(2);
        let name: String = name.map(|unit| char::from(unit[0])).collect();
        let mut read = Self {
            parent: (parent != 0x0FFF).then_some(parent),
            is_title: number == TITLE || name.eq_ignore_ascii_case("title"),
            ..Self::default()
        };
        let mut outline_level = None;
        let mut at = name_end + 2;
        for list in 0..count {
            at = at.next_multiple_of(2);
            let length = usize::from(u16_at(style, at)?);
            let own = style.get(at + 2..at + 2 + length)?;
            at += 2 + length;
            match (kind, list) {
                // Its properties are after its number.
                (OF_PARAGRAPHS, 0) => {
                    let level = last_property(own.get(2..)?, OUTLINE_LEVEL);
                    outline_level = level.map(|level| level[0]).filter(|level| *level <= TEXT_LEVEL);
                }
                (OF_PARAGRAPHS, 1) | (OF_CHARACTERS, 0) => {
                    read.is_hidden = last_property(own, IS_HIDDEN).map(|value| value[0] & 1 == 1);
                }
                _ => {}
            }
        }
        read.is_heading = match outline_level {
            Some(level) => Some(level < TEXT_LEVEL),
            None => ((1..=9).contains(&number) || is_name_of_heading(&name)).then_some(true),
        };
        Some(read)
    }
}

/// Returns whether a style is called `Heading` with a level. Other names may follow.
fn is_name_of_heading(name: &str) -> bool {
    let name = name
        .split(',')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let level = name
        .strip_prefix("heading ")
        .map(|level| level.trim().parse::<u8>());
    level.is_some_and(|level| level.is_ok_and(|level| (1..=9).contains(&level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_read_with_their_parents() {
        let style = |number: u8, name: &str, kind: u8, parent: u16, lists: &[&[u8]]| {
            let parent = parent << 4 | u16::from(kind);
            let mut style = [&[number, 0][..], &parent.to_le_bytes(), &[lists.len() as u8, 0]].concat();
            style.resize(10, 0);
            style.extend([name.len() as u8, 0]);
            style.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
            style.extend([0, 0]);
            for list in lists {
                style.extend([list.len() as u8, 0]);
                style.extend_from_slice(list);
                style.resize(style.len().next_multiple_of(2), 0);
            }
            [&[style.len() as u8, 0], &style[..]].concat()
        };
        let hidden = b"\x3C\x08\x01";
        let styles = [
            style(1, "a", 1, 0xFFF, &[b"\0\0", hidden]),
            style(0, "b", 1, 0, &[b"\x01\0\x40\x26\x09"]),
            style(0, "c", 1, 0, &[b"\x02\0", b"\x3C\x08\0"]),
            style(0, "d", 2, 0xFFF, &[b"\x35\x08\x01\x3C\x08\x01"]),
            vec![0, 0],
            style(0, "Heading 3,e", 1, 5, &[]),
        ];
        let sheet = [&[4, 0, 6, 0, 10, 0][..], &styles.concat()].concat();
        let styles = OldStyles::read_sheet(&sheet).unwrap();
        let (hidden, headings): (Vec<bool>, Vec<bool>) = (0..7)
            .map(|style| (styles.is_hidden(style), styles.is_heading(style)))
            .unzip();
        assert_eq!(hidden, [true, true, false, true, false, false, false]);
        assert_eq!(headings, [true, false, true, false, false, true, false]);
        assert!(OldStyles::read_sheet(&sheet[..20]).is_none());
    }
}
