//! The parts of a request's screen: its form, what became of it, its code. They stand beside each other, or, where the
//! window is narrow, one at a time.

use leptos::prelude::*;

use crate::browser;

/// Which part is shown where there is room for one only.
#[derive(Clone, Copy)]
pub struct Part(RwSignal<&'static str>);

impl Part {
    /// Turns to what became of a request; nothing on a screen without parts.
    pub fn turn_to_result() {
        let Some(Part(chosen)) = use_context::<Part>() else {
            return;
        };
        if chosen.get_untracked() != "result" {
            chosen.set("result");
            browser::focus_soon(".part-switch [aria-pressed=true]");
        }
    }
}

/// Shows the parts; their cards have the classes `part-form`, `part-result` and `part-code`.
#[component]
pub fn Parts(
    /// Name of the part that is neither form nor code.
    result: &'static str,
    children: Children,
) -> impl IntoView {
    let chosen = RwSignal::new("form");
    provide_context(Part(chosen));
    let button = move |(id, name): (&'static str, &'static str)| {
        view! {
            <button type="button" aria-pressed=move || (chosen.get() == id).to_string() on:click=move |_| chosen.set(id)>
                {name}
            </button>
        }
    };
    view! {
        <div class="part-switch" role="group" aria-label="Part of the screen">
            {[("form", "Form"), ("result", result), ("code", "Code")].map(button)}
        </div>
        <div class="two parts" data-part=move || chosen.get()>
            {children()}
        </div>
    }
    .into_any()
}
