//! The navigation: at the side, or at the bottom of a phone.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::components::icon::{Icon, Picture};
use crate::console::Console;
use crate::route::Screen;
use crate::text;

/// Shows the navigation.
#[component]
pub fn Nav() -> impl IntoView {
    let console = Console::get();
    let path = use_location().pathname;
    let link = move |screen: Screen| {
        let picture = match screen {
            Screen::Overview => Picture::Overview,
            Screen::Scrape => Picture::Scrape,
            Screen::Crawl => Picture::Crawl,
            Screen::Settings => Picture::Settings,
        };
        let running = move || {
            (screen == Screen::Crawl)
                .then(|| console.active.with(Vec::len))
                .filter(|count| *count > 0)
        };
        view! {
            <a
                class="nav-link"
                href=screen.href()
                aria-current=move || path.with(|path| screen.owns(path)).then_some("page")
            >
                <Icon picture/>
                {screen.name()}
                {move || {
                    running()
                        .map(|count| {
                            view! { <span class="nav-count">{count}<span class="unseen">" running"</span></span> }
                        })
                }}
            </a>
        }
    };
    view! {
        <nav class="nav" aria-label="Main">
            <a class="brand" href=Screen::Overview.href()>
                <Icon picture=Picture::Mark/>
                {text::PRODUCT}
            </a>
            {Screen::ALL.map(link).collect_view()}
            <div class="nav-foot">
                <button class="btn quiet small" on:click=move |_| console.help.set(true)>
                    <kbd>"?"</kbd>
                    "Shortcuts"
                </button>
                {move || {
                    console
                        .info
                        .with(|info| {
                            (!info.version.is_empty()).then(|| format!("{} {}", text::PRODUCT, info.version))
                        })
                }}
            </div>
        </nav>
    }
    .into_any()
}
