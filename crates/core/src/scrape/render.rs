//! Renders fetched bytes to a page document. Pure: the same bytes and options give the same document.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harvestman_content::files::{FileType, feed_html};
use harvestman_content::{
    ENOUGH_TEXT, Facts, HtmlPage, MetadataValue, PageMetadata, RenderSignals, Selection,
};
use serde_json::{Map, Value};
use url::Url;

use super::browser_need::{BrowserReason, browser_need};
use super::clean;
use super::derived;
use super::kind::Kind;
use super::model::{self, ModelInput, ModelTask, NO_MODEL};
use super::offers;
use super::selectors::{attributes, selection};
use crate::api::error::{ApiError, ErrorCode};
use crate::api::format::{Format, FormatKind};
use crate::api::options::ScrapeOptions;
use crate::api::page::{AttributeValues, ConsentBanner, Document, Metadata};
use crate::billing;
use crate::extract::fill::PageInfo;
use crate::extract::{FillResult, fill_schema};
use crate::ids::ScrapeId;
use crate::pii::Redactor;

const TRUNCATED: &str = "The page is too large to convert completely; its end was cut off.";

const REDACTED_BASE64: &str = "`redactPII` cannot remove personal data from a PDF in base64; add `pdf` to `parsers`, or omit `redactPII`.";

const SELECTORS_GIVEN_UP: &str = "The CSS selectors were too expensive to match on the whole page, so its end was not matched; use fewer or simpler selectors.";

/// A fetched response with decompressed body.
#[derive(Clone, Copy, Debug)]
pub struct RawPage<'a> {
    /// The requested URL.
    pub requested: &'a Url,
    /// The URL after redirects.
    pub url: &'a Url,
    /// HTTP status.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The decompressed body.
    pub body: &'a [u8],
}

/// A rendered response.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RenderedPage {
    /// The document as the caller receives it.
    pub document: Box<Document>,
    /// Every link that a crawl may follow, in document order.
    pub links: Vec<Url>,
    /// Credits charged for the document.
    pub credits: u32,
    /// Measurements of the page without its scripts; `None` if it is not HTML.
    pub signs: Option<RenderSignals>,
    /// Target of an immediate redirect by markup.
    pub redirect: Option<Url>,
    /// Input for formats that need a language model.
    pub model_input: ModelInput,
}

impl RenderedPage {
    /// Returns why the page, fetched with this status, needs a browser or not; `None` if it is not HTML.
    pub fn browser_reason(&self, status: u16) -> Option<BrowserReason> {
        let signs = self.signs.as_ref()?;
        Some(match self.redirect {
            Some(_) => BrowserReason::Redirect,
            None => browser_need(signs, status),
        })
    }

