//! A state as a word and a dot.

use leptos::prelude::*;

/// Class of a job's state.
pub fn job_class(status: &str) -> &'static str {
    match status {
        "completed" => "badge ok",
        "scraping" | "processing" => "badge run",
        "failed" => "badge bad",
        "cancelled" => "badge warn",
        _ => "badge",
    }
}

/// The state of a job.
#[component]
pub fn JobBadge(#[prop(into)] status: Signal<String>) -> impl IntoView {
    view! { <span class=move || status.with(|status| job_class(status))>{move || status.get()}</span> }
        .into_any()
}
