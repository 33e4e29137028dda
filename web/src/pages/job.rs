//! A job while it runs and after: numbers, pages, errors, its request, and the page that was opened.

use std::str::FromStr;
use std::sync::Arc;

use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::{use_navigate, use_params_map};
use serde_json::{Map, Value};

use crate::browser;
use crate::components::badge::JobBadge;
use crate::components::code::{Code, copy};
use crate::components::dialog::Confirm;
use crate::components::head::PageHead;
use crate::components::page_list::PageList;
use crate::components::tabs::{Tab, Tabs, tab};
use crate::components::viewer::{Shown, Viewer};
use crate::console::Console;
use crate::draft::Endpoint;
use crate::job_feed::JobFeed;
use crate::pages::scrape::failure;
use crate::route::Screen;
use crate::{figures, highlight, history, storage, text};

mod webhooks;

use webhooks::Webhooks;

/// Shows the screen of the job in the address.
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
    let listed = RwSignal::new(None::<Value>);
    let request = Memo::new(move |_| request_of(console, id).or_else(|| listed.get()));
    if request.with_untracked(Option::is_none) {
        spawn_local(async move {
            if let Ok(list) = console.client().console_jobs().await {
                let found = list.jobs.into_iter().find(|job| job.id == id);
                listed.try_set(found.and_then(|job| job.request));
            }
        });
    }
    let name = Memo::new(move |_| {
        let asked = request.with(|request| request.as_ref()?.get("url")?.as_str().map(str::to_owned));
        let first = || feed.rows.with(|rows| rows.first().map(|row| row.url.clone()));
        asked
            .or_else(first)
            .map_or_else(|| "Crawl".to_owned(), |url| figures::short_url(&url).to_owned())
    });
    let status = Memo::new(move |_| {
        feed.progress
            .with(|progress| progress.as_ref().map(|progress| progress.status.to_string()))
    });
    let beside = move || move || status.get().map(|status| view! { <JobBadge status/> });
    let intro = move || {
        view! {
            <p class="mono">{id.to_string()} {move || started(feed).map(|text| format!(" \u{b7} {text}"))}</p>
        }
    };
    view! {
        <PageHead title=name beside intro actions=move || view! { <Actions feed request/> }/>
        {move || match feed.failure.get() {
            Some(error) => view! { <section class="card">{failure(&error)}</section> }.into_any(),
            None => view! { <Body feed request/> }.into_any(),
        }}
    }
    .into_any()
}

/// The body that started a job: remembered here, or told by the list of running crawls.
fn request_of(console: Console, id: JobId) -> Option<Value> {
    history::request_of(&id.to_string()).or_else(|| {
        console.active.with(|active| {
            let crawl = active.iter().find(|crawl| crawl.id == id)?;
            let mut body = Map::from_iter([("url".to_owned(), Value::from(crawl.url.as_str()))]);
            body.extend(crawl.options.clone());
            Some(Value::Object(body))
        })
    })
}

fn started(feed: JobFeed) -> Option<String> {
    let console = Console::get();
    console.pulse.track();
    feed.progress.with(|progress| {
        let progress = progress.as_ref()?;
        let began = progress.created_at?;
        let ago = figures::ago((browser::now_ms() - began.0 as f64) / 1000.0);
        Some(match progress.duration.filter(|_| progress.status.is_final()) {
            Some(seconds) => format!("started {ago}, took {}", figures::span(seconds)),
            None => format!("started {ago}"),
        })
    })
}

#[component]
fn Actions(feed: JobFeed, request: Memo<Option<Value>>) -> impl IntoView {
    let console = Console::get();
    let navigate = StoredValue::new_local(use_navigate());
    let asking = RwSignal::new(false);
    let on_confirm = Callback::new(move |()| {
        spawn_local(async move {
            match feed.cancel(console).await {
                Ok(()) => console.say("Crawl cancelled"),
                Err(error) => {
                    console.note(&error);
                    console.say(error.to_string());
                }
            }
        });
    });
    let again = move |_| {
        if let Some(body) = request.get_untracked() {
            storage::write(Endpoint::Crawl.draft_name(), &body);
            navigate.with_value(|navigate| navigate(Screen::Crawl.path(), Default::default()));
        }
    };
    view! {
        <Show when=move || request.with(Option::is_some)>
            <button class="btn" on:click=again>
                "Edit and run again"
            </button>
        </Show>
        <Show when=move || feed.is_running()>
            <button class="btn danger" on:click=move |_| asking.set(true)>
                "Cancel"
            </button>
        </Show>
        <Confirm open=asking title=text::CANCEL_TITLE text=text::CANCEL_TEXT action="Cancel crawl" keep="Keep crawling" on_confirm/>
    }
    .into_any()
}

