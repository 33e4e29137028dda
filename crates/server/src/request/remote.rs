//! A server that is spoken to from outside: its address, its key, JSON there and back. It never repeats a request that
//! could do something twice, and follows no redirect with the key.

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

/// Where a server listens unless it is told otherwise.
const DEFAULT_URL: &str = "http://localhost:3002";
const URL_VARIABLES: [&str; 2] = ["HARVESTMAN_API_URL", "FIRECRAWL_API_URL"];
const KEY_VARIABLES: [&str; 2] = ["HARVESTMAN_API_KEY", "FIRECRAWL_API_KEY"];

/// The API of one server for one key.
#[derive(Clone)]
pub(crate) struct Remote {
    base: String,
    key: Option<String>,
    fetcher: Fetcher,
}

/// Why there is no answer, or not the one that was wanted. `Display` is the sentence for the user.
#[derive(Debug)]
pub(crate) enum RemoteError {
    /// The server refused or failed, in its own words.
    Refused {
        /// HTTP status.
        status: u16,
        /// Its sentence.
        error: String,
        /// Pause that it asks for.
        retry_after_s: Option<u64>,
    },
    /// Nothing came back.
    Silent {
        /// The server.
        base: String,
        /// Why.
        reason: FetchError,
    },
}

impl std::fmt::Display for RemoteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RemoteError::Refused { error, .. } => f.write_str(error),
            RemoteError::Silent { base, reason } => {
                write!(f, "the server at {base} does not answer: {reason}")
            }
        }
    }
}

impl std::error::Error for RemoteError {}

impl RemoteError {
    /// Whether the same question may get an answer a little later.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            RemoteError::Refused { status, .. } => *status >= 500 || *status == 429,
            RemoteError::Silent { .. } => true,
        }
    }

    /// Seconds that the server asks to wait.
    pub(crate) fn retry_after_s(&self) -> Option<u64> {
        match self {
            RemoteError::Refused { retry_after_s, .. } => *retry_after_s,
            RemoteError::Silent { .. } => None,
        }
    }
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    details: Value,
}

/// The sentence of an error of the API; the places too where more than one thing is wrong.
pub(crate) fn told(error: &str, details: &Value) -> String {
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

/// Whether a variable says which server, or which key.
pub(crate) fn reads(variable: &str) -> bool {
    URL_VARIABLES.contains(&variable) || KEY_VARIABLES.contains(&variable)
}

/// `--api-url` and `--api-key`.
pub(crate) fn arguments() -> [Arg; 2] {
    let of_server = |name: &'static str| Arg::new(name).long(name).help_heading("Server");
    [
        of_server("api-url").value_name("URL").help(format!(
            "Address of the server [default: {DEFAULT_URL}] [env: {}]",
            URL_VARIABLES.join(", ")
        )),
        of_server("api-key").value_name("KEY").help(format!(
            "Key; none is sent to a server without keys [env: {}]",
            KEY_VARIABLES.join(", ")
        )),
    ]
}

impl Remote {
    /// The server that the arguments or the environment name.
    pub(crate) fn of(given: &ArgMatches) -> anyhow::Result<Remote> {
        let said = |name: &str, variables: [&str; 2]| {
            let flag = given.get_one::<String>(name).cloned();
            flag.or_else(|| variables.iter().find_map(|name| std::env::var(name).ok()))
                .filter(|text| !text.is_empty())
        };
        let base = said("api-url", URL_VARIABLES).unwrap_or_else(|| DEFAULT_URL.to_owned());
        Remote::new(&base, said("api-key", KEY_VARIABLES))
    }

    pub(crate) fn new(base: &str, key: Option<String>) -> anyhow::Result<Remote> {
        let no_address = || {
            Usage(format!(
                "`{base}` is no address of a server such as {DEFAULT_URL}"
            ))
        };
        let url = Url::parse(base)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(no_address)?;
        let (host, port) = (url.host_str(), url.port_or_known_default());
        let (host, port) = host.zip(port).ok_or_else(no_address)?;
        // The user has named it: it may be on this machine or network.
        let allowed = AllowList::parse(&format!("{host}:{port}")).map_err(|_| no_address())?;
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

    /// Its address, without a slash at its end.
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
        let answer = self
            .fetcher
            .fetch(request)
            .await
            .map_err(|reason| RemoteError::Silent {
                base: self.base.clone(),
                reason,
            })?;
        let status = answer.status;
        if (200..300).contains(&status) {
            let read = serde_json::from_slice(&answer.body);
            return read.with_context(|| format!("what answers at {} is no such server", self.base));
        }
        let retry_after = answer.headers.get(http::header::RETRY_AFTER);
        let error = match serde_json::from_slice::<Refusal>(&answer.body) {
            Ok(refusal) => told(&refusal.error, &refusal.details),
            Err(_) => format!("the server at {} answers with HTTP status {status}", self.base),
        };
        Err(RemoteError::Refused {
            status,
            error,
            retry_after_s: retry_after.and_then(|value| value.to_str().ok()?.parse().ok()),
        }
        .into())
    }
}
