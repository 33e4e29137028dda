//! The `changeTracking` format: compares a page with its last version. Loading and storing versions is up to the
//! store.

mod data;
pub(crate) mod diff;

use crate::api::change_report::{ChangeReport, ChangeStatus, MarkdownDiff, Visibility};
use crate::api::format::{ChangeMode, ChangeTracking};
use crate::api::page::Document;
use crate::page_version::{PageVersion, VersionKey};

/// Compares a document with the last version of its page and sets `changeTracking`. Sets [`Document::version`] if the
/// document becomes the last version, which it does not for a transient error.
pub fn track(
    document: &mut Document,
    previous: Option<&PageVersion>,
    key: VersionKey,
    tracking: &ChangeTracking,
) {
    let status_code = document.metadata.status_code.unwrap_or(200);
    let markdown = document.markdown.as_deref().unwrap_or_default();
    let status = match previous {
        None => ChangeStatus::New,
        Some(previous) => match (is_gone(previous.status_code), is_gone(status_code)) {
            (false, true) => ChangeStatus::Removed,
            (true, false) => ChangeStatus::New,
            (true, true) => ChangeStatus::Same,
            (false, false) if is_same(&previous.markdown, markdown) => ChangeStatus::Same,
            (false, false) => ChangeStatus::Changed,
        },
    };
    let mut report = ChangeReport {
        previous_scrape_at: previous.map(|previous| previous.at),
        change_status: status,
        // Only pages that a caller named or a crawl found are scraped, so none is hidden.
        visibility: Visibility::Visible,
        diff: None,
        json: None,
    };
    let mut warning = None;
    if let (ChangeStatus::Changed, Some(previous)) = (status, previous)
        && tracking.modes.contains(&ChangeMode::GitDiff)
    {
        report.diff = diff::diff(&previous.markdown, markdown);
        warning = report.diff.is_none().then_some(diff::TOO_LARGE);
    }
    if tracking.modes.contains(&ChangeMode::Json)
        && let Some(now) = &document.tracked
        && let Some(before) = previous.and_then(|previous| previous.data.as_ref())
    {
        report.json = Some(data::changes(before, now));
    }
    document.change_tracking = Some(report);
    if let Some(warning) = warning {
        document.warn(warning);
    }
    document.version = (status_code < 400 || is_gone(status_code)).then_some(key);
}

/// Returns the line diff of two texts, or `None` if one of them is too large.
pub fn text_diff(before: &str, after: &str) -> Option<MarkdownDiff> {
    diff::diff(before, after)
}

fn is_gone(status_code: u16) -> bool {
    matches!(status_code, 404 | 410)
}

/// Compares texts without regard to whitespace.
fn is_same(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use url::Url;

    use super::*;
    use crate::time::Timestamp;

    fn tracked(previous: Option<(u16, &str)>, now: (u16, &str), modes: Vec<ChangeMode>) -> Document {
        let mut document = Document {
            markdown: Some(now.1.to_owned()),
            ..Document::default()
        };
        document.metadata.status_code = Some(now.0);
        let previous = previous.map(|(status_code, markdown)| PageVersion {
            at: Timestamp(1_769_850_300_000),
            status_code,
            markdown: markdown.to_owned(),
            data: None,
        });
        let tracking = ChangeTracking {
            modes,
            ..ChangeTracking::default()
        };
        let key = VersionKey::of(&Url::parse("https://a.test/").unwrap(), &tracking);
        track(&mut document, previous.as_ref(), key, &tracking);
        document
    }

    #[test]
    fn a_page_is_new_same_changed_or_removed() {
        let check = |previous, now, expected: &str, kept: bool| {
            let document = tracked(previous, now, Vec::new());
            let report = serde_json::to_value(document.change_tracking).unwrap();
            assert_eq!(report["changeStatus"], expected, "{previous:?} {now:?}");
            assert_eq!(report["visibility"], "visible");
            assert_eq!(report.get("diff"), None);
            assert_eq!(document.version.is_some(), kept, "{previous:?} {now:?}");
            let at = previous.map_or(Value::Null, |_| "2026-01-31T09:05:00.000Z".into());
            assert_eq!(report["previousScrapeAt"], at);
        };
        check(None, (200, "a"), "new", true);
        check(None, (404, "Not found"), "new", true);
        check(Some((200, "a b")), (200, "a\n\nb "), "same", true);
        check(Some((200, "a b")), (200, "a c"), "changed", true);
        check(Some((200, "a")), (410, "Gone"), "removed", true);
        check(Some((404, "Not found")), (404, "Not found"), "same", true);
        check(Some((404, "Not found")), (200, "a"), "new", true);
        check(Some((200, "a")), (503, "Wait"), "changed", false);
    }

    #[test]
    fn a_diff_is_included_in_its_mode_if_the_page_changed() {
        let mode = || vec![ChangeMode::GitDiff];
        let same = tracked(Some((200, "a")), (200, "a"), mode())
            .change_tracking
            .unwrap();
        assert_eq!(same.diff, None);
        let changed = tracked(Some((200, "a")), (200, "b"), mode())
            .change_tracking
            .unwrap();
        assert!(changed.diff.unwrap().text.ends_with("@@ -1 +1 @@\n-a\n+b\n"));
    }
}
