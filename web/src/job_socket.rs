//! The live socket of a job: hands over its messages until it closes. It never opens a second one and never repeats a
//! document that the caller has.

use harvestman_core::api::live::LiveMessage;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, WebSocket};

use crate::browser;

/// An open socket. Dropping it closes it.
pub struct JobSocket {
    socket: WebSocket,
    closed: js_sys::Promise,
    /// Ends the wait for `closed`.
    end: Option<js_sys::Function>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
}

impl JobSocket {
    /// Opens the socket of a job at its status path, from the document after `skip` on. None where the browser
    /// refuses, as with a key that cannot stand in a handshake.
    pub fn open(
        path: &str,
        skip: u64,
        key: Option<&str>,
        mut told: impl FnMut(LiveMessage) + 'static,
    ) -> Option<Self> {
        let address = format!(
            "{}{path}?skip={skip}",
            browser::origin().replacen("http", "ws", 1)
        );
        let socket = match key {
            Some(key) => WebSocket::new_with_str(&address, key),
            None => WebSocket::new(&address),
        }
        .ok()?;
        let on_message = Closure::new(move |event: MessageEvent| {
            let text = event.data().as_string();
            if let Some(message) = text.and_then(|text| serde_json::from_str(&text).ok()) {
                told(message);
            }
        });
        socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        let mut end = None;
        let closed = js_sys::Promise::new(&mut |resolve, _| {
            socket.set_onclose(Some(&resolve));
            end = Some(resolve);
        });
        Some(Self {
            socket,
            closed,
            end,
            _on_message: on_message,
        })
    }

    /// Closes it from outside of who waits for its end, and does not wait for a server that may be gone.
    pub fn closer(&self) -> impl Fn() + 'static {
        let (socket, end) = (self.socket.clone(), self.end.clone());
        move || {
            let _ = socket.close();
            if let Some(end) = &end {
                let _ = end.call0(&JsValue::UNDEFINED);
            }
        }
    }

    /// Waits for its end.
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
