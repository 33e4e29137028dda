//! Activity: API calls of the last 24 hours, newest first, with filters, paging, links to results, "Run again" and
//! error explanations. The filters are in the URL.

use std::str::FromStr;

use harvestman_client::ClientError;
use harvestman_core::api::job::JobStatus;
use harvestman_core::api::keys::Key;
use harvestman_core::api::team::{Call, Endpoint};
use harvestman_core::api::wire_enum::WireEnum;
use harvestman_core::ids::KeyId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::components::badge::call_badge;
use crate::components::error_notice::error_notice;
use crate::components::filter_input::FilterInput;
use crate::components::icon::Glyph;
use crate::components::inline_code::inline_code;
use crate::components::notice::{empty_state, skeleton};
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::draft::Endpoint as Form;
use crate::route::{self, Screen};
use crate::{browser, display, request_history, text};

mod explain;

use explain::{Explain, FailedCall};

/// The filter, as in the URL.
#[derive(Clone, PartialEq, Default)]
struct CallFilter {
    endpoint: Option<Endpoint>,
    /// Id of an API key.
    key: Option<String>,
    outcome: Option<JobStatus>,
}

/// The calls loaded so far.
#[derive(Clone, Copy)]
struct CallFeed {
    console: Console,
    calls: RwSignal<Vec<Call>>,
    /// Cursor of the next page; none at the end.
    cursor: RwSignal<Option<String>>,
    busy: RwSignal<bool>,
    error: RwSignal<Option<ClientError>>,
    /// Incremented when the filter changes, so that late responses are dropped.
    generation: StoredValue<u64>,
}

impl CallFeed {
    fn new(console: Console) -> Self {
        Self {
            console,
            calls: RwSignal::new(Vec::new()),
            cursor: RwSignal::new(None),
            busy: RwSignal::new(false),
            error: RwSignal::new(None),
            generation: StoredValue::new(0),
        }
    }

    /// Clears the list and loads the first page.
    fn restart(self, filter: CallFilter) {
        self.generation.update_value(|generation| *generation += 1);
        self.calls.set(Vec::new());
        self.cursor.set(None);
        self.load_more(filter);
    }

    /// Loads the next page.
    fn load_more(self, filter: CallFilter) {
        let generation = self.generation.get_value();
        let cursor = self.cursor.get_untracked();
        self.busy.set(true);
        self.error.set(None);
        spawn_local(async move {
            let client = self.console.client();
            let response = client
                .calls(
                    filter.endpoint,
                    filter.key.as_deref(),
                    filter.outcome,
                    cursor.as_deref(),
                )
                .await;
            if self.generation.try_get_value() != Some(generation) {
                return;
            }
            self.busy.try_set(false);
            match response {
                Ok(part) => {
                    // The server searches a limited range per page; an empty page can be followed by matches.
                    let search_further = part.data.is_empty() && part.cursor.is_some();
                    self.calls.try_update(|calls| calls.extend(part.data));
                    self.cursor.try_set(part.cursor);
                    if search_further {
                        self.load_more(filter);
                    }
                }
                Err(error) => {
                    self.console.handle_error(&error);
                    self.error.try_set(Some(error));
                }
            }
        });
    }
}

