//! Form row of one API field: label, API name, control, help with the default, and validation error. The fields
//! themselves are listed in [`crate::fields`].

use leptos::prelude::*;
use serde_json::Value;

use crate::components::action_list::action_list;
use crate::components::inline_code::inline_code;
use crate::components::schema_editor::SchemaEditor;
use crate::draft::Draft;
use crate::field_value;
use crate::fields::{Field, Kind};

/// Returns the element id of the control for a path.
pub fn field_id(path: &str) -> String {
    format!("f-{}", path.replace('.', "-"))
}

/// Renders a field.
#[component]
pub fn FieldView(draft: Draft, field: Field, path: String) -> impl IntoView {
    let kind = field.kind;
    let row = Row::new(draft, field, path);
    match kind {
        Kind::Schema => view! { <SchemaEditor draft path=row.path()/> }.into_any(),
        Kind::Actions => action_list(draft, row.path()),
        Kind::Switch => switch(row),
        Kind::MaybeSwitch => maybe_switch(row),
        Kind::Words(words) => words_select(row, words),
        Kind::Choices(choices) => choices_select(row, choices),
        Kind::Set(words) => chips(row, words),
        Kind::Text | Kind::LongText | Kind::Number(_) | Kind::Lines | Kind::Pairs | Kind::Json => {
            text_input(row)
        }
    }
}

/// The field of a row and what all controls share.
#[derive(Clone, Copy)]
struct Row {
    draft: Draft,
    kind: Kind,
    path: StoredValue<String>,
    label: StoredValue<String>,
    help: StoredValue<String>,
    problem: Memo<Option<String>>,
    is_set: Memo<bool>,
    /// Default of the draft, or of the core if the draft has none.
    shown_default: StoredValue<Option<Value>>,
}

impl Row {
    fn new(draft: Draft, field: Field, path: String) -> Self {
        let path = StoredValue::new(path);
        let shown_default = path.with_value(|path| draft.default_of(path)).or(field.default);
        let default = field_value::default_text(field.kind, shown_default.as_ref(), &field.help);
        Self {
            draft,
            kind: field.kind,
            path,
            label: StoredValue::new(field.label),
            help: StoredValue::new(format!("{} {default}", field.help).trim_end().to_owned()),
            problem: Memo::new(move |_| path.with_value(|path| draft.problem_at(path))),
            is_set: Memo::new(move |_| path.with_value(|path| draft.value(path).is_some())),
            shown_default: StoredValue::new(shown_default),
        }
    }

    fn path(self) -> String {
        self.path.get_value()
    }

    fn id(self) -> String {
        self.path.with_value(|path| field_id(path))
    }

    fn value(self) -> Option<Value> {
        self.path.with_value(|path| self.draft.value(path))
    }

    fn default(self) -> Option<Value> {
        self.path.with_value(|path| self.draft.default_of(path))
    }

    fn value_or_default(self) -> Option<Value> {
        self.path.with_value(|path| self.draft.value_or_default(path))
    }

    fn put(self, value: Option<Value>) {
        self.path.with_value(|path| self.draft.put(path, value));
    }

    fn described_by(self) -> String {
        let id = self.id();
        format!("{id}-help {id}-error")
    }

    /// Returns the value of `aria-invalid`.
    fn invalid(self) -> Option<&'static str> {
        self.problem.with(Option::is_some).then_some("true")
    }

    /// Renders label and API name.
    fn name(self) -> AnyView {
        let names = view! {
            {self.label.get_value()}
            <code class:set=move || self.is_set.get()>{api_name(&self.path())}</code>
            {move || self.is_set.get().then(|| view! { <span class="sr-only">"set"</span> })}
        };
        match self.kind {
            Kind::Set(_) => {
                view! { <span class="field-name" id=format!("{}-name", self.id())>{names}</span> }.into_any()
            }
            _ => view! { <label class="field-name" for=self.id()>{names}</label> }.into_any(),
        }
    }

    /// Renders help and error.
    fn notes(self) -> AnyView {
        let (help_id, error_id) = (format!("{}-help", self.id()), format!("{}-error", self.id()));
        let error = move || {
            let text = self.problem.get()?;
            Some(view! { <p class="field-error" id=error_id.clone()>{inline_code(&text)}</p> })
        };
        view! {
            <p class="hint" id=help_id>
                {self.help.with_value(|help| inline_code(help))}
            </p>
            {error}
        }
        .into_any()
    }

    /// Renders the row around a control.
    fn around(self, control: AnyView) -> AnyView {
        let is_wide = matches!(self.kind, Kind::LongText | Kind::Json);
        view! {
            <div class=if is_wide { "field wide" } else { "field" }>
                {self.name()}
                {control}
                {self.notes()}
            </div>
        }
        .into_any()
    }
}

fn switch(row: Row) -> AnyView {
    let is_on = move || {
        row.value_or_default()
            .is_some_and(|value| value == Value::Bool(true) || value.is_object())
    };
    let change = move |event| {
        let on = event_target_checked(&event);
        let plain_off = !on && row.default().is_none();
        row.put((!plain_off).then_some(Value::Bool(on)));
    };
    view! {
        <div class="field">
            <div class="switch">
                <input
                    type="checkbox"
                    role="switch"
                    id=row.id()
                    aria-describedby=row.described_by()
                    aria-invalid=move || row.invalid()
                    prop:checked=is_on
                    on:change=change
                />
                {row.name()}
                {row.notes()}
            </div>
        </div>
    }
    .into_any()
}

