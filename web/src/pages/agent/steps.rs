//! Steps and sources of an agent run, from the events of its trace.

use harvestman_core::api::agent_trace::{SnapshotKind, TraceDetail, TraceEvent};
use harvestman_core::time::Timestamp;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use super::AgentRun;
use crate::components::external_link::external_link;
use crate::components::inline_code::inline_code;
use crate::components::notice::{problem_in_card, skeleton};
use crate::console::Console;
use crate::markdown::is_safe_link;
use crate::{display, text};

/// A step of a run: a tool call with its result, a message, the start or the end.
#[derive(Clone, PartialEq, Debug)]
struct Step {
    at: Timestamp,
    /// State: `running`, `done`, `failed`, or empty for a message.
    state: &'static str,
    title: String,
    /// Arguments and result of a tool call.
    detail: String,
}

/// A page that the agent read.
#[derive(Clone, PartialEq, Debug)]
struct Source {
    url: String,
    /// Id of the text as the agent read it.
    snapshot: String,
}

/// Returns the steps in order. A tool call and its end are one step.
fn steps(events: &[TraceEvent]) -> Vec<Step> {
    let step = |event: &TraceEvent| {
        let (state, title, detail) = match &event.detail {
            TraceDetail::RunStarted => ("", "Run started".to_owned(), String::new()),
            TraceDetail::ProgressReported { message, .. } => ("", message.clone(), String::new()),
            TraceDetail::ToolCallStarted {
                tool_call_id,
                tool_name,
                parameters,
            } => {
                let result = events.iter().find_map(|event| match &event.detail {
                    TraceDetail::ToolCallFinished {
                        tool_call_id: id,
                        result,
                        ..
                    } if id == tool_call_id => Some(result),
                    _ => None,
                });
                let state = if result.is_some() { "done" } else { "running" };
                let parts = [Some(parameters), result].into_iter().flatten().map(plain);
                let detail = parts.collect::<Vec<_>>().join("\n\n");
                (state, call_title(tool_name, parameters), detail)
            }
            TraceDetail::RunFinished { outcome, error } => {
                let state = if error.is_some() { "failed" } else { "done" };
                let title = match error {
                    Some(error) => format!("Run ended: {}", error.message),
                    None => format!("Run {outcome}"),
                };
                (state, title, String::new())
            }
            TraceDetail::ToolCallFinished { .. } | TraceDetail::ArtifactUpdated { .. } => return None,
        };
        Some(Step {
            at: event.occurred_at,
            state,
            title,
            detail,
        })
    };
    events.iter().filter_map(step).collect()
}

