//! Hidden rows and columns of workbooks, which `office_oxide` does not know: they are removed before it reads the file.

mod records;

use std::collections::HashMap;
use std::ops::RangeInclusive;

use office_oxide::xlsx::CellRef;
use office_oxide::xlsx::cell::MAX_COL;

use crate::files::archive::Archive;
use crate::limits;

/// Returns a binary workbook without hidden rows and the cells of hidden columns; `None` if these have no content, or it
/// is damaged.
pub(super) fn visible_binary(body: &[u8]) -> Option<Vec<u8>> {
    let is_sheet = |name: &str| name.starts_with("xl/worksheets/") && name.ends_with(".bin");
    Archive::open(body).ok()?.changed(is_sheet, records::visible)
}

/// Returns the XML of a sheet without what is hidden; `None` if this has no content, or it is damaged.
pub(super) fn visible(xml: &str) -> Option<String> {
    if !is_hidden(xml) {
        return None;
    }
    // Some writers put a prefix before all names.
    let (head, _) = xml.split_once("sheetData")?;
    let prefix = head.rsplit('<').next()?;
    let start = |name: &str| format!("<{prefix}{name}");
    let end = |name: &str| format!("</{prefix}{name}>");
    let [column, merge] = ["col", "mergeCell"].map(start);
    let hidden_columns = head
        .split(&column)
        .take(limits::TABLE_COLUMNS)
        .filter_map(|rest| {
            let tag = rest.split('>').next()?;
            let column = |name| attribute(tag, name)?.parse::<u32>().ok()?.checked_sub(1);
            let columns = column("min")?..=column("max")?;
            is_hidden(tag).then_some(columns)
        });
    let columns = Columns::new(&hidden_columns.collect::<Vec<_>>());
    // The last cells of merged ranges, by their first cells.
    let merged = xml.split(&merge).skip(1).filter_map(|rest| {
        let (first, last) = attribute(rest, "ref")?.split_once(':')?;
        Some((first, CellRef::parse(last)?))
    });
    let merged: HashMap<&str, CellRef> = merged.collect();
    let [row_start, cell_start] = [start("row"), start("c ")];
    let [row_end, cell_end, sheet_end] = ["row", "c", "sheetData"].map(end);
    let values = ["v>", "v ", "is>"].map(start);
    let has_value = |xml: &str| values.iter().any(|value| xml.contains(value));
    let mut continued = Continued::default();
    let mut row = 0_u32;
    let mut has_content = false;
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in xml.match_indices('<') {
        let rest = &xml[at..];
        if at < copied {
            continue;
        }
        let is_end = rest.starts_with(&sheet_end);
        let after = rest.strip_prefix(&row_start);
        let is_row = after.is_some_and(|after| after.starts_with([' ', '/', '>']));
        if !is_row && !is_end && !rest.starts_with(&cell_start) {
            continue;
        }
        let tag = &rest[..rest.find('>')? + 1];
        let place = attribute(tag, "r").unwrap_or_default();
        if is_row || is_end {
            let next = row.saturating_add(1);
            row = place.parse().unwrap_or(next);
            if (is_end || row > next) && !continued.0.is_empty() {
                // Rows that are not stored are visible.
                out.push_str(&xml[copied..at]);
                out.push_str(&format!("{row_start} r=\"{next}\">"));
                continued.write(next, &mut out);
                out.push_str(&row_end);
                copied = at;
            }
            if is_row && is_hidden(tag) {
                let hidden = element(rest, tag, &row_end)?;
                has_content |= has_value(hidden);
                for (at, _) in hidden.match_indices(&cell_start) {
                    let rest = &hidden[at..];
                    let tag = &rest[..rest.find('>')? + 1];
                    let place = attribute(tag, "r").unwrap_or_default();
                    if let Some(last) = merged.get(place).filter(|last| last.row >= row)
                        && let Some(column) = columns.first_visible(CellRef::parse(place)?.col, last.col)
                    {
                        let xml = element(rest, tag, &cell_end)?;
                        let (column, last_row) = (column, last.row);
                        continued.0.push(ContinuedCell {
                            xml,
                            place,
                            column,
                            last_row,
                        });
                    }
                }
                out.push_str(&xml[copied..at]);
                copied = at + hidden.len();
            } else if is_row && !continued.0.is_empty() {
                out.push_str(&xml[copied..at]);
                let is_empty = tag.ends_with("/>");
                out.push_str(tag.trim_end_matches("/>").trim_end_matches('>'));
                out.push('>');
                continued.write(row, &mut out);
                out.push_str(if is_empty { &row_end } else { "" });
                copied = at + tag.len();
            }
        } else if let Some(cell) = CellRef::parse(place)
            && columns.first_visible(cell.col, cell.col).is_none()
        {
            out.push_str(&xml[copied..at]);
            // A merged cell is visible if one of its columns is.
            let last = merged.get(place).map_or(cell.col, |last| last.col);
            if let Some(col) = columns.first_visible(cell.col, last) {
                out.push_str(&moved(tag, place, CellRef { col, ..cell }));
                copied = at + tag.len();
            } else {
                let hidden = element(rest, tag, &cell_end)?;
                has_content |= has_value(hidden);
                copied = at + hidden.len();
            }
        }
    }
    out.push_str(&xml[copied..]);
    has_content.then_some(out)
}

