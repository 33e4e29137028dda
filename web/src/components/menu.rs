//! A button that opens a small list of choices below it. It closes on Esc and when the focus leaves it.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, FocusEvent, KeyboardEvent, MouseEvent, Node};

/// Renders the button and its list.
#[component]
pub fn Menu(
    /// Label of the button and of the list.
    label: &'static str,
    /// Whether the button shows three dots instead of its label.
    #[prop(optional)]
    compact: bool,
    children: Children,
) -> impl IntoView {
    let node: NodeRef<html::Details> = NodeRef::new();
    let close = move || {
        if let Some(menu) = node.get_untracked() {
            let _ = menu.remove_attribute("open");
        }
    };
    let on_focus_out = move |event: FocusEvent| {
        let target = event
            .related_target()
            .and_then(|target| target.dyn_into::<Node>().ok());
        let stays = node
            .get_untracked()
            .is_some_and(|menu| menu.contains(target.as_ref()));
        if !stays {
            close();
        }
    };
    let on_key = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            event.stop_propagation();
            close();
        }
    };
    // A button is a choice; check boxes can be changed one after the other.
    let on_click = move |event: MouseEvent| {
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        if target.is_some_and(|element| element.closest("button").ok().flatten().is_some()) {
            close();
        }
    };
    view! {
        <details class="menu" node_ref=node on:focusout=on_focus_out on:keydown=on_key>
            <summary class=if compact { "btn small compact" } else { "btn small" } aria-label=label title=compact.then_some(label)>
                {if compact { "\u{22ef}" } else { label }}
            </summary>
            // Focusable, so that a click on the text of a choice does not move the focus out of the menu.
            <div class="menu-list" role="group" aria-label=label tabindex="-1" on:click=on_click>
                {children()}
            </div>
        </details>
    }
    .into_any()
}
