//! A drop zone for a file, with a button that chooses one.

use leptos::ev::DragEvent;
use leptos::html;
use leptos::prelude::*;
use web_sys::File;

/// Renders the drop zone around a line that says what it takes or has.
#[component]
pub fn FileDrop(
    /// Label of the button.
    label: &'static str,
    #[prop(optional)] id: Option<&'static str>,
    /// Types of files to choose from.
    #[prop(optional)]
    accept: Option<&'static str>,
    /// Ids of what describes the button.
    #[prop(optional)]
    described_by: Option<&'static str>,
    on_file: Callback<File>,
    children: Children,
) -> impl IntoView {
    let input: NodeRef<html::Input> = NodeRef::new();
    let dragging = RwSignal::new(false);
    let on_pick = move |_| {
        let Some(input) = input.get_untracked() else {
            return;
        };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            on_file.run(file);
        }
        // The same file can be chosen again.
        input.set_value("");
    };
    let on_drop = move |event: DragEvent| {
        event.prevent_default();
        dragging.set(false);
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            on_file.run(file);
        }
    };
    view! {
        <div
            class="url-import"
            class:drag=move || dragging.get()
            on:dragover=move |event| {
                event.prevent_default();
                dragging.set(true);
            }
            on:dragleave=move |_| dragging.set(false)
            on:drop=on_drop
        >
            {children()}
            <span class="grow"></span>
            <label class="btn small">
                {label}
                <input class="sr-only" type="file" id=id accept=accept aria-describedby=described_by node_ref=input on:change=on_pick/>
            </label>
        </div>
    }
    .into_any()
}
