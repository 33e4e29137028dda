//! Editor of a JSON Schema of an object, as rows of fields or as JSON. Both edit the same value; a schema that rows
//! cannot represent can only be edited as JSON.

use leptos::prelude::*;
use serde_json::{Map, Value, json};

use crate::browser;
use crate::components::field::field_id;
use crate::components::inline_code::inline_code;
use crate::draft::Draft;
use crate::field_value;

/// The types that a row offers.
const TYPES: [&str; 5] = ["string", "number", "integer", "boolean", "array"];

/// One field of the object.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    name: String,
    kind: String,
    description: String,
    required: bool,
}

/// Returns the rows of a schema, or `None` if rows cannot represent it.
fn rows_of(schema: &Value) -> Option<Vec<Row>> {
    let schema = schema.as_object()?;
    let known = |name: &String| matches!(name.as_str(), "type" | "properties" | "required");
    if !schema.keys().all(known) || schema.get("type") != Some(&Value::from("object")) {
        return None;
    }
    let empty = Map::new();
    let properties = match schema.get("properties") {
        Some(Value::Object(properties)) => properties,
        None => &empty,
        Some(_) => return None,
    };
    let required: Vec<&str> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let row = |(name, property): (&String, &Value)| {
        let property = property.as_object()?;
        let kind = property.get("type")?.as_str()?;
        let plain = |key: &String| matches!(key.as_str(), "type" | "description" | "items");
        let items = property
            .get("items")
            .is_none_or(|items| *items == json!({"type": "string"}));
        (TYPES.contains(&kind) && property.keys().all(plain) && items).then(|| Row {
            name: name.clone(),
            kind: kind.to_owned(),
            description: property
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            required: required.contains(&name.as_str()),
        })
    };
    properties.iter().map(row).collect()
}

/// Returns the schema of the rows, or `None` if no row has a name.
fn schema_of(rows: &[Row]) -> Option<Value> {
    let named = || rows.iter().filter(|row| !row.name.trim().is_empty());
    let properties: Map<String, Value> = named()
        .map(|row| {
            let mut property = json!({ "type": row.kind });
            if row.kind == "array" {
                property["items"] = json!({ "type": "string" });
            }
            if !row.description.is_empty() {
                property["description"] = Value::from(row.description.as_str());
            }
            (row.name.trim().to_owned(), property)
        })
        .collect();
    let required: Vec<&str> = named()
        .filter(|row| row.required)
        .map(|row| row.name.trim())
        .collect();
    (!properties.is_empty()).then(|| {
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = Value::from(required);
        }
        schema
    })
}

/// Renders the editor of the schema at a path of a draft.
#[component]
pub fn SchemaEditor(draft: Draft, #[prop(into)] path: String) -> impl IntoView {
    let id = field_id(&path);
    let path = StoredValue::new(path);
    let value = Memo::new(move |_| path.with_value(|path| draft.value(path)));
    let problem = Memo::new(move |_| path.with_value(|path| draft.problem_at(path)));
    // Rows keep partial input; they follow changes that are made to the draft elsewhere.
    let rows = RwSignal::new(Vec::<(usize, RwSignal<Row>)>::new());
    let next = StoredValue::new(0_usize);
    let add = move |row: Row| {
        let id = next.get_value();
        next.set_value(id + 1);
        rows.update(|rows| rows.push((id, RwSignal::new(row))));
    };
    let current_rows = move || rows.with(|rows| rows.iter().map(|(_, row)| row.get()).collect::<Vec<_>>());
    let write = move || path.with_value(|path| draft.put(path, untrack(|| schema_of(&current_rows()))));
    let remove = move |key: usize| {
        rows.update(|rows| rows.retain(|(other, _)| *other != key));
        write();
    };
    let as_json = RwSignal::new(
        value.with_untracked(|value| value.as_ref().is_some_and(|value| rows_of(value).is_none())),
    );
    Effect::new(move |_| {
        let value = value.get();
        if value == untrack(|| schema_of(&current_rows())) {
            return;
        }
        match value.as_ref().map(rows_of) {
            Some(Some(parsed_rows)) => {
                rows.set(Vec::new());
                parsed_rows.into_iter().for_each(add);
            }
            Some(None) => as_json.set(true),
            None => rows.set(Vec::new()),
        }
    });
    let own_id = StoredValue::new(id.clone());
    let focus_new_row = move || {
        request_animation_frame(move || {
            let selector = own_id.with_value(|id| format!("[id=\"{id}\"] .schema-row:last-child input"));
            if let Some(name) = browser::find(&selector) {
                let _ = name.focus();
            }
        });
    };
    let json_only = move || value.with(|value| value.as_ref().is_some_and(|value| rows_of(value).is_none()));
    view! {
        <div class="field wide" role="group" id=id.clone() tabindex="-1" aria-labelledby=format!("{id}-name")>
            <span class="field-name">
                <span id=format!("{id}-name")>"Schema"</span>
                <code class:set=move || value.with(Option::is_some)>{path.get_value()}</code>
                <span class="grow"></span>
                <button
                    type="button"
                    class="link-button"
                    aria-pressed=move || as_json.get().to_string()
                    disabled=json_only
                    on:click=move |_| as_json.update(|on| *on = !*on)
                >
                    "Edit as JSON"
                </button>
            </span>
            <Show
                when=move || as_json.get()
                fallback=move || {
                    view! {
                        <ul class="schema">
                            <For
                                each=move || rows.get()
                                key=|(key, _)| *key
                                children=move |(key, row)| row_view(row, write, move || remove(key))
                            />
                        </ul>
                        <div>
                            <button
                                type="button"
                                class="btn small"
                                on:click=move |_| {
                                    add(Row {
                                        name: String::new(),
                                        kind: TYPES[0].to_owned(),
                                        description: String::new(),
                                        required: false,
                                    });
                                    focus_new_row();
                                }
                            >
                                "Add field"
                            </button>
                        </div>
                    }
                }
            >
                <SchemaJson draft path value/>
            </Show>
            {move || problem.get().map(|text| view! { <p class="field-error">"Schema " {inline_code(&text)}</p> })}
        </div>
    }
    .into_any()
}

