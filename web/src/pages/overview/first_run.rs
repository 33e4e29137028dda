//! First steps, shown while the team has made no API call.

use harvestman_core::api::snippet::{Call, SnippetLanguage};
use harvestman_core::api::{ScrapeRequest, TargetUrl, Wire};
use leptos::prelude::*;

use crate::browser;
use crate::components::code::copy;
use crate::console::Console;
use crate::draft::Endpoint;
use crate::route::Screen;

/// Renders the steps.
#[component]
pub fn FirstRun() -> impl IntoView {
    let console = Console::get();
    let command = move || {
        let example = TargetUrl::parse("https://example.com").ok()?;
        let call = Call {
            method: "POST",
            base: &browser::origin(),
            path: Endpoint::Scrape.path(),
            body: Some(&ScrapeRequest::new(example).to_body()),
            with_key: console.key.with_untracked(Option::is_some),
        };
        call.snippet(SnippetLanguage::Curl)
    };
    view! {
        <section class="card" aria-label="First steps">
            <div class="card-head">
                <h2>"First steps"</h2>
            </div>
            <ol class="first">
                <li>
                    <h3>"Scrape one page"</h3>
                    <p>"Get its Markdown, links and metadata."</p>
                    <a class="btn small" href=Screen::Scrape.href()>"Scrape page"</a>
                </li>
                <li>
                    <h3>"Crawl a site"</h3>
                    <p>"Enter a start page and a limit, and watch the pages arrive."</p>
                    <a class="btn small" href=Screen::Crawl.href()>"Start crawl"</a>
                </li>
                <li>
                    <h3>"Call the API from your code"</h3>
                    <p>"Create an API key; every form shows its request as code."</p>
                    <a class="btn small" href=Screen::Keys.href()>"Create key"</a>
                    <button class="btn small" on:click=move |_| _ = command().map(|command| copy(console, command))>"Copy curl command"</button>
                </li>
            </ol>
        </section>
    }
    .into_any()
}
