//! Blocks as HTML: headings, paragraphs, nested lists, tables. Does not know control words.

use std::collections::HashSet;

use crate::files::markup::Markup;
use crate::limits;

/// Distance in twips within which two edges are the same.
const SAME_EDGE: i32 = 20;

#[derive(Default)]
pub(super) struct Blocks {
    html: Markup,
    /// Open lists: tag name and depth.
    lists: Vec<(&'static str, u8)>,
    /// The definition of the current row.
    row: RowDefinition,
    cells: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

/// What the file says of a row before or after its cells.
#[derive(Default)]
struct RowDefinition {
    left: i32,
    cells: Vec<CellDefinition>,
    /// Properties of the next cell.
    next: CellDefinition,
}

/// Position of a cell, in twips, and merging.
#[derive(Clone, Copy, Default)]
pub(super) struct CellDefinition {
    left: i32,
    right: i32,
    /// It is part of the cell before.
    pub(super) continues_before: bool,
    /// It is part of the cell above.
    pub(super) continues_above: bool,
}

struct Cell {
    content: String,
    at: CellDefinition,
}

impl Blocks {
    /// Adds a block, such as `h2` or `p`.
    pub(super) fn block(&mut self, tag: &str, line: &str) {
        self.end_lists(0);
        self.html.open(tag).raw(line).close(tag);
    }

    /// Adds the blocks of another story.
    pub(super) fn add(&mut self, html: &str) {
        if !html.is_empty() {
            self.end_table();
            self.end_lists(0);
            self.html.raw(html);
        }
    }

    /// Adds a paragraph of a quote.
    pub(super) fn quote(&mut self, line: &str) {
        self.end_lists(0);
        if !self.html.remove_end("</blockquote>\n") {
            self.html.open("blockquote");
        }
        self.block("p", line);
        self.html.close("blockquote");
    }

    /// Adds a line of code.
    pub(super) fn code(&mut self, line: &str) {
        const END: &str = "</code></pre>\n";
        self.end_lists(0);
        let continues = self.html.remove_end(END);
        // The parser drops one line break at the start of `pre`.
        self.html.raw(if continues { "\n" } else { "<pre><code>\n" });
        let line = line.replace("<br>", "\n");
        let line = line.replace("<code>", "").replace("</code>", "");
        self.html.raw(&line).raw(END);
    }

    /// Adds an item of a list. A numbered one has a number, with which a list starts.
    pub(super) fn item(&mut self, line: &str, number: Option<u32>, depth: u8) {
        let name = if number.is_some() { "ol" } else { "ul" };
        self.end_lists(depth + 1);
        if self.lists.last() == Some(&(name, depth)) {
            self.html.close("li");
        } else {
            self.end_lists(depth);
            match number.filter(|start| *start != 1) {
                Some(start) => self.html.open_with(name, "start", &start.to_string()),
                None => self.html.open(name),
            };
            self.lists.push((name, depth));
        }
        self.html.open("li").raw(line);
    }

    /// Ends the lists at this depth and deeper.
    fn end_lists(&mut self, depth: u8) {
        while let Some((name, at)) = self.lists.last().copied()
            && at >= depth
        {
            self.html.close("li").close(name);
            self.lists.pop();
        }
    }

    /// Begins the definition of a row.
    pub(super) fn define_row(&mut self) {
        self.row = RowDefinition::default();
    }

    /// Sets the left edge of the row that is being defined.
    pub(super) fn define_left(&mut self, left: i32) {
        self.row.left = left;
    }

    /// Returns the cell that is being defined.
    pub(super) fn next_cell(&mut self) -> &mut CellDefinition {
        &mut self.row.next
    }

    /// Ends the definition of a cell with its right edge.
    pub(super) fn define_cell(&mut self, right: i32) {
        if self.row.cells.len() < limits::TABLE_COLUMNS {
            let left = self.row.cells.last().map_or(self.row.left, |cell| cell.right);
            let cell = std::mem::take(&mut self.row.next);
            self.row.cells.push(CellDefinition { left, right, ..cell });
        }
    }

    pub(super) fn cell(&mut self, content: &str) {
        if self.cells.len() < limits::TABLE_COLUMNS {
            self.cells.push(Cell {
                content: content.to_owned(),
                at: CellDefinition::default(),
            });
        }
    }

    pub(super) fn end_row(&mut self) {
        let mut row: Vec<Cell> = Vec::new();
        let definitions = self
            .row
            .cells
            .iter()
            .copied()
            .chain(std::iter::repeat(CellDefinition::default()));
        for (cell, at) in self.cells.drain(..).zip(definitions) {
            match row.last_mut().filter(|_| at.continues_before) {
                Some(before) => before.at.right = at.right,
                None => row.push(Cell { at, ..cell }),
            }
        }
        if !row.is_empty() {
            self.rows.push(row);
        }
    }

    pub(super) fn end_table(&mut self) {
        self.end_row();
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return;
        }
        self.end_lists(0);
        let mut edges: Vec<i32> = rows
            .iter()
            .flatten()
            .flat_map(|cell| [cell.at.left, cell.at.right])
            .collect();
        edges.sort_unstable();
        edges.dedup_by(|edge, last| edge.saturating_sub(*last) <= SAME_EDGE);
        let column = |edge: i32| edges.partition_point(|other| other.saturating_add(SAME_EDGE) < edge);
        let continued: HashSet<(usize, usize)> = (0..)
            .zip(&rows)
            .flat_map(|(at, row)| row.iter().map(move |cell| (at, cell.at)))
            .filter(|(_, cell)| cell.continues_above)
            .map(|(at, cell)| (at, column(cell.left)))
            .collect();
        self.html.open("table");
        for (at, row) in rows.iter().enumerate() {
            self.html.open("tr");
            let name = if at == 0 { "th" } else { "td" };
            for cell in row {
                let left = column(cell.at.left);
                if at > 0 && cell.at.continues_above {
                    continue;
                }
                let columns = column(cell.at.right).saturating_sub(left);
                let below =
                    (at + 1..at + limits::REPEATED_CELLS).take_while(|at| continued.contains(&(*at, left)));
                self.html
                    .open_spanning(name, columns, below.count() + 1)
                    .raw(&cell.content)
                    .close(name);
            }
            self.html.close("tr");
        }
        self.html.close("table");
    }

    /// Returns the HTML.
    pub(super) fn into_html(mut self) -> String {
        self.end_table();
        self.end_lists(0);
        self.html.into_html()
    }
}
