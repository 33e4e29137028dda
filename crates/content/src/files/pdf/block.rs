//! The blocks of a page, and their HTML.

use unpdf::model::{ListStyle, TextStyle};
use unpdf::{InlineContent, Paragraph};

use super::letters::is_letter;
use crate::files::markup::Markup;
use crate::files::text_format::{Script, TextFormat};
use crate::limits::PDF_MARGIN_BLOCKS;

/// A page with its blocks in reading order.
#[derive(Debug)]
pub(super) struct PdfPage {
    pub(super) number: u32,
    pub(super) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(super) enum Block {
    Text(Text),
    Table(Table),
    Code(String),
}

/// A paragraph, heading or list item.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pub(super) runs: Vec<Run>,
    pub(super) role: Role,
    /// Left edge, height and font size of its first line in points, where known.
    pub(super) left: Option<f32>,
    pub(super) baseline: f32,
    pub(super) size: f32,
}

/// Role of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Role {
    #[default]
    Paragraph,
    /// Level from 1.
    Heading(u8),
    /// Depth from 0, and the number if it is numbered.
    Item(u8, Option<u32>),
    /// An entry of a table of contents.
    Entry,
}

/// Text with the same formatting.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) script: Script,
    pub(super) link: Option<String>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Cell>>,
    /// Texts of its first row, or of that of the table that it continues.
    head: Vec<String>,
    /// Whether it continues a table of the page before.
    continues: bool,
}

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) text: Text,
    columns: u8,
    rows: u8,
}

impl PdfPage {
    pub(super) fn new(page: &unpdf::Page) -> Self {
        let blocks = page.elements.iter().flat_map(|block| match block {
            unpdf::Block::Paragraph(paragraph) => vec![Block::Text(Text::new(paragraph))],
            unpdf::Block::Table(table) => Table::new(table).without_text_around(),
            unpdf::Block::Code { content } => vec![Block::Code(content.clone())],
            unpdf::Block::Raw { content } => vec![Block::Text(Text::plain_run(content))],
            _ => Vec::new(),
        });
        PdfPage {
            number: page.number,
            blocks: blocks.filter(|block| !block.is_empty()).collect(),
        }
    }

    /// Removes these numbers from the top and the bottom.
    pub(super) fn remove_numbers(&mut self, numbers: &[String]) {
        let count = self.blocks.len();
        let mut at = 0..count;
        self.blocks.retain(|block| {
            let is_near_edge = at
                .next()
                .is_some_and(|at| at < PDF_MARGIN_BLOCKS || at + PDF_MARGIN_BLOCKS >= count);
            !is_near_edge
                || !block
                    .as_text()
                    .is_some_and(|text| numbers.contains(&text.plain()))
        });
    }

    pub(super) fn html(&self) -> String {
        let mut html = Markup::default();
        let mut rest = self.blocks.as_slice();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                Block::Table(table) => table.write(&mut html),
                Block::Code(lines) => {
                    // `unpdf` divides code at the gaps in it.
                    let more = after.iter().map_while(|next| match next {
                        Block::Code(more) => Some(more.as_str()),
                        _ => None,
                    });
                    let parts: Vec<&str> = std::iter::once(lines.as_str()).chain(more).collect();
                    html.code(&parts.join("\n\n"));
                    rest = &after[parts.len() - 1..];
                }
                Block::Text(text) => match text.role {
                    Role::Paragraph => text.write(&mut html, "p"),
                    Role::Heading(level) => text.write(&mut html, &format!("h{}", level.clamp(1, 6))),
                    Role::Item(..) | Role::Entry => {
                        let more = after.iter().take_while(|next| next.is_item()).count();
                        let (more, after) = after.split_at(more);
                        let texts = more.iter().filter_map(Block::as_text);
                        write_list(&std::iter::once(text).chain(texts).collect::<Vec<_>>(), &mut html);
                        rest = after;
                    }
                },
            }
        }
        html.into_html()
    }
}

impl Block {
    pub(super) fn as_text(&self) -> Option<&Text> {
        match self {
            Block::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Block::Text(text) => text.runs.iter().all(|run| run.text.trim().is_empty()),
            Block::Table(table) => table.rows.is_empty(),
            Block::Code(lines) => lines.trim().is_empty(),
        }
    }

    fn is_item(&self) -> bool {
        self.as_text().is_some_and(Text::is_item)
    }
}

