//! Monitors: pages that are checked on a schedule, each with its last result, and the form that creates one.

use harvestman_client::ClientError;
use harvestman_core::api::monitor::ListQuery;
use harvestman_core::api::monitor_response::{CheckSummary, Monitor, MonitorStatus};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::error_notice::error_notice;
use crate::components::icon::Glyph;
use crate::components::notice::{empty_state, skeleton};
use crate::components::screen_header::ScreenHeader;
use crate::console::{Console, show_poll};
use crate::limits::MONITORS_LISTED;
use crate::{clock, display, route, text};

mod form;

pub use form::EditMonitor;
use form::NewMonitor;

/// Renders the screen.
#[component]
pub fn MonitorsPage() -> impl IntoView {
    let console = Console::get();
    let monitors = RwSignal::new(None::<Result<Vec<Monitor>, ClientError>>);
    Effect::new(move |_| {
        console.polls.track();
        spawn_local(async move {
            let response = fetch_all(console)
                .await
                .inspect_err(|error| console.handle_error(error));
            show_poll(monitors, response);
        });
    });
    let now = clock::now();
    let list = move || match monitors.get() {
        None => skeleton(3),
        Some(Err(error)) => error_notice(&error),
        Some(Ok(monitors)) if monitors.is_empty() => empty_state(Glyph::Monitors, text::NO_MONITORS),
        Some(Ok(monitors)) => {
            let rows = monitors.into_iter().map(|monitor| row(monitor, now));
            view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
        }
    };
    view! {
        <ScreenHeader title="Monitors".to_owned() intro=|| view! { <p>{text::MONITORS_INTRO}</p> }/>
        <div class="stack">
            <section class="card" aria-label="Monitors">
                <div class="card-head">
                    <h2>"Monitors"</h2>
                </div>
                {list}
            </section>
            <NewMonitor/>
        </div>
    }
    .into_any()
}

/// Fetches all monitors of the team, part by part.
async fn fetch_all(console: Console) -> Result<Vec<Monitor>, ClientError> {
    let mut monitors = Vec::new();
    loop {
        let query = ListQuery {
            limit: MONITORS_LISTED,
            offset: monitors.len() as u64,
            status: None::<MonitorStatus>,
        };
        let part = console.client().monitors(query).await?;
        let is_last = (part.len() as u64) < MONITORS_LISTED;
        monitors.extend(part);
        if is_last {
            return Ok(monitors);
        }
    }
}

fn row(monitor: Monitor, now: ReadSignal<f64>) -> AnyView {
    let Monitor {
        id,
        name,
        status,
        schedule,
        next_run_at,
        last_check_summary,
        current_check_id,
        ..
    } = monitor;
    let next = move || match next_run_at {
        _ if current_check_id.is_some() => "checking now".to_owned(),
        Some(at) => {
            let seconds = (at.0 as f64 - now.get()) / 1000.0;
            format!("next in {}", display::duration(seconds.max(0.0)))
        }
        None => "paused".to_owned(),
    };
    view! {
        <li class="monitor-row">
            <a class="cut" href=route::monitor_href(&id)>{name}</a>
            {status_badge(status)}
            <code class="cut">{schedule.cron} " " {schedule.timezone}</code>
            <span class="cut">{summary_line(last_check_summary.as_ref())}</span>
            <span class="when">{next}</span>
        </li>
    }
    .into_any()
}

/// Renders the state of a monitor.
pub fn status_badge(status: MonitorStatus) -> AnyView {
    let class = match status {
        MonitorStatus::Active => "badge ok",
        MonitorStatus::Paused => "badge warn",
        MonitorStatus::Deleted => "badge",
    };
    view! { <span class=class>{status.as_str()}</span> }.into_any()
}

/// Returns the page counts of a check in words, those that need attention first.
pub fn summary_line(summary: Option<&CheckSummary>) -> String {
    let Some(summary) = summary else {
        return "not checked yet".to_owned();
    };
    let counts = [
        (summary.changed, "changed"),
        (summary.new, "new"),
        (summary.removed, "removed"),
        (summary.error, "failed"),
        (summary.same, "unchanged"),
    ];
    let parts = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, word)| format!("{} {word}", display::count(*count)))
        .collect();
    match parts.is_empty() {
        true => "no pages".to_owned(),
        false => parts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_what_needs_attention_first() {
        let summary = CheckSummary {
            total_pages: 1204,
            changed: 2,
            same: 1201,
            error: 1,
            ..CheckSummary::default()
        };
        assert_eq!(
            summary_line(Some(&summary)),
            "2 changed, 1 failed, 1,201 unchanged"
        );
        assert_eq!(summary_line(Some(&CheckSummary::default())), "no pages");
        assert_eq!(summary_line(None), "not checked yet");
    }
}
