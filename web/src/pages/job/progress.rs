//! Progress of a job: pages, speed, errors, credits, time left and limiter; and its error and warning notices.

use harvestman_core::api::console::Limiter;
use harvestman_core::api::job::{JobProgress, JobStatus};
use leptos::prelude::*;

use crate::components::inline_code::inline_code;
use crate::components::notice::problem_notice;
use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::{display, text};

/// Renders the notices: error, warning, or a failed status request.
pub fn notices(feed: JobFeed) -> AnyView {
    let texts = feed.progress.with(|progress| {
        let progress = progress.as_ref()?;
        Some((progress.error.clone(), progress.warning.clone()))
    });
    let (error, warning) = texts.unwrap_or_default();
    let error = error.as_deref().map(problem_notice);
    let warning = warning.map(|text| view! { <div class="notice warn">{inline_code(&text)}</div> });
    // The banner already reports a server that does not respond at all.
    let retrying = feed.retrying.get() && !Console::get().disconnected.get();
    let retrying =
        retrying.then(|| view! { <div class="notice warn" role="status">{text::STATUS_RETRY}</div> });
    view! {
        {retrying}
        {error}
        {warning}
    }
    .into_any()
}

/// Renders the counters, and below them the children. If the health figures are shown, only they show the failures.
#[component]
pub fn Counters(feed: JobFeed, has_health: Memo<bool>, children: Children) -> impl IntoView {
    let number =
        move |of: fn(&JobProgress<()>) -> u64| feed.progress.with(|progress| progress.as_ref().map_or(0, of));
    let completed = move || number(|progress| progress.completed);
    let total = move || number(|progress| progress.total);
    let share = move || match (total(), status_is_completed(feed)) {
        (_, true) => 1.0,
        (0, false) => 0.0,
        (total, false) => (completed() as f64 / total as f64).min(1.0),
    };
    let errors = move || feed.errors.with(|errors| errors.errors.len() as u64);
    let robots = move || feed.errors.with(|errors| errors.robots_blocked.len() as u64);
    let left = move || match (feed.is_running(), feed.seconds_left()) {
        (true, Some(seconds)) => (display::duration(seconds), "Time left"),
        (true, None) => ("-".to_owned(), "Time left"),
        (false, _) => {
            let took = feed.progress.with(|progress| progress.as_ref()?.duration);
            (
                took.map_or_else(|| "-".to_owned(), display::duration),
                "Total time",
            )
        }
    };
    view! {
        <section class="card" aria-label="Progress">
            <div
                class="bar"
                role="progressbar"
                aria-label="Pages"
                aria-valuenow=move || completed().to_string()
                aria-valuemin="0"
                aria-valuemax=move || total().max(1).to_string()
            >
                <i style:transform=move || format!("scaleX({:.4})", share())></i>
            </div>
            <dl class="stats">
                <div class="stat">
                    <dt>"Pages"</dt>
                    <dd>{move || display::count(completed())}<small>"/ "{move || display::count(total())}</small></dd>
                </div>
                <div class="stat">
                    <dt>"Pages per second"</dt>
                    <dd>{move || display::rate(feed.speed.get())}</dd>
                </div>
                <Show when=move || !has_health.get()>
                    <div class="stat" class:bad=move || { errors() > 0 }>
                        <dt>"Errors"</dt>
                        <dd>{move || display::count(errors())}</dd>
                    </div>
                    <div class="stat">
                        <dt>"Blocked by robots.txt"</dt>
                        <dd>{move || display::count(robots())}</dd>
                    </div>
                </Show>
                <div class="stat">
                    <dt>"Credits"</dt>
                    <dd>{move || display::count(number(|progress| progress.credits_used))}</dd>
                </div>
                <div class="stat">
                    <dt>{move || left().1}</dt>
                    <dd>{move || left().0}</dd>
                </div>
            </dl>
            {children()}
            <Pace feed/>
        </section>
    }
    .into_any()
}

/// Renders one line with the counts of browser use, waits and retries, and the current limiter.
#[component]
fn Pace(feed: JobFeed) -> impl IntoView {
    let counts = move || feed.pace.with(|pace| pace.pages);
    let limiter = move || {
        let limiter = feed.pace.with(|pace| pace.limited_by);
        limiter
            .filter(|_| feed.is_running())
            .map_or(("nothing", ""), limiter_text)
    };
    view! {
        <dl class="pace">
            <div>
                <dt>"In browser"</dt>
                <dd>{move || display::count(counts().in_browser)}</dd>
            </div>
            <div>
                <dt>"Waited"</dt>
                <dd>{move || display::count(counts().waited)}</dd>
            </div>
            <div>
                <dt>"Retried"</dt>
                <dd>{move || display::count(counts().retried)}</dd>
            </div>
            <Show when=move || feed.is_running()>
                <div title=move || limiter().1>
                    <dt>"Limited by"</dt>
                    <dd>{move || limiter().0}</dd>
                </div>
            </Show>
        </dl>
    }
    .into_any()
}

/// Returns label and explanation of a limiter.
fn limiter_text(limiter: Limiter) -> (&'static str, &'static str) {
    match limiter {
        Limiter::HostDelay => ("host delay", text::LIMITED_BY_HOST_DELAY),
        Limiter::HostConcurrency => ("pages per site", text::LIMITED_BY_SITE),
        Limiter::Concurrency => ("concurrency", text::LIMITED_BY_CONCURRENCY),
        Limiter::Browser => ("browser", text::LIMITED_BY_BROWSER),
        Limiter::Conversion => ("conversion", text::LIMITED_BY_CONVERSION),
        Limiter::Storage => ("storage", text::LIMITED_BY_STORAGE),
    }
}

fn status_is_completed(feed: JobFeed) -> bool {
    feed.progress.with(|progress| {
        progress
            .as_ref()
            .is_some_and(|progress| progress.status == JobStatus::Completed)
    })
}
