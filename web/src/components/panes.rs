//! The three panes of a request screen: form, result and code. They are side by side, or in a narrow window one at a
//! time. [`Expand`] gives one of two columns the whole width.

use leptos::prelude::*;

use crate::browser;
use crate::components::button::IconToggle;
use crate::components::icon::Glyph;

/// The pane that a narrow window shows.
#[derive(Clone, Copy)]
pub struct Pane(RwSignal<&'static str>);

impl Pane {
    /// Switches to the result pane; does nothing on a screen without panes.
    pub fn show_result() {
        let Some(Pane(chosen)) = use_context::<Pane>() else {
            return;
        };
        if chosen.get_untracked() != "result" {
            chosen.set("result");
            browser::focus_soon(".pane-switch [aria-pressed=true]");
        }
    }
}

/// Renders the panes. Their cards have the classes `pane-form`, `pane-result` and `pane-code`.
#[component]
pub fn Panes(
    /// Label of the result pane, if there is one.
    #[prop(optional)]
    result: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    let chosen = RwSignal::new("form");
    provide_context(Pane(chosen));
    let button = move |(id, name): (&'static str, &'static str)| {
        view! {
            <button type="button" aria-pressed=move || (chosen.get() == id).to_string() on:click=move |_| chosen.set(id)>
                {name}
            </button>
        }
    };
    view! {
        <div class="pane-switch" role="group" aria-label="Pane">
            {button(("form", "Form"))}
            {result.map(|result| button(("result", result)))}
            {button(("code", "Code"))}
        </div>
        <div class="two panes" data-pane=move || chosen.get()>
            {children()}
        </div>
    }
    .into_any()
}

/// Renders the button that gives its column the full width, and hides the other one. The style sheet does both, and
/// hides the button where there is one column.
#[component]
pub fn Expand() -> impl IntoView {
    view! { <IconToggle label="Full width" glyph=Glyph::Expand on=RwSignal::new(false) class="btn icon quiet expand"/> }
}
