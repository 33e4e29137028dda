//! Notices: what went wrong, and what to know about a result, with backticks around code; the placeholder while a
//! result loads, and what a screen shows without one.

use leptos::prelude::*;

use crate::components::icon::{Glyph, Icon};
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

/// Renders a placeholder of some lines for content that loads.
pub fn skeleton(lines: usize) -> AnyView {
    let lines = (0..lines).map(|_| view! { <i></i> });
    view! { <div class="skeleton">{lines.collect_view()}</div> }.into_any()
}

/// Renders what will appear where there is nothing yet.
pub fn empty_state(glyph: Glyph, text: &'static str) -> AnyView {
    view! {
        <div class="empty">
            <Icon glyph/>
            <p>{text}</p>
        </div>
    }
    .into_any()
}
