//! Data from pages by a prompt, a schema or both: form, result, and where it comes from. A running job
//! is in the address, so that it is found again.

use std::str::FromStr;

use harvestman_client::ClientError;
use harvestman_core::api::extract::{ExtractAnswer, ExtractRequest, ExtractStatus};
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use serde_json::Value;

use crate::components::badge::JobBadge;
use crate::components::code::{Code, CodeCard, copy};
use crate::components::head::PageHead;
use crate::components::icon::{Icon, Picture};
use crate::console::Console;
use crate::draft::{Draft, Endpoint, problems_of};
use crate::limits::{EXTRACT_LOOK_MS, RETRY_LONGEST_MS};
use crate::markdown::is_safe_link;
use crate::pages::scrape::failure;
use crate::request_form::RequestForm;
use crate::route::Screen;
use crate::{browser, figures, highlight, history, text};

/// What the result card shows.
#[derive(Clone, PartialEq)]
enum Outcome {
    Nothing,
    /// Sent; no job yet.
    Starting,
    /// The last that was told of the job.
    Known(JobId, Option<ExtractAnswer>),
    Failed(ClientError),
}

/// Shows the screen.
#[component]
pub fn ExtractPage() -> impl IntoView {
    let console = Console::get();
    let query = use_query_map();
    let given: Vec<(String, String)> = query
        .get_untracked()
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect();
    let draft = Draft::restore(Endpoint::Extract, &given, Value::Null);
    let outcome = RwSignal::new(Outcome::Nothing);
    let busy = Memo::new(move |_| {
        outcome.with(|outcome| match outcome {
            Outcome::Starting => true,
            Outcome::Known(_, answer) => answer.as_ref().is_none_or(is_running),
            Outcome::Nothing | Outcome::Failed(_) => false,
        })
    });
    let job = Memo::new(move |_| query.with(|query| JobId::from_str(&query.get("id")?).ok()));
    Effect::new(move |_| {
        if let Some(id) = job.get() {
            outcome.set(Outcome::Known(id, None));
            spawn_local(watch(console, id, outcome));
        }
    });
    let navigate = use_navigate();
    let run = Callback::new(move |()| {
        draft.asked.set(true);
        let Some(request) = draft.request::<ExtractRequest>() else {
            browser::focus_soon("[data-problems]");
            return;
        };
        if outcome.with_untracked(|outcome| *outcome == Outcome::Starting) {
            return;
        }
        draft.refused.set(None);
        outcome.set(Outcome::Starting);
        let navigate = navigate.clone();
        spawn_local(async move {
            match console.client().start_extract(&request).await {
                Ok(started) => {
                    let id = started.id.to_string();
                    history::remember(&id, serde_json::to_value(&request).unwrap_or_default());
                    let options = NavigateOptions {
                        scroll: false,
                        ..Default::default()
                    };
                    navigate(&format!("{}?id={id}", Screen::Extract.path()), options);
                }
                Err(error) => {
                    console.note(&error);
                    let at_fields = error.api().filter(|api| !problems_of(api).is_empty());
                    draft.refused.try_set(at_fields.cloned());
                    outcome.try_set(Outcome::Failed(error));
                }
            }
            browser::reveal_soon("#result");
        });
    });
    view! {
        <PageHead title="Extract".to_owned() intro=|| view! { <p>{text::EXTRACT_INTRO}</p> }/>
        <div class="two">
            <RequestForm draft run busy action="Extract" busy_action="Extracting"/>
            <div class="stack">
                <section class="card" id="result" aria-label="Result" aria-busy=move || busy.get().to_string()>
                    {move || match outcome.get() {
                        Outcome::Nothing => {
                            view! {
                                <div class="empty">
                                    <Icon picture=Picture::Extract/>
                                    <p>{text::NO_EXTRACT}</p>
                                </div>
                            }
                                .into_any()
                        }
                        Outcome::Starting | Outcome::Known(_, None) => {
                            view! { <div class="wait"><i></i><i></i><i></i><i></i></div> }.into_any()
                        }
                        Outcome::Failed(error) => failure(&error),
                        Outcome::Known(_, Some(answer)) => result(&answer),
                    }}
                </section>
                <CodeCard draft/>
            </div>
        </div>
    }
    .into_any()
}

fn is_running(answer: &ExtractAnswer) -> bool {
    answer.status == ExtractStatus::Processing
}

