//! Handlers shared by crawls and batch scrapes: status (also as a live socket), cancel, errors, idempotency keys
//! (docs/API.md sections 1, 6.2, 6.6, 8.2, 8.3).

use std::convert::Infallible;

use axum::RequestPartsExt;
use axum::body::Bytes;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::job::{JobCancelled, JobErrorEntry, JobErrors, StatusPath, StatusQuery};
use harvestman_core::api::query::Query;
use harvestman_store::Idempotency;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::auth::{self, Caller};
use crate::body::read_json;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::PathId;
use crate::status::{StatusPage, hold_tail, job_row};
use crate::{limits, socket};

/// The endpoint of a request: that of crawls, or that of batch scrapes.
pub(crate) struct JobPath(StatusPath);

impl<S: Send + Sync> FromRequestParts<S> for JobPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(match parts.uri.path() {
            path if path.starts_with(StatusPath::BatchScrape.prefix()) => StatusPath::BatchScrape,
            _ => StatusPath::Crawl,
        }))
    }
}

/// Returns the status, or opens the live socket for an upgrade request.
pub(crate) async fn status(State(app): State<App>, JobPath(path): JobPath, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    if auth::wants_socket(&parts.headers) {
        let id = parts
            .extract::<Path<String>>()
            .await
            .map(|Path(id)| id)
            .unwrap_or_default();
        let Ok(base) = parts.extract_with_state::<Base, App>(&app).await;
        return match parts.extract::<WebSocketUpgrade>().await {
            Ok(upgrade) => {
                let query = StatusQuery::parse(parts.uri.query().unwrap_or_default());
                let skip = query.map(|query| query.skip).map_err(Failure::from);
                let request = socket::WatchRequest { path, id, skip };
                socket::open(app, upgrade, &parts.headers, request, base.0)
            }
            Err(rejection) => {
                Failure::bad_request(format!("invalid WebSocket request: {rejection}")).into_response()
            }
        };
    }
    status_page(app, parts, path).await.into_response()
}

async fn status_page(app: App, mut parts: Parts, path: StatusPath) -> HandlerResult {
    let Caller { principal, .. } = parts.extract_with_state(&app).await?;
    let PathId(id) = parts.extract_with_state(&app).await?;
    let Ok(Base(base)) = parts.extract_with_state::<Base, App>(&app).await;
    let text = parts.uri.query().unwrap_or_default();
    let query = StatusQuery::parse(text)?;
    // Only requests that follow `next` wait; a first request returns at once.
    if Query::parse(text).text("skip").is_some() {
        hold_tail(&app, &principal, path, id, query.skip).await?;
    }
    let page = StatusPage::read(&app, &principal, path, id, query).await?;
    Ok(page.response(&app, &base))
}

pub(crate) async fn cancel(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    JobPath(path): JobPath,
) -> HandlerResult {
    job_row(&app, &principal, path, id).await?;
    app.engine().cancel(&principal, id).await?;
    json(&JobCancelled::new())
}

pub(crate) async fn errors(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    JobPath(path): JobPath,
) -> HandlerResult {
    job_row(&app, &principal, path, id).await?;
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

/// Complete JSON body of a request that starts a job, with its idempotency key.
pub(crate) struct JobBody {
    pub(crate) body: Bytes,
    pub(crate) idempotency: Option<Idempotency>,
}

impl FromRequest<App> for JobBody {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let body = read_json(app, &parts.headers, body).await?;
        let idempotency = idempotency(&parts.headers, &body)?;
        Ok(Self { body, idempotency })
    }
}

/// Returns the idempotency key of a request with the hash of its body.
fn idempotency(headers: &HeaderMap, body: &[u8]) -> Result<Option<Idempotency>, Failure> {
    let Some(value) = headers.get("x-idempotency-key") else {
        return Ok(None);
    };
    let key = value
        .to_str()
        .ok()
        .filter(|key| (1..=limits::IDEMPOTENCY_KEY_CHARS).contains(&key.len()))
        .filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
    let key = key.ok_or_else(|| {
        let max = limits::IDEMPOTENCY_KEY_CHARS;
        Failure::parameter(
            "x-idempotency-key",
            &format!("must be 1 to {max} visible ASCII characters"),
        )
    })?;
    Ok(Some(Idempotency {
        key: key.to_owned(),
        body_hash: Sha256::digest(body).into(),
    }))
}
