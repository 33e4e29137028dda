//! Files as pages: which responses must be parsed by a file reader first, how a parsed file is rendered, and
//! uploads. The reader itself runs elsewhere, under time and memory limits.

use harvestman_content::files::{FileDocument, FileError, FilePage, FileRequest, FileType, ScanRequest};
use harvestman_content::{HtmlPage, Selection};
use serde_json::Value;
use url::Url;

use super::derived;
use super::kind::Kind;
use super::render::{RawPage, RenderedPage, fill, from_html, raw_base64};
use super::selectors::selection;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::options::ScrapeOptions;
use crate::api::page::{DocumentPage, Metadata};
use crate::api::parse::{FileKind, ParseFormat, ParseFormatList, ParseFormats};
use crate::api::parser::{Parser, PdfMode};
use crate::billing;
use crate::extract::fill_schema;
use crate::ids::ScrapeId;

const NO_BLOCKS: &str = "`blocks` is not available; the list is empty.";
/// Why text is not recognized without a server, as the end of a sentence.
#[cfg(feature = "files")]
const NO_SERVER: &str = "text is recognized only by a server";

/// Returns what must be parsed before this response can be rendered; `None` if `render` handles it.
pub fn file_request(page: &RawPage<'_>, options: &ScrapeOptions) -> Option<FileRequest> {
    match page.kind() {
        _ if page.status >= 400 => None,
        Kind::File(FileType::Pdf) if options.pdf_parser().is_none() => None,
        Kind::File(file_type) if file_type.is_image() && !options.parsers.contains(&Parser::Image) => None,
        Kind::File(file_type) => Some(FileRequest {
            file_type,
            max_pages: options.pdf_parser().and_then(|pdf| pdf.max_pages),
            scans: match options.pdf_parser() {
                _ if file_type.is_image() => ScanRequest::All,
                Some(pdf) => match pdf.mode {
                    PdfMode::Fast => ScanRequest::None,
                    PdfMode::Auto => ScanRequest::Textless,
                    PdfMode::Ocr => ScanRequest::All,
                },
                None => ScanRequest::None,
            },
        }),
        Kind::Html | Kind::Text | Kind::Code(_) | Kind::Binary => None,
    }
}

/// Renders a parsed file, as [`super::render()`] does for a page.
///
/// # Errors
/// 500 `SCRAPE_PDF_ERROR` if a PDF could not be parsed, 400 `SCRAPE_UNSUPPORTED_FILE_ERROR` if any other
/// file could not be, 400 for invalid selectors.
pub fn render_file(
    page: &RawPage<'_>,
    options: &ScrapeOptions,
    id: ScrapeId,
    request: &FileRequest,
    file: Result<FileDocument, FileError>,
) -> Result<RenderedPage, ApiError> {
    let mut rendered = prepare_file(page, options, id, request, file)?;
    rendered.complete_without_model(options);
    Ok(rendered)
}

/// Like [`render_file`], but leaves formats that need a language model to the caller.
///
/// # Errors
/// As [`render_file`].
pub fn prepare_file(
    page: &RawPage<'_>,
    options: &ScrapeOptions,
    id: ScrapeId,
    request: &FileRequest,
    file: Result<FileDocument, FileError>,
) -> Result<RenderedPage, ApiError> {
    let is_pdf = request.file_type == FileType::Pdf;
    let file = file.map_err(|error| unreadable(is_pdf, &error))?;
    // All of a file is content.
    let selection = Selection {
        only_main_content: false,
        remove_consent: false,
        ..selection(options)?
    };
    let mut rendered = RenderedPage {
        signs: None,
        redirect: None,
        ..from_html(file.html().into(), page.url, options, &selection, &fill_schema)?
    };
    let document = &mut rendered.document;
    describe(&mut document.metadata, file.properties);
    for warning in &file.warnings {
        document.warn(warning);
    }
    if file.total_pages.is_some()
        && let Some(pdf) = options.pdf_parser()
    {
        let pages = || file.pages.iter().map(|one| one_page(one, page.url, &selection));
        if pdf.page_markers && document.markdown.is_some() {
            document.markdown = Some(with_markers(pages()));
        }
        document.pages = pdf.pages.then(|| pages().collect());
        if pdf.blocks {
            document.blocks = Some(Vec::new());
            document.warn(NO_BLOCKS);
        }
    }
    derived::derive(&mut rendered.document, &mut rendered.model_input, options);
    let document = &mut rendered.document;
    document.raw_base64 = raw_base64(page, options);
    let count = u32::try_from(file.pages.len()).unwrap_or(u32::MAX);
    let credits = billing::page(options, if is_pdf { count } else { 1 });
    let metadata = &mut document.metadata;
    metadata.total_pages = file.total_pages;
    metadata.num_pages = file.total_pages.map(|_| count);
    metadata.ocr_pages = (file.recognized > 0).then_some(file.recognized);
    fill(metadata, page, id, credits);
    metadata.content_type = Some(request.file_type.content_types()[0].to_owned());
    rendered.credits = credits;
    Ok(rendered)
}

