//! Reads PDF. `unpdf` finds lines, paragraphs, lists and tables on each page. This module divides paragraphs and
//! lists further, and adds what needs the whole document: running headers, heading levels, and words, paragraphs and
//! tables split by line or page breaks.

mod block;
mod complex_pages;
mod contents;
mod copies;
mod drawn_bullets;
mod headings;
mod letters;
mod line_backend;
mod lines;
mod margins;
mod page_numbers;
mod paragraphs;
mod scans;
mod words;

use std::borrow::Cow;

use unpdf::model::FormField;
use unpdf::parser::backend::{PdfBackend, RawBackend};
use unpdf::parser::raw::RawDocument;
use unpdf::render::PageSelection;
use unpdf::{Document, Error, Page, ParseOptions, PdfParser};

use self::block::{Block, PdfPage};
use self::complex_pages::Layout;
use self::copies::ExcerptPage;
use self::lines::PageContent;
use super::markup::Markup;
use super::{FileDocument, FileError, FilePage, ScanRequest, kind};
use crate::limits;

/// Pages that `unpdf` reads of one document: its time grows with the square of their number.
const PAGES_AT_ONCE: usize = 200;

/// Reads at most `max_pages` pages of a PDF, and the images of scanned pages.
pub(super) fn read(
    body: &[u8],
    max_pages: Option<u32>,
    scans: ScanRequest,
) -> Result<FileDocument, FileError> {
    // Other bytes may come before the header.
    let body = kind::find_pdf(body).map_or(body, |start| &body[start..]);
    let wanted = max_pages.unwrap_or(limits::PDF_PAGES).clamp(1, limits::PDF_PAGES);
    let is_whole = has_end(body);
    let mut backend = RawBackend::load_bytes(body).map_err(failure)?;
    let mut body = Cow::Borrowed(body);
    if copies::is_needed(&backend, wanted) {
        body = copies::without_pagination(&body, wanted).map_err(failure)?.into();
        backend = RawBackend::load_bytes(&body).map_err(failure)?;
    }
    let total = backend.pages().len() as u32;
    if total == 0 {
        return Err(FileError::Damaged("it has no pages".to_owned()));
    }
    let mut contents = lines::read(backend, 1..=total.min(wanted));
    let is_short = total as usize <= PAGES_AT_ONCE && !contents.iter().any(is_edited);
    let usual = if is_short {
        usual_pages(&contents)
    } else {
        Vec::new()
    };
    let options = ParseOptions::new()
        .sequential()
        .with_pages(PageSelection::Pages(usual));
    let parser = PdfParser::from_bytes_with_options(&body, options).map_err(failure)?;
    let mut document = parser.parse().map_err(failure)?;
    if !is_short {
        document.pages = read_excerpts(&body, &contents).map_err(failure)?;
    }
    let own = contents.iter_mut().filter_map(|page| page.page.take());
    document.pages.extend(own);
    document.pages.sort_by_key(|page| page.number);
    let mut warnings = complexity_warnings(&contents);
    warnings.extend(damage_warnings(&document, total, wanted));
    if !is_whole {
        warnings.push("The PDF ends early; parts of it may be missing.".to_owned());
    }
    let textless = scans::textless_pages(&document);
    let scans = scans::read(&parser, &scans::requested_pages(&document, scans), &mut warnings)?;
    let mut pages: Vec<PdfPage> = document.pages.iter().map(PdfPage::new).collect();
    for page in &mut pages {
        page.remove_numbers(&contents[page.number as usize - 1].dropped.page_numbers);
    }
    let lines_of = |page: &PdfPage| std::mem::take(&mut contents[page.number as usize - 1].lines);
    let lines: Vec<_> = pages.iter().map(lines_of).collect();
    paragraphs::divide(&mut pages, &lines);
    words::restore(&mut pages);
    margins::remove(&mut pages);
    contents::mark(&mut pages);
    headings::assign(&mut pages, document.outline.as_ref());
    let mut pages = file_pages(&mut pages);
    if let Some(last) = pages.last_mut().filter(|last| last.number == total) {
        last.html.push_str(&form(&document.form_fields));
    }
    Ok(FileDocument {
        pages,
        total_pages: Some(total),
        properties: properties(&document),
        warnings,
        textless,
        scans,
        recognized: 0,
    })
}

/// Returns the values of a filled form, which are not in the text of its pages.
fn form(fields: &[FormField]) -> String {
    let mut html = Markup::default();
    for field in fields.iter().filter(|field| field.value.is_some()) {
        let value = field.display_value();
        if !value.trim().is_empty() {
            html.open("tr")
                .element("td", &field.name)
                .element("td", &value)
                .close("tr");
        }
    }
    match html.into_html() {
        rows if rows.is_empty() => rows,
        rows => format!("<table><tr><th>Field</th><th>Value</th></tr>\n{rows}</table>\n"),
    }
}

/// Returns whether the end of the file has the mark that ends every PDF.
fn has_end(body: &[u8]) -> bool {
    let tail = &body[body.len().saturating_sub(limits::PDF_END_BYTES)..];
    memchr::memmem::rfind(tail, b"%%EOF").is_some()
}

