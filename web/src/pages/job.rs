//! Job: progress, pages as list, tree and graph, errors, request, webhooks and export of one job, with the open page
//! next to them. [`JobFeed`] loads the data.

use std::str::FromStr;

use harvestman_core::api::job::{JobKind, StatusPath};
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_params_map;
use serde_json::{Map, Value};
use wasm_bindgen::JsCast;
use web_sys::{Element, MouseEvent};

use crate::browser;
use crate::components::badge::JobBadge;
use crate::components::dialog::Confirm;
use crate::components::error_notice::error_notice;
use crate::components::screen_header::ScreenHeader;
use crate::components::tabs::{Tab, Tabs, tab};
use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::route::Screen;
use crate::{display, request_history, text};

mod compare;
mod continue_crawl;
mod errors;
mod export;
mod graph;
mod health;
mod page_columns;
mod page_filter;
mod page_list;
mod page_tree;
mod pages;
mod progress;
mod request;
mod retry;
mod view_state;
mod webhooks;

use compare::Compare;
use continue_crawl::ContinueCrawl;
use errors::{Blocked, Errors};
use export::Export;
use graph::Graph;
use health::Health;
use page_filter::PageCounts;
use page_list::Selection;
use page_tree::PageTree;
use pages::{OpenPage, Pages};
use progress::{Counters, notices};
use request::{EditAndRunAgain, Request};
use retry::Retry;
use view_state::ViewState;
use webhooks::Webhooks;

/// Renders the screen of the job in the URL.
#[component]
pub fn JobPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()));
    move || match JobId::from_str(&id.get()) {
        Ok(id) => view! { <Job id/> }.into_any(),
        Err(_) => view! { <crate::pages::not_found::NotFound/> }.into_any(),
    }
}

#[component]
fn Job(id: JobId) -> impl IntoView {
    let console = Console::get();
    let feed = JobFeed::follow(console, id);
    let request = Memo::new(move |_| request_of(console, feed));
    let name = Memo::new(move |_| {
        let url = feed.job.with(|job| job.as_ref().map(|job| job.url.clone()));
        let first = || {
            feed.rows
                .with(|rows| rows.first().map(|row| row.page.url.clone()))
        };
        let url = url.filter(|url| !url.is_empty()).or_else(first);
        let Some(url) = url else { return "Job".to_owned() };
        match feed.job.with(|job| job.as_ref().map(|job| (job.kind, job.total))) {
            Some((JobKind::BatchScrape, total)) => {
                format!(
                    "{} on {}",
                    display::plural(total, "page", "pages"),
                    display::host(&url)
                )
            }
            _ => display::short_url(&url).to_owned(),
        }
    });
    let status = Memo::new(move |_| {
        feed.progress
            .with(|progress| progress.as_ref().map(|progress| progress.status.to_string()))
    });
    let after_title = move || move || status.get().map(|status| view! { <JobBadge status/> });
    let intro = move || {
        view! {
            <p class="mono">
                {move || kind(feed)} {id.to_string()}
                {move || {
                    // Each part stays on one line.
                    let part = |text| view! { " \u{b7} " <span class="nowrap">{text}</span> };
                    times(feed).into_iter().map(part).collect_view()
                }}
            </p>
        }
    };
    let selected = Selection::default();
    let export_open = RwSignal::new(false);
    let kind_without_pages = move || {
        feed.job.with(|job| {
            job.as_ref()
                .filter(|job| StatusPath::of(job.kind).is_none())
                .map(|job| job.kind)
        })
    };
    view! {
        <ScreenHeader title=name after_title intro actions=move || view! { <Actions feed request selected export_open/> }/>
        {move || match (feed.failure.get(), kind_without_pages()) {
            (Some(error), _) => {
                view! {
                    <section class="card">
                        {error_notice(&error)}
                        <div class="card-foot">
                            <a class="btn small" href=Screen::Activity.href()>{text::VIEW_ACTIVITY}</a>
                        </div>
                    </section>
                }
                    .into_any()
            }
            (None, Some(kind)) => {
                view! { <section class="card"><p class="empty">{format!("Job type: {}. {}", kind.as_str().replace('_', " "), text::JOB_WITHOUT_PAGES)}</p></section> }
                    .into_any()
            }
            (None, None) => view! { <Body feed request selected export_open/> }.into_any(),
        }}
    }
    .into_any()
}

