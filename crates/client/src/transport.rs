//! Sends one request over `fetch` and classifies the response.

use gloo_net::http::{Method, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::{AbortSignal, FormData};

use crate::error::ClientError;

/// The API of one server for one key. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    base: String,
    key: Option<String>,
    signal: Option<AbortSignal>,
}

impl Client {
    /// Creates a client. `base` is the URL of the server (`https://host:port`); `key` is `None` in open mode.
    pub fn new(base: impl Into<String>, key: Option<String>) -> Self {
        let base: String = base.into();
        Self {
            base: base.trim_end_matches('/').to_owned(),
            key,
            signal: None,
        }
    }

    /// Returns a client whose requests fail with [`ClientError::Aborted`] when `signal` is aborted.
    pub fn with_signal(&self, signal: AbortSignal) -> Self {
        Self {
            signal: Some(signal),
            ..self.clone()
        }
    }

    /// Returns the URL of the server without a trailing slash.
    pub fn base(&self) -> &str {
        &self.base
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::DELETE, path, None).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.send(Method::POST, path, Some(Content::Json(json_text(body)?)))
            .await
    }

    pub(crate) async fn post_form<T: DeserializeOwned>(
        &self,
        path: &str,
        form: FormData,
    ) -> Result<T, ClientError> {
        self.send(Method::POST, path, Some(Content::Form(form))).await
    }

    pub(crate) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.send(Method::PATCH, path, Some(Content::Json(json_text(body)?)))
            .await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        content: Option<Content>,
    ) -> Result<T, ClientError> {
        let response = self.exchange(method, path, content).await?;
        if !(200..300).contains(&response.status) {
            return Err(ClientError::from_response(
                response.status,
                response.retry_after_s,
                &response.body,
                self.key.as_deref(),
            ));
        }
        response.json()
    }

    /// Sends a request and returns the response, whatever its status.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        path: &str,
        content: Option<Content>,
    ) -> Result<Response, ClientError> {
        let mut request = RequestBuilder::new(&format!("{}{path}", self.base))
            .method(method)
            .abort_signal(self.signal.as_ref());
        if let Some(key) = &self.key {
            if !is_header_text(key) {
                return Err(ClientError::unsendable_key(key));
            }
            request = request.header("Authorization", &format!("Bearer {key}"));
        }
        let request = match content {
            Some(Content::Json(text)) => request.header("Content-Type", "application/json").body(text),
            // The browser sets the content type, which has the boundary of the parts.
            Some(Content::Form(form)) => request.body(form),
            None => request.build(),
        };
        let response = request
            .map_err(|error| self.network_error(&error))?
            .send()
            .await
            .map_err(|error| self.network_error(&error))?;
        Ok(Response {
            status: response.status(),
            retry_after_s: response
                .headers()
                .get("Retry-After")
                .and_then(|value| value.parse().ok()),
            body: response
                .text()
                .await
                .map_err(|error| self.network_error(&error))?,
        })
    }

    fn network_error(&self, error: &gloo_net::Error) -> ClientError {
        if self.signal.as_ref().is_some_and(AbortSignal::aborted) {
            return ClientError::Aborted;
        }
        ClientError::Network(error.to_string())
    }
}

pub(crate) fn json_text(body: &impl Serialize) -> Result<String, ClientError> {
    serde_json::to_string(body)
        .map_err(|error| ClientError::Network(format!("cannot serialize the request: {error}")))
}

/// Returns whether an HTTP header can carry a text. Setting one that cannot would panic.
fn is_header_text(text: &str) -> bool {
    text.chars()
        .all(|letter| matches!(letter, '\t' | ' '..='~' | '\u{80}'..='\u{ff}'))
}

/// What a request sends.
pub(crate) enum Content {
    /// A JSON body.
    Json(String),
    /// A form with a file.
    Form(FormData),
}

/// A response.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) retry_after_s: Option<u32>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
        serde_json::from_str(&self.body)
            .map_err(|error| ClientError::unreadable(self.status, &error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::is_header_text;

    #[test]
    fn a_key_that_no_header_can_carry_is_recognized() {
        assert!(is_header_text("fc-0123"));
        for bad in ["fc-\n", "fc-\0", "fc-\u{7f}", "fc-\u{1f577}"] {
            assert!(!is_header_text(bad), "{bad:?}");
        }
    }
}