#[component]
fn Body(feed: JobFeed, request: Memo<Option<Value>>) -> impl IntoView {
    let chosen = RwSignal::new("pages");
    let errors = Memo::new(move |_| {
        feed.errors
            .with(|errors| errors.errors.len() + errors.robots_blocked.len())
    });
    let tabs = Signal::derive(move || {
        let counted = |id, label, count: usize| Tab {
            id,
            label,
            count: (count > 0).then(|| figures::count(count as u64)),
        };
        vec![
            counted("pages", "Pages", feed.rows.with(Vec::len)),
            counted("errors", "Errors", errors.get()),
            tab("webhooks", "Webhooks"),
            tab("request", "Request"),
        ]
    });
    let open = RwSignal::new(None::<u64>);
    view! {
        <div class="stack">
            {move || notices(feed)}
            <Figures feed/>
            <div class="two">
                <section class="card" aria-label="Job">
                    <Tabs name="job" label="Parts of the job" tabs chosen/>
                    <div role="tabpanel" id="job-panel" aria-labelledby=move || format!("job-{}", chosen.get())>
                        {move || match chosen.get() {
                            "errors" => view! { <Errors feed/> }.into_any(),
                            "webhooks" => view! { <Webhooks feed/> }.into_any(),
                            "request" => view! { <Request request/> }.into_any(),
                            _ => view! { <Pages feed open/> }.into_any(),
                        }}
                    </div>
                </section>
                <section class="card" aria-label="Page" id="open-page">
                    <OpenPage feed open/>
                </section>
            </div>
        </div>
    }
    .into_any()
}

/// What the caller should know: why it failed, a warning, a lost server.
fn notices(feed: JobFeed) -> AnyView {
    let told = feed.progress.with(|progress| {
        let progress = progress.as_ref()?;
        Some((progress.error.clone(), progress.warning.clone()))
    });
    let (error, warning) = told.unwrap_or_default();
    let error = error.map(|text| view! { <div class="notice bad" role="alert">{text}</div> });
    let warning = warning.map(|text| view! { <div class="notice warn">{text}</div> });
    // A server that does not answer at all has its banner.
    let lost = feed.lost.get() && !Console::get().lost.get();
    let lost = lost.then(|| view! { <div class="notice warn" role="status">{text::TRYING_AGAIN}</div> });
    view! {
        {lost}
        {error}
        {warning}
    }
    .into_any()
}

#[component]
fn Figures(feed: JobFeed) -> impl IntoView {
    let number = move |of: fn(&harvestman_core::api::job::JobProgress<()>) -> u64| {
        feed.progress.with(|progress| progress.as_ref().map_or(0, of))
    };
    let completed = move || number(|progress| progress.completed);
    let total = move || number(|progress| progress.total);
    let share = move || match (total(), status_is_completed(feed)) {
        (_, true) => 1.0,
        (0, false) => 0.0,
        (total, false) => (completed() as f64 / total as f64).min(1.0),
    };
    let errors = move || feed.errors.with(|errors| errors.errors.len() as u64);
    let robots = move || feed.errors.with(|errors| errors.robots_blocked.len() as u64);
    let left = move || match (feed.is_running(), feed.seconds_left()) {
        (true, Some(seconds)) => (figures::span(seconds), "left"),
        (true, None) => ("-".to_owned(), "left"),
        (false, _) => {
            let took = feed.progress.with(|progress| progress.as_ref()?.duration);
            (took.map_or_else(|| "-".to_owned(), figures::span), "in all")
        }
    };
    view! {
        <section class="card" aria-label="Progress">
            <div
                class="bar"
                role="progressbar"
                aria-label="Pages"
                aria-valuenow=move || completed().to_string()
                aria-valuemin="0"
                aria-valuemax=move || total().max(1).to_string()
            >
                <i style:transform=move || format!("scaleX({:.4})", share())></i>
            </div>
            <dl class="figures">
                <div class="figure">
                    <dt>"pages"</dt>
                    <dd>{move || figures::count(completed())}<small>"/ "{move || figures::count(total())}</small></dd>
                </div>
                <div class="figure">
                    <dt>"pages per second"</dt>
                    <dd>{move || figures::rate(feed.speed.get())}</dd>
                </div>
                <div class="figure" class:bad=move || { errors() > 0 }>
                    <dt>"errors"</dt>
                    <dd>{move || figures::count(errors())}</dd>
                </div>
                <div class="figure">
                    <dt>"kept out by robots.txt"</dt>
                    <dd>{move || figures::count(robots())}</dd>
                </div>
                <div class="figure">
                    <dt>"credits"</dt>
                    <dd>{move || figures::count(number(|progress| progress.credits_used))}</dd>
                </div>
                <div class="figure">
                    <dt>{move || left().1}</dt>
                    <dd>{move || left().0}</dd>
                </div>
            </dl>
        </section>
    }
    .into_any()
}

