//! Hidden rows and columns of binary workbooks, whose sheets consist of records ([MS-XLSB]).

use std::collections::HashMap;

use super::Columns;
use crate::limits;

/// Record types (section 2.3).
const ROW: usize = 0;
const FIRST_CELL: usize = 1;
const LAST_CELL: usize = 11;
const COLUMNS: usize = 60;
const END_OF_CELLS: usize = 146;
const MERGED: usize = 176;

/// Returns the records of a sheet without hidden cells; `None` if these have no content, or it is damaged.
pub(super) fn visible(sheet: &[u8]) -> Option<Vec<u8>> {
    let (columns, merged) = layout(sheet)?;
    let mut out = Vec::new();
    let (mut row, mut is_hidden_row) = (None, false);
    // Merged cells that begin in a hidden row and continue below: their column, last row and record.
    let mut continued: Vec<(u32, u32, Record<'_>)> = Vec::new();
    let mut has_content = false;
    let mut rest = sheet;
    while !rest.is_empty() {
        let record = Record::split(&mut rest)?;
        if matches!(record.kind, ROW | END_OF_CELLS) {
            let next = row.map_or(0, |row: u32| row.saturating_add(1));
            let is_row = record.kind == ROW;
            let new = if is_row { record.number(0)? } else { u32::MAX };
            if new > next && !continued.is_empty() {
                // Rows that are not stored are visible.
                out.extend([ROW as u8, 4]);
                out.extend(next.to_le_bytes());
                write(&mut continued, next, &mut out);
            }
            (row, is_hidden_row) = (Some(new), is_row && record.data.get(11)? & 0x10 != 0);
            out.extend_from_slice(record.bytes);
            if is_row && !is_hidden_row {
                write(&mut continued, new, &mut out);
            }
            continue;
        }
        if (FIRST_CELL..=LAST_CELL).contains(&record.kind) {
            let (row, column) = (row?, record.number(0)?);
            if is_hidden_row || columns.first_visible(column, column).is_none() {
                // The first type is a cell without a value.
                has_content |= record.kind > FIRST_CELL;
                // A merged cell is visible if one of its rows and one of its columns is.
                let (last_row, last) = merged.get(&(row, column)).copied().unwrap_or((row, column));
                match columns.first_visible(column, last) {
                    Some(column) if !is_hidden_row => record.write(column, &mut out),
                    Some(column) if last_row > row => continued.push((column, last_row, record)),
                    _ => {}
                }
                continue;
            }
        }
        out.extend_from_slice(record.bytes);
    }
    has_content.then_some(out)
}

/// Writes the merged cells that reach a row, and empties the list.
fn write(continued: &mut Vec<(u32, u32, Record<'_>)>, row: u32, out: &mut Vec<u8>) {
    let cells = continued.drain(..).filter(|(_, last_row, _)| *last_row >= row);
    cells.for_each(|(column, _, record)| record.write(column, out));
}

/// The last row and the last column of each merged cell, by its first row and column.
type Merged = HashMap<(u32, u32), (u32, u32)>;

/// Returns the visible columns of a sheet and its merged cells.
fn layout(sheet: &[u8]) -> Option<(Columns, Merged)> {
    let mut hidden = Vec::new();
    let mut merged = HashMap::new();
    let mut rest = sheet;
    while !rest.is_empty() {
        let record = Record::split(&mut rest)?;
        let number = |at| record.number(at);
        match record.kind {
            COLUMNS if record.data.get(16)? & 1 != 0 && hidden.len() < limits::TABLE_COLUMNS => {
                hidden.push(number(0)?..=number(4)?);
            }
            MERGED => {
                merged.insert((number(0)?, number(8)?), (number(4)?, number(12)?));
            }
            _ => {}
        }
    }
    Some((Columns::new(&hidden), merged))
}

/// A record of a sheet.
struct Record<'a> {
    kind: usize,
    data: &'a [u8],
    /// With type and length.
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// Splits a record off.
    fn split(rest: &mut &'a [u8]) -> Option<Self> {
        let bytes = *rest;
        let kind = number(rest, 2)?;
        let length = number(rest, 4)?;
        let (data, after) = rest.split_at_checked(length)?;
        *rest = after;
        let bytes = &bytes[..bytes.len() - after.len()];
        Some(Self { kind, data, bytes })
    }

    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.data.get(at..)?.first_chunk()?))
    }

    /// Writes a cell in another column.
    fn write(&self, column: u32, out: &mut Vec<u8>) {
        let (head, _) = self.bytes.split_at(self.bytes.len() - self.data.len());
        out.extend_from_slice(head);
        out.extend(column.to_le_bytes());
        out.extend_from_slice(self.data.get(4..).unwrap_or_default());
    }
}

