//! Formats of docs/API.md section 4.2: the parts of a page that a request can return.

use harvestman_derive::{Request, TaggedUnion};
use serde_json::{Map, Value};

use crate::api::fields::{Fields, wire};
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    MAX_LIST_ITEMS, MAX_PROMPT_CHARS, MAX_SELECTOR_CHARS, MAX_SHORT_TEXT_CHARS, MAX_VIEWPORT_HEIGHT,
    MAX_VIEWPORT_WIDTH,
};

/// Formats that clients know and this server does not offer.
const NOT_OFFERED: &[&str] = &["audio", "video", "deterministicJson"];

/// Requested part of a page.
#[derive(Clone, PartialEq, Debug, TaggedUnion)]
#[tagged(kind = FormatKind, hint = "the name of a format", by_name, before = Self::refuse_not_offered)]
pub enum Format {
    /// Markdown text.
    Markdown,
    /// Cleaned HTML.
    Html,
    /// HTML as received.
    RawHtml,
    /// URLs of links.
    Links,
    /// URLs of images.
    Images,
    /// Screenshot of the page.
    Screenshot(Screenshot),
    /// Short text about the page.
    Summary,
    /// Data by a JSON Schema or a prompt.
    #[tagged(not_by_name)]
    Json(JsonFormat),
    /// Changes since the last scrape.
    ChangeTracking(ChangeTracking),
    /// Values of HTML attributes.
    Attributes {
        /// Elements and attributes to return.
        #[field(required = "an array of {selector, attribute}", bounds = (1..=MAX_LIST_ITEMS, ()))]
        selectors: Vec<AttributeSelector>,
    },
    /// Colors, fonts and logo, as a browser shows them.
    Branding,
    /// Product that the page states as structured data.
    Product,
    /// Menu that the page states as structured data.
    Menu,
    /// Response body in Base64.
    #[tagged(tag = "rawBase64")]
    RawBase64,
    /// Answer to a question about the page.
    Question {
        /// What to answer from the page.
        #[field(required, bounds = 1..=MAX_PROMPT_CHARS)]
        question: String,
    },
    /// Passages relevant to a query.
    Highlights {
        /// What the passages are about.
        #[field(required, bounds = 1..=MAX_PROMPT_CHARS)]
        query: String,
    },
    /// Older form of `question` and `highlights`.
    Query {
        /// What to answer or to look for.
        #[field(required, bounds = 1..=MAX_PROMPT_CHARS)]
        prompt: String,
        /// Whether to answer or to quote.
        #[field(default = QueryMode::Freeform)]
        mode: QueryMode,
    },
}

wire_enum! {
    /// Kind of result of the `query` format.
    QueryMode {
        /// Answer in the words of the model.
        Freeform = "freeform",
        /// Quoted passages of the page.
        DirectQuote = "directQuote",
    }
}

/// A picture of the page; also an action.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct Screenshot {
    /// Capture the whole page rather than the viewport.
    pub full_page: bool,
    /// JPEG quality; without it the picture is a PNG.
    #[field(bounds = 1..=100, example = "80")]
    pub quality: Option<u32>,
    /// Size of the browser window.
    pub viewport: Option<Viewport>,
}

/// Size of a browser window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Request)]
pub struct Viewport {
    /// Width.
    #[field(
        required = "the number of pixels",
        bounds = 1..=MAX_VIEWPORT_WIDTH,
        unit = "CSS pixels",
        example = "1280"
    )]
    pub width: u32,
    /// Height.
    #[field(
        required = "the number of pixels",
        bounds = 1..=MAX_VIEWPORT_HEIGHT,
        unit = "CSS pixels",
        example = "800"
    )]
    pub height: u32,
}

/// Data extracted with a schema, a prompt, or both; at least one is required.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::check, ignored("checkPromptInjection"))]
pub struct JsonFormat {
    /// What to extract, in words.
    #[field(bounds = 0..=MAX_PROMPT_CHARS, empty_is_absent, example = r#""Name and price""#)]
    pub prompt: Option<String>,
    /// JSON Schema of the data.
    #[field(example = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#)]
    pub schema: Option<Map<String, Value>>,
}

wire_enum! {
    /// Form in which a change is reported.
    ChangeMode {
        /// Unified diff of the Markdown.
        GitDiff = "git-diff",
        /// Comparison of the extracted data, field by field.
        Json = "json",
    }
}

/// Comparison with the last scrape of the same URL, team and tag.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct ChangeTracking {
    /// How changes are reported. Empty: only whether there are any.
    #[field(bounds = (0..=MAX_LIST_ITEMS, ()), distinct = |mode| *mode, example = r#"["git-diff"]"#)]
    pub modes: Vec<ChangeMode>,
    /// JSON Schema of the `json` mode.
    pub schema: Option<Map<String, Value>>,
    /// Prompt of the `json` mode.
    #[field(bounds = 0..=MAX_PROMPT_CHARS)]
    pub prompt: Option<String>,
    /// Name of a separate history.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, example = r#""hourly""#)]
    pub tag: Option<String>,
}

/// One selector of the `attributes` format.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct AttributeSelector {
    /// CSS selector of the elements.
    #[field(required, bounds = 1..=MAX_SELECTOR_CHARS, example = r#""img""#)]
    pub selector: String,
    /// Name of the attribute.
    #[field(required, bounds = 1..=MAX_SHORT_TEXT_CHARS, example = r#""alt""#)]
    pub attribute: String,
}

impl JsonFormat {
    fn check(&mut self, fields: &mut Fields) {
        if self.schema.is_none() && self.prompt.is_none() && fields.is_clean() {
            fields.fail_here("needs a `schema` or a `prompt` (or both) for the format `json`");
        }
    }
}

impl Format {
    /// Refuses formats that clients know and this server does not offer.
    fn refuse_not_offered(fields: &mut Fields) -> Option<()> {
        let name = fields.text("type").filter(|name| NOT_OFFERED.contains(name));
        let Some(name) = name.map(str::to_owned) else {
            return Some(());
        };
        fields.fail(
            "type",
            format!("must be a format that this server supports; `{name}` is not available here"),
        );
        fields.ignore_rest();
        None
    }
}

/// Reads `formats`. Two formats of one kind must be equal, because a document has one field for each kind; screenshots
/// may not be repeated at all.
pub(crate) fn read_formats(fields: &mut Fields) -> Option<Vec<Format>> {
    let formats = fields.value::<Vec<Format>>("formats", (0..=MAX_LIST_ITEMS, ()))?;
    let screenshots = formats
        .iter()
        .filter(|format| format.kind() == FormatKind::Screenshot);
    if screenshots.count() > 1 {
        fields.fail("formats", "must contain at most one `screenshot`");
    }
    let contradicts = |format: &&Format| {
        let same = |other: &&Format| other.kind() == format.kind();
        format.kind() != FormatKind::Screenshot && formats.iter().find(same) != Some(*format)
    };
    if let Some(second) = formats.iter().find(contradicts) {
        fields.fail("formats", format!("must contain at most one `{}`", second.kind()));
    }
    Some(formats)
}

wire!(
    Screenshot, Viewport, JsonFormat, ChangeTracking, AttributeSelector
);
