//! Health of the server and of its parts.

use harvestman_client::Readiness;
use leptos::prelude::*;

use crate::text;

/// Renders each part with its status.
pub fn health_summary(readiness: &Readiness) -> AnyView {
    let server_status = match readiness.ready {
        true => ("dot ok", "ready"),
        false => ("dot bad", "not ready"),
    };
    let parts = readiness.parts.iter().map(|(name, part)| {
        let dot = match part.status.as_str() {
            "ok" | "ready" | "up" => "dot ok",
            "off" | "disabled" | "none" | "absent" | "not_configured" | "not configured" => "dot",
            _ => "dot bad",
        };
        let status_text = match (name.as_str(), part.detail.clone()) {
            (_, Some(detail)) => detail,
            ("search", None) if dot == "dot" => text::SEARCH_OWN_PAGES.to_owned(),
            (_, None) => part.status.replace('_', " "),
        };
        health_cell(dot, part_label(name), status_text)
    });
    view! {
        <div class="health">
            {health_cell(server_status.0, "Server".to_owned(), server_status.1.to_owned())}
            {parts.collect_view()}
        </div>
    }
    .into_any()
}

fn health_cell(dot: &'static str, name: String, status_text: String) -> AnyView {
    view! {
        <div>
            <b><span class=dot></span>{name}</b>
            <span>{status_text}</span>
        </div>
    }
    .into_any()
}

fn part_label(name: &str) -> String {
    if name == "llm" {
        return "Model".to_owned();
    }
    let mut letters = name.replace('_', " ").chars().collect::<Vec<_>>();
    if let Some(first) = letters.first_mut() {
        *first = first.to_ascii_uppercase();
    }
    letters.into_iter().collect()
}