/// Which columns of a sheet are visible.
struct Columns {
    /// The first visible column from each on.
    visible: Vec<u32>,
}

impl Columns {
    fn new(hidden: &[RangeInclusive<u32>]) -> Self {
        let mut visible: Vec<u32> = (0..=MAX_COL + 1).collect();
        let mut is_hidden = vec![false; visible.len()];
        for columns in hidden {
            let (first, last) = (*columns.start() as usize, (*columns.end()).min(MAX_COL) as usize);
            if let Some(columns) = is_hidden.get_mut(first..=last) {
                columns.fill(true);
            }
        }
        for column in (0..visible.len()).rev().filter(|at| is_hidden[*at]) {
            visible[column] = visible[column + 1];
        }
        Self { visible }
    }

    /// Returns the first visible column among these.
    fn first_visible(&self, first: u32, last: u32) -> Option<u32> {
        let column = *self.visible.get(first as usize).unwrap_or(&first);
        (column <= last).then_some(column)
    }
}

/// A merged cell that begins in a hidden row and continues below.
struct ContinuedCell<'a> {
    xml: &'a str,
    place: &'a str,
    /// Its first visible column.
    column: u32,
    last_row: u32,
}

/// Merged cells that continue in the next visible row.
#[derive(Default)]
struct Continued<'a>(Vec<ContinuedCell<'a>>);

impl Continued<'_> {
    /// Writes those that reach a row, from 1, and empties the list.
    fn write(&mut self, row: u32, out: &mut String) {
        let row = row.saturating_sub(1);
        for cell in self.0.drain(..).filter(|cell| cell.last_row >= row) {
            let col = cell.column;
            let visible = CellRef { col, row };
            out.push_str(&moved(cell.xml, cell.place, visible));
        }
    }
}

/// Returns the XML of a cell at another place.
fn moved(xml: &str, place: &str, new: CellRef) -> String {
    xml.replacen(&format!("\"{place}\""), &format!("\"{new}\""), 1)
}

/// Returns the element whose tag begins the XML.
fn element<'a>(xml: &'a str, tag: &str, end: &str) -> Option<&'a str> {
    let length = match tag.ends_with("/>") {
        true => tag.len(),
        false => xml.find(end)? + end.len(),
    };
    Some(&xml[..length])
}

