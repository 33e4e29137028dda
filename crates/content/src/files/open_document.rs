//! Reads OpenDocument texts, spreadsheets and presentations. One walk over `content.xml` writes the HTML;
//! `styles` resolves style names.

mod formula;
mod styles;

use std::collections::HashMap;

use self::styles::{Script, Styles, TextFormat};
use super::archive::Archive;
use super::markup::Markup;
use super::xml::{self, Attributes, Node};
use super::{FileDocument, FileError, FilePage, FileType};
use crate::limits;

/// Words in names of styles whose text is code.
const CODE_STYLES: &[&str] = &["preformatted", "source", "code", "listing"];
/// Words in names of styles whose text is a quote.
const QUOTE_STYLES: &[&str] = &["quotation", "quote", "block text"];
/// Presentation classes that repeat on every slide, or are not part of the text.
const SKIPPED_CLASSES: &[&str] = &["header", "footer", "date-time", "page-number", "page"];
/// Maximum number of columns of a sheet.
const COLUMNS: usize = 16_384;
/// Elements whose whole content is not part of the text.
const SKIPPED: &[&str] = &[
    "office:annotation", "office:forms", "text:tracked-changes", "text:sequence-decls",
    "text:variable-decls", "text:index-title-template", "text:note-citation", "table:named-expressions",
    "table:covered-table-cell", "presentation:settings",
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
    Item,
    List,
    Frame,
    /// Title or description of a frame.
    Alternative,
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
    /// The open lists, innermost last.
    lists: Vec<OpenList>,
    /// Styles of the lists that ended last, by level.
    ended_lists: Vec<String>,
    /// The last number of each list style, which a list may continue.
    list_numbers: HashMap<String, u32>,
    frames: Vec<Frame>,
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

/// A list being written.
#[derive(Debug, Default)]
struct OpenList {
    style: String,
    /// Whether it continues the numbers of a list before.
    continues: bool,
    /// Its tag, once that is written.
    tag: Option<&'static str>,
    /// Whether an item has begun whose start tag is not written. A list without a text before it is nested in the item
    /// before, which may be in a list that ended.
    has_new_item: bool,
    /// The number that the new item has.
    number: Option<u32>,
}

/// A frame, which may contain an image.
#[derive(Debug, Default)]
struct Frame {
    has_image: bool,
    /// Its image shows the same.
    has_formula: bool,
    /// Description of the image, or its title.
    alternative: String,
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
            ended_lists: Vec::new(),
            list_numbers: HashMap::new(),
            frames: Vec::new(),
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
                if let (Some(Closing::Alternative), Some(frame)) = (self.open.last(), self.frames.last_mut())
                {
                    frame.alternative.push_str(&text);
                } else if self.skipping.is_none() && self.in_block() {
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
            || (matches!(name, "svg:title" | "svg:desc") && self.frames.is_empty())
            || attributes.find("text:style-name").is_some_and(is_hidden)
            || SKIPPED_CLASSES.contains(&class)
            || (matches!(name, "table:table-row" | "table:table-cell") && self.cells > limits::FILE_CELLS)
            || (name == "table:table-row" && !is_visible(attributes))
    }

    fn start(&mut self, name: &str, attributes: &Attributes) -> Closing {
        if name != "text:p" {
            self.end_code();
        }
        if !matches!(name, "text:list" | "text:list-item" | "text:list-header") {
            self.begin_items();
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
                let outer = self.lists.last().map(|list| list.style.as_str());
                let style = attributes.find("text:style-name").or(outer);
                self.lists.push(OpenList {
                    style: style.unwrap_or_default().to_owned(),
                    continues: attributes.find("text:continue-list").is_some()
                        || attributes.find("text:continue-numbering") == Some("true"),
                    ..OpenList::default()
                });
                Closing::List
            }
            "text:list-item" | "text:list-header" => {
                if let Some(list) = self.lists.last_mut() {
                    list.has_new_item = true;
                    list.number = attributes.number("text:start-value");
                }
                Closing::Item
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
                self.frames.push(Frame::default());
                Closing::Frame
            }
            "draw:image" => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.has_image = true;
                }
                Closing::Nothing
            }
            "svg:title" | "svg:desc" => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.alternative.clear();
                }
                Closing::Alternative
            }
            "draw:object" if self.formula_bytes < limits::FILE_HTML_BYTES / 2 => {
                let href = attributes.find("xlink:href").unwrap_or_default();
                if let Some(formula) = formula::mathml(&mut self.archive, href) {
                    self.formula_bytes += formula.len();
                    if let Some(frame) = self.frames.last_mut() {
                        frame.has_formula = true;
                    }
                    self.inline(|html| html.raw(&formula));
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

    /// Writes something in the open block, or in a paragraph of its own.
    fn inline(&mut self, write: impl FnOnce(&mut Markup) -> &mut Markup) {
        let is_block = !self.in_block();
        write(self.html.raw(if is_block { "<p>" } else { "" }));
        if is_block {
            self.html.close("p");
        }
    }

    /// Writes the start tags of new items, and of their lists.
    fn begin_items(&mut self) {
        let levels = self.lists.len();
        for (level, list) in (1..).zip(&mut self.lists) {
            if !std::mem::take(&mut list.has_new_item) {
                continue;
            }
            let html = &mut self.html;
            let is_nested_in_item_before = level < levels
                && match list.tag {
                    Some(_) => html.remove_end("</li>\n"),
                    None => {
                        let mut tags = ["ol", "ul"].into_iter();
                        list.tag = tags.find(|tag| html.remove_end(&format!("</li>\n</{tag}>\n")));
                        list.tag.is_some()
                    }
                };
            if is_nested_in_item_before {
                if let Some(ended) = self.ended_lists.get(level - 1) {
                    list.style.clone_from(ended);
                }
                continue;
            }
            let counts_on = level == 1 && (list.continues || list.tag.is_some());
            let last_number = self.list_numbers.get(&list.style).filter(|_| counts_on);
            let number = list.number.unwrap_or_else(|| match last_number {
                Some(last) => last.saturating_add(1),
                None => self.styles.start(&list.style, level),
            });
            if level == 1 {
                self.list_numbers.insert(list.style.clone(), number);
            }
            if list.tag.is_none() {
                let is_numbered = self.styles.is_numbered(&list.style, level);
                let tag = if is_numbered { "ol" } else { "ul" };
                list.tag = Some(tag);
                let is_same =
                    (level > 1 || list.continues) && self.ended_lists.get(level - 1) == Some(&list.style);
                if !(is_same && html.remove_end(&format!("</{tag}>\n"))) {
                    match is_numbered && number != 1 {
                        true => html.open_with(tag, "start", &number.to_string()),
                        false => html.open(tag),
                    };
                }
            }
            html.open("li");
        }
    }

    fn end_list(&mut self) {
        let Some(list) = self.lists.pop() else { return };
        if let Some(tag) = list.tag {
            self.html.close(tag);
            let level = self.lists.len();
            self.ended_lists
                .resize(self.ended_lists.len().max(level + 1), String::new());
            self.ended_lists[level] = list.style;
        }
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
            // Adjacent paragraphs are one quote.
            if !self.html.remove_end("</blockquote>\n") {
                self.html.open("blockquote");
            }
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
            Closing::Item => {
                let list = self.lists.last_mut();
                // An item without content.
                if !list.is_some_and(|list| std::mem::take(&mut list.has_new_item)) {
                    self.html.close("li");
                }
            }
            Closing::List => self.end_list(),
            Closing::Frame => {
                let frame = self.frames.pop().unwrap_or_default();
                let alternative = frame.alternative.trim();
                if frame.has_image && !frame.has_formula && !alternative.is_empty() {
                    self.inline(|html| html.text(&format!("[{alternative}]")));
                }
            }
            Closing::Alternative => {}
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
