//! Editor of the `actions` of a scrape: an ordered list to add to, change, reorder and remove from. Alt with an arrow
//! key moves the focused action.

use harvestman_core::api::action::ActionKind;
use harvestman_core::api::wire_enum::WireEnum;
use leptos::prelude::*;
use serde_json::{Map, Value};
use web_sys::KeyboardEvent;

use crate::browser;
use crate::components::field::field_id;
use crate::components::field_group::FieldGrid;
use crate::components::inline_code::inline_code;
use crate::console::Console;
use crate::draft::Draft;
use crate::fields::of_action;
use crate::text;

/// The action list at a path of a draft.
#[derive(Clone, Copy)]
struct ActionEditor {
    draft: Draft,
    path: StoredValue<String>,
}

impl ActionEditor {
    fn read(self) -> Vec<Value> {
        let value = self.path.with_value(|path| self.draft.value(path));
        match value {
            Some(Value::Array(actions)) => actions,
            _ => Vec::new(),
        }
    }

    fn change(self, edit: impl FnOnce(&mut Vec<Value>)) {
        let mut actions = untrack(|| self.read());
        edit(&mut actions);
        let value = (!actions.is_empty()).then_some(Value::Array(actions));
        self.path.with_value(|path| self.draft.put(path, value));
    }

    fn path_of(self, index: usize) -> String {
        self.path.with_value(|path| format!("{path}.{index}"))
    }

    /// Focuses the kind of an action after the next render, unless the user has moved the focus by then.
    fn focus(self, index: usize) {
        let selector = format!("#{} select", field_id(&self.path_of(index)));
        let focused = || document().active_element();
        let before = focused();
        request_animation_frame(move || {
            let now = focused();
            // The body has the focus once the focused element was removed.
            let has_moved =
                now != before && now.is_some_and(|now| Some(&now) != document().body().as_deref());
            if !has_moved && let Some(kind) = browser::find(&selector) {
                let _ = kind.focus();
            }
        });
    }

    /// Swaps an action with the one at index `with`, if there is one, and focuses it there.
    fn swap(self, index: usize, with: Option<usize>) {
        let count = untrack(|| self.read().len());
        let Some(with) = with.filter(|with| *with < count) else {
            return;
        };
        self.change(|actions| actions.swap(index, with));
        Console::get().notify(format!("Action {} of {count}", with + 1));
        self.focus(with);
    }
}

fn kind_of(action: &Value) -> ActionKind {
    let kind = action.get("type").and_then(Value::as_str);
    kind.and_then(ActionKind::parse).unwrap_or(ActionKind::Wait)
}

/// Converts an action to another kind, keeping the fields that both kinds have.
fn convert(action: &Value, kind: ActionKind) -> Value {
    let mut converted = Map::from_iter([("type".to_owned(), Value::from(kind.as_str()))]);
    let shared_fields = of_action(kind)
        .into_iter()
        .filter_map(|field| Some((field.path.clone(), action.get(&field.path)?.clone())));
    converted.extend(shared_fields);
    Value::Object(converted)
}

/// Renders the editor.
pub fn action_list(draft: Draft, path: String) -> AnyView {
    let id = field_id(&path);
    let actions = ActionEditor {
        draft,
        path: StoredValue::new(path.clone()),
    };
    let rows = Memo::new(move |_| actions.read().iter().map(kind_of).enumerate().collect::<Vec<_>>());
    let add = move |_| {
        let index = rows.with_untracked(Vec::len);
        actions.change(|actions| actions.push(convert(&Value::Null, ActionKind::Click)));
        actions.focus(index);
    };
    let problem = move || draft.own_problem(&actions.path.get_value());
    view! {
        <div class="field wide" role="group" id=id.clone() tabindex="-1" aria-labelledby=format!("{id}-name")>
            <span class="field-name" id=format!("{id}-name")>
                "Actions"
                <code class:set=move || rows.with(|rows| !rows.is_empty())>{path}</code>
            </span>
            <p class="hint">{text::ACTIONS_HELP}</p>
            <ol class="action-list">
                <For each=move || rows.get() key=|row| *row children=move |(index, kind)| row(actions, index, kind)/>
            </ol>
            {move || problem().map(|text| view! { <p class="field-error">{inline_code(&text)}</p> })}
            <div>
                <button type="button" class="btn small" on:click=add>
                    "Add action"
                </button>
            </div>
        </div>
    }
    .into_any()
}

fn row(actions: ActionEditor, index: usize, kind: ActionKind) -> AnyView {
    let number = index + 1;
    let draft = actions.draft;
    let id = field_id(&actions.path_of(index));
    let change_kind = move |event: leptos::ev::Event| {
        if let Some(kind) = ActionKind::parse(&event_target_value(&event)) {
            actions.change(|actions| {
                if let Some(action) = actions.get_mut(index) {
                    *action = convert(action, kind);
                }
            });
            actions.focus(index);
        }
    };
    let up = move || actions.swap(index, index.checked_sub(1));
    let down = move || actions.swap(index, Some(index + 1));
    let on_key = move |event: KeyboardEvent| {
        match (event.alt_key(), event.key().as_str()) {
            (true, "ArrowUp") => up(),
            (true, "ArrowDown") => down(),
            _ => return,
        }
        event.prevent_default();
    };
    let remove = move |_| {
        actions.change(|actions| {
            if index < actions.len() {
                actions.remove(index);
            }
        });
        actions.focus(index.saturating_sub(1));
    };
    let options = ActionKind::ALL
        .iter()
        .map(|one| view! { <option value=one.as_str() selected=*one == kind>{one.as_str()}</option> });
    let is_last = move || actions.read().len() == number;
    let problem = move || draft.own_problem(&actions.path_of(index));
    view! {
        <li class="action" id=id tabindex="-1" on:keydown=on_key>
            <div class="action-head">
                <span class="action-number">{number}</span>
                <select class="input" aria-label=format!("Action {number}") on:change=change_kind>
                    {options.collect_view()}
                </select>
                <span class="grow"></span>
                <button
                    type="button"
                    class="btn icon quiet"
                    aria-label=format!("Move action {number} up")
                    title="Move up (Alt + Up)"
                    disabled=index == 0
                    on:click=move |_| up()
                >
                    "\u{2191}"
                </button>
                <button
                    type="button"
                    class="btn icon quiet"
                    aria-label=format!("Move action {number} down")
                    title="Move down (Alt + Down)"
                    disabled=is_last
                    on:click=move |_| down()
                >
                    "\u{2193}"
                </button>
                <button
                    type="button"
                    class="btn icon quiet"
                    aria-label=format!("Remove action {number}")
                    title="Remove"
                    on:click=remove
                >
                    "\u{00d7}"
                </button>
            </div>
            {move || problem().map(|text| view! { <p class="field-error">{inline_code(&text)}</p> })}
            <FieldGrid draft fields=of_action(kind) prefix=format!("{}.", actions.path_of(index))/>
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changing_the_kind_of_an_action_keeps_shared_fields() {
        let click = json!({"type": "click", "selector": "a", "all": true});
        assert_eq!(
            convert(&click, ActionKind::Scroll),
            json!({"type": "scroll", "selector": "a"})
        );
        assert_eq!(convert(&click, ActionKind::Press), json!({"type": "press"}));
    }
}
