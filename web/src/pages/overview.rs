//! How the server is, what runs, what ran.

use std::collections::BTreeMap;

use harvestman_client::{ConsoleJob, Readiness};
use harvestman_core::api::crawl::ActiveCrawl;
use harvestman_core::api::snippet::{Call, SnippetLanguage};
use harvestman_core::api::{ScrapeRequest, TargetUrl, Wire};
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::components::badge::JobBadge;
use crate::components::code::copy;
use crate::components::dialog::Confirm;
use crate::components::head::PageHead;
use crate::components::icon::{Icon, Picture};
use crate::console::Console;
use crate::draft::Endpoint;
use crate::figures;
use crate::limits::RECENT_JOBS;
use crate::route::{self, Screen};
use crate::sign_in::numbers_only;
use crate::text;

/// Numbers of a running crawl.
#[derive(Clone, Copy, PartialEq, Default)]
struct Progress {
    completed: u64,
    total: u64,
}

/// Shows the screen.
#[component]
pub fn Overview() -> impl IntoView {
    let console = Console::get();
    let jobs = RwSignal::new(None::<Result<Vec<ConsoleJob>, String>>);
    let progress = RwSignal::new(BTreeMap::<JobId, Progress>::new());
    Effect::new(move |_| {
        console.pulse.track();
        spawn_local(async move {
            let answer = console.client().console_jobs().await;
            if let Err(error) = &answer {
                console.note(error);
            }
            let listed = answer.map(|list| list.jobs).map_err(|error| error.to_string());
            let keep = listed.is_err() && jobs.with_untracked(|jobs| matches!(jobs, Some(Ok(_))));
            if !keep
                && jobs
                    .try_with_untracked(|known| known.as_ref() != Some(&listed))
                    .unwrap_or(false)
            {
                jobs.try_set(Some(listed));
            }
        });
        for crawl in console.active.get_untracked() {
            spawn_local(async move {
                if let Ok(status) = console
                    .client()
                    .crawl_status_as::<serde::de::IgnoredAny>(crawl.id, numbers_only())
                    .await
                {
                    let numbers = Progress {
                        completed: status.completed,
                        total: status.total,
                    };
                    progress.try_update(|progress| progress.insert(crawl.id, numbers));
                }
            });
        }
    });
    let is_new = move || jobs.with(|jobs| matches!(jobs, Some(Ok(jobs)) if jobs.is_empty()));
    let actions = || {
        view! {
            <a class="btn" href=Screen::Scrape.href()>"Scrape a page"</a>
            <a class="btn primary" href=Screen::Crawl.href()>"Start a crawl"</a>
        }
    };
    view! {
        <PageHead title="Overview".to_owned() intro=|| view! { <p>{text::OVERVIEW_INTRO}</p> } actions/>
        <div class="stack">
            <section class="card" aria-label="Health">
                {move || match console.readiness.get() {
                    Some(readiness) => health(&readiness),
                    None => view! { <div class="wait"><i></i></div> }.into_any(),
                }}
            </section>
            <Show when=is_new>
                <FirstRun/>
            </Show>
            <Active progress/>
            <section class="card" aria-label="Recent jobs">
                <div class="card-head">
                    <h2>"Recent jobs"</h2>
                </div>
                {move || match jobs.get() {
                    None => view! { <div class="wait"><i></i><i></i><i></i></div> }.into_any(),
                    Some(Err(problem)) => {
                        view! { <div class="pad"><div class="notice bad">{problem}</div></div> }.into_any()
                    }
                    Some(Ok(jobs)) if jobs.is_empty() => {
                        view! {
                            <div class="empty">
                                <Icon picture=Picture::Mark/>
                                <p>{text::NO_JOBS}</p>
                            </div>
                        }
                            .into_any()
                    }
                    Some(Ok(jobs)) => {
                        let rows = jobs.into_iter().take(RECENT_JOBS).map(job_row);
                        view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
                    }
                }}
            </section>
        </div>
    }
    .into_any()
}

fn health(readiness: &Readiness) -> AnyView {
    let whole = match readiness.ready {
        true => ("dot ok", "ready"),
        false => ("dot bad", "not ready"),
    };
    let parts = readiness.parts.iter().map(|(name, part)| {
        let dot = match part.status.as_str() {
            "ok" | "ready" | "up" => "dot ok",
            "off" | "disabled" | "none" | "absent" | "not_configured" | "not configured" => "dot",
            _ => "dot bad",
        };
        let said = part
            .detail
            .clone()
            .unwrap_or_else(|| part.status.replace('_', " "));
        health_cell(dot, capital(name), said)
    });
    view! {
        <div class="health">
            {health_cell(whole.0, "Server".to_owned(), whole.1.to_owned())}
            {parts.collect_view()}
        </div>
    }
    .into_any()
}