/// Parses and renders in this process, for callers that trust their files or set their own limits.
///
/// # Errors
/// As [`super::render()`] and [`render_file`].
#[cfg(feature = "files")]
pub fn read_and_render(
    page: &RawPage<'_>,
    options: &ScrapeOptions,
    id: ScrapeId,
) -> Result<RenderedPage, ApiError> {
    match file_request(page, options) {
        Some(request) => {
            let mut file = harvestman_content::files::read(&request, page.body);
            if let Ok(file) = &mut file {
                file.warn_of_textless(NO_SERVER);
            }
            render_file(page, options, id, &request, file)
        }
        None => super::render(page, options, id),
    }
}

fn unreadable(is_pdf: bool, error: &FileError) -> ApiError {
    match is_pdf {
        true => ApiError::new(ErrorCode::PdfError, format!("Cannot convert the PDF: {error}.")),
        false => ApiError::new(
            ErrorCode::UnsupportedFile,
            format!("Cannot convert the file: {error}."),
        ),
    }
}

fn one_page(page: &FilePage, url: &Url, selection: &Selection) -> DocumentPage {
    DocumentPage {
        page_number: page.number,
        markdown: HtmlPage::parse(&page.html, url).convert(selection).markdown(),
    }
}

fn with_markers(pages: impl Iterator<Item = DocumentPage>) -> String {
    let marked = pages.map(|page| format!("<!-- page {} -->\n\n{}", page.page_number, page.markdown));
    marked.collect::<Vec<_>>().join("\n\n---\n\n")
}

/// Copies the properties of the file.
fn describe(metadata: &mut Metadata, properties: Vec<(String, String)>) {
    for (name, value) in properties {
        match name.as_str() {
            "title" => metadata.title = Some(value),
            "description" => metadata.description = Some(value),
            "language" => metadata.language = Some(value),
            _ => {
                metadata.other.insert(name, Value::from(value));
            }
        }
    }
}

/// Text formats that need no file reader: name, extensions, content types.
const TEXTS: &[(&str, &[&str], &[&str])] = &[
    (
        "html",
        &["html", "htm", "xhtml"],
        &["text/html", "application/xhtml+xml"],
    ),
    ("txt", &["txt", "text", "log"], &["text/plain"]),
    ("md", &["md", "markdown"], &["text/markdown"]),
    ("json", &["json"], &["application/json"]),
    ("xml", &["xml"], &["application/xml", "text/xml"]),
];

/// An uploaded file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upload<'a> {
    /// File name without folders.
    pub name: &'a str,
    /// Content type given by the caller.
    pub content_type: Option<&'a str>,
    /// Contents.
    pub body: &'a [u8],
}

