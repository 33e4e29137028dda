//! Crawl options suggested by the server for a description. Suggestions for unset options are applied at once; values
//! that the user set are kept until the user selects the suggestion.

use harvestman_core::api::params_preview::{CrawlParams, ParamsPreviewRequest};
use harvestman_core::api::{TargetUrl, Wire};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use crate::browser;
use crate::components::field::field_id;
use crate::components::inline_code::inline_code;
use crate::console::Console;
use crate::draft::{Draft, problems_of};
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

/// Renders the description field and the suggestions.
#[component]
pub fn Suggestions(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let stored = draft
        .value(FIELD)
        .and_then(|prompt| prompt.as_str().map(str::to_owned));
    let description = RwSignal::new(stored.unwrap_or_default());
    let suggestions = RwSignal::new(None::<Vec<Suggestion>>);
    let notice = RwSignal::new(None::<(&'static str, String)>);
    let busy = RwSignal::new(false);
    // Clearing the form also clears the description.
    Effect::new(move |_| {
        if draft.value("url").is_none() && suggestions.with_untracked(Option::is_some) {
            suggestions.set(None);
            description.set(String::new());
        }
    });
    let on_input = move |event: leptos::ev::Event| {
        description.set(event_target_value(&event));
        suggestions.set(None);
        notice.set(None);
        // Without suggestions, the server derives the options from the prompt when the crawl starts.
        let description_now = description.get_untracked();
        draft.put(
            FIELD,
            (!description_now.trim().is_empty()).then(|| Value::from(description_now)),
        );
    };
    let suggest = move |_| {
        let url = draft
            .value("url")
            .and_then(|url| TargetUrl::parse(url.as_str()?).ok());
        let prompt = description.with_untracked(|description| description.trim().to_owned());
        let request = match (url, prompt.is_empty()) {
            (None, _) => {
                notice.set(Some(("notice bad", text::SUGGEST_NEEDS_URL.to_owned())));
                browser::focus_soon("[data-url]");
                return;
            }
            (_, true) => {
                notice.set(Some(("notice bad", text::SUGGEST_NEEDS_TEXT.to_owned())));
                return;
            }
            (Some(url), false) => {
                ParamsPreviewRequest::from_value(json!({ "url": url.url.as_str(), "prompt": prompt }))
            }
        };
        let Ok(request) = request else { return };
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        notice.set(None);
        spawn_local(async move {
            match console.client().crawl_params_preview(&request).await {
                Ok(answer) => {
                    notice.try_set(answer.warning.map(|warning| ("notice warn", warning)));
                    let suggested = suggestions_of(draft, &answer.data);
                    // Drop the prompt once the suggestions are applied, so that the server derives nothing again.
                    for suggestion in suggested.iter().filter(|suggestion| suggestion.before.is_none()) {
                        draft.put_exactly(&suggestion.name, Some(suggestion.value.clone()));
                    }
                    draft.put(FIELD, None);
                    console.notify(display::plural(
                        suggested.len() as u64,
                        "suggestion",
                        "suggestions",
                    ));
                    suggestions.try_set(Some(suggested));
                }
                Err(error) => {
                    console.handle_error(&error);
                    let problems = error.api().map(problems_of).unwrap_or_default();
                    let message = problems
                        .first()
                        .map(|problem| format!("{} {}", problem.path, problem.message));
                    notice.try_set(Some(("notice bad", message.unwrap_or_else(|| error.to_string()))));
                }
            }
            busy.try_set(false);
        });
    };
    let summary = move || {
        suggestions.with(|suggestions| {
            let suggestions = suggestions.as_ref()?;
            let applied = suggestions
                .iter()
                .filter(|suggestion| is_applied(draft, suggestion))
                .count();
            let all = display::plural(suggestions.len() as u64, "suggestion", "suggestions");
            Some(format!(
                "{all}, {applied} applied. {}",
                text::SUGGEST_KEEPS_VALUES
            ))
        })
    };
    let list = move || {
        suggestions.with(|suggestions| {
            let rows = suggestions
                .as_ref()
                .filter(|suggestions| !suggestions.is_empty())?
                .iter()
                .map(|one| row(draft, one.clone()));
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
                prop:value=move || description.get()
                on:input=on_input
            ></textarea>
            <div class="send">
                <button type="button" class="btn small" aria-disabled=move || busy.get().to_string() on:click=suggest>
                    {move || busy.get().then(|| view! { <span class="spin"></span> })}
                    "Suggest options"
                </button>
                <p class="hint" id="f-prompt-help">{move || summary().unwrap_or_else(|| text::SUGGEST_HELP.to_owned())}</p>
            </div>
            {move || notice.get().map(|(class, message)| view! { <div class=class role="status">{inline_code(&message)}</div> })}
            {list}
        </div>
    }
    .into_any()
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

fn row(draft: Draft, suggestion: Suggestion) -> AnyView {
    let id = format!("plan-{}", suggestion.name);
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
        </li>
    }
    .into_any()
}
