//! Tracks the state of a page from its events: its document, its loading progress, its requests in flight.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

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
pub(crate) struct State {
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
    pub(crate) used: Option<Instant>,
    /// Origins of all documents that were loaded.
    pub(crate) origins: BTreeSet<String>,
    /// The open dialog, if any.
    pub(crate) dialog: Option<Dialog>,
    /// Why the page cannot be used any more.
    pub(crate) ended: Option<BrowserError>,
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
    pub(crate) kept_until: Instant,
}

/// How requests and dialogs of a page are answered.
pub(crate) struct Answers {
    pub(crate) interception: Interception,
    /// How long a dialog waits for an answer before it is dismissed.
    pub(crate) patience: Duration,
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
    state: Mutex<State>,
    changed: Notify,
}

impl Watch {
    /// Tracks `events` until they end. Unanswered dialogs are dismissed so that scripts continue.
    pub(crate) fn start(
        session: &Arc<Session>,
        main_frame: String,
        answers: Answers,
        mut events: mpsc::Receiver<Event>,
    ) -> Arc<Watch> {
        let watch = Arc::new(Watch {
            state: Mutex::new(State {
                main_frame,
                loader: String::new(),
                url: String::new(),
                response: None,
                dom_ready: false,
                loaded: false,
                navigating: false,
                download: false,
                interception: answers.interception,
                used: None,
                dialog: None,
                origins: BTreeSet::new(),
                ended: None,
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
                if let Some(session) = session.upgrade()
                    && intercept::resume(&event, &session, &watching.state().interception)
                {
                    continue;
                }
                if let Some(dialog) = opened(&event, answers.patience) {
                    watching.state().dialog = Some(dialog.clone());
                    tokio::spawn(dismiss(watching.clone(), session.clone(), dialog.opened));
                }
                watching.state().apply(&event);
                watching.changed.notify_waiters();
            }
            watching.state().ended.get_or_insert(BrowserError::Gone);
            watching.changed.notify_waiters();
        });
        watch
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `look` returns a value.
    ///
    /// # Errors
    /// If the page ends or the deadline passes first.
    pub(crate) async fn until<T>(
        &self,
        deadline: Instant,
        mut look: impl FnMut(&State) -> Option<T>,
    ) -> Result<T, BrowserError> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let state = self.state();
                if let Some(error) = &state.ended {
                    return Err(error.clone());
                }
                if let Some(found) = look(&state) {
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
    pub(crate) async fn rest(&self, quiet: Duration, deadline: Instant) -> Result<(), BrowserError> {
        loop {
            let at_rest = |state: &State| {
                let still = state.loaded && !state.navigating && state.in_flight.is_empty();
                still.then_some(state.quiet_since)
            };
            let since = match self.until(deadline, at_rest).await {
                Ok(since) => since,
                Err(BrowserError::Timeout) => return Ok(()),
                Err(error) => return Err(error),
            };
            let rested = since + quiet;
            if Instant::now() >= rested {
                return Ok(());
            }
            if rested > deadline {
                sleep_until(deadline).await;
                return Ok(());
            }
            sleep_until(rested).await;
        }
    }
}

/// Returns the dialog that an event reports.
fn opened(event: &Event, patience: Duration) -> Option<Dialog> {
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
        kept_until: opened + patience,
    })
}

/// Dismisses a dialog when its time is up, unless it has been answered.
async fn dismiss(watch: Arc<Watch>, session: Weak<Session>, opened: Instant) {
    loop {
        let kept_until = match &watch.state().dialog {
            Some(dialog) if dialog.opened == opened => dialog.kept_until,
            _ => return,
        };
        if kept_until <= Instant::now() {
            break;
        }
        sleep_until(kept_until).await;
    }
    if let Some(session) = session.upgrade() {
        session.post("Page.handleJavaScriptDialog", json!({"accept": false}));
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

impl State {
    fn apply(&mut self, event: &Event) {
        match event.method.as_str() {
            "Page.frameNavigated" => self.navigated(event),
            "Page.lifecycleEvent" => self.lifecycle(event),
            "Page.navigatedWithinDocument" => {
                if let Some(FrameEvent { url: Some(url), .. }) = self.of_main_frame(event) {
                    self.url = url.into_owned();
                }
            }
            "Page.frameStartedLoading" | "Page.frameStartedNavigating" => {
                self.navigating |= self.of_main_frame(event).is_some();
            }
            "Page.frameStoppedLoading" if self.of_main_frame(event).is_some() => {
                self.navigating = false;
                self.loaded = true;
            }
            "Page.downloadWillBegin" => self.download |= self.of_main_frame(event).is_some(),
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
            "Inspector.targetCrashed" => self.ended = Some(BrowserError::Crashed),
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
        self.used = Some(Instant::now());
        self.loader = frame.loader_id;
        self.url = frame.url + &frame.url_fragment;
        self.dom_ready = false;
        self.loaded = false;
        self.in_flight.clear();
        self.quiet_since = Instant::now();
    }

    fn lifecycle(&mut self, event: &Event) {
        let Some(FrameEvent { loader_id, name, .. }) = self.of_main_frame(event) else {
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

    fn of_main_frame<'a>(&self, event: &'a Event) -> Option<FrameEvent<'a>> {
        let event: FrameEvent<'a> = event.read()?;
        (event.frame_id == self.main_frame).then_some(event)
    }
}
