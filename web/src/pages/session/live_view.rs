//! The live view of a session in an iframe. It is read-only until the user takes control; the color of the frame
//! and a label show which.

use leptos::prelude::*;

use super::{SessionScreen, State};
use crate::components::button::BusyButton;
use crate::components::code::copy;
use crate::components::icon::{Glyph, Icon};
use crate::route::Screen;
use crate::theme::Theme;
use crate::{browser, display, text};

/// Renders the live view, or a placeholder.
#[component]
pub fn LiveView(screen: SessionScreen) -> impl IntoView {
    let view_url = Memo::new(move |_| {
        let has_control = screen.has_control.get();
        screen.session.with(|session| {
            let session = &session.as_ref()?.session;
            let url = match has_control {
                true => &session.interactive_live_view_url,
                false => &session.live_view_url,
            };
            Some(url.clone()).filter(|url| !url.is_empty())
        })
    });
    view! {
        <section aria-label="Live view">
            <div class="live" class:control=move || screen.has_control.get()>
                {move || match (screen.state.get(), view_url.get()) {
                    (State::Live, Some(view_url)) => frame(screen, &view_url),
                    (State::Live, None) => placeholder(view! { <p>{text::NO_LIVE_VIEW}</p> }),
                    (State::Unknown, _) => view! { <div class="live-none"></div> }.into_any(),
                    (State::NotOpen, _) => not_opened(screen),
                    (State::Ended, _) => ended(screen),
                }}
            </div>
            <SessionUrls screen/>
        </section>
    }
    .into_any()
}

/// Renders the iframe. Its source is only the path of the URL, so that the view always comes from this server, even
/// if the URL has another host name.
fn frame(screen: SessionScreen, view_url: &str) -> AnyView {
    let has_control = screen.has_control.get_untracked();
    let theme = match screen.console.theme.get() {
        Theme::System => "",
        Theme::Light => "?theme=light",
        Theme::Dark => "?theme=dark",
    };
    let source = format!("{}{theme}", display::url_path(view_url));
    let (title, words) = match has_control {
        true => ("Live view; you have control", text::LIVE_VIEW_INTERACTIVE),
        false => ("Live view, read-only", text::LIVE_VIEW_READ_ONLY),
    };
    view! {
        <p class="live-bar">
            <span class=if has_control { "badge accent" } else { "badge" }>
                {if has_control { "you have control" } else { "read-only" }}
            </span>
            <span>{words}</span>
        </p>
        <iframe
            class="live-frame"
            src=source
            title=title
            allow="clipboard-write"
            on:load=move |_| screen.recorder.sync()
        ></iframe>
    }
    .into_any()
}

fn placeholder(content: impl IntoView + 'static) -> AnyView {
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

fn not_opened(screen: SessionScreen) -> AnyView {
    let opening = move || screen.busy.with(Option::is_some);
    placeholder(view! {
        <p>{text::BROWSER_NOT_OPEN}</p>
        <BusyButton
            busy=Signal::derive(opening)
            label="Open browser"
            busy_label="Opening"
            on_click=Callback::new(move |()| screen.open())
        />
    })
}

fn ended(screen: SessionScreen) -> AnyView {
    let session = screen.session.get();
    let url = session.as_ref().and_then(|session| session.url.clone());
    let ago = session.and_then(|session| session.ended_at);
    let ago = ago.map(|at| display::ago((browser::now_ms() - at.0 as f64) / 1000.0));
    let again = url.map(
        |url| view! { <a class="btn" href=Screen::Scrape.href_with("url", &url)>"Scrape page again"</a> },
    );
    placeholder(view! {
        <p>{ago.map(|ago| format!("This session ended {ago}. "))}{text::SESSION_ENDED}</p>
        {again}
    })
}

/// Renders buttons that copy the URLs of the session, for iframes and CDP clients.
#[component]
fn SessionUrls(screen: SessionScreen) -> impl IntoView {
    let urls = Memo::new(move |_| {
        let session = screen.session.get()?.session;
        (screen.state.get() == State::Live).then_some([
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
    let button = move |(name, title, view_url): (&'static str, &'static str, String)| {
        (!view_url.is_empty()).then(|| {
            view! {
                <button class="btn small quiet mono" title=title on:click=move |_| copy(screen.console, view_url.clone())>
                    {name}
                </button>
            }
        })
    };
    move || {
        urls.get().map(|urls| {
            view! {
                <div class="live-foot">
                    <span class="hint">"Copy URL"</span>
                    {urls.map(button).collect_view()}
                </div>
            }
        })
    }
}
