//! Collapsible groups of form fields, each with the number of fields that are set and that are invalid.

use leptos::prelude::*;

use crate::components::field::FieldView;
use crate::draft::Draft;
use crate::fields::{Field, Group, Kind};

/// Renders the fields of a group.
#[component]
pub fn FieldRows(draft: Draft, group: &'static Group) -> impl IntoView {
    view! { <FieldGrid draft fields=group.fields(draft.endpoint) prefix=group.prefix(draft.endpoint)/> }
        .into_any()
}

/// Renders fields in rows that wrap: inputs first, then switches. `prefix` starts the path of every field.
#[component]
pub fn FieldGrid(draft: Draft, fields: Vec<Field>, #[prop(into)] prefix: String) -> impl IntoView {
    let row = |switches: bool| {
        let in_row = move |field: &&Field| matches!(field.kind, Kind::Switch) == switches;
        let fields = fields.iter().filter(in_row).map(|field| {
            let path = format!("{prefix}{}", field.path);
            view! { <FieldView draft field=field.clone() path/> }
        });
        let fields = fields.collect_view();
        (!fields.is_empty()).then(|| view! { <div class="row">{fields}</div> })
    };
    view! { <div class="field-rows">{row(false)} {row(true)}</div> }.into_any()
}

/// Renders a collapsible group.
#[component]
pub fn GroupView(draft: Draft, group: &'static Group) -> impl IntoView {
    let prefix = group.prefix(draft.endpoint);
    let fields = group.fields(draft.endpoint);
    let paths: Vec<String> = fields
        .iter()
        .map(|field| format!("{prefix}{}", field.path))
        .collect();
    let paths = StoredValue::new(paths);
    let set = Memo::new(move |_| {
        paths.with_value(|paths| paths.iter().filter(|path| draft.value(path).is_some()).count())
    });
    let invalid = Memo::new(move |_| {
        paths.with_value(|paths| {
            paths
                .iter()
                .filter(|path| draft.problem_at(path).is_some())
                .count()
        })
    });
    view! {
        <details class="group">
            <summary>
                {group.name}
                {move || (set.get() > 0).then(|| view! { <span class="count">{set.get()} " set"</span> })}
                {move || (invalid.get() > 0).then(|| view! { <span class="count bad">{invalid.get()} " invalid"</span> })}
                <span class="grow"></span>
                <span class="group-about">{group.about}</span>
            </summary>
            <FieldRows draft group/>
        </details>
    }
    .into_any()
}
