//! Scrape: form, result and code for one page.

use std::str::FromStr;
use std::sync::Arc;

use harvestman_core::api::page::Document;
use harvestman_core::api::scrape::ScrapeResponse;
use harvestman_core::api::{ScrapeRequest, Wire};
use harvestman_core::ids::{JobId, ScrapeId};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use crate::components::code::CodeCard;
use crate::components::icon::Glyph;
use crate::components::panes::Panes;
use crate::components::removed_content::PageOptions;
use crate::components::screen_header::ScreenHeader;
use crate::components::viewer::{SharedDocument, Viewer};
use crate::console::Console;
use crate::draft::{Draft, Endpoint};
use crate::exchange::{Exchange, RequestState, ResultCard};
use crate::request_form::RequestForm;
use crate::result_url::ResultUrl;
use crate::route::Screen;
use crate::{browser, display, text};

/// Renders the screen.
#[component]
pub fn ScrapePage() -> impl IntoView {
    let console = Console::get();
    let draft = Draft::restore(Endpoint::Scrape);
    let exchange = Exchange::new();
    let options = PageOptions::new(move |()| {
        let body = Value::Object(draft.body.get_untracked());
        Some(ScrapeRequest::from_value(body).ok()?.options)
    });
    let url = ResultUrl::new(Screen::Scrape, move |id| {
        let Ok(id) = ScrapeId::from_str(&id) else { return };
        exchange.send(None, move |client| {
            Some(Box::pin(async move {
                let document = document_of(client.scrape_result(id).await?);
                Ok(result_state(document, None, Some(options)))
            }))
        });
    });
    let run = exchange.send_callback(draft, move |client| {
        let request = draft.submit::<ScrapeRequest>()?;
        Some(Box::pin(async move {
            let started_at = browser::now_ms();
            let response = client.scrape(&request).await?;
            let took_ms = (browser::now_ms() - started_at) as u64;
            let document = document_of(response);
            console.notify(format!("Page scraped in {}", display::duration_ms(took_ms)));
            if let Some(id) = document.metadata.scrape_id {
                url.write(&id.to_string());
            }
            Ok(result_state(document, Some(took_ms), Some(options)))
        }))
    });
    view! {
        <ScreenHeader title="Scrape".to_owned() intro=|| view! { <p>{text::SCRAPE_INTRO}</p> }/>
        <Panes result="Result">
            <RequestForm
                draft
                run
                stop=exchange.abort_callback()
                busy=exchange.busy()
                action="Scrape page"
                busy_action="Scraping"
            />
            <div class="stack">
                <ResultCard exchange label="Result" glyph=Glyph::Scrape empty=text::SCRAPE_EMPTY/>
                <CodeCard draft/>
            </div>
        </Panes>
    }
    .into_any()
}

/// Returns the document of a response, with its warning.
pub fn document_of(response: ScrapeResponse) -> Document {
    let mut document = response.data.unwrap_or_default();
    document.warning = document.warning.take().or(response.warning);
    document
}

/// Returns the completed state with a document and, if it is known, how long it took.
pub fn result_state(document: Document, took_ms: Option<u64>, options: Option<PageOptions>) -> RequestState {
    let document = Arc::new(document);
    RequestState::done(move || {
        view! {
            <ResultHead document=document.clone() took_ms/>
            <Viewer document=Signal::stored(Some(document.clone())) options/>
        }
        .into_any()
    })
}

/// Renders the title of a result, when it expires, and how long it took.
#[component]
fn ResultHead(document: SharedDocument, took_ms: Option<u64>) -> impl IntoView {
    view! {
        <div class="card-head">
            <h2 class="cut" dir="auto">{title_of(&document)}</h2>
            <span class="grow"></span>
            <Expiry id=document.metadata.scrape_id/>
            <span class="hint nowrap">{took_ms.map(display::duration_ms)}</span>
        </div>
    }
    .into_any()
}

/// Renders when a stored scrape expires.
#[component]
fn Expiry(id: Option<ScrapeId>) -> impl IntoView {
    let console = Console::get();
    let expires_at = RwSignal::new(None);
    if let Some(id) = id {
        spawn_local(async move {
            if let Ok(job) = console.client().console_job(JobId(id.0)).await {
                expires_at.try_set(job.expires_at);
            }
        });
    }
    let words = move || Some(display::expiry(browser::seconds_until(expires_at.get()?)));
    view! { <span class="hint nowrap">{words}</span> }.into_any()
}

fn title_of(document: &SharedDocument) -> String {
    let metadata = &document.metadata;
    let title = metadata.title.clone().filter(|title| !title.is_empty());
    title
        .or_else(|| Some(display::short_url(metadata.url.as_deref()?).to_owned()))
        .or_else(|| metadata.source_url.clone())
        .unwrap_or_else(|| "Result".to_owned())
}