impl Upload<'_> {
    /// Returns the content type that the file is converted as: by file extension, then by the given content
    /// type, then by its bytes.
    ///
    /// # Errors
    /// 400 `SCRAPE_UNSUPPORTED_FILE_ERROR` for formats that cannot be converted.
    pub fn kind(&self) -> Result<&'static str, ApiError> {
        let extension = self
            .name
            .rsplit_once('.')
            .map(|(_, extension)| extension.to_ascii_lowercase())
            .unwrap_or_default();
        let text = |found: &dyn Fn(&[&str], &[&str]) -> bool| {
            TEXTS
                .iter()
                .find(|(_, extensions, types)| found(extensions, types))
                .map(|(_, _, types)| types[0])
        };
        let file = |kind: FileType| kind.content_types()[0];
        let given = self
            .content_type
            .unwrap_or("")
            .split(';')
            .next()
            .unwrap_or("")
            .trim();
        let by_bytes = || match Kind::of(None, "", self.body) {
            Kind::File(kind) => Some(file(kind)),
            Kind::Html => Some("text/html"),
            Kind::Text => Some("text/plain"),
            Kind::Code("xml") => Some("application/xml"),
            Kind::Code(_) | Kind::Binary => None,
        };
        FileType::of_name(self.name)
            .map(|kind| file(kind.corrected(self.body)))
            .or_else(|| text(&|extensions, _| extensions.contains(&extension.as_str())))
            .or_else(|| FileType::of_content_type(given).map(|kind| file(kind.corrected(self.body))))
            .or_else(|| text(&|_, types| types.iter().any(|kind| kind.eq_ignore_ascii_case(given))))
            .or_else(by_bytes)
            .ok_or_else(|| {
                ApiError::new(
                    ErrorCode::UnsupportedFile,
                    format!(
                        "This server cannot convert `{}`; GET /v2/parse/formats lists the supported formats.",
                        self.name
                    ),
                )
            })
    }

    /// Replaces metadata about a fetch with the file name.
    pub fn describe(&self, metadata: &mut Metadata) {
        metadata.source_url = Some(self.name.to_owned());
        metadata.url = None;
        metadata.proxy_used = None;
        metadata.cache_state = None;
        metadata
            .other
            .insert("sourceFile".to_owned(), Value::from(self.name));
    }

    /// Returns a URL for the conversion, against which relative links cannot be resolved.
    pub fn url(&self) -> Url {
        let mut url = Url::parse("upload:file").expect("a constant URL parses");
        url.set_path(self.name);
        url
    }
}

/// Returns the content type of a file by its name.
pub fn content_type_of(name: &str) -> &'static str {
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    let extension = extension.unwrap_or_default();
    let text = TEXTS
        .iter()
        .find(|(_, extensions, _)| extensions.contains(&extension.as_str()))
        .and_then(|(_, _, types)| types.first());
    let known = FileType::of_name(name).and_then(|kind| kind.content_types().first());
    match (known.or(text), extension.as_str()) {
        (Some(kind), _) => kind,
        (None, "json") => "application/json",
        (None, "zip") => "application/zip",
        (None, "gz") => "application/gzip",
        (None, "gif") => "image/gif",
        (None, "svg") => "image/svg+xml",
        (None, "xml") => "application/xml",
        (None, "mp3") => "audio/mpeg",
        (None, "mp4") => "video/mp4",
        (None, _) => "application/octet-stream",
    }
}

/// Returns the response of `GET /v2/parse/formats`. Images can be read with text recognition.
pub fn parse_formats(has_recognition: bool) -> ParseFormats {
    let format = |name: &str, kind, extensions: &[&str], types: &[&str]| ParseFormat {
        format: name.to_owned(),
        kind,
        extensions: extensions
            .iter()
            .map(|extension| format!(".{extension}"))
            .collect(),
        mime_types: types.iter().map(|&kind| kind.to_owned()).collect(),
        available: true,
    };
    let files = FileType::ALL.iter().map(|file| {
        let kind = match file.is_image() {
            true => FileKind::Image,
            false => FileKind::Document,
        };
        let can_read = cfg!(feature = "files") && (has_recognition || !file.is_image());
        ParseFormat {
            available: can_read,
            ..format(file.name(), kind, file.extensions(), file.content_types())
        }
    });
    let texts = TEXTS.iter().map(|(name, extensions, types)| ParseFormat {
        ..format(name, FileKind::Document, extensions, types)
    });
    ParseFormats {
        success: true,
        data: ParseFormatList {
            formats: files.chain(texts).collect(),
        },
    }
}
