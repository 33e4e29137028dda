//! What `office_oxide` does not return of workbooks before 2007: which rows and columns are hidden, and the number formats
//! of cells, by which [`super::time`] shows times ([MS-XLS]).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Cursor;

use office_oxide::cfb::CfbReader;
use office_oxide::ir::{DocumentIR, Element, Table};
use office_oxide::xls::{CellValue, Sheet, XlsDocument};

use super::cells::text_of_cell;
use super::time::is_time;

/// Record types (section 2.3).
const FORMAT: u16 = 0x041E;
const XF: u16 = 0x00E0;
const BEGIN: u16 = 0x0809;
const END: u16 = 0x000A;
const COLUMNS: u16 = 0x007D;
const ROW: u16 = 0x0208;
/// Types of the parts that are sheets: cells, a chart, macros (section 2.4.21).
const SHEETS: [usize; 3] = [0x10, 0x20, 0x40];
const LAST_COLUMN: usize = 255;

/// Sets number and format of the cells that show a time, and removes hidden rows and columns. Returns whether these have
/// content.
pub(super) fn complete(body: &[u8], workbook: &XlsDocument, ir: &mut DocumentIR) -> bool {
    let stream = CfbReader::new(Cursor::new(body)).and_then(|mut file| file.open_stream("Workbook"));
    let Ok(stream) = stream else { return false };
    let formats = time_formats(&stream);
    let hidden = hidden(&stream);
    let mut has_hidden = false;
    for ((sheet, hidden), section) in workbook.sheets.iter().zip(&hidden).zip(&mut ir.sections) {
        for element in &mut section.elements {
            if let Element::Table(table) = element {
                set_formats(table, sheet, &formats);
                has_hidden |= hidden.remove(table);
            }
        }
    }
    has_hidden
}

/// Returns the column of each cell of a table.
fn columns(table: &Table) -> Vec<Vec<usize>> {
    // For each column, the first row that no cell above covers.
    let mut free = Vec::new();
    let rows = table.rows.iter().enumerate();
    let columns = rows.map(|(at, row)| {
        let mut next = 0;
        let columns = row.cells.iter().map(|cell| {
            let covered = free[next.min(free.len())..].iter().take_while(|row| **row > at);
            let column = next + covered.count();
            next = column + cell.col_span as usize;
            free.resize(next.max(free.len()), 0);
            free[column..next].fill(at + cell.row_span as usize);
            column
        });
        columns.collect()
    });
    columns.collect()
}

/// Sets number and format of the cells that show a time.
fn set_formats(table: &mut Table, sheet: &Sheet, formats: &[Option<String>]) {
    let columns = columns(table);
    for (at, (row, columns)) in table.rows.iter_mut().zip(columns).enumerate() {
        for (cell, column) in row.cells.iter_mut().zip(columns) {
            let value = sheet.rows.get(at).and_then(|row| row.get(column));
            let style = sheet.xf.get(at).and_then(|row| row.get(column));
            let format = style.and_then(|style| formats.get(usize::from(*style))?.clone());
            if let (Some(CellValue::Number(number)), Some(format)) = (value, format) {
                (cell.raw_number, cell.number_format) = (Some(*number), Some(format));
            }
        }
    }
}

/// The hidden rows and columns of a sheet.
#[derive(PartialEq, Eq, Debug, Default)]
struct Hidden {
    rows: HashSet<usize>,
    columns: HashSet<usize>,
}

impl Hidden {
    /// Removes them from a table. Returns whether they have content.
    fn remove(&self, table: &mut Table) -> bool {
        if self.rows.is_empty() && self.columns.is_empty() {
            return false;
        }
        let visible = |hidden: &HashSet<usize>, first: usize, span: u32| {
            let all = first..first + span as usize;
            all.filter(|at| !hidden.contains(at)).count() as u32
        };
        let mut has_content = false;
        // Merged cells that begin in a hidden row.
        let mut continued = BTreeMap::new();
        let columns = columns(table);
        for (at, (row, columns)) in table.rows.iter_mut().zip(columns).enumerate() {
            let mut cells = std::mem::take(&mut continued);
            cells.extend(columns.into_iter().zip(row.cells.drain(..)));
            for (column, mut cell) in cells {
                let col_span = visible(&self.columns, column, cell.col_span);
                if col_span > 0 && !self.rows.contains(&at) {
                    cell.col_span = col_span;
                    cell.row_span = visible(&self.rows, at, cell.row_span);
                    row.cells.push(cell);
                } else if col_span > 0 && cell.row_span > 1 {
                    cell.row_span -= 1;
                    continued.insert(column, cell);
                } else {
                    has_content |= text_of_cell(&cell).is_some_and(|text| !text.is_empty());
                }
            }
        }
        let mut at = 0..;
        table
            .rows
            .retain(|_| at.next().is_some_and(|at| !self.rows.contains(&at)));
        has_content
    }
}

