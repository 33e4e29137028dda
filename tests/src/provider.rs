//! A search provider in this process: answers as a test says, and writes down what it was asked.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::serve::serve;

/// One request for results.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its path without the query.
    pub path: String,
    /// The query.
    pub query: BTreeMap<String, String>,
    /// Its header fields.
    pub headers: HeaderMap,
    /// Its body; null when it has none.
    pub json: Value,
}

/// A provider that answers until it is dropped.
pub struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// What a test has a provider say: status and JSON.
type Answers = dyn Fn(&Asked) -> (u16, Value) + Send + Sync;

struct Shared {
    asked: Mutex<Vec<Asked>>,
    answers: Box<Answers>,
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Provider {
    /// A provider with these answers: status and JSON.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start(answers: impl Fn(&Asked) -> (u16, Value) + Send + Sync + 'static) -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let shared = Arc::new(Shared {
            asked: Mutex::default(),
            answers: Box::new(answers),
        });
        let answering = shared.clone();
        let task = serve(listener, move |request| answer(answering.clone(), request));
        Provider {
            address,
            shared,
            task,
        }
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    let asked = Asked {
        path: parts.uri.path().to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        headers: parts.headers,
        json: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let (status, json) = (shared.answers)(&asked);
    shared
        .asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(asked);
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    response
        .body(Full::new(Bytes::from(json.to_string())))
        .expect("the test gives a status")
}
