//! Why a call failed, asked of the server's own documentation with the error that the call ended with.

use harvestman_client::{Client, ClientError};
use harvestman_core::api::support::{DocsAnswer, DocsSearchRequest};
use harvestman_core::api::team::Endpoint;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::answer::AnswerView;
use crate::components::dialog::Dialog;
use crate::components::failure::failure;
use crate::console::Console;

/// A call whose failure is asked about.
#[derive(Clone, PartialEq)]
pub(super) struct Question {
    pub(super) endpoint: Endpoint,
    pub(super) target: String,
    pub(super) id: JobId,
    /// Why, as the list told it.
    pub(super) error: Option<String>,
}

/// What is known so far.
#[derive(Clone)]
enum Known {
    Nothing,
    /// The error; the answer is on its way.
    Error(String),
    Answer(String, DocsAnswer),
    Failed(ClientError),
}

/// A dialog that is open while there is a question.
#[component]
pub(super) fn Explain(question: RwSignal<Option<Question>>) -> impl IntoView {
    let console = Console::get();
    let open = RwSignal::new(false);
    let known = RwSignal::new(Known::Nothing);
    Effect::new(move |_| {
        let Some(asked) = question.get() else { return };
        open.set(true);
        known.set(Known::Nothing);
        spawn_local(async move {
            let client = console.client();
            let error = match &asked.error {
                Some(error) => error.clone(),
                None => error_of(&client, &asked).await,
            };
            known.try_set(Known::Error(error.clone()));
            let request = DocsSearchRequest {
                question: format!(
                    "A {} call ended with this error: {error} What does it mean, and what can I do about it?",
                    asked.endpoint
                ),
                ..Default::default()
            };
            let answer = client.docs_search(&request).await;
            if question.try_get_untracked().flatten() != Some(asked) {
                return;
            }
            known.try_set(match answer {
                Ok(answer) => Known::Answer(error, answer),
                Err(error) => {
                    console.note(&error);
                    Known::Failed(error)
                }
            });
        });
    });
    Effect::new(move |_| {
        if !open.get() {
            question.set(None);
        }
    });
    let said = |error: String| view! { <div class="notice bad">{error}</div> };
    let wait = || view! { <div class="wait"><i></i><i></i><i></i></div> };
    view! {
        <Dialog open title="Why it failed">
            <p class="mono cut">{move || question.with(|asked| asked.as_ref().map(|asked| asked.target.clone()))}</p>
            {move || match known.get() {
                // Nothing waits in a dialog that is closed.
                Known::Nothing => open.get().then(wait).into_any(),
                Known::Error(error) => view! { {said(error)} {wait()} }.into_any(),
                Known::Answer(error, answer) => view! { {said(error)} <AnswerView answer/> }.into_any(),
                Known::Failed(error) => failure(&error),
            }}
            <div class="dialog-foot">
                <button class="btn" on:click=move |_| open.set(false)>
                    "Close"
                </button>
            </div>
        </Dialog>
    }
    .into_any()
}

/// What the first page that failed ended with, in the API's own words.
async fn error_of(client: &Client, asked: &Question) -> String {
    let told = match asked.endpoint {
        Endpoint::Crawl => of_job(client.crawl_errors(asked.id).await),
        Endpoint::BatchScrape => of_job(client.batch_scrape_errors(asked.id).await),
        _ => None,
    };
    told.unwrap_or_else(|| "It failed, and the server does not tell more.".to_owned())
}

fn of_job(errors: Result<harvestman_core::api::job::JobErrors, ClientError>) -> Option<String> {
    match errors {
        Ok(errors) => {
            let first = errors.errors.first()?;
            Some(format!("{}: {}", first.code.as_str(), first.error))
        }
        Err(error) => Some(error.to_string()),
    }
}
