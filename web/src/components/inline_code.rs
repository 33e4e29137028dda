//! Text of the core or the server in which backticks mark code.

use leptos::prelude::*;

/// Renders text, with the parts between backticks as code.
pub fn inline_code(text: &str) -> AnyView {
    let parts = text.split('`').enumerate().map(|(index, part)| {
        let part = part.to_owned();
        match index % 2 {
            0 => part.into_any(),
            _ => view! { <code>{part}</code> }.into_any(),
        }
    });
    view! { <span>{parts.collect_view()}</span> }.into_any()
}
