//! Text of Word documents before 2007 that a style hides. `office_oxide` leaves out only what is hidden without a style. So
//! these characters are replaced before the file is read: with optional hyphens, which it drops ([MS-DOC]).

use std::ops::Range;

use super::old_document::{OldDocument, PAGE, last_property, u16_at, u32_at};
use super::old_styles::{IS_HIDDEN, OldStyles};
use crate::limits;

/// Place in the file information block (section 2.5): offset and length of the table of characters.
const CHARACTERS: usize = 0xFA;
/// The property that names the style of characters (section 2.6.1).
const CHARACTER_STYLE: u16 = 0x4A30;
/// The first character that is not a control character, and the optional hyphen.
const FIRST_TEXT: u16 = 0x20;
const OPTIONAL_HYPHEN: u16 = 0x1F;

/// Returns the file without text that a style hides; `None` if there is none, or the file is damaged.
pub(super) fn removed(body: &[u8]) -> Option<Vec<u8>> {
    let mut document = OldDocument::open(body)?;
    let styles = OldStyles::read(&document)?;
    if !styles.hide_text() {
        return None;
    }
    let hidden = hidden_text(&document, &styles)?;
    let mut bytes_left = document.main.len().saturating_mul(2);
    for piece in document.pieces(usize::MAX)? {
        let from = hidden.partition_point(|bytes| bytes.end <= piece.bytes.start);
        for bytes in hidden[from..]
            .iter()
            .take_while(|bytes| bytes.start < piece.bytes.end)
        {
            let before = bytes.start.saturating_sub(piece.bytes.start);
            let start = piece.bytes.start + before.next_multiple_of(piece.size);
            let end = bytes.end.min(piece.bytes.end);
            let text = document.main.get_mut(start..end).unwrap_or_default();
            bytes_left = bytes_left.checked_sub(text.len().max(1))?;
            for character in text.chunks_exact_mut(piece.size) {
                let code = u16::from_le_bytes([character[0], *character.get(1).unwrap_or(&0)]);
                if code >= FIRST_TEXT {
                    character.copy_from_slice(&OPTIONAL_HYPHEN.to_le_bytes()[..piece.size]);
                }
            }
        }
    }
    (!hidden.is_empty()).then(|| document.write(body))?
}

/// Returns where text is that styles hide, in order.
fn hidden_text(document: &OldDocument, styles: &OldStyles) -> Option<Vec<Range<usize>>> {
    let paragraphs = document.paragraphs()?;
    let paragraphs = paragraphs
        .into_iter()
        .filter(|paragraph| styles.is_hidden(paragraph.style));
    let paragraphs = merged(paragraphs.map(|paragraph| paragraph.bytes).collect());
    let mut hidden = Vec::new();
    for page in document.pages(CHARACTERS)? {
        let count = usize::from(page[PAGE - 1]);
        for at in 0..count {
            let bytes = u32_at(page, at * 4)?..u32_at(page, (at + 1) * 4)?;
            let own = character_properties(page, usize::from(*page.get((count + 1) * 4 + at)?) * 2);
            // Other values than these refer to the style.
            if last_property(own, IS_HIDDEN).is_some_and(|value| value[0] <= 1) {
                continue;
            }
            let style = last_property(own, CHARACTER_STYLE).and_then(|style| u16_at(style, 0));
            if style.is_some_and(|style| styles.is_hidden(style)) {
                hidden.push(bytes);
                continue;
            }
            let from = paragraphs.partition_point(|paragraph| paragraph.end <= bytes.start);
            let inside = paragraphs[from..]
                .iter()
                .take_while(|paragraph| paragraph.start < bytes.end);
            hidden.extend(
                inside.map(|paragraph| paragraph.start.max(bytes.start)..paragraph.end.min(bytes.end)),
            );
            if hidden.len() > limits::HIDDEN_TEXTS {
                return None;
            }
        }
    }
    Some(merged(hidden))
}

/// Returns the properties of characters at a place of a page (section 2.9.33).
fn character_properties(page: &[u8], place: usize) -> &[u8] {
    let length = page.get(place).map_or(0, |length| usize::from(*length));
    match place {
        0 => &[],
        _ => page.get(place + 1..place + 1 + length).unwrap_or_default(),
    }
}

/// Sorts ranges and joins those that overlap.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged() {
        assert_eq!(merged(vec![5..7, 1..3, 2..4, 9..9]), [1..4, 5..7]);
    }
}