/// Renders the screen.
#[component]
pub fn ActivityPage() -> impl IntoView {
    let console = Console::get();
    let query = use_query_map();
    let filter = Memo::new(move |_| {
        query.with(|query| CallFilter {
            endpoint: query.get_str("endpoint").and_then(Endpoint::parse),
            key: query.get("key").filter(|key| KeyId::from_str(key).is_ok()),
            outcome: query.get_str("outcome").and_then(JobStatus::parse),
        })
    });
    let feed = CallFeed::new(console);
    Effect::new(move |_| feed.restart(filter.get()));
    let failed_call = RwSignal::new(None::<FailedCall>);
    let words = RwSignal::new(String::new());
    let shown = Memo::new(move |_| {
        let words = words.with(|words| words.trim().to_lowercase());
        let matching = |call: &&Call| {
            let texts = [&call.entry.target, &call.key, &call.error];
            words.is_empty()
                || texts
                    .into_iter()
                    .flatten()
                    .any(|text| text.to_lowercase().contains(&words))
        };
        feed.calls
            .with(|calls| calls.iter().filter(matching).cloned().collect::<Vec<_>>())
    });
    let is_filtered =
        move || filter.with(|filter| *filter != CallFilter::default()) || !words.with(String::is_empty);
    let empty = move || match (feed.busy.get(), is_filtered()) {
        (true, _) => skeleton(4),
        (false, true) => empty_state(Glyph::Activity, text::ACTIVITY_NO_MATCH),
        (false, false) => empty_state(Glyph::Activity, text::ACTIVITY_EMPTY),
    };
    let refresh = move || {
        view! {
            <button class="btn" aria-disabled=move || feed.busy.get().to_string() on:click=move |_| feed.restart(filter.get_untracked())>
                "Refresh"
            </button>
        }
    };
    view! {
        <ScreenHeader title="Activity".to_owned() intro=|| view! { <p>{text::ACTIVITY_INTRO}</p> } actions=refresh/>
        <section class="card" aria-label="Calls">
            <div class="filter">
                <FilterInput words label="Search calls" placeholder="Search by URL, key or reason"/>
            </div>
            <FilterBar filter/>
            {move || feed.error.get().map(|error| error_notice(&error))}
            <Show when=move || !shown.with(Vec::is_empty) fallback=empty>
                <table class="table activity">
                    <thead>
                        <tr>
                            <th scope="col">"Call"</th>
                            <th scope="col" class="opt">"When"</th>
                            <th scope="col" class="opt">"Key"</th>
                            <th scope="col">"Outcome"</th>
                            <th scope="col" class="opt num">"Duration"</th>
                            <th scope="col" class="opt num">"Credits"</th>
                            <th scope="col">
                                <span class="sr-only">"Actions"</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || shown.get() key=|call| call.entry.id let:call>
                            <Row call failed_call/>
                        </For>
                    </tbody>
                </table>
            </Show>
            <div class="card-foot">
                <span>{move || display::plural(shown.with(Vec::len) as u64, "call", "calls")}</span>
                <span class="grow"></span>
                <Show when=move || feed.cursor.with(Option::is_some)>
                    <button
                        class="btn small"
                        aria-disabled=move || feed.busy.get().to_string()
                        on:click=move |_| {
                            if !feed.busy.get_untracked() {
                                feed.load_more(filter.get_untracked());
                            }
                        }
                    >
                        "Load older calls"
                    </button>
                </Show>
            </div>
        </section>
        <Explain failed_call/>
    }
    .into_any()
}

