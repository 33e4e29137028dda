//! A job that is started from the result of another request, and opened.

use harvestman_client::ClientError;
use harvestman_core::api::job::StatusPath;
use harvestman_core::api::{ApiError, BatchScrapeRequest, CrawlRequest, Wire};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use serde_json::Value;

use crate::components::button::spawn_busy;
use crate::console::Console;
use crate::{request_history, route};

/// Opens the screen of the job with this id.
type Open = Box<dyn Fn(&str)>;

/// Starts a job and opens it, one at a time. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct FollowUp {
    console: Console,
    open: StoredValue<Open, LocalStorage>,
    /// Whether the server has not responded yet.
    pub busy: RwSignal<bool>,
}

impl FollowUp {
    /// Creates the state. Needs the router's context.
    pub fn new() -> Self {
        let navigate = use_navigate();
        let open: Open = Box::new(move |id| navigate(&route::job_path(&id), NavigateOptions::default()));
        Self {
            console: Console::get(),
            open: StoredValue::new_local(open),
            busy: RwSignal::new(false),
        }
    }

    /// Awaits the id of the job that `start` creates, shows the toast `started` and opens the job. An error message
    /// is another toast.
    pub fn run(self, start: impl Future<Output = Result<String, String>> + 'static, started: String) {
        self.run_or(start, started, move |message| self.console.notify(message));
    }

    /// Like [`FollowUp::run`], but an error message goes to `failed`.
    pub fn run_or(
        self,
        start: impl Future<Output = Result<String, String>> + 'static,
        started: String,
        failed: impl FnOnce(String) + 'static,
    ) {
        if self.busy.get_untracked() {
            return;
        }
        spawn_busy(self.busy, async move {
            match start.await {
                Ok(id) => {
                    self.console.notify(started);
                    self.open.try_with_value(|open| open(&id));
                }
                Err(message) => failed(message),
            }
        });
    }
}

/// Starts a job with a body and returns its id.
///
/// # Errors
/// Returns the error message of the validation or of the server.
pub async fn start_job(console: Console, path: StatusPath, body: &Value) -> Result<String, String> {
    let client = console.client();
    let refused = |error: ApiError| match error.details {
        Some(details) => format!("{} {details}", error.message),
        None => error.message,
    };
    let failed = |error: ClientError| console.report(&error);
    let id = match path {
        StatusPath::Crawl => {
            let request = CrawlRequest::from_value(body.clone()).map_err(refused)?;
            client.start_crawl(&request).await.map_err(failed)?.id.to_string()
        }
        StatusPath::BatchScrape => {
            let request = BatchScrapeRequest::from_value(body.clone()).map_err(refused)?;
            let started = client.start_batch_scrape(&request).await.map_err(failed)?;
            started.id.to_string()
        }
    };
    request_history::save(&id, body.clone());
    Ok(id)
}
