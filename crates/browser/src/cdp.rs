//! The Chrome DevTools Protocol over a pipe: JSON messages, each terminated by a zero byte.
//!
//! A [`Connection`] numbers commands, matches responses, and forwards events to the [`Session`] that they
//! belong to. Every command has a deadline. When a page crashes, its pending commands fail at once (Chromium
//! never responds to them); when the pipe ends, all do. Unknown events and fields are ignored. Messages of
//! external clients are forwarded unchanged ([`external`]); they never reach a [`Session`] of this
//! crate, and its messages never reach them.

mod external;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::error::BrowserError;
use crate::limits;
use external::ExternalClients;

pub(crate) use external::{CommandResult, Inbox, SERVER_ERROR};

/// The connection to one browser. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    outgoing: mpsc::Sender<Outgoing>,
    /// Bytes that external clients may have queued.
    forward_budget: Arc<Semaphore>,
    last_id: AtomicU64,
    ended: AtomicBool,
    routes: Mutex<Routes>,
    external: Mutex<ExternalClients>,
}

/// A queued command, with its share of the queue.
struct Outgoing {
    bytes: Vec<u8>,
    _budget: Option<OwnedSemaphorePermit>,
}

#[derive(Default)]
struct Routes {
    commands: HashMap<u64, Command>,
    /// Event channels of page sessions.
    sessions: HashMap<String, mpsc::Sender<Event>>,
    /// Event channel of the browser itself.
    browser: Option<mpsc::Sender<Event>>,
}

struct Command {
    session: Option<String>,
    response: oneshot::Sender<Result<Box<RawValue>, BrowserError>>,
    name: &'static str,
}

/// A message of the browser; nested JSON is parsed only when needed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    pub(crate) id: Option<u64>,
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

/// An event of the browser.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) method: String,
    params: Option<Box<RawValue>>,
}

impl Event {
    /// Parses the parameters; `None` if they do not have the expected form.
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(self.params.as_deref()?.get()).ok()
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    message: String,
}

impl Connection {
    /// Starts a connection over the two ends of a pipe, until the browser closes its end.
    pub(crate) fn start(
        from_browser: impl AsyncRead + Send + Unpin + 'static,
        to_browser: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Connection {
        let (outgoing, commands) = mpsc::channel(limits::MAX_WAITING_COMMANDS);
        let shared = Arc::new(Shared {
            outgoing,
            forward_budget: Arc::new(Semaphore::new(limits::MAX_FORWARDED_BYTES)),
            last_id: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            routes: Mutex::default(),
            external: Mutex::default(),
        });
        tokio::spawn(write(commands, to_browser));
        tokio::spawn(read(shared.clone(), from_browser));
        Connection { shared }
    }

    /// Returns whether both are connections to the same process.
    pub(crate) fn is_same(&self, other: &Connection) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns whether the pipe has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.ended.load(Ordering::Acquire)
    }

    /// Fails all pending commands, as if the pipe had ended.
    pub(crate) fn fail_all(&self) {
        self.shared.end();
    }

    /// Sends a command to the browser and waits for the response.
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, BrowserError> {
        let deadline = Instant::now() + limits::COMMAND_TIMEOUT;
        self.shared.call(None, method, params, deadline).await
    }

    /// Sends a command to the browser without waiting for the response; drops it if the queue is full.
    pub(crate) fn post(&self, method: &'static str, params: Value) {
        self.shared.post(None, method, params);
    }

