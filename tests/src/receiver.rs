//! A webhook receiver in this process: records every delivery and replies as a test defines.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use parking_lot::Mutex;
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::serve::serve;

/// Time limit for waits. It is generous: reaching it means failure and is never a measurement.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Recorded delivery.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Path of the request.
    pub path: String,
    /// Header fields.
    pub headers: HeaderMap,
    /// Raw body.
    pub body: Bytes,
    /// Body as JSON.
    pub json: Value,
    /// Number of the attempt with this `webhookId`, from 1.
    pub attempt: usize,
}

impl Delivery {
    /// Returns `type` of the body.
    pub fn event(&self) -> &str {
        self.json["type"].as_str().unwrap_or_default()
    }

    /// Returns `webhookId` of the body.
    pub fn webhook_id(&self) -> &str {
        self.json["webhookId"].as_str().unwrap_or_default()
    }

    /// Returns a header field, or an empty string.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns whether this header field is the signature of the body with a secret.
    pub fn is_signed(&self, header: &str, secret: &str) -> bool {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC accepts keys of any length");
        mac.update(&self.body);
        let expected = hex::encode(mac.finalize().into_bytes());
        self.header(header) == format!("sha256={expected}")
    }
}

/// Reply of a receiver.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Replies with this status.
    Status(u16),
    /// Redirects to this URL.
    Redirect(String),
    /// Acknowledges only after [`Receiver::release`].
    Held,
}

/// A receiver that runs until it is dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    _task: AbortOnDropHandle<()>,
}

struct Shared {
    deliveries: watch::Sender<Vec<Delivery>>,
    /// Attempts so far by `webhookId`.
    attempts: Mutex<HashMap<String, usize>>,
    released: watch::Sender<bool>,
    reply: Box<dyn Fn(&Delivery) -> Reply + Send + Sync>,
}

impl Receiver {
    /// Starts a receiver that acknowledges every delivery.
    pub async fn start() -> Receiver {
        Receiver::replying(|_| Reply::Status(200)).await
    }

    /// Starts a receiver with a reply function.
    pub async fn replying(reply: impl Fn(&Delivery) -> Reply + Send + Sync + 'static) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let shared = Arc::new(Shared {
            deliveries: watch::Sender::default(),
            attempts: Mutex::default(),
            released: watch::Sender::new(false),
            reply: Box::new(reply),
        });
        let state = shared.clone();
        let task = serve(listener, move |request| respond(state.clone(), request));
        Receiver {
            address,
            shared,
            _task: task,
        }
    }

    /// Returns the webhook URL.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Returns every delivery so far, in order.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.shared.deliveries.borrow().clone()
    }

    /// Calls `read` with every delivery so far, in order.
    pub fn read<T>(&self, read: impl FnOnce(&[Delivery]) -> T) -> T {
        read(&self.shared.deliveries.borrow())
    }

    /// Acknowledges held deliveries, and all later ones at once.
    pub fn release(&self) {
        self.shared.released.send_replace(true);
    }

    /// Waits until `wanted` accepts the deliveries, and returns all of them.
    ///
    /// # Panics
    /// After the time limit, with the deliveries so far.
    pub async fn wait_until(&self, wanted: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        let mut deliveries = self.shared.deliveries.subscribe();
        let waiting = deliveries.wait_for(|deliveries| wanted(deliveries));
        match tokio::time::timeout(TIMEOUT, waiting).await {
            Ok(Ok(deliveries)) => deliveries.clone(),
            _ => panic!(
                "the expected deliveries did not arrive; received {:#?}",
                self.deliveries()
            ),
        }
    }

    /// Waits for a delivery of this event, and returns all deliveries so far.
    pub async fn wait_for(&self, event: &str) -> Vec<Delivery> {
        self.wait_until(|deliveries| deliveries.iter().any(|delivery| delivery.event() == event))
            .await
    }
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return status(400);
    };
    let body = body.to_bytes();
    let json: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let mut delivery = Delivery {
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        json,
        body,
        attempt: 0,
    };
    shared.deliveries.send_modify(|deliveries| {
        let mut attempts = shared.attempts.lock();
        let attempt = attempts.entry(delivery.webhook_id().to_owned()).or_default();
        *attempt += 1;
        delivery.attempt = *attempt;
        deliveries.push(delivery.clone());
    });
    match (shared.reply)(&delivery) {
        Reply::Status(code) => status(code),
        Reply::Redirect(to) => {
            let mut response = status(307);
            let location = to.parse().expect("the test defines a valid URL");
            response.headers_mut().insert("location", location);
            response
        }
        Reply::Held => {
            let mut released = shared.released.subscribe();
            let _ = released.wait_for(|released| *released).await;
            status(200)
        }
    }
}

fn status(code: u16) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = code.try_into().expect("the test defines a valid status");
    response
}
