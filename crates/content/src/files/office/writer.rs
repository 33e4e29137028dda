//! Writes the content of Office files as HTML.

use indexmap::IndexSet;
use office_oxide::ir::{
    Element, InlineContent, List, ListItem, Note, Paragraph, Section, Table, TableRow, TextSpan,
    VerticalAlign,
};

use super::equations::Equations;
use super::long_sheets::LongSheets;
use super::{CODE_STYLES, QUOTE_STYLES, cells, code_styles, plain};
use crate::files::FilePage;
use crate::files::markup::Markup;
use crate::limits;

/// Twips by which a quote in another one is indented further, at least, and the number of quotes in each other, at most.
const MIN_QUOTE_INDENT: i32 = 100;
const MAX_QUOTES: usize = 8;
/// Placeholders repeated on every slide: date, number, header and footer.
const SLIDE_MARGINS: &[&str] = &["dt", "sldNum", "ftr", "hdr"];

/// How a paragraph is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParagraphKind {
    Plain,
    Code,
    Quote,
}

fn paragraph_kind(paragraph: &Paragraph) -> ParagraphKind {
    let Some(style) = paragraph.style.as_deref() else {
        return ParagraphKind::Plain;
    };
    let style = style.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| style.contains(word));
    match () {
        () if is(CODE_STYLES) => ParagraphKind::Code,
        () if is(QUOTE_STYLES) => ParagraphKind::Quote,
        () => ParagraphKind::Plain,
    }
}

#[derive(Default)]
pub(super) struct Writer {
    pub(super) html: Markup,
    /// Footnotes so far; written at the end of the page.
    notes: Markup,
    /// The `id`s of the notes that the text refers to, in the order of their numbers.
    references: IndexSet<String>,
    is_sheets: bool,
    equations: Equations,
    long_sheets: Option<LongSheets>,
    /// Index of the sheet whose table has more rows.
    pub(super) long_sheet: Option<usize>,
    /// Cells of all tables so far.
    cells: usize,
    /// Whether rows were left out.
    pub(super) is_cut: bool,
}

impl Writer {
    pub(super) fn new(is_sheets: bool, equations: Equations, long_sheets: Option<LongSheets>) -> Self {
        Self {
            is_sheets,
            equations,
            long_sheets,
            ..Self::default()
        }
    }

    /// Returns what was written since the last page.
    pub(super) fn page(&mut self, number: u32) -> FilePage {
        self.html.footnotes(&mut self.notes);
        FilePage {
            number,
            html: std::mem::take(&mut self.html).into_html(),
            continues: false,
        }
    }

    pub(super) fn section(&mut self, section: &Section) {
        self.blocks(&section.elements);
        // A sheet of prose has no table that they belong to.
        while let Some(elements) = self.more_of_sheet() {
            self.blocks(&elements);
        }
        if let Some(notes) = section.speaker_notes.as_ref().filter(|notes| !notes.is_empty()) {
            self.html.open("blockquote");
            self.blocks(notes);
            self.html.close("blockquote");
        }
    }

    fn blocks(&mut self, elements: &[Element]) {
        let mut rest = elements;
        while let Some((first, after)) = rest.split_first() {
            let Element::Paragraph(paragraph) = first else {
                self.block(first);
                rest = after;
                continue;
            };
            // Adjacent paragraphs of the same kind become one code block or one quote.
            let kind = paragraph_kind(paragraph);
            let alike = rest
                .iter()
                .take_while(|next| matches!(next, Element::Paragraph(next) if paragraph_kind(next) == kind))
                .filter_map(|next| match next {
                    Element::Paragraph(next) => Some(next),
                    _ => None,
                });
            let together: Vec<&Paragraph> = alike
                .take(if kind == ParagraphKind::Plain {
                    1
                } else {
                    usize::MAX
                })
                .collect();
            match kind {
                ParagraphKind::Plain => self.paragraph(paragraph),
                ParagraphKind::Code => {
                    let lines: Vec<String> = together.iter().map(|line| plain(&line.content)).collect();
                    self.html.code(&lines.join("\n"));
                }
                ParagraphKind::Quote => {
                    self.quotes(&together);
                }
            }
            rest = &rest[together.len()..];
        }
    }

    /// Writes quotes. One with a larger indent than the one before is nested in it.
    fn quotes(&mut self, quotes: &[&Paragraph]) {
        let mut indents: Vec<i32> = Vec::new();
        for quote in quotes {
            let indent = quote.indent_left_twips.unwrap_or(0);
            while indents.len() > 1 && indents.last().is_some_and(|last| indent < *last) {
                indents.pop();
                self.html.close("blockquote");
            }
            let is_same = |last: &i32| indent.saturating_sub(*last) < MIN_QUOTE_INDENT;
            if let Some(last) = indents.last_mut().filter(|last| is_same(last)) {
                *last = indent.min(*last);
            } else if indents.len() < MAX_QUOTES {
                indents.push(indent);
                self.html.open("blockquote");
            }
            self.paragraph(quote);
        }
        indents.iter().for_each(|_| {
            self.html.close("blockquote");
        });
    }

