//! The controls of what is done in a page before it is read.

use harvestman_core::api::action::ActionKind;

use super::formats::{FULL_PAGE, QUALITY};
use super::{Field, Kind, field};

/// An element that an action is about.
const fn selector(help: &'static str) -> Field {
    field("selector", "Selector", Kind::Text, help)
}

/// The fields of an action.
pub fn of_action(kind: ActionKind) -> &'static [Field] {
    match kind {
        ActionKind::Wait => {
            const {
                &[
                    field("milliseconds", "Time", Kind::Number("ms"), "Or a selector."),
                    selector("CSS; until it is in sight."),
                ]
            }
        }
        ActionKind::Click => {
            const {
                &[
                    selector("CSS of what is clicked."),
                    field("all", "Every match", Kind::Switch, "No match is no error then."),
                ]
            }
        }
        ActionKind::Write => {
            const {
                &[field(
                    "text",
                    "Text",
                    Kind::LongText,
                    "Typed where the last click was.",
                )]
            }
        }
        ActionKind::Press => {
            const {
                &[field(
                    "key",
                    "Key",
                    Kind::Text,
                    "As in Enter, Tab, ArrowDown, Control+A.",
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
                        "By what is in sight.",
                    ),
                    selector("CSS; without it the page."),
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
                    "Runs in the page; its value is in the result.",
                )]
            }
        }
        ActionKind::Pdf => {
            const {
                &[
                    field(
                        "format",
                        "Paper",
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
                        "Its size.",
                    ),
                    field("scale", "Scale", Kind::Number(""), "0.1 to 2; 1 unless said."),
                    field("landscape", "Landscape", Kind::Switch, "The long side down."),
                ]
            }
        }
    }
}
