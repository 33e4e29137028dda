//! Results that the server does not store, kept in this browser: the id of a run is in the URL of its screen, so that
//! reloading the screen or going back shows the result again.

use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use crate::exchange::{Exchange, RequestState};
use crate::result_url::ResultUrl;
use crate::route::Screen;
use crate::text;

#[wasm_bindgen(module = "/assets/results.js")]
extern "C" {
    async fn keep(id: &str, text: &str) -> JsValue;
    async fn find(id: &str) -> JsValue;
    async fn forget();
}

/// Removes the results of every run.
pub async fn clear() {
    forget().await;
}

/// The result of a screen. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct KeptResult(ResultUrl);

impl KeptResult {
    /// Shows the result whose id is in the URL, as soon as it is read. `show` returns its view.
    pub fn new<T: DeserializeOwned + 'static>(
        screen: Screen,
        exchange: Exchange,
        show: impl Fn(T) -> RequestState + Copy + Send + Sync + 'static,
    ) -> Self {
        Self(ResultUrl::new(screen, move |id| {
            exchange.send(None, move |_| {
                Some(Box::pin(async move {
                    let text = find(&id).await.as_string();
                    let result = text.and_then(|text| serde_json::from_str(&text).ok());
                    Ok(result.map_or_else(not_kept, show))
                }))
            });
        }))
    }

    /// Keeps a result that has an id and writes the id to the URL. Returns whether the browser could store it.
    pub async fn keep(self, id: Option<impl ToString>, result: &impl Serialize) -> bool {
        let (Some(id), Ok(text)) = (id, serde_json::to_string(result)) else {
            return false;
        };
        let id = id.to_string();
        let is_kept = keep(&id, &text).await.as_bool() == Some(true);
        if is_kept {
            self.0.write(&id);
        }
        is_kept
    }
}

fn not_kept() -> RequestState {
    RequestState::done(|| view! { <div class="empty"><p>{text::RESULT_NOT_KEPT}</p></div> }.into_any())
}
