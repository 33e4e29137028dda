//! Texts of cached pages that were waiting for the full-text index when the last server crashed: made once more from the
//! cached copies, when this server starts.

use std::sync::Arc;

use harvestman_core::search::PageText;
use harvestman_store::{StoreError, UnindexedPage};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::context::Context;
use crate::{limits, page_cache};

/// Indexes all of them, unless `stop` is cancelled first.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        indexed = index_all(&context) => {
            if let Err(error) = indexed {
                tracing::warn!(%error, "searches do not find some cached pages until the next start");
            }
        }
    }
}

async fn index_all(context: &Context) -> Result<(), StoreError> {
    loop {
        let pages = context.store.unindexed_pages(limits::LOST_TEXTS_AT_ONCE).await?;
        if pages.is_empty() {
            return Ok(());
        }
        for page in pages {
            let (id, team) = (page.id, page.team);
            let text = text_of(context, page).await.unwrap_or_default();
            context.store.index_page(id, team, text).await?;
        }
    }
}

/// Returns the text of a page, or `None` if it cannot be converted.
async fn text_of(context: &Context, page: UnindexedPage) -> Option<PageText> {
    let url = Url::parse(&page.page.url).ok()?;
    let deadline = Instant::now() + limits::LOST_TEXT_TIMEOUT;
    let converting = context.scraper.convert_copy(page.team, page.page, deadline);
    let document = converting.await?;
    page_cache::text_of(&url, &document)
}
