//! Result of the `changeTracking` format (docs/API.md section 4.2).

use std::collections::BTreeMap;

use harvestman_derive::response;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::wire_enum::wire_enum;
use crate::time::Timestamp;

wire_enum! {
    /// How a page changed since its last version.
    ChangeStatus {
        /// There was no page.
        New = "new",
        /// Only whitespace differs.
        Same = "same",
        /// The text differs.
        Changed = "changed",
        /// The page no longer exists.
        Removed = "removed",
    }
}

wire_enum! {
    /// Whether links lead to the page.
    Visibility {
        /// A caller named the page, or a crawl found it.
        Visible = "visible",
    }
}

/// How a page differs from its last version.
#[response]
pub struct ChangeReport {
    /// When the previous version was fetched; null if there is none.
    #[nullable]
    pub previous_scrape_at: Option<Timestamp>,
    /// How the page changed.
    pub change_status: ChangeStatus,
    /// Whether links lead to the page.
    pub visibility: Visibility,
    /// Difference of the Markdown; only in the mode `git-diff` if the page changed.
    pub diff: Option<MarkdownDiff>,
    /// Changed fields of the extracted data by path (`plans[0].price`); only in the mode `json`.
    pub json: Option<BTreeMap<String, FieldChange>>,
}

/// Values of a field in both versions.
#[response]
pub struct FieldChange {
    /// Value in the previous version; null if it had none.
    pub previous: Value,
    /// Value in this version; null if it has none.
    pub current: Value,
}

/// Difference of the Markdown, line by line.
#[response(Eq)]
pub struct MarkdownDiff {
    /// The unified diff.
    pub text: String,
    /// The same as JSON.
    pub json: DiffFiles,
}

/// A unified diff as JSON.
#[response(Eq)]
pub struct DiffFiles {
    /// Compared texts: always one pair.
    pub files: Vec<DiffFile>,
}

/// Compared texts.
#[response(Eq)]
pub struct DiffFile {
    /// Name of the previous version.
    pub from: String,
    /// Name of this version.
    pub to: String,
    /// Groups of changes.
    pub chunks: Vec<DiffChunk>,
}

/// A group of changes with overlapping context.
#[response(Eq)]
pub struct DiffChunk {
    /// Head of the group: `@@ -1,3 +1,4 @@`.
    pub content: String,
    /// Its lines.
    pub changes: Vec<DiffLine>,
}

/// Line of a diff. `content` begins with the mark of the line; line numbers count from 1.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum DiffLine {
    /// Line of both versions.
    Normal {
        /// The line.
        content: String,
        /// Number in the previous version.
        ln1: u32,
        /// Number in this version.
        ln2: u32,
    },
    /// Line of the previous version alone.
    Del {
        /// The line.
        content: String,
        /// Number in the previous version.
        ln: u32,
    },
    /// Line of this version alone.
    Add {
        /// The line.
        content: String,
        /// Number in this version.
        ln: u32,
    },
}

impl DiffLine {
    /// Returns the line with its mark.
    pub fn content(&self) -> &str {
        match self {
            DiffLine::Normal { content, .. }
            | DiffLine::Del { content, .. }
            | DiffLine::Add { content, .. } => content,
        }
    }
}
