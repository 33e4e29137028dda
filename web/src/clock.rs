//! The current time as a signal, for durations and countdowns that update on screen.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser;

/// Returns the milliseconds since 1970, updated every second until the calling component is removed.
pub fn now() -> ReadSignal<f64> {
    let (now, set_now) = signal(browser::now_ms());
    let tick = move || _ = set_now.try_set(browser::now_ms());
    if let Ok(handle) = set_interval_with_handle(tick, Duration::from_secs(1)) {
        on_cleanup(move || handle.clear());
    }
    now
}