/// Returns what is hidden in each sheet.
fn hidden(stream: &[u8]) -> Vec<Hidden> {
    let mut parts: Vec<(usize, Hidden)> = Vec::new();
    let mut depth = 0_usize;
    for (kind, data) in records(stream) {
        let number = |at| number_at(data, at).map_or(0, usize::from);
        match (kind, depth, parts.last_mut()) {
            (BEGIN, ..) => {
                if depth == 0 {
                    parts.push((number(2), Hidden::default()));
                }
                depth += 1;
            }
            (END, ..) => depth = depth.saturating_sub(1),
            // What is deeper belongs to a chart in the sheet.
            (COLUMNS, 1, Some((_, sheet))) if number(8) & 1 != 0 => {
                sheet.columns.extend(number(0)..=number(2).min(LAST_COLUMN));
            }
            (ROW, 1, Some((_, sheet))) if number(12) & 0x20 != 0 => {
                sheet.rows.insert(number(0));
            }
            _ => {}
        }
    }
    parts.retain(|(kind, _)| SHEETS.contains(kind));
    parts.into_iter().map(|(_, hidden)| hidden).collect()
}

/// Returns the format of each cell style that shows a time.
fn time_formats(stream: &[u8]) -> Vec<Option<String>> {
    let mut codes: HashMap<u16, String> = HashMap::new();
    let mut styles = Vec::new();
    for (kind, data) in records(stream) {
        match kind {
            XF => styles.push(number_at(data, 2).unwrap_or(0)),
            FORMAT => codes.extend(number_at(data, 0).zip(data.get(2..).and_then(string))),
            _ => {}
        }
    }
    let format = |number: u16| {
        let code = codes.get(&number).cloned();
        code.or_else(|| Some(built_in_time(number)?.to_owned()))
            .filter(|code| is_time(code))
    };
    styles.into_iter().map(format).collect()
}

/// Returns types and contents of the records.
fn records(mut stream: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = stream.split_first_chunk::<4>()?;
        let [kind, length] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_le_bytes);
        let (data, rest) = rest.split_at_checked(usize::from(length))?;
        stream = rest;
        Some((kind, data))
    })
}

fn number_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]))
}

/// Reads a string: its length in characters, a flag for characters of two bytes, the characters.
fn string(data: &[u8]) -> Option<String> {
    let length = usize::from(number_at(data, 0)?);
    let is_wide = data.get(2)? & 1 == 1;
    let text = data.get(3..3 + length * if is_wide { 2 } else { 1 })?;
    let units: Vec<u16> = match is_wide {
        true => text
            .chunks_exact(2)
            .map(|two| u16::from_le_bytes([two[0], two[1]]))
            .collect(),
        false => text.iter().map(|byte| u16::from(*byte)).collect(),
    };
    Some(String::from_utf16_lossy(&units))
}

