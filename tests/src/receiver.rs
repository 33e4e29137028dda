//! A receiver of webhooks in this process: writes down every delivery, and answers as a test says.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::serve::serve;

/// Longest time for anything that must happen; passing it is a failure, never a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// One delivery as it came.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Path that it was sent to.
    pub path: String,
    /// Its header fields.
    pub headers: HeaderMap,
    /// The exact body.
    pub body: Bytes,
    /// The body as JSON.
    pub json: Value,
    /// 1 for the first delivery with this `webhookId`.
    pub attempt: usize,
}

impl Delivery {
    /// `type` of the body.
    pub fn event(&self) -> &str {
        self.json["type"].as_str().unwrap_or_default()
    }

    /// `webhookId` of the body.
    pub fn webhook_id(&self) -> &str {
        self.json["webhookId"].as_str().unwrap_or_default()
    }

    /// A header field, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Whether this header field is the signature of the body under a secret.
    pub fn is_signed(&self, header: &str, secret: &str) -> bool {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes every key");
        mac.update(&self.body);
        let expected: String = mac
            .finalize()
            .into_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.header(header) == format!("sha256={expected}")
    }
}

/// What a receiver does with a delivery.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers with this status.
    Status(u16),
    /// Redirects to this address.
    Redirect(String),
    /// Acknowledges once the test says so ([`Receiver::release`]).
    Held,
}

/// A receiver that answers until it is dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    deliveries: watch::Sender<Vec<Delivery>>,
    released: watch::Sender<bool>,
    reply: Box<dyn Fn(&Delivery) -> Reply + Send + Sync>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// A receiver that acknowledges everything.
    pub async fn start() -> Receiver {
        Receiver::replying(|_| Reply::Status(200)).await
    }

    /// A receiver with its own mind.
    pub async fn replying(reply: impl Fn(&Delivery) -> Reply + Send + Sync + 'static) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let shared = Arc::new(Shared {
            deliveries: watch::Sender::default(),
            released: watch::Sender::new(false),
            reply: Box::new(reply),
        });
        let answering = shared.clone();
        let task = serve(listener, move |request| answer(answering.clone(), request));
        Receiver {
            address,
            shared,
            task,
        }
    }

    /// An address of it.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Every delivery so far, in order.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.shared.deliveries.borrow().clone()
    }

    /// Acknowledges what is held, and whatever else would be.
    pub fn release(&self) {
        self.shared.released.send_replace(true);
    }

    /// Waits until the deliveries are as wanted; all of them.
    ///
    /// # Panics
    /// When they never are, with what came.
    pub async fn wait_until(&self, wanted: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        let mut deliveries = self.shared.deliveries.subscribe();
        let waiting = deliveries.wait_for(|deliveries| wanted(deliveries));
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(Ok(deliveries)) => deliveries.clone(),
            _ => panic!("other deliveries were expected than {:#?}", self.deliveries()),
        }
    }

    /// Waits for a delivery of this event; everything so far.
    pub async fn wait_for(&self, event: &str) -> Vec<Delivery> {
        self.wait_until(|deliveries| deliveries.iter().any(|delivery| delivery.event() == event))
            .await
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
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
        let earlier = deliveries
            .iter()
            .filter(|earlier| earlier.webhook_id() == delivery.webhook_id());
        delivery.attempt = earlier.count() + 1;
        deliveries.push(delivery.clone());
    });
    match (shared.reply)(&delivery) {
        Reply::Status(code) => status(code),
        Reply::Redirect(to) => {
            let mut response = status(307);
            let location = to.parse().expect("the test gives an address");
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
    *response.status_mut() = code.try_into().expect("the test gives a status");
    response
}
