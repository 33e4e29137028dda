//! `changeTracking`: reads the last version of a page and lets the core compare. The new version is written with the
//! document, in the commit that stores it.

use harvestman_core::api::error::ApiError;
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::ids::TeamId;
use harvestman_core::page_version::VersionKey;
use harvestman_core::scrape::changes;
use harvestman_store::{Store, StoreError};
use serde_json::Value;
use url::Url;

use crate::error::internal_error;
use crate::turn::Turn;

/// Adds what changed on a page since the team's last scrape, if the options ask for it.
///
/// # Errors
/// 503 if the store fails.
pub(crate) async fn track(
    store: &Store,
    team: TeamId,
    url: &Url,
    options: &ScrapeOptions,
    document: &mut Document,
    turn: &Turn,
) -> Result<(), ApiError> {
    let Some(tracking) = options.change_tracking().cloned() else {
        return Ok(());
    };
    let key = VersionKey::of(url, &tracking);
    if key.is_of_monitor() && !options.wants(FormatKind::Json) {
        // A check reads the snapshot of a page from its stored document.
        document.json = document.tracked.clone().filter(Value::is_object);
    }
    let read = || store.page_version(team, &key);
    let previous = turn.on_store(StoreError::is_transient, read).await?;
    let mut page = std::mem::take(document);
    let work = move || {
        changes::track(&mut page, previous.as_ref(), key, &tracking);
        page
    };
    *document = tokio::task::spawn_blocking(work).await.map_err(internal_error)?;
    Ok(())
}
