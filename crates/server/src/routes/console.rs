//! The console's files and its private endpoints: sign-in, server and key information, recent jobs, browser sessions.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use harvestman_core::api::console::{
    ConsoleFeatures, ConsoleInfo, ConsoleJobs, ConsoleLimits, ConsoleSessions, SignInRequest, SignInResponse,
};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::query::Query;

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::keys::webhook_secret_source;
use crate::routes::{QueryText, health, job_pages};
use crate::{bootstrap, keys, limits};

/// Name of the key that a sign-in creates.
const KEY_NAME: &str = "Console";

/// Redirects browsers to the console; other clients get a 404 at `/`.
pub(crate) async fn root(uri: Uri, headers: HeaderMap) -> Response {
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or_default();
    if uri.path() == "/" && !accepts.contains("text/html") {
        return health::unknown_path(uri).await.into_response();
    }
    let mut response = Redirect::temporary("/console/").into_response();
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

pub(crate) async fn page(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().strip_prefix("/console/").unwrap_or_default();
    app.console().response(path, &headers)
}

/// Exchanges the one-time sign-in code for a new key.
pub(crate) async fn start(State(app): State<App>, WholeBody(body): WholeBody) -> HandlerResult {
    let SignInRequest { code } = serde_json::from_slice(&body)
        .map_err(|_| Failure::bad_request("the body must be {\"code\": \"...\"}"))?;
    if !app.sign_in().redeem(&code) {
        let message = "the sign-in code is invalid, expired or already used; enter an API key, \
                        or restart the server for a new code";
        return Err(Failure::new(ErrorCode::Unauthorized, message));
    }
    let key = keys::new_key().map_err(|error| Failure::internal(error.to_string()))?;
    let team = app.store().ensure_team(bootstrap::TEAM).await?;
    app.store()
        .add_key(team, KEY_NAME, keys::fingerprint(&key), harvestman_engine::now())
        .await?;
    tracing::info!(team.id = %team, "console sign-in with the one-time code");
    json(&SignInResponse {
        success: true,
        api_key: key,
        key_name: KEY_NAME.to_owned(),
        team: bootstrap::TEAM.to_owned(),
    })
}

/// Returns the data of the settings screen.
pub(crate) async fn info(Caller { app, principal }: Caller) -> HandlerResult {
    let (running, limit) = app.engine().concurrency(&principal);
    let webhook_signature = webhook_secret_source(&app, principal.team).await?.is_some();
    json(&ConsoleInfo {
        success: true,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        team: principal.team_name,
        team_id: Some(principal.team),
        key_name: principal.key_name,
        open: app.open_mode().is_some(),
        public_url: app.config().public_url.clone(),
        concurrency: running as u64,
        limits: ConsoleLimits {
            max_concurrency: limit as u64,
            body_bytes: limits::BODY_BYTES as u64,
            status_bytes: harvestman_core::limits::MAX_STATUS_BYTES as u64,
        },
        features: ConsoleFeatures {
            ignore_robots_txt: app.config().allow_ignore_robots,
            zero_data_retention: app.config().allow_zero_data_retention,
            webhook_signature,
        },
    })
}

/// Returns the team's recent jobs, newest first; with `search`, those whose URL contains it.
pub(crate) async fn jobs(Caller { app, principal }: Caller, QueryText(query): QueryText) -> HandlerResult {
    let query = Query::parse(&query);
    let limit = query
        .integer("limit", 1..=limits::OVERVIEW_JOBS)?
        .unwrap_or(limits::OVERVIEW_JOBS_DEFAULT);
    let rows = app
        .store()
        .recent_jobs(
            principal.team,
            query.text("search"),
            limit as u32,
            harvestman_engine::now(),
        )
        .await?;
    json(&ConsoleJobs {
        success: true,
        jobs: rows.into_iter().map(job_pages::entry).collect(),
    })
}

/// Returns the team's browser sessions of the last day, newest first, with their credits and end times.
pub(crate) async fn sessions(Caller { app, principal }: Caller, Base(base): Base) -> HandlerResult {
    let sessions = app
        .engine()
        .session_overviews(&principal, limits::OVERVIEW_SESSIONS, &base)
        .await?;
    json(&ConsoleSessions {
        success: true,
        sessions,
    })
}
