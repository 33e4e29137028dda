//! Fields that belong together, closed until asked for, with a count of those that were set and of
//! those that are wrong.

use leptos::prelude::*;

use crate::components::field::FieldView;
use crate::draft::Draft;
use crate::fields::Group;

/// The fields of a group in a row that wraps.
#[component]
pub fn FieldRow(draft: Draft, group: &'static Group) -> impl IntoView {
    let fields = group.fields.iter().map(|field| {
        let path = group.path_of(draft.endpoint, field);
        view! { <FieldView draft field=*field path/> }
    });
    view! { <div class="row">{fields.collect_view()}</div> }.into_any()
}

/// A group that opens.
#[component]
pub fn GroupView(draft: Draft, group: &'static Group) -> impl IntoView {
    let paths: Vec<String> = group
        .fields
        .iter()
        .map(|field| group.path_of(draft.endpoint, field))
        .collect();
    let paths = StoredValue::new(paths);
    let set = Memo::new(move |_| {
        paths.with_value(|paths| paths.iter().filter(|path| draft.value(path).is_some()).count())
    });
    let wrong = Memo::new(move |_| {
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
                {move || (wrong.get() > 0).then(|| view! { <span class="count bad">{wrong.get()} " wrong"</span> })}
                <span class="grow"></span>
                <span class="group-about">{group.about}</span>
            </summary>
            <FieldRow draft group/>
        </details>
    }
    .into_any()
}