    fn block(&mut self, element: &Element) {
        match element {
            Element::Heading(heading) => {
                let name = format!("h{}", heading.level.clamp(1, 6));
                self.html.open(&name);
                self.inline(&heading.content, true);
                self.html.close(&name);
            }
            Element::Paragraph(paragraph) => self.paragraph(paragraph),
            Element::Table(table) => self.table(table),
            Element::List(list) => self.list(list),
            Element::Image(image) => {
                let alt = image.alt_text.as_deref().map(str::trim).unwrap_or_default();
                if let Some(address) = image.source_url.as_deref().filter(|url| is_web(url)) {
                    self.html
                        .raw("<p>")
                        .raw("<img src=\"")
                        .text(address)
                        .raw("\" alt=\"")
                        .text(alt);
                    self.html.raw("\"></p>\n");
                } else if !alt.is_empty() && !image.decorative {
                    self.html.element("p", &format!("[{alt}]"));
                }
            }
            Element::ThematicBreak => {
                self.html.raw("<hr>\n");
            }
            Element::TextBox(text) => self.blocks(&text.content),
            Element::Footnote(note) => self.note("fn", note),
            // The notes of sheets are comments.
            Element::Endnote(note) if !self.is_sheets => self.note("en", note),
            Element::CodeBlock(code) => {
                self.html.code(&code.content);
            }
            _ => {}
        }
    }

    fn paragraph(&mut self, paragraph: &Paragraph) {
        let role = paragraph.placeholder_role.as_deref().unwrap_or_default();
        if SLIDE_MARGINS.contains(&role) || plain(&paragraph.content).trim().is_empty() {
            return;
        }
        let is_title = paragraph
            .style
            .as_deref()
            .is_some_and(|style| style.eq_ignore_ascii_case("title"));
        let name = match role {
            "title" | "ctrTitle" => "h2",
            _ if is_title => "h1",
            _ => "p",
        };
        self.html.open(name);
        self.inline(&paragraph.content, name != "p");
        self.html.close(name);
    }

    /// Adds a note. Review comments arrive as notes, too; they are not part of the text.
    fn note(&mut self, kind: &str, note: &Note) {
        if note
            .marker
            .as_deref()
            .is_some_and(|marker| marker.to_ascii_lowercase().starts_with("comment"))
        {
            return;
        }
        let before = std::mem::take(&mut self.html);
        self.blocks(&note.content);
        let content = std::mem::replace(&mut self.html, before).into_html();
        let id = format!("{kind}{}", note.id);
        self.notes.open_with("li", "id", &id).raw(&content).raw("</li>\n");
    }

    fn list(&mut self, list: &List) {
        let name = if list.ordered { "ol" } else { "ul" };
        match list.start_number.filter(|start| list.ordered && *start != 1) {
            Some(start) => self.html.open_with(name, "start", &start.to_string()),
            None => self.html.open(name),
        };
        for ListItem { content, nested } in &list.items {
            self.html.open("li");
            match content.as_slice() {
                [Element::Paragraph(only), lists @ ..]
                    if lists.iter().all(|list| matches!(list, Element::List(_))) =>
                {
                    self.inline(&only.content, false);
                    self.blocks(lists);
                }
                content => self.blocks(content),
            }
            if let Some(nested) = nested {
                self.list(nested);
            }
            self.html.close("li");
        }
        self.html.close(name);
    }

    fn table(&mut self, table: &Table) {
        if table.rows.iter().all(is_empty) {
            return;
        }
        self.html.open("table");
        if let Some(caption) = &table.caption {
            self.html.element("caption", caption);
        }
        self.rows(&table.rows, true);
        while let Some(elements) = self.more_of_sheet() {
            for element in &elements {
                match element {
                    Element::Table(more) => self.rows(&more.rows, false),
                    other => {
                        self.html.open("tr").open("td");
                        self.block(other);
                        self.html.close("td").close("tr");
                    }
                }
            }
        }
        self.html.close("table");
    }

    /// Returns the next rows of a long sheet.
    fn more_of_sheet(&mut self) -> Option<Vec<Element>> {
        let sheet = self.long_sheet?;
        let more = self.long_sheets.as_mut().map(|sheets| sheets.next(sheet));
        let is_full = self.cells > limits::FILE_CELLS || self.html.len() > limits::FILE_HTML_BYTES / 2;
        match more {
            Some(Some(elements)) if !is_full => Some(elements),
            more => {
                self.is_cut |= more != Some(None);
                self.long_sheet = None;
                None
            }
        }
    }

    /// Writes rows. Leaves out those without content that no cell above covers.
    fn rows(&mut self, rows: &[TableRow], mut is_head: bool) {
        let mut covered = 0;
        for (at, row) in rows.iter().enumerate() {
            if at < covered || !is_empty(row) {
                let ends = row.cells.iter().map(|cell| at + cell.row_span as usize);
                covered = ends.fold(covered, usize::max);
                self.row(row, is_head || row.is_header);
                is_head = false;
            }
        }
    }

