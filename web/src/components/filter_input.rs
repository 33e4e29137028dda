//! Text field that filters the list below it.

use leptos::prelude::*;

/// Renders the field.
#[component]
pub fn FilterInput(
    words: RwSignal<String>,
    /// Label for screen readers.
    label: &'static str,
    placeholder: &'static str,
) -> impl IntoView {
    view! {
        <input
            class="input"
            type="text"
            aria-label=label
            placeholder=placeholder
            bind:value=words
        />
    }
    .into_any()
}
