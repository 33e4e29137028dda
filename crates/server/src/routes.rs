//! Request handlers, one file per endpoint family. A handler parses the request, calls the engine or the store, and
//! builds the response. The rules of the API live in the core.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::ids::JobId;

use crate::error::Failure;

pub(crate) mod agent;
pub(crate) mod batch;
pub(crate) mod browser;
pub(crate) mod console;
pub(crate) mod crawl;
pub(crate) mod docs;
pub(crate) mod extract;
pub(crate) mod feedback;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod interact;
pub(crate) mod job;
pub(crate) mod job_comparison;
pub(crate) mod job_pages;
pub(crate) mod keys;
pub(crate) mod live;
pub(crate) mod map;
pub(crate) mod mcp;
pub(crate) mod monitor;
pub(crate) mod openapi;
pub(crate) mod operator;
pub(crate) mod parse;
pub(crate) mod scrape;
pub(crate) mod search;
pub(crate) mod team;
pub(crate) mod webhooks;

/// Returns the 501 of a path that this server does not support.
pub(crate) async fn not_offered(method: Method, uri: Uri) -> Failure {
    let message = format!("this server does not support {method} {}", uri.path());
    Failure::new(ErrorCode::NotSupported, message)
}

/// The `{id}` parameter of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathId(pub(crate) JobId);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let text = Path::<String>::from_request_parts(parts, state)
            .await
            .map(|Path(text)| text)
            .unwrap_or_default();
        job_id(&text).map(PathId)
    }
}

/// The query string of a request; empty without one.
#[derive(Clone, Debug)]
pub(crate) struct QueryText(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for QueryText {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.uri.query().unwrap_or_default().to_owned()))
    }
}

/// Parses a job id from a path.
pub(crate) fn job_id(text: &str) -> Result<JobId, Failure> {
    let id = text.parse().ok().filter(|_| text.len() == 36);
    id.ok_or_else(|| Failure::parameter("id", "must be a UUID, as returned when the job was started"))
}
