//! `GET /health` and `GET /ready`: whether the server and each of its dependencies is up.

use std::collections::BTreeMap;

use gloo_net::http::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::error::ClientError;
use crate::transport::Client;

/// Readiness of a server and its dependencies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// Whether it accepts requests.
    pub ready: bool,
    /// Whether requests need no key; `None` if the server does not report it.
    pub open: Option<bool>,
    /// Dependencies by name.
    pub parts: BTreeMap<String, PartHealth>,
}

/// Health of one dependency.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartHealth {
    /// Status as reported: `ok`, `off`, or the problem.
    pub status: String,
    /// Details, if reported.
    pub detail: Option<String>,
}

#[derive(Deserialize)]
struct Health {
    status: String,
}

impl Client {
    /// Returns whether the process is up.
    pub async fn health(&self) -> Result<bool, ClientError> {
        let health: Health = self.get("/health").await?;
        Ok(health.status == "ok")
    }

    /// Returns the readiness of the server and its dependencies, also while it is not ready.
    pub async fn ready(&self) -> Result<Readiness, ClientError> {
        let response = self.exchange(Method::GET, "/ready", None).await?;
        if response.status != 200 && response.status != 503 {
            return Err(ClientError::from_response(response.status, None, &response.body));
        }
        let body: Value = response.json()?;
        Ok(Readiness {
            ready: response.status == 200,
            open: body.get("open").and_then(Value::as_bool),
            parts: parts(&body),
        })
    }
}

/// Parses the dependencies under `checks`, `parts` or `dependencies`, or beside `status`. Each is a string, a
/// boolean, or an object with `status`.
fn parts(body: &Value) -> BTreeMap<String, PartHealth> {
    let inner = ["checks", "parts", "dependencies"]
        .iter()
        .find_map(|name| body.get(name))
        .unwrap_or(body);
    let fields = inner.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !["status", "success", "ready", "version", "open"].contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name.clone(), part(value)?)))
        .collect()
}

fn part(value: &Value) -> Option<PartHealth> {
    let word = |value: &Value| match value {
        Value::String(word) => Some(word.clone()),
        Value::Bool(true) => Some("ok".to_owned()),
        Value::Bool(false) => Some("down".to_owned()),
        _ => None,
    };
    if let Some(status) = word(value) {
        return Some(PartHealth { status, detail: None });
    }
    let object = value.as_object()?;
    let detail = ["message", "error", "detail", "reason"]
        .iter()
        .find_map(|name| object.get(*name)?.as_str())
        .map(str::to_owned);
    let status = object.get("status").or_else(|| object.get("ok")).and_then(word)?;
    Some(PartHealth { status, detail })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_are_parsed_from_strings_and_objects() {
        let parts = parts(&json!({ "status": "error", "database": "ok", "queue": true,
            "browser": { "status": "off", "message": "no browser configured" } }));
        let words: Vec<_> = parts
            .iter()
            .map(|(name, part)| (name.as_str(), part.status.as_str()))
            .collect();
        assert_eq!(words, [("browser", "off"), ("database", "ok"), ("queue", "ok")]);
        assert_eq!(parts["browser"].detail.as_deref(), Some("no browser configured"));
    }
}
