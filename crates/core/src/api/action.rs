//! Page actions of docs/API.md section 4.4.

use crate::api::body::{Body, Node, ToNode};
use crate::api::fields::{Decimal, Field, FieldType, Fields, Schema, Slot, Wire};
use crate::api::format::Screenshot;
use crate::api::wire_enum::wire_enum;
use crate::limits::{MAX_SCRIPT_CHARS, MAX_SELECTOR_CHARS, MAX_SHORT_TEXT_CHARS, MAX_WAIT_MS};

wire_enum! {
    /// Name of an action.
    ActionKind {
        /// Wait for a time or an element.
        Wait = "wait",
        /// Click an element.
        Click = "click",
        /// Type text.
        Write = "write",
        /// Press a key.
        Press = "press",
        /// Scroll by one viewport.
        Scroll = "scroll",
        /// Take a screenshot.
        Screenshot = "screenshot",
        /// Capture the current HTML.
        Scrape = "scrape",
        /// Run a script.
        ExecuteJavascript = "executeJavascript",
        /// Print to PDF.
        Pdf = "pdf",
    }
}

wire_enum! {
    /// Direction of a scroll.
    ScrollDirection {
        /// Towards the top.
        Up = "up",
        /// Towards the bottom.
        Down = "down",
    }
}

wire_enum! {
    /// Paper size of a PDF.
    #[allow(missing_docs)]
    PaperFormat {
        A0 = "A0",
        A1 = "A1",
        A2 = "A2",
        A3 = "A3",
        A4 = "A4",
        A5 = "A5",
        A6 = "A6",
        Letter = "Letter",
        Legal = "Legal",
        Tabloid = "Tabloid",
        Ledger = "Ledger",
    }
}

/// Browser action between loading the page and reading its content.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Wait for a fixed time.
    WaitTime {
        /// Duration, ms; at least 1.
        milliseconds: u64,
    },
    /// Wait until an element is visible.
    WaitFor {
        /// CSS selector.
        selector: String,
    },
    /// Click the first matching element, or all of them.
    Click {
        /// CSS selector.
        selector: String,
        /// Whether to click every match. If so, it is not an error if nothing matches.
        all: bool,
    },
    /// Type into the focused element.
    Write {
        /// Text to type.
        text: String,
    },
    /// Press a key, given by its DOM name.
    Press {
        /// Key or key combination, for example `Enter` or `Control+A`.
        key: String,
    },
    /// Scroll the page or an element by one viewport.
    Scroll {
        /// Direction of the scroll.
        direction: ScrollDirection,
        /// CSS selector of the element; `None` scrolls the page.
        selector: Option<String>,
    },
    /// Take a screenshot; it is appended to `actions.screenshots`.
    Screenshot(Screenshot),
    /// Capture the current HTML; it is appended to `actions.scrapes`.
    Scrape,
    /// Run a script; its value is appended to `actions.javascriptReturns`.
    ExecuteJavascript {
        /// JavaScript code.
        script: String,
    },
    /// Print to PDF; the file is appended to `actions.pdfs`.
    Pdf {
        /// Paper size.
        format: PaperFormat,
        /// Whether the orientation is landscape.
        landscape: bool,
        /// Scale, 0.1 to 2.
        scale: f64,
    },
}

impl Action {
    /// Returns the name of the action.
    pub fn kind(&self) -> ActionKind {
        match self {
            Action::WaitTime { .. } | Action::WaitFor { .. } => ActionKind::Wait,
            Action::Click { .. } => ActionKind::Click,
            Action::Write { .. } => ActionKind::Write,
            Action::Press { .. } => ActionKind::Press,
            Action::Scroll { .. } => ActionKind::Scroll,
            Action::Screenshot(_) => ActionKind::Screenshot,
            Action::Scrape => ActionKind::Scrape,
            Action::ExecuteJavascript { .. } => ActionKind::ExecuteJavascript,
            Action::Pdf { .. } => ActionKind::Pdf,
        }
    }

    /// Returns the fixed waiting time of the action, ms.
    pub fn wait_ms(&self) -> u64 {
        match self {
            Action::WaitTime { milliseconds } => *milliseconds,
            _ => 0,
        }
    }
}

fn read_action(f: &mut Fields) -> Option<Action> {
    // The reference documentation shows a wait without `type`.
    let only_wait = !f.has("type") && f.has("milliseconds");
    let kind = match f.slot("type") {
        Some(slot) => slot.word::<ActionKind>(),
        None if only_wait => Some(ActionKind::Wait),
        None => {
            f.fail(
                "type",
                "is required: give the name of an action, such as `wait` or `click`",
            );
            None
        }
    };
    let Some(kind) = kind else {
        f.ignore_rest();
        return None;
    };
    Some(match kind {
        ActionKind::Wait => return read_wait(f),
        ActionKind::Click => Action::Click {
            selector: f.string("selector", 1..=MAX_SELECTOR_CHARS),
            all: f.bool("all", false),
        },
        ActionKind::Write => Action::Write {
            text: f.string("text", 0..=MAX_SCRIPT_CHARS),
        },
        ActionKind::Press => Action::Press {
            key: f.string("key", 1..=MAX_SHORT_TEXT_CHARS),
        },
        ActionKind::Scroll => Action::Scroll {
            direction: f.word("direction", ScrollDirection::Down),
            selector: f.opt_string("selector", 1..=MAX_SELECTOR_CHARS),
        },
        ActionKind::Screenshot => Action::Screenshot(Screenshot::read(f)),
        ActionKind::Scrape => Action::Scrape,
        ActionKind::ExecuteJavascript => Action::ExecuteJavascript {
            script: f.string("script", 1..=MAX_SCRIPT_CHARS),
        },
        ActionKind::Pdf => Action::Pdf {
            format: f.word("format", PaperFormat::Letter),
            landscape: f.bool("landscape", false),
            scale: f.opt_number("scale", SCALE).unwrap_or(1.0),
        },
    })
}

