//! The blocks of a page, and their HTML.

use unpdf::model::ListStyle;
use unpdf::{InlineContent, Paragraph};

use crate::files::markup::Markup;

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
    pub(super) link: Option<String>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Cell>>,
}

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) text: Text,
    columns: u8,
    rows: u8,
}

impl PdfPage {
    pub(super) fn new(page: &unpdf::Page) -> Self {
        let blocks = page.elements.iter().filter_map(|block| match block {
            unpdf::Block::Paragraph(paragraph) => Some(Block::Text(Text::new(paragraph))),
            unpdf::Block::Table(table) => Some(Block::Table(Table::new(table))),
            unpdf::Block::Code { content } => Some(Block::Code(content.clone())),
            unpdf::Block::Raw { content } => Some(Block::Text(Text::plain_run(content))),
            _ => None,
        });
        PdfPage {
            number: page.number,
            blocks: blocks.filter(|block| !block.is_empty()).collect(),
        }
    }

    pub(super) fn html(&self) -> String {
        let mut html = Markup::default();
        let mut rest = self.blocks.as_slice();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                Block::Table(table) => table.write(&mut html),
                Block::Code(lines) => {
                    html.code(lines);
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
                InlineContent::Text(run) => Run {
                    text: run.text.clone(),
                    bold: run.style.bold,
                    italic: run.style.italic,
                    link: None,
                },
                InlineContent::Link { text, url, style, .. } => Run {
                    text: text.clone(),
                    bold: style.bold,
                    italic: style.italic,
                    link: Some(url.clone()),
                },
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
        Text { runs, role }
    }

    /// Creates a paragraph of one plain run.
    pub(super) fn plain_run(text: &str) -> Self {
        let run = Run {
            text: text.to_owned(),
            ..Run::default()
        };
        Text {
            runs: vec![run],
            role: Role::Paragraph,
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
            let tags = [("strong", run.bold && !heavy), ("em", run.italic)];
            let tags = || tags.iter().filter(|(_, on)| *on && has_text);
            if let Some(link) = &run.link {
                html.open_with("a", "href", link);
            }
            tags().for_each(|(tag, _)| {
                html.open(tag);
            });
            html.text(&run.text);
            tags().rev().for_each(|(tag, _)| {
                html.close(tag);
            });
            if run.link.is_some() {
                html.close("a");
            }
        }
    }
}

impl Run {
    fn has_same_format(&self, other: &Run) -> bool {
        (self.bold, self.italic, &self.link) == (other.bold, other.italic, &other.link)
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
        }
    }

    fn write(&self, html: &mut Markup) {
        html.open("table");
        for (index, row) in self.rows.iter().enumerate() {
            html.open("tr");
            let name = if index == 0 { "th" } else { "td" };
            for cell in row {
                html.raw("<").raw(name);
                for (attribute, span) in [("colspan", cell.columns), ("rowspan", cell.rows)] {
                    if span > 1 {
                        html.raw(" ")
                            .raw(attribute)
                            .raw("=\"")
                            .raw(&span.to_string())
                            .raw("\"");
                    }
                }
                html.raw(">");
                cell.text.write_inline(html, name == "th");
                html.close(name);
            }
            html.close("tr");
        }
        html.close("table");
    }
}
