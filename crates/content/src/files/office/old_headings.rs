//! Headings that `office_oxide` guesses in Word documents before 2007: lines in capitals, and short lines at the start of a
//! section. In a document that has headings by style or level, the others are paragraphs.

use std::collections::HashSet;

use office_oxide::ir::{DocumentIR, Element, Heading, Paragraph};

use super::old_document::{OldDocument, Piece, last_property};
use super::old_styles::{OUTLINE_LEVEL, OldStyles, TEXT_LEVEL};
use super::plain;

/// The last level of a heading that is guessed.
const LAST_GUESSED_LEVEL: u8 = 2;
/// Control characters around the instruction of a field (section 2.8.25).
const FIELD_START: char = '\u{13}';
const FIELD_RESULT: char = '\u{14}';

/// Makes headings paragraphs that are only guessed.
pub(super) fn remove_guessed(body: &[u8], ir: &mut DocumentIR) {
    let headings = OldDocument::open(body).and_then(|document| headings(&document));
    if let Some(headings) = headings.filter(|headings| !headings.is_empty()) {
        keep(&headings, ir);
    }
}

/// Returns the letters of each heading and title; `None` if the text is not stored in its order.
fn headings(document: &OldDocument) -> Option<HashSet<String>> {
    let styles = OldStyles::read(document)?;
    let paragraphs = document.paragraphs()?;
    let mut titles = HashSet::new();
    let mut headings = HashSet::new();
    for Piece { bytes, size } in document.pieces(document.text_length()?)? {
        let from = paragraphs.partition_point(|paragraph| paragraph.bytes.end <= bytes.start);
        let inside = paragraphs[from..]
            .iter()
            .take_while(|paragraph| paragraph.bytes.end <= bytes.end);
        for paragraph in inside {
            let level = last_property(paragraph.properties, OUTLINE_LEVEL).map(|level| level[0]);
            let is_heading = match level.filter(|level| *level <= TEXT_LEVEL) {
                Some(level) => level < TEXT_LEVEL,
                None => styles.is_heading(paragraph.style),
            };
            let is_title = styles.is_title(paragraph.style);
            if !is_heading && !is_title {
                continue;
            }
            if paragraph.bytes.start < bytes.start {
                return None;
            }
            let text = document.text(paragraph.bytes.clone(), size)?;
            let texts = text.split(['\r', '\u{7}', '\u{C}']).map(letters);
            match is_heading {
                true => headings.extend(texts),
                false => titles.extend(texts),
            }
        }
    }
    if !headings.is_empty() {
        headings.extend(titles);
    }
    Some(headings)
}

/// Makes headings paragraphs that may be guessed and are not among these.
fn keep(headings: &HashSet<String>, ir: &mut DocumentIR) {
    for section in &mut ir.sections {
        for (at, element) in section.elements.iter_mut().enumerate() {
            let Element::Heading(Heading { level, content, .. }) = element else {
                continue;
            };
            let text = plain(content);
            let is_in_capitals = !text.contains(char::is_lowercase);
            let may_be_guessed = *level <= LAST_GUESSED_LEVEL && (is_in_capitals || at == 0);
            if may_be_guessed && !headings.contains(&letters(&text)) {
                *element = Element::Paragraph(Paragraph {
                    content: std::mem::take(content),
                    ..Paragraph::default()
                });
            }
        }
    }
}

/// Returns the letters and digits of a text, without the instructions of fields.
fn letters(text: &str) -> String {
    let mut is_instruction = false;
    let is_letter = |c: &char| {
        is_instruction = match *c {
            FIELD_START => true,
            FIELD_RESULT => false,
            _ => is_instruction,
        };
        !is_instruction && c.is_alphanumeric()
    };
    text.chars().filter(is_letter).collect()
}

#[cfg(test)]
mod tests {
    use office_oxide::ir::{InlineContent, Section, TextSpan};

    use super::*;

    #[test]
    fn guessed_headings_are_paragraphs() {
        let heading = |level: u8, text: &str| {
            Element::Heading(Heading {
                level,
                content: vec![InlineContent::Text(TextSpan::plain(text))],
                ..Heading::default()
            })
        };
        let elements = vec![
            heading(1, "Birds of ponds"),
            heading(2, "HERONS, 1"),
            heading(2, "SHOUTING"),
            heading(2, "Egrets"),
            heading(3, "STORKS"),
        ];
        let mut ir = DocumentIR::default();
        ir.sections.push(Section {
            elements,
            ..Section::default()
        });
        keep(&HashSet::from(["HERONS1".to_owned()]), &mut ir);
        let levels = ir.sections[0].elements.iter().map(|element| match element {
            Element::Heading(heading) => heading.level,
            _ => 0,
        });
        assert_eq!(levels.collect::<Vec<_>>(), [0, 2, 0, 2, 3]);
        assert_eq!(letters("a\u{13} PAGE \u{14}1\u{15}, b"), "a1b");
    }
}
