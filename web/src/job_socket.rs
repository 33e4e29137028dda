//! The live socket of a job: hands over its messages until it closes. It never opens a second one and never repeats a
//! document that the caller has.

use harvestman_core::api::live::LiveMessage;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{MessageEvent, WebSocket};

use crate::browser;

/// An open socket. Dropping it closes it.
pub struct JobSocket {
    socket: WebSocket,
    closed: js_sys::Promise,
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
        let closed = js_sys::Promise::new(&mut |resolve, _| socket.set_onclose(Some(&resolve)));
        Some(Self {
            socket,
            closed,
            _on_message: on_message,
        })
    }

    /// Closes it from outside of who waits for its end.
    pub fn closer(&self) -> impl Fn() + 'static {
        let socket = self.socket.clone();
        move || _ = socket.close()
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
