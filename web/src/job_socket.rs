//! The WebSocket of a job. Delivers its messages until it closes; it does not reconnect, and it skips documents that
//! the caller already has.

use harvestman_core::api::live::LiveMessage;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, WebSocket};

use crate::browser;

/// An open socket, closed on drop.
pub struct JobSocket {
    socket: WebSocket,
    closed: js_sys::Promise,
    /// Resolves `closed`.
    resolve_closed: Option<js_sys::Function>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
}

impl JobSocket {
    /// Opens the socket at the status path of a job, starting after `skip` documents. Returns `None` if the browser
    /// refuses, for example because the key is not valid as a subprotocol.
    pub fn open(
        path: &str,
        skip: u64,
        key: Option<&str>,
        mut deliver: impl FnMut(LiveMessage) + 'static,
    ) -> Option<Self> {
        let url = format!(
            "{}{path}?skip={skip}",
            browser::origin().replacen("http", "ws", 1)
        );
        let socket = match key {
            Some(key) => WebSocket::new_with_str(&url, key),
            None => WebSocket::new(&url),
        }
        .ok()?;
        let on_message = Closure::new(move |event: MessageEvent| {
            let text = event.data().as_string();
            if let Some(message) = text.and_then(|text| serde_json::from_str(&text).ok()) {
                deliver(message);
            }
        });
        socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        let mut resolve_closed = None;
        let closed = js_sys::Promise::new(&mut |resolve, _| {
            socket.set_onclose(Some(&resolve));
            resolve_closed = Some(resolve);
        });
        Some(Self {
            socket,
            closed,
            resolve_closed,
            _on_message: on_message,
        })
    }

    /// Returns a function that closes the socket and ends [`JobSocket::closed`] without waiting for the server, which
    /// may be unreachable.
    pub fn closer(&self) -> impl Fn() + 'static {
        let (socket, resolve_closed) = (self.socket.clone(), self.resolve_closed.clone());
        move || {
            let _ = socket.close();
            if let Some(resolve_closed) = &resolve_closed {
                let _ = resolve_closed.call0(&JsValue::UNDEFINED);
            }
        }
    }

    /// Waits until the socket is closed.
    pub async fn closed(self) {
        let _ = wasm_bindgen_futures::JsFuture::from(self.closed.clone()).await;
    }
}

impl Drop for JobSocket {
    fn drop(&mut self) {
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        let _ = self.socket.close();
    }
}
