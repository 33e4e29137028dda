//! Reads OpenDocument texts, spreadsheets and presentations. One walk over `content.xml` writes the HTML;
//! `styles` resolves style names.

mod chart;
mod formula;
mod lists;
mod styles;
mod tables;

use std::collections::HashMap;

use self::lists::OpenList;
use self::styles::Styles;
use self::tables::Sheet;
use super::archive::Archive;
use super::markup::Markup;
use super::office::{CODE_STYLES, CODE_TEXT_STYLES, QUOTE_STYLES};
use super::text_format::TextFormat;
use super::xml::{self, Attributes, Node};
use super::{FileDocument, FileError, FilePage, FileType};
use crate::limits;

/// Presentation classes that repeat on every slide, or are not part of the text.
const SKIPPED_CLASSES: &[&str] = &["header", "footer", "date-time", "page-number", "page"];
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
    object_bytes: usize,
    /// Sheets or slides that were left out.
    hidden: usize,
    truncated: bool,
}

/// A frame, which may contain an image.
#[derive(Debug, Default)]
struct Frame {
    has_image: bool,
    /// Its image shows the same as its formula or chart.
    has_object: bool,
    /// Description of the image, or its title.
    alternative: String,
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
            object_bytes: 0,
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
        let style = match name {
            "table:table" => attributes.find("table:style-name"),
            "draw:page" => attributes.find("draw:style-name"),
            _ => None,
        };
        if style.is_some_and(|style| self.styles.is_hidden(style)) {
            self.hidden += 1;
            return true;
        }
        if let Some(sheet) = self.tables.last_mut() {
            match name {
                "table:covered-table-cell" => sheet.cover(attributes),
                "table:table-cell" if !sheet.begin_cell(attributes) => return true,
                _ => {}
            }
        }
        let class = attributes.find("presentation:class").unwrap_or_default();
        let is_hidden = |style| matches!(name, "text:p" | "text:span") && self.styles.is_hidden(style);
        SKIPPED.contains(&name)
            || (name == "text:section" && attributes.find("text:display") == Some("none"))
            || (matches!(name, "svg:title" | "svg:desc") && self.frames.is_empty())
            || attributes.find("text:style-name").is_some_and(is_hidden)
            || SKIPPED_CLASSES.contains(&class)
            || (matches!(name, "table:table-row" | "table:table-cell") && self.cells > limits::FILE_CELLS)
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
                self.start_list(attributes);
                Closing::List
            }
            "text:list-item" | "text:list-header" => {
                self.start_item(attributes);
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
            "draw:object" if self.object_bytes < limits::FILE_HTML_BYTES / 2 => {
                self.object(attributes.find("xlink:href").unwrap_or_default());
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
                    sheet.start_row(attributes);
                }
                Closing::Row
            }
            "table:table-cell" => self.start_cell(attributes),
            _ => Closing::Nothing,
        }
    }

    /// Writes an embedded formula or chart. A chart of a spreadsheet shows values of its cells.
    fn object(&mut self, href: &str) {
        let folder = href.trim_start_matches("./").trim_end_matches('/');
        let Ok(Some(xml)) = self.archive.text(&format!("{folder}/content.xml")) else {
            return;
        };
        let has_charts = self.kind != FileType::Ods && self.tables.is_empty();
        if let Some(formula) = formula::mathml(&xml) {
            self.object_bytes += formula.len();
            self.inline(|html| html.raw(&formula));
        } else if let Some(chart) = has_charts.then(|| chart::table(&xml)).flatten() {
            self.object_bytes += chart.len();
            self.html.raw(&chart);
        } else {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.has_object = true;
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
            if self.styles.is_named(style, CODE_TEXT_STYLES) {
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
        for tag in format.tags() {
            self.html.open(tag);
            tags.push(tag);
        }
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
            Closing::Item => self.end_item(),
            Closing::List => self.end_list(),
            Closing::Frame => {
                let frame = self.frames.pop().unwrap_or_default();
                let alternative = frame.alternative.trim();
                if frame.has_image && !frame.has_object && !alternative.is_empty() {
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

    fn end_page(&mut self) {
        self.html.footnotes(&mut self.notes);
        self.class.clear();
        self.pages.push(FilePage {
            number: self.page_count() + 1,
            html: std::mem::take(&mut self.html).into_html(),
            continues: false,
        });
    }

    /// Returns the number of pages so far, with hidden slides.
    fn page_count(&self) -> u32 {
        let hidden = if self.kind == FileType::Odp {
            self.hidden
        } else {
            0
        };
        u32::try_from(self.pages.len() + hidden).unwrap_or(u32::MAX)
    }

    fn document(mut self, properties: Vec<(String, String)>) -> FileDocument {
        let is_slides = self.kind == FileType::Odp;
        if !is_slides {
            self.end_page();
        }
        let mut warnings = Vec::new();
        if self.hidden > 0 {
            let what = if is_slides { "slides" } else { "sheets" };
            warnings.push(format!("Hidden {what} were left out: {}.", self.hidden));
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
