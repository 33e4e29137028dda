//! The operator's language model, behind any endpoint that speaks chat completions.
//!
//! [`Llm::chat`] sends one conversation and returns the model's next message: text, tool calls, or both.
//! [`Llm::chat_json`] returns a JSON object that should match a schema. Transient failures are retried until
//! the deadline; replies are bounded in size and never trusted. Keys and conversations are never logged.
//! Prompts, and the effects of tool calls, are defined elsewhere.

mod json;
mod untrusted;
mod wire;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use harvestman_core::api::support::ModelUsage;
use harvestman_fetch::{FetchError, FetchRequest, Fetcher};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::health::Health;
use crate::limits;
use crate::site_response::retry_after_ms;

/// Connection settings of the model.
#[derive(Clone, PartialEq, Eq)]
pub struct LlmConfig {
    /// Base URL of the API, such as `https://models.example/v1`.
    pub base_url: Url,
    /// API key, sent as a bearer token.
    pub api_key: Option<String>,
    /// Model name.
    pub model: String,
}

/// Omits the API key.
impl std::fmt::Debug for LlmConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LlmConfig")
            .field("base_url", &self.base_url.as_str())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A client of one model. Cheap to clone.
#[derive(Clone)]
pub struct Llm {
    shared: Arc<Shared>,
}

struct Shared {
    fetcher: Fetcher,
    config: LlmConfig,
    endpoint: Url,
    /// Time limit of one attempt.
    attempt_time: Duration,
    health: Health,
}

impl std::fmt::Debug for Llm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shared.config.fmt(f)
    }
}

pub(crate) use json::{JsonReply, ReplyFormat};
pub(crate) use untrusted::mark_untrusted;

/// A message of a conversation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// Instructions for the model.
    System(String),
    /// The user's message.
    User(String),
    /// A reply of the model.
    Assistant(Reply),
    /// The result of a tool call.
    Tool {
        /// Id of the tool call.
        id: String,
        /// The result.
        text: String,
    },
}

impl Message {
    /// A reply that consists of text only.
    pub(crate) fn assistant(text: String) -> Self {
        Self::Assistant(Reply {
            text: Some(text),
            ..Reply::default()
        })
    }
}

/// A function that the model may call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// JSON Schema of its arguments.
    pub(crate) parameters: Value,
}

/// The next message of the model.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<ToolCall>,
    /// The model reached its limit of tokens.
    pub(crate) is_cut_off: bool,
}

/// A call of a tool by the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON text as the model wrote it; may be invalid.
    pub(crate) arguments: String,
}

/// Why the model gave no reply. The texts also follow "because".
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum LlmError {
    /// The deadline passed.
    #[error("the language model did not respond in time")]
    Timeout,
    /// The endpoint cannot be reached.
    #[error("the language model cannot be reached: {0}")]
    Unreachable(String),
    /// The endpoint returned an error status.
    #[error("the language model returned status {status}{}", suffix(.message))]
    Status {
        /// HTTP status.
        status: u16,
        /// Error message of the endpoint; may be empty.
        message: String,
    },
    /// The response does not follow the protocol.
    #[error("the language model's response cannot be read: {0}")]
    Unreadable(String),
}

impl LlmError {
    /// Returns whether the model is at fault, not a request with too short a deadline or too much content.
    fn is_model_fault(&self) -> bool {
        let is_request_fault = matches!(
            self,
            LlmError::Timeout
                | LlmError::Status {
                    status: 400 | 413 | 422,
                    ..
                }
        );
        !is_request_fault
    }
}

fn suffix(message: &str) -> String {
    match message {
        "" => String::new(),
        message => format!(": {message}"),
    }
}

impl Llm {
    /// Creates a client that sends its requests through `fetcher`, which must be allowed to reach the
    /// endpoint.
    pub fn new(fetcher: Fetcher, config: LlmConfig) -> Llm {
        let endpoint = endpoint(&config.base_url);
        Llm {
            shared: Arc::new(Shared {
                fetcher,
                config,
                endpoint,
                attempt_time: limits::LLM_TIMEOUT,
                health: Health::default(),
            }),
        }
    }

