//! Tables of OpenDocument files, and the sheets of spreadsheets.

use std::collections::BTreeMap;

use super::{Attributes, Closing, FileType, Markup, Writer};
use crate::files::markup::single_paragraph;
use crate::limits;

/// Maximum number of columns of a sheet.
const COLUMNS: usize = 16_384;

/// A table being written.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// Output before the table.
    pub(super) before: Markup,
    /// Attributes and content of the row's cells; trailing empty ones are dropped.
    row: Vec<(String, String)>,
    row_repeated: usize,
    /// Number of further rows that cells cover.
    covered_rows: usize,
    /// Largest number of rows that a cell of the row covers.
    row_span: usize,
    /// Output before the current cell.
    before_cell: Markup,
    cell_repeated: usize,
    has_head: bool,
    /// Groups of columns: the end of each, and the number of visible columns before it.
    columns: Vec<(usize, usize)>,
    /// The column of the next cell.
    column: usize,
    /// The column of the current cell, and the columns and rows that it covers.
    cell_column: usize,
    cell_span: usize,
    cell_rows: usize,
    /// Number of rows before the current one.
    rows_before: usize,
    is_hidden_row: bool,
    /// Merged cells that begin in a hidden row and continue below, by their columns.
    continued: BTreeMap<usize, ContinuedCell>,
}

#[derive(Debug)]
struct ContinuedCell {
    /// Number of columns that it covers.
    columns: usize,
    /// The row after its last one.
    end_row: usize,
    content: String,
}

impl Sheet {
    pub(super) fn add_columns(&mut self, attributes: &Attributes) {
        let (end, visible) = self.columns.last().copied().unwrap_or_default();
        let count = attributes.count("table:number-columns-repeated", COLUMNS);
        let new = if is_visible(attributes) { count } else { 0 };
        self.columns.push((end + count, visible + new));
    }

    pub(super) fn start_row(&mut self, attributes: &Attributes) {
        self.rows_before += self.row_repeated;
        (self.column, self.row_span) = (0, 1);
        self.is_hidden_row = !is_visible(attributes);
        self.row_repeated = attributes.count("table:number-rows-repeated", limits::REPEATED_CELLS);
    }

    /// Goes past rows. Returns how many of them cells above cover.
    fn take_covered(&mut self, rows: usize) -> usize {
        let covered = rows.min(self.covered_rows);
        self.covered_rows -= covered;
        covered
    }

    /// Goes to the next cell. Returns whether it is visible, or will be in the rows below.
    pub(super) fn begin_cell(&mut self, attributes: &Attributes) -> bool {
        let count = attributes.count("table:number-columns-repeated", COLUMNS);
        let span = attributes.count("table:number-columns-spanned", COLUMNS);
        let before = self.visible_before(self.column);
        let visible = |columns: usize| self.visible_before(self.column + columns) - before;
        (self.cell_repeated, self.cell_span) = (visible(count), visible(span));
        self.cell_column = self.column;
        self.column += count;
        let is_merged = || attributes.find("table:number-rows-spanned").is_some();
        self.cell_repeated.max(self.cell_span) > 0 && (!self.is_hidden_row || is_merged())
    }

    /// Goes past cells that others cover. Writes those that begin in a hidden row above.
    pub(super) fn cover(&mut self, attributes: &Attributes) {
        let first = self.column;
        self.column += attributes.count("table:number-columns-repeated", COLUMNS);
        if self.is_hidden_row {
            return;
        }
        let columns: Vec<usize> = self
            .continued
            .range(first..self.column)
            .map(|(at, _)| *at)
            .collect();
        let cells = columns.iter().filter_map(|column| self.continued.remove(column));
        for cell in cells.filter(|cell| cell.end_row > self.rows_before) {
            let rows = cell.end_row - self.rows_before;
            self.row_span = self.row_span.max(rows);
            self.row.push((spans(cell.columns, rows), cell.content));
        }
    }

    fn visible_before(&self, column: usize) -> usize {
        let at = self.columns.partition_point(|(end, _)| *end <= column);
        let (start, visible) = at.checked_sub(1).map_or((0, 0), |last| self.columns[last]);
        match self.columns.get(at) {
            Some((_, after)) if *after == visible => visible,
            _ => visible + column - start,
        }
    }
}

