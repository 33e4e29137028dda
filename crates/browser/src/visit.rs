//! One visit of a page, the same for a scrape and for its replay in a session.

use std::time::Duration;

use harvestman_core::api::options::ScrapeOptions;
use tokio::time::Instant;
use url::Url;

use crate::actions::{self, ActionResults};
use crate::consent;
use crate::error::BrowserError;
use crate::page::Page;
use crate::settle::settle;
use crate::visitor::Visitor;

/// Opens a URL with the headers of the visitor, waits until its content is there, answers a consent banner, waits
/// `waitFor`, and runs the actions.
pub(crate) async fn visit(
    page: &Page,
    visitor: &Visitor,
    url: &Url,
    options: &ScrapeOptions,
    deadline: Instant,
) -> Result<ActionResults, BrowserError> {
    if !visitor.headers().is_empty() {
        page.send_headers_to(url).await?;
    }
    let has_actions = !options.actions.is_empty();
    page.navigate(url, deadline).await?;
    settle(page, has_actions, deadline).await?;
    if let Some(blocker) = visitor.blocker() {
        consent::answer(page, blocker, deadline).await?;
    }
    page.sleep(Duration::from_millis(options.wait_for), deadline)
        .await?;
    let results = actions::run(page, visitor, &options.actions, deadline).await?;
    if has_actions {
        page.wait_until_idle(deadline).await?;
    }
    Ok(results)
}
