//! Starts the job of a form and opens it, on its own screen or on the screen of the form.

use harvestman_client::{Client, ClientError};
use harvestman_core::api::Wire;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use serde::Serialize;

use crate::components::button::spawn_busy;
use crate::console::Console;
use crate::draft::Draft;
use crate::exchange::{Exchange, RequestState};
use crate::route::{self, Screen};
use crate::{browser, request_history};

/// Callback of a form that starts a job, and whether a start is in progress.
#[derive(Clone, Copy)]
pub struct JobStart {
    /// Sends the form.
    pub run: Callback<()>,
    /// Whether the server has not responded yet.
    pub busy: RwSignal<bool>,
}

impl JobStart {
    /// Creates the callback. `send` starts the job; `started` is the toast after it. Needs the router's context.
    pub fn new<R>(
        draft: Draft,
        started: &'static str,
        send: impl AsyncFn(Client, R) -> Result<JobId, ClientError> + Clone + Send + Sync + 'static,
    ) -> Self
    where
        R: Wire + Clone + Serialize + 'static,
    {
        let console = Console::get();
        let navigate = StoredValue::new_local(use_navigate());
        let busy = RwSignal::new(false);
        let run = Callback::new(move |()| {
            let Some(request) = draft.submit::<R>().filter(|_| !busy.get_untracked()) else {
                return;
            };
            let send = send.clone();
            spawn_busy(busy, async move {
                let body = serde_json::to_value(&request).unwrap_or_default();
                match send(console.client(), request).await {
                    Ok(id) => {
                        request_history::save(&id.to_string(), body);
                        console.notify(started);
                        // Does nothing if the user has left the screen.
                        navigate
                            .try_with_value(|navigate| navigate(&route::job_path(&id), Default::default()));
                    }
                    Err(error) => {
                        console.handle_error(&error);
                        match error.api() {
                            Some(api) if draft.server_error.try_set(Some(api.clone())).is_none() => {
                                browser::focus_soon("[data-problems]");
                            }
                            _ => console.notify(error.to_string()),
                        }
                    }
                }
            });
        });
        Self { run, busy }
    }
}

/// Returns a callback that starts the job of a form and writes its id to the URL of the form's `screen`. `started` is the
/// toast for a user who has left that screen. Needs the router's context.
pub fn start_on_screen<R>(
    exchange: Exchange,
    draft: Draft,
    screen: Screen,
    started: &'static str,
    send: impl AsyncFn(Client, R) -> Result<JobId, ClientError> + Clone + Send + Sync + 'static,
) -> Callback<()>
where
    R: Wire + Clone + Serialize + 'static,
{
    let console = exchange.console;
    let navigate = StoredValue::new_local(use_navigate());
    exchange.send_callback(draft, move |_| {
        let request = draft.submit::<R>()?;
        let send = send.clone();
        Some(Box::pin(async move {
            let body = serde_json::to_value(&request).unwrap_or_default();
            // Not the abortable client: a started job must be stored even if the user leaves the screen.
            let id = send(console.client(), request).await?;
            request_history::save(&id.to_string(), body);
            let options = NavigateOptions {
                scroll: false,
                ..Default::default()
            };
            let url = format!("{}?id={id}", screen.path());
            let shown = navigate.try_with_value(|navigate| navigate(&url, options));
            if shown.is_none() {
                console.notify(started);
            }
            Ok(RequestState::Pending(None))
        }))
    })
}
