//! Search: form, results by source, and scraping of selected results.

use std::collections::BTreeSet;
use std::sync::Arc;

use harvestman_core::api::job::StatusPath;
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::search_response::{ImageResult, NewsResult, SearchResponse, WebResult};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use serde_json::json;

use crate::components::code::CodeCard;
use crate::components::external_link::external_link;
use crate::components::icon::Glyph;
use crate::components::inline_code::inline_code;
use crate::components::panes::Panes;
use crate::components::screen_header::ScreenHeader;
use crate::components::tabs::{Tab, Tabs};
use crate::components::viewer::{SharedDocument, Viewer};
use crate::console::Console;
use crate::draft::{Draft, Endpoint};
use crate::exchange::{Exchange, RequestState, ResultCard};
use crate::follow_up::{FollowUp, start_job};
use crate::kept_result::KeptResult;
use crate::request_form::RequestForm;
use crate::route::Screen;
use crate::{browser, display, text};

/// A search result of any source.
#[derive(Clone, PartialEq)]
struct SearchHit {
    url: String,
    title: String,
    text: String,
    /// Date, category or image size.
    detail: Option<String>,
    document: Option<SharedDocument>,
}

impl SearchHit {
    fn web(result: &WebResult) -> Self {
        Self {
            url: result.url.clone(),
            title: result.title.clone(),
            text: result.description.clone(),
            detail: result.category.clone(),
            document: result.document().map(Arc::new),
        }
    }

    fn news(result: &NewsResult) -> Self {
        Self {
            url: result.url.clone(),
            title: result.title.clone(),
            text: result.snippet.clone(),
            detail: Some(result.date.clone()).filter(|date| !date.is_empty()),
            document: result.document().map(Arc::new),
        }
    }

    /// Converts an image result. The image is only linked, because loading it would send a request to another host.
    fn image(result: &ImageResult) -> Self {
        let size =
            (result.image_width > 0).then(|| format!("{} x {}", result.image_width, result.image_height));
        Self {
            url: result.url.clone(),
            title: result.title.clone(),
            text: result.image_url.clone(),
            detail: size,
            document: None,
        }
    }
}

fn results(response: &SearchResponse, source: &str) -> Vec<SearchHit> {
    let data = &response.data;
    match source {
        "news" => data.news.iter().flatten().map(SearchHit::news).collect(),
        "images" => data.images.iter().flatten().map(SearchHit::image).collect(),
        _ => data.web.iter().flatten().map(SearchHit::web).collect(),
    }
}

fn sources(response: &SearchResponse) -> Vec<Tab> {
    let data = &response.data;
    let counts = [
        ("web", "Web", data.web.as_ref().map(Vec::len)),
        ("news", "News", data.news.as_ref().map(Vec::len)),
        ("images", "Images", data.images.as_ref().map(Vec::len)),
    ];
    let tabs = counts.into_iter().filter_map(|(id, label, count)| {
        let count = Some(display::count(count? as u64));
        Some(Tab { id, label, count })
    });
    tabs.collect()
}

fn result_state(response: SearchResponse, is_kept: bool) -> RequestState {
    let response = Arc::new(response);
    RequestState::done(move || view! { <Results response=response.clone() is_kept/> }.into_any())
}

/// Renders the screen.
#[component]
pub fn SearchPage() -> impl IntoView {
    let console = Console::get();
    let draft = Draft::restore(Endpoint::Search);
    let exchange = Exchange::new();
    let kept = KeptResult::new(Screen::Search, exchange, |response| result_state(response, true));
    let run = exchange.send_callback(draft, move |client| {
        let request = draft.submit::<SearchRequest>()?;
        Some(Box::pin(async move {
            let response = client.search(&request).await?;
            let count: usize = ["web", "news", "images"]
                .into_iter()
                .map(|source| results(&response, source).len())
                .sum();
            console.notify(display::plural(count as u64, "result", "results"));
            let is_kept = kept.keep(response.id, &response).await;
            Ok(result_state(response, is_kept))
        }))
    });
    view! {
        <ScreenHeader title="Search".to_owned() intro=|| view! { <p>{text::SEARCH_INTRO}</p> }/>
        <Panes result="Result">
            <RequestForm
                draft
                run
                stop=exchange.abort_callback()
                busy=exchange.busy()
                action="Search"
                busy_action="Searching"
            />
            <div class="stack">
                <ResultCard exchange label="Results" glyph=Glyph::Search empty=text::SEARCH_EMPTY/>
                <CodeCard draft/>
            </div>
        </Panes>
    }
    .into_any()
}

