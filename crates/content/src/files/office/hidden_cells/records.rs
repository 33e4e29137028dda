//! Hidden rows and columns of binary workbooks, whose sheets consist of records ([MS-XLSB]).

use office_oxide::xlsx::cell::MAX_COL;

/// Record types (section 2.3).
const ROW: usize = 0;
const FIRST_CELL: usize = 1;
const LAST_CELL: usize = 11;
const COLUMNS: usize = 60;

/// Returns the records of a sheet without hidden cells; `None` if these have no content, or it is damaged.
pub(super) fn visible(sheet: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut is_hidden_column = vec![false; MAX_COL as usize + 1];
    let mut is_hidden_row = false;
    let mut has_content = false;
    let mut rest = sheet;
    while !rest.is_empty() {
        let record = rest;
        let kind = number(&mut rest, 2)?;
        let length = number(&mut rest, 4)?;
        let (data, after) = rest.split_at_checked(length)?;
        rest = after;
        let column = |at: usize| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?) as usize);
        match kind {
            ROW => is_hidden_row = data.get(11)? & 0x10 != 0,
            COLUMNS if data.get(16)? & 1 != 0 => {
                let last = column(4)?.min(MAX_COL as usize);
                is_hidden_column.get_mut(column(0)?..=last)?.fill(true);
            }
            FIRST_CELL..=LAST_CELL if is_hidden_row || is_hidden_column.get(column(0)?) == Some(&true) => {
                // The first type is a cell without a value.
                has_content |= kind > FIRST_CELL;
                continue;
            }
            _ => {}
        }
        out.extend_from_slice(&record[..record.len() - rest.len()]);
    }
    has_content.then_some(out)
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
        assert_eq!(visible(&hidden[..hidden.len() - 1]), None, "a damaged sheet");
        assert_eq!(
            visible(&sheet(1, &[cell(1, 1)]).concat()),
            None,
            "nothing in a hidden cell"
        );
        assert_eq!(visible(&sheet(0, &[cell(7, 1)]).concat()), None, "nothing hidden");
    }
}
