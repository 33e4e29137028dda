//! Fetches pages of a job again: a batch scrape of their URLs with the page options of the job.

use harvestman_core::api::batch::BatchOptions;
use harvestman_core::api::caller::Caller;
use harvestman_core::api::job::{JobKind, StatusPath};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::{ApiError, BatchScrapeRequest, CrawlRequest, TargetUrl, Wire};
use leptos::prelude::*;
use serde_json::Value;

use crate::console::Console;
use crate::display;
use crate::follow_up::{FollowUp, start_job};
use crate::job_feed::JobFeed;

/// Starts retries of a job and opens them. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct Retry {
    feed: JobFeed,
    request: Memo<Option<Value>>,
    follow_up: FollowUp,
    start: Callback<Vec<String>>,
}

impl Retry {
    /// Creates the state for the job whose request is `request`. Needs the router's context.
    pub fn new(feed: JobFeed, request: Memo<Option<Value>>) -> Self {
        let console = Console::get();
        let follow_up = FollowUp::new();
        let start = Callback::new(move |urls: Vec<String>| {
            if urls.is_empty() {
                return;
            }
            let count = display::plural(urls.len() as u64, "page", "pages");
            let kind = feed.job.with_untracked(|job| job.as_ref().map(|job| job.kind));
            let retry =
                request.with_untracked(|request| Some(retry_request(kind?, request.as_ref()?, &urls)));
            let Some(retry) = retry else { return };
            let start = async move {
                let body = serde_json::to_value(&retry?).unwrap_or_default();
                start_job(console, StatusPath::BatchScrape, &body).await
            };
            follow_up.run(start, format!("Retrying {count}"));
        });
        Self {
            feed,
            request,
            follow_up,
            start,
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
                    aria-disabled=move || self.follow_up.busy.get().to_string()
                    on:click=move |_| self.start.run(urls.with_value(|urls| urls()))
                >
                    {move || label.with_value(|label| label())}
                </button>
            </Show>
        }
        .into_any()
    }
}

/// Returns the page options of a job's request.
///
/// # Errors
/// Returns the message if the request is invalid.
pub fn page_options(kind: JobKind, request: &Value) -> Result<ScrapeOptions, String> {
    options_of(kind, request).map(|(options, _)| options)
}

/// Returns the page options of a job's request, and whether it asks for zero data retention.
fn options_of(kind: JobKind, request: &Value) -> Result<(ScrapeOptions, bool), String> {
    let message = |error: ApiError| error.message;
    match kind {
        JobKind::Crawl => {
            let crawl = CrawlRequest::from_value(request.clone()).map_err(message)?;
            Ok((crawl.scrape_options, crawl.zero_data_retention))
        }
        _ => {
            let batch = BatchScrapeRequest::from_value(request.clone()).map_err(message)?;
            Ok((batch.batch.options, batch.batch.zero_data_retention))
        }
    }
}

/// Returns the batch scrape that fetches these pages with the options of the job's request. Its webhook and its
/// concurrency are left out.
fn retry_request(kind: JobKind, request: &Value, urls: &[String]) -> Result<BatchScrapeRequest, String> {
    let (options, zero_data_retention) = options_of(kind, request)?;
    Ok(BatchScrapeRequest {
        urls: urls
            .iter()
            .map(|url| TargetUrl::parse(url))
            .collect::<Result<_, _>>()?,
        invalid_urls: Vec::new(),
        append_to_id: None,
        ignore_invalid_urls: true,
        batch: BatchOptions {
            options,
            webhook: None,
            max_concurrency: None,
            zero_data_retention,
            caller: Caller::default(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_retry_keeps_the_page_options_and_the_retention_of_the_job() {
        let urls = ["https://e.com/a".to_owned()];
        let body = |kind, request: Value| {
            let retry = retry_request(kind, &request, &urls).unwrap();
            serde_json::to_value(&retry).unwrap()
        };
        let crawl = json!({
            "url": "https://e.com", "limit": 9, "zeroDataRetention": true,
            "scrapeOptions": {"formats": ["html"], "waitFor": 50},
        });
        let expected = json!({"urls": ["https://e.com/a"], "formats": ["html"], "waitFor": 50, "zeroDataRetention": true});
        assert_eq!(body(JobKind::Crawl, crawl), expected);
        let batch = json!({
            "urls": ["https://e.com/b"], "formats": ["links"], "webhook": "https://e.com/hook", "maxConcurrency": 2,
            "zeroDataRetention": true,
        });
        let expected = json!({"urls": ["https://e.com/a"], "formats": ["links"], "zeroDataRetention": true});
        assert_eq!(body(JobKind::BatchScrape, batch), expected);
        assert!(retry_request(JobKind::Crawl, &json!({}), &urls).is_err());
    }
}
