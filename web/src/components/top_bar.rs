//! Top bar: server host and health, running work, command palette, theme and API key.

use harvestman_core::api::health::Readiness;
use leptos::prelude::*;

use crate::browser;
use crate::components::icon::{Glyph, Icon};
use crate::console::{Access, Console};
use crate::display;
use crate::route::Screen;

/// Renders the bar.
#[component]
pub fn TopBar() -> impl IntoView {
    let console = Console::get();
    let health = move || match (
        console.disconnected.get(),
        console
            .readiness
            .with(|known| known.as_ref().map(Readiness::is_ready)),
    ) {
        (true, _) => ("dot bad", "not responding"),
        (false, Some(true)) => ("dot ok", "ready"),
        (false, Some(false)) => ("dot warn", "not ready"),
        (false, None) => ("dot", "checking"),
    };
    let slots = move || {
        console.info.with(|info| match info.limits.max_concurrency {
            0 => String::new(),
            limit => format!(
                "{} of {} slots",
                display::count(info.concurrency),
                display::count(limit)
            ),
        })
    };
    let running = move || match console.active.with(Vec::len) {
        0 => String::new(),
        count => display::plural(count as u64, "crawl running", "crawls running"),
    };
    let waiting = move || match console.waiting.get() {
        0 => String::new(),
        count => format!("{} waiting", display::plural(count, "page", "pages")),
    };
    let switch_theme = move |_| {
        let next = console.theme.get_untracked().next();
        next.choose();
        console.theme.set(next);
        console.notify(format!("Theme: {}", next.name().to_lowercase()));
    };
    view! {
        <header class="top">
            <Icon glyph=Glyph::Mark class="top-mark"/>
            <span class="top-server" title=move || format!("Server: {}", health().1)>
                <span class=move || health().0></span>
                <span class="cut">{browser::host()}</span>
                <span class="sr-only">{move || health().1}</span>
            </span>
            <span class="top-opt">{slots}</span>
            <span class="top-opt">{waiting}</span>
            <span class="top-opt">{running}</span>
            <span class="grow"></span>
            <button class="top-go" aria-haspopup="dialog" on:click=move |_| console.palette_open.set(true)>
                <span class="top-words">"Go to screen or job"</span>
                <kbd>"Ctrl K"</kbd>
            </button>
            <button
                class="btn small quiet"
                on:click=switch_theme
                aria-label=move || format!("Theme: {}. Switch theme", console.theme.get().name())
            >
                <Icon glyph=Glyph::Theme/>
                <span class="top-phone">{move || console.theme.get().name()}</span>
            </button>
            <a class="btn small quiet top-key" href=Screen::Settings.href()>
                <span class="sr-only">"API key and settings: "</span>
                {move || match (console.access.get(), console.key.get()) {
                    (_, Some(key)) => mask_key(&key),
                    (Access::Granted, None) => "no key needed".to_owned(),
                    (_, None) => "no key".to_owned(),
                }}
            </a>
        </header>
    }
    .into_any()
}

/// Masks a key except for its first 6 and last 2 characters; a key of less than 10 characters is hidden entirely.
pub fn mask_key(key: &str) -> String {
    let letters: Vec<char> = key.chars().collect();
    match letters.len() {
        0..10 => "\u{2022}\u{2022}\u{2022}\u{2022}".to_owned(),
        count => {
            let first: String = letters[..6].iter().collect();
            let last: String = letters[count - 2..].iter().collect();
            format!("{first}\u{2026}{last}")
        }
    }
}
