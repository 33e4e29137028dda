//! Waits for the content of a page: until no request is in flight, the document is stable, and the page shows
//! no placeholder. The core decides what is a placeholder.

use std::time::Duration;

use harvestman_core::scrape::{self, Certainty};
use tokio::time::Instant;
use url::Url;

use crate::error::BrowserError;
use crate::limits;
use crate::page::{Page, World};

/// JavaScript function that watches the document for changes, and returns when none came for a time, or after the
/// longest wait; both times in ms. With 0 it only starts to watch.
const DOM_QUIET: &str = include_str!("settle/dom_quiet.js");

/// Waits until the page has settled, within the limits and the deadline. Waits for placeholders only if no
/// actions follow (`has_actions`), because an action may be what the placeholder waits for.
pub(crate) async fn settle(page: &Page, has_actions: bool, deadline: Instant) -> Result<(), BrowserError> {
    let start = Instant::now();
    let left = deadline.saturating_duration_since(start);
    let end = start + left.saturating_sub(limits::AFTER_SETTLING.min(left / 4));
    loop {
        // The document is watched while requests are in flight, so that the two waits overlap.
        let (idle, ()) = tokio::join!(page.wait_until_idle(end), dom_quiet(page, Duration::ZERO, end));
        idle?;
        dom_quiet(page, limits::DOM_QUIET, end).await;
        if has_actions {
            return Ok(());
        }
        let limit = match content_pending(page, deadline).await? {
            Certainty::None | Certainty::Low => return Ok(()),
            Certainty::Medium => limits::UNSURE_TIMEOUT,
            Certainty::High => limits::PLACEHOLDER_TIMEOUT,
        };
        if Instant::now() + limits::PLACEHOLDER_POLL >= end.min(start + limit) {
            return Ok(());
        }
        page.sleep(limits::PLACEHOLDER_POLL, deadline).await?;
    }
}

/// Waits until the document has not changed for a time since it was first called. If the page navigates meanwhile, the
/// caller's next checks notice it.
async fn dom_quiet(page: &Page, quiet: Duration, limit: Instant) {
    let longest = limits::DOM_QUIET_TIMEOUT.min(limit.saturating_duration_since(Instant::now()));
    let script = format!("({DOM_QUIET})({}, {})", quiet.as_millis(), longest.as_millis());
    let slack = Duration::from_secs(1);
    let waiting = page.evaluate(&script, World::Isolated, Instant::now() + longest + slack);
    if let Err(error) = waiting.await {
        tracing::debug!(%error, "cannot wait for a stable document");
    }
}

/// Returns how likely it is that the content of the page is still loading.
async fn content_pending(page: &Page, deadline: Instant) -> Result<Certainty, BrowserError> {
    let content = page.content(deadline).await?;
    let Ok(url) = Url::parse(&content.url) else {
        return Ok(Certainty::None);
    };
    if content.html.len() > limits::PLACEHOLDER_HTML_BYTES {
        return Ok(Certainty::None);
    }
    let status = content.response.map_or(200, |response| response.status);
    let check = tokio::task::spawn_blocking(move || scrape::pending(&content.html, &url, status));
    // A failed check is no reason to wait.
    Ok(check.await.unwrap_or(Certainty::None))
}
