//! What was asked in the last 24 hours, newest first: filtered, paged, opened, asked again, explained.
//! The filter is in the address.

use std::collections::BTreeMap;

use harvestman_client::{ClientError, ConsoleJob};
use harvestman_core::api::team::{ActivityEntry, Endpoint};
use harvestman_core::api::wire_enum::WireEnum;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::components::badge::JobBadge;
use crate::components::failure::failure;
use crate::components::head::PageHead;
use crate::components::icon::{Icon, Picture};
use crate::console::Console;
use crate::limits::{ACTIVITY_ENTRIES, ACTIVITY_JOBS};
use crate::route::{self, BASE, Screen};
use crate::{browser, figures, history, storage, text};

mod explain;

use explain::{Explain, Question};

/// States of a job, as the filter has them.
const OUTCOMES: [&str; 4] = ["scraping", "completed", "failed", "cancelled"];

/// The list as far as it was read.
#[derive(Clone, Copy)]
struct Feed {
    console: Console,
    entries: RwSignal<Vec<ActivityEntry>>,
    /// Of the next part; none at the end.
    cursor: RwSignal<Option<String>>,
    /// What became of the jobs that the server still knows.
    jobs: RwSignal<BTreeMap<String, ConsoleJob>>,
    busy: RwSignal<bool>,
    failed: RwSignal<Option<ClientError>>,
    /// Rises with the filter, so that late answers are dropped.
    turn: StoredValue<u64>,
}

impl Feed {
    fn new(console: Console) -> Self {
        Self {
            console,
            entries: RwSignal::new(Vec::new()),
            cursor: RwSignal::new(None),
            jobs: RwSignal::new(BTreeMap::new()),
            busy: RwSignal::new(false),
            failed: RwSignal::new(None),
            turn: StoredValue::new(0),
        }
    }

    /// Begins anew.
    fn restart(self, endpoint: Option<Endpoint>) {
        self.turn.update_value(|turn| *turn += 1);
        self.entries.set(Vec::new());
        self.cursor.set(None);
        self.more(endpoint);
        spawn_local(async move {
            if let Ok(list) = self.console.client().console_jobs_up_to(ACTIVITY_JOBS).await {
                let jobs = list
                    .jobs
                    .into_iter()
                    .map(|job| (job.id.to_string(), job))
                    .collect();
                self.jobs.try_set(jobs);
            }
        });
    }

    /// Reads the next part.
    fn more(self, endpoint: Option<Endpoint>) {
        let turn = self.turn.get_value();
        let cursor = self.cursor.get_untracked();
        self.busy.set(true);
        self.failed.set(None);
        spawn_local(async move {
            let client = self.console.client();
            let answer = client
                .activity(endpoint, Some(ACTIVITY_ENTRIES), cursor.as_deref())
                .await;
            if self.turn.try_get_value() != Some(turn) {
                return;
            }
            self.busy.try_set(false);
            match answer {
                Ok(part) => {
                    self.entries.try_update(|entries| entries.extend(part.data));
                    self.cursor.try_set(part.cursor.filter(|_| part.has_more));
                }
                Err(error) => {
                    self.console.note(&error);
                    self.failed.try_set(Some(error));
                }
            }
        });
    }

    /// State of an entry's job, where the server tells it.
    fn outcome(self, id: &str) -> Option<String> {
        self.jobs.with(|jobs| jobs.get(id).map(|job| job.status.clone()))
    }
}

