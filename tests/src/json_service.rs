//! A JSON service in this process: replies as a test defines, and records its requests.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::serve::serve;

/// Recorded request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// Number of the request, from 1.
    pub number: usize,
    /// Path without the query.
    pub path: String,
    /// Parameters of the query.
    pub query: BTreeMap<String, String>,
    /// Header fields.
    pub headers: HeaderMap,
    /// JSON body; null if there is none.
    pub json: Value,
}

/// Reply with status and body; none to never reply.
#[derive(Debug)]
pub struct Reply(pub(crate) Option<(u16, String)>);

impl From<(u16, Value)> for Reply {
    fn from((status, json): (u16, Value)) -> Self {
        Reply(Some((status, json.to_string())))
    }
}

/// A service that runs until it is dropped.
pub struct JsonService {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    _task: AbortOnDropHandle<()>,
}

/// Reply function of a test.
type ReplyFunction = dyn Fn(&ReceivedRequest) -> Reply + Send + Sync;

impl JsonService {
    /// Starts a service with a reply function.
    pub async fn start<R: Into<Reply>>(
        reply: impl Fn(&ReceivedRequest) -> R + Send + Sync + 'static,
    ) -> JsonService {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let requests = Arc::new(Mutex::default());
        let reply: Arc<ReplyFunction> = Arc::new(move |request| reply(request).into());
        let recorded = requests.clone();
        let task = serve(listener, move |request| {
            respond(recorded.clone(), reply.clone(), request)
        });
        JsonService {
            address,
            requests,
            _task: task,
        }
    }

    /// Returns the base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().clone()
    }
}

async fn respond(
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    reply: Arc<ReplyFunction>,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    let mut received = ReceivedRequest {
        number: 0,
        path: parts.uri.path().to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        headers: parts.headers,
        json: serde_json::from_slice(&body).unwrap_or_default(),
    };
    {
        let mut requests = requests.lock();
        received.number = requests.len() + 1;
        requests.push(received.clone());
    }
    let Some((status, body)) = reply(&received).0 else {
        return std::future::pending().await;
    };
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("retry-after", "0");
    response
        .body(Full::new(Bytes::from(body)))
        .expect("the test defines a valid status")
}
