//! Notices in a form about what this server is not configured for, shown before the request is sent.

use harvestman_core::api::agent::AgentRequest;
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::health::{PartState, Readiness};
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::{BatchScrapeRequest, CrawlRequest, ScrapeRequest};
use harvestman_core::scrape::{Capabilities, check_supported};
use leptos::prelude::*;

use crate::components::inline_code::inline_code;
use crate::console::Console;
use crate::draft::{Draft, Endpoint};
use crate::text;

/// Renders the notice, if the server would reject the request or return less than requested.
#[component]
pub fn Availability(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let notice = Memo::new(move |_| {
        draft.body.track();
        console
            .readiness
            .with(|readiness| notice(draft, readiness.as_ref()?))
    });
    move || {
        let notice = notice.get()?;
        Some(view! { <div class="notice warn" role="note">{inline_code(&notice)}</div> })
    }
}

/// Returns whether the server has a language model, as far as known.
pub fn has_model(readiness: &Option<Readiness>) -> bool {
    let readiness = readiness.as_ref();
    readiness.is_some_and(|readiness| readiness.llm != PartState::NotConfigured)
}

fn notice(draft: Draft, readiness: &Readiness) -> Option<String> {
    let is_configured = |part| part != PartState::NotConfigured;
    let capabilities = Capabilities {
        browser: is_configured(readiness.browser),
        model: is_configured(readiness.llm),
    };
    let options = match draft.endpoint {
        Endpoint::Scrape => Some(draft.request::<ScrapeRequest>()?.options),
        Endpoint::Crawl => Some(draft.request::<CrawlRequest>()?.scrape_options),
        Endpoint::Batch => Some(draft.request::<BatchScrapeRequest>()?.batch.options),
        Endpoint::Map => None,
        Endpoint::Search if !is_configured(readiness.search) => {
            return Some(text::SEARCH_NO_PROVIDER.to_owned());
        }
        Endpoint::Search => draft.request::<SearchRequest>()?.scrape_options,
        Endpoint::Agent => {
            let request = draft.request::<AgentRequest>()?;
            let needs_model = request.schema.is_none() && !capabilities.model;
            return needs_model.then(|| text::EXTRACT_NO_MODEL.to_owned());
        }
        Endpoint::Extract => {
            let request = draft.request::<ExtractRequest>()?;
            let needs_model = request.schema.is_none() && !capabilities.model;
            return needs_model.then(|| text::EXTRACT_NO_MODEL.to_owned());
        }
    };
    let error = check_supported(&options?, &capabilities).err()?;
    Some(error.message)
}
