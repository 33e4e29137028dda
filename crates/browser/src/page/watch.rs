//! Tracks the state of a page from its events: its document, its loading progress, its requests in flight.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until, timeout_at};
use url::Url;

use super::intercept::{self, Interception};
use crate::cdp::{Event, Session};
use crate::error::BrowserError;
use crate::limits;

/// The current state of a page.
pub(crate) struct PageState {
    main_frame: String,
    /// Loader id of the main frame's document.
    pub(crate) loader: String,
    /// URL of the document.
    pub(crate) url: String,
    /// Response of the document.
    pub(crate) response: Option<DocumentResponse>,
    pub(crate) dom_ready: bool,
    pub(crate) loaded: bool,
    /// The main frame is navigating.
    pub(crate) navigating: bool,
    /// The URL is a download.
    pub(crate) download: bool,
    pub(crate) interception: Interception,
    /// When the page was last opened or selected; `None` for a page that was never used.
    pub(crate) last_used: Option<Instant>,
    /// Origins of all documents that were loaded.
    pub(crate) origins: BTreeSet<String>,
    /// The open dialog, if any.
    pub(crate) dialog: Option<Dialog>,
    /// Why the page cannot be used any more.
    pub(crate) end_reason: Option<BrowserError>,
    in_flight: HashSet<String>,
    quiet_since: Instant,
}

/// A dialog that blocks the scripts of a page until it is answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub(crate) kind: String,
    /// Message of the dialog.
    pub(crate) message: String,
    /// Default text of a `prompt`.
    pub(crate) text: String,
    pub(crate) opened: Instant,
    /// When the dialog is dismissed, unless it has been answered.
    pub(crate) dismiss_at: Instant,
}

/// How requests and dialogs of a page are answered.
pub(crate) struct PagePolicy {
    pub(crate) interception: Interception,
    /// How long a dialog waits for an answer before it is dismissed.
    pub(crate) dialog_timeout: Duration,
}

/// Head of a document's response.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentResponse {
    pub(crate) status: u16,
    pub(crate) mime_type: String,
}

/// Tracks the events of one page.
pub(crate) struct Watch {
    state: Mutex<PageState>,
    changed: Notify,
}

impl Watch {
    /// Tracks `events` until they end. Unanswered dialogs are dismissed so that scripts continue.
    pub(crate) fn start(
        session: &Arc<Session>,
        main_frame: String,
        policy: PagePolicy,
        mut events: mpsc::Receiver<Event>,
    ) -> Arc<Watch> {
        let watch = Arc::new(Watch {
            state: Mutex::new(PageState {
                main_frame,
                loader: String::new(),
                url: String::new(),
                response: None,
                dom_ready: false,
                loaded: false,
                navigating: false,
                download: false,
                interception: policy.interception,
                last_used: None,
                dialog: None,
                origins: BTreeSet::new(),
                end_reason: None,
                in_flight: HashSet::new(),
                quiet_since: Instant::now(),
            }),
            changed: Notify::new(),
        });
        let watching = watch.clone();
        // A weak reference: the session ends with the page, not with this task.
        let session = Arc::downgrade(session);
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if let Some(session) = session.upgrade() {
                    let state = &mut *watching.state();
                    if intercept::resume(&event, &session, &state.main_frame, &mut state.interception) {
                        continue;
                    }
                }
                if let Some(dialog) = opened_dialog(&event, policy.dialog_timeout) {
                    watching.state().dialog = Some(dialog.clone());
                    tokio::spawn(dismiss(watching.clone(), session.clone(), dialog.opened));
                }
                watching.state().apply(&event);
                watching.changed.notify_waiters();
            }
            watching.state().end_reason.get_or_insert(BrowserError::Gone);
            watching.changed.notify_waiters();
        });
        watch
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, PageState> {
        self.state.lock()
    }

    /// Waits until `condition` returns a value.
    ///
    /// # Errors
    /// If the page ends or the deadline passes first.
    pub(crate) async fn until<T>(
        &self,
        deadline: Instant,
        mut condition: impl FnMut(&PageState) -> Option<T>,
    ) -> Result<T, BrowserError> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let state = self.state();
                if let Some(error) = &state.end_reason {
                    return Err(error.clone());
                }
                if let Some(found) = condition(&state) {
                    return Ok(found);
                }
            }
            timeout_at(deadline, changed)
                .await
                .map_err(|_| BrowserError::Timeout)?;
        }
    }

    /// Waits until the document is loaded and no request has been in flight for `quiet`, at most until the
    /// deadline.
    pub(crate) async fn wait_until_idle(
        &self,
        quiet: Duration,
        deadline: Instant,
    ) -> Result<(), BrowserError> {
        loop {
            let idle_since = |state: &PageState| {
                let is_idle = state.loaded && !state.navigating && state.in_flight.is_empty();
                is_idle.then_some(state.quiet_since)
            };
            let since = match self.until(deadline, idle_since).await {
                Ok(since) => since,
                Err(BrowserError::Timeout) => return Ok(()),
                Err(error) => return Err(error),
            };
            let idle_at = since + quiet;
            if Instant::now() >= idle_at {
                return Ok(());
            }
            if idle_at > deadline {
                sleep_until(deadline).await;
                return Ok(());
            }
            sleep_until(idle_at).await;
        }
    }
}

