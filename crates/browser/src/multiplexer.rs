//! Several clients on the one pipe of a browser: Playwright, Puppeteer, whoever speaks the protocol.
//!
//! Each [`CdpClient`] believes to be alone. Its commands get numbers of ours and the session that stands for its
//! connection; what comes back finds it by number or session. A client never sees another's messages, nor those
//! of the sessions that this crate uses itself, and asks for nothing that [`policy`] refuses. When it goes, all
//! that it was attached to is detached.

mod outside;
mod policy;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::cdp::{Connection, text};
use crate::error::BrowserError;
use crate::limits;
use outside::{Answer, Inbox, SERVER_ERROR};
use policy::Verdict;

pub(crate) use outside::Outside;

/// A command of a client, as far as others have to know of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sent {
    /// The client answers requests for a name and a password from now on.
    Authentication,
    /// Any other.
    Other,
}

/// Where clients from outside come to one browser; cheap to clone.
#[derive(Clone)]
pub(crate) struct Multiplexer {
    connection: Connection,
    used: Arc<dyn Fn(Sent) + Send + Sync>,
}

/// A client from outside.
pub struct CdpClient {
    connection: Connection,
    used: Arc<dyn Fn(Sent) + Send + Sync>,
    client: u64,
    root: String,
    inbox: Mutex<Inbox>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command<'a> {
    id: i64,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Command<'_> {
    fn sent(&self) -> Sent {
        let params = || -> Option<Value> { serde_json::from_str(self.params?.get()).ok() };
        match self.method == "Fetch.enable"
            && params().is_some_and(|params| params["handleAuthRequests"] == true)
        {
            true => Sent::Authentication,
            false => Sent::Other,
        }
    }
}

/// Codes of the protocol's errors, as the browser has them.
const NOT_JSON: i32 = -32_700;
const NO_SESSION: i32 = -32_001;

impl Multiplexer {
    /// `used` is told of every command that goes to the browser.
    pub(crate) fn new(connection: Connection, used: impl Fn(Sent) + Send + Sync + 'static) -> Multiplexer {
        Multiplexer {
            connection,
            used: Arc::new(used),
        }
    }

    /// A new client, of the whole browser or of one page.
    ///
    /// # Errors
    /// No such target, [`limits::MAX_CLIENTS`] are there already, or the browser is gone.
    pub(crate) async fn client(&self, target: Option<&str>) -> Result<CdpClient, BrowserError> {
        let (multiplexer, target) = (self.clone(), target.map(str::to_owned));
        // Who goes away meanwhile leaves nothing attached.
        let attaching = tokio::spawn(async move { multiplexer.attach(target.as_deref()).await });
        attaching.await.unwrap_or(Err(BrowserError::Gone))
    }

    async fn attach(&self, target: Option<&str>) -> Result<CdpClient, BrowserError> {
        let attached = match target {
            None => {
                self.connection
                    .call("Target.attachToBrowserTarget", json!({}))
                    .await?
            }
            Some(target) => {
                let params = json!({"targetId": target, "flatten": true});
                self.connection.call("Target.attachToTarget", params).await?
            }
        };
        let root = text(&attached, "sessionId");
        let added = self.connection.outside().add(&root);
        let Some((client, inbox)) = added else {
            detach(&self.connection, &root);
            return Err(BrowserError::Refused {
                command: "a further client".to_owned(),
                reason: format!("{} are connected already", limits::MAX_CLIENTS),
            });
        };
        if self.connection.has_ended() {
            return Err(BrowserError::Gone);
        }
        Ok(CdpClient {
            connection: self.connection.clone(),
            used: self.used.clone(),
            client,
            root,
            inbox: Mutex::new(inbox),
        })
    }

    /// The body of `/json/version`: versions, and `address` as the way in.
    pub(crate) async fn version(&self, address: &str) -> Result<Value, BrowserError> {
        let version = self.connection.call("Browser.getVersion", json!({})).await?;
        Ok(json!({
            "Browser": version["product"],
            "Protocol-Version": version["protocolVersion"],
            "User-Agent": version["userAgent"],
            "V8-Version": version["jsVersion"],
            "webSocketDebuggerUrl": address,
        }))
    }

