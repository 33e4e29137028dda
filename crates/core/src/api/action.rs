//! Page actions of docs/API.md section 4.4.

use std::ops::RangeInclusive;

use harvestman_derive::TaggedUnion;

use crate::api::fields::{Decimal, Fields};
use crate::api::format::Screenshot;
use crate::api::wire_enum::wire_enum;
use crate::limits::{MAX_SCRIPT_CHARS, MAX_SELECTOR_CHARS, MAX_SHORT_TEXT_CHARS, MAX_WAIT_MS};

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
#[derive(Clone, PartialEq, Debug, TaggedUnion)]
#[tagged(
    kind = ActionKind,
    hint = "the name of an action, such as `wait` or `click`",
    before = Self::read_other_forms
)]
pub enum Action {
    /// Wait for a fixed time.
    #[tagged(tag = "wait")]
    WaitTime {
        /// How long to wait.
        #[field(required, bounds = 1..=MAX_WAIT_MS, unit = "ms")]
        milliseconds: u64,
    },
    /// Wait until an element is visible.
    #[tagged(tag = "wait")]
    WaitFor {
        /// CSS selector of an element to wait for.
        #[field(required, bounds = SELECTOR)]
        selector: String,
    },
    /// Click the first matching element, or all of them.
    Click {
        /// CSS selector of the element.
        #[field(required, bounds = SELECTOR)]
        selector: String,
        /// Click every matching element.
        ///
        /// If so, it is not an error if nothing matches.
        all: bool,
    },
    /// Type into the focused element.
    Write {
        /// Text to type into the focused element.
        #[field(required, bounds = 0..=MAX_SCRIPT_CHARS)]
        text: String,
    },
    /// Press a key.
    Press {
        /// Key by its DOM name: `Enter`, `Control+A`.
        #[field(required, bounds = 1..=MAX_SHORT_TEXT_CHARS)]
        key: String,
    },
    /// Scroll the page or an element by one viewport.
    Scroll {
        /// Direction to scroll in.
        #[field(default = ScrollDirection::Down)]
        direction: ScrollDirection,
        /// CSS selector of an element to scroll. Empty: the page.
        #[field(bounds = 0..=MAX_SELECTOR_CHARS, empty_is_absent)]
        selector: Option<String>,
    },
    /// Take a screenshot; it is appended to `actions.screenshots`.
    Screenshot(Screenshot),
    /// Capture the current HTML; it is appended to `actions.scrapes`.
    Scrape,
    /// Run a script; its value is appended to `actions.javascriptReturns`.
    ExecuteJavascript {
        /// JavaScript to run in the page.
        #[field(required, bounds = 1..=MAX_SCRIPT_CHARS)]
        script: String,
    },
    /// Print to PDF; the file is appended to `actions.pdfs`.
    Pdf {
        /// Paper size.
        #[field(default = PaperFormat::Letter)]
        format: PaperFormat,
        /// Landscape orientation.
        landscape: bool,
        /// Scale of the page.
        #[field(default = 1.0, bounds = Decimal::Between(0.1, 2.0))]
        scale: f64,
    },
}

/// Bounds of a CSS selector.
const SELECTOR: RangeInclusive<usize> = 1..=MAX_SELECTOR_CHARS;

impl Action {
    /// Returns the fixed waiting time of the action, ms.
    pub fn wait_ms(&self) -> u64 {
        match self {
            Action::WaitTime { milliseconds } => *milliseconds,
            _ => 0,
        }
    }

    /// Accepts a wait without `type`, as in the reference documentation, and the name of `pdf` in MCP clients.
    fn read_other_forms(fields: &mut Fields) -> Option<()> {
        if fields.text("type") == Some("generatePDF") {
            fields.replace("type", ActionKind::Pdf.as_str());
        }
        if !fields.has("type") && fields.has("milliseconds") {
            fields.replace("type", ActionKind::Wait.as_str());
        }
        Some(())
    }
}