fn health_cell(dot: &'static str, name: String, said: String) -> AnyView {
    view! {
        <div>
            <b><span class=dot></span>{name}</b>
            <span>{said}</span>
        </div>
    }
    .into_any()
}

fn capital(name: &str) -> String {
    if name == "llm" {
        return "Model".to_owned();
    }
    let mut letters = name.replace('_', " ").chars().collect::<Vec<_>>();
    if let Some(first) = letters.first_mut() {
        *first = first.to_ascii_uppercase();
    }
    letters.into_iter().collect()
}

fn job_row(job: ConsoleJob) -> AnyView {
    let seconds = job
        .created_at
        .map(|at| (browser::now_ms() - at.0 as f64) / 1000.0);
    let pages = match job.kind.as_str() {
        "scrape" => String::new(),
        _ => figures::counted(job.completed, "page", "pages"),
    };
    let content = view! {
        <span class="cut mono">
            <span class="job-kind">{job.kind.clone()}</span>
            {figures::short_url(&job.url).to_owned()}
        </span>
        <JobBadge status=job.status.clone()/>
        <span class="num">{pages}</span>
        <span class="when">{seconds.map(figures::ago)}</span>
    };
    // A single scrape has no screen of its own: its row leads to the form with its address.
    let href = match job.kind.as_str() {
        "scrape" => {
            let url = String::from(js_sys::encode_uri_component(&job.url));
            format!("{}?url={url}", Screen::Scrape.href())
        }
        _ => route::job_href(&job.id),
    };
    view! { <li><a class="job-row" href=href>{content}</a></li> }.into_any()
}

#[component]
fn Active(progress: RwSignal<BTreeMap<JobId, Progress>>) -> impl IntoView {
    let console = Console::get();
    let asking = RwSignal::new(false);
    let doomed = RwSignal::new(None::<JobId>);
    let on_confirm = Callback::new(move |()| {
        let Some(id) = doomed.get_untracked() else { return };
        spawn_local(async move {
            match console.client().cancel_crawl(id).await {
                Ok(_) => {
                    console
                        .active
                        .update(|active| active.retain(|crawl| crawl.id != id));
                    console.say("Crawl cancelled");
                }
                Err(error) => {
                    console.note(&error);
                    console.say(error.to_string());
                }
            }
        });
    });
    let row = move |crawl: ActiveCrawl| {
        let id = crawl.id;
        let numbers =
            Memo::new(move |_| progress.with(|progress| progress.get(&id).copied().unwrap_or_default()));
        let share = move || {
            numbers.with(|n| {
                if n.total == 0 {
                    0.0
                } else {
                    n.completed as f64 / n.total as f64
                }
            })
        };
        view! {
            <li class="live-row">
                <div class="live-line">
                    <a class="mono cut" href=route::job_href(&id)>{figures::short_url(&crawl.url).to_owned()}</a>
                    <span class="grow"></span>
                    <span class="mono nowrap">
                        {move || figures::count(numbers.get().completed)}
                        " / "
                        {move || figures::count(numbers.get().total)}
                    </span>
                    <button
                        class="btn small danger"
                        aria-label=format!("Cancel the crawl of {}", crawl.url)
                        on:click=move |_| {
                            doomed.set(Some(id));
                            asking.set(true);
                        }
                    >
                        "Cancel"
                    </button>
                </div>
                <div
                    class="bar thin"
                    role="progressbar"
                    aria-label="Pages"
                    aria-valuenow=move || numbers.get().completed.to_string()
                    aria-valuemin="0"
                    aria-valuemax=move || numbers.get().total.to_string()
                >
                    <i style:transform=move || format!("scaleX({:.4})", share())></i>
                </div>
            </li>
        }
    };
    view! {
        <section class="card" aria-label="Running crawls">
            <div class="card-head">
                <h2>"Running crawls"</h2>
                {move || {
                    let count = console.active.with(Vec::len);
                    (count > 0).then(|| view! { <span class="count">{count}</span> })
                }}
            </div>
            <ul class="rows">
                <For each=move || console.active.get() key=|crawl| crawl.id children=row/>
            </ul>
            <Show when=move || console.active.with(Vec::is_empty)>
                <p class="pad quiet-text">{text::NO_ACTIVE}</p>
            </Show>
        </section>
        <Confirm open=asking title=text::CANCEL_TITLE text=text::CANCEL_TEXT action="Cancel crawl" keep="Keep crawling" on_confirm/>
    }
    .into_any()
}

#[component]
fn FirstRun() -> impl IntoView {
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
        Some(call.snippet(SnippetLanguage::Curl))
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
                    <p>"The console uses only the public API. Every form shows its curl command."</p>
                    <button class="btn small" on:click=move |_| _ = command().map(|command| copy(console, command))>"Copy a curl command"</button>
                </li>
            </ol>
        </section>
    }
    .into_any()
}
