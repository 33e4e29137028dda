//! What a profile stores of a browser: cookies, and the storage of each origin.
//!
//! The storage of an origin is accessible only from one of its documents. An empty document is used for that:
//! a page navigates to the origin, and this module responds to the request, without reaching the site.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::cdp::{Connection, Session, text};
use crate::error::BrowserError;
use crate::limits;
use crate::page::{Page, World};

/// Cookies and storage of a browser.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Storage {
    /// Cookies in the protocol's format.
    pub cookies: Vec<Value>,
    /// By origin, such as `https://example.com`.
    pub origins: BTreeMap<String, OriginStorage>,
}

/// The storage of one origin, by key.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OriginStorage {
    /// `localStorage`.
    pub local: BTreeMap<String, String>,
    /// `sessionStorage` of the open pages.
    pub session: BTreeMap<String, String>,
}

/// Return and set the storage of a document.
const READ: &str = include_str!("storage/read.js");
const WRITE: &str = include_str!("storage/write.js");

/// Reads all storage of a browser from its `open` pages and by means of the page `stand_in`, which is closed.
/// `known` is what was restored, for origins that have not been visited since.
pub(crate) async fn read(
    connection: &Connection,
    open: &[Arc<Page>],
    stand_in: String,
    known: &Storage,
) -> Result<Storage, BrowserError> {
    collect_storage(connection, json!({}), open, stand_in, known).await
}

/// Reads all storage of a page in its own browser context.
pub(crate) async fn read_page(page: &Arc<Page>, known: &Storage) -> Result<Storage, BrowserError> {
    let connection = page.connection();
    let mut target = page.in_context();
    target["url"] = "about:blank".into();
    let stand_in = connection.call("Target.createTarget", target).await?;
    let open = std::slice::from_ref(page);
    collect_storage(
        connection,
        page.in_context(),
        open,
        text(&stand_in, "targetId"),
        known,
    )
    .await
}

/// Reads the storage of a browser context. Uses the page `stand_in` for this and closes it.
async fn collect_storage(
    connection: &Connection,
    context: Value,
    open: &[Arc<Page>],
    stand_in: String,
    known: &Storage,
) -> Result<Storage, BrowserError> {
    let mut cookies = connection.call("Storage.getCookies", context).await?;
    let cookies: Vec<Value> = serde_json::from_value(cookies["cookies"].take()).unwrap_or_default();
    let mut origins = known.origins.clone();
    for page in open {
        for origin in &page.state().origins {
            if origins.len() < limits::MAX_STORED_ORIGINS {
                origins.entry(origin.clone()).or_default();
            }
        }
    }
    for page in open {
        let deadline = Instant::now() + limits::COMMAND_TIMEOUT;
        let read = format!("({READ})('sessionStorage', {})", limits::MAX_STORED_CHARS);
        // A page that has crashed or hangs keeps its previously known storage.
        if let Ok(found) = page.evaluate(&read, World::Isolated, deadline).await
            && let Some(stored) = found["origin"]
                .as_str()
                .and_then(|origin| origins.get_mut(origin))
        {
            stored.session = serde_json::from_value(found["items"].clone()).unwrap_or_default();
        }
    }
    let read = async {
        let stand_in_page = StandIn::attach(connection, &stand_in).await?;
        for (origin, stored) in &mut origins {
            stand_in_page.open(origin).await?;
            let read = format!("({READ})('localStorage', {})", limits::MAX_STORED_CHARS);
            let found = stand_in_page.evaluate(&read).await?;
            if found["origin"].as_str() == Some(origin) {
                stored.local = serde_json::from_value(found["items"].clone()).unwrap_or_default();
            }
        }
        Ok(())
    };
    let result = read.await;
    let close = connection.call("Target.closeTarget", json!({"targetId": stand_in}));
    let _closed = close.await;
    result?;
    origins.retain(|_, stored| !stored.local.is_empty() || !stored.session.is_empty());
    Ok(Storage { cookies, origins })
}