fn status_is_completed(feed: JobFeed) -> bool {
    use harvestman_core::api::job::JobStatus;
    feed.progress.with(|progress| {
        progress
            .as_ref()
            .is_some_and(|progress| progress.status == JobStatus::Completed)
    })
}

#[component]
fn Pages(feed: JobFeed, open: RwSignal<Option<u64>>) -> impl IntoView {
    let filter = RwSignal::new(String::new());
    let rows = Memo::new(move |_| {
        let filter = filter.with(|filter| filter.trim().to_lowercase());
        feed.rows.with(|rows| match filter.is_empty() {
            true => rows.clone(),
            false => rows.iter().filter(|row| row.matches(&filter)).cloned().collect(),
        })
    });
    let is_empty = move || rows.with(Vec::is_empty);
    let nothing = move || match (
        feed.rows.with(Vec::is_empty),
        feed.progress.with(Option::is_none) || feed.is_running(),
    ) {
        (false, _) => text::NO_MATCH,
        (true, true) => text::NO_PAGES,
        (true, false) => text::NO_PAGES_EVER,
    };
    view! {
        <div class="filter">
            <input
                class="input"
                type="text"
                aria-label="Filter pages"
                placeholder="Filter by path, title, status or error"
                prop:value=move || filter.get()
                on:input=move |event| filter.set(event_target_value(&event))
            />
        </div>
        <Show when=move || !is_empty() fallback=move || view! { <p class="empty">{nothing}</p> }>
            <PageList rows chosen=open/>
        </Show>
    }
    .into_any()
}

#[component]
fn OpenPage(feed: JobFeed, open: RwSignal<Option<u64>>) -> impl IntoView {
    let console = Console::get();
    let document = RwSignal::new(None::<Shown>);
    let problem = RwSignal::new(None::<String>);
    Effect::new(move |_| {
        let Some(index) = open.get() else { return };
        spawn_local(async move {
            let answer = feed.document(console, index).await;
            // Another page may have been opened meanwhile.
            if open.try_get_untracked().flatten() != Some(index) {
                return;
            }
            match answer {
                Ok(found) => {
                    problem.try_set(None);
                    document.try_set(found.map(Arc::new));
                    browser::reveal_soon("#open-page");
                }
                Err(error) => {
                    console.note(&error);
                    problem.try_set(Some(error.to_string()));
                }
            }
        });
    });
    let shown = Memo::new(move |_| document.get());
    view! {
        {move || problem.get().map(|text| view! { <div class="pad"><div class="notice bad" role="alert">{text}</div></div> })}
        {move || match (open.get(), shown.with(Option::is_some)) {
            (None, _) => view! { <p class="empty">{text::NO_SELECTION}</p> }.into_any(),
            (Some(_), false) => view! { <div class="wait"><i></i><i></i><i></i></div> }.into_any(),
            (Some(_), true) => view! { <Viewer document=shown/> }.into_any(),
        }}
    }
    .into_any()
}

#[component]
fn Errors(feed: JobFeed) -> impl IntoView {
    move || {
        let errors = feed.errors.get();
        if errors.errors.is_empty() && errors.robots_blocked.is_empty() {
            return view! { <p class="empty">{text::NO_ERRORS}</p> }.into_any();
        }
        let failed = errors.errors.iter().map(|entry| {
            view! {
                <li class="error-row">
                    <code>{entry.url.clone()}</code>
                    <span class="what">{entry.error.clone()} " " <code>{entry.code.as_str()}</code></span>
                </li>
            }
        });
        let blocked = (!errors.robots_blocked.is_empty()).then(|| {
            let addresses = errors
                .robots_blocked
                .iter()
                .map(|url| view! { <li>{url.clone()}</li> });
            view! {
                <div class="pad">
                    <h2 class="small-head">"Kept out by robots.txt"</h2>
                    <ul class="links">{addresses.collect_view()}</ul>
                </div>
            }
        });
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label="Errors">
                <ul class="rows">{failed.collect_view()}</ul>
                {blocked}
            </div>
        }
        .into_any()
    }
}

#[component]
fn Request(request: Memo<Option<Value>>) -> impl IntoView {
    let console = Console::get();
    move || match request.get() {
        None => view! { <p class="empty">{text::NO_REQUEST}</p> }.into_any(),
        Some(body) => {
            let written = serde_json::to_string_pretty(&body).unwrap_or_default();
            let html = highlight::json(&written);
            view! {
                <Code html label="Request body" wrap=true/>
                <div class="card-foot">
                    <button class="btn small quiet" on:click=move |_| copy(console, written.clone())>
                        "Copy"
                    </button>
                </div>
            }
            .into_any()
        }
    }
}
