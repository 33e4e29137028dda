//! Overview: server health, credits of this month, running crawls and sessions, recent activity.

use harvestman_core::api::console::ConsoleJob;
use harvestman_core::api::team::{Call, UsageQuery};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::icon::Glyph;
use crate::components::inline_code::inline_code;
use crate::components::notice::{empty_state, skeleton};
use crate::components::screen_header::ScreenHeader;
use crate::console::{Console, show_poll};
use crate::limits::OVERVIEW_JOBS;
use crate::route::Screen;
use crate::{display, text};

mod first_run;
mod health;
mod recent;
mod running;

use first_run::FirstRun;
use running::{Crawls, Sessions};

/// Recent activity.
#[derive(Clone, PartialEq)]
struct RecentActivity {
    /// Calls of every kind, newest first.
    calls: Vec<Call>,
    /// Jobs with their progress.
    jobs: Vec<ConsoleJob>,
}

/// Renders the screen.
#[component]
pub fn Overview() -> impl IntoView {
    let console = Console::get();
    let recent = RwSignal::new(None::<Result<RecentActivity, String>>);
    // Credits used this month; none until known.
    let credits = RwSignal::new(None::<u64>);
    Effect::new(move |_| {
        console.polls.track();
        spawn_local(async move {
            let client = console.client();
            let response = client.calls(None, None, None, None).await;
            let calls = response.map_err(|error| console.report(&error));
            let jobs = client.console_jobs("", OVERVIEW_JOBS).await.map(|list| list.jobs);
            let loaded = calls.map(|calls| RecentActivity {
                calls: calls.data,
                jobs: jobs.unwrap_or_default(),
            });
            if recent.try_with_untracked(|known| known.as_ref() != Some(&loaded)) == Some(true) {
                show_poll(recent, loaded);
            }
            if let Ok(history) = client.credit_history(UsageQuery::default()).await {
                credits.try_set(history.periods.last().map(|month| month.credits_used));
            }
        });
    });
    let has_no_calls = Memo::new(move |_| {
        recent.with(|recent| matches!(recent, Some(Ok(recent)) if recent.calls.is_empty()))
    });
    let actions = || {
        view! {
            <a class="btn" href=Screen::Scrape.href()>"Scrape page"</a>
            <a class="btn primary" href=Screen::Crawl.href()>"Start crawl"</a>
        }
    };
    let month_credits = move || {
        credits.get().map(|credits| {
            view! {
                <div class="health-month">
                    <b class="mono">{display::count(credits)}</b>
                    <span>"credits this month"</span>
                </div>
            }
        })
    };
    view! {
        <ScreenHeader title="Overview".to_owned() intro=|| view! { <p>{text::OVERVIEW_INTRO}</p> } actions/>
        <div class="stack">
            <section class="card health-card" aria-label="Health">
                {move || match console.readiness.get() {
                    Some(readiness) => health::health_summary(&readiness),
                    None => skeleton(1),
                }}
                {month_credits}
            </section>
            <Show when=move || has_no_calls.get()>
                <FirstRun/>
            </Show>
            <Crawls/>
            <Sessions/>
            <section class="card" aria-label="Recent activity">
                <div class="card-head">
                    <h2>"Recent activity"</h2>
                </div>
                {move || match recent.get() {
                    None => skeleton(3),
                    Some(Err(problem)) => {
                        view! { <div class="pad"><div class="notice bad">{inline_code(&problem)}</div></div> }.into_any()
                    }
                    Some(Ok(recent)) if recent.calls.is_empty() => { empty_state(Glyph::Mark, text::OVERVIEW_EMPTY) }
                    Some(Ok(recent)) => recent::rows(recent),
                }}
            </section>
        </div>
    }
    .into_any()
}
