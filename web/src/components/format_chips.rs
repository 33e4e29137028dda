//! The formats of a page as chips, with the options of those that have some. A format is a word, or an
//! object with `type` and its options; both are kept as they are.

use harvestman_core::api::format::FormatKind;
use harvestman_core::api::wire_enum::WireEnum;
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::components::field::field_id;
use crate::draft::Draft;
use crate::fields::Kind;
use crate::typed;

/// One option of a format.
struct FormatOption {
    key: &'static str,
    label: &'static str,
    control: Control,
}

#[derive(Clone, Copy, PartialEq)]
enum Control {
    Words,
    Flag,
    Json,
}

const fn option(key: &'static str, label: &'static str, control: Control) -> FormatOption {
    FormatOption { key, label, control }
}

fn options(kind: FormatKind) -> &'static [FormatOption] {
    match kind {
        FormatKind::Json => &[
            const { option("prompt", "What to extract", Control::Words) },
            const { option("schema", "JSON Schema", Control::Json) },
        ],
        FormatKind::Question => &[const { option("question", "Question about the page", Control::Words) }],
        FormatKind::Highlights => &[const { option("query", "What the passages are about", Control::Words) }],
        FormatKind::Screenshot => &[const { option("fullPage", "Whole page", Control::Flag) }],
        FormatKind::ChangeTracking => {
            &[const { option("tag", "Name of a separate history", Control::Words) }]
        }
        FormatKind::Attributes => {
            &[const { option("selectors", "List of {selector, attribute}", Control::Json) }]
        }
        FormatKind::Markdown
        | FormatKind::Html
        | FormatKind::RawHtml
        | FormatKind::Links
        | FormatKind::Images
        | FormatKind::Summary
        | FormatKind::Branding
        | FormatKind::Query => &[],
    }
}

/// The formats that the form offers: all but the old `query`, which the JSON tab takes.
fn offered() -> impl Iterator<Item = FormatKind> {
    FormatKind::ALL
        .iter()
        .copied()
        .filter(|kind| *kind != FormatKind::Query)
}

fn name_of(format: &Value) -> Option<&str> {
    format.as_str().or_else(|| format.get("type")?.as_str())
}

fn find(formats: &[Value], kind: FormatKind) -> Option<usize> {
    formats
        .iter()
        .position(|format| name_of(format) == Some(kind.as_str()))
}

/// Adds or removes a format.
pub fn toggle(formats: &mut Vec<Value>, kind: FormatKind) {
    match find(formats, kind) {
        Some(index) => _ = formats.remove(index),
        None => formats.push(Value::from(kind.as_str())),
    }
}

/// Sets or clears an option of a format; without options it is a word again.
fn set_option(formats: &mut [Value], kind: FormatKind, key: &str, value: Option<Value>) {
    let Some(index) = find(formats, kind) else { return };
    let mut object = match formats[index].take() {
        Value::Object(object) => object,
        _ => Map::from_iter([("type".to_owned(), Value::from(kind.as_str()))]),
    };
    match value {
        Some(value) => _ = object.insert(key.to_owned(), value),
        None => _ = object.remove(key),
    }
    formats[index] = match object.len() {
        1 => Value::from(kind.as_str()),
        _ => Value::Object(object),
    };
}

