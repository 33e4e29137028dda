//! Crawl options suggested by the server for a description. Suggestions for unset options are applied at once; values
//! that the user set are kept until the user selects the suggestion.

use harvestman_core::api::map::MapLink;
use harvestman_core::api::params_preview::{CrawlParams, ParamsPreviewRequest};
use harvestman_core::api::{MapRequest, TargetUrl, Wire};
use harvestman_core::params_preview::clauses_not_understood;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use crate::browser;
use crate::components::availability::has_model;
use crate::components::button::{BusyButton, spawn_busy};
use crate::components::field::field_id;
use crate::components::inline_code::inline_code;
use crate::console::Console;
use crate::draft::{Draft, problems_of};
use crate::limits::PREVIEW_URLS;
use crate::{display, text};

const FIELD: &str = "prompt";

/// A suggested option.
#[derive(Clone, PartialEq)]
struct Suggestion {
    /// Name in the API.
    name: String,
    /// Suggested value.
    value: Value,
    /// Value in the form before.
    before: Option<Value>,
}

/// The signals of the description and its suggestions. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
struct Plan {
    console: Console,
    draft: Draft,
    description: RwSignal<String>,
    suggestions: RwSignal<Option<Vec<Suggestion>>>,
    /// Class and text of a notice.
    notice: RwSignal<Option<(&'static str, String)>>,
    not_understood: RwSignal<Vec<String>>,
    /// Paths of the site, counted for each suggested pattern.
    known: RwSignal<Option<Vec<String>>>,
    busy: RwSignal<bool>,
}

impl Plan {
    fn new(draft: Draft) -> Self {
        let stored = draft
            .value(FIELD)
            .and_then(|prompt| prompt.as_str().map(str::to_owned));
        Self {
            console: Console::get(),
            draft,
            description: RwSignal::new(stored.unwrap_or_default()),
            suggestions: RwSignal::new(None),
            notice: RwSignal::new(None),
            not_understood: RwSignal::new(Vec::new()),
            known: RwSignal::new(None),
            busy: RwSignal::new(false),
        }
    }

    fn describe(self, description: String) {
        self.suggestions.set(None);
        self.not_understood.set(Vec::new());
        self.notice.set(None);
        // Without suggestions, the server derives the options from the prompt when the crawl starts.
        let prompt = (!description.trim().is_empty()).then(|| Value::from(description.as_str()));
        self.draft.put(FIELD, prompt);
        self.description.set(description);
    }

    /// Returns the request for suggestions, or reports what is missing for it.
    fn request(self) -> Option<ParamsPreviewRequest> {
        let url = self
            .draft
            .value("url")
            .and_then(|url| TargetUrl::parse(url.as_str()?).ok());
        let prompt = self
            .description
            .with_untracked(|description| description.trim().to_owned());
        let missing = match (&url, prompt.is_empty()) {
            (None, _) => {
                browser::focus_soon("[data-url]");
                Some(text::SUGGEST_NEEDS_URL)
            }
            (_, true) => Some(text::SUGGEST_NEEDS_TEXT),
            (Some(_), false) => None,
        };
        if let Some(missing) = missing {
            self.notice.set(Some(("notice bad", missing.to_owned())));
            return None;
        }
        ParamsPreviewRequest::from_value(json!({ "url": url?.url.as_str(), "prompt": prompt })).ok()
    }

    fn suggest(self) {
        let Some(request) = self.request() else { return };
        if self.busy.get_untracked() {
            return;
        }
        self.notice.set(None);
        self.not_understood.set(Vec::new());
        self.known.set(None);
        spawn_busy(self.busy, async move {
            match self.console.client().crawl_params_preview(&request).await {
                // The user has left the screen, and its form with it.
                Ok(_) if self.busy.is_disposed() => {}
                Ok(response) => {
                    self.notice
                        .try_set(response.warning.map(|warning| ("notice warn", warning)));
                    self.apply(&request, suggestions_of(self.draft, &response.data));
                }
                Err(error) => {
                    self.console.handle_error(&error);
                    let problems = error.api().map(problems_of).unwrap_or_default();
                    let message = problems
                        .first()
                        .map(|problem| format!("{} {}", problem.path, problem.message));
                    self.notice
                        .try_set(Some(("notice bad", message.unwrap_or_else(|| error.to_string()))));
                }
            }
        });
    }

