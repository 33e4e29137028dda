//! Blocks as HTML: headings, paragraphs, nested lists, tables. Does not know control words.

use crate::files::markup::Markup;
use crate::limits;

#[derive(Default)]
pub(super) struct Blocks {
    html: Markup,
    /// Open lists: tag name and depth.
    lists: Vec<(&'static str, u8)>,
    cells: Vec<String>,
    in_table: bool,
}

impl Blocks {
    /// Adds a block, such as `h2` or `p`.
    pub(super) fn block(&mut self, tag: &str, line: &str) {
        self.end_lists(0);
        self.html.open(tag).raw(line).close(tag);
    }

    pub(super) fn item(&mut self, line: &str, is_numbered: bool, depth: u8) {
        let name = if is_numbered { "ol" } else { "ul" };
        self.end_lists(depth + 1);
        if self.lists.last() == Some(&(name, depth)) {
            self.html.close("li");
        } else {
            self.end_lists(depth);
            self.html.open(name);
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

    pub(super) fn cell(&mut self, cell: &str) {
        if self.cells.len() < limits::TABLE_COLUMNS {
            self.cells.push(cell.trim_end_matches("<br>").to_owned());
        }
    }

    pub(super) fn end_row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        if cells.is_empty() {
            return;
        }
        self.end_lists(0);
        let name = if self.in_table { "td" } else { "th" };
        if !std::mem::replace(&mut self.in_table, true) {
            self.html.open("table");
        }
        self.html.open("tr");
        for cell in cells {
            self.html.open(name).raw(&cell).close(name);
        }
        self.html.close("tr");
    }

    pub(super) fn end_table(&mut self) {
        self.end_row();
        if std::mem::take(&mut self.in_table) {
            self.html.close("table");
        }
    }

    /// Returns the HTML, with the footnotes at the end.
    pub(super) fn into_html(mut self, mut notes: Markup) -> String {
        self.end_table();
        self.end_lists(0);
        self.html.footnotes(&mut notes);
        self.html.into_html()
    }
}