/// Returns the dialog that an event reports.
fn opened_dialog(event: &Event, timeout: Duration) -> Option<Dialog> {
    if event.method != "Page.javascriptDialogOpening" {
        return None;
    }
    let opening: DialogOpening = event.read()?;
    let opened = Instant::now();
    Some(Dialog {
        kind: opening.r#type,
        message: opening.message,
        text: opening.default_prompt,
        opened,
        dismiss_at: opened + timeout,
    })
}

/// Dismisses a dialog when its time is up, unless it has been answered. A page that asks whether to leave it is left.
async fn dismiss(watch: Arc<Watch>, session: Weak<Session>, opened: Instant) {
    let is_leaving = loop {
        let (dismiss_at, is_leaving) = match &watch.state().dialog {
            Some(dialog) if dialog.opened == opened => (dialog.dismiss_at, dialog.kind == "beforeunload"),
            _ => return,
        };
        if dismiss_at <= Instant::now() {
            break is_leaving;
        }
        sleep_until(dismiss_at).await;
    };
    if let Some(session) = session.upgrade() {
        session.post("Page.handleJavaScriptDialog", json!({"accept": is_leaving}));
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DialogOpening {
    message: String,
    r#type: String,
    #[serde(default)]
    default_prompt: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameEvent<'a> {
    #[serde(borrow)]
    frame_id: Cow<'a, str>,
    #[serde(borrow)]
    loader_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    loader_id: String,
    url: String,
    #[serde(default)]
    url_fragment: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestEvent {
    request_id: String,
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    frame_id: String,
    response: Option<DocumentResponse>,
}

impl PageState {
    fn apply(&mut self, event: &Event) {
        match event.method.as_str() {
            "Page.frameNavigated" => self.navigated(event),
            "Page.lifecycleEvent" => self.lifecycle(event),
            "Page.navigatedWithinDocument" => {
                if let Some(FrameEvent { url: Some(url), .. }) = self.main_frame_event(event) {
                    self.url = url.into_owned();
                }
            }
            "Page.frameStartedLoading" | "Page.frameStartedNavigating" => {
                self.navigating |= self.main_frame_event(event).is_some();
            }
            "Page.frameStoppedLoading" if self.main_frame_event(event).is_some() => {
                self.navigating = false;
                self.loaded = true;
            }
            "Page.downloadWillBegin" => self.download |= self.main_frame_event(event).is_some(),
            "Network.requestWillBeSent" => {
                if let Some(request) = event.read::<RequestEvent>()
                    && !matches!(
                        request.r#type.as_str(),
                        "EventSource" | "WebSocket" | "Ping" | "Media"
                    )
                    && self.in_flight.len() < limits::MAX_WATCHED_REQUESTS
                {
                    self.in_flight.insert(request.request_id);
                }
            }
            "Network.responseReceived" => {
                if let Some(request) = event.read::<RequestEvent>()
                    && request.r#type == "Document"
                    && request.frame_id == self.main_frame
                {
                    self.response = request.response;
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                if let Some(request) = event.read::<RequestEvent>() {
                    self.in_flight.remove(&request.request_id);
                    self.quiet_since = Instant::now();
                }
            }
            "Page.javascriptDialogClosed" => self.dialog = None,
            "Inspector.targetCrashed" => self.end_reason = Some(BrowserError::Crashed),
            _ => {}
        }
    }

    fn navigated(&mut self, event: &Event) {
        let Some(FrameNavigated { frame }) = event.read() else {
            return;
        };
        if let Ok(url) = Url::parse(&frame.url)
            && matches!(url.scheme(), "http" | "https")
            && self.origins.len() < limits::MAX_STORED_ORIGINS
        {
            self.origins.insert(url.origin().ascii_serialization());
        }
        if frame.id != self.main_frame {
            return;
        }
        self.last_used = Some(Instant::now());
        self.loader = frame.loader_id;
        self.url = frame.url + &frame.url_fragment;
        self.dom_ready = false;
        self.loaded = false;
        self.in_flight.clear();
        self.quiet_since = Instant::now();
    }

    fn lifecycle(&mut self, event: &Event) {
        let Some(FrameEvent { loader_id, name, .. }) = self.main_frame_event(event) else {
            return;
        };
        if loader_id.is_none_or(|loader| loader != self.loader) {
            return;
        }
        match name.as_deref() {
            Some("DOMContentLoaded") => self.dom_ready = true,
            Some("load") => {
                self.dom_ready = true;
                self.loaded = true;
                self.quiet_since = Instant::now();
            }
            _ => {}
        }
    }

    fn main_frame_event<'a>(&self, event: &'a Event) -> Option<FrameEvent<'a>> {
        let event: FrameEvent<'a> = event.read()?;
        (event.frame_id == self.main_frame).then_some(event)
    }
}
