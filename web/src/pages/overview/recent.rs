//! Recent API calls, one row each, linked to their results.

use harvestman_core::api::console::ConsoleJob;
use harvestman_core::api::team::{Call, Endpoint};
use leptos::prelude::*;

use super::RecentActivity;
use crate::components::badge::call_badge;
use crate::limits::RECENT_CALLS;
use crate::{browser, display, route};

/// Renders the latest calls.
pub fn rows(RecentActivity { calls, jobs }: RecentActivity) -> AnyView {
    let rows = calls.into_iter().take(RECENT_CALLS).map(|call| row(call, &jobs));
    view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
}

fn row(Call { entry, outcome, .. }: Call, jobs: &[ConsoleJob]) -> AnyView {
    let ago = display::ago((browser::now_ms() - entry.created_at.0 as f64) / 1000.0);
    let job = jobs.iter().find(|job| job.id == entry.id);
    let pages = match (job, entry.endpoint) {
        (Some(job), Endpoint::Crawl | Endpoint::BatchScrape) => {
            display::plural(job.completed, "page", "pages")
        }
        _ => String::new(),
    };
    let content = view! {
        <span class="cut mono">
            <span class="job-kind">{entry.endpoint.as_str().replace('_', " ")}</span>
            {display::short_url(entry.target.as_deref().unwrap_or_default()).to_owned()}
        </span>
        {match outcome {
            Some(outcome) => call_badge(entry.endpoint, outcome),
            None => view! { <span></span> }.into_any(),
        }}
        <span class="num">{pages}</span>
        <span class="when">{ago}</span>
    };
    match route::call_href(&entry) {
        Some(href) => view! { <li><a class="job-row" href=href>{content}</a></li> }.into_any(),
        None => view! { <li><div class="job-row">{content}</div></li> }.into_any(),
    }
}
