//! The addresses of a site: form, what was found as a table and as a tree, and what can be done with some of it.

use std::sync::Arc;

use harvestman_client::ClientError;
use harvestman_core::api::MapRequest;
use harvestman_core::api::map::MapLink;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_query_map;
use serde_json::Value;

use crate::components::code::CodeCard;
use crate::components::head::PageHead;
use crate::components::icon::{Icon, Picture};
use crate::console::Console;
use crate::draft::{Draft, Endpoint, problems_of};
use crate::pages::scrape::failure;
use crate::request_form::RequestForm;
use crate::{browser, figures, text};

mod found;

use found::Found;

/// What the result card shows.
#[derive(Clone, PartialEq)]
enum Outcome {
    Nothing,
    Busy,
    Done(Arc<Vec<MapLink>>, Option<String>, f64),
    Failed(ClientError),
}

/// Shows the screen.
#[component]
pub fn MapPage() -> impl IntoView {
    let console = Console::get();
    let query: Vec<(String, String)> = use_query_map()
        .get_untracked()
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect();
    let draft = Draft::restore(Endpoint::Map, &query, Value::Null);
    let outcome = RwSignal::new(Outcome::Nothing);
    let busy = Memo::new(move |_| outcome.with(|outcome| *outcome == Outcome::Busy));
    let abort = StoredValue::new_local(None::<web_sys::AbortController>);
    let stop = Callback::new(move |()| {
        abort.try_with_value(|abort| abort.as_ref().map(web_sys::AbortController::abort));
    });
    on_cleanup(move || stop.run(()));
    let run = Callback::new(move |()| {
        draft.asked.set(true);
        let Some(request) = draft.request::<MapRequest>() else {
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
            let answer = client.map(&request).await;
            let seconds = (browser::now_ms() - began) / 1000.0;
            let result = match answer {
                Ok(answer) => {
                    let count = figures::counted(answer.links.len() as u64, "address", "addresses");
                    console.say(format!("{count} found in {seconds:.1} s"));
                    Outcome::Done(Arc::new(answer.links), answer.warning, seconds)
                }
                Err(ClientError::Aborted) => Outcome::Nothing,
                Err(error) => {
                    console.note(&error);
                    // Problems with fields stand at the form, everything else in place of the result.
                    let at_fields = error.api().filter(|api| !problems_of(api).is_empty());
                    draft.refused.try_set(at_fields.cloned());
                    console.say("The site could not be mapped");
                    Outcome::Failed(error)
                }
            };
            outcome.try_set(result);
            browser::reveal_soon("#result");
        });
    });
    let result = move || match outcome.get() {
        Outcome::Nothing => view! {
            <div class="empty">
                <Icon picture=Picture::Map/>
                <p>{text::NO_MAP}</p>
            </div>
        }
        .into_any(),
        Outcome::Busy => view! { <div class="wait"><i></i><i></i><i></i><i></i><i></i></div> }.into_any(),
        Outcome::Failed(error) => failure(&error),
        Outcome::Done(links, warning, seconds) => view! {
            {warning.map(|text| view! { <div class="pad"><div class="notice warn">{text}</div></div> })}
            <Found links seconds/>
        }
        .into_any(),
    };
    view! {
        <PageHead title="Map".to_owned() intro=|| view! { <p>{text::MAP_INTRO}</p> }/>
        <div class="two">
            <div class="stack">
                <RequestForm draft run stop busy action="Map the site" busy_action="Mapping"/>
                <CodeCard draft/>
            </div>
            <section class="card" id="result" aria-label="Result" aria-busy=move || busy.get().to_string()>
                {result}
            </section>
        </div>
    }
    .into_any()
}
