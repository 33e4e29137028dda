//! A crawl without a server: the state machine of the core with a store in memory. JavaScript fetches what
//! [`LocalCrawl::next`] returns, has pages rendered by [`PageRenderer`](crate::render::PageRenderer), which is in another
//! module, and reports them.

use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::fields::Wire;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::{ApiError, CrawlRequest, Document};
use harvestman_core::crawl::memory_store::MemoryStore;
use harvestman_core::crawl::{
    Crawl, FetchFailure, FetchedPage, Input, JobEnd, Output, PageOutcome, Policy, RobotsOutcome,
};
use harvestman_core::host::HostKey;
use harvestman_core::ids::ScrapeId;
use harvestman_core::robots::Robots;
use harvestman_core::scope::has_origin_of;
use harvestman_core::sitemap::Sitemap;
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;
use wasm_bindgen::prelude::*;

use crate::boundary::{bad_input, failure, text_of};

/// Pages in flight unless the request sets `maxConcurrency`. The core also limits pages per site.
const MAX_CONCURRENCY: u32 = 16;

/// Crawl options that apply without a server.
const CRAWL_OPTIONS: &[&str] = &[
    "url", "excludePaths", "includePaths", "maxDiscoveryDepth", "sitemap", "ignoreQueryParameters",
    "deduplicateSimilarURLs", "regexOnFullURL", "limit", "crawlEntireDomain", "allowExternalLinks",
    "allowSubdomains", "ignoreRobotsTxt", "robotsUserAgent", "delay", "maxConcurrency", "scrapeOptions",
];
/// Scrape options that apply without a server.
const SCRAPE_OPTIONS: &[&str] = &[
    "formats", "onlyMainContent", "onlyCleanContent", "includeTags", "excludeTags", "headers", "timeout",
    "removeBase64Images",
];

/// A crawl in this process.
#[wasm_bindgen]
pub struct LocalCrawl {
    crawl: Crawl,
    store: MemoryStore,
    limit: u64,
    start_url: Url,
    options: ScrapeOptions,
    events: Events,
}

/// What commits produced since the last call of [`LocalCrawl::events`].
#[derive(Default)]
struct Events {
    documents: Vec<String>,
    errors: Vec<Value>,
    robots_blocked: Vec<Url>,
    warnings: Vec<String>,
}

/// A rendered page, without its document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageReport {
    key: UrlKey,
    id: ScrapeId,
    url: Url,
    status: u16,
    retry_after_ms: Option<f64>,
    links: Vec<Url>,
    credits: u32,
}

/// A fetch without a usable response.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    id: ScrapeId,
    code: String,
    message: String,
    transient: bool,
    /// Whether the host responded at all.
    is_reached: bool,
}

impl Failure {
    fn into_fetch_failure(self) -> FetchFailure {
        FetchFailure {
            id: self.id,
            code: ErrorCode::parse(&self.code).unwrap_or(ErrorCode::SiteError),
            message: self.message,
            transient: self.transient,
        }
    }
}

#[wasm_bindgen]
impl LocalCrawl {
    /// Creates a crawl from the JSON text of a body of `POST /v2/crawl`, or continues it from a text that
    /// [`LocalCrawl::state`] returned. `agent` is the product token for robots.txt.
    ///
    /// # Errors
    /// 400 for invalid options, and for those that need a server.
    #[wasm_bindgen(constructor)]
    pub fn new(request: &str, agent: String, state: Option<String>) -> Result<LocalCrawl, String> {
        Self::start(request, agent, state.as_deref()).map_err(|error| failure(&error))
    }

