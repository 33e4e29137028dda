//! One page: form, result, code.

use std::sync::Arc;

use harvestman_client::ClientError;
use harvestman_core::api::ScrapeRequest;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_query_map;

use crate::browser;
use crate::components::code::CodeCard;
use crate::components::head::PageHead;
use crate::components::icon::{Icon, Picture};
use crate::components::viewer::{Shown, Viewer};
use crate::console::Console;
use crate::draft::{Draft, Endpoint, problems_of};
use crate::figures;
use crate::pages::settings::default_formats;
use crate::request_form::RequestForm;
use crate::text;

/// What the result card shows.
#[derive(Clone, PartialEq)]
enum Outcome {
    Nothing,
    Busy,
    Done(Shown, f64),
    Failed(ClientError),
}

/// Shows the screen.
#[component]
pub fn ScrapePage() -> impl IntoView {
    let console = Console::get();
    let query: Vec<(String, String)> = use_query_map()
        .get_untracked()
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect();
    let draft = Draft::restore(Endpoint::Scrape, &query, default_formats());
    let outcome = RwSignal::new(Outcome::Nothing);
    let busy = Memo::new(move |_| outcome.with(|outcome| *outcome == Outcome::Busy));
    let abort = StoredValue::new_local(None::<web_sys::AbortController>);
    on_cleanup(move || _ = abort.try_with_value(|abort| abort.as_ref().map(web_sys::AbortController::abort)));

    let run = Callback::new(move |()| {
        draft.asked.set(true);
        let Some(request) = draft.request::<ScrapeRequest>() else {
            browser::focus_soon("[data-problems]");
            return;
        };
        let controller = web_sys::AbortController::new().ok();
        let client = match &controller {
            Some(controller) => console.client().with_signal(controller.signal()),
            None => console.client(),
        };
        abort.set_value(controller);
        draft.refused.set(None);
        outcome.set(Outcome::Busy);
        spawn_local(async move {
            let began = browser::now_ms();
            let answer = client.scrape(&request).await;
            let seconds = (browser::now_ms() - began) / 1000.0;
            let result = match answer {
                Ok(answer) => {
                    let mut document = answer.data.unwrap_or_default();
                    document.warning = document.warning.take().or(answer.warning);
                    console.say(format!("Page scraped in {seconds:.1} s"));
                    Outcome::Done(Arc::new(document), seconds)
                }
                Err(ClientError::Aborted) => Outcome::Nothing,
                Err(error) => {
                    console.note(&error);
                    // Problems with fields stand at the form, everything else in place of the result.
                    let at_fields = error.api().filter(|api| !problems_of(api).is_empty());
                    draft.refused.try_set(at_fields.cloned());
                    console.say("The page could not be scraped");
                    Outcome::Failed(error)
                }
            };
            outcome.try_set(result);
            browser::reveal_soon("#result");
        });
    });
    let stop = Callback::new(move |()| {
        abort.with_value(|abort| _ = abort.as_ref().map(web_sys::AbortController::abort))
    });

    let shown = Memo::new(move |_| {
        outcome.with(|outcome| match outcome {
            Outcome::Done(document, _) => Some(document.clone()),
            _ => None,
        })
    });
    view! {
        <PageHead title="Scrape".to_owned() intro=|| view! { <p>{text::SCRAPE_INTRO}</p> }/>
        <div class="two">
            <RequestForm draft run stop busy action="Scrape page" busy_action="Scraping"/>
            <div class="stack">
                <section class="card" id="result" aria-label="Result" aria-busy=move || busy.get().to_string()>
                    {move || match outcome.get() {
                        Outcome::Nothing => {
                            view! {
                                <div class="empty">
                                    <Icon picture=Picture::Scrape/>
                                    <p>{text::NO_RESULT}</p>
                                </div>
                            }
                                .into_any()
                        }
                        Outcome::Busy => view! { <div class="wait"><i></i><i></i><i></i><i></i><i></i></div> }.into_any(),
                        Outcome::Failed(error) => failure(&error),
                        Outcome::Done(_, seconds) => {
                            view! {
                                <div class="card-head">
                                    <h2 class="cut">{move || shown.with(title_of)}</h2>
                                    <span class="grow"></span>
                                    <span class="hint nowrap">{format!("{seconds:.1} s")}</span>
                                </div>
                                <Viewer document=shown/>
                            }
                                .into_any()
                        }
                    }}
                </section>
                <CodeCard draft/>
            </div>
        </div>
    }
    .into_any()
}

fn title_of(document: &Option<Shown>) -> String {
    let metadata = document.as_ref().map(|document| &document.metadata);
    let title = metadata.and_then(|metadata| metadata.title.clone().filter(|title| !title.is_empty()));
    title
        .or_else(|| {
            metadata?
                .url
                .as_deref()
                .map(|url| figures::short_url(url).to_owned())
        })
        .unwrap_or_else(|| "Result".to_owned())
}

/// What went wrong, in the API's own words.
pub fn failure(error: &ClientError) -> AnyView {
    let code = match error {
        ClientError::Api { status, code, .. } => format!("{status} {code}"),
        ClientError::Unreadable { status, .. } => format!("HTTP {status}"),
        ClientError::Network(_) | ClientError::Aborted => "No answer".to_owned(),
    };
    view! {
        <div class="pad">
            <div class="notice bad" role="alert">
                <strong>{code}</strong>
                {error.to_string()}
            </div>
        </div>
    }
    .into_any()
}
