//! The runs of a thread.

use harvestman_core::api::agent_thread::AgentThreadRun;
use harvestman_core::ids::JobId;
use leptos::prelude::*;

use super::AgentRun;
use crate::components::badge::job_class;
use crate::route;

/// Renders the runs of the thread, oldest first.
#[component]
pub fn Thread(run: AgentRun) -> impl IntoView {
    let rows = move || {
        let runs = run.thread.get().into_iter();
        runs.map(|turn| row(turn, run.id.get())).collect_view()
    };
    view! { <ol class="rows">{rows}</ol> }.into_any()
}

fn row(turn: AgentThreadRun, shown: Option<JobId>) -> AnyView {
    let current = (shown == Some(turn.id)).then_some("true");
    let status = turn.status.word();
    view! {
        <li>
            <a class="job-row agent-row" href=route::agent_href(&turn.id) aria-current=current>
                <span class="cut">{turn.prompt}</span>
                <span class=job_class(status)>{status}</span>
                <span class="when">{format!("turn {}", turn.turn)}</span>
            </a>
        </li>
    }
    .into_any()
}
