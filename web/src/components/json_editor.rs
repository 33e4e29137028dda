//! The body of a form as JSON, edited both ways: what is typed here is in the form at once, and the
//! other way round. Text that is no JSON changes nothing and is told with line and column.

use leptos::prelude::*;
use serde_json::Value;

use crate::draft::Draft;

/// Shows the editor.
#[component]
pub fn JsonEditor(draft: Draft) -> impl IntoView {
    let text = RwSignal::new(
        draft
            .body
            .with_untracked(|body| serde_json::to_string_pretty(body).unwrap_or_default()),
    );
    let wrong = RwSignal::new(None::<String>);
    let on_input = move |event: leptos::ev::Event| {
        text.set(event_target_value(&event));
        let parsed = text.with_untracked(|text| serde_json::from_str::<Value>(text));
        wrong.set(match parsed {
            Ok(Value::Object(body)) => {
                draft.body.set(body);
                None
            }
            Ok(_) => Some("The body must be a JSON object.".to_owned()),
            Err(error) => Some(format!(
                "Line {}, column {}: {error}",
                error.line(),
                error.column()
            )),
        });
    };
    view! {
        <textarea
            class="input mono code-edit"
            rows="18"
            spellcheck="false"
            aria-label="Request body as JSON"
            aria-invalid=move || wrong.with(Option::is_some).then_some("true")
            prop:value=move || text.get()
            on:input=on_input
        ></textarea>
        {move || {
            wrong
                .get()
                .map(|wrong| view! { <div class="pad"><p class="field-error">{wrong}</p></div> })
        }}
    }
    .into_any()
}
