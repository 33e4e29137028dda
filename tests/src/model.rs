//! A language model in this process: replies to chat completions as a test defines, and records its requests.

use serde_json::{Value, json};

use crate::json_service::{JsonService, ReceivedRequest, Reply};

/// Chat completion request.
pub type ModelRequest = ReceivedRequest;

impl ModelRequest {
    /// Returns the texts of all messages, in order.
    pub fn texts(&self) -> Vec<&str> {
        let messages = self.json["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let texts = messages.iter().filter_map(|message| message["content"].as_str());
        texts.collect()
    }

    /// Returns the last message.
    pub fn last(&self) -> &str {
        self.texts().last().copied().unwrap_or_default()
    }

    /// Returns the element reference in the line of the last message that contains `words`.
    pub fn reference(&self, words: &str) -> String {
        let line = self
            .last()
            .lines()
            .find(|line| line.contains(words) && line.contains("ref="));
        let line = line.unwrap_or_else(|| panic!("no `{words}` in {}", self.last()));
        let behind = line.split("ref=").nth(1).unwrap_or_default();
        behind.split(']').next().unwrap_or_default().to_owned()
    }
}

/// Reply of the model.
#[derive(Clone, Debug)]
pub enum ModelReply {
    /// Tool calls: name and arguments.
    Calls(Vec<(&'static str, Value)>),
    /// A tool call with these exact arguments as text.
    RawCall(&'static str, &'static str),
    /// A text message.
    Text(&'static str),
    /// An HTTP status and body instead of a message, with `Retry-After: 0`.
    Status(u16, &'static str),
    /// No reply.
    Silence,
}

impl ModelReply {
    /// Creates a reply with one tool call.
    pub fn call(name: &'static str, arguments: Value) -> ModelReply {
        ModelReply::Calls(vec![(name, arguments)])
    }

    /// Creates a call of the tool `done` with an answer.
    pub fn done(answer: &str) -> ModelReply {
        ModelReply::call("done", json!({ "answer": answer }))
    }
}

impl From<ModelReply> for Reply {
    fn from(reply: ModelReply) -> Self {
        let message = match reply {
            ModelReply::Text(text) => json!({ "role": "assistant", "content": text }),
            ModelReply::RawCall(name, arguments) => calls(&[(name, arguments.to_owned())]),
            ModelReply::Calls(all) => {
                let all: Vec<_> = all
                    .into_iter()
                    .map(|(name, arguments)| (name, arguments.to_string()))
                    .collect();
                calls(&all)
            }
            ModelReply::Status(status, body) => return Reply(Some((status, body.to_owned()))),
            ModelReply::Silence => return Reply(None),
        };
        let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
        let usage = json!({ "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15 });
        (200, json!({ "choices": [choice], "usage": usage })).into()
    }
}

fn calls(all: &[(&str, String)]) -> Value {
    let calls: Vec<Value> = all
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| {
            json!({ "id": format!("call-{at}"), "type": "function", "function": {
                "name": name, "arguments": arguments,
            } })
        })
        .collect();
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

/// A model that runs until it is dropped.
pub struct Model {
    service: JsonService,
    url: String,
}

impl Model {
    /// Starts a model with a reply function.
    pub async fn start(reply: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> Model {
        let service = JsonService::start(reply).await;
        let url = format!("{}/v1", service.url());
        Model { service, url }
    }

    /// Returns the settings of a server that uses the model.
    pub fn settings(&self) -> [(&'static str, &str); 2] {
        [
            ("HARVESTMAN_LLM_BASE_URL", &self.url),
            ("HARVESTMAN_LLM_MODEL", "small"),
        ]
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.service.requests()
    }
}
