//! The formats of contract section 4.2: which parts of a page the caller wants.

use serde_json::{Map, Value};

use crate::api::body::{Body, Node, ToNode};
use crate::api::fields::{Fields, Slot, Wire, wire};
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
        /// Addresses of links.
        Links = "links",
        /// Addresses of pictures.
        Images = "images",
        /// A picture of the page.
        Screenshot = "screenshot",
        /// A short text about the page.
        Summary = "summary",
        /// Data after a JSON Schema or a prompt.
        Json = "json",
        /// What changed since the last scrape.
        ChangeTracking = "changeTracking",
        /// Values of HTML attributes.
        Attributes = "attributes",
        /// Colours, fonts, logo.
        Branding = "branding",
        /// An answer about the page.
        Question = "question",
        /// Passages relevant to a query.
        Highlights = "highlights",
        /// Older form of `question` and `highlights`.
        Query = "query",
    }
}

/// Formats that clients know and this server does not make.
const NOT_OFFERED: &[&str] = &[
    "product",
    "menu",
    "audio",
    "video",
    "rawBase64",
    "deterministicJson",
];

/// One wanted part of a page.
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
        /// What to answer from the page.
        question: String,
    },
    /// `highlights`
    Highlights {
        /// What the passages shall be about.
        query: String,
    },
    /// `query`
    Query {
        /// What to answer or to look for.
        prompt: String,
        /// Whether an answer or passages are wanted.
        mode: QueryMode,
    },
}

wire_enum! {
    /// What the `query` format gives.
    QueryMode {
        /// An answer in words of its own.
        Freeform = "freeform",
        /// Passages of the page.
        DirectQuote = "directQuote",
    }
}

/// Picture of the page; also an action.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Screenshot {
    /// The whole page rather than the first viewport.
    pub full_page: bool,
    /// JPEG quality, 1 to 100; absent: PNG.
    pub quality: Option<u32>,
    /// Size of the window.
    pub viewport: Option<Viewport>,
}

/// Size of a browser window, CSS pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Viewport {
    /// At most 7680.
    pub width: u32,
    /// At most 4320.
    pub height: u32,
}

/// Data after a schema, a prompt, or both (never neither).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JsonFormat {
    /// JSON Schema.
    pub schema: Option<Map<String, Value>>,
    /// What to extract, in words.
    pub prompt: Option<String>,
}

wire_enum! {
    /// How a change is told.
    ChangeMode {
        /// Unified diff of the Markdown.
        GitDiff = "git-diff",
        /// Field by field of the extracted data.
        Json = "json",
    }
}

/// Comparison with the last scrape of the same URL, team and tag.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChangeTracking {
    /// How changes are told; empty: only whether there are any.
    pub modes: Vec<ChangeMode>,
    /// JSON Schema of the `json` mode.
    pub schema: Option<Map<String, Value>>,
    /// Prompt of the `json` mode.
    pub prompt: Option<String>,
    /// Name of a separate history.
    pub tag: Option<String>,
}

/// One selector of the `attributes` format.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AttributeSelector {
    /// CSS selector.
    pub selector: String,
    /// Attribute name.
    pub attribute: String,
}

impl Format {
    /// Its name.
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

    /// Reads one element of `formats`: a name, or an object with `type`.
    pub(crate) fn from_slot(slot: Slot<'_>) -> Option<Self> {
        slot.object_or("type", read_format).flatten()
    }
}

/// Reads `formats`: duplicates of a type collapse into the first; one screenshot at most.
pub(crate) fn read_formats(fields: &mut Fields) -> Option<Vec<Format>> {
    let mut screenshots = 0;
    let read = fields.opt_array("formats", 0..=MAX_LIST_ITEMS, Format::from_slot)?;
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

impl Wire for Screenshot {
    fn read(f: &mut Fields) -> Self {
        Self {
            full_page: f.bool("fullPage", false),
            quality: f
                .opt_integer("quality", 1..=100)
                .and_then(|q| u32::try_from(q).ok()),
            viewport: f.opt_object("viewport", Viewport::read),
        }
    }

    fn write(&self, body: &mut Body) {
        body.differs("fullPage", &self.full_page, &false);
        body.some("quality", &self.quality);
        body.some("viewport", &self.viewport);
    }
}

impl Wire for Viewport {
    fn read(f: &mut Fields) -> Self {
        let mut side = |name: &'static str, max: u64| {
            if !f.has(name) {
                f.fail(name, "is required: give the number of pixels");
            }
            u32::try_from(f.integer(name, 1..=max, 1)).unwrap_or(1)
        };
        Self {
            width: side("width", MAX_VIEWPORT_WIDTH),
            height: side("height", MAX_VIEWPORT_HEIGHT),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("width", &self.width);
        body.put("height", &self.height);
    }
}

impl Wire for JsonFormat {
    fn read(f: &mut Fields) -> Self {
        f.opt_bool("checkPromptInjection");
        let schema = f.opt_map("schema");
        let prompt = f
            .opt_string("prompt", 0..=MAX_PROMPT_CHARS)
            .filter(|prompt| !prompt.is_empty());
        if schema.is_none() && prompt.is_none() && f.is_clean() {
            f.fail_here("needs a `schema` or a `prompt` (or both) for the format `json`");
        }
        Self { schema, prompt }
    }

    fn write(&self, body: &mut Body) {
        body.some("prompt", &self.prompt);
        body.some("schema", &self.schema);
    }
}

impl Wire for ChangeTracking {
    fn read(f: &mut Fields) -> Self {
        let mut modes: Vec<ChangeMode> = Vec::new();
        for mode in f.array("modes", 0..=MAX_LIST_ITEMS, |slot| slot.word()) {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        Self {
            modes,
            schema: f.opt_map("schema"),
            prompt: f.opt_string("prompt", 0..=MAX_PROMPT_CHARS),
            tag: f.opt_string("tag", 0..=MAX_SHORT_TEXT_CHARS),
        }
    }

    fn write(&self, body: &mut Body) {
        body.filled("modes", &self.modes);
        body.some("schema", &self.schema);
        body.some("prompt", &self.prompt);
        body.some("tag", &self.tag);
    }
}

impl Wire for AttributeSelector {
    fn read(f: &mut Fields) -> Self {
        Self {
            selector: f.string("selector", 1..=MAX_SELECTOR_CHARS),
            attribute: f.string("attribute", 1..=MAX_SHORT_TEXT_CHARS),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("selector", &self.selector);
        body.put("attribute", &self.attribute);
    }
}

wire!(
    Screenshot,
    Viewport,
    JsonFormat,
    ChangeTracking,
    AttributeSelector
);

/// Names of all formats that can be asked for.
pub fn names() -> impl Iterator<Item = &'static str> {
    FormatKind::ALL.iter().map(|kind| kind.as_str())
}