fn kind(feed: JobFeed) -> Option<String> {
    feed.job.with(|job| {
        job.as_ref()
            .map(|job| format!("{} ", job.kind.as_str().replace('_', " ")))
    })
}

/// Returns the request body of a job: as sent from this browser, or as stored by the server. The stored body of a batch
/// has no URLs, so the URLs of its pages are filled in.
fn request_of(console: Console, feed: JobFeed) -> Option<Value> {
    let stored = request_history::request_of(&feed.id.to_string());
    stored
        .or_else(|| {
            let job = feed.job.get()?;
            let Value::Object(mut body) = job.request? else {
                return None;
            };
            if job.kind == JobKind::BatchScrape && !body.contains_key("urls") {
                let pages = feed
                    .rows
                    .with(|rows| rows.iter().map(|row| row.page.url.clone()).collect::<Vec<_>>());
                let failed = feed.errors.with(|errors| {
                    errors
                        .errors
                        .iter()
                        .map(|error| error.url.clone())
                        .collect::<Vec<_>>()
                });
                body.insert("urls".to_owned(), pages.into_iter().chain(failed).collect());
            }
            if job.kind == JobKind::Crawl && !body.contains_key("url") {
                body.insert("url".to_owned(), Value::from(job.url));
            }
            Some(Value::Object(body))
        })
        .or_else(|| {
            console.active.with(|active| {
                let crawl = active.iter().find(|crawl| crawl.id == feed.id)?;
                let mut body = Map::from_iter([("url".to_owned(), Value::from(crawl.url.as_str()))]);
                body.extend(crawl.options.clone());
                Some(Value::Object(body))
            })
        })
}

/// Returns when the job started and how long it took, and when its result expires.
fn times(feed: JobFeed) -> Vec<String> {
    let console = Console::get();
    console.polls.track();
    feed.progress.with(|progress| {
        let Some((progress, created)) = progress
            .as_ref()
            .and_then(|progress| Some((progress, progress.created_at?)))
        else {
            return Vec::new();
        };
        let ago = display::ago((browser::now_ms() - created.0 as f64) / 1000.0);
        let took = progress.duration.filter(|_| progress.status.is_final());
        let took = took.map(|seconds| format!(", took {}", display::duration(seconds)));
        let expires = progress.expires_at.filter(|_| progress.status.is_final());
        let expires = expires.map(|at| display::expiry(browser::seconds_until(at)));
        let started = format!("started {ago}{}", took.unwrap_or_default());
        [Some(started), expires].into_iter().flatten().collect()
    })
}

#[component]
fn Actions(
    feed: JobFeed,
    request: Memo<Option<Value>>,
    selected: Selection,
    export_open: RwSignal<bool>,
) -> impl IntoView {
    let console = Console::get();
    let confirming = RwSignal::new(false);
    let on_confirm = Callback::new(move |()| {
        spawn_local(async move {
            match feed.cancel(console).await {
                Ok(()) => console.notify("Job cancelled"),
                Err(error) => console.notify_error(&error),
            }
        });
    });
    let subject = Signal::derive(move || {
        let url = feed.job.with(|job| job.as_ref().map(|job| job.url.clone()));
        url.filter(|url| !url.is_empty())
            .unwrap_or_else(|| feed.id.to_string())
    });
    let has_pages = Memo::new(move |_| feed.rows.with(|rows| !rows.is_empty()));
    view! {
        <ContinueCrawl feed/>
        <EditAndRunAgain feed request/>
        <Show when=move || has_pages.get()>
            <button class="btn" on:click=move |_| export_open.set(true)>
                "Export"
            </button>
        </Show>
        <Show when=move || feed.is_running()>
            <button class="btn danger" on:click=move |_| confirming.set(true)>
                "Cancel"
            </button>
        </Show>
        <Export feed selected open=export_open/>
        <Confirm open=confirming title=text::CANCEL_TITLE subject text=text::CANCEL_TEXT confirm_label="Cancel job" cancel_label="Keep running" on_confirm/>
    }
    .into_any()
}

