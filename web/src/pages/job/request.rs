//! Request tab: the request body of a job, to run again unchanged or edited.

use harvestman_core::api::job::JobKind;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use serde_json::Value;

use crate::components::code::{Code, copy};
use crate::components::notice::problem_in_card;
use crate::console::Console;
use crate::draft::Endpoint;
use crate::follow_up::{FollowUp, start_job};
use crate::job_feed::JobFeed;
use crate::{field_value, highlight, text};

/// Renders the button that opens the form of the job's kind with its request.
#[component]
pub fn EditAndRunAgain(feed: JobFeed, request: Memo<Option<Value>>) -> impl IntoView {
    let navigate = StoredValue::new_local(use_navigate());
    let form = Memo::new(
        move |_| match feed.job.with(|job| job.as_ref().map(|job| job.kind))? {
            JobKind::Crawl => Some(Endpoint::Crawl),
            JobKind::BatchScrape => Some(Endpoint::Batch),
            _ => None,
        },
    );
    let edit_in_form = move |_| {
        if let (Some(form), Some(body)) = (form.get_untracked(), request.get_untracked()) {
            let path = form.fill_form(&body);
            navigate.with_value(|navigate| navigate(path, Default::default()));
        }
    };
    view! {
        <Show when=move || form.with(Option::is_some) && request.with(Option::is_some)>
            <button class="btn" on:click=edit_in_form>
                "Edit and run again"
            </button>
        </Show>
    }
    .into_any()
}

/// Renders the request.
#[component]
pub fn Request(feed: JobFeed, request: Memo<Option<Value>>) -> impl IntoView {
    let console = Console::get();
    let follow_up = FollowUp::new();
    let problem = RwSignal::new(None::<String>);
    // The text while editing; none while the request is only shown.
    let edited = RwSignal::new(None::<String>);
    let json_text = Memo::new(move |_| {
        let body = request.get()?;
        Some(serde_json::to_string_pretty(&body).unwrap_or_default())
    });
    let run = move |_| {
        let Some(path) = feed.path() else { return };
        let text = edited
            .get_untracked()
            .or_else(|| json_text.get_untracked())
            .unwrap_or_default();
        let body = match field_value::parse_json(&text) {
            Ok(body) => body,
            Err(message) => {
                problem.set(Some(message));
                return;
            }
        };
        problem.set(None);
        let start = async move { start_job(console, path, &body).await };
        follow_up.run_or(start, "Job started".to_owned(), move |message| {
            problem.try_set(Some(message));
        });
    };
    let html =
        Signal::derive(move || json_text.with(|text| highlight::json(text.as_deref().unwrap_or_default())));
    let shown = move || match edited.with(Option::is_some) {
        false => view! { <Code html label="Request body" wrap=true/> }.into_any(),
        true => view! {
            <textarea
                class="input mono code-edit"
                rows="16"
                spellcheck="false"
                aria-label="Request body as JSON"
                prop:value=move || edited.get().unwrap_or_default()
                on:input=move |event| edited.set(Some(event_target_value(&event)))
            ></textarea>
        }
        .into_any(),
    };
    let toggle_edit = move |_| {
        problem.set(None);
        edited.update(|edited| {
            *edited = match edited {
                Some(_) => None,
                None => json_text.get_untracked(),
            }
        });
    };
    view! {
        <Show when=move || json_text.with(Option::is_some) fallback=|| view! { <p class="empty">{text::NO_REQUEST}</p> }>
            {shown}
            {move || problem.get().as_deref().map(problem_in_card)}
            <div class="card-foot">
                <button class="btn small" aria-disabled=move || follow_up.busy.get().to_string() on:click=run>
                    {move || follow_up.busy.get().then(|| view! { <span class="spin"></span> })}
                    {move || if edited.with(Option::is_some) { "Run edited request" } else { "Run again" }}
                </button>
                <button class="btn small quiet" on:click=toggle_edit>
                    {move || if edited.with(Option::is_some) { "Discard changes" } else { "Edit" }}
                </button>
                <span class="grow"></span>
                <button class="btn small quiet" on:click=move |_| copy(console, json_text.get_untracked().unwrap_or_default())>
                    "Copy"
                </button>
            </div>
        </Show>
    }
    .into_any()
}