    /// Returns the measurements of the whole page, even beyond [`ENOUGH_TEXT`]; `None` if it is not HTML. `page` must
    /// be the page that this was rendered from.
    pub fn measure_whole(&self, page: &RawPage<'_>) -> Option<Cow<'_, RenderSignals>> {
        let signs = self.signs.as_ref()?;
        if signs.main_text < ENOUGH_TEXT {
            return Some(Cow::Borrowed(signs));
        }
        let text = harvestman_content::decode(page.body, page.content_type).text;
        Some(Cow::Owned(
            HtmlPage::parse(&text, page.url).render_signals(usize::MAX),
        ))
    }

    /// Adds links that are not listed yet.
    pub fn add_links(&mut self, links: Vec<Url>) {
        let known: HashSet<Url> = self.links.iter().cloned().collect();
        self.links
            .extend(links.into_iter().filter(|link| !known.contains(link)));
    }

    /// Records that the page comes from a browser, where scripts have run.
    pub fn scripts_have_run(&mut self) {
        if let Some(signs) = &mut self.signs {
            signs.mark_rendered();
        }
    }

    /// Removes personal data from the document, and from what a model gets.
    pub fn redact(&mut self, redactor: &Redactor) {
        redactor.document(&mut self.document);
        self.model_input.redact(redactor);
    }

    /// Completes a page where no model is available: fills the formats that need one, and removes personal data.
    pub(super) fn complete_without_model(&mut self, options: &ScrapeOptions) {
        self.without_model(options);
        if let Some(redactor) = options.redact_pii.as_ref().map(Redactor::new) {
            self.redact(&redactor);
            redactor.warn_of_unsearched(&mut self.document, NO_MODEL);
        }
    }

    /// Replaces the Markdown with what a model left of it for `onlyCleanContent`. Drops lines that the page does not
    /// have. Returns false, and changes nothing, if no line is left.
    pub fn replace_by_cleaned(&mut self, cleaned: &str, options: &ScrapeOptions) -> bool {
        let (markdown, dropped) = clean::kept_lines(&self.model_input.markdown, cleaned);
        if markdown.trim().is_empty() && !self.model_input.markdown.trim().is_empty() {
            return false;
        }
        derived::set_markdown(&mut self.document, &mut self.model_input, options, markdown);
        if dropped > 0 {
            self.document.warn(&format!(
                "`onlyCleanContent`: {dropped} lines that the language model returned were dropped, because they are not on the page."
            ));
        }
        true
    }

    /// Records that only rules removed the leftovers. `because` is the end of a sentence.
    pub fn cleaned_by_rules(&mut self, because: &str) {
        self.document.warn(&clean::warning(because));
    }

    /// Fills the formats that need a model without one.
    pub fn without_model(&mut self, options: &ScrapeOptions) {
        if model::cleans_markdown(options) {
            self.cleaned_by_rules(NO_MODEL);
        }
        for task in model::tasks(options) {
            self.model_input
                .fill_without_model(&task, &mut self.document, NO_MODEL);
        }
    }
}

impl RawPage<'_> {
    /// Returns whether a build without the feature `charsets` cannot decode the body; false for files.
    pub fn needs_charsets(&self) -> bool {
        let is_text = match self.kind() {
            Kind::Html | Kind::Text | Kind::Code(_) | Kind::File(FileType::Csv | FileType::Tsv) => true,
            Kind::File(_) | Kind::Binary => false,
        };
        is_text && harvestman_content::needs_charsets(self.body, self.content_type)
    }

    pub(super) fn kind(&self) -> Kind {
        match Kind::of(self.content_type, self.url.path(), self.body) {
            // A document is never empty, and its reader says so.
            kind @ Kind::File(file) if !file.is_image() && self.status < 400 => kind,
            _ if self.body.is_empty() => Kind::Text,
            kind => kind,
        }
    }
}

/// Renders a response that is not a file; see [`super::file_request`].
///
/// # Errors
/// 400 `SCRAPE_UNSUPPORTED_FILE_ERROR` for types that cannot be converted, 400 for invalid selectors.
pub fn render(page: &RawPage<'_>, options: &ScrapeOptions, id: ScrapeId) -> Result<RenderedPage, ApiError> {
    let mut rendered = prepare(page, options, id)?;
    rendered.complete_without_model(options);
    Ok(rendered)
}

/// Extracts the data that a page states for a JSON Schema, as [`fill_schema`] does.
pub type Fill<'a> = dyn Fn(&Map<String, Value>, &Facts, PageInfo<'_>) -> FillResult + 'a;

/// Like [`render`], but leaves formats that need a language model to the caller.
///
/// # Errors
/// As [`render`].
pub fn prepare(page: &RawPage<'_>, options: &ScrapeOptions, id: ScrapeId) -> Result<RenderedPage, ApiError> {
    prepare_with(page, options, id, &fill_schema)
}

