//! Reads OpenDocument texts, spreadsheets and presentations. One walk over `content.xml` writes the HTML;
//! `styles` resolves style names.

mod formula;
mod styles;

use self::styles::{Script, Styles, TextFormat};
use super::archive::Archive;
use super::markup::Markup;
use super::xml::{self, Attributes, Node};
use super::{FileDocument, FileError, FilePage, FileType};
use crate::limits;

/// Words in names of styles whose text is code.
const CODE_STYLES: &[&str] = &["preformatted", "source", "code", "listing"];
/// Words in names of styles whose text is a quote.
const QUOTE_STYLES: &[&str] = &["quotation", "quote"];
/// Presentation classes that repeat on every slide, or are not part of the text.
const SKIPPED_CLASSES: &[&str] = &["header", "footer", "date-time", "page-number", "page"];
/// Maximum number of columns of a sheet.
const COLUMNS: usize = 16_384;
/// Elements whose whole content is not part of the text.
const SKIPPED: &[&str] = &[
    "office:annotation", "office:forms", "text:tracked-changes", "text:sequence-decls",
    "text:variable-decls", "text:index-title-template", "text:note-citation", "svg:desc",
    "table:named-expressions", "table:covered-table-cell", "presentation:settings",
];

/// Reads an OpenDocument file of this type.
pub(super) fn read(kind: FileType, body: &[u8]) -> Result<FileDocument, FileError> {
    let mut archive = Archive::open(body)?;
    if archive
        .text("META-INF/manifest.xml")?
        .is_some_and(|manifest| manifest.contains("encryption-data"))
    {
        return Err(FileError::Encrypted);
    }
    let content = archive.required("content.xml")?;
    let properties = match archive.text("meta.xml")? {
        Some(meta) => properties(&meta)?,
        None => Vec::new(),
    };
    let styles = archive.text("styles.xml")?;
    let mut writer = Writer::new(kind, archive);
    if let Some(styles) = styles {
        writer.styles.add(&styles)?;
    }
    writer.styles.add(&content)?;
    xml::walk(&content, |node| writer.handle(node))?;
    Ok(writer.document(properties))
}

