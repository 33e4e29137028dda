//! Fetches pages of a job again: a batch scrape of their URLs with the page options of the job.

use harvestman_core::api::job::{JobKind, StatusPath};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_navigate;
use serde_json::{Map, Value};

use crate::console::Console;
use crate::display;
use crate::job_feed::JobFeed;
use crate::pages::job::request;
use crate::route;

/// Fields of a batch scrape that concern the job and not its pages.
const JOB_FIELDS: [&str; 6] = [
    "urls",
    "appendToId",
    "webhook",
    "ignoreInvalidURLs",
    "idempotencyKey",
    "maxConcurrency",
];

/// Starts retries of a job and opens them. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct Retry {
    feed: JobFeed,
    request: Memo<Option<Value>>,
    busy: RwSignal<bool>,
    start: StoredValue<Callback<Vec<String>>>,
}

impl Retry {
    /// Creates the state for the job whose request is `request`. Needs the router's context.
    pub fn new(feed: JobFeed, request: Memo<Option<Value>>) -> Self {
        let console = Console::get();
        let navigate = StoredValue::new_local(use_navigate());
        let busy = RwSignal::new(false);
        let start = Callback::new(move |urls: Vec<String>| {
            if urls.is_empty() || busy.get_untracked() {
                return;
            }
            busy.set(true);
            let count = display::plural(urls.len() as u64, "page", "pages");
            let kind = feed.job.with_untracked(|job| job.as_ref().map(|job| job.kind));
            let options = request.with_untracked(|request| page_options(kind, request.as_ref()));
            spawn_local(async move {
                match request::start(console, StatusPath::BatchScrape, &with_urls(options, urls)).await {
                    Ok(id) => {
                        console.notify(format!("Retrying {count}"));
                        navigate.with_value(|navigate| navigate(&route::job_path(&id), Default::default()));
                    }
                    Err(message) => console.notify(message),
                }
                busy.try_set(false);
            });
        });
        Self {
            feed,
            request,
            busy,
            start: StoredValue::new(start),
        }
    }

    /// Renders a button that fetches these pages again.
    pub fn button(
        self,
        label: impl Fn() -> String + Send + Sync + 'static,
        urls: impl Fn() -> Vec<String> + Send + Sync + 'static,
    ) -> AnyView {
        let can_retry = move || self.feed.path().is_some() && self.request.with(Option::is_some);
        let label = StoredValue::new(label);
        let urls = StoredValue::new(urls);
        view! {
            <Show when=can_retry>
                <button
                    type="button"
                    class="btn small"
                    aria-disabled=move || self.busy.get().to_string()
                    on:click=move |_| self.start.with_value(|start| start.run(urls.with_value(|urls| urls())))
                >
                    {move || label.with_value(|label| label())}
                </button>
            </Show>
        }
        .into_any()
    }
}

/// Returns the options for pages in the request of a job.
fn page_options(kind: Option<JobKind>, request: Option<&Value>) -> Map<String, Value> {
    let options = match kind {
        Some(JobKind::Crawl) => request.and_then(|request| request.get("scrapeOptions")),
        _ => request,
    };
    let mut options = options.and_then(Value::as_object).cloned().unwrap_or_default();
    options.retain(|name, _| !JOB_FIELDS.contains(&name.as_str()));
    options
}

fn with_urls(mut options: Map<String, Value>, urls: Vec<String>) -> Value {
    options.insert("urls".to_owned(), urls.into());
    Value::Object(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harvestman_core::api::{BatchScrapeRequest, Wire};
    use serde_json::json;

    #[test]
    fn a_retry_keeps_the_page_options_of_the_job() {
        let urls = vec!["https://e.com/a".to_owned()];
        let crawl = json!({"url": "https://e.com", "limit": 9, "scrapeOptions": {"formats": ["html"], "waitFor": 50}});
        let body = with_urls(page_options(Some(JobKind::Crawl), Some(&crawl)), urls.clone());
        assert_eq!(
            body,
            json!({"urls": ["https://e.com/a"], "formats": ["html"], "waitFor": 50})
        );
        let batch = json!({
            "urls": ["https://e.com/b"], "formats": ["links"], "webhook": "https://e.com/hook", "maxConcurrency": 2,
        });
        let body = with_urls(
            page_options(Some(JobKind::BatchScrape), Some(&batch)),
            urls.clone(),
        );
        assert_eq!(body, json!({"urls": ["https://e.com/a"], "formats": ["links"]}));
        assert!(BatchScrapeRequest::from_value(body).is_ok());
        let bare = with_urls(page_options(None, None), urls);
        assert!(BatchScrapeRequest::from_value(bare).is_ok());
    }
}
