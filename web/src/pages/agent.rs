//! Agent: a task in words, the result of the run, its steps and sources, and the thread that it continues. The job id
//! is in the URL, so that reloading shows the run again.

use std::str::FromStr;

use harvestman_client::{Client, ClientError};
use harvestman_core::api::agent::{AgentRequest, AgentResponse, AgentStatus};
use harvestman_core::api::agent_thread::AgentThreadRun;
use harvestman_core::api::agent_trace::TraceEvent;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use serde_json::Value;

use crate::browser;
use crate::components::code::CodeCard;
use crate::components::icon::Glyph;
use crate::components::panes::Panes;
use crate::components::screen_header::ScreenHeader;
use crate::draft::{Draft, Endpoint};
use crate::exchange::{Exchange, RequestState, ResultCard, poll};
use crate::job_start::start_on_screen;
use crate::request_form::RequestForm;
use crate::route::Screen;
use crate::{display, text};

mod recent;
mod run;
mod steps;
mod thread;

use recent::RecentRuns;
use run::RunView;

/// The run on screen. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
struct AgentRun {
    exchange: Exchange,
    draft: Draft,
    id: RwSignal<Option<JobId>>,
    response: RwSignal<Option<AgentResponse>>,
    events: RwSignal<Vec<TraceEvent>>,
    /// Runs of its thread, oldest first.
    thread: RwSignal<Vec<AgentThreadRun>>,
    /// Tab on screen.
    tab: RwSignal<&'static str>,
}

impl AgentRun {
    fn new(exchange: Exchange, draft: Draft) -> Self {
        Self {
            exchange,
            draft,
            id: RwSignal::new(None),
            response: RwSignal::new(None),
            events: RwSignal::new(Vec::new()),
            thread: RwSignal::new(Vec::new()),
            tab: RwSignal::new("result"),
        }
    }

    /// Shows a run, and follows it until it ends.
    fn show(self, id: JobId) {
        self.id.set(Some(id));
        self.response.set(None);
        self.events.set(Vec::new());
        self.thread.set(Vec::new());
        self.tab.set("result");
        self.exchange
            .send(None, |client| Some(Box::pin(self.follow(client, id))));
    }

    /// Polls a run until it ends; aborted when another run is shown or the screen is left.
    async fn follow(self, client: Client, id: JobId) -> Result<RequestState, ClientError> {
        let console = self.exchange.console;
        let view: ViewFn = (move || view! { <RunView run=self/> }.into_any()).into();
        let state = self.exchange.state;
        poll(console, async || {
            let status = self.refresh(&client, id).await?;
            if status != AgentStatus::Processing {
                console.notify(format!("Agent run {status}"));
                return Ok(Some(RequestState::Done(view.clone())));
            }
            if state.try_with_untracked(|state| matches!(state, RequestState::Pending(None))) == Some(true) {
                state.set(RequestState::Pending(Some(view.clone())));
            }
            Ok(None)
        })
        .await
    }

    /// Loads a run and its trace; also loads its thread if the state of the run has changed.
    async fn refresh(self, client: &Client, id: JobId) -> Result<AgentStatus, ClientError> {
        let response = client.agent_status(id).await?;
        if let Ok(trace) = client.agent_trace(id).await {
            self.events.try_set(trace.events);
        }
        let (status, thread) = (response.status, response.thread_id);
        let known = self
            .response
            .try_with_untracked(|known| known.as_ref().map(|known| known.status));
        if let Some(thread) = thread.filter(|_| known != Some(Some(status)))
            && let Ok(response) = client.agent_thread(thread).await
        {
            self.thread.try_set(response.thread.runs);
        }
        self.response.try_set(Some(response));
        Ok(status)
    }

    fn is_running(self) -> bool {
        self.response.with(|response| {
            response.as_ref().map(|response| response.status) == Some(AgentStatus::Processing)
        })
    }

    /// Prepares the form for the next run of the thread.
    fn continue_thread(self) {
        let thread = self
            .response
            .with_untracked(|response| response.as_ref()?.thread_id);
        if let Some(thread) = thread {
            self.draft.put("threadId", Some(Value::from(thread.to_string())));
            self.draft.put("prompt", None);
            self.draft.submitted.set(false);
            browser::focus_soon("#f-prompt");
        }
    }
}

/// Renders the screen.
#[component]
pub fn AgentPage() -> impl IntoView {
    let draft = Draft::restore(Endpoint::Agent);
    let exchange = Exchange::new();
    let run = AgentRun::new(exchange, draft);
    let query = Screen::Agent.query();
    let job = Memo::new(move |_| query.with(|query| JobId::from_str(&query.get("id")?).ok()));
    Effect::new(move |_| {
        if let Some(id) = job.get() {
            run.show(id);
        }
    });
    let start = start_on_screen(
        exchange,
        draft,
        Screen::Agent,
        "Agent run started",
        async |client, request: AgentRequest| Ok(client.start_agent(&request).await?.id),
    );
    let after_url = move || view! { <ThreadNotice run/> };
    view! {
        <ScreenHeader title="Agent".to_owned() intro=|| view! { <p>{text::AGENT_INTRO}</p> }/>
        <Panes result="Result">
            <RequestForm draft run=start busy=exchange.busy() action="Start agent" busy_action="Working" after_url/>
            <div class="stack">
                <ResultCard exchange label="Result" glyph=Glyph::Agent empty=text::AGENT_EMPTY/>
                <RecentRuns run/>
                <CodeCard draft/>
            </div>
        </Panes>
    }
    .into_any()
}

/// Renders the thread that the request continues, if it continues one.
#[component]
fn ThreadNotice(run: AgentRun) -> impl IntoView {
    let draft = run.draft;
    move || {
        let thread = draft.value("threadId")?.as_str()?.to_owned();
        let runs = run.response.with(|response| {
            let known = response.as_ref()?.thread_id?;
            (known.to_string() == thread).then(|| run.thread.with(Vec::len))
        });
        let runs = runs.filter(|runs| *runs > 0);
        let words = match runs {
            Some(runs) => format!(
                "Continues the thread of {}.",
                display::plural(runs as u64, "run", "runs")
            ),
            None => "Continues an earlier thread.".to_owned(),
        };
        Some(view! {
            <div class="notice" role="note">
                <div class="notice-line">
                    {words}
                    <button type="button" class="btn small" on:click=move |_| draft.put("threadId", None)>
                        "Start new thread"
                    </button>
                </div>
            </div>
        })
    }
}