fn maybe_switch(row: Row) -> AnyView {
    let options = vec![("", "default"), ("true", "yes"), ("false", "no")];
    let chosen = move || row.value().map(|value| value.to_string()).unwrap_or_default();
    // The default depends on other fields, so an explicit value is kept even if it equals the usual default.
    let choose = move |text: String| {
        let value = text.parse().ok().map(Value::Bool);
        row.path.with_value(|path| row.draft.put_exactly(path, value));
    };
    row.around(select(row, options, chosen, choose))
}

fn words_select(row: Row, words: &'static [&'static str]) -> AnyView {
    let default = text_of(row.shown_default.get_value());
    let own = default.is_empty().then_some(("", "default"));
    let words = words.iter().map(|word| (*word, *word));
    let options = own.into_iter().chain(words).collect();
    let chosen = move || text_of(row.value().or(row.shown_default.get_value()));
    let choose = move |text: String| row.put((text != default).then_some(Value::String(text)));
    row.around(select(row, options, chosen, choose))
}

fn choices_select(row: Row, choices: &'static [(&'static str, &'static str)]) -> AnyView {
    let chosen = move || text_of(row.value());
    let choose = move |text: String| row.put((!text.is_empty()).then_some(Value::String(text)));
    row.around(select(row, choices.to_vec(), chosen, choose))
}

/// Returns the text of a string, and no text for any other value.
fn text_of(value: Option<Value>) -> String {
    value
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn select(
    row: Row,
    options: Vec<(&'static str, &'static str)>,
    chosen: impl Fn() -> String + Copy + Send + Sync + 'static,
    choose: impl Fn(String) + 'static,
) -> AnyView {
    let options = options.into_iter().map(|(word, name)| {
        view! { <option value=word selected=move || chosen() == word>{name}</option> }
    });
    view! {
        <select
            class="input"
            id=row.id()
            aria-describedby=row.described_by()
            on:change=move |event| choose(event_target_value(&event))
        >
            {options.collect_view()}
        </select>
    }
    .into_any()
}

fn chips(row: Row, words: &'static [&'static str]) -> AnyView {
    let chosen = move || -> Vec<Value> {
        let value = row.value_or_default();
        value
            .and_then(|value| value.as_array().cloned())
            .unwrap_or_default()
    };
    let chips = words.iter().map(|word| {
        let word = *word;
        let has = move || chosen().iter().any(|value| matches_value(value, word));
        let toggle = move |_| {
            let mut list = chosen();
            match list.iter().position(|value| matches_value(value, word)) {
                Some(index) => _ = list.remove(index),
                None => list.push(Value::from(word)),
            }
            let nothing = list.is_empty() && row.default().is_none();
            row.put((!nothing).then_some(Value::Array(list)));
        };
        view! {
            <button type="button" class="chip" aria-pressed=move || has().to_string() on:click=toggle>
                {word}
            </button>
        }
    });
    let id = row.id();
    view! {
        <div class="field" role="group" aria-labelledby=format!("{id}-name") id=id tabindex="-1">
            {row.name()}
            <div class="chips">{chips.collect_view()}</div>
            {row.notes()}
        </div>
    }
    .into_any()
}

/// Returns whether a list element is `word`, or an object with that `type`.
fn matches_value(value: &Value, word: &str) -> bool {
    value.as_str().or_else(|| value.get("type")?.as_str()) == Some(word)
}

fn text_input(row: Row) -> AnyView {
    let kind = row.kind;
    let text = typed_text(row);
    let on_input = move |event: leptos::ev::Event| {
        text.set(event_target_value(&event));
        row.put(text.with_untracked(|text| field_value::parse(kind, text)));
    };
    let is_multiline = matches!(kind, Kind::Lines | Kind::Pairs | Kind::LongText | Kind::Json);
    let control = match is_multiline {
        true => view! {
            <textarea
                class="input mono"
                id=row.id()
                rows="2"
                spellcheck="false"
                aria-describedby=row.described_by()
                aria-invalid=move || row.invalid()
                prop:value=move || text.get()
                on:input=on_input
            ></textarea>
        }
        .into_any(),
        false => view! {
            <input
                class="input"
                type="text"
                inputmode=matches!(kind, Kind::Number(_)).then_some("decimal")
                autocomplete="off"
                spellcheck="false"
                id=row.id()
                placeholder=field_value::format_value(kind, row.default().as_ref())
                aria-describedby=row.described_by()
                aria-invalid=move || row.invalid()
                prop:value=move || text.get()
                on:input=on_input
            />
        }
        .into_any(),
    };
    row.around(control)
}

/// Returns the text of a control. It follows changes that are made to the draft elsewhere, and keeps partial input.
fn typed_text(row: Row) -> RwSignal<String> {
    let text = RwSignal::new(String::new());
    Effect::new(move |_| {
        let value = row.value();
        let typed = text.with_untracked(|text| field_value::parse(row.kind, text));
        if typed.filter(|typed| row.default().as_ref() != Some(typed)) != value {
            text.set(field_value::format_value(row.kind, value.as_ref()));
        }
    });
    text
}

/// Renders an API name that may wrap after a dot.
fn api_name(path: &str) -> AnyView {
    let parts = path
        .split_inclusive('.')
        .map(|part| view! { {part.to_owned()}<wbr/> });
    parts.collect_view().into_any()
}
