//! The open pages of a live browser, and which of them is the current one.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout, timeout_at};

use crate::cdp::{Connection, Event, text};
use crate::error::BrowserError;
use crate::limits;
use crate::page::Page;
use crate::visitor::Visitor;

/// All pages of one browser.
pub(crate) struct Pages {
    connection: Connection,
    visitor: Visitor,
    /// In the order of opening.
    open: Mutex<Vec<Arc<Page>>>,
    changed: Notify,
    /// A page without an opener that appears now was created by this server and stays hidden.
    hiding: AtomicBool,
    /// A newly opened page is being set up.
    adopting: AtomicBool,
    /// An external client handles HTTP authentication requests.
    authentication_left: AtomicBool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    r#type: String,
    opener_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    session_id: String,
}

impl Pages {
    /// Sets up the existing pages and all future ones. New pages wait until `visitor` is applied.
    pub(crate) async fn follow(
        connection: &Connection,
        visitor: Visitor,
    ) -> Result<Arc<Pages>, BrowserError> {
        let pages = Arc::new(Pages {
            connection: connection.clone(),
            visitor,
            open: Mutex::default(),
            changed: Notify::new(),
            hiding: AtomicBool::new(false),
            adopting: AtomicBool::new(false),
            authentication_left: AtomicBool::new(false),
        });
        tokio::spawn(pages.clone().listen(connection.events()));
        let attach = json!({
            "autoAttach": true,
            "waitForDebuggerOnStart": true,
            "flatten": true,
            "filter": [{"type": "page"}, {"exclude": true}],
        });
        connection.call("Target.setAutoAttach", attach).await?;
        Ok(pages)
    }

    pub(crate) fn visitor(&self) -> &Visitor {
        &self.visitor
    }

    /// Leaves HTTP authentication to an external client, in these pages and all future ones.
    pub(crate) fn leave_authentication(&self) {
        self.authentication_left.store(true, Ordering::Release);
        self.open().iter().for_each(|page| page.leave_authentication());
    }

    /// Returns all open pages, in the order of opening.
    pub(crate) fn all(&self) -> Vec<Arc<Page>> {
        self.open().clone()
    }

    /// Returns the page that was most recently opened or selected.
    pub(crate) fn current(&self) -> Option<Arc<Page>> {
        let open = self.open();
        let used = |page: &&Arc<Page>| page.state().used;
        open.iter().rev().max_by_key(used).cloned()
    }

    /// Makes a page the current one; does nothing if there is no page with this target id.
    pub(crate) fn choose(&self, target: &str) {
        let page = self.open().iter().find(|page| page.target() == target).cloned();
        if let Some(page) = page {
            page.state().used = Some(Instant::now());
        }
    }

    /// Opens an empty page, which becomes the current one.
    pub(crate) async fn create(&self) -> Result<Arc<Page>, BrowserError> {
        let target = json!({"url": "about:blank"});
        let target = text(
            &self.connection.call("Target.createTarget", target).await?,
            "targetId",
        );
        let page = self
            .until(|open| open.iter().find(|page| page.target() == target).cloned())
            .await?;
        page.state().used = Some(Instant::now());
        Ok(page)
    }

    /// Waits for the first page of the browser.
    pub(crate) async fn first(&self) -> Result<Arc<Page>, BrowserError> {
        self.until(|open| open.first().cloned()).await
    }

    /// Opens an empty page that never becomes the current one, and returns its target id.
    pub(crate) async fn create_hidden(&self) -> Result<String, BrowserError> {
        self.hiding.store(true, Ordering::Release);
        let target = json!({"url": "about:blank", "background": true});
        let created = self.connection.call("Target.createTarget", target).await;
        self.hiding.store(false, Ordering::Release);
        Ok(text(&created?, "targetId"))
    }

    /// Waits until newly opened pages are set up.
    pub(crate) async fn adopted(&self) -> Result<(), BrowserError> {
        let adopting = || self.adopting.load(Ordering::Acquire);
        self.until(|_| (!adopting()).then_some(())).await
    }

    async fn until<T>(&self, look: impl Fn(&[Arc<Page>]) -> Option<T>) -> Result<T, BrowserError> {
        let deadline = Instant::now() + limits::ADOPT_TIMEOUT;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = look(&self.open()) {
                return Ok(found);
            }
            if self.connection.has_ended() {
                return Err(BrowserError::Gone);
            }
            timeout_at(deadline, changed)
                .await
                .map_err(|_| BrowserError::Timeout)?;
        }
    }

    fn open(&self) -> MutexGuard<'_, Vec<Arc<Page>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn listen(self: Arc<Self>, mut events: mpsc::Receiver<Event>) {
        // The browser also reports further sessions of known pages.
        let mut seen = HashSet::new();
        while let Some(event) = events.recv().await {
            match event.method.as_str() {
                "Target.attachedToTarget" => {
                    if let Some(attached) = event.read::<Attached>()
                        && attached.target_info.r#type == "page"
                        && seen.insert(attached.target_info.target_id.clone())
                    {
                        self.adopting.store(true, Ordering::Release);
                        self.attached(attached).await;
                        self.adopting.store(false, Ordering::Release);
                    }
                }
                "Target.detachedFromTarget" => {
                    if let Some(detached) = event.read::<Detached>() {
                        self.open()
                            .retain(|page| page.session().id() != detached.session_id);
                    }
                }
                _ => continue,
            }
            self.changed.notify_waiters();
        }
        self.open().clear();
        self.changed.notify_waiters();
    }

    async fn attached(&self, attached: Attached) {
        let target = attached.target_info;
        let opened = target.opener_id.is_some();
        let session = self.connection.adopt(attached.session_id.clone());
        if !opened && self.hiding.load(Ordering::Acquire) {
            session.0.post("Runtime.runIfWaitingForDebugger", json!({}));
            return;
        }
        let adopting = Page::adopt(
            &self.connection,
            target.target_id,
            session,
            &self.visitor,
            limits::DIALOG_PATIENCE,
        );
        let adopted = match timeout(limits::ADOPT_TIMEOUT, adopting).await {
            Ok(adopted) => adopted,
            Err(_) => Err(BrowserError::Timeout),
        };
        match adopted {
            Ok(page) => {
                if opened {
                    page.state().used = Some(Instant::now());
                }
                let mut open = self.open();
                if self.authentication_left.load(Ordering::Acquire) {
                    page.leave_authentication();
                }
                open.push(Arc::new(page));
            }
            // The page may be closed before its setup is complete.
            Err(error) => {
                tracing::debug!(%error, "cannot set up a new page");
                let detach = json!({"sessionId": attached.session_id});
                let _gone = self.connection.call("Target.detachFromTarget", detach).await;
            }
        }
    }
}
