//! The time as a signal, for what counts up or down while one looks at it.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser;

/// Milliseconds since 1970, every second anew, for as long as the component that asked for it is there.
pub fn ticking() -> ReadSignal<f64> {
    let (now, set_now) = signal(browser::now_ms());
    let tick = move || _ = set_now.try_set(browser::now_ms());
    if let Ok(handle) = set_interval_with_handle(tick, Duration::from_secs(1)) {
        on_cleanup(move || handle.clear());
    }
    now
}