fn is_hidden(tag: &str) -> bool {
    tag.contains(" hidden=\"1\"") || tag.contains(" hidden=\"true\"")
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::write::SimpleFileOptions;
    use zip::{ZipArchive, ZipWriter};

    use super::*;

    #[test]
    fn hidden_rows_and_columns_are_removed() {
        let sheet = "<x:worksheet><x:cols><x:col min=\"2\" max=\"3\" hidden=\"1\"/></x:cols><x:sheetData><x:row r=\"1\">\
                     <x:c r=\"A1\"><x:v>1</x:v></x:c><x:c r=\"B1\"><x:v>2</x:v></x:c><x:c r=\"C1\"/></x:row>\
                     <x:row r=\"2\" hidden=\"true\"><x:c r=\"A2\"/></x:row><x:row r=\"3\" hidden=\"1\"/></x:sheetData></x:worksheet>";
        for prefix in ["x:", ""] {
            let sheet = sheet.replace("x:", prefix);
            let expected = "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row></sheetData></worksheet>";
            let visible = visible(&sheet).unwrap().replace("x:", "");
            assert!(visible.ends_with(expected), "{visible}");
        }
        let merged = "<cols><col min=\"1\" max=\"2\" hidden=\"1\"/></cols><sheetData><c r=\"A1\"><v>1</v></c><c r=\"B1\"><v>2</v></c>\
                      <c r=\"C1\"/></sheetData><mergeCells><mergeCell ref=\"B1:C1\"/></mergeCells>";
        let expected = "<c r=\"C1\"><v>2</v></c><c r=\"C1\"/></sheetData>";
        assert!(
            visible(merged).unwrap().contains(expected),
            "a cell merged with a visible one"
        );
        for nothing_hidden in ["<row r=\"1\"/>", "<row hidden=\"1\"><c r=\"A1\"/></row>"] {
            assert_eq!(visible(&format!("<sheetData>{nothing_hidden}</sheetData>")), None);
        }
        for damaged in [
            "<sheetData><row hidden=\"1\"><c",
            "<sheetData><row hidden=\"1\"",
            " hidden=\"1\"",
        ] {
            assert_eq!(visible(damaged), None);
        }
    }

    #[test]
    fn a_merged_cell_of_a_hidden_row_is_in_the_first_visible_row() {
        let rows = |rows: &str| {
            let merged = "<mergeCell ref=\"A1:A4\"/><mergeCell ref=\"B1:B2\"/>";
            let xml = format!("<sheetData>{rows}</sheetData><mergeCells>{merged}</mergeCells>");
            let visible = visible(&xml).unwrap();
            visible
                .split_once("</sheetData>")
                .unwrap()
                .0
                .replace("<sheetData>", "")
        };
        let hidden = "<row r=\"1\" hidden=\"1\"><c r=\"A1\" s=\"1\"><v>1</v></c><c r=\"B1\"/></row>\
                      <row r=\"2\" hidden=\"1\"/>";
        let visible_row = "<row r=\"3\"><c r=\"A3\" s=\"1\"><v>1</v></c></row>";
        for row in ["<row r=\"3\"/>", "<row r=\"3\"></row>", ""] {
            assert_eq!(rows(&format!("{hidden}{row}")), visible_row);
        }
        assert!(rows(&format!("{hidden}<row r=\"0\"></row>")).contains("<v>1</v>"));
        let below = "<row r=\"7\"><c r=\"A7\"/></row>";
        assert_eq!(rows(&format!("{hidden}{below}")), format!("{visible_row}{below}"));
    }

    #[test]
    fn binary_sheets_are_read() {
        let sheet = "\0\x0C\0\0\0\0\0\0\0\0\0\0\0\x10\x07\x04\0\0\0\0\x1A\x01\0";
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for name in [
            "xl/worksheets/sheet1.bin",
            "xl/printerSettings/printerSettings1.bin",
        ] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(sheet.as_bytes()).unwrap();
        }
        let changed = visible_binary(&zip.finish().unwrap().into_inner()).unwrap();
        let mut changed = ZipArchive::new(Cursor::new(changed)).unwrap();
        let mut length = |name| changed.by_name(name).unwrap().size() as usize;
        assert_eq!(length("xl/worksheets/sheet1.bin"), sheet.len() - 6);
        assert_eq!(length("xl/printerSettings/printerSettings1.bin"), sheet.len());
    }
}
