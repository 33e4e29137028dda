//! GFM tables: decides which HTML tables can become one, and writes the collected cells. Layout tables become blocks.

use super::callout;
use super::shape::{self, Shape};
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;
use crate::limits;

/// Bytes of text above which a cell with blocks makes its table a layout table.
const BLOCK_CELL_BYTES: u16 = 1200;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableKind {
    /// Rows and columns of a GFM table.
    Data,
    /// Its cells one after the other, as blocks.
    Layout,
}

/// Returns the rows of a table, without those of nested tables.
pub(crate) fn rows(dom: &Dom, table: NodeId) -> Vec<NodeId> {
    let mut rows = Vec::new();
    for child in dom.children(table) {
        match dom.tag(child) {
            Tag::Tr => rows.push(child),
            Tag::Thead | Tag::Tbody | Tag::Tfoot => {
                rows.extend(dom.children(child).filter(|&n| dom.tag(n) == Tag::Tr))
            }
            _ => {}
        }
    }
    rows
}

/// Returns the cells of a row.
pub(crate) fn cells(dom: &Dom, row: NodeId) -> impl Iterator<Item = NodeId> {
    dom.children(row)
        .filter(|&n| matches!(dom.tag(n), Tag::Td | Tag::Th))
}

/// Decides how a table is written.
pub(super) fn kind(dom: &Dom, shape: &Shape, table: NodeId) -> TableKind {
    if shape.has_below(dom, table, shape::TABLE) || callout::is_frame(dom, table) {
        return TableKind::Layout;
    }
    if dom
        .attr(table, attr::ROLE)
        .is_some_and(|role| matches!(role, "presentation" | "none"))
    {
        return TableKind::Layout;
    }
    let (mut widest, mut used, mut filled) = (0usize, 0usize, 0usize);
    let mut header = false;
    for row in rows(dom, table) {
        let mut count = 0;
        for cell in cells(dom, row) {
            count += 1;
            filled += usize::from(shape.text(cell) > 0 || shape.has(cell, shape::IMAGE));
            header |= dom.tag(cell) == Tag::Th;
            let blocks = shape::HEADING | shape::PRE | shape::LIST;
            if shape.has(cell, blocks) && shape.text(cell) > BLOCK_CELL_BYTES
                || shape.has(cell, shape::PRE) && dom.tag(cell) == Tag::Td && shape.text(cell) > 200
            {
                return TableKind::Layout;
            }
        }
        widest = widest.max(count);
        used += usize::from(count > 0);
    }
    // One column, or one row without headers, is a box around something, not a table.
    if widest <= 1 && (!header || used <= 1) || filled <= 1 {
        return TableKind::Layout;
    }
    if used <= 1 && !header && shape.has(table, shape::HEADING | shape::PRE | shape::LIST) {
        return TableKind::Layout;
    }
    TableKind::Data
}

/// Returns the code of a table that a syntax highlighter made of line numbers and code.
pub(super) fn gutter_table(dom: &Dom, table: NodeId) -> Option<NodeId> {
    let rows = rows(dom, table);
    let [row] = rows.as_slice() else {
        // One row per line: a number cell and a code cell.
        let is_line = |row: &NodeId| {
            let cells: Vec<NodeId> = dom.children(*row).filter(|&n| dom.tag(n) == Tag::Td).collect();
            cells.len() == 2 && super::code::is_gutter(dom, cells[0])
        };
        return (rows.len() > 1 && rows.iter().all(is_line)).then_some(table);
    };
    let cells: Vec<NodeId> = dom.children(*row).filter(|&n| dom.tag(n) == Tag::Td).collect();
    let [gutter, code] = cells.as_slice() else {
        return None;
    };
    let gutter_text = dom.text_of(*gutter, 1 << 16);
    let numbers = gutter_text
        .bytes()
        .all(|b| b.is_ascii_digit() || b.is_ascii_whitespace())
        && !gutter_text.trim().is_empty();
    let pre = dom
        .first(*code, Tag::Pre)
        .or_else(|| dom.has_class(*code, "code").then_some(*code))?;
    (numbers || super::code::is_gutter(dom, *gutter)).then_some(pre)
}

