//! Batch scrapes: start or add pages (docs/API.md section 8.1). What can be done with a running one is in
//! [`job`](super::job).

use harvestman_core::api::batch::{BatchScrapeRequest, BatchStarted};
use harvestman_core::api::job::StatusPath;

use crate::auth::Caller;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::job::JobBody;

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    JobBody { body, idempotency }: JobBody,
) -> HandlerResult {
    // Parsing a hundred thousand URLs takes long enough to block other requests.
    let mut request = tokio::task::spawn_blocking(move || BatchScrapeRequest::from_json(&body))
        .await
        .map_err(|error| Failure::internal(error.to_string()))??;
    let left_out = request.take_invalid_urls();
    let id = app
        .engine()
        .start_batch(&principal, request, idempotency, &base)
        .await?;
    let url = StatusPath::BatchScrape.url(&base, id);
    json(&BatchStarted::new(id, url, left_out))
}
