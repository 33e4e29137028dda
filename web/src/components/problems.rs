//! Error summary above a form, in the API's own words. Each error links to its field, or in the JSON tab to its line.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;

use crate::browser;
use crate::components::field::field_id;
use crate::components::inline_code::inline_code;
use crate::draft::{Draft, Problem, problems_of};
use crate::json_position::{TextPosition, position_of};
use crate::text;

/// Renders the summary after the user tried to send the form or the server rejected it. `written` is the text of the
/// JSON tab while that tab is open.
#[component]
pub fn Problems(draft: Draft, written: Signal<Option<String>>) -> impl IntoView {
    let json_error = move || draft.submitted.get().then(|| draft.json_error.get()).flatten();
    let error = move || {
        let server_error = draft.server_error.get();
        let core = draft.submitted.get().then(|| {
            draft
                .validation
                .with(|validation| validation.as_ref().err().cloned())
        });
        server_error.or(core.flatten())
    };
    let notice = move |code: &'static str, content: AnyView| {
        view! {
            <div class="pad" class:notice-pad=move || written.with(Option::is_none)>
                <div class="notice bad" role="alert" tabindex="-1" data-problems="">
                    <strong>{code}</strong>
                    {content}
                </div>
            </div>
        }
    };
    move || match (json_error(), error()) {
        (Some(message), _) => {
            let content = view! { <span>{message} ". " {text::JSON_NOT_SENT}</span> };
            Some(notice(text::JSON_ERROR_CODE, content.into_any()))
        }
        (None, Some(error)) => {
            let problems = problems_of(&error);
            let content = match problems.is_empty() {
                true => inline_code(&error.message),
                false => {
                    let items = problems.into_iter().map(|problem| item(problem, written));
                    view! { <ul>{items.collect_view()}</ul> }.into_any()
                }
            };
            Some(notice(error.code.as_str(), content))
        }
        (None, None) => None,
    }
}

fn item(problem: Problem, written: Signal<Option<String>>) -> AnyView {
    let path = StoredValue::new(problem.path.clone());
    let position = move || written.with(|text| path.with_value(|path| position_of(text.as_ref()?, path)));
    let go = move |event: web_sys::MouseEvent| {
        event.prevent_default();
        match untrack(position) {
            Some(position) => select(position),
            None => path.with_value(|path| show(path)),
        }
    };
    let position_text = move || {
        position().map(|TextPosition { line, column, .. }| {
            view! { <span class="nowrap">{format!(" \u{b7} line {line}, column {column}")}</span> }
        })
    };
    view! {
        <li>
            <a href=format!("#{}", field_id(&problem.path)) on:click=go>
                <code>{problem.path.clone()}</code>
            </a>
            " "
            {inline_code(&problem.message)}
            {position_text}
        </li>
    }
    .into_any()
}

/// Selects the text from a position to the end of its line in the JSON tab.
fn select(position: TextPosition) {
    let editor =
        browser::find("[data-json]").and_then(|editor| editor.dyn_into::<HtmlTextAreaElement>().ok());
    if let Some(editor) = editor {
        let _ = editor.focus();
        let _ = editor.set_selection_range(position.start, position.end);
    }
}

/// Opens the group of a field and focuses the field. A path inside a field leads to that field.
fn show(path: &str) {
    let mut path = path;
    loop {
        if let Some(field) = browser::find(&format!("#{}", field_id(path))) {
            if let Ok(Some(group)) = field.closest("details") {
                let _ = group.set_attribute("open", "");
            }
            let _ = field.focus();
            return;
        }
        match path.rsplit_once('.') {
            Some((parent, _)) => path = parent,
            None => return,
        }
    }
}