    /// Returns the name of the model.
    pub(crate) fn model(&self) -> &str {
        &self.shared.config.model
    }

    /// Returns whether the last request succeeded.
    pub(crate) fn is_healthy(&self) -> bool {
        self.shared.health.is_healthy()
    }

    /// Sends a conversation and returns the model's next message.
    ///
    /// # Errors
    /// Any [`LlmError`]; transient ones only after retries.
    pub(crate) async fn chat(
        &self,
        messages: &[Message],
        tools: &[Tool],
        deadline: Instant,
    ) -> Result<Reply, LlmError> {
        let body = wire::request(&self.shared.config.model, messages, tools);
        self.send(&body, deadline).await.map(|(reply, _)| reply)
    }

    /// Sends a request, with retries, and returns the reply and the tokens used.
    async fn send(&self, body: &Value, deadline: Instant) -> Result<(Reply, ModelUsage), LlmError> {
        let body = body.to_string();
        let mut pause = limits::LLM_RETRY;
        for attempt in 1.. {
            let failure = match self.attempt(&body, deadline).await {
                Ok(reply) => {
                    self.shared.health.record(true);
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            if failure.error.is_model_fault() {
                self.shared.health.record(false);
            }
            let wait = failure.retry_after.unwrap_or(pause);
            let last = attempt == limits::LLM_ATTEMPTS || wait > limits::LLM_RETRY_MAX;
            if !failure.transient || last || Instant::now() + wait >= deadline {
                return Err(failure.error);
            }
            tracing::debug!(attempt, error = %failure.error, "retrying a request to the language model");
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(limits::LLM_RETRY_MAX);
        }
        Err(LlmError::Timeout)
    }

    async fn attempt(&self, body: &str, deadline: Instant) -> Result<(Reply, ModelUsage), AttemptError> {
        let Shared {
            fetcher,
            config,
            endpoint,
            attempt_time,
            ..
        } = &*self.shared;
        let end = deadline.min(Instant::now() + *attempt_time);
        let mut request = FetchRequest::post_json(endpoint.clone(), body.to_owned().into(), end.into_std());
        request.max_body_bytes = limits::LLM_RESPONSE_BYTES;
        request
            .headers
            .push(("Accept".to_owned(), "application/json".to_owned()));
        if let Some(key) = &config.api_key {
            request
                .headers
                .push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        let response = fetcher.fetch(request).await?;
        if (200..300).contains(&response.status) {
            return wire::reply(&response.body).map_err(|why| AttemptError {
                error: LlmError::Unreadable(why),
                transient: true,
                retry_after: None,
            });
        }
        Err(AttemptError {
            transient: matches!(response.status, 408 | 409 | 429 | 500..=599),
            retry_after: retry_after_ms(&response.headers, SystemTime::now()).map(Duration::from_millis),
            error: LlmError::Status {
                status: response.status,
                message: wire::error_message(&response.body),
            },
        })
    }
}

/// A failed attempt.
struct AttemptError {
    error: LlmError,
    /// Whether another attempt may succeed.
    transient: bool,
    /// How long the endpoint asks clients to wait.
    retry_after: Option<Duration>,
}

impl From<FetchError> for AttemptError {
    fn from(error: FetchError) -> Self {
        let transient = matches!(
            error,
            FetchError::Timeout
                | FetchError::Connect { .. }
                | FetchError::Reset { .. }
                | FetchError::Dns { transient: true, .. }
        );
        Self {
            error: match error {
                FetchError::Timeout => LlmError::Timeout,
                error => LlmError::Unreachable(error.to_string()),
            },
            transient,
            retry_after: None,
        }
    }
}

/// Returns the URL that conversations are sent to.
fn endpoint(base: &Url) -> Url {
    const PATH: &str = "/chat/completions";
    let mut endpoint = base.clone();
    let path = base.path().trim_end_matches('/');
    if !path.ends_with(PATH) {
        endpoint.set_path(&format!("{path}{PATH}"));
    }
    endpoint
}

#[cfg(test)]
mod tests;