/// Looks at a job until it has ended, another one is shown, or the screen is left.
async fn watch(console: Console, id: JobId, outcome: RwSignal<Outcome>) {
    let mut pause = EXTRACT_LOOK_MS;
    loop {
        let answer = console.client().extract_status(id).await;
        let is_here =
            outcome.try_with_untracked(|outcome| matches!(outcome, Outcome::Known(shown, _) if *shown == id));
        if is_here != Some(true) {
            return;
        }
        match answer {
            Ok(answer) => {
                let running = is_running(&answer);
                if !running {
                    console.say(format!("Extraction {}", answer.status));
                }
                outcome.set(Outcome::Known(id, Some(answer)));
                if !running {
                    return;
                }
                pause = EXTRACT_LOOK_MS;
            }
            Err(error) if error.is_passing() => {
                console.note(&error);
                pause = (pause * 2).min(RETRY_LONGEST_MS);
            }
            Err(error) => {
                console.note(&error);
                outcome.set(Outcome::Failed(error));
                return;
            }
        }
        browser::sleep(pause).await;
    }
}

fn result(answer: &ExtractAnswer) -> AnyView {
    let console = Console::get();
    let data = answer.data.as_ref().filter(|data| !data.is_null());
    let written = data.and_then(|data| serde_json::to_string_pretty(data).ok());
    let copied = written.clone();
    let saved = written.clone();
    let tools = written.is_some().then(|| {
        view! {
            <button
                class="btn icon quiet"
                aria-label="Copy"
                title="Copy"
                on:click=move |_| copy(console, copied.clone().unwrap_or_default())
            >
                <Icon picture=Picture::Copy/>
            </button>
            <button
                class="btn icon quiet"
                aria-label="Save as a file"
                title="Save as a file"
                on:click=move |_| {
                    let text = saved.clone().unwrap_or_default();
                    if browser::download("extract.json", "application/json", &text).is_none() {
                        console.say("The browser does not allow saving");
                    }
                }
            >
                <Icon picture=Picture::Save/>
            </button>
        }
    });
    let body = match (&written, is_running(answer)) {
        (Some(written), _) => {
            let html = highlight::json(written);
            view! { <Code html label="Extracted data" wrap=true/> }.into_any()
        }
        (None, true) => view! { <div class="wait"><i></i><i></i><i></i></div> }.into_any(),
        (None, false) => view! { <p class="empty">{text::NOTHING_EXTRACTED}</p> }.into_any(),
    };
    let error = answer.error.clone();
    let error = error
        .map(|error| view! { <div class="pad"><div class="notice bad" role="alert">{error}</div></div> });
    let warning = answer.warning.clone();
    let warning =
        warning.map(|text| view! { <div class="pad notice-pad"><div class="notice warn">{text}</div></div> });
    let facts = [
        answer
            .credits_used
            .map(|credits| figures::counted(credits, "credit", "credits")),
        answer
            .tokens_used
            .map(|tokens| figures::counted(tokens, "token", "tokens")),
    ];
    let facts = facts
        .into_iter()
        .flatten()
        .map(|fact| view! { <span>{fact}</span> });
    view! {
        <div class="card-head">
            <h2>"Result"</h2>
            <JobBadge status=answer.status.to_string()/>
            <span class="grow"></span>
            {tools}
        </div>
        {warning}
        {error}
        {body}
        {answer.sources.as_ref().map(sources)}
        <div class="card-foot">{facts.collect_view()}</div>
    }
    .into_any()
}

/// Each value with the pages that it comes from.
fn sources(sources: &Value) -> AnyView {
    let fields = sources.as_object().into_iter().flatten();
    let rows: Vec<_> = fields
        .map(|(name, places)| {
            let places = places.as_array().into_iter().flatten().filter_map(Value::as_str);
            let links = places.map(|place| {
                let name = figures::short_url(place).to_owned();
                match is_safe_link(place) {
                    true => view! {
                        <a class="mono" href=place.to_owned() target="_blank" rel="noopener noreferrer nofollow">
                            {name}
                        </a>
                    }
                    .into_any(),
                    false => view! { <code>{name}</code> }.into_any(),
                }
            });
            let links = links.map(|link| view! { <li>{link}</li> }).collect_view();
            view! {
                <dt>{name.clone()}</dt>
                <dd>
                    <ul class="links">{links}</ul>
                </dd>
            }
        })
        .collect();
    if rows.is_empty() {
        return ().into_any();
    }
    view! {
        <div class="pad sources-of" role="region" aria-label="Sources">
            <h3 class="small-head">"Sources"</h3>
            <dl class="pairs">{rows}</dl>
        </div>
    }
    .into_any()
}
