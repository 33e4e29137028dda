//! Reads the tabs shown next to the picture of a live view.

use serde_json::json;

use crate::limits;
use crate::live::LiveBrowser;

use super::screen::{Tab, Tabs, truncate};

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
            url: truncate(&state.url, limits::MAX_URL_BYTES),
            busy: state.navigating,
        }
    });
    Tabs {
        tabs: tabs.collect(),
        current: current.to_owned(),
        dialog: None,
    }
}
