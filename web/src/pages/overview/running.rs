//! Running work: crawls with their progress, and live browser sessions.

use std::collections::BTreeMap;

use harvestman_core::api::console::ConsoleSession;
use harvestman_core::api::crawl::ActiveCrawl;
use harvestman_core::api::job::StatusPath;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::clock;
use crate::components::badge::live_badge;
use crate::components::dialog::Confirm;
use crate::console::Console;
use crate::pages::sessions::session_name;
use crate::route::{self, Screen};
use crate::sign_in::counters_only;
use crate::{display, text};

/// Progress of a running crawl, in pages.
#[derive(Clone, Copy, PartialEq, Default)]
struct Progress {
    completed: u64,
    total: u64,
}

/// Renders the running crawls.
#[component]
pub fn Crawls() -> impl IntoView {
    let console = Console::get();
    let progress = RwSignal::new(BTreeMap::<JobId, Progress>::new());
    Effect::new(move |_| {
        console.polls.track();
        for crawl in console.active.get_untracked() {
            spawn_local(async move {
                if let Ok(status) = console
                    .client()
                    .job_status::<serde::de::IgnoredAny>(StatusPath::Crawl, crawl.id, counters_only())
                    .await
                {
                    let counts = Progress {
                        completed: status.completed,
                        total: status.total,
                    };
                    progress.try_update(|progress| progress.insert(crawl.id, counts));
                }
            });
        }
    });
    let confirming = RwSignal::new(false);
    let to_cancel = RwSignal::new(None::<JobId>);
    let on_confirm = Callback::new(move |()| {
        let Some(id) = to_cancel.get_untracked() else {
            return;
        };
        spawn_local(async move {
            match console.client().cancel_job(StatusPath::Crawl, id).await {
                Ok(_) => {
                    console
                        .active
                        .update(|active| active.retain(|crawl| crawl.id != id));
                    console.notify("Crawl cancelled");
                }
                Err(error) => console.notify_error(&error),
            }
        });
    });
    let cancel = Callback::new(move |id| {
        to_cancel.set(Some(id));
        confirming.set(true);
    });
    let subject = Signal::derive(move || {
        let id = to_cancel.get();
        let url = console.active.with(|active| {
            active
                .iter()
                .find(|crawl| Some(crawl.id) == id)
                .map(|crawl| crawl.url.to_string())
        });
        url.unwrap_or_default()
    });
    let row = move |crawl: ActiveCrawl| crawl_row(crawl, progress, cancel);
    view! {
        <section class="card" aria-label="Running crawls">
            <div class="card-head">
                <h2>"Running crawls"</h2>
                {move || {
                    let count = console.active.with(Vec::len);
                    (count > 0).then(|| view! { <span class="count">{count}</span> })
                }}
            </div>
            <ul class="rows">
                <For each=move || console.active.get() key=|crawl| crawl.id children=row/>
            </ul>
            <Show when=move || console.active.with(Vec::is_empty)>
                <p class="pad quiet-text">{text::NO_RUNNING_CRAWL}</p>
            </Show>
        </section>
        <Confirm open=confirming title=text::CANCEL_TITLE subject text=text::CANCEL_TEXT confirm_label="Cancel crawl" cancel_label="Keep running" on_confirm/>
    }
    .into_any()
}

/// Renders a crawl with its progress; `cancel` asks for confirmation.
fn crawl_row(
    crawl: ActiveCrawl,
    progress: RwSignal<BTreeMap<JobId, Progress>>,
    cancel: Callback<JobId>,
) -> AnyView {
    let id = crawl.id;
    let counts = Memo::new(move |_| progress.with(|progress| progress.get(&id).copied().unwrap_or_default()));
    let share = move || match counts.get() {
        Progress { total: 0, .. } => 0.0,
        Progress { completed, total } => completed as f64 / total as f64,
    };
    view! {
        <li class="live-row">
            <div class="live-line">
                <a class="mono cut" href=route::job_href(&id)>{display::short_url(&crawl.url).to_owned()}</a>
                <span class="grow"></span>
                <span class="mono nowrap">
                    {move || display::count(counts.get().completed)}
                    " / "
                    {move || display::count(counts.get().total)}
                </span>
                <button
                    class="btn small danger"
                    aria-label=format!("Cancel the crawl of {}", crawl.url)
                    on:click=move |_| cancel.run(id)
                >
                    "Cancel"
                </button>
            </div>
            <div
                class="bar thin"
                role="progressbar"
                aria-label="Pages"
                aria-valuenow=move || counts.get().completed.to_string()
                aria-valuemin="0"
                aria-valuemax=move || counts.get().total.to_string()
            >
                <i style:transform=move || format!("scaleX({:.4})", share())></i>
            </div>
        </li>
    }
    .into_any()
}

/// Renders the live sessions, or nothing if there are none.
#[component]
pub fn Sessions() -> impl IntoView {
    let console = Console::get();
    let row = |one: ConsoleSession| view! { <SessionRow id=one.session.id/> };
    view! {
        <Show when=move || console.sessions.with(|sessions| !sessions.is_empty())>
            <section class="card" aria-label="Live sessions">
                <div class="card-head">
                    <h2>"Live sessions"</h2>
                    <span class="count">{move || console.sessions.with(Vec::len)}</span>
                    <span class="grow"></span>
                    <a class="btn small quiet" href=Screen::Sessions.href()>"All sessions"</a>
                </div>
                <ul class="rows">
                    <For each=move || console.sessions.get() key=|one| one.session.id.clone() children=row/>
                </ul>
            </section>
        </Show>
    }
    .into_any()
}

#[component]
fn SessionRow(id: String) -> impl IntoView {
    let console = Console::get();
    let now = clock::now();
    let href = route::session_href(&id);
    let one = Memo::new(move |_| {
        console
            .sessions
            .with(|sessions| sessions.iter().find(|one| one.session.id == id).cloned())
    });
    let end_text = move || {
        let one = one.get()?;
        let left = one
            .ends_at
            .map_or(0.0, |at| ((at.0 as f64 - now.get()) / 1000.0).max(0.0));
        Some(format!("stops in {}", display::duration(left)))
    };
    view! {
        <li>
            <a class="job-row" href=href>
                <span class="cut mono">{move || one.with(|one| one.as_ref().map(session_name))}</span>
                {live_badge()}
                <span class="num">
                    {move || one.with(|one| one.as_ref().map(|one| display::plural(one.credits, "credit", "credits")))}
                </span>
                <span class="when">{end_text}</span>
            </a>
        </li>
    }
    .into_any()
}
