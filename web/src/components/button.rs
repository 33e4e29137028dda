//! Buttons: icon buttons, toggle buttons, and buttons that show progress.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::icon::{Glyph, Icon};

/// Renders a button that shows only an icon; its label is its tooltip too.
#[component]
pub fn IconButton(#[prop(into)] label: String, glyph: Glyph, on_click: Callback<()>) -> impl IntoView {
    view! {
        <button type="button" class="btn icon quiet" aria-label=label.clone() title=label on:click=move |_| on_click.run(())>
            <Icon glyph/>
        </button>
    }
    .into_any()
}

/// Renders a button like [`IconButton`] that turns something on and off.
#[component]
pub fn IconToggle(
    label: &'static str,
    glyph: Glyph,
    on: RwSignal<bool>,
    #[prop(default = "btn icon quiet")] class: &'static str,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class=class
            aria-label=label
            title=label
            aria-pressed=move || on.get().to_string()
            on:click=move |_| on.update(|on| *on = !*on)
        >
            <Icon glyph/>
        </button>
    }
    .into_any()
}

/// Renders a button that spins while its work is in progress. Without `on_click`, it submits its form, as the shortcut
/// for running the request does.
#[component]
pub fn BusyButton(
    #[prop(into)] busy: Signal<bool>,
    label: &'static str,
    /// Label while busy.
    #[prop(default = label)]
    busy_label: &'static str,
    #[prop(default = "btn primary")] class: &'static str,
    #[prop(optional)] on_click: Option<Callback<()>>,
) -> impl IntoView {
    view! {
        <button
            type=if on_click.is_some() { "button" } else { "submit" }
            class=class
            data-run=on_click.is_none().then_some("")
            aria-disabled=move || busy.get().to_string()
            on:click=move |_| _ = on_click.map(|on_click| on_click.run(()))
        >
            {move || busy.get().then(|| view! { <span class="spin"></span> })}
            {move || if busy.get() { busy_label } else { label }}
        </button>
    }
    .into_any()
}

/// Runs work, and sets `busy` until it ends.
pub fn spawn_busy(busy: RwSignal<bool>, work: impl Future<Output = ()> + 'static) {
    busy.set(true);
    spawn_local(async move {
        work.await;
        // The user may have left the screen.
        busy.try_set(false);
    });
}
