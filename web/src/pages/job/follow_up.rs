//! A job that is started from the screen of another one, and opened.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::{display, request_history, route};

/// Opens the screen of the job with this id.
type Open = Box<dyn Fn(&str)>;

/// Starts a job and opens it, one at a time. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct FollowUp {
    console: Console,
    open: StoredValue<Open, LocalStorage>,
    /// Whether the server has not answered yet.
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
    /// goes to `failed`.
    pub fn run(
        self,
        start: impl Future<Output = Result<String, String>> + 'static,
        started: String,
        failed: impl FnOnce(String) + 'static,
    ) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        spawn_local(async move {
            match start.await {
                Ok(id) => {
                    self.console.notify(started);
                    self.open.try_with_value(|open| open(&id));
                }
                Err(message) => failed(message),
            }
            self.busy.try_set(false);
        });
    }
}

/// Renders the button that continues an ended crawl, if it has left URLs.
#[component]
pub fn ContinueCrawl(feed: JobFeed) -> impl IntoView {
    let console = Console::get();
    let follow_up = FollowUp::new();
    let left = move || feed.urls_left.get();
    let title = move || {
        let urls = display::plural(left(), "URL", "URLs");
        format!("Starts a crawl with the same settings from the {urls} that were found but not fetched")
    };
    let run = move |_| {
        let start = async move {
            let id = console.client().continue_crawl(feed.id).await;
            let id = id.map_err(|error| console.report(&error))?;
            if let Some(request) = request_history::request_of(&feed.id.to_string()) {
                request_history::save(&id.to_string(), request);
            }
            Ok(id.to_string())
        };
        follow_up.run(start, "Crawl continued".to_owned(), move |message| {
            console.notify(message)
        });
    };
    view! {
        <Show when=move || left() != 0>
            <button
                class="btn"
                title=title
                aria-disabled=move || follow_up.busy.get().to_string()
                on:click=run
            >
                "Continue crawl"
            </button>
        </Show>
    }
    .into_any()
}
