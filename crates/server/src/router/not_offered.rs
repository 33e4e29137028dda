//! Paths that clients know but this server does not support. They return 501 `FEATURE_NOT_SUPPORTED`; paths of older
//! API versions return 404.

use axum::routing::any;

use super::{Access, Route};
use crate::routes::{health, not_offered};

/// Paths that will not be supported.
const NEVER: &[&str] = &[
    "/v2/search/research/{*rest}",
    "/v2/search/developer",
    "/v2/search/gov",
    "/v2/exchange",
    "/v2/exchange/{*rest}",
    // As the MCP server calls it.
    "/exchange/{*rest}",
    "/v2/team/threat-protection",
    "/v2/team/threat-protection/{*rest}",
    "/v2/team/siem",
    "/v2/team/siem/{*rest}",
    "/v2/slack/{*rest}",
];

/// Older versions of the API.
const OLD_VERSIONS: &[&str] = &["/v0/{*rest}", "/v1/{*rest}"];

pub(super) fn routes() -> Vec<Route> {
    let all = |path: &&'static str| Route {
        method: None,
        path,
        access: Access::Key,
        offered: false,
        handler: any(not_offered),
    };
    let old = |path: &&'static str| Route {
        method: None,
        path,
        access: Access::Public,
        offered: false,
        handler: any(health::old_version),
    };
    NEVER
        .iter()
        .map(all)
        .chain(OLD_VERSIONS.iter().map(old))
        .collect()
}
