//! Crawls: start, options from a prompt, active crawls (docs/API.md sections 6.1, 6.3, 6.4). What can be done with a
//! running one is in [`job`](super::job).

use axum::extract::State;
use harvestman_core::api::crawl::{ActiveCrawl, ActiveCrawls, CrawlRequest, JobStarted};
use harvestman_core::api::job::StatusPath;
use harvestman_core::api::params_preview::ParamsPreviewRequest;
use harvestman_store::JobKind;

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{HandlerResult, json};
use crate::links::Base;
use crate::routes::PathId;
use crate::routes::job::JobBody;

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    JobBody { body, idempotency }: JobBody,
) -> HandlerResult {
    let (request, warning) = app.engine().read_crawl(&body).await?;
    let id = app
        .engine()
        .start_crawl(&principal, request, idempotency, &base)
        .await?;
    json(&JobStarted {
        warning,
        ..JobStarted::new(id, StatusPath::Crawl.url(&base, id))
    })
}

/// Starts a crawl that continues this one.
pub(crate) async fn continue_crawl(
    Caller { app, principal }: Caller,
    Base(base): Base,
    PathId(id): PathId,
) -> HandlerResult {
    let id = app.engine().continue_crawl(&principal, id, &base).await?;
    json(&JobStarted::new(id, StatusPath::Crawl.url(&base, id)))
}

pub(crate) async fn params_preview(State(app): State<App>, WholeBody(body): WholeBody) -> HandlerResult {
    let request = ParamsPreviewRequest::from_json(&body)?;
    json(&app.engine().crawl_params(&request).await)
}

pub(crate) async fn active(Caller { app, principal }: Caller) -> HandlerResult {
    let mut crawls = Vec::new();
    for row in app.store().active(principal.team).await? {
        if row.kind == JobKind::Crawl {
            let Ok(request) = CrawlRequest::from_json(row.request.as_bytes()) else {
                tracing::error!(job.id = %row.id, "cannot read a stored crawl; it is not listed");
                continue;
            };
            let mut crawl = ActiveCrawl::new(row.id, row.team, row.created_at, &request);
            let limit = || app.engine().plans().of(row.team).max_concurrency.into();
            crawl.options.entry("maxConcurrency").or_insert_with(limit);
            crawls.push(crawl);
        }
    }
    json(&ActiveCrawls {
        success: true,
        crawls,
    })
}
