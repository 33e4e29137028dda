//! What a live browser shows to viewers: pictures of the current page as it changes, and the tabs.
//!
//! The browser takes pictures only while somebody watches. Each picture is acknowledged only after a viewer
//! has taken it, so a slow viewer slows the browser down instead of filling a queue; only the newest waiting
//! picture is kept. A new viewer gets the last picture at once, because an idle page sends none.

mod cast;
mod tabs;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::input::Point;
use crate::limits;
use crate::live::LiveBrowser;
use crate::page::Page;
use cast::Screencast;
use tabs::truncate;

pub use tabs::{OpenDialog, Tab, Tabs};

/// A picture of the current page.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// JPEG.
    pub jpeg: Bytes,
    /// Width and height of the shown area, in CSS pixels.
    pub size: (f64, f64),
    /// Height that the browser shows above the page, in CSS pixels.
    top: f64,
}

impl Frame {
    /// Converts a point of the picture (0 to 1 in both directions) to page coordinates.
    pub(crate) fn to_page(&self, point: Point) -> (f64, f64) {
        let clamp_unit = |value: f64| {
            if value.is_finite() {
                value.clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        let (width, height) = self.size;
        (
            clamp_unit(point.x) * width,
            clamp_unit(point.y) * height - self.top,
        )
    }
}

/// State shared by all viewers of one browser.
pub(crate) struct Screen {
    frame: watch::Sender<Option<Arc<Frame>>>,
    tabs: watch::Sender<Arc<Tabs>>,
    viewers: AtomicUsize,
    /// Number of viewers that may give input.
    controllers: AtomicUsize,
    /// Notified when a viewer has taken a picture.
    frame_taken: Notify,
    /// Notified when something changed that viewers should see.
    refresh_requested: Notify,
    /// Whether the task that takes pictures is running.
    running: Mutex<bool>,
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

/// The live view of a browser. Cheap to clone. For input see [`LiveView::input`].
#[derive(Clone)]
pub struct LiveView {
    pub(crate) browser: LiveBrowser,
}

/// One viewer.
pub struct Viewer {
    browser: LiveBrowser,
    frame: watch::Receiver<Option<Arc<Frame>>>,
    tabs: watch::Receiver<Arc<Tabs>>,
    /// Whether the viewer may give input.
    control: bool,
}

/// An update for a viewer.
#[derive(Clone, PartialEq, Debug)]
pub enum ViewUpdate {
    /// A picture.
    Frame(Arc<Frame>),
    /// Changed tabs, URLs or titles.
    Tabs(Arc<Tabs>),
}

impl LiveBrowser {
    /// Returns the live view of the browser.
    pub fn live_view(&self) -> LiveView {
        LiveView {
            browser: self.clone(),
        }
    }
}

impl LiveView {
    /// Adds a viewer; `None` if there are already [`limits::MAX_VIEWERS`]. While there is a viewer with
    /// `control`, dialogs wait longer for an answer.
    pub fn watch(&self, control: bool) -> Option<Viewer> {
        let screen = self.browser.screen();
        if screen.viewers.fetch_add(1, Ordering::AcqRel) >= limits::MAX_VIEWERS {
            screen.viewers.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        screen.controllers.fetch_add(control.into(), Ordering::AcqRel);
        let mut viewer = Viewer {
            browser: self.browser.clone(),
            frame: screen.frame.subscribe(),
            tabs: screen.tabs.subscribe(),
            control,
        };
        viewer.frame.mark_changed();
        viewer.tabs.mark_changed();
        let mut running = screen.running();
        if !*running {
            *running = true;
            tokio::spawn(send_updates(self.browser.clone()));
        }
        drop(running);
        Some(viewer)
    }

    /// Returns whether the browser has ended.
    pub fn has_ended(&self) -> bool {
        self.browser.has_ended()
    }

    /// Returns the last picture.
    pub(crate) fn last_frame(&self) -> Option<Arc<Frame>> {
        self.browser.screen().frame.borrow().clone()
    }

    /// Updates tabs and page at once.
    pub(crate) fn refresh(&self) {
        self.browser.screen().refresh_requested.notify_one();
    }
}

impl Viewer {
    /// Waits for the next update; `None` when the browser has ended. Cancel safe.
    pub async fn next(&mut self) -> Option<ViewUpdate> {
        loop {
            if self.browser.has_ended() {
                return None;
            }
            tokio::select! {
                biased;
                changed = self.tabs.changed() => {
                    changed.ok()?;
                    return Some(ViewUpdate::Tabs(self.tabs.borrow_and_update().clone()));
                }
                changed = self.frame.changed() => {
                    changed.ok()?;
                    let frame = self.frame.borrow_and_update().clone();
                    self.browser.screen().frame_taken.notify_one();
                    if let Some(frame) = frame {
                        return Some(ViewUpdate::Frame(frame));
                    }
                }
            }
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let screen = self.browser.screen();
        screen.viewers.fetch_sub(1, Ordering::AcqRel);
        screen
            .controllers
            .fetch_sub(self.control.into(), Ordering::AcqRel);
        screen.refresh_requested.notify_one();
    }
}

impl Screen {
    fn running(&self) -> MutexGuard<'_, bool> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open dialog of a page, and extends its time while there is a viewer who may answer it.
    fn open_dialog(&self, page: &Page) -> Option<OpenDialog> {
        let mut state = page.state();
        let dialog = state.dialog.as_mut()?;
        if self.controllers.load(Ordering::Acquire) > 0 {
            let longest = dialog.opened + limits::DIALOG_LONGEST;
            let extended = Instant::now() + limits::DIALOG_PATIENCE;
            dialog.dismiss_at = dialog.dismiss_at.max(extended.min(longest));
        }
        Some(OpenDialog {
            kind: dialog.kind.clone(),
            message: truncate(&dialog.message, limits::MAX_DIALOG_CHARS),
            text: truncate(&dialog.text, limits::MAX_DIALOG_CHARS),
        })
    }

    /// Returns whether there are no viewers left, and in that case stops taking pictures.
    fn stop_if_unwatched(&self) -> bool {
        let mut running = self.running();
        *running = self.viewers.load(Ordering::Acquire) > 0;
        if !*running {
            // The next viewer must not get an outdated picture.
            self.frame.send_replace(None);
        }
        !*running
    }
}

/// Sends pictures and tabs to viewers for as long as there are any.
async fn send_updates(browser: LiveBrowser) {
    let screen = browser.screen().clone();
    let mut cast: Option<Screencast> = None;
    let mut view_interval = interval(limits::VIEW_LOOK);
    view_interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !screen.stop_if_unwatched() {
        if browser.has_ended() {
            *screen.running() = false;
            // Wakes waiting viewers, which then notice the end.
            screen.tabs.send_modify(|_| {});
            return;
        }
        let page = match browser.page().await {
            Ok(page) => page,
            Err(error) => {
                tracing::debug!(%error, "no page to show");
                view_interval.tick().await;
                continue;
            }
        };
        if cast.as_ref().is_none_or(|cast| cast.target != page.target()) {
            cast = Screencast::start(&browser, page.target()).await;
        }
        let mut tabs = Tabs::read(&browser, page.target()).await;
        tabs.dialog = screen.open_dialog(&page);
        screen.tabs.send_if_modified(|known| {
            let changed = **known != tabs;
            if changed {
                *known = Arc::new(tabs);
            }
            changed
        });
        let streaming = async {
            match &mut cast {
                Some(cast) => cast.run(&screen).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = streaming => {
                cast = None;
                // Gives the page time to notice what ended the stream.
                view_interval.tick().await;
            }
            _ = view_interval.tick() => {}
            () = screen.refresh_requested.notified() => {}
        }
    }
}
