//! The documentation: guide and API reference (`GET /docs`), and questions about it (docs/API.md section 6.10).

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use harvestman_core::api::query::Query;
use harvestman_core::api::support::DocsSearchRequest;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::docs;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::QueryText;

/// Returns the list of pages, or what matches the query `q`.
pub(crate) async fn index(QueryText(query): QueryText) -> Response {
    let query = Query::parse(&query);
    html(docs::index(query.text("q")))
}

pub(crate) async fn page(Path(name): Path<String>) -> HandlerResult {
    let page = docs::page(&name);
    page.map(html)
        .ok_or_else(|| Failure::not_found("no such page in the documentation; see /docs for a list"))
}

pub(crate) async fn api_index(Base(base): Base) -> Response {
    html(docs::api_index(&base))
}

pub(crate) async fn api_endpoint(Base(base): Base, Path(operation): Path<String>) -> HandlerResult {
    let page = docs::api_endpoint(&operation, &base);
    page.map(html)
        .ok_or_else(|| Failure::not_found("no such endpoint in the API reference; see /docs/api for a list"))
}

pub(crate) async fn ask(
    Caller { app, principal }: Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = DocsSearchRequest::from_json(&body)?;
    json(
        &app.engine()
            .ask_docs(&principal, docs::docs(), &request, &base)
            .await?,
    )
}

fn html(text: String) -> Response {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'self'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
