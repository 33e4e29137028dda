//! Status badges: a word with a colored dot.

use harvestman_core::api::job::JobStatus;
use harvestman_core::api::team::Endpoint;
use leptos::prelude::*;

/// Returns the CSS class of a job status.
pub fn job_class(status: &str) -> &'static str {
    match status {
        "completed" => "badge ok",
        "scraping" | "processing" => "badge run",
        "failed" => "badge bad",
        "cancelled" => "badge warn",
        _ => "badge",
    }
}

/// Renders the status of a job.
#[component]
pub fn JobBadge(#[prop(into)] status: Signal<String>) -> impl IntoView {
    view! { <span class=move || status.with(|status| job_class(status))>{move || status.get()}</span> }
        .into_any()
}

/// Renders the badge of a browser session that is open.
pub fn live_badge() -> AnyView {
    view! { <span class="badge run">"live"</span> }.into_any()
}

/// Renders the outcome of a call: that of a job, or that of a browser session.
pub fn call_badge(endpoint: Endpoint, outcome: JobStatus) -> AnyView {
    match (endpoint, outcome) {
        (Endpoint::Browser | Endpoint::Interact, JobStatus::Scraping) => live_badge(),
        _ => view! { <JobBadge status=outcome.to_string()/> }.into_any(),
    }
}
