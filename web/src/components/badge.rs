//! Status badges: a word with a colored dot.

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
