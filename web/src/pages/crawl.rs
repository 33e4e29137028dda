//! Crawl: form with suggested options, site preview and code. Starting a crawl opens its job.

use harvestman_core::api::CrawlRequest;
use leptos::prelude::*;

use crate::components::code::CodeCard;
use crate::components::panes::Panes;
use crate::components::screen_header::ScreenHeader;
use crate::draft::{Draft, Endpoint};
use crate::job_start::JobStart;
use crate::request_form::RequestForm;
use crate::text;

mod preview;
mod suggestions;

use preview::Preview;
use suggestions::Suggestions;

/// Renders the screen.
#[component]
pub fn CrawlPage() -> impl IntoView {
    let draft = Draft::restore(Endpoint::Crawl);
    let start = JobStart::new(draft, "Crawl started", async |client, request: CrawlRequest| {
        Ok(client.start_crawl(&request).await?.id)
    });
    view! {
        <ScreenHeader title="Crawl".to_owned() intro=|| view! { <p>{text::CRAWL_INTRO}</p> }/>
        <Panes result="Preview">
            <RequestForm
                draft
                run=start.run
                busy=start.busy
                action="Start crawl"
                busy_action="Starting"
                after_url=move || view! { <Suggestions draft/> }
            />
            <div class="stack">
                <Preview draft/>
                <CodeCard draft/>
            </div>
        </Panes>
    }
    .into_any()
}
