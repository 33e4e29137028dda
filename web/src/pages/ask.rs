//! Ask: questions about the server's documentation.

use harvestman_core::api::health::PartState;
use harvestman_core::api::support::DocsSearchRequest;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::components::docs_answer::DocsAnswerView;
use crate::components::icon::Glyph;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::exchange::{Exchange, RequestState, ResultCard};
use crate::route::Screen;
use crate::{browser, text};

/// Example questions.
const EXAMPLES: [&str; 4] = [
    "How do I limit the number of pages of a crawl?",
    "How are webhooks signed?",
    "Which calls cost credits?",
    "How do I extract data with a schema?",
];

/// Renders the screen. The question is in the URL; opening such a URL does not send it.
#[component]
pub fn AskPage() -> impl IntoView {
    let console = Console::get();
    let initial = use_query_map()
        .get_untracked()
        .get("question")
        .unwrap_or_default();
    let question = RwSignal::new(initial);
    let exchange = Exchange::new();
    let busy = exchange.busy();
    let navigate = use_navigate();
    let ask = Callback::new(move |()| {
        let words = question.with_untracked(|question| question.trim().to_owned());
        if words.is_empty() || busy.get_untracked() {
            browser::focus_soon("#question");
            return;
        }
        let address = format!(
            "{}?question={}",
            Screen::Ask.path(),
            String::from(js_sys::encode_uri_component(&words))
        );
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&address, options);
        exchange.send(None, |client| {
            Some(Box::pin(async move {
                let request = DocsSearchRequest::new(words.clone());
                let answer = client.docs_search(&request).await?;
                console.notify("Answer ready");
                Ok(RequestState::done(move || {
                    view! {
                        <div class="card-head">
                            <h2>{words.clone()}</h2>
                        </div>
                        <DocsAnswerView answer=answer.clone()/>
                    }
                    .into_any()
                }))
            }))
        });
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        ask.run(());
    };
    view! {
        <div class="ask">
            <ScreenHeader title="Ask".to_owned() intro=|| view! { <p>{text::ASK_INTRO}</p> }/>
            <div class="stack">
                {move || no_model_notice(console)}
                <form class="card" on:submit=submit aria-label="Question">
                    <div class="pad gap">
                        <div class="field">
                            <label class="field-name" for="question">
                                "Question"
                                <code>"question"</code>
                            </label>
                            <textarea
                                class="input"
                                id="question"
                                rows="3"
                                data-url=""
                                placeholder="How do I …?"
                                prop:value=move || question.get()
                                on:input=move |event| question.set(event_target_value(&event))
                            ></textarea>
                        </div>
                        <div class="send">
                            <button class="btn primary" type="submit" data-run="" aria-disabled=move || busy.get().to_string()>
                                {move || busy.get().then(|| view! { <span class="spin"></span> })}
                                {move || if busy.get() { "Asking" } else { "Ask" }}
                            </button>
                            <span class="grow"></span>
                            <a class="btn quiet" href="/docs" rel="external" target="_blank">
                                "Read the documentation"
                            </a>
                        </div>
                    </div>
                </form>
                <ResultCard
                    exchange
                    label="Answer"
                    glyph=Glyph::Ask
                    empty=move || view! { <p>{text::ASK_EMPTY}</p> {examples(question, ask)} }
                />
            </div>
        </div>
    }
    .into_any()
}

/// Renders the notice that answers are passages, if the server has no language model.
fn no_model_notice(console: Console) -> Option<AnyView> {
    let llm = console.readiness.with(|known| known.map(|known| known.llm));
    (llm == Some(PartState::NotConfigured))
        .then(|| view! { <div class="notice" role="note">{text::ASK_NO_MODEL}</div> }.into_any())
}

/// Renders the example questions as buttons that ask them.
fn examples(question: RwSignal<String>, ask: Callback<()>) -> AnyView {
    let chips = EXAMPLES.map(|example| {
        let ask_example = move |_| {
            question.set(example.to_owned());
            ask.run(());
        };
        view! {
            <button type="button" class="chip" on:click=ask_example>
                {example}
            </button>
        }
    });
    view! { <div class="chips">{chips}</div> }.into_any()
}
