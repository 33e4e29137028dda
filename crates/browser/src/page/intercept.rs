//! Interception of a page's requests by the `Fetch` domain of the protocol: the caller's headers for one origin, and
//! error responses without a body, and documents that do not say their charset.
//!
//! A Chromium with a user interface shows a page of its own for such a response and reports the navigation as failed
//! (`net::ERR_HTTP_RESPONSE_CODE_FAILURE`); `chromium-headless-shell` shows an empty document. Here it is an empty
//! document in both.
//!
//! Where neither the response nor the document says a charset, browsers guess another way than plain pages are read
//! here: UTF-8 would come out as windows-1252. The response is given the charset that those rules find.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harvestman_core::scrape::undeclared_charset;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use url::{Position, Url};

use crate::cdp::{Event, Session};
use crate::error::BrowserError;
use crate::limits;

/// A line feed in Base64: for the browser it is content, in a document it is nothing.
const BLANK_BODY: &str = "Cg==";

/// What describes how a body was sent, not what it is.
const FRAMING: [&str; 3] = ["content-length", "content-encoding", "transfer-encoding"];

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

/// Gives the page its response: an error without a body as an empty document, a document without a charset with the one
/// that the rules of plain pages find.
async fn respond(session: Arc<Session>, paused: Paused) {
    let request = json!({"requestId": paused.request_id});
    let replacement = match paused.status() {
        400..
            if paused
                .has_no_body(&session, &request)
                .await
                .is_ok_and(|blank| blank) =>
        {
            Some(paused.blank())
        }
        200..300 | 400.. => paused.with_charset(&session, &request).await,
        _ => None,
    };
    let done = match replacement {
        Some(response) => session.call("Fetch.fulfillRequest", response).await,
        None => session.call("Fetch.continueResponse", request).await,
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

#[derive(Deserialize)]
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
        let body = self.body(session, request).await?;
        Ok(serde_json::from_str(body.get()).is_ok_and(|Body { body, .. }| body.is_empty()))
    }

    async fn body(&self, session: &Session, request: &Value) -> Result<Box<RawValue>, BrowserError> {
        let deadline = Instant::now() + limits::COMMAND_TIMEOUT;
        session
            .raw_until("Fetch.getResponseBody", request.clone(), deadline)
            .await
    }

    /// The parameters that answer with the same response and its charset declared; `None` where that is not needed.
    async fn with_charset(&self, session: &Session, request: &Value) -> Option<Value> {
        let content_type = self.header("content-type").unwrap_or("text/html").to_owned();
        if !lacks_charset(&content_type) {
            return None;
        }
        let answer = self.body(session, request).await.ok()?;
        let Body { body, base64_encoded } = serde_json::from_str(answer.get()).ok()?;
        let bytes = match base64_encoded {
            true => STANDARD.decode(&*body).ok()?,
            false => body.into_owned().into_bytes(),
        };
        let charset = undeclared_charset(&bytes, Some(&content_type))?;
        let mut headers = self.headers_without(&FRAMING);
        headers.retain(|header| {
            !header["name"]
                .as_str()
                .is_some_and(|name| name.eq_ignore_ascii_case("content-type"))
        });
        headers.push(json!({"name": "content-type", "value": format!("{content_type}; charset={charset}")}));
        Some(json!({
            "requestId": self.request_id,
            "responseCode": self.status(),
            "responseHeaders": headers,
            "body": STANDARD.encode(&bytes),
        }))
    }

    fn headers_without(&self, names: &[&str]) -> Vec<Value> {
        let headers = self.response_headers.iter();
        let kept = headers.filter(|header| names.iter().all(|name| !header.name.eq_ignore_ascii_case(name)));
        kept.map(|header| json!({"name": header.name, "value": header.value}))
            .collect()
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
        json!({
            "requestId": self.request_id,
            "responseCode": self.status(),
            "responseHeaders": self.headers_without(&FRAMING),
            "body": BLANK_BODY,
        })
    }
}

/// Whether a content type is that of HTML without a charset.
fn lacks_charset(content_type: &str) -> bool {
    let lower = content_type.to_ascii_lowercase();
    lower.split(';').next().unwrap_or("").trim() == "text/html" && !lower.contains("charset")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(borrow)]
    body: Cow<'a, str>,
    base64_encoded: bool,
}
