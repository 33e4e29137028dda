//! Formats of docs/API.md section 4.2: the parts of a page that a request can return.

use harvestman_derive::Request;
use serde_json::{Map, Value};

use crate::api::body::{Body, Node, ToNode};
use crate::api::fields::{Field, FieldType, Fields, Schema, Slot, Wire, wire};
use crate::api::wire_enum::{WireEnum, wire_enum};
use crate::limits::{
    MAX_LIST_ITEMS, MAX_PROMPT_CHARS, MAX_SELECTOR_CHARS, MAX_SHORT_TEXT_CHARS, MAX_VIEWPORT_HEIGHT,
    MAX_VIEWPORT_WIDTH,
};

wire_enum! {
    /// Name of a format.
    FormatKind {
        /// Markdown text.
        Markdown = "markdown",
        /// Cleaned HTML.
        Html = "html",
        /// HTML as received.
        RawHtml = "rawHtml",
        /// URLs of links.
        Links = "links",
        /// URLs of images.
        Images = "images",
        /// Screenshot of the page.
        Screenshot = "screenshot",
        /// Short text about the page.
        Summary = "summary",
        /// Data by a JSON Schema or a prompt.
        Json = "json",
        /// Changes since the last scrape.
        ChangeTracking = "changeTracking",
        /// Values of HTML attributes.
        Attributes = "attributes",
        /// Colors, fonts and logo.
        Branding = "branding",
        /// Answer to a question about the page.
        Question = "question",
        /// Passages relevant to a query.
        Highlights = "highlights",
        /// Older form of `question` and `highlights`.
        Query = "query",
    }
}

/// Formats that clients know and this server does not offer.
const NOT_OFFERED: &[&str] = &[
    "product",
    "menu",
    "audio",
    "video",
    "rawBase64",
    "deterministicJson",
];

/// Formats that can be requested by name alone.
const BY_NAME: &[&str] = &[
    "markdown",
    "html",
    "rawHtml",
    "links",
    "images",
    "screenshot",
    "summary",
    "changeTracking",
    "branding",
];

/// Formats without options.
const PLAIN: &[&str] = &[
    "markdown", "html", "rawHtml", "links", "images", "summary", "branding",
];