/// Opens a clicked link in the viewer if the job has its page.
fn open_crawled_link(feed: JobFeed, open: RwSignal<Option<u64>>, event: &MouseEvent) {
    if event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let target = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok());
    // The link to the page itself must still open the original page.
    let link = target.and_then(|element| element.closest("[role=tabpanel] a[href]").ok().flatten());
    let Some(url) = link.and_then(|link| link.get_attribute("href")) else {
        return;
    };
    let without_fragment = |url: &str| {
        url.split('#')
            .next()
            .unwrap_or_default()
            .trim_end_matches('/')
            .to_owned()
    };
    let url = without_fragment(&url);
    let found = feed.rows.with_untracked(|rows| {
        let is_page = |url_of_page: &String| without_fragment(url_of_page) == url;
        let row = rows
            .iter()
            .find(|row| is_page(&row.page.url) || row.page.requested.as_ref().is_some_and(is_page));
        row.map(|row| row.index)
    });
    if found.is_some() {
        event.prevent_default();
        open.set(found);
    }
}

#[component]
fn Body(
    feed: JobFeed,
    request: Memo<Option<Value>>,
    selected: Selection,
    export_open: RwSignal<bool>,
) -> impl IntoView {
    let state = ViewState::synced_with_url(feed.id);
    let (chosen, open, deliveries) = (state.tab, state.page, state.state);
    let counts = Memo::new(move |_| feed.rows.with(|rows| PageCounts::of(rows)));
    let has_health = Memo::new(move |_| health::has_health(feed));
    let retry = Retry::new(feed, request);
    let errors = Memo::new(move |_| feed.errors.with(|errors| errors.errors.len()));
    let blocked = Memo::new(move |_| feed.errors.with(|errors| errors.robots_blocked.len()));
    let tabs = Signal::derive(move || {
        let counted = |id, label, count: usize| Tab {
            id,
            label,
            count: (count > 0).then(|| display::count(count as u64)),
        };
        vec![
            counted("pages", "Pages", feed.rows.with(Vec::len)),
            tab("tree", "Tree"),
            tab("graph", "Graph"),
            counted("errors", "Errors", errors.get()),
            counted("blocked", "Blocked", blocked.get()),
            tab("compare", "Compare"),
            tab("request", "Request"),
            tab("webhooks", "Webhooks"),
        ]
    });
    view! {
        <div class="stack">
            {move || notices(feed)}
            <Counters feed has_health>
                <Show when=move || has_health.get()>
                    <Health feed counts state/>
                </Show>
            </Counters>
            <div class="two">
                <section class="card" aria-label="Job">
                    <Tabs name="job" label="Job details" tabs chosen/>
                    <div role="tabpanel" id="job-panel" aria-labelledby=move || format!("job-{}", chosen.get())>
                        {move || match chosen.get() {
                            "tree" => view! { <PageTree feed open/> }.into_any(),
                            "graph" => view! { <Graph feed open/> }.into_any(),
                            "errors" => view! { <Errors feed retry/> }.into_any(),
                            "blocked" => view! { <Blocked feed/> }.into_any(),
                            "compare" => view! { <Compare feed/> }.into_any(),
                            "webhooks" => view! { <Webhooks feed filter=deliveries/> }.into_any(),
                            "request" => view! { <Request feed request/> }.into_any(),
                            _ => view! { <Pages feed state counts selected export_open retry/> }.into_any(),
                        }}
                    </div>
                </section>
                <section class="card" aria-label="Page" id="open-page" on:click=move |event| open_crawled_link(feed, open, &event)>
                    <OpenPage feed request open/>
                </section>
            </div>
        </div>
    }
    .into_any()
}