/// Returns the attributes of a cell that covers these columns and rows.
fn spans(columns: usize, rows: usize) -> String {
    let spans = [("colspan", columns), ("rowspan", rows)].into_iter();
    let spans = spans.filter(|(_, span)| *span > 1);
    spans
        .map(|(attribute, span)| format!(" {attribute}=\"{span}\""))
        .collect()
}

/// Returns whether a row or column is visible.
pub(super) fn is_visible(attributes: &Attributes) -> bool {
    !matches!(attributes.find("table:visibility"), Some("collapse" | "filter"))
}

impl Writer<'_> {
    pub(super) fn start_table(&mut self, attributes: &Attributes) -> Closing {
        if self.kind == FileType::Ods && self.tables.is_empty() {
            let name = attributes.find("table:name").unwrap_or_default();
            self.html.element("h2", name);
        }
        self.tables.push(Sheet {
            before: std::mem::take(&mut self.html),
            ..Sheet::default()
        });
        Closing::Table
    }

    pub(super) fn start_cell(&mut self, attributes: &Attributes) -> Closing {
        let Some(sheet) = self.tables.last_mut() else {
            return Closing::Nothing;
        };
        sheet.cell_repeated = sheet.cell_repeated.clamp(1, limits::REPEATED_CELLS);
        sheet.cell_span = sheet.cell_span.min(limits::TABLE_COLUMNS);
        sheet.cell_rows = attributes.count("table:number-rows-spanned", limits::TABLE_COLUMNS);
        sheet.before_cell = std::mem::take(&mut self.html);
        Closing::Cell
    }

    pub(super) fn end_cell(&mut self) {
        let Some(sheet) = self.tables.last_mut() else {
            return;
        };
        let before = std::mem::take(&mut sheet.before_cell);
        let content = std::mem::replace(&mut self.html, before).into_html();
        let content = single_paragraph(&content);
        self.cells += sheet.cell_repeated;
        let (columns, rows) = (sheet.cell_span, sheet.cell_rows);
        let content = content.to_owned();
        if sheet.is_hidden_row {
            let end_row = sheet.rows_before + rows;
            let cell = ContinuedCell {
                columns,
                end_row,
                content,
            };
            sheet.continued.insert(sheet.cell_column, cell);
        } else {
            sheet.row_span = sheet.row_span.max(rows);
            let cell = (spans(columns, rows), content);
            sheet.row.extend(std::iter::repeat_n(cell, sheet.cell_repeated));
        }
    }

    /// Leaves out rows. Those that cells above cover are written without content.
    pub(super) fn skip_rows(&mut self, count: usize) {
        let covered = self
            .tables
            .last_mut()
            .map_or(0, |sheet| sheet.take_covered(count));
        (0..covered).for_each(|_| {
            self.html.open("tr").close("tr");
        });
    }

    pub(super) fn end_row(&mut self) {
        let Some(sheet) = self.tables.last_mut() else {
            return;
        };
        let mut row = std::mem::take(&mut sheet.row);
        // A hidden row has no cells here.
        let is_unused =
            |(spans, content): &mut (String, String)| content.is_empty() && !spans.contains("rowspan");
        while row.pop_if(is_unused).is_some() {}
        if row.is_empty() {
            let count = sheet.row_repeated;
            return self.skip_rows(count);
        }
        sheet.take_covered(sheet.row_repeated);
        sheet.covered_rows = sheet.covered_rows.max(sheet.row_span - 1);
        let name = if std::mem::replace(&mut sheet.has_head, true) {
            "td"
        } else {
            "th"
        };
        for _ in 0..sheet.row_repeated {
            self.html.open("tr");
            for (spans, content) in &row {
                self.html
                    .raw("<")
                    .raw(name)
                    .raw(spans)
                    .raw(">")
                    .raw(content)
                    .close(name);
            }
            self.html.close("tr");
            self.cells += row.len();
            if self.cells > limits::FILE_CELLS {
                self.truncated = true;
                break;
            }
        }
    }
}