/// Shows the chips of a form.
#[component]
pub fn FormatChips(draft: Draft) -> impl IntoView {
    let path = format!("{}formats", draft.endpoint.page_prefix());
    let id = field_id(&path);
    let path = StoredValue::new(path);
    let formats = Memo::new(move |_| -> Vec<Value> {
        let value = path.with_value(|path| draft.effective(path));
        value
            .and_then(|value| value.as_array().cloned())
            .unwrap_or_default()
    });
    let change = move |how: &dyn Fn(&mut Vec<Value>)| {
        let mut list = formats.get_untracked();
        how(&mut list);
        path.with_value(|path| draft.put(path, Some(Value::Array(list))));
    };
    let problem = move || path.with_value(|path| draft.problem_at(path));
    let chosen = Memo::new(move |_| -> Vec<FormatKind> {
        formats.with(|formats| {
            formats
                .iter()
                .filter_map(name_of)
                .filter_map(FormatKind::parse)
                .collect()
        })
    });
    view! {
        <div class="field" role="group" id=id.clone() tabindex="-1" aria-labelledby=format!("{id}-name")>
            <span class="field-name" id=format!("{id}-name")>
                "Formats"
                <code>{path.get_value()}</code>
            </span>
            <Chips chosen on_toggle=Callback::new(move |kind| change(&|list| toggle(list, kind)))/>
            {move || problem().map(|text| view! { <p class="field-error">{text}</p> })}
            <For
                each=move || chosen.get().into_iter().filter(|kind| !options(*kind).is_empty())
                key=|kind| kind.as_str()
                let:kind
            >
                <div class="chip-options">
                    {options(kind)
                        .iter()
                        .map(|option| {
                            let value = Memo::new(move |_| {
                                formats
                                    .with(|formats| {
                                        find(formats, kind).and_then(|index| formats[index].get(option.key).cloned())
                                    })
                            });
                            let put = move |value: Option<Value>| {
                                change(&|list| set_option(list, kind, option.key, value.clone()));
                            };
                            option_view(kind, option, value, put)
                        })
                        .collect_view()}
                </div>
            </For>
        </div>
    }
    .into_any()
}

fn option_view(
    kind: FormatKind,
    option: &'static FormatOption,
    value: Memo<Option<Value>>,
    put: impl Fn(Option<Value>) + Copy + Send + 'static,
) -> AnyView {
    let id = format!("f-{}-{}", kind.as_str(), option.key);
    let name = view! {
        <label class="field-name" for=id.clone()>
            {option.label}
            <code>{format!("{}.{}", kind.as_str(), option.key)}</code>
        </label>
    };
    if option.control == Control::Flag {
        let is_on = move || value.get() == Some(Value::Bool(true));
        return view! {
            <div class="switch">
                <input
                    type="checkbox"
                    role="switch"
                    id=id
                    prop:checked=is_on
                    on:change=move |event| put(event_target_checked(&event).then_some(Value::Bool(true)))
                />
                {name}
            </div>
        }
        .into_any();
    }
    let read = move |text: &str| match option.control {
        Control::Json => match text.trim() {
            "" => None,
            text => Some(serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))),
        },
        Control::Words | Control::Flag => typed::read(Kind::LongText, text),
    };
    let text = RwSignal::new(String::new());
    Effect::new(move |_| {
        let value = value.get();
        if text.with_untracked(|text| read(text)) != value {
            text.set(match &value {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
            });
        }
    });
    view! {
        <div class="field">
            {name}
            <textarea
                class="input mono"
                id=id
                rows="2"
                spellcheck="false"
                prop:value=move || text.get()
                on:input=move |event| {
                    text.set(event_target_value(&event));
                    put(text.with_untracked(|text| read(text)));
                }
            ></textarea>
        </div>
    }
    .into_any()
}

/// The chips alone, also for the default formats of the settings.
#[component]
pub fn Chips(chosen: Memo<Vec<FormatKind>>, on_toggle: Callback<FormatKind>) -> impl IntoView {
    let chips = offered().map(|kind| {
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || chosen.with(|chosen| chosen.contains(&kind)).to_string()
                on:click=move |_| on_toggle.run(kind)
            >
                {kind.as_str()}
            </button>
        }
    });
    view! { <div class="chips">{chips.collect_view()}</div> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_make_an_object_of_a_word_and_back() {
        let mut formats = vec![json!("markdown")];
        toggle(&mut formats, FormatKind::Json);
        set_option(&mut formats, FormatKind::Json, "prompt", Some(json!("the price")));
        assert_eq!(
            formats,
            [json!("markdown"), json!({"type": "json", "prompt": "the price"})]
        );
        set_option(&mut formats, FormatKind::Json, "prompt", None);
        assert_eq!(formats, [json!("markdown"), json!("json")]);
        toggle(&mut formats, FormatKind::Markdown);
        assert_eq!(formats, [json!("json")]);
    }
}
