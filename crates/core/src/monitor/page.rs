//! What a check reports about a page: its state compared with the last check, and the difference.

use serde_json::{Map, Value, json};

use crate::api::change_report::{ChangeReport, ChangeStatus, MarkdownDiff};
use crate::api::monitor_response::{CheckPage, PageStatus};
use crate::api::page::Document;
use crate::ids::ScrapeId;
use crate::time::Timestamp;

/// Maximum bytes of a difference that a check stores.
const MAX_DIFF_BYTES: usize = 64 * 1024;
/// Metadata that a check stores.
const METADATA: &[&str] = &[
    "title", "description", "language", "sourceURL", "url", "statusCode", "contentType",
];

/// Identity of a page of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageId {
    /// Id of the entry.
    pub id: String,
    /// Id of the target.
    pub target: String,
    /// URL of the page.
    pub url: String,
    /// Scrape of the page in an earlier check.
    pub previous: Option<ScrapeId>,
    /// Time of the entry.
    pub at: Timestamp,
}

impl PageId {
    /// Creates an entry without details.
    pub fn entry(self, status: PageStatus) -> CheckPage {
        CheckPage {
            id: self.id,
            target_id: self.target,
            url: self.url,
            status,
            previous_scrape_id: self.previous.map(|id| id.to_string()),
            current_scrape_id: None,
            status_code: None,
            error: None,
            metadata: None,
            diff: None,
            snapshot: None,
            judgment: None,
            created_at: self.at,
        }
    }

    /// Creates the entry of a page that could not be fetched.
    pub fn failed(self, error: String) -> CheckPage {
        CheckPage {
            error: Some(error),
            ..self.entry(PageStatus::Error)
        }
    }

    /// Creates the entry of a fetched page, and returns the difference to judge.
    pub fn fetched(self, document: Document) -> (CheckPage, Option<MarkdownDiff>) {
        let code = document.metadata.status_code.unwrap_or(200);
        let report = document.change_tracking;
        let change = report
            .as_ref()
            .map_or(ChangeStatus::New, |report| report.change_status);
        let status = match change {
            ChangeStatus::Removed => PageStatus::Removed,
            _ if code >= 400 => PageStatus::Error,
            ChangeStatus::New => PageStatus::New,
            ChangeStatus::Same => PageStatus::Same,
            ChangeStatus::Changed => PageStatus::Changed,
        };
        let metadata = serde_json::to_value(&document.metadata).ok();
        let entry = CheckPage {
            current_scrape_id: document.metadata.scrape_id.map(|id| id.to_string()),
            status_code: Some(code),
            error: (status == PageStatus::Error).then(|| format!("the page returned status {code}")),
            metadata: metadata.map(|metadata| selected(&metadata)),
            snapshot: document.json.map(|data| json!({ "json": data })),
            ..self.entry(status)
        };
        match report {
            Some(report) if status == PageStatus::Changed => {
                let entry = CheckPage {
                    diff: Some(difference(&report)),
                    ..entry
                };
                (entry, report.diff)
            }
            _ => (entry, None),
        }
    }
}

fn selected(metadata: &Value) -> Map<String, Value> {
    let field = |name: &&str| Some(((*name).to_owned(), metadata.get(*name)?.clone()));
    METADATA.iter().filter_map(field).collect()
}

/// Returns `{text?, json?}`: `json` has the changed fields if data is compared, else the lines of the diff.
fn difference(report: &ChangeReport) -> Value {
    let fields = report.json.as_ref().map(|fields| json!(fields));
    let Some(diff) = &report.diff else {
        return json!({ "json": fields });
    };
    if diff.text.len() > MAX_DIFF_BYTES {
        let start = &diff.text[..diff.text.floor_char_boundary(MAX_DIFF_BYTES)];
        let start = start.rsplit_once('\n').map_or(start, |(lines, _)| lines);
        let text = format!("{start}\n\\ The rest of the difference is not stored.\n");
        return match fields {
            Some(fields) => json!({ "text": text, "json": fields }),
            None => json!({ "text": text }),
        };
    }
    json!({ "text": diff.text, "json": fields.unwrap_or_else(|| json!(diff.json)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::change_report::{DiffFiles, Visibility};

    fn entry(change: ChangeStatus, status_code: u16, diff: &str) -> CheckPage {
        let mut document = Document {
            change_tracking: Some(ChangeReport {
                previous_scrape_at: None,
                change_status: change,
                visibility: Visibility::Visible,
                diff: Some(MarkdownDiff {
                    text: diff.to_owned(),
                    json: DiffFiles { files: Vec::new() },
                }),
                json: None,
            }),
            ..Document::default()
        };
        document.metadata.status_code = Some(status_code);
        let id = PageId {
            id: "1".to_owned(),
            target: "target-1".to_owned(),
            url: "https://a.test/".to_owned(),
            previous: None,
            at: Timestamp(0),
        };
        id.fetched(document).0
    }

    #[test]
    fn a_page_that_vanishes_is_removed_once_and_an_error_page_is_an_error() {
        let check = |change, code, expected| assert_eq!(entry(change, code, "").status, expected);
        check(ChangeStatus::New, 200, PageStatus::New);
        check(ChangeStatus::Same, 200, PageStatus::Same);
        check(ChangeStatus::Changed, 200, PageStatus::Changed);
        check(ChangeStatus::Removed, 404, PageStatus::Removed);
        check(ChangeStatus::Same, 404, PageStatus::Error);
        check(ChangeStatus::New, 410, PageStatus::Error);
        check(ChangeStatus::Changed, 503, PageStatus::Error);
        let error = entry(ChangeStatus::Changed, 503, "").error;
        assert_eq!(error.as_deref(), Some("the page returned status 503"));
    }

    #[test]
    fn a_long_difference_is_cut_at_a_line() {
        let long = "+a line that was added\n".repeat(5000);
        let diff = entry(ChangeStatus::Changed, 200, &long).diff.unwrap();
        let text = diff["text"].as_str().unwrap();
        assert!(text.len() < MAX_DIFF_BYTES + 100 && text.ends_with("is not stored.\n"));
        assert_eq!(diff.get("json"), None);
        let short = entry(ChangeStatus::Changed, 200, "+a\n").diff.unwrap();
        assert_eq!(short, json!({ "text": "+a\n", "json": { "files": [] } }));
    }
}
