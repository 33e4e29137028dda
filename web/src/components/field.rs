//! Form row of one API field: label, API name, control, help with the default, and validation error. The fields
//! themselves are listed in [`crate::fields`].

use leptos::prelude::*;
use serde_json::Value;

use crate::components::action_list::action_list;
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
    let id = field_id(&path);
    let Field {
        label,
        help: about,
        kind,
        ..
    } = field;
    let (label, about) = (StoredValue::new(label), StoredValue::new(about));
    let path = StoredValue::new(path);
    let at = move || path.get_value();
    let problem = Memo::new(move |_| path.with_value(|path| draft.problem_at(path)));
    let is_set = Memo::new(move |_| path.with_value(|path| draft.value(path).is_some()));
    let name = {
        let id = id.clone();
        move || {
            let (label_id, for_id) = (format!("{id}-name"), id.clone());
            let names = view! {
                {label.get_value()}
                <code class:set=move || is_set.get()>{api_name(&at())}</code>
                {move || is_set.get().then(|| view! { <span class="sr-only">"set"</span> })}
            };
            match kind {
                Kind::Set(_) => view! { <span class="field-name" id=label_id>{names}</span> }.into_any(),
                _ => view! { <label class="field-name" for=for_id>{names}</label> }.into_any(),
            }
        }
    };
    let help = {
        let help_id = format!("{id}-help");
        move || {
            view! {
                <p class="hint" id=help_id.clone()>
                    {about.get_value()}
                    " "
                    {field_value::default_text(kind, draft.default_of(&at()).as_ref())}
                </p>
            }
        }
    };
    let error_view = {
        let error_id = format!("{id}-error");
        move || {
            problem
                .get()
                .map(|text| view! { <p class="field-error" id=error_id.clone()>{text}</p> })
        }
    };
    let invalid = move || problem.with(Option::is_some).then_some("true");
    let described_by = format!("{id}-help {id}-error");
    let is_wide = matches!(kind, Kind::Lines | Kind::Pairs | Kind::LongText | Kind::Json);
    match kind {
        Kind::Schema => view! { <SchemaEditor draft path=at()/> }.into_any(),
        Kind::Actions => action_list(draft, at()),
        Kind::Switch => {
            let is_on = move || {
                draft.value_or_default(&at()) == Some(Value::Bool(true))
                    || draft
                        .value_or_default(&at())
                        .is_some_and(|value| value.is_object())
            };
            view! {
                <div class="field">
                    <div class="switch">
                        <input
                            type="checkbox"
                            role="switch"
                            id=id
                            aria-describedby=described_by
                            aria-invalid=invalid
                            prop:checked=is_on
                            on:change=move |event| {
                                let on = event_target_checked(&event);
                                let plain_off = !on && draft.default_of(&at()).is_none();
                                draft.put(&at(), (!plain_off).then_some(Value::Bool(on)));
                            }
                        />
                        {name()}
                        {help()}
                        {error_view}
                    </div>
                </div>
            }
            .into_any()
        }
        Kind::MaybeSwitch => {
            let options = vec![("", "default"), ("true", "yes"), ("false", "no")];
            let chosen = move || {
                draft
                    .value(&at())
                    .map(|value| value.to_string())
                    .unwrap_or_default()
            };
            // The default depends on other fields, so an explicit value is kept even if it equals the usual default.
            let choose = move |text: String| draft.put_exactly(&at(), text.parse().ok().map(Value::Bool));
            view! {
                <div class="field">
                    {name()}
                    {select(id, described_by, options, chosen, choose)}
                    {help()}
                    {error_view}
                </div>
            }
            .into_any()
        }
        Kind::Words(words) => {
            let options = words.iter().map(|word| (*word, *word)).collect();
            let chosen = move || {
                draft
                    .value_or_default(&at())
                    .and_then(|value| value.as_str().map(str::to_owned))
                    .unwrap_or_default()
            };
            let choose = move |text: String| draft.put(&at(), Some(Value::String(text)));
            view! {
                <div class="field">
                    {name()}
                    {select(id, described_by, options, chosen, choose)}
                    {help()}
                    {error_view}
                </div>
            }
            .into_any()
        }
        Kind::Choices(choices) => {
            let chosen = move || {
                let value = draft.value(&at());
                value
                    .and_then(|value| value.as_str().map(str::to_owned))
                    .unwrap_or_default()
            };
            let choose = move |text: String| {
                draft.put(
                    &at(),
                    Some(text).filter(|text| !text.is_empty()).map(Value::String),
                );
            };
            view! {
                <div class="field">
                    {name()}
                    {select(id, described_by, choices.to_vec(), chosen, choose)}
                    {help()}
                    {error_view}
                </div>
            }
            .into_any()
        }
        Kind::Set(words) => {
            let chosen = move || -> Vec<Value> {
                let value = draft.value_or_default(&at());
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
                    let nothing = list.is_empty() && draft.default_of(&at()).is_none();
                    draft.put(&at(), (!nothing).then_some(Value::Array(list)));
                };
                view! {
                    <button type="button" class="chip" aria-pressed=move || has().to_string() on:click=toggle>
                        {word}
                    </button>
                }
            });
            view! {
                <div class="field" role="group" aria-labelledby=format!("{id}-name") id=id tabindex="-1">
                    {name()}
                    <div class="chips">{chips.collect_view()}</div>
                    {help()}
                    {error_view}
                </div>
            }
            .into_any()
        }
        Kind::Text | Kind::LongText | Kind::Number(_) | Kind::Lines | Kind::Pairs | Kind::Json => {
            let text = typed_text(draft, path, kind);
            let on_input = move |event: leptos::ev::Event| {
                text.set(event_target_value(&event));
                let value = text.with_untracked(|text| field_value::parse(kind, text));
                draft.put(&at(), value);
            };
            let placeholder = match kind {
                Kind::Lines | Kind::Pairs | Kind::LongText | Kind::Json => String::new(),
                _ => draft
                    .default_of(&at())
                    .map(|value| field_value::format_value(kind, Some(&value)))
                    .unwrap_or_default(),
            };
            let control = match is_wide {
                true => view! {
                    <textarea class="input mono" id=id rows="2" spellcheck="false" aria-describedby=described_by aria-invalid=invalid prop:value=move || text.get() on:input=on_input></textarea>
                }
                .into_any(),
                false => view! {
                    <input class="input" type="text" inputmode=matches!(kind, Kind::Number(_)).then_some("decimal") autocomplete="off" spellcheck="false" id=id placeholder=placeholder aria-describedby=described_by aria-invalid=invalid prop:value=move || text.get() on:input=on_input/>
                }
                .into_any(),
            };
            view! {
                <div class=if matches!(kind, Kind::LongText | Kind::Json) { "field wide" } else { "field" }>
                    {name()}
                    {control}
                    {help()}
                    {error_view}
                </div>
            }
            .into_any()
        }
    }
}

