//! Batch: form for a list of pages, with import from a file, and code. Starting a batch opens its job.

use harvestman_core::api::BatchScrapeRequest;
use leptos::prelude::*;

use crate::components::code::CodeCard;
use crate::components::panes::Panes;
use crate::components::screen_header::ScreenHeader;
use crate::draft::{Draft, Endpoint};
use crate::job_start::JobStart;
use crate::request_form::RequestForm;
use crate::text;

/// Renders the screen.
#[component]
pub fn BatchPage() -> impl IntoView {
    let draft = Draft::restore(Endpoint::Batch);
    let start = JobStart::new(
        draft,
        "Batch started",
        async |client, request: BatchScrapeRequest| Ok(client.start_batch_scrape(&request).await?.id),
    );
    view! {
        <ScreenHeader title="Batch".to_owned() intro=|| view! { <p>{text::BATCH_INTRO}</p> }/>
        <Panes>
            <RequestForm draft run=start.run busy=start.busy action="Start batch" busy_action="Starting"/>
            <div class="stack">
                <CodeCard draft/>
            </div>
        </Panes>
    }
    .into_any()
}
