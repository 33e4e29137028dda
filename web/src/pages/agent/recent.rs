//! Earlier agent runs of the team.

use harvestman_core::api::agent::{AgentEntry, AgentsQuery};
use harvestman_core::time::Timestamp;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::AgentRun;
use crate::components::badge::job_class;
use crate::components::notice::skeleton;
use crate::console::Console;
use crate::{browser, display, route, text};

/// Renders the runs, newest first. The list is loaded again when the run on screen starts or ends.
#[component]
pub fn RecentRuns(run: AgentRun) -> impl IntoView {
    let console = Console::get();
    let entries = RwSignal::new(None::<Vec<AgentEntry>>);
    let has_more = RwSignal::new(false);
    let load = move |query: AgentsQuery| {
        spawn_local(async move {
            match console.client().agents(query).await {
                Ok(response) => {
                    // Older runs that no longer continue the list are dropped, for example those of a second click.
                    if query.before.is_some()
                        && entries.try_with_untracked(oldest_at).flatten() != query.before
                    {
                        return;
                    }
                    has_more.try_set(response.next.is_some());
                    entries.try_update(|entries| {
                        let mut known = entries
                            .take()
                            .filter(|_| query.before.is_some())
                            .unwrap_or_default();
                        known.extend(response.agents);
                        *entries = Some(known);
                    });
                }
                Err(error) => console.handle_error(&error),
            }
        });
    };
    let status = Memo::new(move |_| {
        let status = run
            .response
            .with(|response| response.as_ref().map(|response| response.status));
        (run.id.get(), status)
    });
    Effect::new(move |_| {
        status.get();
        load(AgentsQuery::default());
    });
    let load_more = move |_| {
        let before = entries.with_untracked(oldest_at);
        load(AgentsQuery { before });
    };
    let list = move || match entries.get() {
        None => skeleton(2),
        Some(entries) if entries.is_empty() => {
            view! { <p class="empty">{text::NO_AGENT_RUNS}</p> }.into_any()
        }
        Some(entries) => {
            let rows = entries.into_iter().map(row).collect_view();
            view! { <ul class="rows">{rows}</ul> }.into_any()
        }
    };
    view! {
        <section class="card pane-result" aria-label="Runs">
            <div class="card-head">
                <h2>"Runs"</h2>
            </div>
            {list}
            <Show when=move || has_more.get()>
                <div class="card-foot">
                    <button class="btn small" on:click=load_more>"Load older runs"</button>
                </div>
            </Show>
        </section>
    }
    .into_any()
}

/// Returns the start time of the last run.
fn oldest_at(entries: &Option<Vec<AgentEntry>>) -> Option<Timestamp> {
    Some(entries.as_ref()?.last()?.created_at)
}

fn row(entry: AgentEntry) -> AnyView {
    let ago = display::ago((browser::now_ms() - entry.created_at.0 as f64) / 1000.0);
    let status = entry.status.word(entry.error.as_deref());
    view! {
        <li>
            <a class="job-row agent-row" href=route::agent_href(&entry.id)>
                <span class="cut">{entry.options.prompt}</span>
                <span class=job_class(status)>{status}</span>
                <span class="when">{ago}</span>
            </a>
        </li>
    }
    .into_any()
}
