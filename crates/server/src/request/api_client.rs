//! Client of a server, for the command line and the MCP server: URL, key, JSON requests and responses. The server runs
//! elsewhere or in this process. The client never retries a request that may act twice, and never follows a redirect,
//! which would leak the key.

use std::time::Instant;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, Bytes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Arg, ArgMatches};
use harvestman_fetch::{AllowList, FetchConfig, FetchError, FetchRequest, Fetcher};
use http::{HeaderMap, HeaderName, Method, Request};
use serde::Deserialize;
use serde_json::Value;
use tower::ServiceExt;
use url::Url;

use crate::input::Usage;
use crate::limits;

/// URL of a server with default settings.
const DEFAULT_URL: &str = "http://localhost:3002";
const URL_VARIABLES: [&str; 2] = ["HARVESTMAN_API_URL", "FIRECRAWL_API_URL"];
const KEY_VARIABLES: [&str; 2] = ["HARVESTMAN_API_KEY", "FIRECRAWL_API_KEY"];
/// Header fields that this server copies from a request to the requests that it sends for the caller.
const CALLER_HEADERS: [&str; 4] = ["authorization", "host", "x-forwarded-host", "x-forwarded-proto"];
/// Path of the files of a server.
const FILES: &str = "/files/";

/// The API of a server, with a key.
#[derive(Clone)]
pub(crate) struct ApiClient {
    base: String,
    key: Option<String>,
    transport: Transport,
    flags: String,
}

/// How requests reach the server.
#[derive(Clone)]
enum Transport {
    /// Over HTTP.
    Network(Fetcher),
    /// By a call of its routes, in this process, with these header fields.
    InProcess(Router, HeaderMap),
}

/// Body of a request, with its content type.
struct RequestBody {
    content_type: String,
    bytes: Vec<u8>,
}

impl RequestBody {
    fn json(value: &Value) -> RequestBody {
        RequestBody {
            content_type: "application/json".to_owned(),
            bytes: value.to_string().into(),
        }
    }
}

/// Status, header fields and body of a response.
struct RawResponse {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

/// Why a request failed. `Display` is the message for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server responded with an error.
    #[error("{error}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Its message.
        error: String,
        /// Value of `Retry-After`, seconds.
        retry_after_s: Option<u64>,
    },
    /// The server did not respond.
    #[error("the server at {base} does not respond: {reason}")]
    NoResponse {
        /// URL of the server.
        base: String,
        /// Why.
        reason: FetchError,
    },
}

impl RequestError {
    /// Returns whether a retry may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            RequestError::Refused { status, .. } => *status >= 500 || *status == 429,
            RequestError::NoResponse { .. } => true,
        }
    }

    /// Returns the seconds to wait before a retry, if the server sent them.
    pub(crate) fn retry_after_s(&self) -> Option<u64> {
        match self {
            RequestError::Refused { retry_after_s, .. } => *retry_after_s,
            RequestError::NoResponse { .. } => None,
        }
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    #[serde(default)]
    details: Value,
}