/// Returns the text of a control. It follows changes that are made to the draft elsewhere, and keeps partial input.
fn typed_text(draft: Draft, path: StoredValue<String>, kind: Kind) -> RwSignal<String> {
    let text = RwSignal::new(String::new());
    Effect::new(move |_| {
        let value = path.with_value(|path| draft.value(path));
        let typed = text.with_untracked(|text| field_value::parse(kind, text));
        let default = path.with_value(|path| draft.default_of(path));
        if typed.filter(|typed| default.as_ref() != Some(typed)) != value {
            text.set(field_value::format_value(kind, value.as_ref()));
        }
    });
    text
}

fn select(
    id: String,
    described_by: String,
    options: Vec<(&'static str, &'static str)>,
    chosen: impl Fn() -> String + Copy + Send + Sync + 'static,
    choose: impl Fn(String) + 'static,
) -> AnyView {
    let options = options.into_iter().map(|(word, name)| {
        view! { <option value=word selected=move || chosen() == word>{name}</option> }
    });
    view! {
        <select class="input" id=id aria-describedby=described_by on:change=move |event| choose(event_target_value(&event))>
            {options.collect_view()}
        </select>
    }
    .into_any()
}

/// Returns whether a list element is `word`, or an object with that `type`.
fn matches_value(value: &Value, word: &str) -> bool {
    value.as_str().or_else(|| value.get("type")?.as_str()) == Some(word)
}

/// Renders an API name that may wrap after a dot.
fn api_name(path: &str) -> AnyView {
    let parts = path
        .split_inclusive('.')
        .map(|part| view! { {part.to_owned()}<wbr/> });
    parts.collect_view().into_any()
}
