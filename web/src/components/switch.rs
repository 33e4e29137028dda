//! A switch with its label.

use leptos::prelude::*;

/// Renders a switch.
#[component]
pub fn Switch(
    id: &'static str,
    label: &'static str,
    #[prop(optional)] hint: Option<&'static str>,
    #[prop(into)] value: Signal<bool>,
    /// Called with the new value.
    #[prop(into)]
    on_change: Callback<bool>,
) -> impl IntoView {
    view! {
        <div class="switch">
            <input
                type="checkbox"
                role="switch"
                id=id
                prop:checked=move || value.get()
                on:change=move |event| on_change.run(event_target_checked(&event))
            />
            <label class="field-name" for=id>
                {label}
            </label>
            {hint.map(|hint| view! { <p class="hint">{hint}</p> })}
        </div>
    }
    .into_any()
}
