//! Reads PDF. `unpdf` finds lines, paragraphs, lists and tables on each page. This module divides paragraphs and
//! lists further, and adds what needs the whole document: running headers, heading levels, and words, paragraphs and
//! tables split by line or page breaks.

mod block;
mod contents;
mod drawn_bullets;
mod headings;
mod letters;
mod lines;
mod margins;
mod pagination;
mod paragraphs;
mod scans;
mod words;

use std::borrow::Cow;

use unpdf::model::FormField;
use unpdf::parser::backend::RawBackend;
use unpdf::render::PageSelection;
use unpdf::{Document, Error, ParseOptions, PdfParser};

use self::block::{Block, PdfPage};
use super::markup::Markup;
use super::{FileDocument, FileError, FilePage, ScanRequest, kind};
use crate::limits;

/// Reads at most `max_pages` pages of a PDF, and the images of scanned pages.
pub(super) fn read(
    body: &[u8],
    max_pages: Option<u32>,
    scans: ScanRequest,
) -> Result<FileDocument, FileError> {
    // Other bytes may come before the header.
    let body = kind::find_pdf(body).map_or(body, |start| &body[start..]);
    let wanted = max_pages.unwrap_or(limits::PDF_PAGES).clamp(1, limits::PDF_PAGES);
    let options = ParseOptions::new()
        .sequential()
        .with_pages(PageSelection::Range(1..=wanted));
    let is_whole = has_end(body);
    let mut backend = RawBackend::load_bytes(body).map_err(failure)?;
    let mut body = Cow::Borrowed(body);
    if pagination::is_marked(&backend, wanted) {
        body = pagination::remove(&body, wanted).map_err(failure)?.into();
        backend = RawBackend::load_bytes(&body).map_err(failure)?;
    }
    let parser = PdfParser::from_bytes_with_options(&body, options).map_err(failure)?;
    let total = parser.page_count();
    if total == 0 {
        return Err(FileError::Damaged("it has no pages".to_owned()));
    }
    let document = parser.parse().map_err(failure)?;
    let mut warnings = warnings(&document, total, wanted);
    if !is_whole {
        warnings.push("The PDF ends early; parts of it may be missing.".to_owned());
    }
    let textless = scans::textless_pages(&document);
    let scans = scans::read(&parser, &scans::requested_pages(&document, scans), &mut warnings)?;
    let mut pages: Vec<PdfPage> = document.pages.iter().map(PdfPage::new).collect();
    let lines = lines::read(backend, pages.iter().map(|page| page.number));
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

/// Returns warnings about content that is missing: unreadable and skipped pages.
fn warnings(document: &Document, total: u32, wanted: u32) -> Vec<String> {
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
