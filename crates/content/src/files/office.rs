//! Reads Word, Excel and PowerPoint files, old and new. `office_oxide` parses the packages; this module maps
//! headings, lists, tables, notes and hidden parts to HTML.

mod cells;
mod code_styles;
mod empty_columns;
mod equations;
mod formulas;
mod hidden_cells;
mod hidden_shapes;
mod lists;
mod long_sheets;
mod new_lists;
mod old_document;
mod old_headings;
mod old_hidden_text;
mod old_lists;
mod old_slides;
mod old_styles;
mod old_workbook;
mod time;
mod writer;

use std::io::Cursor;

use office_oxide::ir::{DocumentIR, InlineContent};
use office_oxide::options::ParseOptions;
use office_oxide::xlsx::XlsxDocument;
use office_oxide::{Document, DocumentFormat, OfficeError};

use self::equations::Equations;
use self::long_sheets::LongSheets;
use self::writer::Writer;
use super::archive::Archive;
use super::{FileDocument, FileError, FileType};
use crate::limits;

/// Reads an office file of this type.
pub(super) fn read(kind: FileType, body: &[u8]) -> Result<FileDocument, FileError> {
    let format = match kind {
        FileType::Docx => DocumentFormat::Docx,
        FileType::Xlsx => DocumentFormat::Xlsx,
        FileType::Pptx => DocumentFormat::Pptx,
        FileType::Xls => DocumentFormat::Xls,
        FileType::Ppt => DocumentFormat::Ppt,
        _ => DocumentFormat::Doc,
    };
    let Package {
        changed,
        equations,
        mut has_hidden_cells,
    } = Package::prepare(format, body);
    let body = changed.as_deref().unwrap_or(body);
    let document =
        Document::from_reader_with(Cursor::new(body.to_vec()), format, &options()).map_err(failure)?;
    let mut ir = document.to_ir();
    let is_slides = matches!(format, DocumentFormat::Pptx | DocumentFormat::Ppt);
    let is_sheets = matches!(format, DocumentFormat::Xlsx | DocumentFormat::Xls);
    has_hidden_cells |= complete(&document, body, &mut ir);
    let narrowed = document.as_xlsx().and_then(empty_columns::removed);
    if let Some(workbook) = &narrowed {
        replace_sheets(workbook, &mut ir);
    }
    let long_sheets = narrowed.as_ref().or(document.as_xlsx()).and_then(LongSheets::new);
    drop((document, narrowed));
    let mut writer = Writer::new(is_sheets, equations, long_sheets);
    let mut pages = Vec::new();
    for (number, section) in (1..).zip(&mut ir.sections) {
        if section.hidden {
            continue;
        }
        if is_sheets && long_sheets::remove_notice(section) {
            writer.long_sheet = Some(number as usize - 1);
        }
        if is_sheets && let Some(name) = &section.title {
            writer.html.element("h2", name);
        }
        writer.section(section);
        if is_slides {
            pages.push(writer.page(number));
        }
    }
    if !is_slides {
        pages.push(writer.page(1));
    }
    Ok(FileDocument {
        pages,
        total_pages: is_slides.then(|| u32::try_from(ir.sections.len()).unwrap_or(u32::MAX)),
        properties: properties(&ir, is_sheets),
        warnings: warnings(&ir, is_slides, has_hidden_cells, writer.is_cut),
        ..FileDocument::default()
    })
}

/// What is changed in a file before `office_oxide` reads it.
#[derive(Default)]
struct Package {
    /// The changed file; `None` if nothing changes.
    changed: Option<Vec<u8>>,
    /// The marked equations.
    equations: Equations,
    /// Whether hidden cells with content were removed.
    has_hidden_cells: bool,
}

impl Package {
    /// Removes what is hidden, and marks code and equations.
    fn prepare(format: DocumentFormat, body: &[u8]) -> Self {
        let mut package = Self::default();
        let archive = || Archive::open(body).ok();
        package.changed = match format {
            DocumentFormat::Docx | DocumentFormat::Pptx => archive().and_then(|archive| {
                archive.changed_texts(|part| {
                    let shown = hidden_shapes::removed(part);
                    let part = shown.as_deref().unwrap_or(part);
                    code_styles::mark(part)
                        .or_else(|| package.equations.mark(part))
                        .or(shown)
                })
            }),
            DocumentFormat::Xlsx => {
                let changed = archive().and_then(|archive| {
                    archive.changed_texts(|part| {
                        let visible = hidden_cells::visible(part);
                        package.has_hidden_cells |= visible.is_some();
                        formulas::without_empty_results(visible.as_deref().unwrap_or(part)).or(visible)
                    })
                });
                changed.or_else(|| {
                    let visible = hidden_cells::visible_binary(body);
                    package.has_hidden_cells = visible.is_some();
                    visible
                })
            }
            DocumentFormat::Doc => old_hidden_text::removed(body),
            _ => None,
        };
        package
    }
}

