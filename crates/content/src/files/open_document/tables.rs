//! Tables of OpenDocument files, and the sheets of spreadsheets.

use super::{Attributes, Closing, FileType, Markup, Writer};
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
    /// Output before the current cell, and the cell's attributes.
    before_cell: Markup,
    spans: String,
    cell_repeated: usize,
    has_head: bool,
    /// Groups of columns: the end of each, and the number of visible columns before it.
    columns: Vec<(usize, usize)>,
    /// The column of the next cell.
    column: usize,
    /// Columns that the current cell covers.
    cell_span: usize,
}

impl Sheet {
    pub(super) fn add_columns(&mut self, attributes: &Attributes) {
        let (end, visible) = self.columns.last().copied().unwrap_or_default();
        let count = attributes.count("table:number-columns-repeated", COLUMNS);
        let new = if is_visible(attributes) { count } else { 0 };
        self.columns.push((end + count, visible + new));
    }

    pub(super) fn start_row(&mut self, attributes: &Attributes) {
        (self.column, self.row_span) = (0, 1);
        self.row_repeated = attributes.count("table:number-rows-repeated", limits::REPEATED_CELLS);
    }

    /// Goes past rows. Returns how many of them cells above cover.
    fn take_covered(&mut self, rows: usize) -> usize {
        let covered = rows.min(self.covered_rows);
        self.covered_rows -= covered;
        covered
    }

    /// Goes to the next cell. Returns whether it is visible.
    pub(super) fn begin_cell(&mut self, attributes: &Attributes) -> bool {
        let count = attributes.count("table:number-columns-repeated", COLUMNS);
        let span = attributes.count("table:number-columns-spanned", COLUMNS);
        let before = self.visible_before(self.column);
        let visible = |columns: usize| self.visible_before(self.column + columns) - before;
        (self.cell_repeated, self.cell_span) = (visible(count), visible(span));
        self.column += count;
        self.cell_repeated.max(self.cell_span) > 0
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
        sheet.spans.clear();
        let rows = attributes.count("table:number-rows-spanned", limits::TABLE_COLUMNS);
        sheet.row_span = sheet.row_span.max(rows);
        let columns = sheet.cell_span.min(limits::TABLE_COLUMNS);
        for (attribute, span) in [("colspan", columns), ("rowspan", rows)] {
            if span > 1 {
                sheet.spans.push_str(&format!(" {attribute}=\"{span}\""));
            }
        }
        sheet.before_cell = std::mem::take(&mut self.html);
        Closing::Cell
    }

    pub(super) fn end_cell(&mut self) {
        let Some(sheet) = self.tables.last_mut() else {
            return;
        };
        let before = std::mem::take(&mut sheet.before_cell);
        let content = std::mem::replace(&mut self.html, before).into_html();
        let content = content.trim();
        // A single paragraph in a cell needs no block.
        let content = content
            .strip_prefix("<p>")
            .and_then(|rest| rest.strip_suffix("</p>"))
            .filter(|inner| !inner.contains("<p>"))
            .unwrap_or(content);
        self.cells += sheet.cell_repeated;
        let cell = (sheet.spans.clone(), content.to_owned());
        sheet.row.extend(std::iter::repeat_n(cell, sheet.cell_repeated));
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
