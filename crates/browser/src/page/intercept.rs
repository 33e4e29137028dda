//! Interception of a page's requests by the `Fetch` domain of the protocol: the caller's headers for one origin, and
//! error responses without a body.
//!
//! A Chromium with a user interface shows a page of its own for such a response and reports the navigation as failed
//! (`net::ERR_HTTP_RESPONSE_CODE_FAILURE`); `chromium-headless-shell` shows an empty document. Here it is an empty
//! document in both.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use url::{Position, Url};

use crate::cdp::{Event, Session};
use crate::error::BrowserError;
use crate::limits;

/// A line feed in Base64: for the browser it is content, in a document it is nothing.
const BLANK_BODY: &str = "Cg==";

/// The command that intercepts the responses of documents, and requests to the origin of `url`.
pub(super) fn enable(url: Option<&Url>) -> (&'static str, Value) {
    let mut patterns = vec![json!({
        "urlPattern": "http*",
        "resourceType": "Document",
        "requestStage": "Response",
    })];
    if let Some(url) = url {
        let origin = &url[..Position::BeforePath];
        patterns.push(json!({"urlPattern": format!("{origin}/*"), "requestStage": "Request"}));
    }
    ("Fetch.enable", json!({"patterns": patterns}))
}

/// Lets an intercepted request go on, with `headers` before it is sent; false for another event.
pub(super) fn resume(event: &Event, session: &Arc<Session>, headers: &Map<String, Value>) -> bool {
    if event.method != "Fetch.requestPaused" {
        return false;
    }
    let Some(paused) = event.read::<Paused>() else {
        return true;
    };
    if paused.is_response() {
        // The response may have to be read first, and events go on meanwhile.
        tokio::spawn(respond(session.clone(), paused));
    } else {
        session.post("Fetch.continueRequest", paused.with(headers));
    }
    true
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
struct Request {
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

    /// The parameters that send the request with `headers` in place of its own of the same names.
    fn with(self, headers: &Map<String, Value>) -> Value {
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
