//! Dialog that explains why a call failed, by asking the server's documentation about the error.

use harvestman_client::{Client, ClientError};
use harvestman_core::api::support::{DocsAnswer, DocsSearchRequest};
use harvestman_core::api::team::Endpoint;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::dialog::Dialog;
use crate::components::docs_answer::DocsAnswerView;
use crate::components::error_notice::error_notice;
use crate::console::Console;

/// A failed call to explain.
#[derive(Clone, PartialEq)]
pub(super) struct Question {
    pub(super) endpoint: Endpoint,
    pub(super) target: String,
    pub(super) id: JobId,
    /// Error message in the list, if any.
    pub(super) error: Option<String>,
}

/// State of the explanation.
#[derive(Clone)]
enum Known {
    Nothing,
    /// The error message; the explanation is loading.
    Error(String),
    Answer(String, DocsAnswer),
    Failed(ClientError),
}

/// Renders the dialog, open while there is a call to explain.
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
            let request = DocsSearchRequest::new(format!(
                "A {} call ended with this error: {error} What does it mean, and what can I do about it?",
                asked.endpoint
            ));
            let answer = client.docs_search(&request).await;
            if question.try_get_untracked().flatten() != Some(asked) {
                return;
            }
            known.try_set(match answer {
                Ok(answer) => Known::Answer(error, answer),
                Err(error) => {
                    console.handle_error(&error);
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
        <Dialog open title="Why this call failed">
            <p class="mono cut">{move || question.with(|asked| asked.as_ref().map(|asked| asked.target.clone()))}</p>
            {move || match known.get() {
                // A closed dialog has no loading placeholder.
                Known::Nothing => open.get().then(wait).into_any(),
                Known::Error(error) => view! { {said(error)} {wait()} }.into_any(),
                Known::Answer(error, answer) => view! { {said(error)} <DocsAnswerView answer/> }.into_any(),
                Known::Failed(error) => error_notice(&error),
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

/// Returns the error of the first failed page, in the API's own words.
async fn error_of(client: &Client, asked: &Question) -> String {
    let told = match asked.endpoint {
        Endpoint::Crawl => of_job(client.crawl_errors(asked.id).await),
        Endpoint::BatchScrape => of_job(client.batch_scrape_errors(asked.id).await),
        _ => None,
    };
    told.unwrap_or_else(|| "The call failed, and the server recorded no error message.".to_owned())
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