    /// The body of `/json/list`: the pages, each with its way in below `address`.
    pub(crate) async fn targets(&self, address: &str) -> Result<Value, BrowserError> {
        let answer = self.connection.call("Target.getTargets", json!({})).await?;
        let targets = answer["targetInfos"].as_array().map_or(&[][..], Vec::as_slice);
        let pages = targets
            .iter()
            .filter(|target| target["type"] == "page")
            .map(|target| {
                let id = text(target, "targetId");
                json!({
                    "webSocketDebuggerUrl": format!("{address}/devtools/page/{id}"),
                    "id": id,
                    "type": "page",
                    "title": target["title"],
                    "url": target["url"],
                })
            });
        Ok(pages.collect())
    }
}

impl CdpClient {
    /// Takes a message of the client: a command for the browser. What is wrong with it is answered to the client.
    ///
    /// # Errors
    /// The browser is gone, or the client was let go.
    pub async fn send(&self, message: &str) -> Result<(), BrowserError> {
        match self.translate(message) {
            Some((command, sent)) => {
                (self.used)(sent);
                self.connection.forward(command).await
            }
            None if self.connection.outside().serves(self.client) => Ok(()),
            None => Err(BrowserError::Gone),
        }
    }

    /// The next message for the client; none when the browser ended, or when the client was let go because it
    /// did not take its messages. Dropping the future loses no message.
    pub async fn recv(&self) -> Option<String> {
        self.inbox.lock().await.next().await
    }

    /// The command as it goes to the browser; none when it was answered here.
    fn translate(&self, message: &str) -> Option<(String, Sent)> {
        // A zero byte would begin another command behind the one that is judged here.
        let command = serde_json::from_str::<Command<'_>>(message).ok();
        let Some(command) = command.filter(|_| !message.contains('\0')) else {
            let words = "a message is JSON with an integer `id` and the text `method`";
            let mut outside = self.connection.outside();
            outside.answer(self.client, None, None, Err((NOT_JSON, words)));
            return None;
        };
        let named = command.session_id.as_deref();
        match self.admit(&command, named.unwrap_or(&self.root)) {
            Ok(text) => Some((text, command.sent())),
            Err(answer) => {
                let mut outside = self.connection.outside();
                outside.answer(self.client, Some(command.id), named, answer);
                None
            }
        }
    }

    /// The command as it goes to the browser in `session`, or the answer in the browser's place.
    fn admit(&self, command: &Command<'_>, session: &str) -> Result<String, Answer> {
        let params = match policy::judge(&command.method, command.params) {
            Verdict::Pass => Cow::from(command.params.map_or("{}", RawValue::get)),
            Verdict::With(params) => Cow::from(params.to_string()),
            Verdict::Done => return Err(Ok(json!({}))),
            Verdict::Refused(words) => return Err(Err((SERVER_ERROR, words))),
        };
        let number = self.connection.next_id();
        let text = format!(
            "{{\"id\":{number},\"method\":{},\"params\":{params},\"sessionId\":{}}}",
            Value::from(&*command.method),
            Value::from(session),
        );
        let mut outside = self.connection.outside();
        if !outside.owns(self.client, session) {
            return Err(Err((NO_SESSION, "Session with given id not found.")));
        }
        if command.method.starts_with("Target.attachTo") && !outside.may_attach(self.client) {
            return Err(Err((SERVER_ERROR, "this client is attached to too much")));
        }
        match outside.ask(self.client, number, command.id, session) {
            true => Ok(text),
            false => Err(Err((
                SERVER_ERROR,
                "too many commands are open; wait for their answers",
            ))),
        }
    }
}

impl Drop for CdpClient {
    fn drop(&mut self) {
        self.connection.outside().remove(self.client);
        detach(&self.connection, &self.root);
    }
}

/// Detaches from a client's connection and with it from all that the client was attached to.
fn detach(connection: &Connection, root: &str) {
    connection.post("Target.detachFromTarget", json!({"sessionId": root}));
}
