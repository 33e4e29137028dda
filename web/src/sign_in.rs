//! Sign-in and polling. The API key comes from a one-time code in the URL (`#start=CODE`), from browser storage, or
//! from the user. The code is removed from the URL at once; the key never enters it. [`poll`] polls the server and
//! updates the signals of [`Console`].

use harvestman_core::api::job::StatusQuery;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::console::{Access, Console};
use crate::limits::{POLL_BUSY_MS, POLL_MS};
use crate::storage;
use crate::text;

const KEY: &str = "harvestman:apiKey";

/// Returns whether the key is stored on this device rather than for this tab.
pub fn is_remembered() -> bool {
    stored_key(storage::device()).is_some()
}

fn stored_key(storage: Option<web_sys::Storage>) -> Option<String> {
    storage?
        .get_item(KEY)
        .ok()
        .flatten()
        .filter(|key| !key.is_empty())
}

/// Stores the key either on this device or for this tab, never both.
pub fn store_key(key: &str, on_device: bool) {
    let (target, other) = match on_device {
        true => (storage::device(), storage::session()),
        false => (storage::session(), storage::device()),
    };
    if let Some(storage) = target {
        let _ = storage.set_item(KEY, key);
    }
    if let Some(storage) = other {
        let _ = storage.remove_item(KEY);
    }
}

/// Deletes the stored key and signs out.
pub fn sign_out(console: Console) {
    for storage in [storage::device(), storage::session()].into_iter().flatten() {
        let _ = storage.remove_item(KEY);
    }
    console.key.set(None);
    console.active.set(Vec::new());
    console.sessions.set(Vec::new());
    console.access.set(Access::SignedOut(None));
}

/// Signs in if possible, then polls the server for as long as the console is open.
pub fn start(console: Console) {
    spawn_local(async move {
        let problem = match take_code() {
            Some(code) => exchange_code(console, &code).await.err(),
            None => None,
        };
        if console.key.get_untracked().is_none() {
            let key = stored_key(storage::session()).or_else(|| stored_key(storage::device()));
            console.key.set(key);
        }
        match console.key.get_untracked() {
            Some(_) => console.access.set(Access::Granted),
            None => check_open_mode(console, problem).await,
        }
        poll_forever(console).await;
    });
}

/// Validates a key with a request. A valid key is stored and used.
pub async fn try_key(console: Console, key: String, on_device: bool) -> Result<(), String> {
    let client = harvestman_client::Client::new(browser::origin(), Some(key.clone()));
    let active = client.active_crawls().await.map_err(|error| error.to_string())?;
    store_key(&key, on_device);
    console.active.set(active.crawls);
    console.key.set(Some(key));
    console.access.set(Access::Granted);
    Ok(())
}

/// Sets the access without a key: the readiness response says whether the server is in open mode.
async fn check_open_mode(console: Console, problem: Option<String>) {
    console.access.set(match console.client().ready().await {
        Ok(readiness) if readiness.open => Access::Granted,
        Ok(_) => Access::SignedOut(problem),
        Err(error) => Access::SignedOut(problem.or(Some(error.to_string()))),
    });
}

async fn exchange_code(console: Console, code: &str) -> Result<(), String> {
    match console.client().console_start(code).await {
        Ok(signed_in) => {
            store_key(&signed_in.api_key, is_remembered());
            console.key.set(Some(signed_in.api_key));
            console.notify(text::SIGNED_IN);
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Removes the one-time code from the URL and returns it.
fn take_code() -> Option<String> {
    let location = window().location();
    let fragment = location.hash().ok()?;
    let code = fragment.strip_prefix("#start=")?.to_owned();
    let clean = format!("{}{}", location.pathname().ok()?, location.search().ok()?);
    let history = window().history().ok()?;
    let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&clean));
    Some(code).filter(|code| !code.is_empty())
}

/// Polls the server for as long as the console is open, and at once when the tab becomes visible or the network
/// returns.
async fn poll_forever(console: Console) {
    browser::on_return(move || {
        console.reconnects.update(|count| *count += 1);
        spawn_local(poll(console));
    });
    loop {
        if !browser::is_hidden() {
            poll(console).await;
        }
        let busy = !console.active.with_untracked(Vec::is_empty);
        browser::sleep(if busy { POLL_BUSY_MS } else { POLL_MS }).await;
    }
}

/// Polls health, running crawls, sessions and server facts once.
pub async fn poll(console: Console) {
    match console.client().ready().await {
        Ok(readiness) => {
            if console.disconnected.get_untracked() {
                console.disconnected.set(false);
                console.reconnects.update(|count| *count += 1);
            }
            if console
                .readiness
                .with_untracked(|known| known.as_ref() != Some(&readiness))
            {
                console.readiness.set(Some(readiness));
            }
        }
        Err(_) => console.disconnected.set(true),
    }
    if console.access.get_untracked() == Access::Granted {
        // Create the client here: the key may have changed since the request above.
        let client = console.client();
        match client.active_crawls().await {
            Ok(active) => {
                if console.active.with_untracked(|known| *known != active.crawls) {
                    console.active.set(active.crawls);
                }
            }
            Err(error) => console.handle_error(&error),
        }
        if let Ok(mut response) = client.console_sessions().await {
            response.sessions.retain(|one| one.ended_at.is_none());
            if console
                .sessions
                .with_untracked(|known| *known != response.sessions)
            {
                console.sessions.set(response.sessions);
            }
        }
        if let Ok(info) = client.console_info().await {
            // While a slot is free, nothing waits.
            let waiting = match info.concurrency < info.limits.max_concurrency.max(1) {
                true => Some(0),
                false => client
                    .queue_status()
                    .await
                    .ok()
                    .map(|queue| queue.waiting_jobs_in_queue),
            };
            if let Some(waiting) = waiting.filter(|now| console.waiting.get_untracked() != *now) {
                console.waiting.set(waiting);
            }
            if console.info.with_untracked(|known| *known != info) {
                console.info.set(info);
            }
        }
    }
    console.polls.update(|polls| *polls += 1);
}

/// Returns the query of a status request that only needs the counters, with the fewest documents possible.
pub fn counters_only() -> StatusQuery {
    StatusQuery {
        skip: 0,
        limit: Some(1),
    }
}