/// Shows the screen.
#[component]
pub fn ActivityPage() -> impl IntoView {
    let console = Console::get();
    let query = use_query_map();
    let endpoint = Memo::new(move |_| query.with(|query| Endpoint::parse(&query.get("endpoint")?)));
    let outcome = Memo::new(move |_| {
        let wanted = query.with(|query| query.get("outcome"))?;
        OUTCOMES.into_iter().find(|outcome| *outcome == wanted)
    });
    let feed = Feed::new(console);
    Effect::new(move |_| feed.restart(endpoint.get()));
    let question = RwSignal::new(None::<Question>);
    let shown = Memo::new(move |_| {
        let wanted = outcome.get();
        feed.entries.with(|entries| {
            let fits = |entry: &&ActivityEntry| match wanted {
                None => true,
                Some(wanted) => feed.outcome(&entry.id.to_string()).as_deref() == Some(wanted),
            };
            entries.iter().filter(fits).cloned().collect::<Vec<_>>()
        })
    });
    let nothing = move || match (
        feed.busy.get(),
        outcome.get().is_some() || endpoint.get().is_some(),
    ) {
        (true, _) => view! { <div class="wait"><i></i><i></i><i></i><i></i></div> }.into_any(),
        (false, filtered) => {
            let words = if filtered {
                text::NO_SUCH_ACTIVITY
            } else {
                text::NO_ACTIVITY
            };
            view! {
                <div class="empty">
                    <Icon picture=Picture::Activity/>
                    <p>{words}</p>
                </div>
            }
            .into_any()
        }
    };
    let refresh = move || {
        view! {
            <button class="btn" aria-disabled=move || feed.busy.get().to_string() on:click=move |_| feed.restart(endpoint.get_untracked())>
                "Refresh"
            </button>
        }
    };
    view! {
        <PageHead title="Activity".to_owned() intro=|| view! { <p>{text::ACTIVITY_INTRO}</p> } actions=refresh/>
        <section class="card" aria-label="Calls">
            <Filter endpoint outcome/>
            {move || feed.failed.get().map(|error| failure(&error))}
            <Show when=move || !shown.with(Vec::is_empty) fallback=nothing>
                <table class="table activity">
                    <thead>
                        <tr>
                            <th scope="col">"Call"</th>
                            <th scope="col" class="opt">"When"</th>
                            <th scope="col">"Outcome"</th>
                            <th scope="col">
                                <span class="unseen">"What to do"</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || shown.get() key=|entry| entry.id let:entry>
                            <Row feed entry question/>
                        </For>
                    </tbody>
                </table>
            </Show>
            <div class="card-foot">
                <span>{move || figures::counted(shown.with(Vec::len) as u64, "call", "calls")}</span>
                <span class="grow"></span>
                <Show when=move || feed.cursor.with(Option::is_some)>
                    <button
                        class="btn small"
                        aria-disabled=move || feed.busy.get().to_string()
                        on:click=move |_| {
                            if !feed.busy.get_untracked() {
                                feed.more(endpoint.get_untracked());
                            }
                        }
                    >
                        "Older calls"
                    </button>
                </Show>
            </div>
        </section>
        <Explain question/>
    }
    .into_any()
}

#[component]
fn Filter(endpoint: Memo<Option<Endpoint>>, outcome: Memo<Option<&'static str>>) -> impl IntoView {
    let navigate = use_navigate();
    let go = move |endpoint: Option<&str>, outcome: Option<&str>| {
        let parts = [("endpoint", endpoint), ("outcome", outcome)];
        let parts = parts
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        let query = parts.collect::<Vec<_>>().join("&");
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&format!("{}?{query}", Screen::Activity.path()), options);
    };
    let go = StoredValue::new_local(go);
    let word = |text: String| Some(text).filter(|text| !text.is_empty());
    let kinds = offered().map(|kind| {
        view! { <option value=kind.as_str() selected=move || endpoint.get() == Some(kind)>{kind.as_str()}</option> }
    });
    let states = OUTCOMES.map(|state| {
        view! { <option value=state selected=move || outcome.get() == Some(state)>{state}</option> }
    });
    view! {
        <div class="filter filters">
            <label for="by-endpoint">"Endpoint"</label>
            <select
                class="input"
                id="by-endpoint"
                on:change=move |event| {
                    let chosen = word(event_target_value(&event));
                    go.with_value(|go| go(chosen.as_deref(), outcome.get_untracked()));
                }
            >
                <option value="" selected=move || endpoint.with(Option::is_none)>"all"</option>
                {kinds.collect_view()}
            </select>
            <label for="by-outcome">"Outcome"</label>
            <select
                class="input"
                id="by-outcome"
                on:change=move |event| {
                    let chosen = word(event_target_value(&event));
                    let kind = endpoint.get_untracked().map(|kind| kind.as_str());
                    go.with_value(|go| go(kind, chosen.as_deref()));
                }
            >
                <option value="" selected=move || outcome.with(Option::is_none)>"all"</option>
                {states}
            </select>
        </div>
    }
    .into_any()
}

/// What this server can be asked; the rest of the words are of other servers.
fn offered() -> impl Iterator<Item = Endpoint> {
    let elsewhere = |kind: &Endpoint| matches!(kind, Endpoint::Llmstxt | Endpoint::DeepResearch);
    Endpoint::ALL.iter().copied().filter(move |kind| !elsewhere(kind))
}