    /// Returns the external clients.
    pub(crate) fn external(&self) -> MutexGuard<'_, ExternalClients> {
        self.shared.external.lock()
    }

    /// Returns an id for a command that is sent with [`Connection::forward`].
    pub(crate) fn next_id(&self) -> u64 {
        self.shared.next_id()
    }

    /// Sends a command of an external client: JSON without the terminating zero byte.
    pub(crate) async fn forward(&self, command: String) -> Result<(), BrowserError> {
        if self.has_ended() {
            return Err(BrowserError::Gone);
        }
        let mut bytes = command.into_bytes();
        bytes.push(0);
        // Every command takes at least this share, so that half of the queue stays free for the server's own
        // commands.
        let share = limits::MAX_FORWARDED_BYTES / (limits::MAX_WAITING_COMMANDS / 2);
        let share_bytes = bytes.len().clamp(share, limits::MAX_FORWARDED_BYTES);
        let share_bytes = u32::try_from(share_bytes).unwrap_or(u32::MAX);
        let forward_budget = self
            .shared
            .forward_budget
            .clone()
            .acquire_many_owned(share_bytes)
            .await;
        let outgoing = Outgoing {
            bytes,
            _budget: Some(forward_budget.expect("the semaphore is never closed")),
        };
        let sent = self.shared.outgoing.send(outgoing).await;
        sent.map_err(|_| BrowserError::Gone)
    }

    /// Attaches to a target (a page).
    pub(crate) async fn attach(
        &self,
        target: &str,
    ) -> Result<(Session, mpsc::Receiver<Event>), BrowserError> {
        let params = json!({"targetId": target, "flatten": true});
        let response = self.call("Target.attachToTarget", params).await?;
        Ok(self.adopt(text(&response, "sessionId")))
    }

    /// Returns a session for a target that the browser attached automatically.
    pub(crate) fn adopt(&self, id: String) -> (Session, mpsc::Receiver<Event>) {
        let (sender, events) = mpsc::channel(limits::MAX_WAITING_EVENTS);
        self.shared.routes.lock().sessions.insert(id.clone(), sender);
        let session = Session {
            shared: self.shared.clone(),
            id,
        };
        (session, events)
    }

    /// Subscribes to events of the browser itself; replaces the previous subscriber.
    pub(crate) fn events(&self) -> mpsc::Receiver<Event> {
        let (sender, events) = mpsc::channel(limits::MAX_WAITING_EVENTS);
        self.shared.routes.lock().browser = Some(sender);
        events
    }
}

/// A session with one page. Its events end when it is dropped.
pub(crate) struct Session {
    shared: Arc<Shared>,
    id: String,
}

impl Session {
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Sends a command to the page and waits for the response, at most [`limits::COMMAND_TIMEOUT`].
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, BrowserError> {
        self.call_until(method, params, Instant::now() + limits::COMMAND_TIMEOUT)
            .await
    }

    /// Sends a command to the page and waits for the response until the deadline.
    pub(crate) async fn call_until(
        &self,
        method: &'static str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, BrowserError> {
        self.shared.call(Some(&self.id), method, params, deadline).await
    }

    /// Sends a command to the page and returns the response as unparsed JSON, because it may be large.
    pub(crate) async fn call_raw_until(
        &self,
        method: &'static str,
        params: Value,
        deadline: Instant,
    ) -> Result<Box<RawValue>, BrowserError> {
        let pending = self.shared.send(Some(&self.id), method, params, deadline).await?;
        pending.raw_response(deadline).await
    }

    /// Sends commands without waiting in between, and returns the result of each.
    pub(crate) async fn call_all(
        &self,
        commands: Vec<(&'static str, Value)>,
    ) -> Result<Vec<Result<Value, BrowserError>>, BrowserError> {
        let deadline = Instant::now() + limits::COMMAND_TIMEOUT;
        let mut sent = Vec::with_capacity(commands.len());
        for (method, params) in commands {
            sent.push(self.shared.send(Some(&self.id), method, params, deadline).await?);
        }
        let mut responses = Vec::with_capacity(sent.len());
        for pending in sent {
            responses.push(pending.response(deadline).await);
        }
        Ok(responses)
    }

    /// Sends a command without waiting for the response; drops it if the queue is full.
    pub(crate) fn post(&self, method: &'static str, params: Value) {
        self.shared.post(Some(&self.id), method, params);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.routes.lock().sessions.remove(&self.id);
    }
}

impl Shared {
    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn post(&self, session: Option<&str>, method: &'static str, params: Value) {
        let message = encode(self.next_id(), session, method, params);
        if self.outgoing.try_send(message).is_err() {
            tracing::debug!(method, "dropping a command to the browser: the queue is full");
        }
    }