/// Returns true for a header row.
fn is_head(dom: &Dom, row: NodeId) -> bool {
    dom.tag(dom.parent(row)) == Tag::Thead || {
        let mut any = false;
        cells(dom, row).all(|cell| {
            any = true;
            dom.tag(cell) == Tag::Th
        }) && any
    }
}

/// Collected cells of the current table.
#[derive(Default)]
pub(super) struct Grid {
    rows: Vec<Vec<Option<String>>>,
    /// Number of rows that cells cover, by column.
    covered: Vec<usize>,
    head: bool,
    /// Cells that spans added.
    added: usize,
}

impl Grid {
    /// Starts a row.
    pub(super) fn open_row(&mut self, dom: &Dom, row: NodeId) {
        if self.rows.is_empty() {
            self.head = is_head(dom, row);
        }
        self.rows.push(Vec::new());
        self.cover();
    }

    /// Fills columns that a cell above extends into.
    fn cover(&mut self) {
        let Grid {
            rows, covered, added, ..
        } = self;
        let count = rows.len();
        let Some(row) = rows.last_mut() else { return };
        while covered.get(row.len()).is_some_and(|end| *end >= count) {
            row.push(None);
            *added += 1;
        }
    }

    /// Adds a cell's text.
    pub(super) fn cell(&mut self, dom: &Dom, cell: NodeId, text: String) {
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        let span = |name: u32| {
            let number = dom
                .attr(cell, name)
                .and_then(|v| v.trim().parse::<usize>().ok())
                .unwrap_or(1);
            number.clamp(1, limits::TABLE_COLUMNS)
        };
        let (columns, down) = (span(attr::COLSPAN), span(attr::ROWSPAN));
        let mut text = Some(text);
        for _ in 0..columns {
            let may_span = self.added < limits::SPANNED_CELLS;
            let end = self.rows.len() - 1 + down;
            let Some(row) = self.rows.last_mut() else { return };
            if row.len() >= limits::TABLE_COLUMNS || text.is_none() && !may_span {
                break;
            }
            let column = row.len();
            self.added += usize::from(text.is_none());
            row.push(text.take());
            if down > 1 && may_span {
                if self.covered.len() <= column {
                    self.covered.resize(column + 1, 0);
                }
                self.covered[column] = end;
            }
            self.cover();
        }
    }

    /// Returns the table as Markdown; empty when no cell has text.
    pub(super) fn write(mut self) -> String {
        self.rows.retain(|row| {
            row.iter()
                .any(|cell| cell.as_ref().is_some_and(|text| !text.is_empty()))
        });
        // Trailing columns that no row fills (spans across a whole table) are dropped.
        let filled = |row: &Vec<Option<String>>| {
            row.iter()
                .rposition(|cell| cell.as_ref().is_some_and(|text| !text.is_empty()))
                .map_or(0, |at| at + 1)
        };
        let width = self.rows.iter().map(filled).max().unwrap_or(0);
        if width == 0 {
            return String::new();
        }
        let mut out = String::new();
        if !self.head {
            write_row(&mut out, &[], width);
            write_rule(&mut out, width);
        }
        // GFM allows rows that are shorter than the first one.
        let is_padded = self.rows.len() * width <= limits::PADDED_CELLS;
        for (number, row) in self.rows.iter().enumerate() {
            let has_width = is_padded || number == 0;
            write_row(&mut out, row, if has_width { width } else { filled(row) });
            if number == 0 && self.head {
                write_rule(&mut out, width);
            }
        }
        out.truncate(out.trim_end().len());
        out
    }
}

fn write_row(out: &mut String, row: &[Option<String>], width: usize) {
    out.push('|');
    for column in 0..width {
        let text = row.get(column).and_then(Option::as_deref).unwrap_or("");
        out.push(' ');
        out.push_str(text);
        out.push_str(if text.is_empty() { "|" } else { " |" });
    }
    out.push('\n');
}

fn write_rule(out: &mut String, width: usize) {
    out.push('|');
    for _ in 0..width {
        out.push_str(" --- |");
    }
    out.push('\n');
}
