//! Health of the server and of its parts.

use harvestman_core::api::health::{PartState, Readiness};
use leptos::prelude::*;

use crate::text;

/// Renders each part with its status.
pub fn health_summary(readiness: &Readiness) -> AnyView {
    let server = match readiness.is_ready() {
        true => ("dot ok", "ready"),
        false => ("dot bad", "not ready"),
    };
    let parts = readiness.parts().map(|(name, state)| {
        let (dot, status) = match state {
            PartState::Ok => ("dot ok", state.as_str()),
            PartState::NotConfigured if name == "search" => ("dot", text::SEARCH_OWN_PAGES),
            PartState::NotConfigured => ("dot", state.as_str()),
            PartState::Unavailable | PartState::Stopping => ("dot bad", state.as_str()),
        };
        health_cell(dot, part_label(name), status)
    });
    view! {
        <div class="health">
            {health_cell(server.0, "Server", server.1)}
            {parts.collect_view()}
        </div>
    }
    .into_any()
}

fn health_cell(dot: &'static str, name: &'static str, status: &'static str) -> AnyView {
    view! {
        <div>
            <b><span class=dot></span>{name}</b>
            <span>{status}</span>
        </div>
    }
    .into_any()
}

fn part_label(name: &'static str) -> &'static str {
    match name {
        "database" => "Database",
        "queue" => "Queue",
        "browser" => "Browser",
        "llm" => "Model",
        "search" => "Search",
        _ => name,
    }
}
