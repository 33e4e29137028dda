//! Dialog that explains why a call failed, by asking the server's documentation about the error.

use harvestman_client::{Client, ClientError};
use harvestman_core::api::job::{JobErrors, StatusPath};
use harvestman_core::api::support::{DocsResponse, DocsSearchRequest};
use harvestman_core::api::team::Endpoint;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::dialog::Dialog;
use crate::components::docs_answer::DocsAnswerView;
use crate::components::error_notice::error_notice;
use crate::components::inline_code::inline_code;
use crate::components::notice::skeleton;
use crate::console::Console;

/// A failed call to explain.
#[derive(Clone, PartialEq)]
pub(super) struct FailedCall {
    pub(super) endpoint: Endpoint,
    pub(super) target: String,
    pub(super) id: JobId,
    /// Error message in the list, if any.
    pub(super) error: Option<String>,
}

/// State of the explanation.
#[derive(Clone)]
enum Explanation {
    Empty,
    /// The error message; the explanation is loading.
    Error(String),
    Answered(String, DocsResponse),
    Failed(ClientError),
}

/// Renders the dialog, open while there is a call to explain.
#[component]
pub(super) fn Explain(failed_call: RwSignal<Option<FailedCall>>) -> impl IntoView {
    let console = Console::get();
    let open = RwSignal::new(false);
    let explanation = RwSignal::new(Explanation::Empty);
    Effect::new(move |_| {
        let Some(call) = failed_call.get() else { return };
        open.set(true);
        explanation.set(Explanation::Empty);
        spawn_local(async move {
            // Another call may be selected before the answers arrive.
            let is_current = || failed_call.try_get_untracked().flatten().as_ref() == Some(&call);
            let client = console.client();
            let error = match &call.error {
                Some(error) => error.clone(),
                None => fetch_error(&client, &call).await,
            };
            if !is_current() {
                return;
            }
            explanation.try_set(Explanation::Error(error.clone()));
            let request = DocsSearchRequest::new(format!(
                "A {} call ended with this error: {error} What does it mean, and what can I do about it?",
                call.endpoint
            ));
            let answer = client.docs_search(&request).await;
            if !is_current() {
                return;
            }
            explanation.try_set(match answer {
                Ok(answer) => Explanation::Answered(error, answer),
                Err(error) => {
                    console.handle_error(&error);
                    Explanation::Failed(error)
                }
            });
        });
    });
    Effect::new(move |_| {
        if !open.get() {
            failed_call.set(None);
        }
    });
    let error_view = |error: String| view! { <div class="notice bad">{inline_code(&error)}</div> };
    let wait = || skeleton(3);
    view! {
        <Dialog open title="Why this call failed">
            <p class="mono cut">{move || failed_call.with(|call| call.as_ref().map(|call| call.target.clone()))}</p>
            {move || match explanation.get() {
                // A closed dialog has no loading placeholder.
                Explanation::Empty => open.get().then(wait).into_any(),
                Explanation::Error(error) => view! { {error_view(error)} {wait()} }.into_any(),
                Explanation::Answered(error, answer) => view! { {error_view(error)} <DocsAnswerView answer/> }.into_any(),
                Explanation::Failed(error) => error_notice(&error),
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
async fn fetch_error(client: &Client, call: &FailedCall) -> String {
    let path = match call.endpoint {
        Endpoint::Crawl => Some(StatusPath::Crawl),
        Endpoint::BatchScrape => Some(StatusPath::BatchScrape),
        _ => None,
    };
    let message = match path {
        Some(path) => first_page_error(client.job_errors(path, call.id).await),
        None => None,
    };
    message.unwrap_or_else(|| "The call failed, and the server recorded no error message.".to_owned())
}

fn first_page_error(errors: Result<JobErrors, ClientError>) -> Option<String> {
    match errors {
        Ok(errors) => {
            let first = errors.errors.first()?;
            Some(format!("{}: {}", first.code.as_str(), first.error))
        }
        Err(error) => Some(error.to_string()),
    }
}
