//! Client of a running server, for the command line and the MCP server: URL, key, JSON requests and responses. It never
//! retries a request that may act twice, and never follows a redirect, which would leak the key.

use std::time::Instant;

use anyhow::Context;
use clap::{Arg, ArgMatches};
use harvestman_fetch::{AllowList, FetchConfig, FetchError, FetchRequest, Fetcher};
use http::Method;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::limits;
use crate::offline::Usage;

/// URL of a server with default settings.
const DEFAULT_URL: &str = "http://localhost:3002";
const URL_VARIABLES: [&str; 2] = ["HARVESTMAN_API_URL", "FIRECRAWL_API_URL"];
const KEY_VARIABLES: [&str; 2] = ["HARVESTMAN_API_KEY", "FIRECRAWL_API_KEY"];

/// The API of a server, with a key.
#[derive(Clone)]
pub(crate) struct Remote {
    base: String,
    key: Option<String>,
    fetcher: Fetcher,
}

/// Why a request failed. `Display` is the message for the user.
#[derive(Debug)]
pub(crate) enum RemoteError {
    /// The server responded with an error.
    Refused {
        /// HTTP status.
        status: u16,
        /// Its message.
        error: String,
        /// Value of `Retry-After`, seconds.
        retry_after_s: Option<u64>,
    },
    /// The server did not respond.
    NoResponse {
        /// URL of the server.
        base: String,
        /// Why.
        reason: FetchError,
    },
}

impl std::fmt::Display for RemoteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RemoteError::Refused { error, .. } => f.write_str(error),
            RemoteError::NoResponse { base, reason } => {
                write!(f, "the server at {base} does not respond: {reason}")
            }
        }
    }
}

impl std::error::Error for RemoteError {}

impl RemoteError {
    /// Whether a retry may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            RemoteError::Refused { status, .. } => *status >= 500 || *status == 429,
            RemoteError::NoResponse { .. } => true,
        }
    }

    /// Returns the seconds to wait before a retry, if the server sent them.
    pub(crate) fn retry_after_s(&self) -> Option<u64> {
        match self {
            RemoteError::Refused { retry_after_s, .. } => *retry_after_s,
            RemoteError::NoResponse { .. } => None,
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

/// Whether a variable of the environment holds the URL or the key.
pub(crate) fn reads(variable: &str) -> bool {
    URL_VARIABLES.contains(&variable) || KEY_VARIABLES.contains(&variable)
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

impl Remote {
    /// Returns the server that the arguments or the environment name.
    pub(crate) fn of(given: &ArgMatches) -> anyhow::Result<Remote> {
        let setting = |name: &str, variables: [&str; 2]| {
            let flag = given.get_one::<String>(name).cloned();
            flag.or_else(|| variables.iter().find_map(|name| std::env::var(name).ok()))
                .filter(|text| !text.is_empty())
        };
        let base = setting("api-url", URL_VARIABLES).unwrap_or_else(|| DEFAULT_URL.to_owned());
        Remote::new(&base, setting("api-key", KEY_VARIABLES))
    }

    pub(crate) fn new(base: &str, key: Option<String>) -> anyhow::Result<Remote> {
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
        Ok(Remote {
            base: base.trim_end_matches('/').to_owned(),
            key,
            fetcher,
        })
    }

    /// Returns its URL without a trailing slash.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn delete(&self, path: &str) -> anyhow::Result<Value> {
        self.send(Method::DELETE, path, None).await
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let url = Url::parse(&format!("{}{path}", self.base))?;
        let deadline = Instant::now() + limits::REMOTE_TIME;
        let mut request = match body {
            Some(body) => FetchRequest::post_json(url, body.to_string().into(), deadline),
            None => FetchRequest {
                method,
                max_redirects: 0,
                ..FetchRequest::get(url, deadline)
            },
        };
        request.max_body_bytes = limits::REMOTE_RESPONSE_BYTES;
        request
            .headers
            .push(("Accept".to_owned(), "application/json".to_owned()));
        if let Some(key) = &self.key {
            request
                .headers
                .push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        let response = self
            .fetcher
            .fetch(request)
            .await
            .map_err(|reason| RemoteError::NoResponse {
                base: self.base.clone(),
                reason,
            })?;
        let status = response.status;
        if (200..300).contains(&status) {
            let read = serde_json::from_slice(&response.body);
            return read.with_context(|| format!("the server at {} is not Harvestman", self.base));
        }
        let retry_after = response.headers.get(http::header::RETRY_AFTER);
        let error = match serde_json::from_slice::<ErrorBody>(&response.body) {
            Ok(body) => describe_error(&body.error, &body.details),
            Err(_) => format!("the server at {} responded with HTTP status {status}", self.base),
        };
        Err(RemoteError::Refused {
            status,
            error,
            retry_after_s: retry_after.and_then(|value| value.to_str().ok()?.parse().ok()),
        }
        .into())
    }
}
