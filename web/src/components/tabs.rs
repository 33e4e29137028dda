//! Tabs that follow the ARIA tabs pattern: one tab stop, arrow keys move, the selected tab labels its panel.

use leptos::html;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::browser::{self, SizeObserver};
use crate::components::menu::Menu;

/// Width of the menu of all tabs, CSS px.
const MENU_PX: i32 = 40;

/// One tab.
#[derive(Clone, PartialEq, Debug)]
pub struct Tab {
    /// Identifier in code.
    pub id: &'static str,
    /// Label on screen.
    pub label: &'static str,
    /// Number after the label.
    pub count: Option<String>,
}

/// Returns a tab without a number.
pub fn tab(id: &'static str, label: &'static str) -> Tab {
    Tab {
        id,
        label,
        count: None,
    }
}

/// Renders a row of tabs. The caller renders the panel with `role="tabpanel"` and the id `{name}-panel`.
#[component]
pub fn Tabs(
    /// Prefix of the element ids.
    name: &'static str,
    /// Label for screen readers.
    label: &'static str,
    /// The tabs that have content.
    #[prop(into)]
    tabs: Signal<Vec<Tab>>,
    /// Id of the selected tab.
    chosen: RwSignal<&'static str>,
    /// Content at the end of the row.
    #[prop(optional, into)]
    end: ViewFn,
) -> impl IntoView {
    let on_key = move |event: KeyboardEvent| {
        let Some(next) = tabs.with_untracked(|tabs| tab_for_key(&event.key(), tabs, chosen.get_untracked()))
        else {
            return;
        };
        event.prevent_default();
        chosen.set(next);
        if let Some(tab) = browser::find(&format!("#{name}-{next}")) {
            let _ = tab.focus();
        }
    };
    let list: NodeRef<html::Div> = NodeRef::new();
    let overflows = overflow(list, tabs, chosen);
    // Read inside of the buttons, so that a new number keeps them.
    let count_of = move |id: &'static str| {
        let count = tabs.with(|tabs| tabs.iter().find(|tab| tab.id == id)?.count.clone());
        count.map(|count| view! { <span class="n">{count}</span> })
    };
    // Keep the selected tab in view when the row does not fit.
    Effect::new(move |_| {
        tabs.track();
        let selector = format!("#{name}-{}", chosen.get());
        request_animation_frame(move || browser::scroll_into_parent(&selector));
    });
    view! {
        <div class="tabs">
            <div class="tab-list" role="tablist" aria-label=label node_ref=list on:keydown=on_key>
                <For each=move || tabs.get() key=|tab| tab.id let:tab>
                    <button
                        type="button"
                        class="tab"
                        role="tab"
                        id=format!("{name}-{}", tab.id)
                        aria-controls=format!("{name}-panel")
                        aria-selected=move || (chosen.get() == tab.id).to_string()
                        tabindex=move || if chosen.get() == tab.id { "0" } else { "-1" }
                        on:click=move |_| chosen.set(tab.id)
                    >
                        {tab.label}
                        {move || count_of(tab.id)}
                    </button>
                </For>
            </div>
            <div class="tab-end">
                <Show when=move || overflows.get()>
                    <Menu label="All tabs" compact=true>
                        <For each=move || tabs.get() key=|tab| tab.id let:tab>
                            <button type="button" class="menu-item" on:click=move |_| chosen.set(tab.id)>
                                {tab.label}
                                {move || count_of(tab.id)}
                            </button>
                        </For>
                    </Menu>
                </Show>
                {end.run()}
            </div>
        </div>
    }
    .into_any()
}

/// Returns the tab that a key moves to; `None` for keys that do not move.
fn tab_for_key(key: &str, tabs: &[Tab], chosen: &str) -> Option<&'static str> {
    let at = tabs.iter().position(|tab| tab.id == chosen)?;
    let next = match key {
        "ArrowRight" => (at + 1) % tabs.len(),
        "ArrowLeft" => (at + tabs.len() - 1) % tabs.len(),
        "Home" => 0,
        "End" => tabs.len() - 1,
        _ => return None,
    };
    Some(tabs[next].id)
}

/// Returns whether the tabs are wider than the row. Measured again when the tabs or the size of the row change.
fn overflow(
    list: NodeRef<html::Div>,
    tabs: Signal<Vec<Tab>>,
    chosen: RwSignal<&'static str>,
) -> RwSignal<bool> {
    let overflows = RwSignal::new(false);
    let measure = move || {
        request_animation_frame(move || {
            if let Some(Some(list)) = list.try_get_untracked() {
                // Without the menu, the row would have its space too.
                let menu = if overflows.get_untracked() { MENU_PX } else { 0 };
                overflows.try_set(list.scroll_width() > list.client_width() + menu + 1);
            }
        });
    };
    Effect::new(move |_| {
        tabs.track();
        // The content at the end may depend on the selected tab.
        chosen.track();
        measure();
    });
    // The size of the row changes with the window, and when a pane opens next to it.
    Effect::new(move |_| {
        if let Some(list) = list.get() {
            StoredValue::new_local(SizeObserver::new(&list, measure));
        }
    });
    overflows
}
