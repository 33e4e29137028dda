//! JSON editor of a form's body, in sync with the form in both directions. Invalid JSON does not change the form; it
//! stays in the editor and is reported with line and column.

use leptos::prelude::*;
use serde_json::Value;

use crate::draft::Draft;
use crate::{field_value, text};

/// Renders the editor; `written` is its text.
#[component]
pub fn JsonEditor(draft: Draft, written: RwSignal<String>) -> impl IntoView {
    // Follow changes that are made to the draft elsewhere.
    Effect::new(move |_| {
        let is_same = draft.body.with(|body| {
            let parsed = written.with_untracked(|text| field_value::parse_json(text));
            parsed.is_ok_and(|value| value.as_object() == Some(body))
        });
        if !is_same && draft.json_error.with_untracked(Option::is_none) {
            let pretty = draft.body.with_untracked(serde_json::to_string_pretty);
            written.set(pretty.unwrap_or_default());
        }
    });
    let on_input = move |event: leptos::ev::Event| {
        written.set(event_target_value(&event));
        match written.with_untracked(|text| field_value::parse_json(text)) {
            Ok(Value::Object(body)) => draft.body.set(body),
            Ok(_) => draft.json_error.set(Some(text::JSON_NOT_AN_OBJECT.to_owned())),
            Err(error) => draft.json_error.set(Some(error)),
        }
    };
    let json_error = draft.json_error;
    view! {
        <textarea
            class="input mono code-edit"
            rows="18"
            spellcheck="false"
            aria-label="Request body as JSON"
            aria-describedby="json-error"
            aria-invalid=move || json_error.with(Option::is_some).then_some("true")
            data-json=""
            prop:value=move || written.get()
            on:input=on_input
        ></textarea>
        {move || {
            json_error
                .get()
                .map(|error| view! { <div class="pad"><p class="field-error" id="json-error">{error}</p></div> })
        }}
    }
    .into_any()
}
