//! The button that continues an ended crawl.

use leptos::prelude::*;

use crate::console::Console;
use crate::follow_up::FollowUp;
use crate::job_feed::JobFeed;
use crate::{display, request_history};

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
        follow_up.run(start, "Crawl continued".to_owned());
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
