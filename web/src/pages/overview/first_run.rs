//! The first steps of a newcomer.

use harvestman_core::api::snippet::{Call, SnippetLanguage};
use harvestman_core::api::{ScrapeRequest, TargetUrl, Wire};
use leptos::prelude::*;

use crate::browser;
use crate::components::code::copy;
use crate::console::Console;
use crate::draft::Endpoint;
use crate::route::Screen;

/// Shows the steps.
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
                    <p>"See what becomes of it: Markdown, links, metadata."</p>
                    <a class="btn small" href=Screen::Scrape.href()>"Scrape a page"</a>
                </li>
                <li>
                    <h3>"Crawl a site"</h3>
                    <p>"Give a start page and a limit; watch the pages come in."</p>
                    <a class="btn small" href=Screen::Crawl.href()>"Start a crawl"</a>
                </li>
                <li>
                    <h3>"Do the same from your code"</h3>
                    <p>"Make a key for it; every form shows its curl command."</p>
                    <a class="btn small" href=Screen::Keys.href()>"Make a key"</a>
                    <button class="btn small" on:click=move |_| _ = command().map(|command| copy(console, command))>"Copy a curl command"</button>
                </li>
            </ol>
        </section>
    }
    .into_any()
}
