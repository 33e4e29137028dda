//! Crawls: start, status (also as a live socket), cancel, errors, the active ones (contract sections
//! 6.1, 6.2, 6.4, 8.2, 8.3).

use axum::RequestPartsExt;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use harvestman_core::api::crawl::{ActiveCrawl, ActiveCrawls, CrawlRequest, JobStarted};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::job::{JobCancelled, JobErrorEntry, JobErrors, StatusPath, StatusQuery};
use harvestman_core::api::query::Query;
use harvestman_store::{Idempotency, JobKind};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::auth::{self, Caller};
use crate::body::WholeBody;
use crate::error::{Answer, Failure, json};
use crate::links::Base;
use crate::routes::PathId;
use crate::status::{StatusPage, crawl_row, hold_tail};
use crate::{limits, socket};

pub(crate) async fn start(
    State(app): State<App>,
    Caller(who): Caller,
    Base(base): Base,
    headers: HeaderMap,
    WholeBody(body): WholeBody,
) -> Answer {
    let request = CrawlRequest::from_json(&body)?;
    let id = app
        .engine()
        .start_crawl(&who, request, idempotency(&headers, &body)?)
        .await?;
    json(&JobStarted::new(id, StatusPath::Crawl.url(&base, id)))
}

pub(crate) async fn status(State(app): State<App>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    if auth::wants_socket(&parts.headers) {
        let id = parts
            .extract::<Path<String>>()
            .await
            .map(|Path(id)| id)
            .unwrap_or_default();
        let Ok(base) = parts.extract_with_state::<Base, App>(&app).await;
        return match parts.extract::<WebSocketUpgrade>().await {
            Ok(upgrade) => socket::open(app, upgrade, &parts.headers, id, base.0),
            Err(rejection) => {
                Failure::new(ErrorCode::BadRequest, format!("not a WebSocket: {rejection}")).into_response()
            }
        };
    }
    status_page(app, parts).await.into_response()
}

async fn status_page(app: App, mut parts: Parts) -> Answer {
    let Caller(who) = parts.extract_with_state(&app).await?;
    let PathId(id) = parts.extract_with_state(&app).await?;
    let Ok(Base(base)) = parts.extract_with_state::<Base, App>(&app).await;
    let text = parts.uri.query().unwrap_or_default();
    let query = StatusQuery::parse(text)?;
    // Only who follows `next` waits; a first look is answered at once.
    if Query::parse(text).text("skip").is_some() {
        hold_tail(&app, &who, id, query.skip).await?;
    }
    let page = StatusPage::read(&app, &who, id, query).await?;
    Ok(page.answer(&app, &base))
}

pub(crate) async fn cancel(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    crawl_row(&app, &who, id).await?;
    app.engine().cancel(&who, id).await?;
    json(&JobCancelled::new())
}

pub(crate) async fn errors(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    crawl_row(&app, &who, id).await?;
    let stored = app.store().errors(id).await?;
    let entries = stored.errors.into_iter().map(|entry| JobErrorEntry {
        id: entry.id,
        timestamp: entry.at,
        url: entry.url,
        code: ErrorCode::parse(&entry.code).unwrap_or(ErrorCode::Unknown),
        error: entry.message,
    });
    json(&JobErrors::new(entries.collect(), stored.robots_blocked))
}

pub(crate) async fn active(State(app): State<App>, Caller(who): Caller) -> Answer {
    let mut crawls = Vec::new();
    for row in app.store().active(who.team).await? {
        if row.kind == JobKind::Crawl {
            let request = CrawlRequest::from_json(row.request.as_bytes())?;
            crawls.push(ActiveCrawl::new(row.id, row.team, row.created_at, &request));
        }
    }
    json(&ActiveCrawls {
        success: true,
        crawls,
    })
}

fn idempotency(headers: &HeaderMap, body: &[u8]) -> Result<Option<Idempotency>, Failure> {
    let Some(value) = headers.get("x-idempotency-key") else {
        return Ok(None);
    };
    let key = value
        .to_str()
        .ok()
        .filter(|key| (1..=limits::IDEMPOTENCY_KEY_CHARS).contains(&key.len()));
    let key = key.ok_or_else(|| {
        let most = limits::IDEMPOTENCY_KEY_CHARS;
        Failure::parameter(
            "x-idempotency-key",
            &format!("must be 1 to {most} visible ASCII characters"),
        )
    })?;
    Ok(Some(Idempotency {
        key: key.to_owned(),
        body_hash: Sha256::digest(body).into(),
    }))
}
