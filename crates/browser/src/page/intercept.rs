//! Interception of a page's requests with the protocol's `Fetch` domain: blocks advertisements and trackers, adds the
//! client's headers for one origin, makes error responses into pages, and declares the charset of documents without one.
//!
//! Chromium with a user interface shows its own page for an error without a body, and a login prompt for a
//! 401; it then reports that the navigation failed (`net::ERR_HTTP_RESPONSE_CODE_FAILURE`,
//! `net::ERR_INVALID_AUTH_CREDENTIALS`). `chromium-headless-shell` shows the received document. With this
//! interception both do.
//!
//! If neither the response nor the document declares a charset, browsers guess differently from HTTP scrapes:
//! UTF-8 would be read as windows-1252.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harvestman_core::scrape::undeclared_charset;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use url::Url;

use crate::blocker::{self, Blocker};
use crate::cdp::{Event, Session};
use crate::limits;

/// A line feed in Base64: content for the browser, nothing in the document.
const BLANK_BODY: &str = "Cg==";

/// Handles an interception event: continues the request, with headers if it goes to their origin, or blocks it.
/// Returns false for other events.
pub(super) fn resume(
    event: &Event,
    session: &Arc<Session>,
    main_frame: &str,
    interception: &mut Interception,
) -> bool {
    match event.method.as_str() {
        "Fetch.requestPaused" => match event.read::<RequestPaused>() {
            // The body may have to be read first, and other events must not wait for it.
            Some(request_paused) if request_paused.is_response() => {
                drop(tokio::spawn(respond(session.clone(), request_paused)))
            }
            Some(request_paused) if interception.blocks(&request_paused, main_frame) => {
                interception.blocked_requests += 1;
                session.post(
                    "Fetch.failRequest",
                    json!({"requestId": request_paused.request_id, "errorReason": "BlockedByClient"}),
                );
            }
            Some(request_paused) => session.post(
                "Fetch.continueRequest",
                request_paused.continue_params(interception),
            ),
            None => {}
        },
        "Fetch.authRequired" => cancel_authentication(event, session),
        _ => return false,
    }
    true
}

/// What is intercepted and how it is handled.
pub(crate) struct Interception {
    /// Headers of the client, for requests to `origin` only.
    pub(crate) headers: Map<String, Value>,
    /// Such as `https://example.com`; `None` before [`Page::send_headers_to`](super::Page::send_headers_to).
    pub(crate) origin: Option<String>,
    /// Whether HTTP authentication is cancelled; otherwise an external client handles it.
    pub(crate) cancels_authentication: bool,
    /// Blocks advertisements and trackers.
    pub(crate) blocker: Option<Blocker>,
    /// URL of the document that the main frame requested last: the page, for the rules of the blocker.
    pub(crate) document: Option<Url>,
    /// Number of requests that were blocked.
    pub(crate) blocked_requests: u32,
}

impl Interception {
    /// Returns the command that enables the interception.
    pub(super) fn enable(&self) -> (&'static str, Value) {
        // The browser reports authentication challenges only for requests that are intercepted at the request
        // stage.
        let stages: &[&str] = match self.cancels_authentication {
            true => &["Request", "Response"],
            false => &["Response"],
        };
        let document =
            |stage| json!({"urlPattern": "http*", "resourceType": "Document", "requestStage": stage});
        let mut patterns: Vec<Value> = stages.iter().map(document).collect();
        if self.blocker.is_some() {
            patterns.push(json!({"urlPattern": "http*", "requestStage": "Request"}));
        }
        if let Some(origin) = &self.origin {
            patterns.push(json!({"urlPattern": format!("{origin}/*"), "requestStage": "Request"}));
        }
        let params = json!({"patterns": patterns, "handleAuthRequests": self.cancels_authentication});
        ("Fetch.enable", params)
    }

    /// Returns whether a request is blocked. The document of the main frame never is.
    fn blocks(&mut self, request_paused: &RequestPaused, main_frame: &str) -> bool {
        let (Some(blocker), Ok(url)) = (&self.blocker, Url::parse(&request_paused.request.url)) else {
            return false;
        };
        if request_paused.resource_type == "Document" && request_paused.frame_id == main_frame {
            self.document = Some(url);
            return false;
        }
        let of = resource_type(&request_paused.resource_type);
        let document = self.document.as_ref();
        document.is_some_and(|document| blocker.blocks(&url, document, of))
    }

