//! `POST /mcp`: the Model Context Protocol over HTTP (docs/CLI.md).

use axum::Extension;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::body::WholeBody;
use crate::mcp::http::{self, McpRoutes};

pub(crate) async fn handle(
    Extension(routes): Extension<McpRoutes>,
    headers: HeaderMap,
    WholeBody(body): WholeBody,
) -> Response {
    http::handle(&routes, &headers, &body).await
}
