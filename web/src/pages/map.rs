//! Map: lists the URLs of a site. Form, result as a list and a tree, and actions for selected URLs.

use std::sync::Arc;

use harvestman_core::api::MapRequest;
use harvestman_core::api::map::MapResponse;
use leptos::prelude::*;

use crate::components::code::CodeCard;
use crate::components::icon::Glyph;
use crate::components::inline_code::inline_code;
use crate::components::panes::Panes;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::draft::{Draft, Endpoint};
use crate::exchange::{Exchange, RequestState, ResultCard};
use crate::kept_result::KeptResult;
use crate::request_form::RequestForm;
use crate::{browser, display, text};

mod results;

use results::MapResult;

/// Renders the screen.
#[component]
pub fn MapPage() -> impl IntoView {
    let console = Console::get();
    let draft = Draft::restore(Endpoint::Map);
    let exchange = Exchange::new();
    let kept = KeptResult::new(Endpoint::Map, exchange, |answer| shown(answer, None));
    let run = exchange.send_callback(draft, move |client| {
        let request = draft.submit::<MapRequest>()?;
        Some(Box::pin(async move {
            let started_at = browser::now_ms();
            let answer = client.map(&request).await?;
            let seconds = (browser::now_ms() - started_at) / 1000.0;
            let count = display::plural(answer.links.len() as u64, "URL", "URLs");
            console.notify(format!("{count} found in {seconds:.1} s"));
            if let Some(id) = answer.id {
                kept.keep(&id.to_string(), &answer).await;
            }
            Ok(shown(answer, Some(seconds)))
        }))
    });
    view! {
        <ScreenHeader title="Map".to_owned() intro=|| view! { <p>{text::MAP_INTRO}</p> }/>
        <Panes result="Result">
            <div class="stack">
                <RequestForm
                    draft
                    run
                    stop=exchange.abort_callback()
                    busy=exchange.busy()
                    action="Map site"
                    busy_action="Mapping"
                />
                <CodeCard draft/>
            </div>
            <ResultCard
                exchange
                label="Result"
                glyph=Glyph::Map
                empty=|| view! { <p>{text::MAP_EMPTY}</p> }
            />
        </Panes>
    }
    .into_any()
}

fn shown(answer: MapResponse, seconds: Option<f64>) -> RequestState {
    let (links, warning) = (Arc::new(answer.links), answer.warning);
    RequestState::done(move || {
        let warning = warning.as_deref().map(|text| {
            view! { <div class="pad"><div class="notice warn">{inline_code(text)}</div></div> }
        });
        view! {
            {warning}
            <MapResult links=links.clone() seconds/>
        }
        .into_any()
    })
}
