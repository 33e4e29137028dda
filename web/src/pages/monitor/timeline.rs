//! The checks of a monitor as bars, oldest first; each selects its check.

use harvestman_core::api::monitor_response::{Check, CheckStatus};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::{MonitorState, describe};
use crate::{clock, display, route, text};

/// Lowest bar, in percent.
const MIN_HEIGHT: u64 = 12;

/// Renders the timeline.
#[component]
pub(super) fn Timeline(known: MonitorState, selected: Memo<Option<Check>>) -> impl IntoView {
    let now = clock::now();
    let navigate = StoredValue::new_local(use_navigate());
    let largest = Memo::new(move |_| {
        let sizes = known.checks.with(|checks| checks.iter().map(changes).max());
        sizes.unwrap_or(0).max(1)
    });
    let oldest_first = move || {
        let mut checks = known.checks.get();
        checks.reverse();
        checks
    };
    let bar = move |check: Check| {
        let id = StoredValue::new(check.id.clone());
        let is_selected = move || {
            let is_this = |check: &Check| id.with_value(|id| check.id == *id);
            selected
                .with(|selected| selected.as_ref().is_some_and(is_this))
                .to_string()
        };
        let class = format!("check-bar {}", tone(&check));
        let size = changes(&check);
        let height = move || format!("{}%", MIN_HEIGHT + (100 - MIN_HEIGHT) * size / largest.get());
        let ago = display::ago((now.get_untracked() - check.created_at.0 as f64) / 1000.0);
        let label = format!("{}, {ago}", describe(&check));
        let show = move |_| {
            let monitor = known.id.get_value();
            let path = format!("{}?check={}", route::monitor_path(&monitor), id.get_value());
            let options = NavigateOptions {
                replace: true,
                scroll: false,
                ..NavigateOptions::default()
            };
            navigate.with_value(|navigate| navigate(&path, options));
        };
        view! {
            <li>
                <button type="button" class=class title=label.clone() aria-label=label aria-pressed=is_selected on:click=show>
                    <span style:height=height></span>
                </button>
            </li>
        }
    };
    view! {
        <section class="card" aria-label="Timeline">
            <div class="card-head">
                <h2>"Timeline"</h2>
                <span class="count">{move || known.checks.with(Vec::len)}</span>
            </div>
            <ol class="timeline">
                <For each=oldest_first key=|check| (check.id.clone(), check.updated_at.0) children=bar/>
            </ol>
            <p class="card-foot">{text::TIMELINE_HELP}</p>
        </section>
    }
    .into_any()
}

/// Returns the number of pages of a check that differ from the previous one.
fn changes(check: &Check) -> u64 {
    let summary = &check.summary;
    summary.changed + summary.new + summary.removed + summary.error
}

/// Returns the CSS class of a check.
fn tone(check: &Check) -> &'static str {
    match check.status {
        CheckStatus::Queued | CheckStatus::Running => "run",
        CheckStatus::Failed | CheckStatus::Partial => "bad",
        CheckStatus::SkippedOverlap | CheckStatus::SkippedNoCredits => "warn",
        CheckStatus::Completed if changes(check) > 0 => "accent",
        CheckStatus::Completed => "quiet",
    }
}
