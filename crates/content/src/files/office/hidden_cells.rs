//! Hidden rows and columns of workbooks, which `office_oxide` does not know: they are removed before it reads the file.

mod records;

use std::collections::HashMap;

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
    let start = |name: &str| format!("<{prefix}{name} ");
    let end = |name: &str| format!("</{prefix}{name}>");
    let mut is_hidden_column = vec![false; MAX_COL as usize + 2];
    for rest in head.split(&format!("<{prefix}col")).take(limits::TABLE_COLUMNS) {
        let tag = rest.split('>').next().unwrap_or_default();
        let number = |name| attribute(tag, name)?.parse::<usize>().ok();
        if is_hidden(tag)
            && let (Some(first), Some(last)) = (number("min"), number("max"))
        {
            let columns = is_hidden_column.iter_mut().skip(first);
            columns
                .take(last.saturating_sub(first).saturating_add(1))
                .for_each(|column| *column = true);
        }
    }
    // The first visible column from each on.
    let mut visible_columns: Vec<u32> = (0..=MAX_COL + 1).collect();
    for column in (0..=MAX_COL as usize).rev().filter(|at| is_hidden_column[at + 1]) {
        visible_columns[column] = visible_columns[column + 1];
    }
    let next_visible = |column: u32| *visible_columns.get(column as usize).unwrap_or(&column);
    // The last columns of merged cells, by their first cells.
    let merged = format!("<{prefix}mergeCell");
    let merged = xml.split(&merged).skip(1).filter_map(|rest| {
        let (first, last) = attribute(rest, "ref")?.split_once(':')?;
        Some((first, CellRef::parse(last)?.col))
    });
    let merged: HashMap<&str, u32> = merged.collect();
    let elements = ["row", "c"].map(|name| (start(name), end(name)));
    let values = ["v>", "v ", "is>"].map(|name| format!("<{prefix}{name}"));
    let mut has_content = false;
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in xml.match_indices('<') {
        let rest = &xml[at..];
        let element = elements.iter().find(|(start, _)| rest.starts_with(start));
        let Some((_, end)) = element.filter(|_| at >= copied) else {
            continue;
        };
        let tag = &rest[..rest.find('>')? + 1];
        let place = attribute(tag, "r").unwrap_or_default();
        let hidden_cell = CellRef::parse(place).filter(|cell| next_visible(cell.col) > cell.col);
        if is_hidden(tag) || hidden_cell.is_some() {
            // A merged cell is visible if one of its columns is.
            if let (Some(cell), Some(last)) = (hidden_cell, merged.get(place))
                && next_visible(cell.col) <= *last
            {
                let col = next_visible(cell.col);
                let visible = CellRef { col, ..cell };
                out.push_str(&xml[copied..at]);
                out.push_str(&tag.replacen(&format!("\"{place}\""), &format!("\"{visible}\""), 1));
                copied = at + tag.len();
                continue;
            }
            let length = if tag.ends_with("/>") {
                tag.len()
            } else {
                rest.find(end)? + end.len()
            };
            has_content |= values.iter().any(|value| rest[..length].contains(value));
            out.push_str(&xml[copied..at]);
            copied = at + length;
        }
    }
    out.push_str(&xml[copied..]);
    has_content.then_some(out)
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