    /// Returns the next action as JSON text; `undefined` until something is reported or [`LocalCrawl::wake_at`].
    pub fn next(&mut self, now_ms: f64) -> Option<String> {
        let now = time(now_ms);
        while let Some(output) = self.crawl.poll(now) {
            let action = match output {
                Output::FetchRobots { host, url } => {
                    json!({ "type": "robots", "host": host.as_str(), "url": url })
                }
                Output::FetchSitemap { url } => json!({ "type": "sitemap", "url": url }),
                Output::FetchPage(task, _) => {
                    let own = [&self.start_url, self.crawl.root()];
                    json!({
                        "type": "page",
                        "key": task.key,
                        "url": task.url,
                        "fallback": task.fallback,
                        "isOwnOrigin": own.iter().any(|own| has_origin_of(&task.url, own)),
                    })
                }
                Output::Finish => json!({ "type": "finish" }),
                Output::AcquireSlot(kind) => {
                    self.crawl.handle(now, Input::SlotGranted(kind));
                    continue;
                }
                Output::Commit(batch) => {
                    let committed = self.store.commit(batch, self.limit);
                    self.events
                        .documents
                        .extend(committed.documents.into_iter().map(document_text));
                    self.events.errors.extend(committed.errors.into_iter().map(|(url, error)| {
                        json!({ "id": error.id, "url": url, "code": error.code.as_str(), "error": error.message })
                    }));
                    self.events.robots_blocked.extend(committed.robots_blocked);
                    self.events.warnings.extend(committed.warnings);
                    self.crawl.handle(now, Input::Committed(committed.response));
                    continue;
                }
                // There is no browser, and nobody else needs the slot.
                Output::ReleaseSlot(_) | Output::Render(_) => continue,
            };
            return Some(action.to_string());
        }
        None
    }

    /// Returns the time at which [`LocalCrawl::next`] may have an action even though nothing was reported, in ms.
    #[wasm_bindgen(js_name = wakeAt)]
    pub fn wake_at(&self) -> Option<f64> {
        self.crawl.wake_at().map(|time| time.0 as f64)
    }

    /// Reports the response to a robots.txt.
    pub fn robots(&mut self, now_ms: f64, host: &str, status: u16, body: &[u8]) {
        let robots = match status {
            ..300 => RobotsOutcome::Found(Robots::parse(body, self.crawl.robots_agent())),
            300..500 => RobotsOutcome::Missing,
            _ => RobotsOutcome::Unreachable(format!("HTTP status {status}")),
        };
        self.robots_outcome(now_ms, host, robots);
    }

    /// Reports that a robots.txt could not be fetched. `failure` is JSON text.
    #[wasm_bindgen(js_name = robotsFailed)]
    pub fn robots_failed(&mut self, now_ms: f64, host: &str, failure: &str) -> Result<(), String> {
        let failure: Failure = parse(failure)?;
        let robots = match failure.is_reached {
            true => RobotsOutcome::Unreachable(failure.message),
            false => RobotsOutcome::HostError(failure.into_fetch_failure()),
        };
        self.robots_outcome(now_ms, host, robots);
        Ok(())
    }

    /// Reports a sitemap: its URL as in the action, its URL after redirects and its unpacked body, or no body if there
    /// is none.
    pub fn sitemap(&mut self, now_ms: f64, url: &str, final_url: &str, body: Option<Vec<u8>>) {
        let sitemap = body
            .zip(Url::parse(final_url).ok())
            .and_then(|(body, url)| Sitemap::parse(&body, &url));
        if let Ok(url) = Url::parse(url) {
            self.crawl
                .handle(time(now_ms), Input::SitemapFetched { url, sitemap });
        }
    }

    /// Reports a page. `report` is JSON text, and so is `document`.
    pub fn page(&mut self, now_ms: f64, report: &str, document: String) -> Result<(), String> {
        let report: PageReport = parse(report)?;
        let outcome = PageOutcome::Page(Box::new(FetchedPage {
            final_url: report.url,
            status: report.status,
            links: report.links,
            document: to_core_document(report.id, document),
            credits: report.credits,
            retry_after_ms: report.retry_after_ms.map(|ms| ms as u64),
        }));
        self.page_outcome(now_ms, report.key, outcome);
        Ok(())
    }

    /// Reports that a page could not be fetched or rendered. `failure` is JSON text.
    #[wasm_bindgen(js_name = pageFailed)]
    pub fn page_failed(&mut self, now_ms: f64, key: &str, failure: &str) -> Result<(), String> {
        let key: UrlKey = parse(&Value::from(key).to_string())?;
        let failure: Failure = parse(failure)?;
        self.page_outcome(now_ms, key, PageOutcome::Failed(failure.into_fetch_failure()));
        Ok(())
    }

    /// Returns the documents of pages that were completed since the last call, each as JSON text.
    pub fn documents(&mut self) -> Vec<String> {
        std::mem::take(&mut self.events.documents)
    }

    /// Returns what else happened since the last call as JSON text: `{ errors, robotsBlocked, warnings }`.
    pub fn events(&mut self) -> String {
        let documents = std::mem::take(&mut self.events.documents);
        let events = std::mem::take(&mut self.events);
        self.events.documents = documents;
        let text = json!({
            "errors": events.errors,
            "robotsBlocked": events.robots_blocked,
            "warnings": events.warnings,
        });
        text.to_string()
    }