/// Like [`prepare`], for a build that is too small to contain [`fill_schema`].
///
/// # Errors
/// As [`render`].
pub fn prepare_with(
    page: &RawPage<'_>,
    options: &ScrapeOptions,
    id: ScrapeId,
    fill_schema: &Fill<'_>,
) -> Result<RenderedPage, ApiError> {
    let credits = billing::page(options, 1);
    let kind = page.kind();
    let is_base64 = kind == Kind::File(FileType::Pdf) && options.pdf_parser().is_none();
    if is_base64 && options.redact_pii.is_some() {
        return Err(ApiError::new(ErrorCode::BadRequest, REDACTED_BASE64));
    }
    let mut rendered = match kind {
        Kind::Html => html(page, options, fill_schema)?,
        // Without a file reader, CSV is plain text.
        Kind::Text | Kind::File(FileType::Csv | FileType::Tsv) => text(page, options, None, fill_schema),
        Kind::Code("xml") if let Some(feed) = feed(page, options, fill_schema)? => feed,
        Kind::Code(language) => text(page, options, Some(language), fill_schema),
        Kind::File(FileType::Pdf) if is_base64 => render_base64(page, options),
        // The body of a target's error response is never our error.
        Kind::File(_) | Kind::Binary if page.status >= 400 => {
            text(&RawPage { body: &[], ..*page }, options, None, fill_schema)
        }
        Kind::File(_) | Kind::Binary if options.wants(FormatKind::RawBase64) => {
            plain(without_markup(options))
        }
        Kind::File(_) | Kind::Binary => return Err(unsupported(page)),
    };
    rendered.document.raw_base64 = raw_base64(page, options);
    if !is_base64 {
        derived::derive(&mut rendered.document, &mut rendered.model_input, options);
    }
    rendered.credits = credits;
    fill(&mut rendered.document.metadata, page, id, credits);
    Ok(rendered)
}

/// Returns the body for the format `rawBase64`.
pub(super) fn raw_base64(page: &RawPage<'_>, options: &ScrapeOptions) -> Option<String> {
    options
        .wants(FormatKind::RawBase64)
        .then(|| STANDARD.encode(page.body))
}

fn unsupported(page: &RawPage<'_>) -> ApiError {
    let content_type = page.content_type.unwrap_or("unknown");
    let message = match page.kind() {
        Kind::File(file) if file.is_image() => format!(
            "The target is an image of the type `{}` with the content type `{content_type}`, which this server cannot \
             convert to text without `image` in `parsers`.",
            file.name()
        ),
        _ => format!(
            "The target has the content type `{content_type}`, which this server cannot convert to text."
        ),
    };
    ApiError::new(ErrorCode::UnsupportedFile, message)
}

/// Sets the metadata about the fetch.
pub(super) fn fill(metadata: &mut Metadata, page: &RawPage<'_>, id: ScrapeId, credits: u32) {
    metadata.source_url = Some(page.requested.as_str().to_owned());
    metadata.url = Some(page.url.as_str().to_owned());
    metadata.status_code = Some(page.status);
    metadata.error = (page.status >= 400).then(|| status_text(page.status));
    metadata.scrape_id = Some(id);
    metadata.content_type = page.content_type.map(str::to_owned);
    metadata.credits_used = Some(credits);
    metadata.proxy_used = Some("basic".to_owned());
}

fn html(
    page: &RawPage<'_>,
    options: &ScrapeOptions,
    fill_schema: &Fill<'_>,
) -> Result<RenderedPage, ApiError> {
    let text = harvestman_content::decode(page.body, page.content_type).text;
    from_html(text, page.url, options, &selection(options)?, fill_schema)
}

