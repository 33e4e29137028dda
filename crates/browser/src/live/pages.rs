//! The open pages of a live browser, and which of them is the current one.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
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
    creating_hidden: AtomicBool,
    /// A newly opened page is being set up.
    setting_up: AtomicBool,
    /// An external client handles HTTP authentication requests.
    authentication_delegated: AtomicBool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachedEvent {
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
struct DetachedEvent {
    session_id: String,
}

impl Pages {
    /// Sets up the existing pages and all future ones. New pages wait until `visitor` is applied.
    /// Events of downloads are passed on to `downloads`.
    pub(crate) async fn track(
        connection: &Connection,
        visitor: Visitor,
        downloads: mpsc::Sender<Event>,
    ) -> Result<Arc<Pages>, BrowserError> {
        let pages = Arc::new(Pages {
            connection: connection.clone(),
            visitor,
            open: Mutex::default(),
            changed: Notify::new(),
            creating_hidden: AtomicBool::new(false),
            setting_up: AtomicBool::new(false),
            authentication_delegated: AtomicBool::new(false),
        });
        tokio::spawn(pages.clone().listen(connection.events(), downloads));
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
    pub(crate) fn delegate_authentication(&self) {
        self.authentication_delegated.store(true, Ordering::Release);
        for page in self.open.lock().iter() {
            page.delegate_authentication();
        }
    }

    /// Returns all open pages, in the order of opening.
    pub(crate) fn all(&self) -> Vec<Arc<Page>> {
        self.open.lock().clone()
    }

    /// Returns the page that was most recently opened or selected.
    pub(crate) fn current(&self) -> Option<Arc<Page>> {
        let open = self.open.lock();
        let last_used = |page: &&Arc<Page>| page.state().last_used;
        open.iter().rev().max_by_key(last_used).cloned()
    }

    /// Makes a page the current one; does nothing if there is no page with this target id.
    pub(crate) fn choose(&self, target: &str) {
        let page = self
            .open
            .lock()
            .iter()
            .find(|page| page.target() == target)
            .cloned();
        if let Some(page) = page {
            page.state().last_used = Some(Instant::now());
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
            .wait_for(|open| open.iter().find(|page| page.target() == target).cloned())
            .await?;
        page.state().last_used = Some(Instant::now());
        Ok(page)
    }

    /// Waits for the first page of the browser.
    pub(crate) async fn first(&self) -> Result<Arc<Page>, BrowserError> {
        self.wait_for(|open| open.first().cloned()).await
    }

    /// Opens an empty page that never becomes the current one, and returns its target id.
    pub(crate) async fn create_hidden(&self) -> Result<String, BrowserError> {
        self.creating_hidden.store(true, Ordering::Release);
        let target = json!({"url": "about:blank", "background": true});
        let created = self.connection.call("Target.createTarget", target).await;
        self.creating_hidden.store(false, Ordering::Release);
        Ok(text(&created?, "targetId"))
    }

    /// Waits until newly opened pages are set up.
    pub(crate) async fn wait_until_set_up(&self) -> Result<(), BrowserError> {
        let is_setting_up = || self.setting_up.load(Ordering::Acquire);
        self.wait_for(|_| (!is_setting_up()).then_some(())).await
    }

    async fn wait_for<T>(&self, look: impl Fn(&[Arc<Page>]) -> Option<T>) -> Result<T, BrowserError> {
        let deadline = Instant::now() + limits::ADOPT_TIMEOUT;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = look(&self.open.lock()) {
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

    async fn listen(self: Arc<Self>, mut events: mpsc::Receiver<Event>, downloads: mpsc::Sender<Event>) {
        // The browser also reports further sessions of known pages.
        let mut known_targets = HashSet::new();
        while let Some(event) = events.recv().await {
            match event.method.as_str() {
                "Target.attachedToTarget" => {
                    if let Some(attached) = event.read::<AttachedEvent>()
                        && attached.target_info.r#type == "page"
                        && known_targets.insert(attached.target_info.target_id.clone())
                    {
                        self.setting_up.store(true, Ordering::Release);
                        self.set_up_page(attached).await;
                        self.setting_up.store(false, Ordering::Release);
                    }
                }
                "Target.detachedFromTarget" => {
                    if let Some(detached) = event.read::<DetachedEvent>() {
                        self.open
                            .lock()
                            .retain(|page| page.session().id() != detached.session_id);
                    }
                }
                "Browser.downloadWillBegin" | "Browser.downloadProgress" => {
                    // Without a receiver the browser has ended.
                    let _ended = downloads.send(event).await;
                    continue;
                }
                _ => continue,
            }
            self.changed.notify_waiters();
        }
        self.open.lock().clear();
        self.changed.notify_waiters();
    }

    async fn set_up_page(&self, attached: AttachedEvent) {
        let target = attached.target_info;
        let has_opener = target.opener_id.is_some();
        let session = self.connection.adopt(attached.session_id.clone());
        if !has_opener && self.creating_hidden.load(Ordering::Acquire) {
            session.0.post("Runtime.runIfWaitingForDebugger", json!({}));
            return;
        }
        let setup = Page::adopt(
            &self.connection,
            target.target_id,
            session,
            &self.visitor,
            limits::DIALOG_TIMEOUT,
        );
        let result = timeout(limits::ADOPT_TIMEOUT, setup).await;
        match result.unwrap_or(Err(BrowserError::Timeout)) {
            Ok(page) => {
                if has_opener {
                    page.state().last_used = Some(Instant::now());
                }
                let mut open = self.open.lock();
                if self.authentication_delegated.load(Ordering::Acquire) {
                    page.delegate_authentication();
                }
                open.push(Arc::new(page));
            }
            // The page may be closed before its setup is complete.
            Err(error) => {
                tracing::debug!(%error, "cannot set up a new page");
                let detach = json!({"sessionId": attached.session_id});
                let _detached = self.connection.call("Target.detachFromTarget", detach).await;
            }
        }
    }
}
