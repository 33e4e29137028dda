//! Highlighted code blocks, and the card that shows a form's request as code.

use harvestman_core::api::snippet::{Call, SnippetLanguage};
use harvestman_core::api::wire_enum::WireEnum;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::components::button::IconButton;
use crate::components::icon::Glyph;
use crate::components::tabs::{Tab, Tabs, tab};
use crate::console::Console;
use crate::draft::Draft;
use crate::highlight;
use crate::storage;
use crate::text;

const LAST_LANGUAGE: &str = "code-language";

/// Copies text and reports the outcome in a toast.
pub fn copy(console: Console, text_to_copy: String) {
    spawn_local(async move {
        let copied = browser::copy(&text_to_copy).await;
        console.notify(if copied { text::COPIED } else { text::NOT_COPIED });
    });
}

/// Renders highlighted code from escaped HTML (see [`crate::highlight`]).
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

/// Renders the request of a form as code in a language that is remembered.
#[component]
pub fn CodeCard(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let tabs = SnippetLanguage::ALL
        .iter()
        .map(|language| tab(language.as_str(), label_of(*language)));
    let tabs: Vec<Tab> = tabs.collect();
    let stored: Option<String> = storage::read(LAST_LANGUAGE);
    let stored = stored.and_then(|stored| SnippetLanguage::parse(&stored));
    let chosen = RwSignal::new(stored.unwrap_or(SnippetLanguage::Curl).as_str());
    Effect::new(move |before: Option<()>| {
        let now = chosen.get();
        if before.is_some() {
            storage::write(LAST_LANGUAGE, &now);
        }
    });
    let code = Memo::new(move |_| {
        let language = SnippetLanguage::parse(chosen.get()).unwrap_or(SnippetLanguage::Curl);
        draft.last_valid.with(|body| {
            let call = Call {
                method: "POST",
                base: &browser::origin(),
                path: draft.endpoint.path(),
                body: Some(body),
                with_key: console.key.with(Option::is_some),
            };
            call.snippet(language).unwrap_or_default()
        })
    });
    let html = Signal::derive(move || code.with(|code| highlight::code(code)));
    let end = move || {
        view! {
            <IconButton label="Copy code" glyph=Glyph::Copy on_click=Callback::new(move |()| copy(console, code.get_untracked()))/>
        }
    };
    view! {
        <section class="card pane-code" aria-label="Code">
            <Tabs name="code" label="Language" tabs=Signal::stored(tabs) chosen end/>
            <div role="tabpanel" id="code-panel" aria-labelledby=move || format!("code-{}", chosen.get())>
                <Code html label="Request code"/>
            </div>
            <p class="card-foot">
                {move || match draft.validation.with(Result::is_ok) {
                    false if draft.value(draft.endpoint.subject()).is_none() => text::SNIPPET_EXAMPLE,
                    false => text::SNIPPET_LAST_VALID,
                    true if chosen.get() == SnippetLanguage::Mcp.as_str() => text::SNIPPET_MCP,
                    true => text::SNIPPET_DEFAULTS,
                }}
            </p>
        </section>
    }
    .into_any()
}

fn label_of(language: SnippetLanguage) -> &'static str {
    match language {
        SnippetLanguage::Curl => "curl",
        SnippetLanguage::Node => "Node",
        SnippetLanguage::Python => "Python",
        SnippetLanguage::Rust => "Rust",
        SnippetLanguage::Cli => "CLI",
        SnippetLanguage::Mcp => "MCP",
    }
}
