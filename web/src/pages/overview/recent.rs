//! What was done last, one row a call, each leading to what came of it.

use harvestman_client::ConsoleJob;
use harvestman_core::api::team::Endpoint;
use leptos::prelude::*;

use super::Recent;
use crate::browser;
use crate::components::badge::JobBadge;
use crate::figures;
use crate::limits::RECENT_JOBS;
use crate::route::{self, BASE, Screen};

/// One call.
struct Row {
    id: String,
    kind: String,
    target: String,
    at: Option<f64>,
    /// The job of the call, as far as it is known.
    job: Option<ConsoleJob>,
}

/// Shows the calls, newest first.
pub fn rows(recent: Recent) -> AnyView {
    let rows: Vec<Row> = match recent.activity {
        Some(activity) => activity
            .into_iter()
            .map(|entry| Row {
                job: recent.jobs.iter().find(|job| job.id == entry.id).cloned(),
                kind: entry.endpoint.as_str().to_owned(),
                target: entry.target.unwrap_or_default(),
                at: Some(entry.created_at.0 as f64),
                id: entry.id.to_string(),
            })
            .collect(),
        None => recent
            .jobs
            .into_iter()
            .map(|job| Row {
                id: job.id.to_string(),
                kind: job.kind.clone(),
                target: job.url.clone(),
                at: job.created_at.map(|at| at.0 as f64),
                job: Some(job),
            })
            .collect(),
    };
    let rows = rows.into_iter().take(RECENT_JOBS).map(row);
    view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
}

fn row(row: Row) -> AnyView {
    let seconds = row.at.map(|at| (browser::now_ms() - at) / 1000.0);
    let pages = match (&row.job, row.kind.as_str()) {
        (Some(job), "crawl" | "batch_scrape") => figures::counted(job.completed, "page", "pages"),
        _ => String::new(),
    };
    let status = row.job.as_ref().map(|job| job.status.clone());
    let content = view! {
        <span class="cut mono">
            <span class="job-kind">{row.kind.replace('_', " ")}</span>
            {figures::short_url(&row.target).to_owned()}
        </span>
        {match status {
            Some(status) => view! { <JobBadge status/> }.into_any(),
            None => view! { <span></span> }.into_any(),
        }}
        <span class="num">{pages}</span>
        <span class="when">{seconds.map(figures::ago)}</span>
    };
    match href(&row) {
        Some(href) => view! { <li><a class="job-row" href=href>{content}</a></li> }.into_any(),
        None => view! { <li><div class="job-row">{content}</div></li> }.into_any(),
    }
}

/// Lists of pages and browsers have a screen of their own, a page is read beside its form; other calls lead to their form
/// with the same target.
fn href(row: &Row) -> Option<String> {
    let form = |screen: Screen| {
        let url = String::from(js_sys::encode_uri_component(&row.target));
        (!row.target.is_empty()).then(|| format!("{}?url={url}", screen.href()))
    };
    match Endpoint::parse(&row.kind)? {
        Endpoint::Crawl | Endpoint::BatchScrape => Some(route::job_href(&row.id)),
        Endpoint::Browser | Endpoint::Interact => Some(route::session_href(&row.id)),
        Endpoint::Scrape => Some(format!("{BASE}{}", route::scrape_path(&row.target, &row.id))),
        Endpoint::Map => form(Screen::Map),
        Endpoint::Search
        | Endpoint::Extract
        | Endpoint::Agent
        | Endpoint::Llmstxt
        | Endpoint::DeepResearch => None,
    }
}
