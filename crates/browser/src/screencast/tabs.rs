//! The pages of a browser as a viewer sees them beside the picture.

use serde::Serialize;
use serde_json::json;

use crate::limits;
use crate::live::LiveBrowser;

/// The pages of a browser.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tabs {
    /// In the order in which they were opened.
    pub tabs: Vec<Tab>,
    /// Id of the current one; empty when there is none.
    pub current: String,
    /// What the current one asks and waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<OpenDialog>,
}

/// A dialog of a page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OpenDialog {
    /// `alert`, `confirm`, `prompt`, `beforeunload`.
    pub kind: String,
    /// What the page says, cut at [`limits::MAX_DIALOG_CHARS`].
    pub message: String,
    /// What stands in the field of a `prompt`, cut there, too.
    pub text: String,
}

/// One page.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tab {
    /// Its name in the browser.
    pub id: String,
    /// Title of its document; may be empty.
    pub title: String,
    /// Its address.
    pub url: String,
    /// On its way to another document.
    pub busy: bool,
}

impl Tabs {
    /// The pages as they are now; the dialog is left to who knows it.
    pub(super) async fn read(browser: &LiveBrowser, current: &str) -> Tabs {
        let known = browser.connection().call("Target.getTargets", json!({})).await;
        let known = known.unwrap_or_default();
        let title = |id: &str| {
            let targets = known["targetInfos"].as_array()?;
            let target = targets.iter().find(|target| target["targetId"] == id)?;
            Some(cut(target["title"].as_str()?, limits::MAX_TITLE_CHARS))
        };
        let pages = browser.pages().all();
        let tabs = pages.iter().take(limits::MAX_TABS_SHOWN).map(|page| {
            let state = page.state();
            Tab {
                id: page.target().to_owned(),
                title: title(page.target()).unwrap_or_default(),
                url: cut(&state.url, limits::MAX_ADDRESS_BYTES),
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

/// The first characters of a text.
pub(super) fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
