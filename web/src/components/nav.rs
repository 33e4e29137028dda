//! Main navigation: a sidebar, or on a phone a bottom bar whose "More" button lists the screens that do not fit.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::components::dialog::Dialog;
use crate::components::icon::{Glyph, Icon};
use crate::console::Console;
use crate::route::{NavSection, Screen};
use crate::text;

/// Renders the navigation.
#[component]
pub fn Nav() -> impl IntoView {
    let console = Console::get();
    let path = use_location().pathname;
    let more = RwSignal::new(false);
    // Close the "More" dialog after any navigation, including by keyboard or browser history.
    Effect::new(move |_| {
        path.track();
        more.set(false);
    });
    let is_current = move |screen: Screen| path.with(|path| screen.owns(path)).then_some("page");
    let running = move |screen: Screen| match screen {
        Screen::Crawl => console.active.with(Vec::len),
        Screen::Sessions => console.sessions.with(Vec::len),
        _ => 0,
    };
    let link = move |screen: Screen, class: &'static str| {
        let count = move || {
            let count = running(screen);
            (count > 0).then(|| {
                view! { <span class="nav-count">{count}<span class="sr-only">" running"</span></span> }
            })
        };
        view! {
            <a class=class href=screen.href() aria-current=move || is_current(screen)>
                <Icon glyph=screen.glyph()/>
                {screen.name()}
                {count}
            </a>
        }
    };
    let docs = |class: &'static str| {
        view! {
            <a class=class href="/docs/api" rel="external">
                <Icon glyph=Glyph::Docs/>
                {text::API_REFERENCE}
            </a>
        }
    };
    let in_section = |section: NavSection| Screen::all().filter(move |screen| screen.section() == section);
    let work = Screen::all().filter(|screen| screen.section() != NavSection::Team);
    let work = work.map(move |screen| match screen.section() {
        NavSection::Primary => link(screen, "nav-link"),
        NavSection::Secondary | NavSection::Team => link(screen, "nav-link nav-rest"),
    });
    let team = in_section(NavSection::Team).map(move |screen| link(screen, "nav-link nav-rest"));
    let rest = Screen::all().filter(|screen| screen.section() != NavSection::Primary);
    let rest = rest.map(move |screen| link(screen, "nav-link")).collect_view();
    let is_rest = move || {
        Screen::all().any(|screen| screen.section() != NavSection::Primary && is_current(screen).is_some())
    };
    view! {
        <nav class="nav" aria-label="Main">
            <a class="brand" href=Screen::Overview.href()>
                <Icon glyph=Glyph::Mark/>
                {text::PRODUCT}
            </a>
            {work.collect_view()}
            <p class="nav-section">{text::TEAM}</p>
            {team.collect_view()}
            {docs("nav-link nav-rest")}
            <button
                type="button"
                class="nav-link nav-more"
                class:on=is_rest
                aria-haspopup="dialog"
                on:click=move |_| more.set(true)
            >
                <Icon glyph=Glyph::More/>
                "More"
            </button>
            <div class="nav-foot">
                <button class="btn quiet small" on:click=move |_| console.shortcuts_open.set(true)>
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
        <Dialog open=more title="More">
            <div class="nav-list">{rest} {docs("nav-link")}</div>
        </Dialog>
    }
    .into_any()
}
