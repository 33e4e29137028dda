//! The operator's language model, behind any endpoint that speaks chat completions.
//!
//! [`Llm::chat`] sends one conversation and gives the model's next message: words, tool calls, or both;
//! [`Llm::chat_json`] one that has the form of a JSON schema. Passing
//! failures are repeated until the caller's deadline; what comes back is bounded and never trusted. Keys and
//! conversations are never logged. What the model is asked, and what its calls lead to, is not known here.

mod json;
mod marked;
mod wire;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use harvestman_core::api::support::ModelUsage;
use harvestman_fetch::{FetchError, FetchRequest, Fetcher};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::answer::retry_after_ms;
use crate::limits;
use crate::works::Works;

/// Where the model is.
#[derive(Clone, PartialEq, Eq)]
pub struct LlmConfig {
    /// Base address of the protocol, such as `https://models.example/v1`.
    pub base_url: Url,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
    /// Name of the model.
    pub model: String,
}

/// Keys are shown to nobody.
impl std::fmt::Debug for LlmConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LlmConfig")
            .field("base_url", &self.base_url.as_str())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A client of one model; cheap to clone.
#[derive(Clone)]
pub struct Llm {
    shared: Arc<Shared>,
}

struct Shared {
    fetcher: Fetcher,
    config: LlmConfig,
    endpoint: Url,
    works: Works,
}

impl std::fmt::Debug for Llm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shared.config.fmt(f)
    }
}

pub(crate) use json::{Form, JsonReply};
pub(crate) use marked::marked;

/// A message of a conversation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// What the model is told to be.
    System(String),
    /// What is asked of it.
    User(String),
    /// What it said.
    Assistant(Reply),
    /// What came of one of its calls.
    Tool {
        /// Id of the call.
        id: String,
        /// The result.
        text: String,
    },
}

impl Message {
    /// Words of the model.
    pub(crate) fn said(text: String) -> Self {
        Self::Assistant(Reply {
            text: Some(text),
            calls: Vec::new(),
        })
    }
}

/// A function that the model may call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// JSON schema of its arguments.
    pub(crate) parameters: Value,
}

/// The next message of the model.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<ToolCall>,
}

/// A call that the model makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON as the model wrote it, which may be none.
    pub(crate) arguments: String,
}

/// Why the model gave no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum LlmError {
    /// The deadline passed.
    #[error("the language model did not answer in the time given")]
    Timeout,
    /// It cannot be reached.
    #[error("the language model cannot be reached: {0}")]
    Unreachable(String),
    /// It answered with an error.
    #[error("the language model answered {status}{}", said(.message))]
    Refused {
        /// Status of the answer.
        status: u16,
        /// What it said; may be empty.
        message: String,
    },
    /// Its answer is not one of the protocol.
    #[error("the language model gave an answer that cannot be read: {0}")]
    Unreadable(String),
}

impl LlmError {
    /// Whether it is the model that does not work, not the caller who gave too little time or asked too much.
    fn is_its_own(&self) -> bool {
        let of_the_caller = matches!(
            self,
            LlmError::Timeout
                | LlmError::Refused {
                    status: 400 | 413 | 422,
                    ..
                }
        );
        !of_the_caller
    }
}

fn said(message: &str) -> String {
    match message {
        "" => String::new(),
        message => format!(": {message}"),
    }
}

impl Llm {
    /// A model behind `fetcher`, which must be allowed to reach it.
    pub fn new(fetcher: Fetcher, config: LlmConfig) -> Llm {
        let endpoint = endpoint(&config.base_url);
        Llm {
            shared: Arc::new(Shared {
                fetcher,
                config,
                endpoint,
                works: Works::default(),
            }),
        }
    }

    /// Whether it answered when it was last asked.
    pub(crate) fn works(&self) -> bool {
        self.shared.works.get()
    }

    /// The model's next message.
    ///
    /// # Errors
    /// Every [`LlmError`]; passing ones only after repeats.
    pub(crate) async fn chat(
        &self,
        messages: &[Message],
        tools: &[Tool],
        deadline: Instant,
    ) -> Result<Reply, LlmError> {
        let body = wire::request(&self.shared.config.model, messages, tools);
        self.converse(&body, deadline).await.map(|(reply, _)| reply)
    }

    /// The answer to a request of the protocol, and what it used.
    async fn converse(&self, body: &Value, deadline: Instant) -> Result<(Reply, ModelUsage), LlmError> {
        let body = body.to_string();
        let mut pause = limits::LLM_RETRY;
        for attempt in 1.. {
            let failure = match self.attempt(&body, deadline).await {
                Ok(answer) => {
                    self.shared.works.note(true);
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            if failure.error.is_its_own() {
                self.shared.works.note(false);
            }
            let wait = failure.wait.unwrap_or(pause);
            let last = attempt == limits::LLM_ATTEMPTS || wait > limits::LLM_RETRY_MAX;
            if !failure.passing || last || Instant::now() + wait >= deadline {
                return Err(failure.error);
            }
            tracing::debug!(attempt, error = %failure.error, "the language model is asked again");
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(limits::LLM_RETRY_MAX);
        }
        Err(LlmError::Timeout)
    }

    async fn attempt(&self, body: &str, deadline: Instant) -> Result<(Reply, ModelUsage), Failure> {
        let Shared {
            fetcher,
            config,
            endpoint,
            ..
        } = &*self.shared;
        let end = deadline.min(Instant::now() + limits::LLM_TIMEOUT);
        let mut request = FetchRequest::post_json(endpoint.clone(), body.to_owned().into(), end.into_std());
        request.max_body_bytes = limits::LLM_ANSWER_BYTES;
        request
            .headers
            .push(("Accept".to_owned(), "application/json".to_owned()));
        if let Some(key) = &config.api_key {
            request
                .headers
                .push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        let answer = fetcher.fetch(request).await?;
        if (200..300).contains(&answer.status) {
            return wire::reply(&answer.body).map_err(|why| Failure {
                error: LlmError::Unreadable(why),
                passing: true,
                wait: None,
            });
        }
        Err(Failure {
            passing: matches!(answer.status, 408 | 409 | 429 | 500..=599),
            wait: retry_after_ms(&answer.headers, SystemTime::now()).map(Duration::from_millis),
            error: LlmError::Refused {
                status: answer.status,
                message: wire::error_message(&answer.body),
            },
        })
    }
}

/// One attempt without an answer.
struct Failure {
    error: LlmError,
    /// Whether another attempt may help.
    passing: bool,
    /// How long the endpoint wants to be left alone.
    wait: Option<Duration>,
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        let passing = matches!(
            error,
            FetchError::Connect { .. } | FetchError::Reset { .. } | FetchError::Dns { passing: true, .. }
        );
        Self {
            error: match error {
                FetchError::Timeout => LlmError::Timeout,
                error => LlmError::Unreachable(error.to_string()),
            },
            passing,
            wait: None,
        }
    }
}

/// The address that conversations are sent to.
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
