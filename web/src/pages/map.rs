//! Map: lists the URLs of a site. Form, result as a list and a tree, and actions for selected URLs.

use std::sync::Arc;

use harvestman_core::api::MapRequest;
use harvestman_core::api::map::MapResponse;
use leptos::prelude::*;

use crate::components::code::CodeCard;
use crate::components::icon::Glyph;
use crate::components::notice::warning_in_card;
use crate::components::panes::Panes;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::draft::{Draft, Endpoint};
use crate::exchange::{Exchange, RequestState, ResultCard};
use crate::kept_result::KeptResult;
use crate::request_form::RequestForm;
use crate::route::Screen;
use crate::{browser, display, text};

mod results;

use results::MapResult;

/// Renders the screen.
#[component]
pub fn MapPage() -> impl IntoView {
    let console = Console::get();
    let draft = Draft::restore(Endpoint::Map);
    let exchange = Exchange::new();
    let kept = KeptResult::new(Screen::Map, exchange, |response| {
        result_state(response, None, true)
    });
    let run = exchange.send_callback(draft, move |client| {
        let request = draft.submit::<MapRequest>()?;
        Some(Box::pin(async move {
            let started_at = browser::now_ms();
            let response = client.map(&request).await?;
            let took_ms = (browser::now_ms() - started_at) as u64;
            let count = display::plural(response.links.len() as u64, "URL", "URLs");
            console.notify(format!("{count} found in {}", display::duration_ms(took_ms)));
            let is_kept = kept.keep(response.id, &response).await;
            Ok(result_state(response, Some(took_ms), is_kept))
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
            <ResultCard exchange label="Result" glyph=Glyph::Map empty=text::MAP_EMPTY/>
        </Panes>
    }
    .into_any()
}

fn result_state(response: MapResponse, took_ms: Option<u64>, is_kept: bool) -> RequestState {
    let (links, warning) = (Arc::new(response.links), response.warning);
    RequestState::done(move || {
        view! {
            {warning.as_deref().map(warning_in_card)}
            <MapResult links=links.clone() took_ms is_kept/>
        }
        .into_any()
    })
}
