//! One visit of a page, the same for a scrape and for its replay in a session.

use std::time::Duration;

use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::ConsentBanner;
use tokio::time::Instant;
use url::Url;

use crate::actions::{self, ActionResults};
use crate::consent;
use crate::error::BrowserError;
use crate::page::Page;
use crate::settle::settle;
use crate::visitor::Visitor;

/// What a visit did on the page.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) steps: ActionResults,
    /// What was done with a consent banner, if the page showed one.
    pub(crate) consent_banner: Option<ConsentBanner>,
}

/// Opens a URL with the headers of the visitor, waits until its content is there, answers a consent banner, waits
/// `waitFor`, and runs the actions.
pub(crate) async fn visit(
    page: &Page,
    visitor: &Visitor,
    url: &Url,
    options: &ScrapeOptions,
    deadline: Instant,
) -> Result<Visit, BrowserError> {
    if !visitor.headers().is_empty() {
        page.send_headers_to(url).await?;
    }
    let has_actions = !options.actions.is_empty();
    page.navigate(url, deadline).await?;
    settle(page, has_actions, deadline).await?;
    let consent_banner = match visitor.blocker() {
        Some(blocker) => consent::answer(page, blocker, deadline).await?,
        None => None,
    };
    page.sleep(Duration::from_millis(options.wait_for), deadline)
        .await?;
    let steps = actions::run(page, visitor, &options.actions, deadline).await?;
    if has_actions {
        page.wait_until_idle(deadline).await?;
    }
    Ok(Visit {
        steps,
        consent_banner,
    })
}
