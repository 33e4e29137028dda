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
    let mut sheet = Sheet::new(xml)?;
    for (at, _) in xml.match_indices('<') {
        if at >= sheet.copied {
            sheet.read_tag(at)?;
        }
    }
    sheet.copy_to(xml.len());
    sheet.has_content.then_some(sheet.out)
}

/// A sheet that is copied without what is hidden.
struct Sheet<'a> {
    xml: &'a str,
    tags: Tags,
    columns: Columns,
    /// The last cells of merged ranges, by their first cells.
    merged: HashMap<&'a str, CellRef>,
    continued: Continued<'a>,
    /// The current row, from 1.
    row: u32,
    /// Whether anything hidden has a value.
    has_content: bool,
    out: String,
    /// Length of the XML that was copied or left out.
    copied: usize,
}

/// Starts of tags. Some writers put a prefix before all names.
struct Tags {
    row: String,
    row_end: String,
    cell: String,
    cell_end: String,
    sheet_end: String,
    values: [String; 3],
}

impl<'a> Sheet<'a> {
    fn new(xml: &'a str) -> Option<Self> {
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
        let merged = xml.split(&merge).skip(1).filter_map(|rest| {
            let (first, last) = attribute(rest, "ref")?.split_once(':')?;
            Some((first, CellRef::parse(last)?))
        });
        Some(Self {
            xml,
            columns: Columns::new(&hidden_columns.collect::<Vec<_>>()),
            merged: merged.collect(),
            tags: Tags {
                row: start("row"),
                row_end: end("row"),
                cell: start("c "),
                cell_end: end("c"),
                sheet_end: end("sheetData"),
                values: ["v>", "v ", "is>"].map(start),
            },
            continued: Continued::default(),
            row: 0,
            has_content: false,
            out: String::new(),
            copied: 0,
        })
    }

    fn copy_to(&mut self, at: usize) {
        self.out.push_str(&self.xml[self.copied..at]);
        self.copied = at;
    }

    fn read_tag(&mut self, at: usize) -> Option<()> {
        let rest = &self.xml[at..];
        let is_end = rest.starts_with(&self.tags.sheet_end);
        let after = rest.strip_prefix(self.tags.row.as_str());
        let is_row = after.is_some_and(|after| after.starts_with([' ', '/', '>']));
        if !is_row && !is_end && !rest.starts_with(&self.tags.cell) {
            return Some(());
        }
        let tag = &rest[..rest.find('>')? + 1];
        let place = attribute(tag, "r").unwrap_or_default();
        if is_row || is_end {
            self.begin_row(at, place, is_end);
            if is_row && is_hidden(tag) {
                self.remove_row(at, tag)?;
            } else if is_row && !self.continued.0.is_empty() {
                self.continue_cells(at, tag);
            }
        } else if let Some(cell) = CellRef::parse(place)
            && self.columns.first_visible(cell.col, cell.col).is_none()
        {
            self.remove_cell(at, tag, (place, cell))?;
        }
        Some(())
    }

    /// Begins the next row, or the end of the sheet. Rows that are not stored are visible.
    fn begin_row(&mut self, at: usize, place: &str, is_end: bool) {
        let next = self.row.saturating_add(1);
        self.row = place.parse().unwrap_or(next);
        if (is_end || self.row > next) && !self.continued.0.is_empty() {
            self.copy_to(at);
            self.out.push_str(&format!("{} r=\"{next}\">", self.tags.row));
            self.continued.write(next, &mut self.out);
            self.out.push_str(&self.tags.row_end);
        }
    }

    /// Leaves a row out. Its merged cells may continue below.
    fn remove_row(&mut self, at: usize, tag: &str) -> Option<()> {
        let hidden = element(&self.xml[at..], tag, &self.tags.row_end)?;
        self.has_content |= self.has_value(hidden);
        for (at, _) in hidden.match_indices(&self.tags.cell) {
            let rest = &hidden[at..];
            let tag = &rest[..rest.find('>')? + 1];
            let place = attribute(tag, "r").unwrap_or_default();
            if let Some(last) = self.merged.get(place).filter(|last| last.row >= self.row)
                && let Some(column) = self.columns.first_visible(CellRef::parse(place)?.col, last.col)
            {
                self.continued.0.push(ContinuedCell {
                    xml: element(rest, tag, &self.tags.cell_end)?,
                    place,
                    column,
                    last_row: last.row,
                });
            }
        }
        self.copy_to(at);
        self.copied += hidden.len();
        Some(())
    }

    /// Copies the start of a row, and the merged cells that continue in it.
    fn continue_cells(&mut self, at: usize, tag: &str) {
        self.copy_to(at);
        let is_empty = tag.ends_with("/>");
        self.out
            .push_str(tag.trim_end_matches("/>").trim_end_matches('>'));
        self.out.push('>');
        self.continued.write(self.row, &mut self.out);
        self.out.push_str(if is_empty { &self.tags.row_end } else { "" });
        self.copied += tag.len();
    }

    /// Leaves out a cell of a hidden column. A merged cell is visible if one of its columns is.
    fn remove_cell(&mut self, at: usize, tag: &str, (place, cell): (&str, CellRef)) -> Option<()> {
        self.copy_to(at);
        let last = self.merged.get(place).map_or(cell.col, |last| last.col);
        if let Some(col) = self.columns.first_visible(cell.col, last) {
            self.out.push_str(&moved(tag, place, CellRef { col, ..cell }));
            self.copied += tag.len();
        } else {
            let hidden = element(&self.xml[at..], tag, &self.tags.cell_end)?;
            self.has_content |= self.has_value(hidden);
            self.copied += hidden.len();
        }
        Some(())
    }

    fn has_value(&self, xml: &str) -> bool {
        self.tags.values.iter().any(|value| xml.contains(value))
    }
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