/// Renders a row. `write` stores all rows, `remove` removes this one.
fn row_view(
    row: RwSignal<Row>,
    write: impl Fn() + Copy + Send + Sync + 'static,
    remove: impl Fn() + Send + Sync + 'static,
) -> AnyView {
    let change = move |edit: &dyn Fn(&mut Row)| {
        row.update(edit);
        write();
    };
    let types = TYPES.map(
        |kind| view! { <option value=kind selected=move || row.with(|row| row.kind == kind)>{kind}</option> },
    );
    view! {
        <li class="schema-row">
            <input
                class="input mono"
                aria-label="Field name"
                placeholder="name"
                autocomplete="off"
                spellcheck="false"
                prop:value=move || row.with(|row| row.name.clone())
                on:input=move |event| {
                    let text = event_target_value(&event);
                    change(&|row| row.name = text.clone());
                }
            />
            <select
                class="input"
                aria-label="Type"
                on:change=move |event| {
                    let text = event_target_value(&event);
                    change(&|row| row.kind = text.clone());
                }
            >
                {types}
            </select>
            <input
                class="input"
                aria-label="Description"
                placeholder="description"
                prop:value=move || row.with(|row| row.description.clone())
                on:input=move |event| {
                    let text = event_target_value(&event);
                    change(&|row| row.description = text.clone());
                }
            />
            <button
                type="button"
                class="chip"
                aria-pressed=move || row.with(|row| row.required).to_string()
                on:click=move |_| change(&|row| row.required = !row.required)
            >
                "required"
            </button>
            <button
                type="button"
                class="btn icon quiet"
                aria-label=move || format!("Remove field {}", row.with(|row| row.name.clone()))
                on:click=move |_| remove()
            >
                "\u{00d7}"
            </button>
        </li>
    }
    .into_any()
}

#[component]
fn SchemaJson(draft: Draft, path: StoredValue<String>, value: Memo<Option<Value>>) -> impl IntoView {
    let pretty = |value: &Option<Value>| {
        let written = value.as_ref().map(serde_json::to_string_pretty);
        written.and_then(Result::ok).unwrap_or_default()
    };
    let text = RwSignal::new(value.with_untracked(pretty));
    let parse_error = RwSignal::new(None::<String>);
    let on_input = move |event: leptos::ev::Event| {
        text.set(event_target_value(&event));
        match text.with_untracked(|text| match text.trim() {
            "" => Ok(None),
            text => field_value::parse_json(text).map(Some),
        }) {
            Ok(value) => {
                parse_error.set(None);
                path.with_value(|path| draft.put(path, value));
            }
            Err(message) => parse_error.set(Some(message)),
        }
    };
    view! {
        <textarea
            class="input mono"
            rows="9"
            spellcheck="false"
            aria-label="Schema as JSON"
            placeholder="{\"type\": \"object\", \"properties\": {}}"
            prop:value=move || text.get()
            on:input=on_input
        ></textarea>
        {move || parse_error.get().map(|parse_error| view! { <p class="field-error">{parse_error}</p> })}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_schemas_convert_both_ways() {
        let schema = json!({
            "type": "object",
            "properties": {
                "price": {"type": "number", "description": "in euro"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["price"],
        });
        let rows = rows_of(&schema).unwrap();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].required && !rows[1].required);
        assert_eq!(schema_of(&rows), Some(schema));
        assert_eq!(schema_of(&[]), None);
    }

    #[test]
    fn schemas_beyond_rows_are_edited_as_json() {
        for schema in [
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "array"}),
            json!([]),
        ] {
            assert_eq!(rows_of(&schema), None, "{schema}");
        }
    }
}