#[component]
fn FilterBar(filter: Memo<CallFilter>) -> impl IntoView {
    let console = Console::get();
    let keys = RwSignal::new(Vec::<Key>::new());
    spawn_local(async move {
        if let Ok(known) = console.client().keys().await {
            keys.try_set(known.keys);
        }
    });
    let navigate = use_navigate();
    let go = move |filter: CallFilter| {
        let parts = [
            ("endpoint", filter.endpoint.map(Endpoint::as_str)),
            ("key", filter.key.as_deref()),
            ("outcome", filter.outcome.map(JobStatus::as_str)),
        ];
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
    let change = Callback::new(move |(name, value): (&'static str, String)| {
        let mut filter = filter.get_untracked();
        match name {
            "endpoint" => filter.endpoint = Endpoint::parse(&value),
            "key" => filter.key = Some(value).filter(|key| !key.is_empty()),
            _ => filter.outcome = JobStatus::parse(&value),
        }
        go(filter);
    });
    let option = |word: &'static str| (word.to_owned(), word.to_owned());
    let endpoints = move || supported_endpoints().map(|kind| option(kind.as_str())).collect();
    let key_options = move || {
        keys.with(|keys| {
            keys.iter()
                .map(|key| (key.id.to_string(), key.name.clone()))
                .collect()
        })
    };
    let outcomes = move || {
        JobStatus::ALL
            .iter()
            .map(|state| option(state.as_str()))
            .collect()
    };
    view! {
        <div class="filter filters">
            {choice("endpoint", "Endpoint", endpoints, move || filter.with(|filter| filter.endpoint.map(|kind| kind.to_string())), change)}
            {choice("key", "Key", key_options, move || filter.with(|filter| filter.key.clone()), change)}
            {choice("outcome", "Outcome", outcomes, move || filter.with(|filter| filter.outcome.map(|state| state.to_string())), change)}
        </div>
    }
    .into_any()
}

/// Renders one select of the filter, with the option "all".
fn choice(
    name: &'static str,
    label: &'static str,
    values: impl Fn() -> Vec<(String, String)> + Send + 'static,
    chosen: impl Fn() -> Option<String> + Copy + Send + 'static,
    change: Callback<(&'static str, String)>,
) -> AnyView {
    let id = format!("by-{name}");
    let options = move || {
        let options = values().into_iter().map(|(value, words)| {
            let is_chosen = value.clone();
            view! {
                <option value=value selected=move || chosen().as_ref() == Some(&is_chosen)>
                    {words}
                </option>
            }
        });
        options.collect_view()
    };
    view! {
        <label for=id.clone()>{label}</label>
        <select class="input" id=id on:change=move |event| change.run((name, event_target_value(&event)))>
            <option value="" selected=move || chosen().is_none()>"All"</option>
            {options}
        </select>
    }
    .into_any()
}

/// Returns the endpoints that this server supports.
fn supported_endpoints() -> impl Iterator<Item = Endpoint> {
    let is_unsupported = |kind: &Endpoint| matches!(kind, Endpoint::Llmstxt | Endpoint::DeepResearch);
    Endpoint::ALL
        .iter()
        .copied()
        .filter(move |kind| !is_unsupported(kind))
}

#[component]
fn Row(call: Call, failed_call: RwSignal<Option<FailedCall>>) -> impl IntoView {
    let Call {
        entry,
        key,
        outcome,
        error,
        duration,
        credits,
    } = call;
    let console = Console::get();
    let navigate = StoredValue::new_local(use_navigate());
    let ago = display::ago((browser::now_ms() - entry.created_at.0 as f64) / 1000.0);
    let target = entry.target.clone().unwrap_or_default();
    let opens = route::call_href(&entry);
    let (id, endpoint) = (entry.id, entry.endpoint);
    let form = form_of(endpoint);
    let form_input = StoredValue::new((endpoint, target.clone()));
    let run_again = move |_| {
        let (endpoint, target) = form_input.get_value();
        spawn_local(async move {
            let mut body = request_history::request_of(&id.to_string());
            if body.is_none() && outcome.is_some() {
                let job = console.client().console_job(id).await;
                body = job.ok().and_then(|job| job.request);
            }
            if let Some(path) = form_path(endpoint, &target, body) {
                navigate.try_with_value(|navigate| navigate(&path, Default::default()));
            }
        });
    };
    let reason = error
        .clone()
        .map(|error| view! { <span class="reason">{inline_code(&error)}</span> });
    let explain = move |_| {
        let (endpoint, target) = form_input.get_value();
        failed_call.set(Some(FailedCall {
            endpoint,
            target,
            id,
            error: error.clone(),
        }));
    };
    let name = view! {
        <span class="job-kind">{endpoint.as_str()}</span>
        <span class="target">{display::short_url(&target).to_owned()}</span>
    };
    let call = match opens {
        Some(href) => view! { <a class="mono plain" href=href title=target.clone()>{name}</a> }.into_any(),
        None => view! { <span class="mono" title=target.clone()>{name}</span> }.into_any(),
    };
    view! {
        <tr>
            <td class="call">
                {call}
                {reason}
                <span class="phone-only hint">{ago.clone()}</span>
            </td>
            <td class="opt nowrap quiet-text">{ago}</td>
            <td class="opt quiet-text cut">{key}</td>
            <td>
                {match outcome {
                    Some(outcome) => call_badge(endpoint, outcome),
                    None => view! { <span class="hint">"not recorded"</span> }.into_any(),
                }}
            </td>
            <td class="opt num">{duration.map_or_else(|| "-".to_owned(), display::duration_ms)}</td>
            <td class="opt num">{credits.map_or_else(|| "-".to_owned(), display::count)}</td>
            <td class="do">
                {(outcome == Some(JobStatus::Failed))
                    .then(|| view! { <button class="btn small" on:click=explain>"Explain"</button> })}
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

/// Returns the form of an endpoint.
fn form_of(endpoint: Endpoint) -> Option<Form> {
    match endpoint {
        Endpoint::Scrape => Some(Form::Scrape),
        Endpoint::Crawl => Some(Form::Crawl),
        Endpoint::Map => Some(Form::Map),
        Endpoint::Search => Some(Form::Search),
        Endpoint::Extract => Some(Form::Extract),
        Endpoint::Agent => Some(Form::Agent),
        Endpoint::Parse
        | Endpoint::BatchScrape
        | Endpoint::Browser
        | Endpoint::Interact
        | Endpoint::Llmstxt
        | Endpoint::DeepResearch => None,
    }
}

/// Returns the path of the form, filled with the body of the call if it is known, or else with its target. Does not
/// send anything.
fn form_path(endpoint: Endpoint, target: &str, body: Option<serde_json::Value>) -> Option<String> {
    let form = form_of(endpoint)?;
    Some(match body {
        Some(body) if body.is_object() => form.fill_form(&body).to_owned(),
        _ => form.screen().path_with(form.subject(), target),
    })
}
