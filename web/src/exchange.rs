//! One request whose answer is shown on the screen that sent it: under way, stopped, and what became of it. Knows
//! neither the request nor the screen.

use std::pin::Pin;

use harvestman_client::{Client, ClientError};
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::AbortController;

use crate::browser;
use crate::components::failure::failure;
use crate::components::icon::{Icon, Picture};
use crate::components::parts::Part;
use crate::console::Console;
use crate::draft::Draft;

/// What became of a request.
#[derive(Clone)]
pub enum Outcome {
    /// None was sent.
    Nothing,
    /// It is under way; with what is known so far.
    Busy(Option<ViewFn>),
    /// The whole answer.
    Done(ViewFn),
    /// None came.
    Failed(ClientError),
}

impl Outcome {
    /// An answer that looks like this.
    pub fn done(view: impl Fn() -> AnyView + Send + Sync + 'static) -> Self {
        Outcome::Done(view.into())
    }
}

/// An answer on its way.
pub type Answer = Pin<Box<dyn Future<Output = Result<Outcome, ClientError>>>>;

/// The request of a screen; it ends with the screen. Copied into closures.
#[derive(Clone, Copy)]
pub struct Exchange {
    /// What became of it.
    pub outcome: RwSignal<Outcome>,
    /// Hears of failures that concern every screen.
    pub console: Console,
    abort: StoredValue<Option<AbortController>, LocalStorage>,
}

impl Exchange {
    /// Nothing sent yet.
    pub fn new() -> Self {
        let exchange = Self {
            outcome: RwSignal::new(Outcome::Nothing),
            console: Console::get(),
            abort: StoredValue::new_local(None),
        };
        on_cleanup(move || exchange.abort());
        exchange
    }

    /// Whether more is to come.
    pub fn busy(self) -> Signal<bool> {
        Memo::new(move |_| self.outcome.with(|outcome| matches!(outcome, Outcome::Busy(_)))).into()
    }

    /// Whether something was sent and nothing is known of it.
    pub fn is_waiting(self) -> bool {
        self.outcome
            .with_untracked(|outcome| matches!(outcome, Outcome::Busy(None)))
    }

    /// Sends what a form says, if it is acceptable, with a client that can be stopped. Does nothing while an earlier
    /// request has told nothing yet.
    pub fn sending(
        self,
        draft: Draft,
        ask: impl Fn(Client) -> Option<Answer> + Send + Sync + 'static,
    ) -> Callback<()> {
        Callback::new(move |()| {
            if !self.is_waiting() {
                self.send(Some(draft), &ask);
            }
        })
    }

    /// Gives the request up.
    pub fn stopping(self) -> Callback<()> {
        Callback::new(move |()| {
            self.abort();
            self.outcome.set(Outcome::Nothing);
        })
    }

    /// Sends something in place of what was sent before. With a form, the server's words about fields go to it, and the
    /// card is brought into sight when the answer is there.
    pub fn send(self, draft: Option<Draft>, ask: impl FnOnce(Client) -> Option<Answer>) {
        let controller = AbortController::new().ok();
        let client = self.console.client();
        let client = match &controller {
            Some(controller) => client.with_signal(controller.signal()),
            None => client,
        };
        if let Some(answer) = ask(client) {
            self.follow(draft, answer, controller);
        }
    }

    fn follow(self, draft: Option<Draft>, answer: Answer, controller: Option<AbortController>) {
        self.abort();
        self.abort.set_value(controller.clone());
        self.outcome.set(Outcome::Busy(None));
        spawn_local(async move {
            let answer = answer.await;
            if controller.is_some_and(|controller| controller.signal().aborted()) {
                return;
            }
            let outcome = answer.unwrap_or_else(|error| {
                self.console.note(&error);
                draft.inspect(|draft| draft.refuse(&error));
                Outcome::Failed(error)
            });
            self.outcome.try_set(outcome);
            if draft.is_some() {
                browser::reveal_soon("#result");
            }
        });
    }

    fn abort(self) {
        self.abort
            .try_with_value(|abort| abort.as_ref().map(AbortController::abort));
    }
}

/// The card of what became of a request.
#[component]
pub fn OutcomeCard(
    exchange: Exchange,
    label: &'static str,
    picture: Picture,
    /// What is there, below the picture, before anything was sent.
    #[prop(into)]
    nothing: ViewFn,
) -> impl IntoView {
    let busy = exchange.busy();
    Effect::new(move |_| {
        if busy.get() {
            Part::turn_to_result();
        }
    });
    let body = move || match exchange.outcome.get() {
        Outcome::Nothing => view! {
            <div class="empty">
                <Icon picture/>
                {nothing.run()}
            </div>
        }
        .into_any(),
        Outcome::Busy(None) => {
            view! { <div class="wait"><i></i><i></i><i></i><i></i><i></i></div> }.into_any()
        }
        Outcome::Busy(Some(view)) | Outcome::Done(view) => view.run(),
        Outcome::Failed(error) => failure(&error),
    };
    view! {
        <section class="card part-result" id="result" aria-label=label aria-busy=move || busy.get().to_string()>
            {body}
        </section>
    }
    .into_any()
}
