//! A request whose response is shown on the screen that sent it: sending, aborting, progress, result and error. It is
//! independent of the endpoint and of the screen.

use std::pin::Pin;

use harvestman_client::{Client, ClientError};
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::AbortController;

use crate::browser;
use crate::components::error_notice::error_notice;
use crate::components::icon::{Glyph, Icon};
use crate::components::panes::Pane;
use crate::console::Console;
use crate::draft::Draft;

/// State of a request.
#[derive(Clone)]
pub enum Outcome {
    /// No request was sent.
    Nothing,
    /// In progress, with a view of what is known so far.
    Busy(Option<ViewFn>),
    /// Completed, with a view of the response.
    Done(ViewFn),
    /// Failed.
    Failed(ClientError),
}

impl Outcome {
    /// Returns a completed outcome with a view.
    pub fn done(view: impl Fn() -> AnyView + Send + Sync + 'static) -> Self {
        Outcome::Done(view.into())
    }
}

/// A pending response.
pub type Answer = Pin<Box<dyn Future<Output = Result<Outcome, ClientError>>>>;

/// The request of a screen; aborted when the screen is left. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct Exchange {
    /// State of the request.
    pub outcome: RwSignal<Outcome>,
    /// Receives errors that concern every screen.
    pub console: Console,
    abort: StoredValue<Option<AbortController>, LocalStorage>,
}

impl Exchange {
    /// Creates the state before any request.
    pub fn new() -> Self {
        let exchange = Self {
            outcome: RwSignal::new(Outcome::Nothing),
            console: Console::get(),
            abort: StoredValue::new_local(None),
        };
        on_cleanup(move || exchange.abort());
        exchange
    }

    /// Returns whether a request is in progress.
    pub fn busy(self) -> Signal<bool> {
        Memo::new(move |_| self.outcome.with(|outcome| matches!(outcome, Outcome::Busy(_)))).into()
    }

    /// Returns whether a request is in progress and has no partial result yet.
    pub fn is_waiting(self) -> bool {
        self.outcome
            .with_untracked(|outcome| matches!(outcome, Outcome::Busy(None)))
    }

    /// Returns a callback that sends the request of a form if it is valid. `ask` gets a client that can be aborted.
    /// The callback does nothing while an earlier request has no partial result yet.
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

    /// Returns a callback that aborts the request.
    pub fn stopping(self) -> Callback<()> {
        Callback::new(move |()| {
            self.abort();
            self.outcome.set(Outcome::Nothing);
        })
    }

    /// Sends a request and aborts the previous one. With a form, field errors of the server go to the form, and the
    /// result card is scrolled into view when the response arrives.
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
                self.console.handle_error(&error);
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

/// Renders the result card of a request.
#[component]
pub fn OutcomeCard(
    exchange: Exchange,
    label: &'static str,
    glyph: Glyph,
    /// Empty state below the icon.
    #[prop(into)]
    nothing: ViewFn,
) -> impl IntoView {
    let busy = exchange.busy();
    Effect::new(move |_| {
        if busy.get() {
            Pane::show_result();
        }
    });
    let body = move || match exchange.outcome.get() {
        Outcome::Nothing => view! {
            <div class="empty">
                <Icon glyph/>
                {nothing.run()}
            </div>
        }
        .into_any(),
        Outcome::Busy(None) => {
            view! { <div class="wait"><i></i><i></i><i></i><i></i><i></i></div> }.into_any()
        }
        Outcome::Busy(Some(view)) | Outcome::Done(view) => view.run(),
        Outcome::Failed(error) => error_notice(&error),
    };
    view! {
        <section class="card part-result" id="result" aria-label=label aria-busy=move || busy.get().to_string()>
            {body}
        </section>
    }
    .into_any()
}
