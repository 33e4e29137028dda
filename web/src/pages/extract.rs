//! Extract: data from pages by a prompt, a schema or both, with its sources. The job id is in the URL, so that
//! reloading shows the job again.

use std::str::FromStr;

use harvestman_client::{Client, ClientError};
use harvestman_core::api::extract::{ExtractRequest, ExtractResponse, ExtractStatus};
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use serde_json::Value;

use crate::components::badge::JobBadge;
use crate::components::button::IconButton;
use crate::components::code::{Code, CodeCard, copy};
use crate::components::external_link::external_link;
use crate::components::icon::Glyph;
use crate::components::notice::{problem_in_card, skeleton, warning_in_card};
use crate::components::panes::{Expand, Panes};
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::draft::{Draft, Endpoint};
use crate::exchange::{Exchange, RequestState, ResultCard, poll};
use crate::job_start::start_on_screen;
use crate::request_form::RequestForm;
use crate::route::Screen;
use crate::{browser, display, highlight, text};

/// Renders the screen.
#[component]
pub fn ExtractPage() -> impl IntoView {
    let query = Screen::Extract.query();
    let draft = Draft::restore(Endpoint::Extract);
    let exchange = Exchange::new();
    let job = Memo::new(move |_| query.with(|query| JobId::from_str(&query.get("id")?).ok()));
    Effect::new(move |_| {
        if let Some(id) = job.get() {
            exchange.send(None, |client| Some(Box::pin(follow(exchange, client, id))));
        }
    });
    let run = start_on_screen(
        exchange,
        draft,
        Screen::Extract,
        "Extraction started",
        async |client, request: ExtractRequest| Ok(client.start_extract(&request).await?.id),
    );
    view! {
        <ScreenHeader title="Extract".to_owned() intro=|| view! { <p>{text::EXTRACT_INTRO}</p> }/>
        <Panes result="Result">
            <RequestForm draft run busy=exchange.busy() action="Extract" busy_action="Extracting"/>
            <div class="stack">
                <ResultCard exchange label="Result" glyph=Glyph::Extract empty=text::EXTRACT_EMPTY/>
                <CodeCard draft/>
            </div>
        </Panes>
    }
    .into_any()
}

fn is_running(response: &ExtractResponse) -> bool {
    response.status == ExtractStatus::Processing
}

/// Polls a job until it ends; aborted when another job is shown or the screen is left.
async fn follow(exchange: Exchange, client: Client, id: JobId) -> Result<RequestState, ClientError> {
    let console = exchange.console;
    poll(console, async || {
        let response = client.extract_status(id).await?;
        let (running, status) = (is_running(&response), response.status);
        let shown: ViewFn = (move || result(&response)).into();
        if running {
            exchange.state.try_set(RequestState::Pending(Some(shown)));
            return Ok(None);
        }
        console.notify(format!("Extraction {status}"));
        Ok(Some(RequestState::Done(shown)))
    })
    .await
}

fn result(response: &ExtractResponse) -> AnyView {
    let console = Console::get();
    let data = response.data.as_ref().filter(|data| !data.is_null());
    let json_text = data.and_then(|data| serde_json::to_string_pretty(data).ok());
    let saved = StoredValue::new(json_text.clone().unwrap_or_default());
    let save = move |()| {
        if browser::download("extract.json", "application/json", &saved.get_value()).is_none() {
            console.notify(text::NOT_SAVED);
        }
    };
    let tools = json_text.is_some().then(|| {
        view! {
            <IconButton label="Copy" glyph=Glyph::Copy on_click=Callback::new(move |()| copy(console, saved.get_value()))/>
            <IconButton label="Save as file" glyph=Glyph::Save on_click=Callback::new(save)/>
        }
    });
    let body = match (&json_text, is_running(response)) {
        (Some(json_text), _) => {
            let html = highlight::json(json_text);
            view! { <Code html label="Extracted data" wrap=true/> }.into_any()
        }
        (None, true) => skeleton(3),
        (None, false) => view! { <p class="empty">{text::EXTRACT_NO_DATA}</p> }.into_any(),
    };
    let facts = [
        response
            .credits_used
            .map(|credits| display::plural(credits, "credit", "credits")),
        response
            .tokens_used
            .map(|tokens| display::plural(tokens, "token", "tokens")),
        response
            .expires_at
            .filter(|_| !is_running(response))
            .map(|at| display::expiry(browser::seconds_until(at))),
    ];
    let facts = facts
        .into_iter()
        .flatten()
        .map(|fact| view! { <span>{fact}</span> });
    view! {
        <div class="card-head">
            <h2>"Result"</h2>
            <JobBadge status=response.status.to_string()/>
            <span class="grow"></span>
            {tools}
            <Expand/>
        </div>
        {response.warning.as_deref().map(warning_in_card)}
        {response.error.as_deref().map(problem_in_card)}
        {body}
        {response.sources.as_ref().map(sources)}
        <div class="card-foot">{facts.collect_view()}</div>
    }
    .into_any()
}

/// Renders each value with its source pages.
fn sources(sources: &Value) -> AnyView {
    let fields = sources.as_object().into_iter().flatten();
    let rows: Vec<_> = fields
        .map(|(name, urls)| {
            let urls = urls.as_array().into_iter().flatten().filter_map(Value::as_str);
            let links = urls.map(|url| {
                view! { <li>{external_link(url, "mono", display::short_url(url).to_owned())}</li> }
            });
            view! {
                <dt>{name.clone()}</dt>
                <dd>
                    <ul class="links">{links.collect_view()}</ul>
                </dd>
            }
        })
        .collect();
    if rows.is_empty() {
        return ().into_any();
    }
    view! {
        <div class="pad extract-sources" role="region" aria-label="Sources">
            <h3 class="small-head">"Sources"</h3>
            <dl class="pairs">{rows}</dl>
        </div>
    }
    .into_any()
}
