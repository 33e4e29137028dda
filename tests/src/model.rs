//! A language model in this process: answers chat completions as a test says, and writes down what it was asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::serve::serve;

/// One request for a message.
#[derive(Clone, Debug)]
pub struct Question {
    /// 1 for the first.
    pub number: usize,
    /// Its path.
    pub path: String,
    /// Its header fields.
    pub headers: HeaderMap,
    /// Its body.
    pub json: Value,
}

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

/// A model that answers until it is dropped.
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    questions: Mutex<Vec<Question>>,
    says: Box<dyn Fn(&Question) -> Said + Send + Sync>,
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Model {
    /// A model with its own mind.
    pub async fn start(says: impl Fn(&Question) -> Said + Send + Sync + 'static) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let shared = Arc::new(Shared {
            questions: Mutex::default(),
            says: Box::new(says),
        });
        let answering = shared.clone();
        let task = serve(listener, move |request| answer(answering.clone(), request));
        Model {
            address,
            shared,
            task,
        }
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Everything that it was asked so far.
    pub fn questions(&self) -> Vec<Question> {
        self.shared.questions().clone()
    }
}

impl Shared {
    fn questions(&self) -> std::sync::MutexGuard<'_, Vec<Question>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let mut question = Question {
        number: 0,
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        json: serde_json::from_slice(&body).unwrap_or_default(),
    };
    {
        let mut questions = shared.questions();
        question.number = questions.len() + 1;
        questions.push(question.clone());
    }
    let message = match (shared.says)(&question) {
        Said::Text(text) => json!({ "role": "assistant", "content": text }),
        Said::RawCall(name, arguments) => calls(&[(name, arguments.to_owned())]),
        Said::Calls(all) => {
            let all: Vec<_> = all
                .into_iter()
                .map(|(name, arguments)| (name, arguments.to_string()))
                .collect();
            calls(&all)
        }
        Said::Status(status, body) => return response(status, body.to_owned()),
        Said::Silence => std::future::pending().await,
    };
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15 });
    let body = json!({ "choices": [choice], "usage": usage });
    response(200, body.to_string())
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

fn response(status: u16, body: String) -> Response<Full<Bytes>> {
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("retry-after", "0");
    response
        .body(Full::new(Bytes::from(body)))
        .expect("the test gives a status")
}