fn read_wait(f: &mut Fields) -> Option<Action> {
    if f.has("milliseconds") == f.has("selector") {
        f.fail_here("needs exactly one of `milliseconds` and `selector` for the action `wait`");
    }
    let milliseconds = f.opt_integer("milliseconds", 1..=MAX_WAIT_MS);
    let selector = f.opt_string("selector", 1..=MAX_SELECTOR_CHARS);
    match (milliseconds, selector) {
        (Some(milliseconds), _) => Some(Action::WaitTime { milliseconds }),
        (None, selector) => selector.map(|selector| Action::WaitFor { selector }),
    }
}

impl ToNode for Action {
    fn to_node(&self) -> Node {
        let mut body = Body::default();
        body.put("type", &self.kind());
        match self {
            Action::WaitTime { milliseconds } => body.put("milliseconds", milliseconds),
            Action::WaitFor { selector } => body.put("selector", selector),
            Action::Click { selector, all } => {
                body.put("selector", selector);
                body.differs("all", all, &false);
            }
            Action::Write { text } => body.put("text", text),
            Action::Press { key } => body.put("key", key),
            Action::Scroll { direction, selector } => {
                body.differs("direction", direction, &ScrollDirection::Down);
                body.some("selector", selector);
            }
            Action::Screenshot(screenshot) => screenshot.write(&mut body),
            Action::Scrape => {}
            Action::ExecuteJavascript { script } => body.put("script", script),
            Action::Pdf {
                format,
                landscape,
                scale,
            } => {
                body.differs("format", format, &PaperFormat::Letter);
                body.differs("landscape", landscape, &false);
                body.differs("scale", scale, &1.0);
            }
        }
        Node::Object(body)
    }
}

impl FieldType for Action {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        let required = |name, help, schema| Field {
            required: true,
            ..Field::new(name, help, schema)
        };
        let optional = |name, help, schema, default: Node| Field {
            default: Some(default),
            ..Field::new(name, help, schema)
        };
        let selector = || String::schema(1..=MAX_SELECTOR_CHARS);
        let script = |least| String::schema(least..=MAX_SCRIPT_CHARS);
        let no = || false.to_node();
        let wait = vec![
            Field {
                unit: Some("ms"),
                ..Field::new(
                    "milliseconds",
                    "How long to wait.",
                    Schema::Integer(1..=MAX_WAIT_MS),
                )
            },
            Field::new("selector", "CSS selector of an element to wait for.", selector()),
        ];
        let click = vec![
            required("selector", "CSS selector of the element.", selector()),
            optional("all", "Click every matching element.", Schema::Boolean, no()),
        ];
        let scroll = vec![
            optional(
                "direction",
                "Direction to scroll in.",
                ScrollDirection::schema(()),
                ScrollDirection::Down.to_node(),
            ),
            Field::new("selector", "CSS selector of an element to scroll.", selector()),
        ];
        let key = String::schema(1..=MAX_SHORT_TEXT_CHARS);
        let pdf = vec![
            optional(
                "format",
                "Paper size.",
                PaperFormat::schema(()),
                PaperFormat::Letter.to_node(),
            ),
            optional("landscape", "Landscape orientation.", Schema::Boolean, no()),
            optional(
                "scale",
                "Scale of the page.",
                Schema::Number(SCALE),
                1.0.to_node(),
            ),
        ];
        Schema::OneOf(vec![
            Schema::tagged("WaitAction", "wait", wait),
            Schema::tagged("ClickAction", "click", click),
            Schema::tagged(
                "WriteAction",
                "write",
                vec![required(
                    "text",
                    "Text to type into the focused element.",
                    script(0),
                )],
            ),
            Schema::tagged(
                "PressAction",
                "press",
                vec![required("key", "Key by its DOM name: `Enter`, `Control+A`.", key)],
            ),
            Schema::tagged("ScrollAction", "scroll", scroll),
            Schema::tagged("ScreenshotAction", "screenshot", Screenshot::fields()),
            Schema::tagged("ScrapeAction", "scrape", Vec::new()),
            Schema::tagged(
                "ExecuteJavascriptAction",
                "executeJavascript",
                vec![required("script", "JavaScript to run in the page.", script(1))],
            ),
            Schema::tagged("PdfAction", "pdf", pdf),
        ])
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        slot.object(read_action).flatten()
    }

    fn placeholder() -> Self {
        Action::Scrape
    }
}

/// Bounds of the scale of a PDF.
const SCALE: Decimal = Decimal::Between(0.1, 2.0);
