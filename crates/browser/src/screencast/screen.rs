//! What the viewers of one browser share: the last picture, the tabs, and the number of viewers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Bytes;
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::limits;
use crate::page::Page;

/// A picture of the current page.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// JPEG.
    pub jpeg: Bytes,
    /// Width and height of the shown area, in CSS pixels.
    pub size: (f64, f64),
    /// Height that the browser shows above the page, in CSS pixels.
    pub(super) top: f64,
}

impl Frame {
    /// Converts a point of the picture (0 to 1 in both directions) to page coordinates.
    pub(crate) fn to_page(&self, x: f64, y: f64) -> (f64, f64) {
        let clamp_unit = |value: f64| {
            if value.is_finite() {
                value.clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        let (width, height) = self.size;
        (clamp_unit(x) * width, clamp_unit(y) * height - self.top)
    }
}

/// State shared by all viewers of one browser.
pub(crate) struct Screen {
    pub(super) frame: watch::Sender<Option<Arc<Frame>>>,
    pub(super) tabs: watch::Sender<Arc<Tabs>>,
    pub(super) viewers: AtomicUsize,
    /// Number of viewers that may give input.
    pub(super) controllers: AtomicUsize,
    /// Notified when a viewer has taken a picture.
    pub(super) frame_taken: Notify,
    /// Notified when something changed that viewers should see.
    pub(super) refresh_requested: Notify,
    /// Whether the task that takes pictures is running.
    pub(super) running: Mutex<bool>,
}

impl Default for Screen {
    fn default() -> Self {
        Screen {
            frame: watch::Sender::new(None),
            tabs: watch::Sender::default(),
            viewers: AtomicUsize::new(0),
            controllers: AtomicUsize::new(0),
            frame_taken: Notify::new(),
            refresh_requested: Notify::new(),
            running: Mutex::new(false),
        }
    }
}

/// The open tabs of a browser.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tabs {
    /// In the order of opening.
    pub tabs: Vec<Tab>,
    /// Id of the current tab; empty if there is none.
    pub current: String,
    /// The open dialog of the current tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<OpenDialog>,
}

/// A dialog of a page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OpenDialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// Message of the dialog, cut at [`limits::MAX_DIALOG_CHARS`].
    pub message: String,
    /// Default text of a `prompt`, cut at the same length.
    pub text: String,
}

/// One tab.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tab {
    /// Target id of its page.
    pub id: String,
    /// Title of the document; may be empty.
    pub title: String,
    /// URL of the document.
    pub url: String,
    /// Whether the tab is navigating.
    pub busy: bool,
}

impl Screen {
    pub(super) fn running(&self) -> MutexGuard<'_, bool> {
        self.running.lock()
    }

    /// Returns the open dialog of a page, and extends its time while there is a viewer who may answer it.
    pub(super) fn open_dialog(&self, page: &Page) -> Option<OpenDialog> {
        let mut state = page.state();
        let dialog = state.dialog.as_mut()?;
        if self.controllers.load(Ordering::Acquire) > 0 {
            let longest = dialog.opened + limits::MAX_DIALOG_TIME;
            let extended = Instant::now() + limits::DIALOG_TIMEOUT;
            dialog.dismiss_at = dialog.dismiss_at.max(extended.min(longest));
        }
        Some(OpenDialog {
            kind: dialog.kind.clone(),
            message: truncate(&dialog.message, limits::MAX_DIALOG_CHARS),
            text: truncate(&dialog.text, limits::MAX_DIALOG_CHARS),
        })
    }

    /// Returns whether there are no viewers left, and in that case stops taking pictures.
    pub(super) fn stop_if_unwatched(&self) -> bool {
        let mut running = self.running();
        *running = self.viewers.load(Ordering::Acquire) > 0;
        if !*running {
            // The next viewer must not get an outdated picture.
            self.frame.send_replace(None);
        }
        !*running
    }
}

/// Returns the first `max_chars` characters of a text.
pub(super) fn truncate(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}
