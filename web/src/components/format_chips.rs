//! Format selection as toggle chips, with the options of the selected formats. A format is either a string or an
//! object with `type` and options; both forms are kept as they are.

use harvestman_core::api::format::FormatKind;
use harvestman_core::api::wire_enum::WireEnum;
use leptos::prelude::*;
use serde_json::Value;

use crate::components::field::field_id;
use crate::components::field_group::FieldGrid;
use crate::components::inline_code::inline_code;
use crate::draft::Draft;
use crate::fields::of_format;

/// Returns the formats that the form offers: all except the legacy `query`, which the JSON tab accepts.
fn selectable_formats() -> impl Iterator<Item = FormatKind> {
    FormatKind::ALL
        .iter()
        .copied()
        .filter(|kind| *kind != FormatKind::Query)
}

fn name_of(format: &Value) -> Option<&str> {
    format.as_str().or_else(|| format.get("type")?.as_str())
}

/// Adds a format, or removes it if it is in the list.
pub fn toggle(formats: &mut Vec<Value>, kind: FormatKind) {
    let is_kind = |format: &Value| name_of(format) == Some(kind.as_str());
    match formats.iter().position(is_kind) {
        Some(index) => _ = formats.remove(index),
        None => formats.push(Value::from(kind.as_str())),
    }
}

/// Renders the chips of a form.
#[component]
pub fn FormatChips(draft: Draft) -> impl IntoView {
    let path = format!("{}formats", draft.endpoint.page_prefix());
    let id = field_id(&path);
    let path = StoredValue::new(path);
    let formats = Memo::new(move |_| -> Vec<Value> {
        let value = path.with_value(|path| draft.value_or_default(path));
        value
            .and_then(|value| value.as_array().cloned())
            .unwrap_or_default()
    });
    let change = move |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut list = formats.get_untracked();
        edit(&mut list);
        path.with_value(|path| draft.put(path, Some(Value::Array(list))));
    };
    let problem = move || path.with_value(|path| draft.own_problem(path));
    // With the index, because it is part of the paths of the options.
    let chosen = Memo::new(move |_| {
        let kind = |format: &Value| name_of(format).and_then(FormatKind::parse);
        formats.with(|formats| formats.iter().map(kind).enumerate().collect::<Vec<_>>())
    });
    let kinds = Memo::new(move |_| -> Vec<FormatKind> {
        chosen.with(|all| all.iter().filter_map(|(_, kind)| *kind).collect())
    });
    let with_options = move || {
        let all = chosen.get().into_iter();
        let known = all.filter_map(|(at, kind)| Some((at, kind?)));
        known
            .filter(|(_, kind)| !of_format(*kind).is_empty())
            .collect::<Vec<_>>()
    };
    let options = move |(index, kind): (usize, FormatKind)| {
        let format_path = path.with_value(|path| format!("{path}.{index}"));
        let problem = StoredValue::new(format_path.clone());
        let problem = move || problem.with_value(|format_path| draft.own_problem(format_path));
        view! {
            <div class="chip-options" id=field_id(&format_path) tabindex="-1" role="group" aria-label=kind.as_str()>
                {move || problem().map(|text| view! { <p class="field-error">{kind.as_str()} " " {inline_code(&text)}</p> })}
                <FieldGrid draft fields=of_format(kind) prefix=format!("{format_path}.")/>
            </div>
        }
    };
    view! {
        <div class="field" role="group" id=id.clone() tabindex="-1" aria-labelledby=format!("{id}-name")>
            <span class="field-name" id=format!("{id}-name")>
                "Formats"
                <code>{path.get_value()}</code>
            </span>
            <Chips chosen=kinds on_toggle=Callback::new(move |kind| change(&|list| toggle(list, kind)))/>
            {move || problem().map(|text| view! { <p class="field-error">{inline_code(&text)}</p> })}
            <For each=with_options key=|one| *one children=options/>
        </div>
    }
    .into_any()
}

/// Renders only the chips; also used for the default formats in the settings.
#[component]
pub fn Chips(
    #[prop(into)] chosen: Signal<Vec<FormatKind>>,
    on_toggle: Callback<FormatKind>,
    /// The formats to choose from; by default all that a form offers.
    #[prop(optional)]
    offered: Option<&'static [FormatKind]>,
) -> impl IntoView {
    let offered = offered.map_or_else(|| selectable_formats().collect(), <[FormatKind]>::to_vec);
    let chips = offered.into_iter().map(|kind| {
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
    fn toggle_removes_a_format_given_as_string_or_object() {
        let mut formats = vec![json!("markdown"), json!({"type": "json", "prompt": "the price"})];
        toggle(&mut formats, FormatKind::Json);
        assert_eq!(formats, [json!("markdown")]);
        toggle(&mut formats, FormatKind::Links);
        toggle(&mut formats, FormatKind::Markdown);
        assert_eq!(formats, [json!("links")]);
    }
}
