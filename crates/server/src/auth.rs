//! Authentication of requests. A key is looked up by its hash, and the result is cached for a few seconds so that a
//! busy client does not cost a store read per request. Keys are never kept or logged in the clear.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::ids::KeyId;
use harvestman_store::{Principal, StoreError};
use parking_lot::Mutex;
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::cluster::ForwardedRequest;
use crate::error::Failure;
use crate::{keys, limits};

/// Who sent a request, on a route that requires a key.
pub struct Caller {
    /// The app that handles the request.
    pub app: App,
    /// Principal that owns the request's key.
    pub principal: Principal,
}

impl FromRequestParts<App> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let principal = match parts.extensions.get::<Principal>() {
            Some(principal) => principal.clone(),
            None => authenticate(app, &parts.headers).await?,
        };
        let app = app.clone();
        Ok(Self { app, principal })
    }
}

/// Requires a valid key before any of the body is read. Requests to the API count towards the team's rate limit;
/// requests of the console do not. A forwarded request was already counted by the node that forwarded it.
pub async fn require_key(State(app): State<App>, request: Request, next: Next) -> Response {
    let forwarded = request.extensions().get::<ForwardedRequest>().is_some();
    let counts = request.uri().path().starts_with("/v2/") && !forwarded;
    check_key(&app, request, next, counts).await
}

/// Requires a valid key, and does not count the request: clients read the state of a job every few seconds, and some
/// take an error in the middle of a long result for its end.
pub async fn require_key_of_reader(State(app): State<App>, request: Request, next: Next) -> Response {
    check_key(&app, request, next, false).await
}

async fn check_key(app: &App, mut request: Request, next: Next, counts: bool) -> Response {
    let headers = request.headers();
    let allowed = async {
        let principal = authenticate(app, headers).await?;
        if counts {
            count(app, &principal).await?;
        }
        Ok::<_, Failure>(principal)
    };
    match allowed.await {
        Ok(principal) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    }
}

/// Requires the operator's token of this start.
pub async fn require_operator(State(app): State<App>, request: Request, next: Next) -> Response {
    let given = key(request.headers()).map(keys::hash);
    let same = |(good, given): ([u8; 32], [u8; 32])| bool::from(good.ct_eq(&given));
    match app.operator().zip(given).is_some_and(same) {
        true => next.run(request).await,
        false => unauthorized("this endpoint accepts requests only from the operator's command line")
            .into_response(),
    }
}

/// Requires a valid key like [`require_key_of_reader`], except for WebSocket requests. Their handler authenticates after
/// the upgrade, because it reports a refusal as a close frame.
pub async fn require_key_unless_socket(state: State<App>, request: Request, next: Next) -> Response {
    if wants_socket(request.headers()) {
        next.run(request).await
    } else {
        require_key_of_reader(state, request, next).await
    }
}

/// Returns whether the request asks for an upgrade to a WebSocket.
pub(crate) fn wants_socket(headers: &HeaderMap) -> bool {
    headers
        .get(header::UPGRADE)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Counts a request against the rate limits.
///
/// # Errors
/// 429 above the rate limit of the team or of the key.
pub(crate) async fn count(app: &App, principal: &Principal) -> Result<(), Failure> {
    let limits = app.engine().plans().of(principal.team);
    match app.store().shared_limits() {
        Some(shared) => app.rate_limit().count_shared(&shared, principal, &limits).await,
        None => app.rate_limit().count(principal, &limits, Instant::now()),
    }
}

/// Returns the key in the `Authorization` header.
pub(crate) fn key(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?;
    bearer(value.to_str().ok()?)
}

/// Returns the owner of the key in the `Authorization` header; in open mode the built-in team.
pub(crate) async fn authenticate(app: &App, headers: &HeaderMap) -> Result<Principal, Failure> {
    authenticate_key(app, key(headers)).await
}

/// Returns the owner of a key; in open mode the built-in team.
///
/// # Errors
/// 401 without a key, or for a key that is unknown or revoked.
pub(crate) async fn authenticate_key(app: &App, key: Option<&str>) -> Result<Principal, Failure> {
    if let Some(built_in) = app.open_mode() {
        return Ok(built_in.clone());
    }
    let key = key.ok_or_else(|| unauthorized("no API key; send the header `Authorization: Bearer <key>`"))?;
    if key.len() > limits::API_KEY_CHARS {
        return Err(unauthorized("unknown API key"));
    }
    let found = app.principals().of(keys::hash(key), app).await?;
    found.ok_or_else(|| unauthorized("unknown API key; it may have been revoked"))
}

fn unauthorized(message: &str) -> Failure {
    Failure::new(ErrorCode::Unauthorized, message)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.trim().split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}

/// Cache of recent key lookups. Unknown keys are not cached.
#[derive(Debug, Default)]
pub struct Principals {
    entries: Mutex<HashMap<[u8; 32], (Instant, Principal)>>,
    /// Invalidation generation: the result of a lookup started before a bump is not cached.
    generation: AtomicU64,
}

impl Principals {
    async fn of(&self, hash: [u8; 32], app: &App) -> Result<Option<Principal>, StoreError> {
        if let Some(principal) = self.cached(&hash) {
            return Ok(Some(principal));
        }
        let generation = self.generation.load(Ordering::SeqCst);
        let found = app.store().principal(hash).await?;
        if let Some(principal) = &found {
            self.insert(hash, principal.clone(), generation);
        }
        Ok(found)
    }

    /// Removes a revoked key from the cache; requests with it fail from now on.
    pub(crate) fn remove(&self, key: KeyId) {
        let mut entries = self.entries.lock();
        self.generation.fetch_add(1, Ordering::SeqCst);
        entries.retain(|_, (_, principal)| principal.key != Some(key));
    }

    fn cached(&self, hash: &[u8; 32]) -> Option<Principal> {
        let entries = self.entries.lock();
        let (since, principal) = entries.get(hash)?;
        (since.elapsed() < limits::PRINCIPAL_CACHE_TIME).then(|| principal.clone())
    }

    fn insert(&self, hash: [u8; 32], principal: Principal, generation: u64) {
        let mut entries = self.entries.lock();
        if self.generation.load(Ordering::SeqCst) != generation {
            return;
        }
        if entries.len() >= limits::PRINCIPAL_CACHE_ENTRIES {
            entries.retain(|_, (since, _)| since.elapsed() < limits::PRINCIPAL_CACHE_TIME);
        }
        if entries.len() < limits::PRINCIPAL_CACHE_ENTRIES {
            entries.insert(hash, (Instant::now(), principal));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_the_bearer_scheme_only() {
        assert_eq!(bearer("Bearer fc-1"), Some("fc-1"));
        assert_eq!(bearer("bearer  fc-1 "), Some("fc-1"));
        for bad in ["", "Bearer", "Bearer ", "Basic abc", "fc-1"] {
            assert_eq!(bearer(bad), None, "{bad:?}");
        }
    }
}