#[component]
fn Results(
    response: Arc<SearchResponse>,
    /// Whether the results are kept in this browser.
    is_kept: bool,
) -> impl IntoView {
    let tabs = sources(&response);
    let chosen = RwSignal::new(tabs.first().map_or("web", |tab| tab.id));
    let selected = RwSignal::new(BTreeSet::<String>::new());
    let open = RwSignal::new(None::<SharedDocument>);
    let warning = response.warning.clone();
    let credits = display::plural(response.credits_used, "credit", "credits");
    let response = StoredValue::new(response);
    let list = move || {
        let results = response.with_value(|response| results(response, chosen.get()));
        if results.is_empty() {
            return view! { <p class="empty">{text::SEARCH_NO_RESULTS}</p> }.into_any();
        }
        let rows = results
            .into_iter()
            .enumerate()
            .map(|(at, result)| row(at, result, selected, open));
        view! { <ol class="rows hits">{rows.collect_view()}</ol> }.into_any()
    };
    let shown = Memo::new(move |_| open.get());
    view! {
        <Tabs name="source" label="Sources" tabs=Signal::stored(tabs) chosen/>
        {warning.map(|warning| view! { <div class="pad notice-pad"><p class="notice warn">{inline_code(&warning)}</p></div> })}
        <div role="tabpanel" id="source-panel" aria-labelledby=move || format!("source-{}", chosen.get())>
            {list}
        </div>
        <SelectionBar selected credits is_kept/>
        <Show when=move || shown.with(Option::is_some)>
            <section id="hit" aria-label="Scraped result" class="hit-page">
                <Viewer document=shown/>
            </section>
        </Show>
    }
    .into_any()
}

fn row(
    at: usize,
    result: SearchHit,
    selected: RwSignal<BTreeSet<String>>,
    open: RwSignal<Option<SharedDocument>>,
) -> AnyView {
    let id = format!("hit-{at}");
    let url = StoredValue::new(result.url.clone());
    let is_selected = move || selected.with(|selected| url.with_value(|url| selected.contains(url)));
    let toggle = move |event| {
        let on = event_target_checked(&event);
        selected.update(|selected| match on {
            true => _ = selected.insert(url.get_value()),
            false => _ = url.with_value(|url| selected.remove(url)),
        });
    };
    let title = if result.title.is_empty() {
        result.url.clone()
    } else {
        result.title
    };
    let label = format!("Select {title}");
    let link = external_link(&result.url, "", title);
    let read_button = result.document.map(|document| {
        let show = move |_| {
            open.set(Some(document.clone()));
            browser::reveal_soon("#hit");
        };
        view! {
            <button class="btn small" on:click=show>
                "Read"
            </button>
        }
    });
    view! {
        <li class="hit">
            <input type="checkbox" id=id aria-label=label prop:checked=is_selected on:change=toggle/>
            <div>
                <p class="hit-title" dir="auto">{link}</p>
                <p class="mono cut hint">{display::short_url(&result.url).to_owned()}</p>
                <p class="quiet-text" dir="auto">{result.text}</p>
                {result.detail.map(|detail| view! { <p class="hint">{detail}</p> })}
            </div>
            {read_button}
        </li>
    }
    .into_any()
}

#[component]
fn SelectionBar(selected: RwSignal<BTreeSet<String>>, credits: String, is_kept: bool) -> impl IntoView {
    let console = Console::get();
    let navigate = StoredValue::new_local(use_navigate());
    let follow_up = FollowUp::new();
    let count = Memo::new(move |_| selected.with(BTreeSet::len));
    let scrape = move |_| {
        let urls: Vec<String> = selected.with_untracked(|selected| selected.iter().cloned().collect());
        if let [url] = urls.as_slice() {
            let path = Screen::Scrape.path_with("url", url);
            return navigate.with_value(|navigate| navigate(&path, Default::default()));
        }
        let body = json!({ "urls": urls });
        let start = async move { start_job(console, StatusPath::BatchScrape, &body).await };
        follow_up.run(start, "Batch started".to_owned());
    };
    view! {
        <div class="card-foot">
            <span>{credits}</span>
            <span>{is_kept.then_some(text::RESULT_KEPT)}</span>
            <span class="grow"></span>
            <button
                class="btn small"
                disabled=move || count.get() == 0
                aria-disabled=move || follow_up.busy.get().to_string()
                on:click=scrape
            >
                {move || match count.get() {
                    0 => "Select results to scrape".to_owned(),
                    count => format!("Scrape {}", display::plural(count as u64, "page", "pages")),
                }}
            </button>
        </div>
    }
    .into_any()
}