    /// Applies the suggestions for options that are not set, and shows all of them.
    fn apply(self, request: &ParamsPreviewRequest, suggested: Vec<Suggestion>) {
        // Drop the prompt once the suggestions are applied, so that the server derives nothing again.
        for suggestion in suggested.iter().filter(|suggestion| suggestion.before.is_none()) {
            self.draft
                .put_exactly(&suggestion.name, Some(suggestion.value.clone()));
        }
        self.draft.put(FIELD, None);
        // A language model does not use the rules that report what was not understood.
        if !self.console.readiness.with_untracked(has_model) && !suggested.is_empty() {
            self.not_understood.try_set(clauses_not_understood(request));
        }
        if suggested
            .iter()
            .any(|suggestion| !patterns(suggestion).is_empty())
        {
            spawn_local(load_known(self.console, request.url.clone(), self.known));
        }
        let count = display::plural(suggested.len() as u64, "suggestion", "suggestions");
        self.console.notify(count);
        self.suggestions.try_set(Some(suggested));
    }

    fn summary(self) -> Option<String> {
        self.suggestions.with(|suggestions| {
            let suggestions = suggestions.as_ref()?;
            let applied = suggestions
                .iter()
                .filter(|suggestion| is_applied(self.draft, suggestion))
                .count();
            let all = display::plural(suggestions.len() as u64, "suggestion", "suggestions");
            Some(format!(
                "{all}, {applied} applied. {}",
                text::SUGGEST_KEEPS_VALUES
            ))
        })
    }
}

/// Renders the description field and the suggestions.
#[component]
pub fn Suggestions(draft: Draft) -> impl IntoView {
    let plan = Plan::new(draft);
    // Clearing the form also clears the description.
    Effect::new(move |_| {
        if draft.value("url").is_none() && plan.suggestions.with_untracked(Option::is_some) {
            plan.suggestions.set(None);
            plan.description.set(String::new());
        }
    });
    let list = move || {
        plan.suggestions.with(|suggestions| {
            let rows = suggestions
                .as_ref()
                .filter(|suggestions| !suggestions.is_empty())?
                .iter()
                .map(|one| row(draft, one.clone(), plan.known));
            Some(view! { <ul class="suggestions">{rows.collect_view()}</ul> })
        })
    };
    view! {
        <div class="field">
            <label class="field-name" for=field_id(FIELD)>
                "Crawl description"
                <code>"prompt"</code>
            </label>
            <textarea
                class="input"
                id=field_id(FIELD)
                rows="2"
                aria-describedby="f-prompt-help"
                placeholder=text::SUGGEST_EXAMPLE
                prop:value=move || plan.description.get()
                on:input=move |event| plan.describe(event_target_value(&event))
            ></textarea>
            <div class="send">
                <BusyButton class="btn small" busy=plan.busy label="Suggest options" on_click=Callback::new(move |()| plan.suggest())/>
                <p class="hint" id="f-prompt-help">{move || plan.summary().unwrap_or_else(|| text::SUGGEST_HELP.to_owned())}</p>
            </div>
            {move || plan.not_understood.with(|clauses| clauses_notice(clauses))}
            {move || plan.notice.get().map(|(class, message)| view! { <div class=class role="status">{inline_code(&message)}</div> })}
            {list}
        </div>
    }
    .into_any()
}

fn clauses_notice(clauses: &[String]) -> Option<AnyView> {
    let rows = clauses.iter().map(|clause| view! { <li>{clause.clone()}</li> });
    let notice = view! {
        <div class="notice warn" role="status">
            <p>{text::NOT_UNDERSTOOD}</p>
            <ul class="clauses">{rows.collect_view()}</ul>
        </div>
    };
    (!clauses.is_empty()).then(|| notice.into_any())
}

/// Returns the suggestions, each with the value in the form.
fn suggestions_of(draft: Draft, params: &CrawlParams) -> Vec<Suggestion> {
    let mut all = serde_json::Map::new();
    params.fill(&mut all);
    all.into_iter()
        .map(|(name, value)| Suggestion {
            before: draft.value(&name),
            name,
            value,
        })
        .collect()
}

fn is_applied(draft: Draft, suggestion: &Suggestion) -> bool {
    draft.value(&suggestion.name).as_ref() == Some(&suggestion.value)
}

/// Returns the path patterns that an option suggests.
fn patterns(suggestion: &Suggestion) -> Vec<String> {
    let is_list = matches!(suggestion.name.as_str(), "includePaths" | "excludePaths");
    let list = suggestion.value.as_array().filter(|_| is_list);
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Loads the paths that a map of the site lists.
async fn load_known(console: Console, url: TargetUrl, known: RwSignal<Option<Vec<String>>>) {
    let request = MapRequest {
        limit: PREVIEW_URLS,
        ..MapRequest::new(url)
    };
    // Without the map, the suggestions are shown without counts.
    if let Ok(response) = console.client().map(&request).await {
        let path = |link: MapLink| {
            display::url_path(&link.url)
                .split('?')
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        known.try_set(Some(response.links.into_iter().map(path).collect()));
    }
}

/// Renders how many known URLs each pattern matches.
fn pattern_counts(patterns: Vec<String>, known: RwSignal<Option<Vec<String>>>) -> AnyView {
    let rows = move || {
        known.with(|known| {
            let known = known.as_ref()?;
            let all = display::plural(known.len() as u64, "known URL", "known URLs");
            let rows = patterns.iter().filter_map(|pattern| {
                let regex = browser::regex(pattern)?;
                let count = known.iter().filter(|path| regex.test(path)).count() as u64;
                let class = if count == 0 { "warn-text" } else { "hint" };
                Some(view! {
                    <li>
                        <code>{pattern.clone()}</code>
                        <span class=class>{format!("matches {} of {all}", display::count(count))}</span>
                    </li>
                })
            });
            Some(view! { <ul class="pattern-counts">{rows.collect_view()}</ul> })
        })
    };
    rows.into_any()
}

fn row(draft: Draft, suggestion: Suggestion, known: RwSignal<Option<Vec<String>>>) -> AnyView {
    let id = format!("plan-{}", suggestion.name);
    let counts = Some(patterns(&suggestion)).filter(|patterns| !patterns.is_empty());
    let counts = counts.map(|patterns| pattern_counts(patterns, known));
    let suggestion = StoredValue::new(suggestion);
    let applied = move || suggestion.with_value(|suggestion| is_applied(draft, suggestion));
    let toggle = move |event: leptos::ev::Event| {
        let apply = event_target_checked(&event);
        suggestion.with_value(|suggestion| {
            let value = match apply {
                true => Some(suggestion.value.clone()),
                false => suggestion
                    .before
                    .clone()
                    .filter(|before| *before != suggestion.value),
            };
            draft.put_exactly(&suggestion.name, value);
        });
    };
    let hint = suggestion.with_value(|suggestion| {
        let default = draft.default_of(&suggestion.name);
        match (&suggestion.before, default) {
            (Some(before), _) => format!("your value: {before}"),
            (None, Some(default)) => format!("default: {default}"),
            (None, None) => "no default".to_owned(),
        }
    });
    let (name, value) =
        suggestion.with_value(|suggestion| (suggestion.name.clone(), suggestion.value.to_string()));
    view! {
        <li>
            <input type="checkbox" id=id.clone() prop:checked=applied on:change=toggle/>
            <label for=id>
                <code>{name}</code>
                <code class="suggested">{value}</code>
                <span class="hint">{hint}</span>
            </label>
            {counts}
        </li>
    }
    .into_any()
}
