//! Modal dialogs on the native `dialog` element: it traps the focus, closes on Esc and restores the focus.

use leptos::html;
use leptos::prelude::*;

use crate::console::Console;
use crate::route::Screen;

/// Renders a modal dialog without content of its own, which is open while a signal is true.
#[component]
pub fn Modal(
    open: RwSignal<bool>,
    /// Label for screen readers.
    label: &'static str,
    class: &'static str,
    children: Children,
) -> impl IntoView {
    let node: NodeRef<html::Dialog> = NodeRef::new();
    Effect::new(move |_| {
        let Some(dialog) = node.get() else { return };
        match open.get() {
            true if !dialog.open() => _ = dialog.show_modal(),
            false if dialog.open() => dialog.close(),
            _ => {}
        }
    });
    // Esc changes the signal at once, not only when the `close` event arrives, which may be after the next key.
    let on_cancel = move |event: web_sys::Event| {
        event.prevent_default();
        open.set(false);
    };
    let on_close = move |_| {
        // The dialog may have been opened again meanwhile.
        if node.get_untracked().is_none_or(|dialog| !dialog.open()) {
            open.set(false);
        }
    };
    view! {
        <dialog class=class node_ref=node aria-label=label on:cancel=on_cancel on:close=on_close>
            {children()}
        </dialog>
    }
    .into_any()
}

/// Renders a modal dialog with a title that is open while a signal is true.
#[component]
pub fn Dialog(open: RwSignal<bool>, title: &'static str, children: Children) -> impl IntoView {
    view! {
        <Modal open label=title class="dialog">
            <div class="dialog-body">
                <h2>{title}</h2>
                {children()}
            </div>
        </Modal>
    }
    .into_any()
}

/// Renders a dialog that asks for confirmation of a destructive action.
#[component]
pub fn Confirm(
    open: RwSignal<bool>,
    title: &'static str,
    text: &'static str,
    /// Name of what is changed or destroyed.
    #[prop(optional, into)]
    subject: Option<Signal<String>>,
    /// Label of the button that confirms.
    confirm_label: &'static str,
    /// Label of the button that cancels.
    cancel_label: &'static str,
    on_confirm: Callback<()>,
) -> impl IntoView {
    view! {
        <Dialog open title>
            {subject.map(|subject| view! { <p class="subject mono">{subject}</p> })}
            <p>{text}</p>
            <div class="dialog-foot">
                <button class="btn" on:click=move |_| open.set(false)>
                    {cancel_label}
                </button>
                <button
                    class="btn danger"
                    on:click=move |_| {
                        open.set(false);
                        on_confirm.run(());
                    }
                >
                    {confirm_label}
                </button>
            </div>
        </Dialog>
    }
    .into_any()
}

/// Renders the dialog that lists the keyboard shortcuts.
#[component]
pub fn Shortcuts() -> impl IntoView {
    let open = Console::get().shortcuts_open;
    let go = Screen::all().map(|screen| {
        view! {
            <dt>
                <kbd>"g"</kbd>
                <kbd>{screen.letter()}</kbd>
            </dt>
            <dd>{format!("Go to {}", screen.name().to_lowercase())}</dd>
        }
    });
    view! {
        <Dialog open title="Keyboard shortcuts">
            <dl class="keys">
                <dt><kbd>"/"</kbd></dt>
                <dd>"Go to the URL field"</dd>
                <dt><kbd>"Ctrl"</kbd><kbd>"Enter"</kbd></dt>
                <dd>"Run the request"</dd>
                <dt><kbd>"Ctrl"</kbd><kbd>"K"</kbd></dt>
                <dd>"Open the command palette"</dd>
                <dt><kbd>"Esc"</kbd></dt>
                <dd>"Stop the request, close the dialog, or leave the field"</dd>
                {go.collect_view()}
                <dt><kbd>"?"</kbd></dt>
                <dd>"Show this list"</dd>
            </dl>
            <div class="dialog-foot">
                <button class="btn" on:click=move |_| open.set(false)>
                    "Close"
                </button>
            </div>
        </Dialog>
    }
    .into_any()
}
