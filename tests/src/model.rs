//! A language model in this process: answers chat completions as a test says, and writes down what it was asked.

use serde_json::{Value, json};

use crate::json_service::{Asked, JsonService, Reply};

/// One request for a message.
pub type Question = Asked;

impl Question {
    /// The texts of all messages, in order.
    pub fn texts(&self) -> Vec<&str> {
        let messages = self.json["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let texts = messages.iter().filter_map(|message| message["content"].as_str());
        texts.collect()
    }

    /// The last message.
    pub fn last(&self) -> &str {
        self.texts().last().copied().unwrap_or_default()
    }

    /// The reference of the line of the last message that has these words.
    ///
    /// # Panics
    /// When there is none, with the message.
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

/// What the model says.
#[derive(Clone, Debug)]
pub enum Said {
    /// Calls of tools: name and arguments.
    Calls(Vec<(&'static str, Value)>),
    /// A call with these very arguments.
    RawCall(&'static str, &'static str),
    /// Words alone.
    Text(&'static str),
    /// An answer that is no message: status and body, with `Retry-After: 0`.
    Status(u16, &'static str),
    /// Nothing, for ever.
    Silence,
}

impl Said {
    /// One call.
    pub fn call(name: &'static str, arguments: Value) -> Said {
        Said::Calls(vec![(name, arguments)])
    }

    /// The end, with an answer.
    pub fn done(answer: &str) -> Said {
        Said::call("done", json!({ "answer": answer }))
    }
}

impl From<Said> for Reply {
    fn from(said: Said) -> Self {
        let message = match said {
            Said::Text(text) => json!({ "role": "assistant", "content": text }),
            Said::RawCall(name, arguments) => calls(&[(name, arguments.to_owned())]),
            Said::Calls(all) => {
                let all: Vec<_> = all
                    .into_iter()
                    .map(|(name, arguments)| (name, arguments.to_string()))
                    .collect();
                calls(&all)
            }
            Said::Status(status, body) => return Reply(Some((status, body.to_owned()))),
            Said::Silence => return Reply(None),
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

/// A model that answers until it is dropped.
pub struct Model(JsonService);

impl Model {
    /// A model with its own mind.
    pub async fn start(says: impl Fn(&Question) -> Said + Send + Sync + 'static) -> Model {
        Model(JsonService::start(says).await)
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("{}/v1", self.0.url())
    }

    /// Everything that it was asked so far.
    pub fn questions(&self) -> Vec<Question> {
        self.0.asked()
    }
}
