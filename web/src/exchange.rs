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
use crate::components::notice::skeleton;
use crate::components::panes::Pane;
use crate::console::Console;
use crate::draft::Draft;
use crate::limits::{EXTRACT_POLL_MS, RETRY_LONGEST_MS};

/// State of a request.
#[derive(Clone)]
pub enum RequestState {
    /// No request was sent.
    Idle,
    /// In progress, with a view of what is known so far.
    Pending(Option<ViewFn>),
    /// Completed, with a view of the response.
    Done(ViewFn),
    /// Failed.
    Failed(ClientError),
}

impl RequestState {
    /// Returns the completed state with a view.
    pub fn done(view: impl Fn() -> AnyView + Send + Sync + 'static) -> Self {
        RequestState::Done(view.into())
    }
}

/// A pending response.
pub type PendingResponse = Pin<Box<dyn Future<Output = Result<RequestState, ClientError>>>>;

/// The request of a screen; aborted when the screen is left. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct Exchange {
    /// State of the request.
    pub state: RwSignal<RequestState>,
    /// Receives errors that concern every screen.
    pub console: Console,
    abort: StoredValue<Option<AbortController>, LocalStorage>,
}

impl Exchange {
    /// Creates the state before any request.
    pub fn new() -> Self {
        let exchange = Self {
            state: RwSignal::new(RequestState::Idle),
            console: Console::get(),
            abort: StoredValue::new_local(None),
        };
        on_cleanup(move || exchange.abort());
        exchange
    }

    /// Returns whether a request is in progress.
    pub fn busy(self) -> Signal<bool> {
        Memo::new(move |_| self.state.with(|state| matches!(state, RequestState::Pending(_)))).into()
    }

    /// Returns whether a request is in progress and has no partial result yet.
    pub fn is_pending_without_result(self) -> bool {
        self.state
            .with_untracked(|state| matches!(state, RequestState::Pending(None)))
    }

    /// Returns a callback that sends the request of a form if it is valid. `build_request` gets a client that can be
    /// aborted. The callback does nothing while an earlier request has no partial result yet.
    pub fn send_callback(
        self,
        draft: Draft,
        build_request: impl Fn(Client) -> Option<PendingResponse> + Send + Sync + 'static,
    ) -> Callback<()> {
        Callback::new(move |()| {
            if !self.is_pending_without_result() {
                self.send(Some(draft), &build_request);
            }
        })
    }

    /// Returns a callback that aborts the request.
    pub fn abort_callback(self) -> Callback<()> {
        Callback::new(move |()| {
            self.abort();
            self.state.set(RequestState::Idle);
        })
    }

    /// Sends a request and aborts the previous one. With a form, field errors of the server go to the form, and the
    /// result card is scrolled into view when the response arrives.
    pub fn send(self, draft: Option<Draft>, build_request: impl FnOnce(Client) -> Option<PendingResponse>) {
        let controller = AbortController::new().ok();
        let client = self.console.client();
        let client = match &controller {
            Some(controller) => client.with_signal(controller.signal()),
            None => client,
        };
        if let Some(response) = build_request(client) {
            self.spawn(draft, response, controller);
        }
    }

    fn spawn(self, draft: Option<Draft>, response: PendingResponse, controller: Option<AbortController>) {
        self.abort();
        self.abort.set_value(controller.clone());
        self.state.set(RequestState::Pending(None));
        spawn_local(async move {
            let response = response.await;
            if controller.is_some_and(|controller| controller.signal().aborted()) {
                // Requests that start a job are not aborted with the screen; a toast shows their error.
                if let Err(error) = response
                    && !matches!(error, ClientError::Aborted)
                {
                    self.console.notify_error(&error);
                }
                return;
            }
            let state = response.unwrap_or_else(|error| {
                self.console.handle_error(&error);
                draft.inspect(|draft| draft.set_server_errors(&error));
                RequestState::Failed(error)
            });
            self.state.try_set(state);
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

/// Repeats a request until it returns the final state; the pauses grow while the server cannot be reached.
pub async fn poll(
    console: Console,
    mut request: impl AsyncFnMut() -> Result<Option<RequestState>, ClientError>,
) -> Result<RequestState, ClientError> {
    let mut pause_ms = EXTRACT_POLL_MS;
    loop {
        match request().await {
            Ok(Some(state)) => return Ok(state),
            Ok(None) => pause_ms = EXTRACT_POLL_MS,
            Err(error) if error.is_transient() => {
                console.handle_error(&error);
                pause_ms = (pause_ms * 2).min(RETRY_LONGEST_MS);
            }
            Err(error) => return Err(error),
        }
        browser::sleep(pause_ms).await;
    }
}

/// Renders the result card of a request.
#[component]
pub fn ResultCard(
    exchange: Exchange,
    label: &'static str,
    glyph: Glyph,
    /// What the empty state says below the icon.
    empty: &'static str,
    /// What follows it.
    #[prop(optional)]
    children: Option<ChildrenFn>,
) -> impl IntoView {
    let busy = exchange.busy();
    Effect::new(move |_| {
        if busy.get() {
            Pane::show_result();
        }
    });
    let body = move || match exchange.state.get() {
        RequestState::Idle => view! {
            <div class="empty">
                <Icon glyph/>
                <p>{empty}</p>
                {children.as_ref().map(|children| children())}
            </div>
        }
        .into_any(),
        RequestState::Pending(None) => skeleton(5),
        RequestState::Pending(Some(view)) | RequestState::Done(view) => view.run(),
        RequestState::Failed(error) => error_notice(&error),
    };
    view! {
        <section class="card pane-result" id="result" aria-label=label aria-busy=move || busy.get().to_string()>
            {body}
        </section>
    }
    .into_any()
}
