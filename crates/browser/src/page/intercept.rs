//! Interception of a page's requests by the `Fetch` domain of the protocol: the caller's headers for one origin, and
//! error responses that are pages.
//!
//! A Chromium with a user interface shows a page of its own for an error without a body, and asks its user for the name
//! and the password that a 401 wants; then it reports the navigation as failed (`net::ERR_HTTP_RESPONSE_CODE_FAILURE`,
//! `net::ERR_INVALID_AUTH_CREDENTIALS`). `chromium-headless-shell` shows the document that came. Here both do.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::cdp::{Event, Session};
use crate::error::BrowserError;
use crate::limits;

/// A line feed in Base64: for the browser it is content, in a document it is nothing.
const BLANK_BODY: &str = "Cg==";

/// Lets an intercepted request go on, with headers before it is sent to their origin; false for another event.
pub(super) fn resume(event: &Event, session: &Arc<Session>, interception: &Interception) -> bool {
    match event.method.as_str() {
        "Fetch.requestPaused" => match event.read::<Paused>() {
            // The response may have to be read first, and events go on meanwhile.
            Some(paused) if paused.is_response() => drop(tokio::spawn(respond(session.clone(), paused))),
            Some(paused) => session.post("Fetch.continueRequest", paused.with(interception)),
            None => {}
        },
        "Fetch.authRequired" => cancel(event, session),
        _ => return false,
    }
    true
}

/// What is intercepted, and what is made of it.
pub(crate) struct Interception {
    /// Headers of the caller, for requests to `origin` alone.
    pub(crate) headers: Map<String, Value>,
    /// Such as `https://example.com`; none before [`Page::send_headers_to`](super::Page::send_headers_to).
    pub(crate) origin: Option<String>,
    /// Whether requests for a name and a password are left unanswered; else a client from outside answers them.
    pub(crate) cancels_authentication: bool,
}

impl Interception {
    /// The command that makes it so.
    pub(super) fn enable(&self) -> (&'static str, Value) {
        // The browser reports that a name and a password are wanted only of what is intercepted as a request, too.
        let stages: &[&str] = match self.cancels_authentication {
            true => &["Request", "Response"],
            false => &["Response"],
        };
        let document =
            |stage| json!({"urlPattern": "http*", "resourceType": "Document", "requestStage": stage});
        let mut patterns: Vec<Value> = stages.iter().map(document).collect();
        if let Some(origin) = &self.origin {
            patterns.push(json!({"urlPattern": format!("{origin}/*"), "requestStage": "Request"}));
        }
        let params = json!({"patterns": patterns, "handleAuthRequests": self.cancels_authentication});
        ("Fetch.enable", params)
    }

    fn has_headers_for(&self, url: &str) -> bool {
        let rest = self
            .origin
            .as_ref()
            .and_then(|origin| url.strip_prefix(origin.as_str()));
        rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Leaves a request for a user name and a password unanswered, so that its response is the page.
fn cancel(event: &Event, session: &Arc<Session>) {
    if let Some(Asking { request_id }) = event.read() {
        let params = json!({"requestId": request_id, "authChallengeResponse": {"response": "CancelAuth"}});
        session.post("Fetch.continueWithAuth", params);
    }
}

/// Gives the page its response, an error without a body as an empty document.
async fn respond(session: Arc<Session>, paused: Paused) {
    let request = json!({"requestId": paused.request_id});
    let blank = match paused.status() {
        400.. => paused.has_no_body(&session, &request).await,
        _ => Ok(false),
    };
    let done = match blank {
        Ok(true) => session.call("Fetch.fulfillRequest", paused.blank()).await,
        _ => session.call("Fetch.continueResponse", request).await,
    };
    if let Err(error) = done {
        // The page may have gone elsewhere meanwhile.
        tracing::debug!(%error, "an intercepted response was not passed on");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    request: Request,
    response_error_reason: Option<String>,
    response_status_code: Option<u16>,
    #[serde(default)]
    response_headers: Vec<Header>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asking {
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

impl Paused {
    fn is_response(&self) -> bool {
        self.response_status_code.is_some() || self.response_error_reason.is_some()
    }

    /// HTTP status of the response; 0 where there is none.
    fn status(&self) -> u16 {
        self.response_status_code.unwrap_or(0)
    }

    /// The parameters that send the request, with the caller's headers in place of its own where it gets them.
    fn with(self, interception: &Interception) -> Value {
        if !interception.has_headers_for(&self.request.url) {
            return json!({"requestId": self.request_id});
        }
        let headers = &interception.headers;
        let kept = self
            .request
            .headers
            .into_iter()
            .filter(|(name, _)| headers.keys().all(|own| !own.eq_ignore_ascii_case(name)));
        let all: Vec<Value> = kept
            .chain(headers.clone())
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        json!({"requestId": self.request_id, "headers": all})
    }

    /// Whether nothing follows the head of the response: by its length, or where it has none, by its body.
    async fn has_no_body(&self, session: &Session, request: &Value) -> Result<bool, BrowserError> {
        if let Some(length) = self.header("content-length") {
            return Ok(length.trim() == "0");
        }
        let deadline = Instant::now() + limits::COMMAND_TIMEOUT;
        let body = session.raw_until("Fetch.getResponseBody", request.clone(), deadline);
        let body = body.await?;
        Ok(serde_json::from_str(body.get()).is_ok_and(|Body { body }| body.is_empty()))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .response_headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| header.value.as_str())
    }

    /// The parameters that answer with this status and an empty document.
    fn blank(self) -> Value {
        let framing = ["content-length", "content-encoding", "transfer-encoding"];
        let headers: Vec<&Header> = self
            .response_headers
            .iter()
            .filter(|header| framing.iter().all(|name| !header.name.eq_ignore_ascii_case(name)))
            .collect();
        json!({
            "requestId": self.request_id,
            "responseCode": self.status(),
            "responseHeaders": headers,
            "body": BLANK_BODY,
        })
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    body: Cow<'a, str>,
}
