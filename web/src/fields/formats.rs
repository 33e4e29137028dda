//! The option fields of each format.

use harvestman_core::api::format::FormatKind;

use super::{Field, Kind, field};

/// Captures the whole page; also an option of the screenshot action.
pub(super) const FULL_PAGE: Field = field(
    "fullPage",
    "Full page",
    Kind::Switch,
    "Captures the full page instead of the visible part.",
);
/// Image quality; also an option of the screenshot action.
pub(super) const QUALITY: Field = field(
    "quality",
    "Quality",
    Kind::Number(""),
    "JPEG quality, 1 to 100 (default: PNG).",
);
const PROMPT: Field = field(
    "prompt",
    "What to extract",
    Kind::LongText,
    "Description of the data; optional with a schema.",
);
const SCHEMA: Field = field("schema", "Schema", Kind::Schema, "");

/// Returns the option fields of a format.
pub fn of_format(kind: FormatKind) -> &'static [Field] {
    match kind {
        FormatKind::Json => const { &[PROMPT, SCHEMA] },
        FormatKind::Question => {
            const {
                &[field(
                    "question",
                    "Question",
                    Kind::LongText,
                    "Question to answer from the page.",
                )]
            }
        }
        FormatKind::Highlights => {
            const { &[field("query", "Query", Kind::LongText, "Topic of the passages.")] }
        }
        FormatKind::Screenshot => {
            const {
                &[
                    QUALITY,
                    field(
                        "viewport.width",
                        "Width",
                        Kind::Number("px"),
                        "Width of the viewport; requires the height.",
                    ),
                    field(
                        "viewport.height",
                        "Height",
                        Kind::Number("px"),
                        "Height of the viewport; requires the width.",
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
                        "Formats of the changes; without a selection, only whether the page changed.",
                    ),
                    field(
                        "tag",
                        "Tag",
                        Kind::Text,
                        "Compares only with earlier scrapes that have the same tag.",
                    ),
                    field(
                        "prompt",
                        "What to compare",
                        Kind::LongText,
                        "Description of the data to compare, for the json mode.",
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
                    "Elements and attributes, such as [{\"selector\": \"a\", \"attribute\": \"href\"}].",
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
