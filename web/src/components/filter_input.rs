//! The field above a list that narrows it.

use leptos::prelude::*;

/// Shows the field.
#[component]
pub fn FilterInput(
    words: RwSignal<String>,
    /// Read to screen readers.
    label: &'static str,
    placeholder: &'static str,
) -> impl IntoView {
    view! {
        <input
            class="input"
            type="text"
            aria-label=label
            placeholder=placeholder
            prop:value=move || words.get()
            on:input=move |event| words.set(event_target_value(&event))
        />
    }
    .into_any()
}
