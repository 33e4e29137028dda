//! Several external DevTools clients (Playwright, Puppeteer and the like) on the one pipe of a browser.
//!
//! Each [`CdpClient`] seems to have the browser to itself. Its commands get ids of this connection, and a
//! session that stands for the client's own connection; responses and events are routed back by id or
//! session. A client never sees messages of other clients or of this crate's own sessions, and commands that
//! [`policy`] rejects are not sent. When it disconnects, all its sessions are detached.

mod policy;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::cdp::{CommandResult, Connection, Inbox, SERVER_ERROR, text};
use crate::error::BrowserError;
use crate::files::BrowserFiles;
use crate::limits;
use policy::Verdict;

/// The kind of a client's command, as far as the rest of the crate needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommandKind {
    /// The client handles HTTP authentication requests from now on.
    Authentication,
    /// Any other command.
    Other,
}

/// Accepts external clients of one browser. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Multiplexer {
    connection: Connection,
    /// Takes the clients' settings of downloads.
    files: Option<Arc<BrowserFiles>>,
    on_command: Arc<dyn Fn(CommandKind) + Send + Sync>,
}

/// An external client.
pub struct CdpClient {
    connection: Connection,
    files: Option<Arc<BrowserFiles>>,
    on_command: Arc<dyn Fn(CommandKind) + Send + Sync>,
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
    fn kind(&self) -> CommandKind {
        let params = || -> Option<Value> { serde_json::from_str(self.params?.get()).ok() };
        match self.method == "Fetch.enable"
            && params().is_some_and(|params| params["handleAuthRequests"] == true)
        {
            true => CommandKind::Authentication,
            false => CommandKind::Other,
        }
    }
}

/// Error codes of the protocol, as the browser uses them.
const NOT_JSON: i32 = -32_700;
const SESSION_NOT_FOUND: i32 = -32_001;

impl Multiplexer {
    /// Creates a multiplexer; `on_command` is called for every command that is sent to the browser.
    pub(crate) fn new(
        connection: Connection,
        files: Option<Arc<BrowserFiles>>,
        on_command: impl Fn(CommandKind) + Send + Sync + 'static,
    ) -> Multiplexer {
        Multiplexer {
            connection,
            files,
            on_command: Arc::new(on_command),
        }
    }

    /// Connects a client to the whole browser or to one page.
    ///
    /// # Errors
    /// If there is no such target, there are already [`limits::MAX_CLIENTS`], or the browser is gone.
    pub(crate) async fn client(&self, target: Option<&str>) -> Result<CdpClient, BrowserError> {
        let (multiplexer, target) = (self.clone(), target.map(str::to_owned));
        // A task of its own, so that a client that disconnects meanwhile leaves nothing attached.
        let attach_task = tokio::spawn(async move { multiplexer.attach(target.as_deref()).await });
        attach_task.await.unwrap_or(Err(BrowserError::Gone))
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
        let client = self.connection.external().add(&root);
        let Some((client, inbox)) = client else {
            detach(&self.connection, &root);
            return Err(BrowserError::Refused {
                command: "a further client".to_owned(),
                reason: format!("{} clients are already connected", limits::MAX_CLIENTS),
            });
        };
        if self.connection.has_ended() {
            return Err(BrowserError::Gone);
        }
        Ok(CdpClient {
            connection: self.connection.clone(),
            files: self.files.clone(),
            on_command: self.on_command.clone(),
            client,
            root,
            inbox: Mutex::new(inbox),
        })
    }

    /// Returns the body of `/json/version`, with `url` as the WebSocket URL.
    pub(crate) async fn version(&self, url: &str) -> Result<Value, BrowserError> {
        let version = self.connection.call("Browser.getVersion", json!({})).await?;
        Ok(json!({
            "Browser": version["product"],
            "Protocol-Version": version["protocolVersion"],
            "User-Agent": version["userAgent"],
            "V8-Version": version["jsVersion"],
            "webSocketDebuggerUrl": url,
        }))
    }

