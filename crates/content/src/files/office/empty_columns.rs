//! Columns of workbooks without content, and merged cells that begin in a row that is not stored. `office_oxide` fills each
//! row up to the last column, so that one cell far to the right multiplies the size of a sheet. Of a merged cell it drops
//! what lies in later rows, also if it did not see the first one.

use office_oxide::xlsx::worksheet::Row;
use office_oxide::xlsx::{CellRef, CellValue, Worksheet, XlsxDocument};

/// Returns the workbook without empty columns, and with merged cells that begin in stored rows; `None` if nothing changes.
pub(super) fn removed(workbook: &XlsxDocument) -> Option<XlsxDocument> {
    let used: Vec<Vec<u32>> = workbook.worksheets.iter().map(used_columns).collect();
    let has_gaps = |used: &Vec<u32>| used.last().is_some_and(|last| *last as usize >= used.len());
    let merged: Vec<Vec<String>> = workbook.worksheets.iter().map(merged_cells).collect();
    let mut sheets = workbook.worksheets.iter().zip(&merged);
    let is_changed = used.iter().any(has_gaps) || sheets.any(|(sheet, merged)| sheet.merged_cells != *merged);
    let mut workbook = is_changed.then(|| workbook.clone())?;
    for ((sheet, used), merged) in workbook.worksheets.iter_mut().zip(&used).zip(merged) {
        sheet.merged_cells = merged;
        remove(sheet, used);
    }
    Some(workbook)
}

/// Returns the merged ranges of a sheet, each from its first stored row on.
fn merged_cells(sheet: &Worksheet) -> Vec<String> {
    let rows: Vec<u32> = sheet.rows.iter().map(|row| row.index.saturating_sub(1)).collect();
    let from_stored_row = |range: &String| {
        let (first, last) = range.split_once(':')?;
        let (first, last) = (CellRef::parse(first)?, CellRef::parse(last)?);
        let row = *rows.get(rows.partition_point(|row| *row < first.row))?;
        (row <= last.row).then(|| format!("{}:{last}", CellRef { row, ..first }))
    };
    sheet.merged_cells.iter().filter_map(from_stored_row).collect()
}

/// Returns the columns with content, in their order.
fn used_columns(sheet: &Worksheet) -> Vec<u32> {
    let mut used = Vec::new();
    for Row { cells, .. } in &sheet.rows {
        let filled = cells.iter().filter(|cell| match &cell.value {
            CellValue::Empty => cell.formula().is_some(),
            CellValue::String(text) => !text.is_empty(),
            _ => true,
        });
        // Most rows have the columns of the row before.
        let columns = filled.map(|cell| cell.reference.col);
        let new = columns.filter(|column| used.binary_search(column).is_err());
        let new: Vec<u32> = new.collect();
        if !new.is_empty() {
            used.extend(new);
            used.sort_unstable();
            used.dedup();
        }
    }
    used
}

fn remove(sheet: &mut Worksheet, used: &[u32]) {
    for Row { cells, .. } in &mut sheet.rows {
        cells.retain_mut(|cell| {
            let column = used.binary_search(&cell.reference.col);
            cell.reference.col = column.map_or(0, |column| column as u32);
            column.is_ok()
        });
    }
    // What covers only empty columns is dropped.
    sheet.merged_cells = std::mem::take(&mut sheet.merged_cells)
        .iter()
        .filter_map(|range| moved(range, used))
        .collect();
    sheet.hyperlinks.retain_mut(|link| {
        let range = moved(&link.cell_ref, used);
        range.map(|range| link.cell_ref = range).is_some()
    });
}

/// Returns where a cell, or a range such as `A1:C3`, is without the other columns.
fn moved(range: &str, used: &[u32]) -> Option<String> {
    let (first, last) = range.split_once(':').unwrap_or((range, range));
    let (mut first, mut last) = (CellRef::parse(first)?, CellRef::parse(last)?);
    let start = used.partition_point(|column| *column < first.col);
    let end = used.partition_point(|column| *column <= last.col);
    (first.col, last.col) = (start as u32, (start..end).last()? as u32);
    Some(match range.contains(':') {
        true => format!("{first}:{last}"),
        false => first.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_move_with_their_columns() {
        let check = |range: &str, expected: Option<&str>| {
            assert_eq!(moved(range, &[1, 4, 5]).as_deref(), expected, "{range}");
        };
        check("B2", Some("A2"));
        check("A1:E3", Some("A1:B3"));
        check("E1:Z1", Some("B1:C1"));
        check("C1:D9", None);
        check("A1", None);
        check("x", None);
    }
}
