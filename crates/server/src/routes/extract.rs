//! Extracts: start, status, cancel (docs/API.md section 10).

use harvestman_core::api::agent::AgentCancelled;
use harvestman_core::api::extract::{ExtractRequest, ExtractStarted, TracedUrl};

use crate::auth::Caller;
use crate::error::{HandlerResult, json};
use crate::links::Base;
use crate::routes::PathId;
use crate::routes::job::JobBody;

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    JobBody { body, idempotency }: JobBody,
) -> HandlerResult {
    let mut request = ExtractRequest::from_json(&body)?;
    let invalid_urls = std::mem::take(&mut request.invalid_urls);
    let url_trace = request.url_trace.then(|| {
        let urls = request.urls.iter().map(|target| TracedUrl {
            url: target.url.as_sent().to_owned(),
        });
        urls.collect()
    });
    let id = app
        .engine()
        .start_extract(&principal, request, idempotency, &base)
        .await?;
    json(&ExtractStarted {
        success: true,
        id,
        url_trace,
        invalid_urls: Some(invalid_urls),
    })
}

pub(crate) async fn status(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    json(&app.engine().extract_status(&principal, id).await?)
}

pub(crate) async fn cancel(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    app.engine().cancel_extract(&principal, id).await?;
    json(&AgentCancelled { success: true })
}
