//! Collapsible groups of form fields, each with the number of fields that are set and that are invalid.

use leptos::prelude::*;

use crate::browser;
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

/// Renders a collapsible group. Its fields follow after the next frame, each group in a task of its own: most of the
/// elements of a form are in closed groups.
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
    let is_rendered = RwSignal::new(false);
    let render = move || {
        if is_rendered.try_get_untracked() == Some(false) {
            is_rendered.set(true);
        }
    };
    browser::after_next_frame(render);
    view! {
        <details class="group" on:toggle=move |_| render()>
            <summary>
                {group.name}
                {move || (set.get() > 0).then(|| view! { <span class="count">{set.get()} " set"</span> })}
                {move || (invalid.get() > 0).then(|| view! { <span class="count bad">{invalid.get()} " invalid"</span> })}
                <span class="grow"></span>
                <span class="group-about">{group.about}</span>
            </summary>
            {move || is_rendered.get().then(|| view! { <FieldRows draft group/> })}
        </details>
    }
    .into_any()
}