fn failure(error: Error) -> FileError {
    match error {
        Error::Encrypted | Error::InvalidPassword => FileError::Encrypted,
        error => FileError::Damaged(error.to_string()),
    }
}

fn properties(document: &Document) -> Vec<(String, String)> {
    let metadata = &document.metadata;
    let created = metadata.created.map(|time| time.to_rfc3339());
    let modified = metadata.modified.map(|time| time.to_rfc3339());
    super::properties([
        ("title", metadata.title.as_deref()),
        ("author", metadata.author.as_deref()),
        ("description", metadata.subject.as_deref()),
        ("keywords", metadata.keywords.as_deref()),
        ("createdTime", created.as_deref()),
        ("modifiedTime", modified.as_deref()),
    ])
}

/// Returns the numbers of the pages that `unpdf` divides into blocks.
fn usual_pages(contents: &[PageContent]) -> Vec<u32> {
    let usual = (1..).zip(contents).filter(|(_, page)| page.page.is_none());
    usual.map(|(number, _)| number).collect()
}

/// Returns whether a page is changed before `unpdf` reads it.
fn is_edited(page: &PageContent) -> bool {
    page.layout == Layout::WithoutLines || page.dropped.has_cells
}

/// Divides pages into blocks, some of them at a time: those with too many lines without these, and those whose numbers
/// would be dropped with more room around them.
fn read_excerpts(body: &[u8], contents: &[PageContent]) -> unpdf::Result<Vec<Page>> {
    let document = RawDocument::load(body)?;
    let ids = document.pages();
    let mut pages = Vec::with_capacity(contents.len());
    for numbers in usual_pages(contents).chunks(PAGES_AT_ONCE) {
        let selected = numbers.iter().map(|number| {
            let page = &contents[*number as usize - 1];
            let page_box = page.page_box.filter(|_| page.dropped.has_cells);
            ExcerptPage {
                id: ids[number],
                without_lines: page.layout == Layout::WithoutLines,
                forms: &page.forms,
                boxes: page_box.map(|own| (own, page_numbers::enlarged(&own))),
            }
        });
        let excerpt = copies::excerpt(&document, &selected.collect::<Vec<_>>());
        let options = ParseOptions::new().sequential();
        let read = PdfParser::from_bytes_with_options(&excerpt, options)?.parse()?;
        pages.extend(read.pages.into_iter().map(|mut page| {
            page.number = numbers[page.number as usize - 1];
            page
        }));
    }
    Ok(pages)
}

/// Returns warnings about pages of which not all was read, or not its arrangement.
fn complexity_warnings(contents: &[PageContent]) -> Vec<String> {
    let mut warnings = Vec::new();
    let total = contents.len();
    let count = |is: fn(&&PageContent) -> bool| contents.iter().filter(is).count();
    let without_lines = count(|page| page.layout == Layout::WithoutLines);
    if without_lines > 0 {
        warnings.push(format!(
            "Lines were ignored on {without_lines} of {total} pages, which draw too many; tables on them may be missing."
        ));
    }
    let in_text_order = count(|page| page.layout == Layout::TextOrder);
    if in_text_order > 0 {
        warnings.push(format!(
            "Too many texts on {in_text_order} of {total} pages to arrange them; they are in the order of the file."
        ));
    }
    let cut = count(|page| page.is_cut);
    if cut > 0 {
        warnings.push(format!(
            "Parts of {cut} of {total} pages were left out: at most {} MiB of repeated parts are read per page.",
            limits::PDF_FORM_BYTES >> 20
        ));
    }
    warnings
}

/// Returns warnings about content that is missing: unreadable and skipped pages.
fn damage_warnings(document: &Document, total: u32, wanted: u32) -> Vec<String> {
    let mut warnings = Vec::new();
    let read = document.pages.len();
    let expected = total.min(wanted) as usize;
    if read < expected {
        warnings.push(format!(
            "{} pages of the PDF are damaged and were left out.",
            expected - read
        ));
    }
    if document
        .pages
        .iter()
        .any(|page| page.undecodable_content_streams > 0)
    {
        warnings.push("Parts of the PDF could not be decoded and were left out.".to_owned());
    }
    warnings
}

fn file_pages(pages: &mut [PdfPage]) -> Vec<FilePage> {
    let mut file_pages = Vec::with_capacity(pages.len());
    for at in 0..pages.len() {
        let (before, rest) = pages.split_at_mut(at);
        let page = &mut rest[0];
        let last = before.last().and_then(|page| page.blocks.last());
        let continues = match (last, page.blocks.first_mut()) {
            (Some(Block::Text(last)), Some(Block::Text(first))) => {
                last.continues_in(first) || (last.is_item() && first.is_item())
            }
            (Some(Block::Table(last)), Some(Block::Table(first))) => first.join_to(last),
            _ => false,
        };
        file_pages.push(FilePage {
            number: page.number,
            html: page.html(),
            continues,
        });
    }
    file_pages
}