fn built_in_time(number: u16) -> Option<&'static str> {
    match number {
        18 => Some("h:mm AM/PM"),
        19 => Some("h:mm:ss AM/PM"),
        20 => Some("h:mm"),
        21 => Some("h:mm:ss"),
        45 => Some("mm:ss"),
        46 => Some("[h]:mm:ss"),
        47 => Some("mm:ss.0"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use office_oxide::ir::{InlineContent, Paragraph, TableCell, TableRow, TextSpan};

    use super::*;

    #[test]
    fn cells_get_the_formats_that_show_times() {
        let stream = [
            record(FORMAT, b"\xA4\0\x07\0\0[h]:mm!"),
            record(FORMAT, b"\xA5\0\x04\0\x010\0.\x000\0!\0"),
            record(XF, b"\0\0\0\0"),
            record(XF, b"\0\0\x14\0"),
            record(XF, b"\0\0\xA4\0"),
            record(XF, b"\0\0\xA5\0"),
            record(XF, b""),
        ];
        let formats = time_formats(&stream.concat());
        let expected = [None, Some("h:mm"), Some("[h]:mm!"), None, None];
        assert_eq!(formats, expected.map(|code| code.map(str::to_owned)));

        let number = CellValue::Number;
        let sheet = Sheet {
            rows: vec![vec![number(0.5), CellValue::Empty, number(0.25), number(1.5)]],
            xf: vec![vec![1, 0, 0, 2]],
            ..Sheet::default()
        };
        let mut table = table(&[&[("0.5", 2, 1), ("0.25", 1, 1), ("1.5", 1, 1)]]);
        set_formats(&mut table, &sheet, &formats);
        let cells = table.rows.into_iter().flat_map(|row| row.cells);
        let found: Vec<_> = cells.map(|cell| (cell.raw_number, cell.number_format)).collect();
        let expected = [
            (Some(0.5), Some("h:mm")),
            (None, None),
            (Some(1.5), Some("[h]:mm!")),
        ];
        assert_eq!(
            found,
            expected.map(|(number, code)| (number, code.map(str::to_owned)))
        );
    }

    #[test]
    fn hidden_rows_and_columns_are_removed() {
        let part = |kind: u16, content: &[Vec<u8>]| {
            let begin = record(BEGIN, &[&[0, 6][..], &kind.to_le_bytes()].concat());
            [begin, content.concat(), record(END, b"")].concat()
        };
        let columns = |flags: u8| record(COLUMNS, &[1, 0, 2, 0, 0, 0, 0, 0, flags, 0]);
        let row = |number: u8, flags: u8| record(ROW, &[number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flags, 0]);
        let chart = part(0x20, &[row(7, 0x20)]);
        let stream = [
            part(5, &[]),
            part(0x10, &[columns(1), row(0, 0x20), row(1, 0), row(3, 0x20), chart]),
            part(6, &[]),
            part(0x10, &[columns(0)]),
        ];
        let [hidden, nothing] = <[Hidden; 2]>::try_from(hidden(&stream.concat())).unwrap();
        assert_eq!(nothing, Hidden::default());
        assert_eq!(hidden.columns, HashSet::from([1, 2]));
        assert_eq!(hidden.rows, HashSet::from([0, 3]));

        let mut table = table(&[
            &[("a", 1, 2), ("b", 3, 1), ("c", 1, 1)],
            &[("d", 2, 1), ("e", 1, 3)],
            &[("f", 1, 1), ("g", 2, 1)],
            &[("", 1, 1)],
        ]);
        assert!(hidden.remove(&mut table));
        let cells = |row: &TableRow| {
            let cells = row.cells.iter();
            let cells = cells.map(|cell| (text_of_cell(cell).unwrap(), cell.col_span, cell.row_span));
            cells.collect::<Vec<_>>()
        };
        let rows: Vec<_> = table.rows.iter().map(cells).collect();
        let cell = |text: &str, rows| (text.to_owned(), 1, rows);
        assert_eq!(rows, [vec![cell("a", 1), cell("e", 2)], vec![cell("f", 1)]]);
    }

    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(data.len()).unwrap();
        [&kind.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
    }

    /// Returns a table of texts and the columns and rows that they span.
    fn table(rows: &[&[(&str, u32, u32)]]) -> Table {
        let cell = |(text, col_span, row_span): &(&str, u32, u32)| TableCell {
            content: vec![Element::Paragraph(Paragraph {
                content: vec![InlineContent::Text(TextSpan::plain(*text))],
                ..Paragraph::default()
            })],
            col_span: *col_span,
            row_span: *row_span,
            ..TableCell::default()
        };
        let row = |cells: &&[_]| TableRow {
            cells: cells.iter().map(cell).collect(),
            ..TableRow::default()
        };
        Table {
            rows: rows.iter().map(row).collect(),
            ..Table::default()
        }
    }
}
