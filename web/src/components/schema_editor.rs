//! Editor of a JSON Schema of an object, as rows of fields or as JSON. Both edit the same value; a schema that rows
//! cannot represent can only be edited as JSON.

use leptos::prelude::*;
use serde_json::Value;

use crate::browser;
use crate::components::field::field_id;
use crate::components::inline_code::inline_code;
use crate::draft::Draft;
use crate::field_value;
use crate::fields::Kind;
use crate::schema_rows::{SchemaRow, TYPES, own_rows, rows_of, schema_of};

/// The rows of an editor. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
struct Rows {
    draft: Draft,
    path: StoredValue<String>,
    /// The rows with their keys. They keep partial input, and follow changes that are made to the draft elsewhere.
    rows: RwSignal<Vec<(usize, RwSignal<SchemaRow>)>>,
    next_key: StoredValue<usize>,
    /// Owns the signals of the rows. Without it, an effect that adds a row and runs again would drop the signals of
    /// that row.
    owner: StoredValue<Owner>,
}

impl Rows {
    fn new(draft: Draft, path: StoredValue<String>) -> Self {
        Self {
            draft,
            path,
            rows: RwSignal::new(Vec::new()),
            next_key: StoredValue::new(0),
            owner: StoredValue::new(Owner::current().unwrap_or_default()),
        }
    }

    fn schema(self) -> Option<Value> {
        schema_of(&self.plain())
    }

    fn plain(self) -> Vec<SchemaRow> {
        self.rows
            .with(|rows| rows.iter().map(|(_, row)| row.get()).collect())
    }

    fn write(self) {
        let schema = untrack(|| self.schema());
        self.path.with_value(|path| self.draft.put(path, schema));
    }

    /// Inserts a row at a position and returns its key.
    fn insert(self, at: usize, row: SchemaRow) -> usize {
        let key = self.next_key.get_value();
        self.next_key.set_value(key + 1);
        let row = self.owner.with_value(|owner| owner.with(|| RwSignal::new(row)));
        self.rows.update(|rows| rows.insert(at, (key, row)));
        key
    }

    fn replace(self, rows: Vec<SchemaRow>) {
        self.rows.set(Vec::new());
        rows.into_iter()
            .enumerate()
            .for_each(|(at, row)| _ = self.insert(at, row));
    }

    /// Returns the positions of a row and of the rows that belong to it.
    fn range(self, key: usize) -> std::ops::Range<usize> {
        let at = self
            .rows
            .with_untracked(|rows| rows.iter().position(|(other, _)| *other == key));
        let at = at.unwrap_or_default();
        at..at + 1 + own_rows(&untrack(|| self.plain())[at..])
    }

    /// Adds a row at the end and focuses its name.
    fn add(self) {
        self.add_at(self.rows.with_untracked(Vec::len), 0);
    }

    /// Adds a row after the row with this key and its own rows, `deeper` levels below it, and focuses its name.
    fn add_after(self, key: usize, row: RwSignal<SchemaRow>, deeper: usize) {
        self.add_at(self.range(key).end, row.with_untracked(|row| row.depth) + deeper);
    }

    fn add_at(self, at: usize, depth: usize) {
        let key = self.insert(at, SchemaRow::new(depth));
        request_animation_frame(move || {
            if let Some(name) = browser::find(&format!("[data-row=\"{key}\"] input")) {
                let _ = name.focus();
            }
        });
    }

    fn remove(self, range: std::ops::Range<usize>) {
        self.rows.update(|rows| _ = rows.drain(range));
        self.write();
    }
}

