//! The screencast of one page.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::cdp::{Event, Session};
use crate::error::BrowserError;
use crate::limits;
use crate::live::LiveBrowser;

use super::screen::{Frame, Screen};

/// A screencast with its own session; ends on drop.
pub(super) struct Screencast {
    browser: LiveBrowser,
    pub(super) target: String,
    session: Session,
    events: mpsc::Receiver<Event>,
    pending_ack: Option<PendingAck>,
}

/// The pending acknowledgement of the last picture; the browser sends no further picture before it.
struct PendingAck {
    picture: i64,
    /// Earliest time of the acknowledgement.
    due: Instant,
    /// Whether a viewer has taken the picture.
    is_taken: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScreencastFrame<'a> {
    #[serde(borrow)]
    data: Cow<'a, str>,
    metadata: Metadata,
    session_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    offset_top: f64,
    device_width: f64,
    device_height: f64,
}

impl Screencast {
    pub(super) async fn start(browser: &LiveBrowser, target: &str) -> Option<Screencast> {
        let start = async {
            let (session, events) = browser.connection().attach(target).await?;
            let cast = Screencast {
                browser: browser.clone(),
                target: target.to_owned(),
                session,
                events,
                pending_ack: None,
            };
            let (width, height) = limits::MAX_FRAME_SIZE;
            let wanted = json!({
                "format": "jpeg",
                "quality": limits::FRAME_QUALITY,
                "maxWidth": width,
                "maxHeight": height,
            });
            cast.session.call("Page.enable", json!({})).await?;
            cast.session.call("Page.startScreencast", wanted).await?;
            Ok::<_, BrowserError>(cast)
        };
        // A crashed page never responds.
        let result = timeout(limits::CAST_TIMEOUT, start).await;
        result
            .unwrap_or(Err(BrowserError::Timeout))
            .inspect_err(|error| tracing::debug!(%error, "cannot start the screencast of a page"))
            .ok()
    }

    /// Forwards pictures until the page ends. Cancel safe.
    pub(super) async fn run(&mut self, screen: &Screen) {
        loop {
            if let Some(pending_ack) = &mut self.pending_ack {
                if !pending_ack.is_taken {
                    // All viewers may be gone; continue in any case.
                    let _timed_out = timeout(limits::FRAME_TIMEOUT, screen.frame_taken.notified()).await;
                    pending_ack.is_taken = true;
                }
                sleep_until(pending_ack.due).await;
                let ack = json!({"sessionId": pending_ack.picture});
                self.session.post("Page.screencastFrameAck", ack);
                self.pending_ack = None;
            }
            let Some(event) = self.events.recv().await else {
                return;
            };
            match event.method.as_str() {
                "Page.screencastFrame" => {
                    let Some(frame) = event.read::<ScreencastFrame<'_>>() else {
                        continue;
                    };
                    self.pending_ack = Some(PendingAck {
                        picture: frame.session_id,
                        due: Instant::now() + limits::FRAME_INTERVAL,
                        is_taken: false,
                    });
                    if let Ok(jpeg) = BASE64_STANDARD.decode(frame.data.as_bytes()) {
                        let frame = Frame {
                            jpeg: jpeg.into(),
                            size: (frame.metadata.device_width, frame.metadata.device_height),
                            top: frame.metadata.offset_top,
                        };
                        screen.frame.send_replace(Some(Arc::new(frame)));
                    }
                }
                "Inspector.targetCrashed" => return,
                _ => {}
            }
        }
    }
}

impl Drop for Screencast {
    fn drop(&mut self) {
        let session = json!({"sessionId": self.session.id()});
        self.browser.connection().post("Target.detachFromTarget", session);
    }
}