/// Restores cookies and storage. `page` visits each origin and is empty at the end.
pub(crate) async fn write(page: &Page, storage: &Storage) -> Result<(), BrowserError> {
    let connection = page.connection();
    let mut cookies = page.in_context();
    cookies["cookies"] = storage.cookies.iter().map(settable_cookie).collect();
    connection.call("Storage.setCookies", cookies).await?;
    if storage.origins.is_empty() {
        return Ok(());
    }
    let stand_in_page = StandIn::attach(connection, page.target()).await?;
    for (origin, stored) in &storage.origins {
        stand_in_page.open(origin).await?;
        let stored = json!([origin, stored.local, stored.session]);
        stand_in_page.evaluate(&format!("({WRITE})(...{stored})")).await?;
    }
    stand_in_page.open("about:blank").await?;
    stand_in_page.detach(connection).await;
    let reset = page.session().call("Page.resetNavigationHistory", json!({}));
    reset.await.map(drop)
}

/// Returns a cookie in the form that the browser accepts: a session cookie has no expiry.
fn settable_cookie(cookie: &Value) -> Value {
    let mut cookie = cookie.clone();
    if let Some(fields) = cookie.as_object_mut() {
        if fields.get("session") == Some(&Value::Bool(true)) {
            fields.remove("expires");
        }
        fields.remove("session");
        fields.remove("size");
    }
    cookie
}

/// A page whose requests get empty documents as responses.
struct StandIn {
    session: Arc<Session>,
    /// Notified when a document is loaded.
    loaded: Arc<Notify>,
}

impl StandIn {
    async fn attach(connection: &Connection, target: &str) -> Result<StandIn, BrowserError> {
        let (session, mut events) = connection.attach(target).await?;
        let session = Arc::new(session);
        let everything = json!({"patterns": [{"urlPattern": "*"}]});
        session.call("Page.enable", json!({})).await?;
        session.call("Fetch.enable", everything).await?;
        let loaded = Arc::new(Notify::new());
        let notify = loaded.clone();
        let weak_session = Arc::downgrade(&session);
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                let Some(session) = weak_session.upgrade() else {
                    return;
                };
                if event.method == "Page.loadEventFired" {
                    notify.notify_waiters();
                }
                if event.method == "Fetch.requestPaused"
                    && let Some(paused) = event.read::<Value>()
                {
                    let params = json!({
                        "requestId": paused["requestId"],
                        "responseCode": 200,
                        "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
                        "body": "",
                    });
                    session.post("Fetch.fulfillRequest", params);
                }
            }
        });
        Ok(StandIn { session, loaded })
    }

    /// Opens an origin, or `about:blank`.
    async fn open(&self, url: &str) -> Result<(), BrowserError> {
        let params = json!({"url": url});
        let loaded = self.loaded.notified();
        tokio::pin!(loaded);
        loaded.as_mut().enable();
        self.session.call("Page.navigate", params).await?;
        // A document that is evaluated too early may crash its renderer.
        timeout(limits::ADOPT_TIMEOUT, loaded)
            .await
            .map_err(|_| BrowserError::Timeout)?;
        let deadline = Instant::now() + limits::COMMAND_TIMEOUT;
        while Instant::now() < deadline {
            // The previous document may still respond, or just be gone.
            if let Ok(Value::String(now)) = self.evaluate("location.href").await
                && now.starts_with(url)
            {
                return Ok(());
            }
            tokio::time::sleep(limits::POLL).await;
        }
        Err(BrowserError::Timeout)
    }

    async fn evaluate(&self, expression: &str) -> Result<Value, BrowserError> {
        let params = json!({"expression": expression, "returnByValue": true});
        let mut response = self.session.call("Runtime.evaluate", params).await?;
        Ok(response["result"]["value"].take())
    }

    /// Stops intercepting the page's requests.
    async fn detach(self, connection: &Connection) {
        let detach = json!({"sessionId": self.session.id()});
        let _gone = connection.call("Target.detachFromTarget", detach).await;
    }
}