    fn row(&mut self, row: &TableRow, is_head: bool) {
        let name = if is_head { "th" } else { "td" };
        self.cells += row.cells.len();
        self.html.open("tr");
        for cell in &row.cells {
            self.html
                .open_spanning(name, cell.col_span as usize, cell.row_span as usize);
            match (cells::text(cell), cell.content.as_slice()) {
                (Some(text), _) => {
                    self.html.text(&text);
                }
                (None, [Element::Paragraph(only)]) => self.inline(&only.content, is_head),
                (None, content) => self.blocks(content),
            }
            self.html.close(name);
        }
        self.html.close("tr");
    }

    /// Writes inline content. `heavy`: in a context where all text is bold.
    fn inline(&mut self, content: &[InlineContent], heavy: bool) {
        let mut rest = content;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                InlineContent::Text(span) => {
                    // Word splits runs for the spelling checker; rejoin them.
                    let same = rest
                        .iter()
                        .take_while(
                            |next| matches!(next, InlineContent::Text(next) if same_format(span, next)),
                        )
                        .count();
                    let (same, after) = rest.split_at(same);
                    rest = after;
                    self.span(span, same, heavy);
                }
                InlineContent::LineBreak => {
                    self.html.raw("<br>");
                }
                InlineContent::FootnoteRef(note) => self.reference("fn", note.note_id),
                InlineContent::EndnoteRef(note) => self.reference("en", note.note_id),
                _ => {}
            }
        }
    }

    fn span(&mut self, span: &TextSpan, more: &[InlineContent], heavy: bool) {
        let mut text = span.text.clone();
        for next in more {
            if let InlineContent::Text(next) = next {
                text.push_str(&next.text);
            }
        }
        let link = span.hyperlink.as_deref().filter(|address| is_link(address));
        let tags: Vec<&str> = [
            ("strong", span.bold && !heavy),
            ("em", span.italic),
            ("del", span.strikethrough),
            ("sup", is_at(span, VerticalAlign::Superscript)),
            ("sub", is_at(span, VerticalAlign::Subscript)),
            ("code", code_styles::is_marked(span)),
        ]
        .into_iter()
        .filter_map(|(tag, on)| (on && !text.trim().is_empty()).then_some(tag))
        .collect();
        if let Some(address) = link {
            self.html.open_with("a", "href", address);
        }
        tags.iter().for_each(|tag| {
            self.html.open(tag);
        });
        for (line, text) in text.split('\n').enumerate() {
            // Cells have line breaks.
            self.html.raw(match line {
                0 => "",
                _ if self.is_sheets => "<br>",
                _ => "\n",
            });
            self.equations.write(&mut self.html, text);
        }
        tags.iter().rev().for_each(|tag| {
            self.html.close(tag);
        });
        if link.is_some() {
            self.html.close("a");
        }
    }

    fn reference(&mut self, kind: &str, id: u32) {
        let (at, _) = self.references.insert_full(format!("{kind}{id}"));
        let href = format!("#{kind}{id}");
        self.html
            .open("sup")
            .open_with("a", "href", &href)
            .text(&(at + 1).to_string());
        self.html.close("a").close("sup");
    }
}

fn is_empty(row: &TableRow) -> bool {
    row.cells.iter().all(|cell| cell.content.is_empty())
}

fn same_format(a: &TextSpan, b: &TextSpan) -> bool {
    let is_script = |span| [VerticalAlign::Superscript, VerticalAlign::Subscript].map(|at| is_at(span, at));
    (a.bold, a.italic, a.strikethrough, &a.hyperlink) == (b.bold, b.italic, b.strikethrough, &b.hyperlink)
        && is_script(a) == is_script(b)
        && code_styles::is_marked(a) == code_styles::is_marked(b)
}

fn is_at(span: &TextSpan, position: VerticalAlign) -> bool {
    span.vertical_align == Some(position)
}

fn is_web(address: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        address
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

fn is_link(address: &str) -> bool {
    is_web(address) || address.starts_with("mailto:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_not_notes() {
        let mut writer = Writer::default();
        for marker in ["Comment (A)", "comment", "note"] {
            let text = vec![InlineContent::Text(TextSpan::plain(marker))];
            let content = vec![Element::Paragraph(Paragraph {
                content: text,
                ..Paragraph::default()
            })];
            let note = Note {
                id: 1,
                content,
                marker: Some(marker.to_owned()),
                author: None,
            };
            writer.note("en", &note);
        }
        let expected = "<li id=\"en1\"><p>note</p>\n</li>\n";
        assert_eq!(writer.notes.into_html(), expected);
    }

    #[test]
    fn references_are_numbered_in_their_order() {
        let mut writer = Writer::default();
        for (kind, id) in [("fn", 20), ("en", 20), ("fn", 20)] {
            writer.reference(kind, id);
        }
        let [first, second] = [("fn20", 1), ("en20", 2)]
            .map(|(id, number)| format!("<sup><a href=\"#{id}\">{number}</a></sup>"));
        assert_eq!(writer.html.into_html(), format!("{first}{second}{first}"));
    }
}