impl Text {
    fn new(paragraph: &Paragraph) -> Self {
        let style = &paragraph.style;
        let role = match (&style.list_info, style.heading_level) {
            (Some(info), _) => {
                let number = match info.style {
                    ListStyle::Ordered { .. } => Some(info.item_number.unwrap_or(1)),
                    ListStyle::Unordered { .. } => None,
                };
                Role::Item(info.level, number)
            }
            (None, Some(level)) => Role::Heading(level),
            (None, None) => Role::Paragraph,
        };
        let mut runs: Vec<Run> = Vec::new();
        for content in &paragraph.content {
            let run = match content {
                InlineContent::Text(run) => Run::new(&run.text, &run.style, None),
                InlineContent::Link { text, url, style, .. } => Run::new(text, style, Some(url.clone())),
                InlineContent::LineBreak => Run {
                    text: " ".to_owned(),
                    ..Run::default()
                },
                InlineContent::Image { .. } => continue,
            };
            match runs.last_mut() {
                // White space looks the same with any formatting.
                Some(last)
                    if last.has_same_format(&run) || (run.text.trim().is_empty() && last.link.is_none()) =>
                {
                    last.text.push_str(&run.text);
                }
                _ => runs.push(run),
            }
        }
        Text {
            runs,
            role,
            ..Text::default()
        }
    }

    /// Creates a paragraph of one plain run.
    pub(super) fn plain_run(text: &str) -> Self {
        let run = Run {
            text: text.to_owned(),
            ..Run::default()
        };
        Text {
            runs: vec![run],
            ..Text::default()
        }
    }

