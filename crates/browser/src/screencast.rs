//! What a live browser shows to viewers: pictures of the current page as it changes, and the tabs.
//!
//! The browser takes pictures only while somebody watches. Each picture is acknowledged only after a viewer
//! has taken it, so a slow viewer slows the browser down instead of filling a queue; only the newest waiting
//! picture is kept. A new viewer gets the last picture at once, because an idle page sends none.

mod cast;
pub(crate) mod screen;
mod tabs;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::limits;
use crate::live::LiveBrowser;
use cast::Screencast;

pub use screen::{Frame, OpenDialog, Tab, Tabs};

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

/// Sends pictures and tabs to viewers for as long as there are any.
async fn send_updates(browser: LiveBrowser) {
    let screen = browser.screen().clone();
    let mut cast: Option<Screencast> = None;
    let mut view_interval = interval(limits::VIEW_POLL);
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
        let mut tabs = tabs::read(&browser, page.target()).await;
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
