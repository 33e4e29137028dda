//! Ask: questions about the server's documentation.

use harvestman_core::api::health::PartState;
use harvestman_core::api::support::{DocsResponse, DocsSearchRequest};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::components::button::BusyButton;
use crate::components::docs_answer::DocsAnswerView;
use crate::components::icon::Glyph;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::exchange::{Exchange, RequestState, ResultCard};
use crate::kept_result::KeptResult;
use crate::route::Screen;
use crate::{browser, text};

/// Example questions.
const EXAMPLES: [&str; 4] = [
    "How do I limit the number of pages of a crawl?",
    "How are webhooks signed?",
    "Which calls cost credits?",
    "How do I extract data with a schema?",
];

/// A question with its answer.
#[derive(Clone, Serialize, Deserialize)]
struct AnsweredQuestion {
    question: String,
    answer: DocsResponse,
}

/// Renders the screen. A question in the URL fills the form and is not sent; an id shows an earlier answer.
#[component]
pub fn AskPage() -> impl IntoView {
    let console = Console::get();
    let initial = Screen::Ask
        .query()
        .with_untracked(|query| query.get("question").unwrap_or_default());
    let question = RwSignal::new(initial);
    let exchange = Exchange::new();
    let busy = exchange.busy();
    let kept = KeptResult::new(Screen::Ask, exchange, move |answered: AnsweredQuestion| {
        question.set(answered.question.clone());
        result_state(answered, true)
    });
    let ask = Callback::new(move |()| {
        let words = question.with_untracked(|question| question.trim().to_owned());
        if words.is_empty() || busy.get_untracked() {
            browser::focus_soon("#question");
            return;
        }
        exchange.send(None, |client| {
            Some(Box::pin(async move {
                let request = DocsSearchRequest::new(words.clone());
                let answered = AnsweredQuestion {
                    answer: client.docs_search(&request).await?,
                    question: words,
                };
                console.notify("Answer ready");
                let is_kept = kept.keep(Some(&answered.answer.request_id), &answered).await;
                Ok(result_state(answered, is_kept))
            }))
        });
    });
    let submit = browser::on_submit(move || ask.run(()));
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
                                bind:value=question
                            ></textarea>
                        </div>
                        <div class="send">
                            <BusyButton busy label="Ask" busy_label="Asking"/>
                            <span class="grow"></span>
                            <a class="btn quiet" href="/docs" rel="external" target="_blank">
                                "Read the documentation"
                            </a>
                        </div>
                    </div>
                </form>
                <ResultCard exchange label="Answer" glyph=Glyph::Ask empty=text::ASK_EMPTY>
                    {examples(question, ask)}
                </ResultCard>
            </div>
        </div>
    }
    .into_any()
}

fn result_state(answered: AnsweredQuestion, is_kept: bool) -> RequestState {
    RequestState::done(move || {
        view! {
            <div class="card-head">
                <h2>{answered.question.clone()}</h2>
                <span class="grow"></span>
                <span class="hint">{is_kept.then_some(text::RESULT_KEPT)}</span>
            </div>
            <DocsAnswerView answer=answered.answer.clone()/>
        }
        .into_any()
    })
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