fn call_title(tool: &str, parameters: &Value) -> String {
    let subject = |name: &str| parameters.get(name).and_then(Value::as_str).unwrap_or_default();
    match tool {
        "scrape" => format!("Read {}", display::short_url(subject("url"))),
        "map" => format!("List URLs of {}", display::short_url(subject("url"))),
        "search" => format!("Search for {}", subject("query")),
        "done" => "Return the result".to_owned(),
        other => format!("Call {other}"),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Returns the pages that were read, each once, in the order of the first reading.
fn sources(events: &[TraceEvent]) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for event in events {
        let TraceDetail::ArtifactUpdated { artifact } = &event.detail else {
            continue;
        };
        let is_known = sources.iter().any(|source| source.url == artifact.artifact_id);
        if artifact.kind == SnapshotKind::Markdown && !is_known {
            sources.push(Source {
                url: artifact.artifact_id.clone(),
                snapshot: artifact.snapshot_id.to_string(),
            });
        }
    }
    sources
}

impl AgentRun {
    /// Returns the number of steps.
    pub(super) fn step_count(self) -> usize {
        self.events.with(|events| steps(events).len())
    }

    /// Returns the number of pages that the agent read.
    pub(super) fn source_count(self) -> usize {
        self.events.with(|events| sources(events).len())
    }

    /// Returns the title of the last step.
    pub(super) fn last_step(self) -> Option<String> {
        self.events
            .with(|events| steps(events).pop().map(|step| step.title))
    }
}

/// Renders the steps.
#[component]
pub fn Steps(run: AgentRun) -> impl IntoView {
    let all = Memo::new(move |_| run.events.with(|events| steps(events)));
    let rows = move || {
        let all = all.get();
        let started = all.first().map_or(0, |step| step.at.0);
        all.into_iter().map(|step| row(step, started)).collect_view()
    };
    view! {
        <Show when=move || all.with(|all| !all.is_empty()) fallback=|| view! { <p class="empty">{text::AGENT_NO_STEPS}</p> }>
            <ol class="rows calls">{rows}</ol>
        </Show>
    }
    .into_any()
}

fn row(step: Step, started: u64) -> AnyView {
    let after = display::duration_ms(step.at.0.saturating_sub(started));
    let badge = (!step.state.is_empty()).then(|| {
        let class = match step.state {
            "done" => "badge ok",
            "failed" => "badge bad",
            _ => "badge run",
        };
        view! { <span class=class>{step.state}</span> }
    });
    let line = view! {
        {badge}
        <span class="cut">{inline_code(&step.title)}</span>
        <span class="grow"></span>
        <span class="hint nowrap">{after}</span>
    };
    match step.detail.is_empty() {
        true => view! { <li class="call"><div class="call-line">{line}</div></li> }.into_any(),
        false => view! {
            <li>
                <details class="call">
                    <summary>{line}</summary>
                    <pre class="code wrap" tabindex="0">{step.detail}</pre>
                </details>
            </li>
        }
        .into_any(),
    }
}

/// Renders the pages that the agent read; their text is loaded when a row is opened.
#[component]
pub fn Sources(run: AgentRun) -> impl IntoView {
    let all = Memo::new(move |_| run.events.with(|events| sources(events)));
    view! {
        <Show when=move || all.with(|all| !all.is_empty()) fallback=|| view! { <p class="empty">{text::AGENT_NO_SOURCES}</p> }>
            <ul class="rows calls">
                <For each=move || all.get() key=|source| source.snapshot.clone() let:source>
                    <SourceRow run source/>
                </For>
            </ul>
        </Show>
    }
    .into_any()
}

#[component]
fn SourceRow(run: AgentRun, source: Source) -> impl IntoView {
    let console = Console::get();
    let content = RwSignal::new(None::<Result<String, String>>);
    let Source { url, snapshot } = source;
    let load = move |_| {
        let (Some(id), None) = (run.id.get_untracked(), content.get_untracked()) else {
            return;
        };
        let snapshot = snapshot.clone();
        spawn_local(async move {
            let response = console.client().agent_snapshot(id, snapshot).await;
            content.try_set(Some(match response {
                Ok(response) => Ok(response.snapshot),
                Err(error) => Err(console.report(&error)),
            }));
        });
    };
    let link = is_safe_link(&url).then(|| external_link(&url, "btn small quiet", "Open page".to_owned()));
    let shown = move || match content.get() {
        None => skeleton(2),
        Some(Ok(text)) => view! {
            <pre class="code wrap" tabindex="0" role="region" aria-label="Text of the page">
                {text}
            </pre>
        }
        .into_any(),
        Some(Err(problem)) => problem_in_card(&problem),
    };
    view! {
        <li>
            <details class="call" on:toggle=load>
                <summary>
                    <code class="cut">{display::short_url(&url).to_owned()}</code>
                </summary>
                {shown}
                <div class="pad send">{link}</div>
            </details>
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn events() -> Vec<TraceEvent> {
        let run = "0198c0de-0000-7000-8000-000000000001";
        let details = [
            json!({"type": "run.started"}),
            json!({"type": "tool_call.started", "toolCallId": "1", "toolName": "scrape",
                "parameters": {"url": "https://a.test/cup"}}),
            json!({"type": "artifact.updated", "artifact": {"kind": "markdown", "artifactId": "https://a.test/cup",
                "snapshotId": run, "change": "init"}}),
            json!({"type": "tool_call.finished", "toolCallId": "1", "toolName": "scrape", "result": "A cup"}),
            json!({"type": "tool_call.started", "toolCallId": "2", "toolName": "search", "parameters": {"query": "pots"}}),
            json!({"type": "run.finished", "outcome": "failed",
                "error": {"code": "internal", "source": "agent", "retryable": true, "message": "no model"}}),
        ];
        let event = |(at, detail): (usize, &Value)| {
            let mut event = json!({"schemaVersion": 1, "eventId": run, "runId": run, "occurredAt": Timestamp(1_000 + at as u64),
                "producerSequence": at + 1, "agent": {"id": "a", "role": "orchestrator", "name": "agent"}});
            let detail = detail.as_object().cloned().unwrap();
            event.as_object_mut().unwrap().extend(detail);
            serde_json::from_value(event).unwrap()
        };
        details.iter().enumerate().map(event).collect()
    }

    #[test]
    fn a_call_and_its_end_are_one_step() {
        let steps = steps(&events());
        let lines: Vec<_> = steps
            .iter()
            .map(|step| (step.state, step.title.as_str()))
            .collect();
        let expected = [
            ("", "Run started"),
            ("done", "Read a.test/cup"),
            ("running", "Search for pots"),
            ("failed", "Run ended: no model"),
        ];
        assert_eq!(lines, expected);
        assert!(steps[1].detail.ends_with("A cup"));
    }

    #[test]
    fn pages_that_were_read_are_sources() {
        let sources = sources(&events());
        assert_eq!(sources.len(), 1);
        assert_eq!(sources[0].url, "https://a.test/cup");
    }
}