    async fn call(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, BrowserError> {
        let pending = self.send(session, method, params, deadline).await?;
        pending.response(deadline).await
    }

    async fn send(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
        deadline: Instant,
    ) -> Result<Pending<'_>, BrowserError> {
        let id = self.next_id();
        let (sender, receiver) = oneshot::channel();
        let command = Command {
            session: session.map(str::to_owned),
            response: sender,
            name: method,
        };
        self.routes.lock().commands.insert(id, command);
        let pending = Pending {
            shared: self,
            id,
            receiver,
        };
        if self.ended.load(Ordering::Acquire) {
            return Err(BrowserError::Gone);
        }
        let message = encode(id, session, method, params);
        timeout_at(deadline, self.outgoing.send(message))
            .await
            .map_err(|_| BrowserError::Timeout)?
            .map_err(|_| BrowserError::Gone)?;
        Ok(pending)
    }

    fn receive(&self, message: &[u8]) {
        let message: Message<'_> = match serde_json::from_slice(message) {
            Ok(message) => message,
            Err(error) => return tracing::debug!(%error, "ignoring an invalid message of the browser"),
        };
        if self.external.lock().receive(&message) {
            return;
        }
        if let Some(id) = message.id {
            self.complete(id, message);
        } else if let Some(method) = message.method {
            self.event(method.into_owned(), message.session_id.as_deref(), message.params);
        }
    }

    fn complete(&self, id: u64, message: Message<'_>) {
        let Some(command) = self.routes.lock().commands.remove(&id) else {
            return;
        };
        let response = match (message.error, message.result) {
            (Some(error), _) => Err(BrowserError::Refused {
                command: command.name.to_owned(),
                reason: serde_json::from_str(error.get())
                    .map_or_else(|_| "no reason given".to_owned(), |ErrorBody { message }| message),
            }),
            (None, Some(result)) => Ok(result.to_owned()),
            (None, None) => Ok(RawValue::NULL.to_owned()),
        };
        // The caller may have stopped waiting.
        let _closed = command.response.send(response);
    }

    fn event(&self, method: String, session: Option<&str>, params: Option<&RawValue>) {
        let mut routes = self.routes.lock();
        if method == "Inspector.targetCrashed" {
            let failed: Vec<u64> = routes
                .commands
                .iter()
                .filter(|(_, command)| command.session.as_deref() == session)
                .map(|(id, _)| *id)
                .collect();
            for id in failed {
                if let Some(command) = routes.commands.remove(&id) {
                    let _closed = command.response.send(Err(BrowserError::Crashed));
                }
            }
        }
        let events = match session {
            Some(session) => routes.sessions.get(session),
            None => routes.browser.as_ref(),
        };
        if let Some(events) = events {
            let event = Event {
                method,
                params: params.map(RawValue::to_owned),
            };
            if events.try_send(event).is_err() {
                tracing::debug!(session, "dropping an event of the browser: the queue is full");
            }
        }
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        let mut routes = self.routes.lock();
        routes.commands.clear();
        routes.sessions.clear();
        routes.browser = None;
        drop(routes);
        self.external.lock().end();
    }
}

/// A sent command; removed from the list of pending commands on drop.
struct Pending<'a> {
    shared: &'a Shared,
    id: u64,
    receiver: oneshot::Receiver<Result<Box<RawValue>, BrowserError>>,
}

impl Pending<'_> {
    async fn response(self, deadline: Instant) -> Result<Value, BrowserError> {
        let result = self.raw_response(deadline).await?;
        Ok(serde_json::from_str(result.get()).unwrap_or(Value::Null))
    }

    async fn raw_response(mut self, deadline: Instant) -> Result<Box<RawValue>, BrowserError> {
        let response = timeout_at(deadline, &mut self.receiver)
            .await
            .map_err(|_| BrowserError::Timeout)?;
        response.unwrap_or(Err(BrowserError::Gone))
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.shared.routes.lock().commands.remove(&self.id);
    }
}

/// Returns a string field of a response; empty if it is missing.
pub(crate) fn text(response: &Value, field: &str) -> String {
    response[field].as_str().unwrap_or_default().to_owned()
}

fn encode(id: u64, session: Option<&str>, method: &str, params: Value) -> Outgoing {
    let mut message = json!({"id": id, "method": method, "params": params});
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    Outgoing { bytes, _budget: None }
}

async fn write(mut commands: mpsc::Receiver<Outgoing>, mut to_browser: impl AsyncWrite + Unpin) {
    while let Some(message) = commands.recv().await {
        if to_browser.write_all(&message.bytes).await.is_err() {
            return;
        }
    }
}