    fn has_headers_for(&self, url: &str) -> bool {
        let rest = self
            .origin
            .as_ref()
            .and_then(|origin| url.strip_prefix(origin.as_str()));
        rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Returns the type of the WebExtensions API for one of the protocol.
fn resource_type(name: &str) -> &'static str {
    match name {
        "Document" => blocker::FRAME,
        "Script" => "script",
        "Stylesheet" => "stylesheet",
        "Image" => "image",
        "Font" => "font",
        "Media" => "media",
        "XHR" | "Fetch" | "EventSource" => "xmlhttprequest",
        "Ping" | "CSPViolationReport" => "ping",
        _ => "other",
    }
}

/// Cancels HTTP authentication, so that the 401 response becomes the page.
fn cancel_authentication(event: &Event, session: &Arc<Session>) {
    if let Some(AuthRequired { request_id }) = event.read() {
        let params = json!({"requestId": request_id, "authChallengeResponse": {"response": "CancelAuth"}});
        session.post("Fetch.continueWithAuth", params);
    }
}

/// Passes a response on to the page: an error without a body as an empty document, a document without a
/// charset with the charset that HTTP scrapes use.
async fn respond(session: Arc<Session>, request_paused: RequestPaused) {
    let request = json!({"requestId": request_paused.request_id});
    let replacement = match request_paused.status() {
        400.. if request_paused.has_no_body(&session, &request).await => {
            Some(request_paused.blank_response())
        }
        200..300 | 400.. => request_paused.charset_response(&session, &request).await,
        _ => None,
    };
    let result = match replacement {
        Some(response) => session.call("Fetch.fulfillRequest", response).await,
        None => session.call("Fetch.continueResponse", request).await,
    };
    if let Err(error) = result {
        // The page may have navigated away meanwhile.
        tracing::debug!(%error, "cannot pass on an intercepted response");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    request: Request,
    #[serde(default)]
    frame_id: String,
    #[serde(default)]
    resource_type: String,
    response_error_reason: Option<String>,
    response_status_code: Option<u16>,
    #[serde(default)]
    response_headers: Vec<Header>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuthRequired {
    request_id: String,
}

#[derive(Deserialize)]
struct Request {
    url: String,
    headers: Map<String, Value>,
}

#[derive(Deserialize, Serialize)]
struct Header {
    name: String,
    value: String,
}

impl RequestPaused {
    fn is_response(&self) -> bool {
        self.response_status_code.is_some() || self.response_error_reason.is_some()
    }

    /// Returns the HTTP status of the response; 0 if there is none.
    fn status(&self) -> u16 {
        self.response_status_code.unwrap_or(0)
    }

    /// Returns the parameters that continue the request, with the client's headers replacing its own if it is
    /// for their origin.
    fn continue_params(self, interception: &Interception) -> Value {
        if !interception.has_headers_for(&self.request.url) {
            return json!({"requestId": self.request_id});
        }
        let headers = &interception.headers;
        let remaining = self
            .request
            .headers
            .into_iter()
            .filter(|(name, _)| headers.keys().all(|own| !own.eq_ignore_ascii_case(name)));
        let all: Vec<Value> = remaining
            .chain(headers.clone())
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        json!({"requestId": self.request_id, "headers": all})
    }

    /// Returns whether the response has no body, judged by its length header, or without one by reading it.
    async fn has_no_body(&self, session: &Session, request: &Value) -> bool {
        match self.header("content-length") {
            Some(length) => length.trim() == "0",
            None => self
                .body(session, request)
                .await
                .is_some_and(|body| body.is_empty()),
        }
    }

    /// Returns the body of the response, if the browser provides it.
    async fn body(&self, session: &Session, request: &Value) -> Option<Vec<u8>> {
        let deadline = Instant::now() + limits::COMMAND_TIMEOUT;
        let response = session.call_raw_until("Fetch.getResponseBody", request.clone(), deadline);
        let response = response.await.ok()?;
        let Body { body, base64_encoded } = serde_json::from_str(response.get()).ok()?;
        match base64_encoded {
            true => STANDARD.decode(&*body).ok(),
            false => Some(body.into_owned().into_bytes()),
        }
    }

    /// Returns the parameters for the same response with its charset declared; `None` if that is not needed.
    async fn charset_response(&self, session: &Session, request: &Value) -> Option<Value> {
        let content_type = self.header("content-type").unwrap_or("text/html");
        if !has_no_charset(content_type) {
            return None;
        }
        let body = self.body(session, request).await?;
        let charset = undeclared_charset(&body, Some(content_type))?;
        let declared = Header {
            name: "content-type".to_owned(),
            value: format!("{content_type}; charset={charset}"),
        };
        let mut headers = self.headers_without(&["content-type"]);
        headers.push(&declared);
        Some(self.fulfill_params(&headers, &STANDARD.encode(&body)))
    }

    /// Returns the headers except `others` and those that describe how the body was transferred.
    fn headers_without(&self, others: &[&str]) -> Vec<&Header> {
        let framing = ["content-length", "content-encoding", "transfer-encoding"];
        let is_omitted = |header: &&Header| {
            let mut names = framing.iter().chain(others);
            names.any(|name| header.name.eq_ignore_ascii_case(name))
        };
        self.response_headers
            .iter()
            .filter(|header| !is_omitted(header))
            .collect()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .response_headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| header.value.as_str())
    }

    /// Returns the parameters for a response with this status and an empty document.
    fn blank_response(&self) -> Value {
        self.fulfill_params(&self.headers_without(&[]), BLANK_BODY)
    }

    /// Returns the parameters for a response with this status, these headers and a Base64 body.
    fn fulfill_params(&self, headers: &[&Header], body: &str) -> Value {
        json!({
            "requestId": self.request_id,
            "responseCode": self.status(),
            "responseHeaders": headers,
            "body": body,
        })
    }
}

/// Returns whether a content type is HTML without a charset.
fn has_no_charset(content_type: &str) -> bool {
    let lower = content_type.to_ascii_lowercase();
    lower.split(';').next().unwrap_or("").trim() == "text/html" && !lower.contains("charset")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(borrow)]
    body: Cow<'a, str>,
    #[serde(default)]
    base64_encoded: bool,
}
