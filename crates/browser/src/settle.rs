//! Waiting for the content of a page: until nothing is on its way, the document no longer changes, and what it shows is
//! no placeholder. Whether it is one is decided by the rules of the core.

use std::time::Duration;

use harvestman_core::scrape::{self, Certainty};
use tokio::time::Instant;
use url::Url;

use crate::error::BrowserError;
use crate::limits;
use crate::page::{Page, World};

/// A function that comes back when the document has not changed for a while, or after the longest wait; both in ms.
const DOM_QUIET: &str = include_str!("settle/dom_quiet.js");

/// Waits until the page has settled, as long as the limits and the deadline allow; for a placeholder only where
/// nobody `acts` on the page, since an action may be what it waits for.
pub(crate) async fn settle(page: &Page, acts: bool, deadline: Instant) -> Result<(), BrowserError> {
    let start = Instant::now();
    let left = deadline.saturating_duration_since(start);
    let end = start + left.saturating_sub(limits::AFTER_SETTLING.min(left / 4));
    loop {
        page.rest(end).await?;
        dom_quiet(page, end).await;
        if acts {
            return Ok(());
        }
        let patience = match pending(page, deadline).await? {
            Certainty::None | Certainty::Low => return Ok(()),
            Certainty::Medium => limits::UNSURE_TIMEOUT,
            Certainty::High => limits::PLACEHOLDER_TIMEOUT,
        };
        if Instant::now() + limits::PLACEHOLDER_POLL >= end.min(start + patience) {
            return Ok(());
        }
        page.sleep(limits::PLACEHOLDER_POLL, deadline).await?;
    }
}

/// Waits until the document no longer changes. A page that goes elsewhere meanwhile is looked at again by the caller.
async fn dom_quiet(page: &Page, patience: Instant) {
    let most = limits::DOM_QUIET_TIMEOUT.min(patience.saturating_duration_since(Instant::now()));
    let script = format!(
        "({DOM_QUIET})({}, {})",
        limits::DOM_QUIET.as_millis(),
        most.as_millis()
    );
    let slack = Duration::from_secs(1);
    let quiet = page.evaluate(&script, World::Isolated, Instant::now() + most + slack);
    if let Err(error) = quiet.await {
        tracing::debug!(%error, "the document was not watched to its rest");
    }
}

/// How sure it is that the content of the page is still to come.
async fn pending(page: &Page, deadline: Instant) -> Result<Certainty, BrowserError> {
    let content = page.content(deadline).await?;
    let Ok(url) = Url::parse(&content.url) else {
        return Ok(Certainty::None);
    };
    if content.html.len() > limits::PLACEHOLDER_HTML_BYTES {
        return Ok(Certainty::None);
    }
    let status = content.response.map_or(200, |response| response.status);
    let looking = tokio::task::spawn_blocking(move || scrape::pending(&content.html, &url, status));
    // A look that failed is no reason to wait.
    Ok(looking.await.unwrap_or(Certainty::None))
}