/// Renders a feed as a page of its entries; returns `None` for other XML. A crawl does not follow its links.
fn feed(
    page: &RawPage<'_>,
    options: &ScrapeOptions,
    fill_schema: &Fill<'_>,
) -> Result<Option<RenderedPage>, ApiError> {
    let xml = harvestman_content::decode(page.body, page.content_type).text;
    let Some(html) = feed_html(&xml, page.url) else {
        return Ok(None);
    };
    let selection = Selection {
        only_main_content: false,
        ..selection(options)?
    };
    let mut rendered = from_html(html.into(), page.url, options, &selection, fill_schema)?;
    if options.wants(FormatKind::RawHtml) {
        rendered.document.raw_html = Some(xml.into_owned());
    }
    Ok(Some(RenderedPage {
        links: Vec::new(),
        signs: None,
        redirect: None,
        ..rendered
    }))
}

/// Renders HTML, without metadata about the fetch.
pub(super) fn from_html(
    text: Cow<'_, str>,
    url: &Url,
    options: &ScrapeOptions,
    selection: &Selection,
    fill_schema: &Fill<'_>,
) -> Result<RenderedPage, ApiError> {
    let parsed = HtmlPage::parse(&text, url);
    let content = parsed.convert(selection);
    let wants = |kind| options.wants(kind);
    let mut document = Document {
        markdown: derived::needs_markdown(options).then(|| content.markdown()),
        html: wants(FormatKind::Html).then(|| content.html()),
        links: wants(FormatKind::Links).then(|| parsed.links()),
        images: wants(FormatKind::Images).then(|| parsed.images()),
        attributes: attributes(&parsed, options)?,
        metadata: metadata(parsed.metadata()),
        warning: match (parsed.truncated(), parsed.selectors_given_up()) {
            (true, _) => Some(TRUNCATED.to_owned()),
            (_, true) => Some(SELECTORS_GIVEN_UP.to_owned()),
            _ => None,
        },
        ..Document::default()
    };
    if wants(FormatKind::Product) || wants(FormatKind::Menu) {
        offers(&mut document, &parsed.facts(), url, options);
    }
    if content.removed_consent() {
        document.metadata.consent_banner = Some(ConsentBanner::Removed);
    }
    let links = parsed.crawl_links();
    let (signs, redirect) = (Some(parsed.render_signals(ENOUGH_TEXT)), parsed.redirect());
    let model_input = extract_stated(&|| parsed.facts(), url, &document.metadata, options, fill_schema);
    drop(content);
    if wants(FormatKind::RawHtml) {
        document.raw_html = Some(text.into_owned());
    }
    Ok(RenderedPage {
        document: Box::new(document),
        links,
        credits: 0,
        signs,
        redirect,
        model_input,
    })
}

/// Fills `product` and `menu` with what a page states.
fn offers(document: &mut Document, facts: &Facts, url: &Url, options: &ScrapeOptions) {
    if options.wants(FormatKind::Product) {
        document.product = offers::product(facts, url);
        if document.product.is_none() {
            document.warn(offers::NO_PRODUCT);
        }
    }
    if options.wants(FormatKind::Menu) {
        document.menu = offers::menu(facts, url);
        if document.menu.is_none() {
            document.warn(offers::NO_MENU);
        }
    }
}

/// Extracts the data stated on a page for the schemas in the options.
fn extract_stated(
    facts: &dyn Fn() -> Facts,
    url: &Url,
    about: &Metadata,
    options: &ScrapeOptions,
    fill_schema: &Fill<'_>,
) -> ModelInput {
    let about = PageInfo {
        url: url.as_str(),
        title: about.title.as_deref(),
        description: about.description.as_deref(),
        language: about.language.as_deref(),
    };
    let mut read = None;
    let mut filled = |schema: Option<&Map<String, Value>>| -> Option<FillResult> {
        let facts = read.get_or_insert_with(facts);
        Some(fill_schema(schema?, facts, about))
    };
    let mut model_input = ModelInput::default();
    for task in model::tasks(options) {
        match task {
            ModelTask::Json { schema, .. } => model_input.json = filled(schema),
            ModelTask::Tracked { schema, .. } => model_input.tracked = filled(schema),
            ModelTask::Summary | ModelTask::Answer { .. } => {}
        }
    }
    model_input
}

