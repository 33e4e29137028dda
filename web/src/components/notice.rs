//! Notices: what went wrong, and what to know about a result. Their texts mark code with backticks.

use leptos::prelude::*;

use crate::components::inline_code::inline_code;

/// Renders what went wrong; it is announced.
pub fn problem_notice(text: &str) -> AnyView {
    view! { <div class="notice bad" role="alert">{inline_code(text)}</div> }.into_any()
}

/// Renders what went wrong, as a part of a card.
pub fn problem_in_card(text: &str) -> AnyView {
    view! { <div class="pad">{problem_notice(text)}</div> }.into_any()
}

/// Renders a warning about a result, as a part of a card.
pub fn warning_in_card(text: &str) -> AnyView {
    view! { <div class="pad"><div class="notice warn">{inline_code(text)}</div></div> }.into_any()
}