/// Adds what `office_oxide` does not read, such as lists, and removes what is no content. Returns whether hidden cells
/// were left out.
fn complete(document: &Document, body: &[u8], ir: &mut DocumentIR) -> bool {
    // The text of slide masters follows the slides, as if it was another one.
    let slides = document.as_pptx().map(|slides| slides.slides.len());
    let slides = slides.or(document.as_ppt().map(|slides| slides.slides.len()));
    ir.sections.truncate(slides.unwrap_or(usize::MAX));
    if document.as_doc().is_some() {
        old_headings::remove_guessed(body, ir);
    }
    if let Some(slides) = document.as_ppt() {
        old_slides::structure(&slides.slides, ir);
    }
    let has_hidden_cells = document
        .as_xls()
        .is_some_and(|workbook| old_workbook::complete(body, workbook, ir));
    let places = match (document.as_docx(), document.as_doc()) {
        (Some(document), _) => Some(new_lists::places(document)),
        (_, Some(_)) => old_lists::places(body),
        _ => None,
    };
    if let Some(places) = places {
        lists::rebuild(&places, ir);
    }
    has_hidden_cells
}

/// Replaces the content of sheets by that of another workbook.
fn replace_sheets(workbook: &XlsxDocument, ir: &mut DocumentIR) {
    ir.metadata.text_truncated = false;
    for (index, section) in ir.sections.iter_mut().enumerate() {
        if let Some(sheet) = workbook.sheet_ir(index) {
            section.elements = sheet.section.elements;
            ir.metadata.text_truncated |= sheet.text_truncated;
        }
    }
}

fn options() -> ParseOptions {
    let mut options = ParseOptions::default();
    let bounds = &mut options.limits;
    bounds.package_entries = limits::ARCHIVE_ENTRIES;
    bounds.package_bytes = limits::ARCHIVE_BYTES;
    bounds.part_bytes = limits::ARCHIVE_BYTES;
    bounds.inflate_ratio = limits::ARCHIVE_RATIO;
    bounds.embedded_depth = 0;
    bounds.embedded_packages = 0;
    bounds.text_chars = limits::OFFICE_TEXT_CHARS;
    bounds.memory_bytes = limits::OFFICE_MEMORY_BYTES;
    options.include_hidden_text = false;
    options.include_deleted_text = false;
    options
}

fn failure(error: OfficeError) -> FileError {
    let text = error.to_string();
    let says = |words: &[&str]| words.iter().any(|word| text.to_ascii_lowercase().contains(word));
    if says(&["password", "encrypted"]) {
        FileError::Encrypted
    } else if says(&["limit", "exceed"]) {
        FileError::TooLarge(text)
    } else {
        FileError::Damaged(text)
    }
}

fn properties(ir: &DocumentIR, is_sheets: bool) -> Vec<(String, String)> {
    let metadata = &ir.metadata;
    // Without a title, `office_oxide` returns the name of the first sheet, or the number of the first slide.
    let name = ir.sections.first().and_then(|section| section.title.as_deref());
    let is_stated = |title: &&str| *title != "Slide 1" && !(is_sheets && name == Some(*title));
    let keywords = metadata.keywords.join(", ");
    let known = [
        ("title", metadata.title.as_deref().filter(is_stated)),
        ("author", metadata.author.as_deref()),
        (
            "description",
            metadata.description.as_deref().or(metadata.subject.as_deref()),
        ),
        ("keywords", Some(keywords.as_str())),
        ("language", metadata.language.as_deref()),
        ("createdTime", metadata.created.as_deref()),
        ("modifiedTime", metadata.modified.as_deref()),
    ];
    super::properties(known)
}

fn warnings(ir: &DocumentIR, is_slides: bool, has_hidden_cells: bool, is_cut: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    let hidden = ir.sections.iter().filter(|section| section.hidden).count();
    if hidden > 0 {
        let what = if is_slides { "slides" } else { "sheets" };
        warnings.push(format!("Hidden {what} were left out: {hidden}."));
    }
    if has_hidden_cells {
        warnings.push("Hidden rows or columns were left out.".to_owned());
    }
    if ir.metadata.text_truncated || is_cut {
        warnings.push("The file is too large to be converted as a whole; its end was left out.".to_owned());
    }
    warnings
}

/// Words in the names of paragraph styles whose text is code, in lower case.
pub(super) const CODE_STYLES: &[&str] = &["code", "source", "preformatted", "listing", "macro"];
/// Words in the names of character styles whose text is code, in lower case.
pub(super) const CODE_TEXT_STYLES: &[&str] = &[
    "code", "source", "preformatted", "verbatim", "typewriter", "teletype",
];
/// Words in the names of paragraph styles whose text is a quote, in lower case.
pub(super) const QUOTE_STYLES: &[&str] = &["quot", "block text"];

fn plain(content: &[InlineContent]) -> String {
    office_oxide::ir::inline_to_text(content)
}