/// Renders text as its own Markdown, or as a code block.
fn text(
    page: &RawPage<'_>,
    options: &ScrapeOptions,
    language: Option<&str>,
    fill_schema: &Fill<'_>,
) -> RenderedPage {
    let text = harvestman_content::decode(page.body, page.content_type).text;
    let mut document = without_markup(options);
    if derived::needs_markdown(options) {
        document.markdown = Some(match language {
            Some(language) => fenced(&text, language),
            None => text.clone().into_owned(),
        });
    }
    if options.wants(FormatKind::Html) {
        document.html = Some(match text.is_empty() {
            true => String::new(),
            false => format!("<pre>{}</pre>", escape(&text)),
        });
    }
    let facts = || facts_of_text(&text, language);
    offers(&mut document, &facts(), page.url, options);
    let model_input = extract_stated(&facts, page.url, &document.metadata, options, fill_schema);
    if options.wants(FormatKind::RawHtml) {
        document.raw_html = Some(text.into_owned());
    }
    RenderedPage {
        model_input,
        ..plain(document)
    }
}

/// Returns the facts of a text: the objects in JSON.
fn facts_of_text(text: &str, language: Option<&str>) -> Facts {
    let value = match language {
        Some("json") => serde_json::from_str(text).unwrap_or_default(),
        _ => Value::Null,
    };
    let objects = match value {
        Value::Object(object) => vec![object],
        Value::Array(list) => list
            .into_iter()
            .filter_map(|item| match item {
                Value::Object(object) => Some(object),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    Facts {
        objects,
        ..Facts::default()
    }
}

/// Renders a document without a parser as base64.
fn render_base64(page: &RawPage<'_>, options: &ScrapeOptions) -> RenderedPage {
    let mut document = without_markup(options);
    if options.wants(FormatKind::Markdown) {
        document.markdown = Some(STANDARD.encode(page.body));
    }
    plain(document)
}

/// Creates a document with empty results for formats that need HTML.
fn without_markup(options: &ScrapeOptions) -> Document {
    let attributes = options.formats.iter().find_map(|format| match format {
        Format::Attributes { selectors } => Some(selectors),
        _ => None,
    });
    Document {
        links: options.wants(FormatKind::Links).then(Vec::new),
        images: options.wants(FormatKind::Images).then(Vec::new),
        attributes: attributes.map(|selectors| {
            let empty = |wanted: &crate::api::format::AttributeSelector| AttributeValues {
                selector: wanted.selector.clone(),
                attribute: wanted.attribute.clone(),
                values: Vec::new(),
            };
            selectors.iter().map(empty).collect()
        }),
        ..Document::default()
    }
}

fn plain(document: Document) -> RenderedPage {
    RenderedPage {
        document: Box::new(document),
        links: Vec::new(),
        credits: 0,
        signs: None,
        redirect: None,
        model_input: ModelInput::default(),
    }
}

fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let text = text.trim_end_matches(['\n', '\r']);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn metadata(page: PageMetadata) -> Metadata {
    let value = |value| match value {
        MetadataValue::Text(text) => Value::from(text),
        MetadataValue::List(list) => Value::from(list),
    };
    Metadata {
        title: page.title,
        description: page.description,
        language: page.language,
        og_locale_alternate: (!page.og_locale_alternate.is_empty()).then_some(page.og_locale_alternate),
        other: page
            .other
            .into_iter()
            .map(|(name, found)| (name, value(found)))
            .collect(),
        ..Metadata::default()
    }
}

/// Returns the reason phrase of an HTTP status of 400 or above.
fn status_text(status: u16) -> String {
    let status_code = http::StatusCode::from_u16(status).ok();
    match status_code.and_then(|code| code.canonical_reason()) {
        Some(phrase) => phrase.to_owned(),
        None => format!("HTTP status {status}"),
    }
}
