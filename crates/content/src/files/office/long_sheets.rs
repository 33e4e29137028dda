//! The rows of long sheets. `office_oxide` converts the first rows of each sheet with the workbook, and puts a notice
//! in place of the others.

use std::sync::Arc;

use office_oxide::ir::{Element, Section};
use office_oxide::xlsx::XlsxDocument;

use super::plain;

/// Rows of a sheet that `office_oxide` converts at once.
const ROWS_AT_ONCE: usize = 10_000;
/// Cells that are converted at once, so that few are in memory.
const CELLS_AT_ONCE: usize = 200_000;

/// The rows of a workbook that were not converted with it, last first.
pub(super) struct LongSheets(XlsxDocument);

impl LongSheets {
    /// Returns the rows that were not converted; `None` if no sheet is long.
    pub(super) fn new(workbook: &XlsxDocument) -> Option<Self> {
        let mut sheets = workbook.worksheets.iter();
        let is_long = sheets.any(|sheet| sheet.rows.len() > ROWS_AT_ONCE);
        let mut workbook = is_long.then(|| workbook.clone())?;
        for sheet in &mut workbook.worksheets {
            // They were converted with the first rows.
            sheet.images = Arc::new([]);
            sheet.text_shapes = Arc::new([]);
            sheet.comments = Arc::new([]);
            sheet.cell_images.clear();
            sheet.rows.reverse();
            sheet.rows.truncate(sheet.rows.len().saturating_sub(ROWS_AT_ONCE));
        }
        Some(Self(workbook))
    }

    /// Converts the next rows of a sheet; `None` at its end.
    pub(super) fn next(&mut self, index: usize) -> Option<Vec<Element>> {
        let sheet = self.0.worksheets.get_mut(index)?;
        let mut rest = std::mem::take(&mut sheet.rows);
        if rest.is_empty() {
            return None;
        }
        let next = rest.iter().rev().take(ROWS_AT_ONCE);
        let cells = next.flat_map(|row| &row.cells);
        let width = cells.map(|cell| cell.reference.col as usize + 1).max();
        let count = (CELLS_AT_ONCE / width.unwrap_or(1)).clamp(1, ROWS_AT_ONCE);
        sheet.rows = rest.split_off(rest.len().saturating_sub(count));
        sheet.rows.reverse();
        let converted = self.0.sheet_ir(index);
        self.0.worksheets.get_mut(index)?.rows = rest;
        Some(converted?.section.elements)
    }
}

/// Removes the notice that rows were left out. Returns whether there was one.
pub(super) fn remove_notice(section: &mut Section) -> bool {
    let count = section.elements.len();
    section.elements.retain(|element| {
        let Element::Paragraph(paragraph) = element else {
            return true;
        };
        !plain(&paragraph.content).contains(" rows not shown \u{2014} worksheet truncated at ")
    });
    section.elements.len() < count
}
