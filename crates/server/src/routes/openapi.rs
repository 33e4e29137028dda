//! `GET /openapi.json`: the API as an OpenAPI document (docs/API.md section 1).

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use harvestman_core::api::openapi;

/// The document does not change while the server runs.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| openapi::document(env!("CARGO_PKG_VERSION")).to_string().into());

pub(crate) async fn document() -> Response {
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (kind, DOCUMENT.clone()).into_response()
}
