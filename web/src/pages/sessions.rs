//! Sessions: live browser sessions of the team, each with a button to stop it, and those that ended in the last
//! 24 hours.

use harvestman_core::api::console::ConsoleSession;
use harvestman_core::ids::SessionId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::clock;
use crate::components::badge::live_badge;
use crate::components::dialog::Confirm;
use crate::components::icon::{Glyph, Icon};
use crate::components::notice::{problem_in_card, skeleton};
use crate::components::screen_header::ScreenHeader;
use crate::console::{Console, show_poll};
use crate::route::{self, Screen};
use crate::{display, text};

mod open_browser;

use open_browser::OpenBrowser;

/// Renders the screen.
#[component]
pub fn SessionsPage() -> impl IntoView {
    let console = Console::get();
    let sessions = RwSignal::new(None::<Result<Vec<ConsoleSession>, String>>);
    let load = move || {
        spawn_local(async move {
            let response = console.client().console_sessions().await;
            let list = response
                .map(|response| response.sessions)
                .map_err(|error| console.report(&error));
            show_poll(sessions, list);
        });
    };
    Effect::new(move |_| {
        console.polls.track();
        load();
    });
    let now = clock::now();
    let live = Memo::new(move |_| matching(sessions, |session| session.ended_at.is_none()));
    let ended = Memo::new(move |_| matching(sessions, |session| session.ended_at.is_some()));
    let to_stop = RwSignal::new(None::<String>);
    let confirming = RwSignal::new(false);
    let on_confirm = Callback::new(move |()| {
        let Some(id) = to_stop.get_untracked() else { return };
        spawn_local(async move {
            stop(console, &id).await;
            load();
        });
    });
    let on_stop = Callback::new(move |id: String| {
        to_stop.set(Some(id));
        confirming.set(true);
    });
    let state = move || match sessions.get() {
        None => Some(skeleton(3)),
        Some(Err(problem)) => Some(problem_in_card(&problem)),
        Some(Ok(_)) => live.with(Vec::is_empty).then(|| {
            view! {
                <div class="empty">
                    <Icon glyph=Glyph::Sessions/>
                    <p>{text::NO_SESSIONS}</p>
                    <a class="btn" href=Screen::Scrape.href()>"Scrape page"</a>
                </div>
            }
            .into_any()
        }),
    };
    view! {
        <ScreenHeader title="Sessions".to_owned() intro=|| view! { <p>{text::SESSIONS_INTRO}</p> }/>
        <div class="stack">
            <OpenBrowser/>
            <section class="card" aria-label="Live sessions">
                <div class="card-head">
                    <h2>"Live"</h2>
                    {move || {
                        let count = live.with(Vec::len);
                        (count > 0).then(|| view! { <span class="count">{count}</span> })
                    }}
                </div>
                <ul class="rows">
                    <For each=move || live.get() key=|session| session.session.id.clone() let:session>
                        <LiveRow live id=session.session.id on_stop/>
                    </For>
                </ul>
                {state}
            </section>
            <Show when=move || ended.with(|ended| !ended.is_empty())>
                <section class="card" aria-label="Ended sessions">
                    <div class="card-head">
                        <h2>"Ended in the last 24 hours"</h2>
                    </div>
                    <ul class="rows">
                        {move || ended.get().iter().map(|session| ended_row(session, now)).collect_view()}
                    </ul>
                </section>
            </Show>
        </div>
        <Confirm open=confirming title=text::STOP_TITLE subject=Signal::derive(move || to_stop.get().unwrap_or_default()) text=text::STOP_TEXT confirm_label="Stop session" cancel_label="Keep session" on_confirm/>
    }
    .into_any()
}

fn matching(
    sessions: RwSignal<Option<Result<Vec<ConsoleSession>, String>>>,
    predicate: fn(&ConsoleSession) -> bool,
) -> Vec<ConsoleSession> {
    sessions.with(|sessions| match sessions {
        Some(Ok(all)) => all.iter().filter(|session| predicate(session)).cloned().collect(),
        _ => Vec::new(),
    })
}

/// Stops a session and reports its duration and cost in a toast.
pub async fn stop(console: Console, id: &str) {
    let Ok(id) = id.parse::<SessionId>() else { return };
    match console.client().delete_browser(id).await {
        Ok(ended) => console.notify(format!(
            "Session stopped after {}, {}",
            display::duration(ended.session_duration_ms as f64 / 1000.0),
            display::plural(ended.credits_billed, "credit", "credits")
        )),
        Err(error) => console.notify_error(&error),
    }
}

/// Returns the name of a session: the URL of its scrape, or "Standalone browser".
pub fn session_name(session: &ConsoleSession) -> String {
    match &session.url {
        Some(url) => display::short_url(url).to_owned(),
        None => "Standalone browser".to_owned(),
    }
}

#[component]
fn LiveRow(live: Memo<Vec<ConsoleSession>>, id: String, on_stop: Callback<String>) -> impl IntoView {
    let now = clock::now();
    let session_id = id.clone();
    let session = Memo::new(move |_| {
        live.with(|live| {
            live.iter()
                .find(|session| session.session.id == session_id)
                .cloned()
        })
    });
    let facts = move || {
        let session = session.get()?;
        let lived = display::duration((now.get() - session.session.created_at.0 as f64) / 1000.0);
        let left = session
            .ends_at
            .map(|at| display::duration(((at.0 as f64 - now.get()) / 1000.0).max(0.0)));
        Some(view! {
            <span class="num">{lived}</span>
            <span class="num">{display::plural(session.credits, "credit", "credits")}</span>
            <span class="when">{left.map(|left| format!("stops in {left}"))}</span>
        })
    };
    let name = session
        .with_untracked(|session| session.as_ref().map(session_name))
        .unwrap_or_default();
    let label = format!("Stop the session of {name}");
    view! {
        <li class="session-row">
            <a class="mono cut" href=route::session_href(&id)>{name}</a>
            {live_badge()}
            {facts}
            <button class="btn small danger" aria-label=label on:click=move |_| on_stop.run(id.clone())>
                "Stop"
            </button>
        </li>
    }
    .into_any()
}

fn ended_row(session: &ConsoleSession, now: ReadSignal<f64>) -> AnyView {
    let ended = session.ended_at.map_or(0.0, |at| at.0 as f64);
    let lived = display::duration((ended - session.session.created_at.0 as f64) / 1000.0);
    let ago = move || display::ago((now.get() - ended) / 1000.0);
    view! {
        <li class="session-row">
            <a class="mono cut" href=route::session_href(&session.session.id)>{session_name(session)}</a>
            <span class="badge">"ended"</span>
            <span class="num">{lived}</span>
            <span class="num">{display::plural(session.credits, "credit", "credits")}</span>
            <span class="when">{ago}</span>
            <span></span>
        </li>
    }
    .into_any()
}
