//! Forwards requests about a browser session to the node that holds it, at most once, and streams the response back.
//! Also forwards WebSockets.
//!
//! A forwarded request is signed with the secret of the cluster. The signature covers what the owner trusts: the target
//! node, the method, the path, and the base URL that the client used. The owner authenticates the client's key itself,
//! and never forwards a forwarded request.

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::future::join;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::ids::{ScrapeId, SessionId};
use harvestman_store::SessionRow;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use crate::app::App;
use crate::auth::wants_socket;
use crate::body;
use crate::cluster::{Cluster, ForwardedRequest};
use crate::error::Failure;
use crate::limits;
use crate::links::Base;

/// Node, signature and base URL of a forwarded request.
const FORWARDED: HeaderName = HeaderName::from_static("x-harvestman-forwarded");
/// Purpose of the signature in this header.
const PURPOSE: &str = "forwarded request";

/// Recognizes forwarded requests.
///
/// # Errors
/// 403 for a signature that is wrong or meant for another node; 503 if this node was restarted meanwhile.
pub(crate) async fn accept(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if let Some(value) = request.headers_mut().remove(FORWARDED) {
        match forwarded(&app, &request, &value) {
            Ok(forwarded) => request.extensions_mut().insert(forwarded),
            Err(failure) => return failure.into_response(),
        };
    }
    next.run(request).await
}

fn forwarded(app: &App, request: &Request, value: &HeaderValue) -> Result<ForwardedRequest, Failure> {
    let text = value.to_str().unwrap_or_default();
    let mut parts = text.splitn(3, ' ');
    let [node, signature, base] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let texts = [node, request.method().as_str(), path_of(request.uri()), base];
    let genuine = app
        .cluster()
        .is_some_and(|cluster| cluster.secret.verify(PURPOSE, &texts, signature));
    if !genuine {
        let message =
            "the signature of a forwarded request is wrong; give every server the same cluster_secret";
        return Err(Failure::new(ErrorCode::Forbidden, message));
    }
    if app.store().node().is_none_or(|own| own.to_string() != node) {
        return Err(unreachable());
    }
    Ok(ForwardedRequest {
        base: base.to_owned(),
    })
}

/// Returns whether requests of this route belong to a session.
pub(crate) fn is_of_session(path: &str) -> bool {
    let start = [
        "/live/{token}", "/live/sockets/{token}", "/cdp/{token}", "/v2/browser/{id}", "/v2/interact/{id}",
    ];
    start.iter().any(|start| path.starts_with(start)) || path.starts_with("/v2/scrape/{id}/interact")
}

/// Passes the request on if another node holds its session.
pub(crate) async fn forward(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(cluster) = app.cluster() else {
        return next.run(request).await;
    };
    let sent = match find_owner(&app, cluster, request).await {
        Ok((request, None)) => return next.run(request).await,
        Ok((request, Some(owner))) => send(&app, cluster, &owner, request).await,
        Err(failure) => Err(failure),
    };
    sent.unwrap_or_else(IntoResponse::into_response)
}

/// The node that holds a session.
#[derive(Clone)]
struct Owner {
    node: Uuid,
    url: Url,
}

/// Finds the other node that holds the session of a request; `None` if there is none or it is not known to be alive.
async fn find_owner(
    app: &App,
    cluster: &Cluster,
    request: Request,
) -> Result<(Request, Option<Owner>), Failure> {
    if request.extensions().get::<ForwardedRequest>().is_some() {
        return Ok((request, None));
    }
    let (request, row) = session_of(app, cluster, request).await?;
    let node = row.filter(|row| row.end.is_none()).and_then(|row| row.node);
    let Some(node) = node.filter(|node| app.store().node() != Some(*node)) else {
        return Ok((request, None));
    };
    let living = app.store().living_node(node).await?;
    let url = living.and_then(|living| living.url?.parse().ok());
    Ok((request, url.map(|url| Owner { node, url })))
}

/// Reads the session of a request, unless this node holds it. Also returns the request, because its body may have been
/// read.
async fn session_of(
    app: &App,
    cluster: &Cluster,
    request: Request,
) -> Result<(Request, Option<SessionRow>), Failure> {
    let parts: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    let id = match parts.as_slice() {
        ["v2", "scrape", id, ..] => {
            let Ok(scrape) = id.parse::<ScrapeId>() else {
                return Ok((request, None));
            };
            if app.engine().holds_session_of(scrape) {
                return Ok((request, None));
            }
            if let Some(row) = app.store().session_of(scrape).await? {
                return Ok((request, Some(row)));
            }
            return existing_session(app, request).await;
        }
        ["v2", _, id, ..] => id.parse().ok(),
        ["live", "sockets", token] | [_, token, ..] => cluster.token_key.session(token),
        _ => None,
    };
    let row = match id {
        Some(id) if !app.engine().holds_session(id) => app.store().session(id).await?,
        _ => None,
    };
    Ok((request, row))
}

/// Reads the existing session that the body of an interact request names.
async fn existing_session(app: &App, request: Request) -> Result<(Request, Option<SessionRow>), Failure> {
    let (mut parts, body) = request.into_parts();
    let bytes = body::read_json(app, &parts.headers, body).await?;
    // Without its byte order mark, the body is shorter.
    parts.headers.remove(header::CONTENT_LENGTH);
    let id = serde_json::from_slice::<Value>(&bytes)
        .ok()
        .and_then(|body| body["existingSessionId"].as_str()?.parse::<SessionId>().ok());
    let row = match id {
        Some(id) => app.store().session(id).await?,
        None => None,
    };
    Ok((Request::from_parts(parts, Body::from(bytes)), row))
}