/// Requested part of a page.
#[derive(Clone, PartialEq, Debug)]
pub enum Format {
    /// `markdown`
    Markdown,
    /// `html`
    Html,
    /// `rawHtml`
    RawHtml,
    /// `links`
    Links,
    /// `images`
    Images,
    /// `screenshot`
    Screenshot(Screenshot),
    /// `summary`
    Summary,
    /// `json`
    Json(JsonFormat),
    /// `changeTracking`
    ChangeTracking(ChangeTracking),
    /// `attributes`
    Attributes(Vec<AttributeSelector>),
    /// `branding`
    Branding,
    /// `question`
    Question {
        /// Question to answer from the page.
        question: String,
    },
    /// `highlights`
    Highlights {
        /// Subject of the passages.
        query: String,
    },
    /// `query`
    Query {
        /// Question to answer, or subject of the passages.
        prompt: String,
        /// Kind of the result: an answer or passages.
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

/// Data by a schema, a prompt, or both (never neither).
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
    #[field(bounds = (0..=MAX_LIST_ITEMS, ()), read = read_modes, example = r#"["git-diff"]"#)]
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
    fn check(&mut self, f: &mut Fields) {
        if self.schema.is_none() && self.prompt.is_none() && f.is_clean() {
            f.fail_here("needs a `schema` or a `prompt` (or both) for the format `json`");
        }
    }
}

fn read_modes(f: &mut Fields) -> Option<Vec<ChangeMode>> {
    let mut modes: Vec<ChangeMode> = Vec::new();
    for mode in f.value::<Vec<ChangeMode>>("modes", (0..=MAX_LIST_ITEMS, ()))? {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    Some(modes)
}

impl Format {
    /// Returns the name of the format.
    pub fn kind(&self) -> FormatKind {
        match self {
            Format::Markdown => FormatKind::Markdown,
            Format::Html => FormatKind::Html,
            Format::RawHtml => FormatKind::RawHtml,
            Format::Links => FormatKind::Links,
            Format::Images => FormatKind::Images,
            Format::Screenshot(_) => FormatKind::Screenshot,
            Format::Summary => FormatKind::Summary,
            Format::Json(_) => FormatKind::Json,
            Format::ChangeTracking(_) => FormatKind::ChangeTracking,
            Format::Attributes(_) => FormatKind::Attributes,
            Format::Branding => FormatKind::Branding,
            Format::Question { .. } => FormatKind::Question,
            Format::Highlights { .. } => FormatKind::Highlights,
            Format::Query { .. } => FormatKind::Query,
        }
    }
}

/// Reads `formats`. Duplicates of a type collapse into the first; at most one screenshot is allowed.
pub(crate) fn read_formats(fields: &mut Fields) -> Option<Vec<Format>> {
    let mut screenshots = 0;
    let read = fields.value::<Vec<Format>>("formats", (0..=MAX_LIST_ITEMS, ()))?;
    let mut formats: Vec<Format> = Vec::new();
    for format in read {
        screenshots += usize::from(format.kind() == FormatKind::Screenshot);
        if formats.iter().all(|known| known.kind() != format.kind()) {
            formats.push(format);
        }
    }
    if screenshots > 1 {
        fields.fail("formats", "must contain at most one `screenshot`");
    }
    Some(formats)
}

fn read_format(f: &mut Fields) -> Option<Format> {
    let Some(kind) = f.slot("type") else {
        f.fail("type", "is required: give the name of a format");
        return None;
    };
    let offered = kind
        .json()
        .as_str()
        .is_none_or(|name| !NOT_OFFERED.contains(&name));
    if !offered {
        let name = kind.any();
        f.fail(
            "type",
            format!("must be a format that this server makes; {name} is not offered here"),
        );
        f.ignore_rest();
        return None;
    }
    let Some(kind) = kind.word::<FormatKind>() else {
        f.ignore_rest();
        return None;
    };
    Some(match kind {
        FormatKind::Markdown => Format::Markdown,
        FormatKind::Html => Format::Html,
        FormatKind::RawHtml => Format::RawHtml,
        FormatKind::Links => Format::Links,
        FormatKind::Images => Format::Images,
        FormatKind::Screenshot => Format::Screenshot(Screenshot::read(f)),
        FormatKind::Summary => Format::Summary,
        FormatKind::Json => Format::Json(JsonFormat::read(f)),
        FormatKind::ChangeTracking => Format::ChangeTracking(ChangeTracking::read(f)),
        FormatKind::Attributes => Format::Attributes(read_selectors(f)),
        FormatKind::Branding => Format::Branding,
        FormatKind::Question => Format::Question {
            question: f.string("question", 1..=MAX_PROMPT_CHARS),
        },
        FormatKind::Highlights => Format::Highlights {
            query: f.string("query", 1..=MAX_PROMPT_CHARS),
        },
        FormatKind::Query => Format::Query {
            prompt: f.string("prompt", 1..=MAX_PROMPT_CHARS),
            mode: f.word("mode", QueryMode::Freeform),
        },
    })
}

fn read_selectors(f: &mut Fields) -> Vec<AttributeSelector> {
    let selectors = f.opt_array("selectors", 1..=MAX_LIST_ITEMS, |slot| {
        slot.object(AttributeSelector::read)
    });
    if selectors.is_none() && f.is_clean() {
        f.fail("selectors", "is required: give an array of {selector, attribute}");
    }
    selectors.unwrap_or_default()
}

impl ToNode for Format {
    fn to_node(&self) -> Node {
        let kind = self.kind();
        let mut body = Body::default();
        body.put("type", &kind);
        match self {
            Format::Screenshot(screenshot) => screenshot.write(&mut body),
            Format::Json(json) => json.write(&mut body),
            Format::ChangeTracking(tracking) => tracking.write(&mut body),
            Format::Attributes(selectors) => body.put("selectors", selectors),
            Format::Question { question } => body.put("question", question),
            Format::Highlights { query } => body.put("query", query),
            Format::Query { prompt, mode } => {
                body.put("prompt", prompt);
                body.differs("mode", mode, &QueryMode::Freeform);
            }
            Format::Markdown
            | Format::Html
            | Format::RawHtml
            | Format::Links
            | Format::Images
            | Format::Summary
            | Format::Branding => {}
        }
        match body.fields().len() {
            1 => kind.to_node(),
            _ => Node::Object(body),
        }
    }
}

wire!(
    Screenshot,
    Viewport,
    JsonFormat,
    ChangeTracking,
    AttributeSelector
);

/// A name, or an object with `type`.
impl FieldType for Format {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        let prompt = |name, help| Field {
            required: true,
            ..Field::new(name, help, String::schema(1..=MAX_PROMPT_CHARS))
        };
        let selectors = Field {
            required: true,
            ..Field::new(
                "selectors",
                "Elements and attributes to return.",
                Vec::<AttributeSelector>::schema((1..=MAX_LIST_ITEMS, ())),
            )
        };
        let mode = Field {
            default: Some(QueryMode::Freeform.to_node()),
            ..Field::new("mode", "Whether to answer or to quote.", QueryMode::schema(()))
        };
        let question = prompt("question", "What to answer from the page.");
        let query = prompt("query", "What the passages are about.");
        let either = prompt("prompt", "What to answer or to look for.");
        let plain = Field {
            required: true,
            ..Field::new("type", "Name of the format.", Schema::Word(PLAIN))
        };
        Schema::OneOf(vec![
            Schema::Word(BY_NAME),
            Schema::Object("PlainFormat", vec![plain]),
            Schema::tagged("ScreenshotFormat", "screenshot", Screenshot::fields()),
            Schema::tagged("JsonFormat", "json", JsonFormat::fields()),
            Schema::tagged("ChangeTrackingFormat", "changeTracking", ChangeTracking::fields()),
            Schema::tagged("AttributesFormat", "attributes", vec![selectors]),
            Schema::tagged("QuestionFormat", "question", vec![question]),
            Schema::tagged("HighlightsFormat", "highlights", vec![query]),
            Schema::tagged("QueryFormat", "query", vec![either, mode]),
        ])
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        slot.object_or("type", read_format).flatten()
    }

    fn placeholder() -> Self {
        Format::Markdown
    }
}

/// Returns the names of all formats that can be requested.
pub fn names() -> impl Iterator<Item = &'static str> {
    FormatKind::ALL.iter().map(|kind| kind.as_str())
}