    /// Returns the stored state as JSON text, to continue later. Pages in flight are fetched again.
    pub fn state(&self) -> Result<String, String> {
        text_of(serde_json::to_value(&self.store).map_err(|error| bad_input(error.to_string())))
    }

    /// Returns the progress as JSON text.
    pub fn counts(&self) -> String {
        let counts = self.crawl.counts();
        let error = match self.store.end() {
            Some(JobEnd::Failed { error }) => Some(error),
            Some(JobEnd::Completed) | None => None,
        };
        let status = match (self.store.end(), error) {
            (None, _) => "scraping",
            (Some(_), None) => "completed",
            (Some(_), Some(_)) => "failed",
        };
        let text = json!({
            "status": status,
            "error": error,
            "total": counts.admitted,
            "completed": counts.completed,
            "failed": counts.failed,
            "queued": counts.queued,
            "inFlight": counts.in_flight,
            "known": counts.known,
            "robotsBlocked": counts.robots_blocked,
        });
        text.to_string()
    }

    /// Returns the JSON text `{ headers, publicHeaders, timeoutMs, options }` for pages: `publicHeaders` is for those
    /// whose origin the caller did not name, `options` for rendering.
    #[wasm_bindgen(js_name = pageRequest)]
    pub fn page_request(&self) -> String {
        let headers = headers_of(&self.options);
        let public = self.options.without_private_headers();
        let public_headers = public.map_or_else(|| headers.clone(), |public| headers_of(&public));
        let options = self.options.to_body().into_map();
        let text = json!({
            "headers": headers,
            "publicHeaders": public_headers,
            "timeoutMs": self.options.timeout,
            "options": options,
        });
        text.to_string()
    }
}

impl LocalCrawl {
    fn start(request: &str, agent: String, state: Option<&str>) -> Result<LocalCrawl, ApiError> {
        let request = CrawlRequest::from_json(request.as_bytes())?;
        check_local(&request)?;
        let store: MemoryStore = match state {
            Some(state) => serde_json::from_str(state)
                .map_err(|error| bad_input(format!("`snapshot` is not a snapshot of a crawl: {error}")))?,
            None => MemoryStore::default(),
        };
        let policy = Policy {
            robots_agent: agent,
            max_concurrency: request.max_concurrency.unwrap_or(MAX_CONCURRENCY),
            starts_in_browser: false,
        };
        Ok(LocalCrawl {
            crawl: Crawl::restore(&request, policy, store.snapshot())?,
            store,
            limit: request.limit,
            start_url: request.url.url,
            options: request.scrape_options,
            events: Events::default(),
        })
    }

    fn robots_outcome(&mut self, now_ms: f64, host: &str, robots: RobotsOutcome) {
        let host = HostKey::from(host);
        self.crawl
            .handle(time(now_ms), Input::RobotsFetched { host, robots });
    }

    fn page_outcome(&mut self, now_ms: f64, key: UrlKey, outcome: PageOutcome) {
        self.crawl
            .handle(time(now_ms), Input::PageFetched { key, outcome });
    }
}

/// Returns the headers that pages are requested with.
fn headers_of(options: &ScrapeOptions) -> Map<String, Value> {
    let mut headers = Map::new();
    headers.insert(
        "Accept-Language".to_owned(),
        options.location.accept_language().into(),
    );
    for (name, value) in &options.headers {
        headers.retain(|known, _| !known.eq_ignore_ascii_case(name));
        headers.insert(name.clone(), value.as_str().into());
    }
    headers
}

/// Rejects options that need a server.
fn check_local(request: &CrawlRequest) -> Result<(), ApiError> {
    let rejected = |name: &str| {
        bad_input(format!(
            "`{name}` needs a server; a local crawl does not support it"
        ))
    };
    let body = request.to_body().into_map();
    if let Some(name) = body.keys().find(|name| !CRAWL_OPTIONS.contains(&name.as_str())) {
        return Err(rejected(name));
    }
    let options = request.scrape_options.to_body().into_map();
    if let Some(name) = options
        .keys()
        .find(|name| !SCRAPE_OPTIONS.contains(&name.as_str()))
    {
        return Err(rejected(&format!("scrapeOptions.{name}")));
    }
    if request
        .scrape_options
        .wants(harvestman_core::api::format::FormatKind::ChangeTracking)
    {
        return Err(rejected("changeTracking"));
    }
    Ok(())
}