    /// Splits the text where this many bytes of its letters come before, at white space if there is any.
    pub(super) fn split(self, cuts: &[usize]) -> Vec<Text> {
        let mut parts = vec![Text {
            role: self.role,
            ..Text::default()
        }];
        let mut cuts = cuts.iter().peekable();
        let mut seen = 0;
        for run in self.runs {
            let mut rest = run.text.as_str();
            loop {
                let end = rest.char_indices().find(|(_, c)| {
                    let is_cut = cuts.peek() == Some(&&seen) && (c.is_whitespace() || is_letter(*c));
                    seen += if is_letter(*c) && !is_cut { c.len_utf8() } else { 0 };
                    is_cut
                });
                let (text, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
                if let Some(part) = parts.last_mut().filter(|_| !text.is_empty()) {
                    let text = text.to_owned();
                    part.runs.push(Run { text, ..run.clone() });
                }
                if end.is_none() {
                    break;
                }
                cuts.next();
                parts.push(Text {
                    role: self.role,
                    ..Text::default()
                });
                rest = after.trim_start();
            }
        }
        parts
    }

    /// Removes the marker of a list item from its start.
    pub(super) fn strip_marker(&mut self, marker: &str) {
        let mut marker = marker;
        while let Some(first) = self.runs.first_mut() {
            let mut text = first.text.trim_start();
            if let Some(rest) = text.strip_prefix(marker) {
                (text, marker) = (rest.trim_start(), "");
            }
            if !text.is_empty() {
                first.text = text.to_owned();
                return;
            }
            self.runs.remove(0);
        }
    }

    /// Returns the plain text, with white space collapsed.
    pub(super) fn plain(&self) -> String {
        let whole: String = self.runs.iter().map(|run| run.text.as_str()).collect();
        whole.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn is_bold(&self) -> bool {
        let mut words = self.runs.iter().filter(|run| !run.text.trim().is_empty());
        words.clone().next().is_some() && words.all(|run| run.bold)
    }

    pub(super) fn is_item(&self) -> bool {
        matches!(self.role, Role::Item(..) | Role::Entry)
    }

    pub(super) fn is_heading(&self) -> bool {
        matches!(self.role, Role::Heading(_))
    }

    /// Returns whether the paragraph ends in the middle of a sentence that `next` continues.
    pub(super) fn continues_in(&self, next: &Text) -> bool {
        if self.role != Role::Paragraph || next.role != Role::Paragraph {
            return false;
        }
        let ends = self.plain().chars().last();
        let begins = next.plain().chars().next();
        ends.is_some_and(|c| c.is_alphanumeric() || matches!(c, ',' | '-' | ')'))
            && begins.is_some_and(|c| c.is_lowercase() || c == '(')
    }

    fn write(&self, html: &mut Markup, name: &str) {
        html.open(name);
        self.write_inline(html, name.starts_with('h') || name == "th");
        html.close(name);
    }

    fn write_inline(&self, html: &mut Markup, heavy: bool) {
        let heavy = heavy || self.runs.iter().all(|run| run.bold && run.text.len() > 200);
        for run in &self.runs {
            let has_text = !run.text.trim().is_empty();
            let format = TextFormat {
                bold: run.bold && !heavy,
                italic: run.italic,
                script: run.script,
                ..TextFormat::default()
            };
            let tags = || format.tags().filter(|_| has_text);
            if let Some(link) = &run.link {
                html.open_with("a", "href", link);
            }
            tags().for_each(|tag| {
                html.open(tag);
            });
            html.text(&run.text);
            tags().rev().for_each(|tag| {
                html.close(tag);
            });
            if run.link.is_some() {
                html.close("a");
            }
        }
    }
}

impl Run {
    fn new(text: &str, style: &TextStyle, link: Option<String>) -> Self {
        let script = match (style.superscript, style.subscript) {
            (true, _) => Script::Super,
            (_, true) => Script::Sub,
            _ => Script::Normal,
        };
        Run {
            text: text.to_owned(),
            bold: style.bold,
            italic: style.italic,
            script,
            link,
        }
    }

    fn has_same_format(&self, other: &Run) -> bool {
        let format = |run: &Run| (run.bold, run.italic, run.script);
        format(self) == format(other) && self.link == other.link
    }
}

/// Writes adjacent items as lists, nested by depth.
fn write_list(items: &[&Text], html: &mut Markup) {
    // Open lists: tag name and depth.
    let mut open: Vec<(&str, u8)> = Vec::new();
    for item in items {
        let (depth, number) = match item.role {
            Role::Item(depth, number) => (depth, number),
            _ => (0, None),
        };
        let name = if number.is_some() { "ol" } else { "ul" };
        while let Some((last, its_depth)) = open.last().copied()
            && (its_depth > depth || (its_depth == depth && last != name))
        {
            html.close("li").close(last);
            open.pop();
        }
        if open.last().is_some_and(|(_, its_depth)| *its_depth == depth) {
            html.close("li");
        } else {
            match number.filter(|number| *number != 1) {
                Some(number) => html.open_with(name, "start", &number.to_string()),
                None => html.open(name),
            };
            open.push((name, depth));
        }
        html.open("li");
        item.write_inline(html, false);
    }
    for (name, _) in open.into_iter().rev() {
        html.close("li").close(name);
    }
}

impl Table {
    fn new(table: &unpdf::Table) -> Self {
        let row = |row: &unpdf::TableRow| {
            let cells = row.cells.iter().map(|cell| {
                let mut text = Text::default();
                for paragraph in &cell.content {
                    if !text.runs.is_empty() {
                        text.runs.push(Run {
                            text: " ".to_owned(),
                            ..Run::default()
                        });
                    }
                    text.runs.extend(Text::new(paragraph).runs);
                }
                Cell {
                    text,
                    columns: cell.colspan,
                    rows: cell.rowspan,
                }
            });
            cells.collect()
        };
        Table {
            rows: table.rows.iter().map(row).collect(),
            head: Vec::new(),
            continues: false,
        }
    }

    /// Returns the table, and as texts the lines before and after it that were taken for rows: those that fill only
    /// the first of several columns, and after the table end a sentence.
    fn without_text_around(mut self) -> Vec<Block> {
        let is_line = |row: &Vec<Cell>| {
            row.len() > 1 && row[0].columns == 1 && row[1..].iter().all(|cell| cell.text.plain().is_empty())
        };
        let before = self.rows.iter().take_while(|row| is_line(row)).count();
        let after = self
            .rows
            .iter()
            .rev()
            .take_while(|row| is_line(row) && row[0].text.plain().ends_with('.'))
            .count();
        let end = self.rows.len() - after;
        let after = if end > before {
            self.rows.split_off(end)
        } else {
            Vec::new()
        };
        let table = self.rows.split_off(before);
        let text = |row: Vec<Cell>| row.into_iter().next().map(|cell| Block::Text(cell.text));
        let mut blocks: Vec<Block> = self.rows.into_iter().filter_map(text).collect();
        blocks.push(Block::Table(Table {
            head: table.first().map(|row| texts(row)).unwrap_or_default(),
            rows: table,
            continues: false,
        }));
        blocks.extend(after.into_iter().filter_map(text));
        blocks
    }

    /// Joins it to the last table of the page before, if it has as many columns. Removes a repeated head. Returns
    /// whether it continues that table.
    pub(super) fn join_to(&mut self, last: &Table) -> bool {
        self.continues = self.columns() == last.columns();
        if self.continues {
            if self.head == last.head && self.rows.len() > 1 {
                self.rows.remove(0);
            }
            self.head.clone_from(&last.head);
        }
        self.continues
    }

    fn columns(&self) -> usize {
        let columns = |row: &Vec<Cell>| row.iter().map(|cell| usize::from(cell.columns)).sum();
        self.rows.iter().map(columns).max().unwrap_or(0)
    }

    fn write(&self, html: &mut Markup) {
        html.open("table");
        for (index, row) in self.rows.iter().enumerate() {
            html.open("tr");
            let name = if index == 0 && !self.continues { "th" } else { "td" };
            for cell in row {
                html.open_spanning(name, cell.columns.into(), cell.rows.into());
                cell.text.write_inline(html, name == "th");
                html.close(name);
            }
            html.close("tr");
        }
        html.close("table");
    }
}

fn texts(row: &[Cell]) -> Vec<String> {
    row.iter().map(|cell| cell.text.plain()).collect()
}
