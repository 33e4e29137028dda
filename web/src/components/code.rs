//! Code to read and to copy.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::console::Console;
use crate::draft::Draft;
use crate::highlight;
use crate::snippet;
use crate::text;

/// Copies text and says so.
pub fn copy(console: Console, what: String) {
    spawn_local(async move {
        let copied = browser::copy(&what).await;
        console.say(if copied { text::COPIED } else { text::NOT_COPIED });
    });
}

/// Coloured code from escaped HTML.
#[component]
pub fn Code(
    #[prop(into)] html: Signal<String>,
    label: &'static str,
    #[prop(optional)] wrap: bool,
) -> impl IntoView {
    view! {
        <pre
            class=if wrap { "code wrap" } else { "code" }
            tabindex="0"
            role="region"
            aria-label=label
            inner_html=move || html.get()
        ></pre>
    }
    .into_any()
}

/// The request of a form as a command line.
#[component]
pub fn CodeCard(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let command = Memo::new(move |_| {
        let with_key = console.key.with(Option::is_some);
        snippet::curl(
            &browser::origin(),
            draft.endpoint.path(),
            &draft.written(),
            with_key,
        )
    });
    let html = Signal::derive(move || command.with(|command| highlight::curl(command)));
    view! {
        <section class="card" aria-label="Code">
            <div class="card-head">
                <h2>"curl"</h2>
                <span class="grow"></span>
                <button type="button" class="btn small quiet" on:click=move |_| copy(console, command.get_untracked())>
                    "Copy"
                </button>
            </div>
            <Code html label="curl command"/>
            <p class="card-foot">{text::ONLY_CHANGES}</p>
        </section>
    }
    .into_any()
}