async fn read(shared: Arc<Shared>, mut from_browser: impl AsyncRead + Unpin) {
    let mut buffer = Vec::with_capacity(64 * 1024);
    let mut scanned = 0;
    while let Ok(1..) = from_browser.read_buf(&mut buffer).await {
        let mut start = 0;
        while let Some(length) = buffer[scanned.max(start)..].iter().position(|byte| *byte == 0) {
            let end = scanned.max(start) + length;
            shared.receive(&buffer[start..end]);
            start = end + 1;
        }
        buffer.drain(..start);
        scanned = buffer.len();
        if buffer.len() > limits::MAX_MESSAGE_BYTES {
            tracing::warn!("a message of the browser is too large; closing the connection");
            break;
        }
    }
    shared.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a fake browser: `script` maps each command to the messages that it sends; null closes the pipe.
    fn browser(script: impl Fn(Value) -> Vec<Value> + Send + 'static) -> Connection {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read_half, write_half) = tokio::io::split(ours);
        tokio::spawn(async move {
            let (mut commands, mut responses) = tokio::io::split(theirs);
            let mut buffer = Vec::new();
            while let Ok(1..) = commands.read_buf(&mut buffer).await {
                while let Some(end) = buffer.iter().position(|byte| *byte == 0) {
                    let command: Value = serde_json::from_slice(&buffer[..end]).unwrap();
                    buffer.drain(..=end);
                    for response in script(command) {
                        if response.is_null() {
                            return;
                        }
                        let mut bytes = response.to_string().into_bytes();
                        bytes.push(0);
                        responses.write_all(&bytes).await.unwrap();
                    }
                }
            }
        });
        Connection::start(read_half, write_half)
    }

    #[tokio::test]
    async fn responses_are_matched_to_their_commands() {
        let connection = browser(|command| {
            vec![
                json!({"method": "Unknown.event", "params": {"x": 1}}),
                json!({"id": 77, "result": {}}),
                json!({"id": command["id"], "result": {"is": command["method"]}}),
            ]
        });
        let (one, two) = tokio::join!(
            connection.call("A.a", json!({})),
            connection.call("B.b", json!({}))
        );
        assert_eq!(text(&one.unwrap(), "is"), "A.a");
        assert_eq!(text(&two.unwrap(), "is"), "B.b");
    }

    #[tokio::test]
    async fn an_error_names_the_command() {
        let connection =
            browser(|command| vec![json!({"id": command["id"], "error": {"code": -32000, "message": "no"}})]);
        let error = connection.call("Page.navigate", json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), "the browser rejected Page.navigate: no");
    }

    #[tokio::test]
    async fn a_crash_fails_only_the_commands_of_its_page() {
        let connection = browser(|command| match command["method"].as_str() {
            Some("Target.attachToTarget") => {
                vec![json!({"id": command["id"], "result": {"sessionId": command["params"]["targetId"]}})]
            }
            Some("Crash.now") => vec![json!({"method": "Inspector.targetCrashed", "sessionId": "bad"})],
            Some("Late.answer") => vec![],
            _ => vec![json!({"id": command["id"], "result": {}})],
        });
        let (bad, mut events) = connection.attach("bad").await.unwrap();
        let (good, _events) = connection.attach("good").await.unwrap();
        let (lost, other) = tokio::join!(bad.call("Crash.now", json!({})), async {
            let later = Instant::now() + std::time::Duration::from_millis(200);
            good.call_until("Late.answer", json!({}), later).await
        });
        assert_eq!(lost.unwrap_err(), BrowserError::Crashed);
        assert_eq!(other.unwrap_err(), BrowserError::Timeout);
        assert_eq!(events.recv().await.unwrap().method, "Inspector.targetCrashed");
        assert!(good.call("Page.enable", json!({})).await.is_ok());
    }

    #[tokio::test]
    async fn the_end_of_the_pipe_fails_all_commands() {
        let connection = browser(|_| vec![Value::Null]);
        let error = connection
            .call("Browser.getVersion", json!({}))
            .await
            .unwrap_err();
        assert_eq!(error, BrowserError::Gone);
        assert!(connection.has_ended());
        let error = connection
            .call("Browser.getVersion", json!({}))
            .await
            .unwrap_err();
        assert_eq!(error, BrowserError::Gone);
    }
}
