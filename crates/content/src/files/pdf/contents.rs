//! Tables of contents: lines that end with leader dots and a page number become list items without the dots.

use super::block::{Block, PdfPage, Role, Table, Text};

/// Minimum lines with leader dots on a page that is part of a table of contents.
const MIN_ENTRIES: usize = 3;

/// Marks the entries of tables of contents.
pub(super) fn mark(pages: &mut [PdfPage]) {
    for page in pages {
        let has_leaders = page
            .blocks
            .iter()
            .filter_map(Block::as_text)
            .filter(|text| entry(&text.plain()).is_some());
        let is_contents = has_leaders.count() >= MIN_ENTRIES;
        let found = std::mem::take(&mut page.blocks);
        for block in found {
            match block {
                Block::Text(text) => match entry(&text.plain()) {
                    Some(line) if !matches!(text.role, Role::Item(..)) || has_leader_dots(&text.plain()) => {
                        page.blocks.push(as_entry(&line));
                    }
                    // Chapter entries often have no dots.
                    None if is_contents && is_chapter_entry(&text.plain()) => {
                        page.blocks.push(as_entry(&text.plain()));
                    }
                    _ => page.blocks.push(Block::Text(text)),
                },
                Block::Table(table) if is_contents_table(&table) => {
                    page.blocks.extend(table.rows.iter().map(|row| {
                        let cells: Vec<String> = row.iter().map(|cell| cell.text.plain()).collect();
                        as_entry(cells.join(" ").trim())
                    }));
                }
                other => page.blocks.push(other),
            }
        }
    }
}

fn as_entry(line: &str) -> Block {
    Block::Text(Text {
        role: Role::Entry,
        ..Text::plain_run(line)
    })
}

/// Returns `2.1 Start . . . . . . 5` without its dots; `None` for any other line.
pub(super) fn entry(line: &str) -> Option<String> {
    let number = line.rsplit([' ', '.']).next().unwrap_or_default();
    if !is_page_number(number) {
        return None;
    }
    let before = &line[..line.len() - number.len()];
    let title = before.trim_end_matches([' ', '.', '\u{2026}', '\u{B7}', '_']);
    let dots = before[title.len()..].chars().filter(|c| *c != ' ').count();
    let has_leaders = dots >= 3 || before[title.len()..].contains('\u{2026}');
    (has_leaders && !title.is_empty()).then(|| format!("{title} {number}"))
}

/// Returns true for more dots than any sentence has: a list item may end with an ellipsis and a number.
fn has_leader_dots(line: &str) -> bool {
    line.contains("...") || line.contains(". . .")
}

/// Returns true for lines like `3 Duties 9`: a section number, words, and a page number.
fn is_chapter_entry(line: &str) -> bool {
    let last = line.rsplit(' ').next().unwrap_or_default();
    starts_with_number(line) && line.split(' ').count() > 2 && is_page_number(last)
}

/// Returns true for a table that is part of a table of contents: several columns, the first with section
/// numbers and the last with increasing page numbers.
fn is_contents_table(table: &Table) -> bool {
    let mut last = 0;
    let mut numbers = 0;
    for row in &table.rows {
        let number = row.last().map(|cell| cell.text.plain()).unwrap_or_default();
        let first = row.first().map(|cell| cell.text.plain()).unwrap_or_default();
        match number.parse::<u32>() {
            Ok(number) if number >= last && starts_with_number(&first) => {
                last = number;
                numbers += 1;
            }
            _ if is_page_number(&number) && first.is_empty() => {}
            _ => return false,
        }
    }
    numbers > 1
}

fn starts_with_number(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    first.starts_with(|c: char| c.is_ascii_digit()) && first.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Returns true for an Arabic or Roman number as small as page numbers are.
pub(super) fn is_page_number(text: &str) -> bool {
    let is_arabic = text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
    let is_roman = text.len() <= 7
        && (text.bytes().all(|b| b"ivxlc".contains(&b)) || text.bytes().all(|b| b"IVXLC".contains(&b)));
    !text.is_empty() && (is_arabic || is_roman)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_leaders_are_entries() {
        let check =
            |line: &str, expected: Option<&str>| assert_eq!(entry(line).as_deref(), expected, "{line}");
        check("2.1 Getting started . . . . . 5", Some("2.1 Getting started 5"));
        check("Preface ........ xii", Some("Preface xii"));
        check("See page 12", None);
        check("It was 1999", None);
        check("and so on... 7", Some("and so on 7"));
        check(". . . . 4", None);
    }
}