/// Returns a document for the core, which needs its id and its size. The text of the real document is in `raw_html`.
fn to_core_document(id: ScrapeId, text: String) -> Box<Document> {
    let mut document = Document {
        raw_html: Some(text),
        ..Document::default()
    };
    document.metadata.scrape_id = Some(id);
    Box::new(document)
}

/// Returns the text of a document that [`to_core_document`] made.
fn document_text(document: Document) -> String {
    document.raw_html.unwrap_or_default()
}

fn time(now_ms: f64) -> Timestamp {
    Timestamp(now_ms as u64)
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| failure(&bad_input(error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "018f0000-0000-7000-8000-000000000000";

    fn start(request: &Value) -> Result<LocalCrawl, ApiError> {
        LocalCrawl::start(&request.to_string(), "Harvestman".to_owned(), None)
    }

    fn next(crawl: &mut LocalCrawl, now: &mut f64) -> Value {
        loop {
            if let Some(action) = crawl.next(*now) {
                return serde_json::from_str(&action).unwrap();
            }
            *now = crawl.wake_at().expect("nothing is in flight").max(*now);
        }
    }

    fn drive(crawl: &mut LocalCrawl, now: &mut f64) -> Vec<String> {
        let mut fetched = Vec::new();
        loop {
            let action = next(crawl, now);
            match action["type"].as_str().unwrap() {
                "robots" => crawl.robots(*now, action["host"].as_str().unwrap(), 404, b""),
                "sitemap" => crawl.sitemap(*now, action["url"].as_str().unwrap(), "", None),
                "page" => {
                    fetched.push(action["url"].as_str().unwrap().to_owned());
                    let report = json!({
                        "key": action["key"], "id": ID, "url": action["url"], "status": 200, "credits": 1,
                        "links": ["https://a.test/a", "https://a.test/b"],
                    });
                    let document = json!({ "of": action["url"] });
                    crawl
                        .page(*now, &report.to_string(), document.to_string())
                        .unwrap();
                }
                _ => return fetched,
            }
        }
    }

    #[test]
    fn a_crawl_fetches_each_page_once_and_returns_documents() {
        let mut crawl = start(&json!({ "url": "https://a.test/", "limit": 2 })).unwrap();
        let fetched = drive(&mut crawl, &mut 0.0);
        assert_eq!(fetched, ["https://a.test/", "https://a.test/a"]);
        assert_eq!(
            crawl.documents(),
            [r#"{"of":"https://a.test/"}"#, r#"{"of":"https://a.test/a"}"#]
        );
        let counts: Value = serde_json::from_str(&crawl.counts()).unwrap();
        assert_eq!(
            (&counts["status"], &counts["completed"]),
            (&json!("completed"), &json!(2))
        );
    }

    #[test]
    fn a_crawl_continues_from_its_state() {
        let request = json!({ "url": "https://a.test/" });
        let mut crawl = start(&request).unwrap();
        let mut now = 0.0;
        let state = loop {
            let action = next(&mut crawl, &mut now);
            match action["type"].as_str().unwrap() {
                "robots" => crawl.robots(now, action["host"].as_str().unwrap(), 404, b""),
                // The state is taken while the first page is in flight.
                _ => break crawl.state().unwrap(),
            }
        };
        let mut crawl = LocalCrawl::start(&request.to_string(), String::new(), Some(&state)).unwrap();
        let fetched = drive(&mut crawl, &mut now);
        assert_eq!(
            fetched,
            ["https://a.test/", "https://a.test/a", "https://a.test/b"]
        );
        assert!(LocalCrawl::start(&request.to_string(), String::new(), Some("{}")).is_err());
    }

    #[test]
    fn options_that_need_a_server_are_rejected() {
        for (request, name) in [
            (json!({ "webhook": "https://b.test/" }), "`webhook`"),
            (json!({ "prompt": "all" }), "`prompt`"),
            (
                json!({ "scrapeOptions": { "actions": [{ "type": "wait", "milliseconds": 5 }] } }),
                "scrapeOptions.actions",
            ),
            (
                json!({ "scrapeOptions": { "maxAge": 0 } }),
                "scrapeOptions.maxAge",
            ),
            (
                json!({ "scrapeOptions": { "formats": ["markdown", "changeTracking"] } }),
                "changeTracking",
            ),
        ] {
            let mut request = request;
            request["url"] = "https://a.test/".into();
            let error = start(&request).err().unwrap();
            assert!(error.message.contains(name), "{error}");
        }
    }
}
