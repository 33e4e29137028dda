//! Crawl options suggested by the server for a description. Suggestions for unset options are applied at once; values
//! that the user set are kept until the user selects the suggestion.

use harvestman_core::api::params_preview::{CrawlParams, ParamsPreviewRequest};
use harvestman_core::api::{TargetUrl, Wire};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use crate::browser;
use crate::components::field::field_id;
use crate::console::Console;
use crate::draft::{Draft, problems_of};
use crate::{display, text};

const FIELD: &str = "prompt";

/// A suggested option.
#[derive(Clone, PartialEq)]
struct Proposal {
    /// Name in the API.
    name: String,
    /// Suggested value.
    value: Value,
    /// Value in the form before.
    before: Option<Value>,
}

/// Renders the description field and the suggestions.
#[component]
pub fn Plan(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let kept = draft
        .value(FIELD)
        .and_then(|prompt| prompt.as_str().map(str::to_owned));
    let words = RwSignal::new(kept.unwrap_or_default());
    let proposals = RwSignal::new(None::<Vec<Proposal>>);
    let told = RwSignal::new(None::<(&'static str, String)>);
    let busy = RwSignal::new(false);
    // Clearing the form also clears the description.
    Effect::new(move |_| {
        if draft.value("url").is_none() && proposals.with_untracked(Option::is_some) {
            proposals.set(None);
            words.set(String::new());
        }
    });
    let on_input = move |event: leptos::ev::Event| {
        words.set(event_target_value(&event));
        proposals.set(None);
        told.set(None);
        // Without suggestions, the server derives the options from the prompt when the crawl starts.
        let said = words.get_untracked();
        draft.put(FIELD, (!said.trim().is_empty()).then(|| Value::from(said)));
    };
    let suggest = move |_| {
        let url = draft
            .value("url")
            .and_then(|url| TargetUrl::parse(url.as_str()?).ok());
        let prompt = words.with_untracked(|words| words.trim().to_owned());
        let request = match (url, prompt.is_empty()) {
            (None, _) => {
                told.set(Some(("notice bad", text::SUGGEST_NEEDS_URL.to_owned())));
                browser::focus_soon("[data-url]");
                return;
            }
            (_, true) => {
                told.set(Some(("notice bad", text::SUGGEST_NEEDS_TEXT.to_owned())));
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
        told.set(None);
        spawn_local(async move {
            match console.client().crawl_params_preview(&request).await {
                Ok(answer) => {
                    told.try_set(answer.warning.map(|warning| ("notice warn", warning)));
                    let found = read(draft, &answer.data);
                    // Drop the prompt once the suggestions are applied, so that the server derives nothing again.
                    for proposal in found.iter().filter(|proposal| proposal.before.is_none()) {
                        draft.put_exactly(&proposal.name, Some(proposal.value.clone()));
                    }
                    draft.put(FIELD, None);
                    console.notify(display::plural(found.len() as u64, "suggestion", "suggestions"));
                    proposals.try_set(Some(found));
                }
                Err(error) => {
                    console.handle_error(&error);
                    let problems = error.api().map(problems_of).unwrap_or_default();
                    let words = problems
                        .first()
                        .map(|problem| format!("{} {}", problem.path, problem.message));
                    told.try_set(Some(("notice bad", words.unwrap_or_else(|| error.to_string()))));
                }
            }
            busy.try_set(false);
        });
    };
    let summary = move || {
        proposals.with(|proposals| {
            let proposals = proposals.as_ref()?;
            let taken = proposals
                .iter()
                .filter(|proposal| is_taken(draft, proposal))
                .count();
            let all = display::plural(proposals.len() as u64, "suggestion", "suggestions");
            Some(format!("{all}, {taken} applied. {}", text::SUGGEST_KEEPS_VALUES))
        })
    };
    let list = move || {
        proposals.with(|proposals| {
            let rows = proposals
                .as_ref()
                .filter(|proposals| !proposals.is_empty())?
                .iter()
                .map(|one| row(draft, one.clone()));
            Some(view! { <ul class="proposals">{rows.collect_view()}</ul> })
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
                prop:value=move || words.get()
                on:input=on_input
            ></textarea>
            <div class="send">
                <button type="button" class="btn small" aria-disabled=move || busy.get().to_string() on:click=suggest>
                    {move || busy.get().then(|| view! { <span class="spin"></span> })}
                    "Suggest options"
                </button>
                <p class="hint" id="f-prompt-help">{move || summary().unwrap_or_else(|| text::SUGGEST_HELP.to_owned())}</p>
            </div>
            {move || told.get().map(|(class, words)| view! { <div class=class role="status">{words}</div> })}
            {list}
        </div>
    }
    .into_any()
}

/// Returns the suggestions, each with the value in the form.
fn read(draft: Draft, params: &CrawlParams) -> Vec<Proposal> {
    let mut all = serde_json::Map::new();
    params.fill(&mut all);
    all.into_iter()
        .map(|(name, value)| Proposal {
            before: draft.value(&name),
            name,
            value,
        })
        .collect()
}

fn is_taken(draft: Draft, proposal: &Proposal) -> bool {
    draft.value(&proposal.name).as_ref() == Some(&proposal.value)
}

fn row(draft: Draft, proposal: Proposal) -> AnyView {
    let id = format!("plan-{}", proposal.name);
    let proposal = StoredValue::new(proposal);
    let taken = move || proposal.with_value(|proposal| is_taken(draft, proposal));
    let turn = move |event: leptos::ev::Event| {
        let take = event_target_checked(&event);
        proposal.with_value(|proposal| {
            let value = match take {
                true => Some(proposal.value.clone()),
                false => proposal.before.clone().filter(|before| *before != proposal.value),
            };
            draft.put_exactly(&proposal.name, value);
        });
    };
    let yours = proposal.with_value(|proposal| {
        let default = draft.default_of(&proposal.name);
        match (&proposal.before, default) {
            (Some(before), _) => format!("your value: {before}"),
            (None, Some(default)) => format!("default: {default}"),
            (None, None) => "no default".to_owned(),
        }
    });
    let (name, value) = proposal.with_value(|proposal| (proposal.name.clone(), proposal.value.to_string()));
    view! {
        <li>
            <input type="checkbox" id=id.clone() prop:checked=taken on:change=turn/>
            <label for=id>
                <code>{name}</code>
                <code class="proposed">{value}</code>
                <span class="hint">{yours}</span>
            </label>
        </li>
    }
    .into_any()
}
