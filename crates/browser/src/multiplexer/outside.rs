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

use crate::cdp::Message;
use crate::limits;

/// The external clients of one browser.
#[derive(Default)]
pub(crate) struct Outside {
    last_client: u64,
    clients: HashMap<u64, Client>,
    /// The client that owns each session.
    sessions: HashMap<String, u64>,
    asked: HashMap<u64, Asked>,
}

struct Client {
    /// The session that stands for the client's connection; it is not named in messages to the client.
    root: String,
    queue: mpsc::Sender<String>,
    queued_bytes: Arc<AtomicUsize>,
    commands: usize,
    sessions: usize,
}

/// A pending command.
struct Asked {
    client: u64,
    id: i64,
    session: String,
}

/// A result, or the code and message of an error.
pub(super) type Answer = Result<Value, (i32, &'static str)>;

/// The queue of messages for a client.
pub(super) struct Inbox {
    messages: mpsc::Receiver<String>,
    queued_bytes: Arc<AtomicUsize>,
}

impl Inbox {
    /// Returns the next message; `None` if the browser has ended or the client was disconnected.
    pub(super) async fn next(&mut self) -> Option<String> {
        let message = self.messages.recv().await?;
        self.queued_bytes.fetch_sub(message.len(), Ordering::AcqRel);
        Some(message)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
}

impl Outside {
    /// Adds a client whose connection is the session `root`; returns `None` if there are too many clients.
    pub(super) fn add(&mut self, root: &str) -> Option<(u64, Inbox)> {
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
        };
        self.clients.insert(self.last_client, client);
        self.sessions.insert(root.to_owned(), self.last_client);
        let inbox = Inbox {
            messages,
            queued_bytes,
        };
        Some((self.last_client, inbox))
    }

    /// Removes a client with its sessions and pending commands.
    pub(super) fn remove(&mut self, client: u64) {
        self.clients.remove(&client);
        self.sessions.retain(|_, owner| *owner != client);
        self.asked.retain(|_, asked| asked.client != client);
    }

    /// Returns whether a client is still connected.
    pub(super) fn serves(&self, client: u64) -> bool {
        self.clients.contains_key(&client)
    }

    /// Returns whether a session belongs to the client.
    pub(super) fn owns(&self, client: u64, session: &str) -> bool {
        self.sessions.get(session) == Some(&client)
    }

    /// Returns whether a client may attach to one more target.
    pub(super) fn may_attach(&self, client: u64) -> bool {
        let client = self.clients.get(&client);
        client.is_some_and(|client| client.sessions < limits::MAX_CLIENT_SESSIONS)
    }

    /// Records the client's command `id`, sent to the browser as `number`; returns false if too many are
    /// pending.
    pub(super) fn ask(&mut self, client: u64, number: u64, id: i64, session: &str) -> bool {
        match self.clients.get_mut(&client) {
            Some(asking) if asking.commands < limits::MAX_CLIENT_COMMANDS => asking.commands += 1,
            _ => return false,
        }
        let session = session.to_owned();
        self.asked.insert(number, Asked { client, id, session });
        true
    }

    /// Answers a command of a client in place of the browser.
    pub(super) fn answer(&mut self, client: u64, id: Option<i64>, session: Option<&str>, answer: Answer) {
        let mut message = match answer {
            Ok(result) => json!({"result": result}),
            Err((code, words)) => json!({"error": {"code": code, "message": words}}),
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
            (Some(number), ..) => self.receive_answer(number, message),
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
        self.asked.clear();
    }

    fn receive_answer(&mut self, number: u64, message: &Message<'_>) -> bool {
        let Some(asked) = self.asked.remove(&number) else {
            return false;
        };
        let Some(client) = self.clients.get_mut(&asked.client) else {
            return true;
        };
        client.commands -= 1;
        let (kind, content) = match (message.error, message.result) {
            (Some(error), _) => ("error", error.get()),
            (None, result) => ("result", result.map_or("{}", RawValue::get)),
        };
        let session = name(&client.root, &asked.session);
        let text = format!("{{\"id\":{},\"{kind}\":{content}{session}}}", asked.id);
        self.deliver(asked.client, text);
        true
    }

    /// Removes a client whose page was closed.
    fn root_detached(&mut self, params: Option<&RawValue>) {
        let detached = params.and_then(|params| serde_json::from_str::<OfSession<'_>>(params.get()).ok());
        if let Some(OfSession { session_id }) = detached
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
        let named = name(&client.root, session);
        let text = format!("{{\"method\":{},\"params\":{params}{named}}}", quoted(method));
        let other = || serde_json::from_str::<OfSession<'_>>(params).ok();
        match method {
            "Target.attachedToTarget" => {
                if let Some(other) = other() {
                    client.sessions += 1;
                    self.sessions.insert(other.session_id.into_owned(), owner);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(other) = other()
                    && self.sessions.get(&*other.session_id) == Some(&owner)
                {
                    client.sessions -= 1;
                    self.sessions.remove(&*other.session_id);
                    self.fail(&other.session_id, "Session with given id was detached.");
                }
            }
            // The browser never answers pending commands of a crashed page.
            "Inspector.targetCrashed" => self.fail(session, "Target crashed"),
            _ => {}
        }
        self.deliver(owner, text);
        true
    }

    /// Answers every pending command of a session with an error.
    fn fail(&mut self, session: &str, words: &'static str) {
        let lost = self.asked.extract_if(|_, asked| asked.session == session);
        let lost: Vec<Asked> = lost.map(|(_, asked)| asked).collect();
        for Asked { client, id, session } in lost {
            let Some(asking) = self.clients.get_mut(&client) else {
                continue;
            };
            asking.commands -= 1;
            let named = (asking.root != session).then_some(session);
            self.answer(client, Some(id), named.as_deref(), Err((SERVER_ERROR, words)));
        }
    }

    /// Queues a message for a client; disconnects a client whose queue is full.
    fn deliver(&mut self, client: u64, message: String) {
        let Some(to) = self.clients.get(&client) else {
            return;
        };
        let length = message.len();
        let before = to.queued_bytes.fetch_add(length, Ordering::AcqRel);
        let too_much = before > 0 && before + length > limits::MAX_CLIENT_QUEUE_BYTES;
        if too_much || to.queue.try_send(message).is_err() {
            tracing::debug!(client, "disconnecting a client that reads too slowly");
            self.remove(client);
        }
    }
}

/// Error code for errors without a more specific one, as the browser uses it.
pub(super) const SERVER_ERROR: i32 = -32_000;

/// Returns the session field of a message; empty for the session that stands for the client's connection.
fn name(root: &str, session: &str) -> String {
    match session == root {
        true => String::new(),
        false => format!(",\"sessionId\":{}", quoted(session)),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Table {
        outside: Outside,
        client: u64,
        inbox: Inbox,
    }

    impl Table {
        fn new() -> Table {
            let mut outside = Outside::default();
            let (client, inbox) = outside.add("root").unwrap();
            Table {
                outside,
                client,
                inbox,
            }
        }

        /// Returns whether the message is for an external client.
        fn receive(&mut self, message: Value) -> bool {
            let text = message.to_string();
            self.outside.receive(&serde_json::from_str(&text).unwrap())
        }

        fn attach(&mut self, to: &str) {
            let params = json!({"sessionId": to, "targetInfo": {}});
            assert!(self.receive(
                json!({"method": "Target.attachedToTarget", "sessionId": "root", "params": params})
            ));
        }

        /// Returns the messages that the client received.
        fn got(&mut self) -> Vec<Value> {
            let messages = std::iter::from_fn(|| self.inbox.messages.try_recv().ok());
            messages
                .map(|message| serde_json::from_str(&message).unwrap())
                .collect()
        }
    }

    #[test]
    fn messages_to_a_client_have_its_own_ids_and_sessions() {
        let mut table = Table::new();
        table.attach("page");
        table.got();
        assert!(table.outside.ask(table.client, 90, -7, "root"));
        assert!(table.outside.ask(table.client, 91, 7, "page"));
        assert!(table.receive(json!({"id": 91, "result": {"x": 1}, "sessionId": "page"})));
        assert!(table.receive(json!({"id": 90, "error": {"code": 1, "message": "no"}, "sessionId": "root"})));
        assert!(table.receive(json!({"method": "A.b", "params": {"y": 2}, "sessionId": "root"})));
        assert!(!table.receive(json!({"id": 92, "result": {}})), "not of a client");
        assert!(
            !table.receive(json!({"method": "A.b", "sessionId": "other"})),
            "not of a client"
        );
        assert!(!table.receive(json!({"method": "A.b"})), "not of a client");
        let expected = [
            json!({"id": 7, "result": {"x": 1}, "sessionId": "page"}),
            json!({"id": -7, "error": {"code": 1, "message": "no"}}),
            json!({"method": "A.b", "params": {"y": 2}}),
        ];
        assert_eq!(table.got(), expected);
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
            let mut table = Table::new();
            table.attach("page");
            table.got();
            assert!(table.outside.ask(table.client, 1, 5, "page"));
            assert!(table.outside.ask(table.client, 2, 6, "root"));
            assert!(table.receive(event));
            let got = table.got();
            assert_eq!((&got[0]["id"], got.len()), (&json!(5), 2), "{session}: {got:?}");
            assert_eq!(table.outside.asked.len(), 1);
        }
    }

    #[test]
    fn a_client_that_does_not_read_is_disconnected() {
        let mut table = Table::new();
        let large = "x".repeat(limits::MAX_CLIENT_QUEUE_BYTES);
        // A single message may exceed the limit.
        assert!(table.receive(json!({"method": "A.b", "params": {"x": large}, "sessionId": "root"})));
        assert!(table.outside.serves(table.client));
        assert!(table.receive(json!({"method": "A.b", "params": {}, "sessionId": "root"})));
        assert!(!table.outside.serves(table.client));
        assert!(table.outside.sessions.is_empty());
    }

    #[test]
    fn pending_commands_and_sessions_are_limited() {
        let mut table = Table::new();
        for number in 0..limits::MAX_CLIENT_COMMANDS as u64 {
            assert!(table.outside.ask(table.client, number, 1, "root"));
        }
        assert!(!table.outside.ask(table.client, u64::MAX, 1, "root"));
        assert!(table.receive(json!({"id": 3, "result": {}})));
        assert!(table.outside.ask(table.client, 3, 1, "root"));
        for number in 1..limits::MAX_CLIENT_SESSIONS {
            assert!(table.outside.may_attach(table.client));
            table.attach(&number.to_string());
        }
        assert!(!table.outside.may_attach(table.client));
    }
}
