//! The fields of each kind of action.

use harvestman_core::api::action::ActionKind;

use super::formats::{FULL_PAGE, QUALITY};
use super::{Field, Kind, field};

/// Returns the field for the element that an action applies to.
const fn selector(help: &'static str) -> Field {
    field("selector", "Selector", Kind::Text, help)
}

/// Returns the fields of a kind of action.
pub fn of_action(kind: ActionKind) -> &'static [Field] {
    match kind {
        ActionKind::Wait => {
            const {
                &[
                    field(
                        "milliseconds",
                        "Time",
                        Kind::Number("ms"),
                        "Time to wait; set this or a selector.",
                    ),
                    selector("CSS selector to wait for until it is visible."),
                ]
            }
        }
        ActionKind::Click => {
            const {
                &[
                    selector("CSS selector of the element to click."),
                    field(
                        "all",
                        "All matches",
                        Kind::Switch,
                        "Clicks every match; no match is not an error.",
                    ),
                ]
            }
        }
        ActionKind::Write => {
            const {
                &[field(
                    "text",
                    "Text",
                    Kind::LongText,
                    "Text to type into the focused element.",
                )]
            }
        }
        ActionKind::Press => {
            const {
                &[field(
                    "key",
                    "Key",
                    Kind::Text,
                    "Key to press, such as Enter, Tab, ArrowDown or Control+A.",
                )]
            }
        }
        ActionKind::Scroll => {
            const {
                &[
                    field(
                        "direction",
                        "Direction",
                        Kind::Choices(&[("", "down"), ("up", "up")]),
                        "Scrolls by one screen.",
                    ),
                    selector("CSS selector of the element to scroll (default: the page)."),
                ]
            }
        }
        ActionKind::Screenshot => const { &[QUALITY, FULL_PAGE] },
        ActionKind::Scrape => &[],
        ActionKind::ExecuteJavascript => {
            const {
                &[field(
                    "script",
                    "Script",
                    Kind::LongText,
                    "JavaScript to run in the page; its value is part of the result.",
                )]
            }
        }
        ActionKind::Pdf => {
            const {
                &[
                    field(
                        "format",
                        "Paper size",
                        Kind::Choices(&[
                            ("", "Letter"),
                            ("Legal", "Legal"),
                            ("Tabloid", "Tabloid"),
                            ("Ledger", "Ledger"),
                            ("A0", "A0"),
                            ("A1", "A1"),
                            ("A2", "A2"),
                            ("A3", "A3"),
                            ("A4", "A4"),
                            ("A5", "A5"),
                            ("A6", "A6"),
                        ]),
                        "Paper size of the PDF.",
                    ),
                    field(
                        "scale",
                        "Scale",
                        Kind::Number(""),
                        "Scale of the content, 0.1 to 2 (default: 1).",
                    ),
                    field(
                        "landscape",
                        "Landscape",
                        Kind::Switch,
                        "Prints in landscape orientation.",
                    ),
                ]
            }
        }
    }
}
