//! The tabs shown beside the picture of a live view.

use serde::Serialize;
use serde_json::json;

use crate::limits;
use crate::live::LiveBrowser;

/// The open tabs of a browser.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tabs {
    /// In the order of opening.
    pub tabs: Vec<Tab>,
    /// Id of the current tab; empty if there is none.
    pub current: String,
    /// The open dialog of the current tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<OpenDialog>,
}

/// A dialog of a page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OpenDialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// Message of the dialog, cut at [`limits::MAX_DIALOG_CHARS`].
    pub message: String,
    /// Default text of a `prompt`, cut at the same length.
    pub text: String,
}

/// One tab.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tab {
    /// Target id of its page.
    pub id: String,
    /// Title of the document; may be empty.
    pub title: String,
    /// URL of the document.
    pub url: String,
    /// Whether the tab is navigating.
    pub busy: bool,
}

impl Tabs {
    /// Reads the current tabs; the caller adds the dialog.
    pub(super) async fn read(browser: &LiveBrowser, current: &str) -> Tabs {
        let known = browser.connection().call("Target.getTargets", json!({})).await;
        let known = known.unwrap_or_default();
        let title = |id: &str| {
            let targets = known["targetInfos"].as_array()?;
            let target = targets.iter().find(|target| target["targetId"] == id)?;
            Some(truncate(target["title"].as_str()?, limits::MAX_TITLE_CHARS))
        };
        let pages = browser.pages().all();
        let tabs = pages.iter().take(limits::MAX_TABS_SHOWN).map(|page| {
            let state = page.state();
            Tab {
                id: page.target().to_owned(),
                title: title(page.target()).unwrap_or_default(),
                url: truncate(&state.url, limits::MAX_ADDRESS_BYTES),
                busy: state.navigating,
            }
        });
        Tabs {
            tabs: tabs.collect(),
            current: current.to_owned(),
            dialog: None,
        }
    }
}

/// Returns the first `max_chars` characters of a text.
pub(super) fn truncate(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}