fn properties(meta: &str) -> Result<Vec<(String, String)>, FileError> {
    let mut properties: Vec<(&'static str, String)> = Vec::new();
    let mut text = String::new();
    xml::walk(meta, |node| match node {
        Node::Start(..) => text.clear(),
        Node::Text(more) => text.push_str(&more),
        Node::End(name) => {
            let known = match name.as_str() {
                "dc:title" => "title",
                "meta:initial-creator" | "dc:creator" => "author",
                "dc:description" => "description",
                "meta:keyword" => "keywords",
                "dc:language" => "language",
                "meta:creation-date" => "createdTime",
                "dc:date" => "modifiedTime",
                _ => "",
            };
            let value = text.trim().to_owned();
            match properties.iter_mut().find(|(have, _)| *have == known) {
                _ if known.is_empty() || value.is_empty() => {}
                Some((_, have)) if known == "keywords" => {
                    have.push_str(", ");
                    have.push_str(&value);
                }
                Some(_) => {}
                None => properties.push((known, value)),
            }
            text.clear();
        }
    })?;
    Ok(properties
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect())
}

/// What to write when an element ends.
#[derive(Debug)]
enum Closing {
    Nothing,
    /// End tags, innermost first.
    Tags(Vec<&'static str>),
    Heading(String),
    Code,
    List(&'static str),
    Cell,
    Row,
    Table,
    Page,
    Note,
}

struct Writer<'a> {
    kind: FileType,
    /// Contains the objects of the document.
    archive: Archive<'a>,
    styles: Styles,
    html: Markup,
    pages: Vec<FilePage>,
    open: Vec<Closing>,
    /// Depth of `open` at which the skipped element began.
    skipping: Option<usize>,
    /// Styles of the open lists.
    lists: Vec<String>,
    in_code: bool,
    /// A line of code has ended; the next paragraph may be another one.
    after_code: bool,
    /// Output before the current note, and the notes so far.
    before_note: Option<Markup>,
    notes: Markup,
    note: u32,
    /// Open tables, innermost last.
    tables: Vec<Sheet>,
    class: String,
    cells: usize,
    formula_bytes: usize,
    hidden: usize,
    truncated: bool,
}

/// A table being written.
#[derive(Debug, Default)]
struct Sheet {
    /// Output before the table.
    before: Markup,
    /// Attributes and content of the row's cells; trailing empty ones are dropped.
    row: Vec<(String, String)>,
    row_repeated: usize,
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
    fn add_columns(&mut self, attributes: &Attributes) {
        let (end, visible) = self.columns.last().copied().unwrap_or_default();
        let count = attributes.count("table:number-columns-repeated", COLUMNS);
        let new = if is_visible(attributes) { count } else { 0 };
        self.columns.push((end + count, visible + new));
    }

    /// Goes to the next cell. Returns whether it is visible.
    fn begin_cell(&mut self, attributes: &Attributes) -> bool {
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
fn is_visible(attributes: &Attributes) -> bool {
    !matches!(attributes.find("table:visibility"), Some("collapse" | "filter"))
}

impl<'a> Writer<'a> {
    fn new(kind: FileType, archive: Archive<'a>) -> Self {
        Writer {
            kind,
            archive,
            styles: Styles::default(),
            html: Markup::default(),
            pages: Vec::new(),
            open: Vec::new(),
            skipping: None,
            lists: Vec::new(),
            in_code: false,
            after_code: false,
            before_note: None,
            notes: Markup::default(),
            note: 0,
            tables: Vec::new(),
            class: String::new(),
            cells: 0,
            formula_bytes: 0,
            hidden: 0,
            truncated: false,
        }
    }

    fn handle(&mut self, node: Node) {
        match node {
            Node::Start(name, attributes) => {
                if self.skipping.is_none() && self.skips(&name, &attributes) {
                    self.skipping = Some(self.open.len());
                }
                let closing = match self.skipping {
                    Some(_) => Closing::Nothing,
                    None => self.start(&name, &attributes),
                };
                self.open.push(closing);
            }
            Node::Text(text) => {
                // Text between blocks is white space of the file.
                if self.skipping.is_none() && self.in_block() {
                    self.html.text(&text);
                }
            }
            Node::End(_) => {
                let closing = self.open.pop().unwrap_or(Closing::Nothing);
                if self.skipping.is_none() {
                    self.end(closing);
                } else if self.skipping == Some(self.open.len()) {
                    self.skipping = None;
                }
            }
        }
    }

    fn in_block(&self) -> bool {
        let block = |closing: &Closing| match closing {
            Closing::Tags(tags) => tags.last().is_some_and(|tag| matches!(*tag, "p" | "blockquote")),
            Closing::Heading(_) | Closing::Code => true,
            _ => false,
        };
        self.open.iter().rev().any(block)
    }

    fn skips(&mut self, name: &str, attributes: &Attributes) -> bool {
        if name == "table:table"
            && attributes
                .find("table:style-name")
                .is_some_and(|style| self.styles.is_hidden(style))
        {
            self.hidden += 1;
            return true;
        }
        if matches!(name, "table:table-cell" | "table:covered-table-cell")
            && self
                .tables
                .last_mut()
                .is_some_and(|sheet| !sheet.begin_cell(attributes))
        {
            return true;
        }
        let class = attributes.find("presentation:class").unwrap_or_default();
        let is_hidden = |style| matches!(name, "text:p" | "text:span") && self.styles.is_hidden(style);
        SKIPPED.contains(&name)
            || attributes.find("text:style-name").is_some_and(is_hidden)
            || SKIPPED_CLASSES.contains(&class)
            || (matches!(name, "table:table-row" | "table:table-cell") && self.cells > limits::FILE_CELLS)
            || (name == "table:table-row" && !is_visible(attributes))
    }

    fn start(&mut self, name: &str, attributes: &Attributes) -> Closing {
        if name != "text:p" {
            self.end_code();
        }
        match name {
            "text:h" => {
                let level = attributes.count("text:outline-level", 6);
                let tag = format!("h{level}");
                self.html.open(&tag);
                Closing::Heading(tag)
            }
            "text:p" => self.paragraph(attributes),
            "text:span" => self.span(attributes),
            "text:a" => match attributes
                .find("xlink:href")
                .filter(|href| !href.starts_with('#'))
            {
                Some(href) => {
                    self.html.open_with("a", "href", href);
                    Closing::Tags(vec!["a"])
                }
                None => Closing::Nothing,
            },
            "text:s" => {
                let spaces = if self.in_code {
                    attributes.count("text:c", 1000)
                } else {
                    1
                };
                self.html.raw(&" ".repeat(spaces));
                Closing::Nothing
            }
            "text:tab" => {
                self.html.raw(if self.in_code { "\t" } else { " " });
                Closing::Nothing
            }
            "text:line-break" => {
                self.html.raw(if self.in_code { "\n" } else { "<br>" });
                Closing::Nothing
            }
            "text:list" => {
                let outer = self.lists.last().map(String::as_str);
                let style = attributes
                    .find("text:style-name")
                    .or(outer)
                    .unwrap_or_default()
                    .to_owned();
                self.lists.push(style);
                let tag = self.list_tag(self.lists.len());
                // A list without a text before it is part of the item before, which may be in a list that ended.
                if self.html.remove_end("<li>") && !self.html.remove_end("</li>\n") {
                    let outer = self.list_tag(self.lists.len() - 1);
                    if !self.html.remove_end(&format!("</li>\n</{outer}>\n<{outer}>")) {
                        self.html.open("li");
                    }
                }
                self.html.open(tag);
                Closing::List(tag)
            }
            "text:list-item" | "text:list-header" => {
                self.html.open("li");
                Closing::Tags(vec!["li"])
            }
            "text:note-body" => {
                self.note += 1;
                self.html.footnote_number(self.note);
                self.before_note = Some(std::mem::take(&mut self.html));
                Closing::Note
            }
            "draw:frame" | "draw:custom-shape" => {
                attributes
                    .find("presentation:class")
                    .unwrap_or_default()
                    .clone_into(&mut self.class);
                Closing::Nothing
            }
            "draw:object" if self.formula_bytes < limits::FILE_HTML_BYTES / 2 => {
                let href = attributes.find("xlink:href").unwrap_or_default();
                if let Some(formula) = formula::mathml(&mut self.archive, href) {
                    self.formula_bytes += formula.len();
                    let is_block = !self.in_block();
                    self.html.raw(if is_block { "<p>" } else { "" }).raw(&formula);
                    if is_block {
                        self.html.close("p");
                    }
                }
                Closing::Nothing
            }
            "draw:page" if self.kind == FileType::Odp => Closing::Page,
            "presentation:notes" => {
                self.html.open("blockquote");
                Closing::Tags(vec!["blockquote"])
            }
            "table:table" => self.start_table(attributes),
            "table:table-column" => {
                if let Some(sheet) = self.tables.last_mut() {
                    sheet.add_columns(attributes);
                }
                Closing::Nothing
            }
            "table:table-row" => {
                if let Some(sheet) = self.tables.last_mut() {
                    sheet.column = 0;
                    sheet.row_repeated =
                        attributes.count("table:number-rows-repeated", limits::REPEATED_CELLS);
                }
                Closing::Row
            }
            "table:table-cell" => self.start_cell(attributes),
            _ => Closing::Nothing,
        }
    }

    /// Returns the tag of the open list at this level, from 1.
    fn list_tag(&self, level: usize) -> &'static str {
        let style = self.lists.get(level.wrapping_sub(1));
        let is_numbered = style.is_some_and(|style| self.styles.is_numbered(style, level));
        if is_numbered { "ol" } else { "ul" }
    }

    fn paragraph(&mut self, attributes: &Attributes) -> Closing {
        let style = attributes.find("text:style-name").unwrap_or_default();
        if self.styles.is_named(style, CODE_STYLES) && self.tables.is_empty() {
            // Each line of a listing is a separate paragraph.
            self.in_code = true;
            let continues = std::mem::take(&mut self.after_code);
            self.html.raw(if continues { "\n" } else { "<pre><code>\n" });
            return Closing::Code;
        }
        self.end_code();
        let heading = match self.kind {
            FileType::Odp if self.class == "title" => Some("h2"),
            FileType::Odt if self.tables.is_empty() && self.lists.is_empty() => self.styles.heading(style),
            _ => None,
        };
        if let Some(heading) = heading {
            self.html.open(heading);
            return Closing::Heading(heading.to_owned());
        }
        let mut tags = Vec::new();
        if self.styles.is_named(style, QUOTE_STYLES) {
            self.html.open("blockquote");
            tags.push("blockquote");
        }
        self.html.open("p");
        tags.push("p");
        let format = self.styles.format(style);
        if self.tables.is_empty() {
            self.open_format(format, &mut tags);
        }
        tags.reverse();
        Closing::Tags(tags)
    }

    fn span(&mut self, attributes: &Attributes) -> Closing {
        let mut tags = Vec::new();
        if let Some(style) = attributes.find("text:style-name")
            && !self.in_code
        {
            if self.styles.is_named(style, CODE_STYLES) {
                self.html.open("code");
                tags.push("code");
            } else {
                self.open_format(self.styles.format(style), &mut tags);
            }
        }
        tags.reverse();
        Closing::Tags(tags)
    }

    fn open_format(&mut self, format: TextFormat, tags: &mut Vec<&'static str>) {
        for (tag, on) in [
            ("strong", format.bold),
            ("em", format.italic),
            ("del", format.struck),
            ("sup", format.script == Script::Super),
            ("sub", format.script == Script::Sub),
        ] {
            if on {
                self.html.open(tag);
                tags.push(tag);
            }
        }
    }

    fn start_table(&mut self, attributes: &Attributes) -> Closing {
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

    fn start_cell(&mut self, attributes: &Attributes) -> Closing {
        let Some(sheet) = self.tables.last_mut() else {
            return Closing::Nothing;
        };
        sheet.cell_repeated = sheet.cell_repeated.clamp(1, limits::REPEATED_CELLS);
        sheet.spans.clear();
        let rows = attributes.count("table:number-rows-spanned", limits::TABLE_COLUMNS);
        let columns = sheet.cell_span.min(limits::TABLE_COLUMNS);
        for (attribute, span) in [("colspan", columns), ("rowspan", rows)] {
            if span > 1 {
                sheet.spans.push_str(&format!(" {attribute}=\"{span}\""));
            }
        }
        sheet.before_cell = std::mem::take(&mut self.html);
        Closing::Cell
    }

    /// Ends the code block to which the last paragraph belonged.
    fn end_code(&mut self) {
        if std::mem::take(&mut self.after_code) {
            self.html.raw("</code></pre>\n");
        }
    }

    fn end(&mut self, closing: Closing) {
        self.end_code();
        match closing {
            Closing::Nothing => {}
            Closing::Tags(tags) => tags.iter().for_each(|tag| {
                self.html.close(tag);
            }),
            Closing::Heading(tag) => {
                self.html.close(&tag);
            }
            Closing::Code => {
                self.in_code = false;
                self.after_code = true;
            }
            Closing::List(tag) => {
                self.lists.pop();
                self.html.close(tag);
            }
            Closing::Note => {
                let before = self.before_note.take().unwrap_or_default();
                let note = std::mem::replace(&mut self.html, before).into_html();
                self.notes.footnote(self.note, &note);
            }
            Closing::Cell => self.end_cell(),
            Closing::Row => self.end_row(),
            Closing::Table => {
                if let Some(sheet) = self.tables.pop() {
                    let rows = std::mem::replace(&mut self.html, sheet.before).into_html();
                    if !rows.is_empty() {
                        self.html.raw("<table>").raw(&rows).raw("</table>\n");
                    }
                }
            }
            Closing::Page => self.end_page(),
        }
    }

    fn end_cell(&mut self) {
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

    fn end_row(&mut self) {
        let Some(sheet) = self.tables.last_mut() else {
            return;
        };
        let mut row = std::mem::take(&mut sheet.row);
        while row.last().is_some_and(|(_, content)| content.is_empty()) {
            row.pop();
        }
        if row.is_empty() {
            return;
        }
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

    fn end_page(&mut self) {
        self.html.footnotes(&mut self.notes);
        self.class.clear();
        self.pages.push(FilePage {
            number: self.page_count() + 1,
            html: std::mem::take(&mut self.html).into_html(),
            continues: false,
        });
    }

    fn page_count(&self) -> u32 {
        u32::try_from(self.pages.len()).unwrap_or(u32::MAX)
    }

    fn document(mut self, properties: Vec<(String, String)>) -> FileDocument {
        let is_slides = self.kind == FileType::Odp;
        if !is_slides {
            self.end_page();
        }
        let mut warnings = Vec::new();
        if self.hidden > 0 {
            warnings.push(format!("Hidden sheets were left out: {}.", self.hidden));
        }
        if self.truncated {
            warnings
                .push("The file is too large to be converted as a whole; its end was left out.".to_owned());
        }
        FileDocument {
            total_pages: is_slides.then(|| self.page_count()),
            pages: self.pages,
            properties,
            warnings,
            ..FileDocument::default()
        }
    }
}