async fn send(app: &App, cluster: &Cluster, owner: &Owner, request: Request) -> Result<Response, Failure> {
    let (mut parts, body) = request.into_parts();
    let Ok(Base(base)) = Base::from_request_parts(&mut parts, app).await;
    let client = parts
        .extensions
        .remove::<OnUpgrade>()
        .filter(|_| wants_socket(&parts.headers));
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = uri_at(&owner.url, &parts.uri)?;
    *request.headers_mut() = headers_for(cluster, owner, &parts, &base, client.is_some())?;
    let mut response = tokio::select! {
        response = cluster.fetcher.forward(&owner.url, request) => response.map_err(|error| {
            tracing::warn!(%error, node = %owner.node, "cannot forward a request to the owner of its session");
            unreachable()
        })?,
        () = until_gone(app, owner.node) => return Err(unreachable()),
    };
    let switched = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if let Some(client) = client.filter(|_| switched) {
        let node = hyper::upgrade::on(&mut response);
        tokio::spawn(tunnel(app.clone(), owner.node, client, node));
    } else {
        drop_hop_headers(response.headers_mut());
    }
    Ok(response.map(Body::new))
}

/// Copies bytes between client and node, until one of them closes, this server stops, or the node is gone.
async fn tunnel(app: App, node: Uuid, client: OnUpgrade, owner: OnUpgrade) {
    let (Ok(client), Ok(owner)) = join(client, owner).await else {
        return;
    };
    let [mut client, mut owner]: [TokioIo<Upgraded>; 2] = [client, owner].map(TokioIo::new);
    tokio::select! {
        // Either side may close the socket at any time.
        _ended = tokio::io::copy_bidirectional(&mut client, &mut owner) => {}
        () = app.stopping().cancelled() => {}
        () = until_gone(&app, node) => {}
    }
}

/// Waits until a node is known to have ended.
async fn until_gone(app: &App, node: Uuid) {
    loop {
        tokio::time::sleep(limits::OWNER_POLL).await;
        if let Ok(None) = app.store().living_node(node).await {
            return;
        }
    }
}

fn headers_for(
    cluster: &Cluster,
    owner: &Owner,
    parts: &Parts,
    base: &str,
    upgrades: bool,
) -> Result<HeaderMap, Failure> {
    let mut headers = parts.headers.clone();
    let protocol = headers.get(header::UPGRADE).cloned().filter(|_| upgrades);
    drop_hop_headers(&mut headers);
    if let Some(protocol) = protocol {
        headers.insert(header::UPGRADE, protocol);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    let node = owner.node.to_string();
    let texts = [&node, parts.method.as_str(), path_of(&parts.uri), base];
    let signature = cluster.secret.sign(PURPOSE, &texts);
    let host = &owner.url[url::Position::BeforeHost..url::Position::AfterPort];
    for (name, text) in [
        (FORWARDED, format!("{node} {signature} {base}")),
        (header::HOST, host.to_owned()),
    ] {
        headers.insert(name, HeaderValue::try_from(text).map_err(|_| unreachable())?);
    }
    Ok(headers)
}

/// Appends the path and query of a request to the path of the node's URL.
fn uri_at(url: &Url, uri: &Uri) -> Result<Uri, Failure> {
    let path = format!("{}{}", url.path().trim_end_matches('/'), path_of(uri));
    path.parse().map_err(|_| unreachable())
}

fn path_of(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", |path| path.as_str())
}

/// Removes the hop-by-hop header fields, which apply to a single connection.
fn drop_hop_headers(headers: &mut HeaderMap) {
    for name in [
        header::CONNECTION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        HeaderName::from_static("keep-alive"),
    ] {
        headers.remove(name);
    }
}

fn unreachable() -> Failure {
    let mut failure = Failure::new(
        ErrorCode::Unavailable,
        "the server that holds the browser of this session cannot be reached; try again in a moment",
    );
    failure.0.retry_after_s = Some(limits::OWNER_RETRY_AFTER_S);
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::routes;

    #[test]
    fn every_route_of_a_session_is_forwarded() {
        let paths: Vec<&str> = routes()
            .iter()
            .map(|route| route.path)
            .filter(|path| is_of_session(path))
            .collect();
        for path in [
            "/v2/scrape/{id}/interact", "/v2/browser/{id}/execute", "/v2/browser/{id}", "/v2/interact/{id}",
            "/live/{token}", "/live/sockets/{token}", "/cdp/{token}/{*rest}",
        ] {
            assert!(paths.contains(&path), "{path}");
        }
        for path in [
            "/live/assets/{file}", "/v2/browser", "/v2/scrape/{id}", "/v2/crawl/{id}",
        ] {
            assert!(!paths.contains(&path), "{path}");
        }
    }

    #[test]
    fn the_path_of_a_node_comes_before_that_of_the_request() {
        let uri: Uri = "/live/x?a=1".parse().unwrap();
        for (url, expected) in [
            ("http://10.0.0.1:3002", "/live/x?a=1"),
            ("http://10.0.0.1/a/", "/a/live/x?a=1"),
        ] {
            assert_eq!(uri_at(&url.parse().unwrap(), &uri).unwrap(), expected);
        }
    }
}
