//! Decides which lines are headings, and their level. The document outline takes precedence, then section
//! numbers, then what looks like a heading on its page.

use std::collections::HashMap;

use unpdf::Outline;
use unpdf::model::OutlineItem;

use super::block::{Block, PdfPage, Role, Text};
use crate::limits::PDF_OUTLINE_ENTRIES;

/// Maximum number of characters of a heading.
const HEADING_CHARS: usize = 200;
/// Words for parts of a book, in lower case; they stand above the title of the part.
pub(super) const PART_WORDS: &[&str] = &[
    "chapter", "part", "appendix", "section", "kapitel", "teil", "anhang", "chapitre", "capítulo", "capitolo",
];

/// Sets the role of every line that is, or should be, a heading.
pub(super) fn assign(pages: &mut [PdfPage], outline: Option<&Outline>) {
    let titles = outline.map(titles).unwrap_or_default();
    let first_positions = first_positions(pages, &titles);
    let mut level_above = 0;
    for (page_at, page) in pages.iter_mut().enumerate() {
        let mut removed = Vec::new();
        for at in 0..page.blocks.len() {
            let Block::Text(text) = &page.blocks[at] else {
                continue;
            };
            if text.role == Role::Entry {
                continue;
            }
            let plain = text.plain();
            let known = titles.get(&key(&plain));
            let role = match known {
                Some(title) if first_positions.get(&key(&plain)) == Some(&(page_at, at)) => {
                    Role::Heading(title.level)
                }
                // The same words repeated in a margin.
                Some(_) if is_margin(page, at) => {
                    removed.push(at);
                    continue;
                }
                Some(_) | None => guess(text, &plain, level_above),
            };
            if let Role::Heading(level) = role
                && (known.is_some() || is_numbered(&plain))
            {
                removed.extend(part_words_before(&page.blocks, at));
                level_above = level;
            }
            let title = known.map(|title| title.text.clone());
            if let Block::Text(text) = &mut page.blocks[at] {
                // Prefer the outline's spelling to a title in capitals.
                if let (Role::Heading(_), Some(title)) = (role, title)
                    && plain.chars().all(|c| !c.is_lowercase())
                {
                    text.runs = Text::plain_run(&title).runs;
                }
                text.role = role;
            }
        }
        let mut at = 0;
        page.blocks.retain(|_| {
            at += 1;
            !removed.contains(&(at - 1))
        });
    }
}

/// A heading in the outline.
struct Title {
    text: String,
    level: u8,
}

/// Returns the outline entries by their key.
fn titles(outline: &Outline) -> HashMap<String, Title> {
    let mut titles = HashMap::new();
    let mut stack: Vec<(&OutlineItem, u8)> = outline.items.iter().rev().map(|item| (item, 1)).collect();
    while let Some((item, level)) = stack.pop() {
        if titles.len() >= PDF_OUTLINE_ENTRIES {
            break;
        }
        let text = item.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let key = key(&text);
        if !key.is_empty() {
            titles.entry(key).or_insert(Title { text, level });
        }
        stack.extend(
            item.children
                .iter()
                .rev()
                .map(|child| (child, level.saturating_add(1).min(6))),
        );
    }
    titles
}

/// Returns where each title appears first. On that page, a position inside the page takes precedence over one
/// at its edge, where running headers repeat titles.
fn first_positions(pages: &[PdfPage], titles: &HashMap<String, Title>) -> HashMap<String, (usize, usize)> {
    let mut first_positions: HashMap<String, (usize, usize)> = HashMap::new();
    for (page_at, page) in pages.iter().enumerate() {
        for (at, block) in page.blocks.iter().enumerate() {
            let Some(text) = block.as_text().filter(|text| text.role != Role::Entry) else {
                continue;
            };
            let key = key(&text.plain());
            if !titles.contains_key(&key) {
                continue;
            }
            match first_positions.get_mut(&key) {
                None => {
                    first_positions.insert(key, (page_at, at));
                }
                Some(first) if first.0 == page_at && is_margin(page, first.1) && !is_margin(page, at) => {
                    *first = (page_at, at);
                }
                Some(_) => {}
            }
        }
    }
    first_positions
}

fn is_margin(page: &PdfPage, at: usize) -> bool {
    at == 0 || at + 1 == page.blocks.len()
}

/// Returns the key of a title: without a leading part or section number (`Chapter 3.`, `2.1`), only letters
/// and digits, in lower case.
fn key(title: &str) -> String {
    let mut words: Vec<&str> = title.split_whitespace().collect();
    if words.len() > 2
        && PART_WORDS.contains(&words[0].to_lowercase().as_str())
        && is_section_number(words[1])
    {
        words.drain(..2);
    } else if words.len() > 1 && is_section_number(words[0]) {
        words.remove(0);
    }
    let letters = words
        .iter()
        .flat_map(|word| word.chars())
        .filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns true for section numbers such as `3`, `3.`, `2.1`, `A.2.`, `IV.`.
fn is_section_number(word: &str) -> bool {
    let parts: Vec<&str> = word.trim_end_matches(['.', ':', ')']).split('.').collect();
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    let is_letter = |part: &str| part.len() == 1 && part.bytes().all(|b| b.is_ascii_uppercase());
    let is_number =
        |part: &str| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
    let is_roman =
        word.ends_with(['.', ':']) && parts.len() == 1 && parts[0].bytes().all(|b| b"IVX".contains(&b));
    is_roman
        || parts.iter().all(|part| is_number(part) || is_letter(part))
            && (has_digit || word.ends_with(['.', ':']))
}

/// Returns the level of a section number: the number of its parts, 1 to 6.
fn depth(number: &str) -> u8 {
    let parts = number.trim_end_matches(['.', ':', ')']).split('.').count();
    u8::try_from(parts).unwrap_or(6).clamp(1, 6)
}

fn is_numbered(title: &str) -> bool {
    title
        .split_once(' ')
        .is_some_and(|(first, _)| is_section_number(first))
}

/// Returns the role of a line that is not in the outline.
fn guess(text: &Text, plain: &str, level_above: u8) -> Role {
    let seems = text.is_heading() || (text.role == Role::Paragraph && text.is_bold());
    if !seems {
        return text.role;
    }
    let is_short = plain.chars().count() <= HEADING_CHARS;
    let is_sentence = plain.ends_with(['.', ',', ';', ':']) && plain.split(' ').count() > 3;
    let says_words = plain.chars().filter(|c| c.is_alphabetic()).count() > 2;
    if !is_short || is_sentence || !says_words {
        return Role::Paragraph;
    }
    match text.role {
        _ if is_numbered(plain) => Role::Heading(depth(plain.split(' ').next().unwrap_or_default())),
        // A heading without a number is below the section that contains it.
        Role::Heading(level) if level_above > 0 => {
            Role::Heading(level.max(level_above.saturating_add(1)).min(6))
        }
        role => role,
    }
}

/// Returns the positions of lines such as `CHAPTER` and `ONE` above the title at `at`.
fn part_words_before(blocks: &[Block], at: usize) -> Vec<usize> {
    let is_word = |at: usize| {
        let text = blocks[at].as_text()?.plain();
        (text.split(' ').count() <= 2).then(|| text.to_lowercase())
    };
    for start in at.saturating_sub(2)..at {
        let words: Option<Vec<String>> = (start..at).map(is_word).collect();
        let Some(words) = words else { continue };
        let begins = words
            .first()
            .and_then(|word| word.split(' ').next())
            .unwrap_or_default();
        if PART_WORDS.contains(&begins) {
            return (start..at).collect();
        }
    }
    Vec::new()
}
