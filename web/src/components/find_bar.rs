//! Find bar: searches the text of an element, shows the number of matches and steps through them. `assets/find.js`
//! finds and highlights the matches.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::{browser, display};

#[wasm_bindgen(module = "/assets/find.js")]
extern "C" {
    fn mark(root: &HtmlElement, query: &str, current: u32) -> u32;
    fn clear();
}

/// Renders the find bar while it is open.
#[component]
pub fn FindBar(
    open: RwSignal<bool>,
    /// Selector of the element to search.
    selector: &'static str,
    /// Notifies whenever the content of that element changes, to search again.
    content: Signal<()>,
) -> impl IntoView {
    let query = RwSignal::new(String::new());
    // Index of the current match, and the number of matches.
    let current = RwSignal::new(0_u32);
    let count = RwSignal::new(0_u32);
    let node: NodeRef<html::Input> = NodeRef::new();
    Effect::new(move |_| {
        content.track();
        let (is_open, query, index) = (open.get(), query.get(), current.get());
        // The new content must be rendered before it is searched.
        request_animation_frame(move || {
            let Some(root) = browser::find(selector).filter(|_| is_open) else {
                return clear();
            };
            let match_count = mark(&root, &query, index);
            if index >= match_count.max(1) {
                current.try_set(0);
            }
            count.try_set(match_count);
        });
    });
    Effect::new(move |_| {
        if let Some(input) = node.get() {
            let _ = input.focus();
        }
    });
    on_cleanup(clear);
    let step_match = move |back: bool| {
        let count = count.get_untracked().max(1);
        current.update(|current| *current = (*current + if back { count - 1 } else { 1 }) % count);
    };
    let on_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "Enter" if !event.ctrl_key() && !event.meta_key() => step_match(event.shift_key()),
            "Escape" => open.set(false),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let status = move || match (query.with(String::is_empty), count.get()) {
        (true, _) => String::new(),
        (false, 0) => "No matches".to_owned(),
        (false, count) => format!(
            "{} of {}",
            display::count(u64::from(current.get()) + 1),
            display::count(count.into())
        ),
    };
    view! {
        <Show when=move || open.get()>
            <div class="filter find" role="search">
                <input
                    class="input"
                    type="text"
                    aria-label="Find in result"
                    placeholder="Find in result"
                    autocomplete="off"
                    spellcheck="false"
                    node_ref=node
                    prop:value=move || query.get()
                    on:input=move |event| {
                        current.set(0);
                        query.set(event_target_value(&event));
                    }
                    on:keydown=on_key
                />
                <span class="hint nowrap" role="status">{status}</span>
                <button type="button" class="btn icon quiet" aria-label="Previous match" title="Previous match (Shift + Enter)" on:click=move |_| step_match(true)>
                    "\u{2191}"
                </button>
                <button type="button" class="btn icon quiet" aria-label="Next match" title="Next match (Enter)" on:click=move |_| step_match(false)>
                    "\u{2193}"
                </button>
                <button type="button" class="btn icon quiet" aria-label="Close find bar" title="Close (Esc)" on:click=move |_| open.set(false)>
                    "\u{00d7}"
                </button>
            </div>
        </Show>
    }
    .into_any()
}