#[component]
fn Row(feed: Feed, entry: ActivityEntry, question: RwSignal<Option<Question>>) -> impl IntoView {
    let navigate = StoredValue::new_local(use_navigate());
    let ago = figures::ago((browser::now_ms() - entry.created_at.0 as f64) / 1000.0);
    let target = entry.target.clone().unwrap_or_default();
    let opens = screen_of(&entry);
    let id = StoredValue::new(entry.id.to_string());
    let outcome = Memo::new(move |_| id.with_value(|id| feed.outcome(id)));
    let form = form_of(entry.endpoint);
    let again = StoredValue::new((entry.endpoint, target.clone()));
    let run_again = move |_| {
        let (endpoint, target) = again.get_value();
        let body = feed
            .jobs
            .with_untracked(|jobs| jobs.get(&id.get_value())?.request.clone());
        let body = body.or_else(|| history::request_of(&id.get_value()));
        if let Some(address) = address_of_form(endpoint, &target, body) {
            navigate.with_value(|navigate| navigate(&address, Default::default()));
        }
    };
    let explain = move |_| {
        let (endpoint, target) = again.get_value();
        question.set(Some(Question {
            endpoint,
            target,
            id: id.get_value(),
        }));
    };
    let name = view! {
        <span class="job-kind">{entry.endpoint.as_str()}</span>
        <span class="target">{figures::short_url(&target).to_owned()}</span>
    };
    let call = match opens {
        Some(href) => view! { <a class="mono plain" href=href title=target.clone()>{name}</a> }.into_any(),
        None => view! { <span class="mono" title=target.clone()>{name}</span> }.into_any(),
    };
    view! {
        <tr>
            <td class="call">
                {call}
                <span class="phone-only hint">{ago.clone()}</span>
            </td>
            <td class="opt nowrap quiet-text">{ago}</td>
            <td>
                {move || match outcome.get() {
                    Some(status) => view! { <JobBadge status/> }.into_any(),
                    None => view! { <span class="hint">"not told"</span> }.into_any(),
                }}
            </td>
            <td class="do">
                {move || {
                    (outcome.get().as_deref() == Some("failed"))
                        .then(|| view! { <button class="btn small" on:click=explain>"Explain"</button> })
                }}
                {form
                    .map(|_| {
                        view! {
                            <button class="btn small quiet" on:click=run_again>
                                "Run again"
                            </button>
                        }
                    })}
            </td>
        </tr>
    }
    .into_any()
}

/// Where the result of a call can be seen.
fn screen_of(entry: &ActivityEntry) -> Option<String> {
    match entry.endpoint {
        Endpoint::Crawl | Endpoint::BatchScrape => Some(route::job_href(&entry.id)),
        Endpoint::Extract => Some(format!("{}?id={}", Screen::Extract.href(), entry.id)),
        Endpoint::Browser | Endpoint::Interact => Some(format!("{BASE}/sessions/{}", entry.id)),
        Endpoint::Scrape
        | Endpoint::Search
        | Endpoint::Map
        | Endpoint::Agent
        | Endpoint::Llmstxt
        | Endpoint::DeepResearch => None,
    }
}

/// The form that makes such a call: its path, the name of its draft, and the field of the target.
fn form_of(endpoint: Endpoint) -> Option<(&'static str, &'static str, &'static str)> {
    match endpoint {
        Endpoint::Scrape => Some(("/scrape", "draft:scrape", "url")),
        Endpoint::Crawl => Some(("/crawl", "draft:crawl", "url")),
        Endpoint::Map => Some(("/map", "draft:map", "url")),
        Endpoint::Search => Some(("/search", "draft:search", "query")),
        Endpoint::Extract => Some(("/extract", "draft:extract", "urls")),
        Endpoint::BatchScrape
        | Endpoint::Browser
        | Endpoint::Interact
        | Endpoint::Agent
        | Endpoint::Llmstxt
        | Endpoint::DeepResearch => None,
    }
}

/// Address of the form filled as the call was: with the whole body where it is known, else with the
/// target. Nothing is sent by it.
fn address_of_form(endpoint: Endpoint, target: &str, body: Option<serde_json::Value>) -> Option<String> {
    let (path, draft, field) = form_of(endpoint)?;
    Some(match body {
        Some(body) if body.is_object() => {
            storage::write(draft, &body);
            path.to_owned()
        }
        _ => {
            let target = String::from(js_sys::encode_uri_component(target));
            format!("{path}?{field}={target}")
        }
    })
}
