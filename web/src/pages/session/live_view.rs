//! The live view of a session in an iframe. It is read-only until the user takes control; the color of the frame
//! and a label show which.

use leptos::prelude::*;

use super::{Shown, State};
use crate::components::code::copy;
use crate::components::icon::{Glyph, Icon};
use crate::route::Screen;
use crate::theme::Theme;
use crate::{browser, display, text};

/// Renders the live view, or a placeholder.
#[component]
pub fn LiveView(shown: Shown) -> impl IntoView {
    let address = Memo::new(move |_| {
        let control = shown.control.get();
        shown.found.with(|one| {
            let session = &one.as_ref()?.session;
            let url = match control {
                true => &session.interactive_live_view_url,
                false => &session.live_view_url,
            };
            Some(url.clone()).filter(|url| !url.is_empty())
        })
    });
    view! {
        <section aria-label="Live view">
            <div class="live" class:control=move || shown.control.get()>
                {move || match (shown.state.get(), address.get()) {
                    (State::Live, Some(address)) => frame(shown, &address),
                    (State::Live, None) => instead(view! { <p>{text::NO_LIVE_VIEW}</p> }),
                    (State::Unknown, _) => view! { <div class="live-none"></div> }.into_any(),
                    (State::NotOpened, _) => not_opened(shown),
                    (State::Ended, _) => ended(shown),
                }}
            </div>
            <Addresses shown/>
        </section>
    }
    .into_any()
}

/// Renders the iframe. Its source is only the path of the URL, so that the view always comes from this server, even
/// if the URL has another host name.
fn frame(shown: Shown, address: &str) -> AnyView {
    let control = shown.control.get_untracked();
    let theme = match shown.console.theme.get() {
        Theme::System => "",
        Theme::Light => "?theme=light",
        Theme::Dark => "?theme=dark",
    };
    let source = format!("{}{theme}", display::url_path(address));
    let (title, words) = match control {
        true => ("Live view; you have control", text::LIVE_VIEW_INTERACTIVE),
        false => ("Live view, read-only", text::LIVE_VIEW_READ_ONLY),
    };
    view! {
        <p class="live-bar">
            <span class=if control { "badge accent" } else { "badge" }>
                {if control { "you have control" } else { "read-only" }}
            </span>
            <span>{words}</span>
        </p>
        <iframe class="live-frame" src=source title=title allow="clipboard-write"></iframe>
    }
    .into_any()
}

fn instead(content: impl IntoView + 'static) -> AnyView {
    view! {
        <div class="live-none">
            <div class="empty">
                <Icon glyph=Glyph::Sessions/>
                {content}
            </div>
        </div>
    }
    .into_any()
}

fn not_opened(shown: Shown) -> AnyView {
    let opening = move || shown.busy.with(Option::is_some);
    instead(view! {
        <p>{text::BROWSER_NOT_OPEN}</p>
        <button class="btn primary" aria-disabled=move || opening().to_string() on:click=move |_| shown.open()>
            {move || opening().then(|| view! { <span class="spin"></span> })}
            {move || if opening() { "Opening" } else { "Open browser" }}
        </button>
    })
}

fn ended(shown: Shown) -> AnyView {
    let one = shown.found.get();
    let url = one.as_ref().and_then(|one| one.url.clone());
    let ago = one.and_then(|one| one.ended_at);
    let ago = ago.map(|at| display::ago((browser::now_ms() - at.0 as f64) / 1000.0));
    let again = url.map(|url| {
        let url = String::from(js_sys::encode_uri_component(&url));
        view! { <a class="btn" href=format!("{}?url={url}", Screen::Scrape.href())>"Scrape page again"</a> }
    });
    instead(view! {
        <p>{ago.map(|ago| format!("This session ended {ago}. "))}{text::SESSION_ENDED}</p>
        {again}
    })
}

/// Renders buttons that copy the URLs of the session, for iframes and CDP clients.
#[component]
fn Addresses(shown: Shown) -> impl IntoView {
    let addresses = Memo::new(move |_| {
        let session = shown.found.get()?.session;
        (shown.state.get() == State::Live).then_some([
            (
                "liveViewUrl",
                "Read-only live view for an iframe",
                session.live_view_url,
            ),
            (
                "interactiveLiveViewUrl",
                "Interactive live view for an iframe",
                session.interactive_live_view_url,
            ),
            ("cdpUrl", "For Playwright and other CDP clients", session.cdp_url),
        ])
    });
    let button = move |(name, said, address): (&'static str, &'static str, String)| {
        (!address.is_empty()).then(|| {
            view! {
                <button class="btn small quiet mono" title=said on:click=move |_| copy(shown.console, address.clone())>
                    {name}
                </button>
            }
        })
    };
    move || {
        addresses.get().map(|addresses| {
            view! {
                <div class="live-foot">
                    <span class="hint">"Copy URL"</span>
                    {addresses.map(button).collect_view()}
                </div>
            }
        })
    }
}