/// Renders the editor of the schema at a path of a draft.
#[component]
pub fn SchemaEditor(draft: Draft, #[prop(into)] path: String) -> impl IntoView {
    let id = field_id(&path);
    let path = StoredValue::new(path);
    let value = Memo::new(move |_| path.with_value(|path| draft.value(path)));
    let problem = Memo::new(move |_| path.with_value(|path| draft.problem_at(path)));
    let rows = Rows::new(draft, path);
    let is_json_only =
        move |value: &Option<Value>| value.as_ref().is_some_and(|value| rows_of(value).is_none());
    let as_json = RwSignal::new(value.with_untracked(is_json_only));
    Effect::new(move |_| {
        let value = value.get();
        if value == untrack(|| rows.schema()) {
            return;
        }
        match value.as_ref().map(rows_of) {
            Some(Some(parsed_rows)) => rows.replace(parsed_rows),
            Some(None) => as_json.set(true),
            None => rows.replace(Vec::new()),
        }
    });
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
                    disabled=move || value.with(is_json_only)
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
                            <For each=move || rows.rows.get() key=|(key, _)| *key children=move |(key, row)| row_view(rows, key, row)/>
                        </ul>
                        <div>
                            <button type="button" class="btn small" on:click=move |_| rows.add()>
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

fn row_view(rows: Rows, key: usize, row: RwSignal<SchemaRow>) -> AnyView {
    let change = move |edit: &dyn Fn(&mut SchemaRow)| {
        row.update(edit);
        rows.write();
    };
    let change_kind = move |event: leptos::ev::Event| {
        let chosen = event_target_value(&event);
        let Some((kind, _)) = TYPES.iter().find(|(kind, _)| *kind == chosen) else {
            return;
        };
        row.update(|row| row.kind = kind);
        let own = rows.range(key);
        match row.with_untracked(SchemaRow::is_object) {
            true => rows.write(),
            false => rows.remove(own.start + 1..own.end),
        }
    };
    let types = TYPES.map(|(kind, label)| {
        view! { <option value=kind selected=move || row.with(|row| row.kind == kind)>{label}</option> }
    });
    let name = move || row.with(|row| row.name.clone());
    let add_button = move || {
        view! {
            <button
                type="button"
                class="btn small quiet"
                aria-label=move || format!("Add field to {}", name())
                on:click=move |_| rows.add_after(key, row, 1)
            >
                "Add field"
            </button>
        }
    };
    view! {
        <li class="schema-row" data-row=key style:margin-left=move || format!("{}px", row.with(|row| row.depth) * 20)>
            <input
                class="input mono"
                aria-label="Field name"
                placeholder="name"
                autocomplete="off"
                spellcheck="false"
                prop:value=name
                on:keydown=move |event| {
                    let sends = event.ctrl_key() || event.meta_key();
                    if event.key() == "Enter" && !sends {
                        event.prevent_default();
                        rows.add_after(key, row, 0);
                    }
                }
                on:input=move |event| {
                    let text = event_target_value(&event);
                    change(&|row| row.name = text.clone());
                }
            />
            <select class="input" aria-label="Type" on:change=change_kind>
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
                aria-label=move || format!("Remove field {}", name())
                on:click=move |_| rows.remove(rows.range(key))
            >
                "\u{00d7}"
            </button>
            <Show when=move || row.with(SchemaRow::is_object)>{add_button}</Show>
        </li>
    }
    .into_any()
}

#[component]
fn SchemaJson(draft: Draft, path: StoredValue<String>, value: Memo<Option<Value>>) -> impl IntoView {
    let text = RwSignal::new(String::new());
    // Follow changes that are made to the draft elsewhere.
    Effect::new(move |_| {
        let value = value.get();
        if text.with_untracked(|text| field_value::parse(Kind::Json, text)) != value {
            text.set(field_value::format_value(Kind::Json, value.as_ref()));
        }
    });
    // Invalid JSON becomes a string, which the core refuses as a schema.
    let on_input = move |event: leptos::ev::Event| {
        text.set(event_target_value(&event));
        let value = text.with_untracked(|text| field_value::parse(Kind::Json, text));
        path.with_value(|path| draft.put(path, value));
    };
    let parse_error = move || {
        text.with(|text| {
            field_value::parse_json(text)
                .err()
                .filter(|_| !text.trim().is_empty())
        })
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
        {move || parse_error().map(|parse_error| view! { <p class="field-error">{parse_error}</p> })}
    }
    .into_any()
}
