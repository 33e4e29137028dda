//! Routing tables of external clients: which client a response or event of the browser belongs to. Knows ids
//! and session names only, not the meaning of messages.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Message;
use crate::limits;

/// The external clients of one browser.
#[derive(Default)]
pub(crate) struct ExternalClients {
    last_client: u64,
    clients: HashMap<u64, Client>,
    /// The client that owns each session.
    sessions: HashMap<String, u64>,
    pending: HashMap<u64, PendingCommand>,
}

struct Client {
    /// The session that stands for the client's connection; it is not named in messages to the client.
    root: String,
    queue: mpsc::Sender<String>,
    queued_bytes: Arc<AtomicUsize>,
    commands: usize,
    sessions: usize,
    reports_downloads: bool,
}

/// A pending command.
struct PendingCommand {
    client: u64,
    id: i64,
    session: String,
}

/// A result, or the code and message of an error.
pub(crate) type CommandResult = Result<Value, (i32, &'static str)>;

/// The queue of messages for a client.
pub(crate) struct Inbox {
    messages: mpsc::Receiver<String>,
    queued_bytes: Arc<AtomicUsize>,
}

impl Inbox {
    /// Returns the next message; `None` if the browser has ended or the client was disconnected.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let message = self.messages.recv().await?;
        self.queued_bytes.fetch_sub(message.len(), Ordering::AcqRel);
        Some(message)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionParams<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
}

impl ExternalClients {
    /// Adds a client whose connection is the session `root`; returns `None` if there are too many clients.
    pub(crate) fn add(&mut self, root: &str) -> Option<(u64, Inbox)> {
        if self.clients.len() >= limits::MAX_CLIENTS {
            return None;
        }
        self.last_client += 1;
        let (queue, messages) = mpsc::channel(limits::MAX_CLIENT_QUEUE);
        let queued_bytes = Arc::<AtomicUsize>::default();
        let client = Client {
            root: root.to_owned(),
            queue,
            queued_bytes: queued_bytes.clone(),
            commands: 0,
            sessions: 1,
            reports_downloads: false,
        };
        self.clients.insert(self.last_client, client);
        self.sessions.insert(root.to_owned(), self.last_client);
        let inbox = Inbox {
            messages,
            queued_bytes,
        };
        Some((self.last_client, inbox))
    }

    /// Sets whether a client gets events of downloads.
    pub(crate) fn set_reports_downloads(&mut self, client: u64, reports: bool) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.reports_downloads = reports;
        }
    }

    /// Sends an event of a download to the clients that want it.
    pub(crate) fn report_download(&mut self, method: &str, params: &Value) {
        let event = json!({"method": method, "params": params}).to_string();
        let wanted = |(id, client): (&u64, &Client)| client.reports_downloads.then_some(*id);
        let clients: Vec<u64> = self.clients.iter().filter_map(wanted).collect();
        for client in clients {
            self.deliver(client, event.clone());
        }
    }

    /// Removes a client with its sessions and pending commands.
    pub(crate) fn remove(&mut self, client: u64) {
        self.clients.remove(&client);
        self.sessions.retain(|_, owner| *owner != client);
        self.pending.retain(|_, command| command.client != client);
    }

    /// Returns whether a client is still connected.
    pub(crate) fn is_connected(&self, client: u64) -> bool {
        self.clients.contains_key(&client)
    }

    /// Returns whether a session belongs to the client.
    pub(crate) fn owns(&self, client: u64, session: &str) -> bool {
        self.sessions.get(session) == Some(&client)
    }

    /// Returns whether a client may attach to one more target.
    pub(crate) fn may_attach(&self, client: u64) -> bool {
        let client = self.clients.get(&client);
        client.is_some_and(|client| client.sessions < limits::MAX_CLIENT_SESSIONS)
    }

    /// Records the client's command `id`, sent to the browser as `browser_id`; returns false if too many are
    /// pending.
    pub(crate) fn add_pending(&mut self, client: u64, browser_id: u64, id: i64, session: &str) -> bool {
        match self.clients.get_mut(&client) {
            Some(sender) if sender.commands < limits::MAX_CLIENT_COMMANDS => sender.commands += 1,
            _ => return false,
        }
        let session = session.to_owned();
        self.pending
            .insert(browser_id, PendingCommand { client, id, session });
        true
    }

    /// Responds to a command of a client in place of the browser.
    pub(crate) fn respond(
        &mut self,
        client: u64,
        id: Option<i64>,
        session: Option<&str>,
        result: CommandResult,
    ) {
        let mut message = match result {
            Ok(result) => json!({"result": result}),
            Err((code, message_text)) => json!({"error": {"code": code, "message": message_text}}),
        };
        if let Some(id) = id {
            message["id"] = id.into();
        }
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.deliver(client, message.to_string());
    }

    /// Routes a message of the browser; returns false if it is not for an external client.
    pub(crate) fn receive(&mut self, message: &Message<'_>) -> bool {
        match (message.id, &message.method, &message.session_id) {
            (Some(browser_id), ..) => self.receive_response(browser_id, message),
            (None, Some(method), Some(session)) => self.receive_event(method, session, message.params),
            (None, Some(method), None) => {
                if method == "Target.detachedFromTarget" {
                    self.root_detached(message.params);
                }
                // The browser's own events are for this crate as well.
                false
            }
            (None, None, _) => false,
        }
    }

    /// Disconnects all clients because the browser has ended.
    pub(crate) fn end(&mut self) {
        self.clients.clear();
        self.sessions.clear();
        self.pending.clear();
    }

    fn receive_response(&mut self, browser_id: u64, message: &Message<'_>) -> bool {
        let Some(command) = self.pending.remove(&browser_id) else {
            return false;
        };
        let Some(client) = self.clients.get_mut(&command.client) else {
            return true;
        };
        client.commands -= 1;
        let (kind, content) = match (message.error, message.result) {
            (Some(error), _) => ("error", error.get()),
            (None, result) => ("result", result.map_or("{}", RawValue::get)),
        };
        let session = session_field(&client.root, &command.session);
        let text = format!("{{\"id\":{},\"{kind}\":{content}{session}}}", command.id);
        self.deliver(command.client, text);
        true
    }

    /// Removes a client whose page was closed.
    fn root_detached(&mut self, params: Option<&RawValue>) {
        let detached = params.and_then(|params| serde_json::from_str::<SessionParams<'_>>(params.get()).ok());
        if let Some(SessionParams { session_id }) = detached
            && let Some(client) = self.sessions.get(&*session_id).copied()
        {
            self.remove(client);
        }
    }

    fn receive_event(&mut self, method: &str, session: &str, params: Option<&RawValue>) -> bool {
        let Some(owner) = self.sessions.get(session).copied() else {
            return false;
        };
        let Some(client) = self.clients.get_mut(&owner) else {
            return true;
        };
        let params = params.map_or("{}", RawValue::get);
        let named = session_field(&client.root, session);
        let text = format!(
            "{{\"method\":{},\"params\":{params}{named}}}",
            json_string(method)
        );
        let other_session = || serde_json::from_str::<SessionParams<'_>>(params).ok();
        match method {
            "Target.attachedToTarget" => {
                if let Some(other_session) = other_session() {
                    client.sessions += 1;
                    self.sessions.insert(other_session.session_id.into_owned(), owner);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(other_session) = other_session()
                    && self.sessions.get(&*other_session.session_id) == Some(&owner)
                {
                    client.sessions -= 1;
                    self.sessions.remove(&*other_session.session_id);
                    self.fail(&other_session.session_id, "Session with given id was detached.");
                }
            }
            // The browser never responds to pending commands of a crashed page.
            "Inspector.targetCrashed" => self.fail(session, "Target crashed"),
            _ => {}
        }
        self.deliver(owner, text);
        true
    }

    /// Responds to every pending command of a session with an error.
    fn fail(&mut self, session: &str, message_text: &'static str) {
        let failed = self.pending.extract_if(|_, command| command.session == session);
        let failed: Vec<PendingCommand> = failed.map(|(_, command)| command).collect();
        for PendingCommand { client, id, session } in failed {
            let Some(sender) = self.clients.get_mut(&client) else {
                continue;
            };
            sender.commands -= 1;
            let named = (sender.root != session).then_some(session);
            self.respond(
                client,
                Some(id),
                named.as_deref(),
                Err((SERVER_ERROR, message_text)),
            );
        }
    }

    /// Queues a message for a client; disconnects a client whose queue is full.
    fn deliver(&mut self, client: u64, message: String) {
        let Some(to) = self.clients.get(&client) else {
            return;
        };
        let length = message.len();
        let before = to.queued_bytes.fetch_add(length, Ordering::AcqRel);
        let is_over_limit = before > 0 && before + length > limits::MAX_CLIENT_QUEUE_BYTES;
        if is_over_limit || to.queue.try_send(message).is_err() {
            tracing::debug!(client, "disconnecting a client that reads too slowly");
            self.remove(client);
        }
    }
}

/// Error code for errors without a more specific one, as the browser uses it.
pub(crate) const SERVER_ERROR: i32 = -32_000;

/// Returns the session field of a message; empty for the session that stands for the client's connection.
fn session_field(root: &str, session: &str) -> String {
    match session == root {
        true => String::new(),
        false => format!(",\"sessionId\":{}", json_string(session)),
    }
}

fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TestClient {
        clients: ExternalClients,
        client: u64,
        inbox: Inbox,
    }

    impl TestClient {
        fn new() -> TestClient {
            let mut clients = ExternalClients::default();
            let (client, inbox) = clients.add("root").unwrap();
            TestClient {
                clients,
                client,
                inbox,
            }
        }

        /// Returns whether the message is for an external client.
        fn receive(&mut self, message: Value) -> bool {
            let text = message.to_string();
            self.clients.receive(&serde_json::from_str(&text).unwrap())
        }

        fn attach(&mut self, to: &str) {
            let params = json!({"sessionId": to, "targetInfo": {}});
            assert!(self.receive(
                json!({"method": "Target.attachedToTarget", "sessionId": "root", "params": params})
            ));
        }

        /// Returns the messages that the client received.
        fn received(&mut self) -> Vec<Value> {
            let messages = std::iter::from_fn(|| self.inbox.messages.try_recv().ok());
            messages
                .map(|message| serde_json::from_str(&message).unwrap())
                .collect()
        }
    }

    #[test]
    fn messages_to_a_client_have_its_own_ids_and_sessions() {
        let mut test = TestClient::new();
        test.attach("page");
        test.received();
        assert!(test.clients.add_pending(test.client, 90, -7, "root"));
        assert!(test.clients.add_pending(test.client, 91, 7, "page"));
        assert!(test.receive(json!({"id": 91, "result": {"x": 1}, "sessionId": "page"})));
        assert!(test.receive(json!({"id": 90, "error": {"code": 1, "message": "no"}, "sessionId": "root"})));
        assert!(test.receive(json!({"method": "A.b", "params": {"y": 2}, "sessionId": "root"})));
        assert!(!test.receive(json!({"id": 92, "result": {}})), "not of a client");
        assert!(
            !test.receive(json!({"method": "A.b", "sessionId": "other"})),
            "not of a client"
        );
        assert!(!test.receive(json!({"method": "A.b"})), "not of a client");
        let expected = [
            json!({"id": 7, "result": {"x": 1}, "sessionId": "page"}),
            json!({"id": -7, "error": {"code": 1, "message": "no"}}),
            json!({"method": "A.b", "params": {"y": 2}}),
        ];
        assert_eq!(test.received(), expected);
    }

    #[test]
    fn pending_commands_of_a_crashed_or_detached_page_fail() {
        for (event, session) in [
            (
                json!({"method": "Inspector.targetCrashed", "sessionId": "page"}),
                "page",
            ),
            (
                json!({"method": "Target.detachedFromTarget", "sessionId": "root", "params": {"sessionId": "page"}}),
                "root",
            ),
        ] {
            let mut test = TestClient::new();
            test.attach("page");
            test.received();
            assert!(test.clients.add_pending(test.client, 1, 5, "page"));
            assert!(test.clients.add_pending(test.client, 2, 6, "root"));
            assert!(test.receive(event));
            let received = test.received();
            assert_eq!(
                (&received[0]["id"], received.len()),
                (&json!(5), 2),
                "{session}: {received:?}"
            );
            assert_eq!(test.clients.pending.len(), 1);
        }
    }

    #[test]
    fn a_client_that_does_not_read_is_disconnected() {
        let mut test = TestClient::new();
        let large = "x".repeat(limits::MAX_CLIENT_QUEUE_BYTES);
        // A single message may exceed the limit.
        assert!(test.receive(json!({"method": "A.b", "params": {"x": large}, "sessionId": "root"})));
        assert!(test.clients.is_connected(test.client));
        assert!(test.receive(json!({"method": "A.b", "params": {}, "sessionId": "root"})));
        assert!(!test.clients.is_connected(test.client));
        assert!(test.clients.sessions.is_empty());
    }

    #[test]
    fn pending_commands_and_sessions_are_limited() {
        let mut test = TestClient::new();
        for browser_id in 0..limits::MAX_CLIENT_COMMANDS as u64 {
            assert!(test.clients.add_pending(test.client, browser_id, 1, "root"));
        }
        assert!(!test.clients.add_pending(test.client, u64::MAX, 1, "root"));
        assert!(test.receive(json!({"id": 3, "result": {}})));
        assert!(test.clients.add_pending(test.client, 3, 1, "root"));
        for browser_id in 1..limits::MAX_CLIENT_SESSIONS {
            assert!(test.clients.may_attach(test.client));
            test.attach(&browser_id.to_string());
        }
        assert!(!test.clients.may_attach(test.client));
    }
}