/// Splits a number off that has 7 bits in each byte, and the eighth in all but its last (section 2.1.4).
fn number(bytes: &mut &[u8], max_bytes: usize) -> Option<usize> {
    let mut number = 0;
    for at in 0..max_bytes {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_rows_and_columns_are_removed() {
        let record = |kind: &[u8], data: &[u8]| [kind, &[data.len() as u8], data].concat();
        let columns = |flags: u8| {
            let mut data = vec![1, 0, 0, 0, 2];
            data.resize(16, 0);
            record(&[60], &[&data[..], &[flags, 0]].concat())
        };
        let row = |flags: u8| {
            let mut data = vec![0; 17];
            data[11] = flags;
            record(&[0], &data)
        };
        let cell = |kind: u8, column: u8| record(&[kind], &[column, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let other = || record(&[0x91, 1], &[1; 100]);
        let sheet = |flags: u8, cells: &[Vec<u8>]| {
            [
                &[columns(flags), other(), row(0), cell(7, 0)],
                cells,
                &[row(flags << 4)],
            ]
            .concat()
        };
        let hidden = sheet(1, &[cell(7, 1), cell(1, 2), cell(2, 3)]);
        let hidden = [hidden.concat(), cell(7, 0), other()].concat();
        let expected = [sheet(1, &[cell(2, 3)]).concat(), other()].concat();
        assert_eq!(visible(&hidden), Some(expected));
        let merged = |cells: [u8; 4]| {
            let cells = cells.map(|number| [number, 0, 0, 0]);
            record(&[0xB0, 1], &cells.concat())
        };
        let numbered = |number: u8, flags: u8| {
            let mut row = row(flags);
            row[2] = number;
            row
        };
        let hidden_row = [columns(1), numbered(0, 0x10), cell(7, 0), cell(7, 1), cell(7, 4)].concat();
        let ranges = [
            record(&[0x92, 1], &[]),
            merged([0, 2, 0, 0]),
            merged([0, 1, 1, 3]),
        ]
        .concat();
        let below = [numbered(2, 0), cell(7, 5)].concat();
        let new_row = record(&[0], &[1, 0, 0, 0]);
        let expected = [
            columns(1),
            numbered(0, 0x10),
            new_row,
            cell(7, 0),
            cell(7, 3),
            below.clone(),
            ranges.clone(),
        ];
        assert_eq!(
            visible(&[hidden_row.clone(), below, ranges.clone()].concat()),
            Some(expected.concat()),
            "a row that is not stored"
        );
        let below = [numbered(1, 0x10), numbered(2, 0)].concat();
        let expected = [
            columns(1),
            numbered(0, 0x10),
            below.clone(),
            cell(7, 0),
            ranges.clone(),
        ];
        assert_eq!(
            visible(&[hidden_row, below, ranges].concat()),
            Some(expected.concat())
        );
        assert_eq!(visible(&hidden[..hidden.len() - 1]), None, "a damaged sheet");
        assert_eq!(
            visible(&sheet(1, &[cell(1, 1)]).concat()),
            None,
            "nothing in a hidden cell"
        );
        assert_eq!(visible(&sheet(0, &[cell(7, 1)]).concat()), None, "nothing hidden");
    }
}
