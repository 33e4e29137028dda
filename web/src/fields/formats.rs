//! The controls of a format's own options.

use harvestman_core::api::format::FormatKind;

use super::{Field, Kind, field};

/// The whole page rather than what is in sight; also of an action.
pub(super) const FULL_PAGE: Field = field(
    "fullPage",
    "Whole page",
    Kind::Switch,
    "Not only what is in sight at first.",
);
/// How good a picture is; also of an action.
pub(super) const QUALITY: Field = field(
    "quality",
    "Quality",
    Kind::Number(""),
    "1 to 100 makes a JPEG; without it a PNG.",
);
const PROMPT: Field = field(
    "prompt",
    "What to extract",
    Kind::LongText,
    "In words; with a schema or without.",
);
const SCHEMA: Field = field("schema", "Schema", Kind::Schema, "");

/// The options of a format.
pub fn of_format(kind: FormatKind) -> &'static [Field] {
    match kind {
        FormatKind::Json => const { &[PROMPT, SCHEMA] },
        FormatKind::Question => {
            const {
                &[field(
                    "question",
                    "Question",
                    Kind::LongText,
                    "Answered from the page.",
                )]
            }
        }
        FormatKind::Highlights => {
            const {
                &[field(
                    "query",
                    "Query",
                    Kind::LongText,
                    "What the passages are about.",
                )]
            }
        }
        FormatKind::Screenshot => {
            const {
                &[
                    QUALITY,
                    field(
                        "viewport.width",
                        "Width",
                        Kind::Number("px"),
                        "Of the window; with its height.",
                    ),
                    field(
                        "viewport.height",
                        "Height",
                        Kind::Number("px"),
                        "Of the window; with its width.",
                    ),
                    FULL_PAGE,
                ]
            }
        }
        FormatKind::ChangeTracking => {
            const {
                &[
                    field(
                        "modes",
                        "Modes",
                        Kind::Set(&["git-diff", "json"]),
                        "How a change is told; none chosen: whether there is one.",
                    ),
                    field("tag", "Tag", Kind::Text, "Name of a history of its own."),
                    field(
                        "prompt",
                        "What to compare",
                        Kind::LongText,
                        "In words, for the mode json.",
                    ),
                    SCHEMA,
                ]
            }
        }
        FormatKind::Attributes => {
            const {
                &[field(
                    "selectors",
                    "Selectors",
                    Kind::Json,
                    "As in [{\"selector\": \"a\", \"attribute\": \"href\"}].",
                )]
            }
        }
        FormatKind::Markdown
        | FormatKind::Html
        | FormatKind::RawHtml
        | FormatKind::Links
        | FormatKind::Images
        | FormatKind::Summary
        | FormatKind::Branding
        | FormatKind::Query => &[],
    }
}
