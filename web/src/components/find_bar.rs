//! Find bar: searches the text of an element, shows the number of matches and steps through them. `assets/find.js`
//! finds and highlights the matches.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::{browser, display};

#[wasm_bindgen(module = "/assets/find.js")]
extern "C" {
    fn mark(root: &HtmlElement, words: &str, at: u32) -> u32;
    fn clear();
}

/// Renders the find bar while it is open.
#[component]
pub fn Find(
    open: RwSignal<bool>,
    /// Selector of the element to search.
    within: &'static str,
    /// Notifies whenever the content of that element changes, to search again.
    of: Signal<()>,
) -> impl IntoView {
    let words = RwSignal::new(String::new());
    // Index of the current match, and the number of matches.
    let at = RwSignal::new(0_u32);
    let count = RwSignal::new(0_u32);
    let node: NodeRef<html::Input> = NodeRef::new();
    Effect::new(move |_| {
        of.track();
        let (is_open, words, wanted) = (open.get(), words.get(), at.get());
        // The new content must be rendered before it is searched.
        request_animation_frame(move || {
            let Some(root) = browser::find(within).filter(|_| is_open) else {
                return clear();
            };
            let found = mark(&root, &words, wanted);
            if wanted >= found.max(1) {
                at.try_set(0);
            }
            count.try_set(found);
        });
    });
    Effect::new(move |_| {
        if let Some(input) = node.get() {
            let _ = input.focus();
        }
    });
    on_cleanup(clear);
    let step = move |back: bool| {
        let count = count.get_untracked().max(1);
        at.update(|at| *at = (*at + if back { count - 1 } else { 1 }) % count);
    };
    let on_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "Enter" if !event.ctrl_key() && !event.meta_key() => step(event.shift_key()),
            "Escape" => open.set(false),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let told = move || match (words.with(String::is_empty), count.get()) {
        (true, _) => String::new(),
        (false, 0) => "No matches".to_owned(),
        (false, count) => format!(
            "{} of {}",
            display::count(u64::from(at.get()) + 1),
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
                    prop:value=move || words.get()
                    on:input=move |event| {
                        at.set(0);
                        words.set(event_target_value(&event));
                    }
                    on:keydown=on_key
                />
                <span class="hint nowrap" role="status">{told}</span>
                <button type="button" class="btn icon quiet" aria-label="Previous match" title="Previous match (Shift + Enter)" on:click=move |_| step(true)>
                    "\u{2191}"
                </button>
                <button type="button" class="btn icon quiet" aria-label="Next match" title="Next match (Enter)" on:click=move |_| step(false)>
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