/// Returns the message of an API error, followed by every problem if there are several.
pub(crate) fn describe_error(error: &str, details: &Value) -> String {
    let more = details.as_array().filter(|details| details.len() > 1);
    let lines = more.into_iter().flatten().map(|detail| {
        let path: Vec<String> = detail["path"]
            .as_array()
            .into_iter()
            .flatten()
            .map(text)
            .collect();
        format!("\n  {}: {}", path.join("."), text(&detail["message"]))
    });
    error.to_owned() + &lines.collect::<String>()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns whether an environment variable holds the URL or the key.
pub(crate) fn reads(variable: &str) -> bool {
    URL_VARIABLES.contains(&variable) || KEY_VARIABLES.contains(&variable)
}

/// Returns whether the arguments or the environment name a server.
pub(crate) fn is_configured(given: &ArgMatches) -> bool {
    setting(given, "api-url", URL_VARIABLES).is_some() || setting(given, "api-key", KEY_VARIABLES).is_some()
}

/// Returns the value of a flag, else of the first variable that is set.
fn setting(given: &ArgMatches, name: &str, variables: [&str; 2]) -> Option<String> {
    let flag = given.get_one::<String>(name).cloned();
    flag.or_else(|| variables.iter().find_map(|name| std::env::var(name).ok()))
        .filter(|text| !text.is_empty())
}

/// Returns the flags `--api-url` and `--api-key`.
pub(crate) fn arguments() -> [Arg; 2] {
    let of_server = |name: &'static str| Arg::new(name).long(name).help_heading("Server");
    [
        of_server("api-url").value_name("URL").help(format!(
            "URL of the server [default: {DEFAULT_URL}] [env: {}]",
            URL_VARIABLES.join(", ")
        )),
        of_server("api-key").value_name("KEY").help(format!(
            "API key; optional for a server without keys [env: {}]",
            KEY_VARIABLES.join(", ")
        )),
    ]
}

impl ApiClient {
    /// Returns the server that the arguments or the environment name.
    pub(crate) fn of(given: &ArgMatches) -> anyhow::Result<ApiClient> {
        let base = setting(given, "api-url", URL_VARIABLES).unwrap_or_else(|| DEFAULT_URL.to_owned());
        let mut client = ApiClient::new(&base, setting(given, "api-key", KEY_VARIABLES))?;
        if given.contains_id("api-key") {
            // The key itself is a secret.
            client.flags.push_str(" --api-key KEY");
        }
        Ok(client)
    }

    pub(crate) fn new(base: &str, key: Option<String>) -> anyhow::Result<ApiClient> {
        let invalid = || {
            Usage(format!(
                "`{base}` is not the URL of a server, such as {DEFAULT_URL}"
            ))
        };
        let url = Url::parse(base)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(invalid)?;
        let (host, port) = (url.host_str(), url.port_or_known_default());
        let (host, port) = host.zip(port).ok_or_else(invalid)?;
        // The user names the server, so it may be private.
        let allowed = AllowList::parse(&format!("{host}:{port}")).map_err(|_| invalid())?;
        let fetcher = Fetcher::new(FetchConfig {
            user_agent: concat!("harvestman/", env!("CARGO_PKG_VERSION")).to_owned(),
            allow_private_hosts: allowed,
            ..FetchConfig::default()
        })?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(ApiClient {
            flags: format!("--api-url {base}"),
            base,
            key,
            transport: Transport::Network(fetcher),
        })
    }

    /// Returns the client of a server in this process. `flags` makes a later command use the same data.
    pub(crate) fn in_process(router: Router, flags: String) -> ApiClient {
        ApiClient {
            base: "http://localhost".to_owned(),
            key: None,
            transport: Transport::InProcess(router, HeaderMap::new()),
            flags,
        }
    }

    /// Returns a client of this server's routes. It sends the key and the host of the request with these `headers`.
    pub(crate) fn of_caller(router: Router, headers: &HeaderMap) -> ApiClient {
        let kept = CALLER_HEADERS.iter().filter_map(|name| {
            let value = headers.get(*name)?.clone();
            Some((HeaderName::from_static(name), value))
        });
        ApiClient {
            transport: Transport::InProcess(router, kept.collect()),
            ..ApiClient::in_process(Router::new(), String::new())
        }
    }

    /// Returns the flags with which a later command reaches the same server.
    pub(crate) fn flags(&self) -> &str {
        &self.flags
    }

    /// Returns whether the server runs in this process and ends with it.
    pub(crate) fn is_in_process(&self) -> bool {
        matches!(self.transport, Transport::InProcess(..))
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.send(Method::POST, path, Some(RequestBody::json(body))).await
    }

    /// Sends a body that is not JSON.
    pub(crate) async fn post_bytes(
        &self,
        path: &str,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> anyhow::Result<Value> {
        let content_type = content_type.to_owned();
        self.send(Method::POST, path, Some(RequestBody { content_type, bytes }))
            .await
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.send(Method::PATCH, path, Some(RequestBody::json(body)))
            .await
    }

    pub(crate) async fn delete(&self, path: &str) -> anyhow::Result<Value> {
        self.send(Method::DELETE, path, None).await
    }

    /// Fetches a file of the server by its URL in a response. Returns its content type and bytes.
    pub(crate) async fn file(&self, url: &str) -> anyhow::Result<(String, Bytes)> {
        // The URL starts with the base that clients of the server see. This client may use another one.
        let start = url
            .rfind(FILES)
            .with_context(|| format!("{url} is not a file of the server"))?;
        let response = self.send_raw(Method::GET, &url[start..], None).await?;
        let content_type = response.headers.get(http::header::CONTENT_TYPE);
        let content_type = content_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        Ok((content_type.to_owned(), response.body))
    }

    /// Returns the bytes of a picture by its URL in a response, which may be a `data:` URL.
    pub(crate) async fn picture(&self, url: &str) -> anyhow::Result<Bytes> {
        match url.split_once(";base64,") {
            Some((kind, text)) if kind.starts_with("data:") => Ok(STANDARD
                .decode(text)
                .context("the picture is not valid Base64")?
                .into()),
            _ => Ok(self.file(url).await?.1),
        }
    }

    async fn send(&self, method: Method, path: &str, body: Option<RequestBody>) -> anyhow::Result<Value> {
        let response = self.send_raw(method, path, body).await?;
        let read = serde_json::from_slice(&response.body);
        read.with_context(|| format!("the server at {} is not Harvestman", self.base))
    }

    async fn send_raw(
        &self,
        method: Method,
        path: &str,
        body: Option<RequestBody>,
    ) -> anyhow::Result<RawResponse> {
        let response = match &self.transport {
            Transport::Network(fetcher) => self.fetch(fetcher, method, path, body).await?,
            Transport::InProcess(router, headers) => {
                call(router.clone(), headers, method, path, body).await?
            }
        };
        if (200..300).contains(&response.status) {
            return Ok(response);
        }
        let RawResponse {
            status,
            headers,
            body,
        } = response;
        let retry_after = headers.get(http::header::RETRY_AFTER);
        let error = match serde_json::from_slice::<ErrorBody>(&body) {
            Ok(body) if status == 401 && !self.is_in_process() => {
                format!(
                    "{}; set {} to a key of the server at {}",
                    body.error, KEY_VARIABLES[0], self.base
                )
            }
            Ok(body) => describe_error(&body.error, &body.details),
            Err(_) => format!("the server at {} responded with HTTP status {status}", self.base),
        };
        Err(RequestError::Refused {
            status,
            error,
            retry_after_s: retry_after.and_then(|value| value.to_str().ok()?.parse().ok()),
        }
        .into())
    }

    async fn fetch(
        &self,
        fetcher: &Fetcher,
        method: Method,
        path: &str,
        body: Option<RequestBody>,
    ) -> anyhow::Result<RawResponse> {
        let url = Url::parse(&format!("{}{path}", self.base))?;
        let mut request = FetchRequest {
            method,
            max_redirects: 0,
            max_body_bytes: limits::REMOTE_RESPONSE_BYTES,
            ..FetchRequest::get(url, Instant::now() + limits::REMOTE_TIME)
        };
        let mut header = |name: &str, value: String| request.headers.push((name.to_owned(), value));
        header("Accept", "application/json".to_owned());
        if let Some(key) = &self.key {
            header("Authorization", format!("Bearer {key}"));
        }
        if let Some(RequestBody { content_type, bytes }) = body {
            header("Content-Type", content_type);
            request.body = bytes.into();
        }
        let response = fetcher
            .fetch(request)
            .await
            .map_err(|reason| RequestError::NoResponse {
                base: self.base.clone(),
                reason,
            })?;
        Ok(RawResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
        })
    }
}

/// Calls the routes of a server in this process.
async fn call(
    router: Router,
    headers: &HeaderMap,
    method: Method,
    path: &str,
    body: Option<RequestBody>,
) -> anyhow::Result<RawResponse> {
    let mut request = Request::builder().method(method).uri(path);
    let mut bytes = Vec::new();
    if let Some(body) = body {
        request = request.header(http::header::CONTENT_TYPE, body.content_type);
        bytes = body.bytes;
    }
    let mut request = request.body(Body::from(bytes))?;
    let fields = headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    request.headers_mut().extend(fields);
    let response = router.oneshot(request).await?;
    let (parts, body) = response.into_parts();
    Ok(RawResponse {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: axum::body::to_bytes(body, usize::MAX).await?,
    })
}
