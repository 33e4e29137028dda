//! Health of the server and of its parts.

use harvestman_client::Readiness;
use leptos::prelude::*;

use crate::text;

/// Renders each part with its status.
pub fn health(readiness: &Readiness) -> AnyView {
    let whole = match readiness.ready {
        true => ("dot ok", "ready"),
        false => ("dot bad", "not ready"),
    };
    let parts = readiness.parts.iter().map(|(name, part)| {
        let dot = match part.status.as_str() {
            "ok" | "ready" | "up" => "dot ok",
            "off" | "disabled" | "none" | "absent" | "not_configured" | "not configured" => "dot",
            _ => "dot bad",
        };
        let said = match (name.as_str(), part.detail.clone()) {
            (_, Some(detail)) => detail,
            ("search", None) if dot == "dot" => text::SEARCH_OWN_PAGES.to_owned(),
            (_, None) => part.status.replace('_', " "),
        };
        health_cell(dot, capital(name), said)
    });
    view! {
        <div class="health">
            {health_cell(whole.0, "Server".to_owned(), whole.1.to_owned())}
            {parts.collect_view()}
        </div>
    }
    .into_any()
}

fn health_cell(dot: &'static str, name: String, said: String) -> AnyView {
    view! {
        <div>
            <b><span class=dot></span>{name}</b>
            <span>{said}</span>
        </div>
    }
    .into_any()
}

fn capital(name: &str) -> String {
    if name == "llm" {
        return "Model".to_owned();
    }
    let mut letters = name.replace('_', " ").chars().collect::<Vec<_>>();
    if let Some(first) = letters.first_mut() {
        *first = first.to_ascii_uppercase();
    }
    letters.into_iter().collect()
}