    /// Returns the body of `/json/list`: the pages, with WebSocket URLs below `url`.
    pub(crate) async fn targets(&self, url: &str) -> Result<Value, BrowserError> {
        let response = self.connection.call("Target.getTargets", json!({})).await?;
        let targets = response["targetInfos"].as_array().map_or(&[][..], Vec::as_slice);
        let pages = targets
            .iter()
            .filter(|target| target["type"] == "page")
            .map(|target| {
                let id = text(target, "targetId");
                json!({
                    "webSocketDebuggerUrl": format!("{url}/devtools/page/{id}"),
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
    /// Sends a command of the client to the browser. An invalid or rejected command gets an error response
    /// message.
    ///
    /// # Errors
    /// If the browser is gone or the client was disconnected.
    pub async fn send(&self, message: &str) -> Result<(), BrowserError> {
        match self.translate(message) {
            Some((command, kind)) => {
                (self.on_command)(kind);
                self.connection.forward(command).await
            }
            None if self.connection.external().is_connected(self.client) => Ok(()),
            None => Err(BrowserError::Gone),
        }
    }

    /// Returns the next message for the client; `None` if the browser has ended, or if the client was
    /// disconnected because it did not read its messages. Cancel safe.
    pub async fn recv(&self) -> Option<String> {
        self.inbox.lock().await.next().await
    }

    /// Returns the command as it is sent to the browser; `None` if its response was sent from here.
    fn translate(&self, message: &str) -> Option<(String, CommandKind)> {
        // Text after a zero byte would be a second command that was not checked.
        let command = serde_json::from_str::<Command<'_>>(message).ok();
        let Some(command) = command.filter(|_| !message.contains('\0')) else {
            let message = "a message must be JSON with an integer `id` and a string `method`";
            let mut clients = self.connection.external();
            clients.respond(self.client, None, None, Err((NOT_JSON, message)));
            return None;
        };
        let session_name = command.session_id.as_deref();
        match self.prepare(&command, session_name.unwrap_or(&self.root)) {
            Ok(text) => Some((text, command.kind())),
            Err(result) => {
                let mut clients = self.connection.external();
                clients.respond(self.client, Some(command.id), session_name, result);
                None
            }
        }
    }

    /// Returns the command as it is sent to the browser in `session`, or the response in place of the
    /// browser's.
    fn prepare(&self, command: &Command<'_>, session: &str) -> Result<String, CommandResult> {
        let params = match policy::decide(&command.method, command.params) {
            Verdict::Pass => Cow::from(command.params.map_or("{}", RawValue::get)),
            Verdict::PassWith(params) => Cow::from(params.to_string()),
            Verdict::Succeed => return Err(Ok(json!({}))),
            Verdict::SetDownloads {
                context,
                denied,
                reported,
            } => {
                if let Some(files) = &self.files {
                    files.allow_downloads(context, denied);
                }
                if let Some(reported) = reported {
                    self.connection
                        .external()
                        .set_reports_downloads(self.client, reported);
                }
                return Err(Ok(json!({})));
            }
            Verdict::CancelDownload(guid) => {
                if let Some(files) = &self.files {
                    files.cancel(&guid);
                }
                return Err(Ok(json!({})));
            }
            Verdict::Reject(message) => return Err(Err((SERVER_ERROR, message))),
        };
        let browser_id = self.connection.next_id();
        let text = format!(
            "{{\"id\":{browser_id},\"method\":{},\"params\":{params},\"sessionId\":{}}}",
            Value::from(&*command.method),
            Value::from(session),
        );
        let mut clients = self.connection.external();
        if !clients.owns(self.client, session) {
            return Err(Err((SESSION_NOT_FOUND, "Session with given id not found.")));
        }
        if command.method.starts_with("Target.attachTo") && !clients.may_attach(self.client) {
            return Err(Err((SERVER_ERROR, "this client has too many sessions")));
        }
        match clients.add_pending(self.client, browser_id, command.id, session) {
            true => Ok(text),
            false => Err(Err((
                SERVER_ERROR,
                "too many commands are pending; wait for their responses",
            ))),
        }
    }
}

impl Drop for CdpClient {
    fn drop(&mut self) {
        self.connection.external().remove(self.client);
        detach(&self.connection, &self.root);
    }
}

/// Detaches a client's root session, and with it all sessions that the client attached.
fn detach(connection: &Connection, root: &str) {
    connection.post("Target.detachFromTarget", json!({"sessionId": root}));
}
