//! A service that speaks JSON, in this process: answers as a test says, and writes down what it was asked.

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

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// 1 for the first.
    pub number: usize,
    /// Its path without the query.
    pub path: String,
    /// The query.
    pub query: BTreeMap<String, String>,
    /// Its header fields.
    pub headers: HeaderMap,
    /// Its body; null when it has none.
    pub json: Value,
}

/// An answer: status and body; none is silence for ever.
#[derive(Debug)]
pub struct Reply(pub(crate) Option<(u16, String)>);

impl From<(u16, Value)> for Reply {
    fn from((status, json): (u16, Value)) -> Self {
        Reply(Some((status, json.to_string())))
    }
}

/// A service that answers until it is dropped.
pub struct JsonService {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

/// What a test has a service say.
type Answers = dyn Fn(&Asked) -> Reply + Send + Sync;

impl Drop for JsonService {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl JsonService {
    /// A service with these answers.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start<R: Into<Reply>>(answers: impl Fn(&Asked) -> R + Send + Sync + 'static) -> JsonService {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let asked = Arc::new(Mutex::default());
        let answers: Arc<Answers> = Arc::new(move |asked| answers(asked).into());
        let noted = asked.clone();
        let task = serve(listener, move |request| {
            answer(noted.clone(), answers.clone(), request)
        });
        JsonService { address, asked, task }
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(
    noted: Arc<Mutex<Vec<Asked>>>,
    answers: Arc<Answers>,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    let mut asked = Asked {
        number: 0,
        path: parts.uri.path().to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        headers: parts.headers,
        json: serde_json::from_slice(&body).unwrap_or_default(),
    };
    {
        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        asked.number = noted.len() + 1;
        noted.push(asked.clone());
    }
    let Some((status, body)) = answers(&asked).0 else {
        return std::future::pending().await;
    };
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("retry-after", "0");
    response
        .body(Full::new(Bytes::from(body)))
        .expect("the test gives a status")
}
