//! The run on screen: state, result, steps, sources and thread.

use harvestman_core::api::agent::{AgentResponse, AgentStatus, CANCELLED};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use super::AgentRun;
use super::steps::{Sources, Steps};
use super::thread::Thread;
use crate::components::badge::JobBadge;
use crate::components::button::IconButton;
use crate::components::code::{Code, copy};
use crate::components::icon::Glyph;
use crate::components::inline_code::inline_code;
use crate::components::notice::skeleton;
use crate::components::panes::Expand;
use crate::components::tabs::{Tab, Tabs, tab};
use crate::{browser, display, highlight, text};

/// Returns the state of a run; a cancelled run counts as cancelled, not as failed.
fn status_word(response: &AgentResponse) -> &'static str {
    response.status.word(response.error.as_deref())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Renders the run.
#[component]
pub fn RunView(run: AgentRun) -> impl IntoView {
    let status = Memo::new(move |_| {
        run.response
            .with(|response| response.as_ref().map(status_word).unwrap_or_default().to_owned())
    });
    let counted = |id, label, count: usize| Tab {
        id,
        label,
        count: (count > 0).then(|| display::count(count as u64)),
    };
    let tabs = Memo::new(move |_| {
        let turns = run.thread.with(Vec::len);
        let thread = (turns > 1).then(|| counted("thread", "Thread", turns));
        let tabs = [
            tab("result", "Result"),
            counted("steps", "Steps", run.step_count()),
            counted("sources", "Sources", run.source_count()),
        ];
        tabs.into_iter().chain(thread).collect::<Vec<_>>()
    });
    view! {
        <div class="card-head">
            <h2>"Run"</h2>
            <JobBadge status/>
            <span class="grow"></span>
            <RunActions run/>
            <Expand/>
        </div>
        <Show when=move || run.is_running()>
            <p class="pad hint run-busy" role="status">
                <span class="spin"></span>
                <span class="cut">{move || run.last_step()}</span>
            </p>
        </Show>
        <Tabs name="agent" label="Parts of the run" tabs chosen=run.tab/>
        <div role="tabpanel" id="agent-panel" aria-labelledby=move || format!("agent-{}", run.tab.get())>
            {move || match run.tab.get() {
                "steps" => view! { <Steps run/> }.into_any(),
                "sources" => view! { <Sources run/> }.into_any(),
                "thread" => view! { <Thread run/> }.into_any(),
                _ => view! { <RunResult run/> }.into_any(),
            }}
        </div>
        <div class="card-foot">{move || run.response.with(|response| response.as_ref().map(facts))}</div>
    }
    .into_any()
}

#[component]
fn RunActions(run: AgentRun) -> impl IntoView {
    let console = run.exchange.console;
    let cancel = move |_| {
        let Some(id) = run.id.get_untracked() else {
            return;
        };
        spawn_local(async move {
            match console.client().cancel_agent(id).await {
                Ok(()) => console.notify(text::AGENT_CANCELLED),
                Err(error) => console.notify_error(&error),
            }
        });
    };
    let data = move || {
        run.response.with_untracked(|response| {
            let response = response.as_ref()?;
            let data = response.data.as_ref().filter(|data| !data.is_null());
            data.or(response.partial.as_ref()).map(pretty)
        })
    };
    let has_data = Memo::new(move |_| {
        run.response.track();
        untrack(data).is_some()
    });
    let has_thread = move || {
        run.response.with(|response| {
            response
                .as_ref()
                .is_some_and(|response| response.thread_id.is_some())
        })
    };
    let save = move |()| {
        if browser::download("agent.json", "application/json", &data().unwrap_or_default()).is_none() {
            console.notify(text::NOT_SAVED);
        }
    };
    view! {
        <Show when=move || has_data.get()>
            <IconButton label="Copy data" glyph=Glyph::Copy on_click=Callback::new(move |()| copy(console, data().unwrap_or_default()))/>
            <IconButton label="Save data as file" glyph=Glyph::Save on_click=Callback::new(save)/>
        </Show>
        <Show
            when=move || run.is_running()
            fallback=move || {
                view! {
                    <Show when=has_thread>
                        <button class="btn small" on:click=move |_| run.continue_thread()>
                            "Continue thread"
                        </button>
                    </Show>
                }
            }
        >
            <button class="btn small danger" on:click=cancel>
                "Cancel run"
            </button>
        </Show>
    }
    .into_any()
}

/// Renders the result, or the partial result.
#[component]
fn RunResult(run: AgentRun) -> impl IntoView {
    move || run.response.with(|response| response.as_ref().map(response_view))
}

fn response_view(response: &AgentResponse) -> AnyView {
    let notice = |class: &'static str, text: &str| {
        view! { <div class="pad"><div class=class>{inline_code(text)}</div></div> }
    };
    let warning = response
        .warning
        .as_deref()
        .map(|text| notice("notice warn", text));
    let error = response.error.as_deref().filter(|error| *error != CANCELLED);
    let error = error.map(|text| notice("notice bad", text));
    let message = response.message.clone();
    let message = message.map(|text| view! { <p class="pad agent-message">{text}</p> });
    let code = |value: &Value, label: &'static str| {
        let html = highlight::json(&pretty(value));
        view! { <Code html label wrap=true/> }
    };
    let data = response.data.as_ref().filter(|data| !data.is_null());
    let partial = response
        .partial
        .as_ref()
        .filter(|_| data.is_none())
        .map(|partial| {
            let note = match response.partial_schema_valid {
                Some(false) => text::PARTIAL_INVALID,
                _ => text::PARTIAL_VALID,
            };
            view! {
                <div class="pad">
                    <h3 class="small-head">"Partial result"</h3>
                    <p class="hint">{note}</p>
                </div>
                {code(partial, "Partial result")}
            }
        });
    let is_silent = data.is_none() && partial.is_none() && message.is_none() && error.is_none();
    let placeholder = is_silent.then(|| match response.status {
        AgentStatus::Processing => skeleton(3),
        AgentStatus::Completed | AgentStatus::Failed => {
            view! { <p class="empty">{text::AGENT_NO_DATA}</p> }.into_any()
        }
    });
    view! {
        {warning}
        {error}
        {message}
        {data.map(|data| code(data, "Result data"))}
        {partial}
        {placeholder}
    }
    .into_any()
}

/// Renders credits, options and expiry of a run.
fn facts(response: &AgentResponse) -> AnyView {
    let credits = response.credits_used;
    let left = response
        .expires_at
        .map(|at| display::expiry(browser::seconds_until(at)));
    let facts = [
        credits.map(|credits| display::plural(credits, "credit", "credits")),
        response
            .stop_reason
            .map(|reason| format!("stopped: {}", reason.as_str().replace('_', " "))),
        response.model.as_ref().map(|model| format!("model {model}")),
        response.effort.map(|effort| format!("effort {effort}")),
        response
            .thread_turn
            .filter(|turn| *turn > 1)
            .map(|turn| format!("turn {turn} of the thread")),
        left.filter(|_| response.status != AgentStatus::Processing),
    ];
    let facts = facts.into_iter().flatten();
    facts
        .map(|fact| view! { <span>{fact}</span> })
        .collect_view()
        .into_any()
}
