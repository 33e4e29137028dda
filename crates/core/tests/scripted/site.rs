//! Crawls a web described by a JSON value, in memory and on virtual time. The format is that of the shared cases,
//! plus pages that fail (`fail`: `transient` or `final`), that fail or show their status only the first `times`,
//! `retry_after_ms`, the number of bytes of `markdown`, robots.txt files given as a number (unreadable that many times) or as an error code (the
//! host is unreachable).

use std::collections::{HashMap, VecDeque};

use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::crawl::{
    Crawl, FetchFailure, FetchedPage, Input, Output, PageOutcome, PageTask, Policy, RobotsOutcome,
};
use harvestman_core::host::HostKey;
use harvestman_core::robots::Robots;
use harvestman_core::sitemap::Sitemap;
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::resolve_link;
use serde_json::Value;
use url::Url;

use crate::model_store::ModelStore;

const START: Timestamp = Timestamp(1_000_000);
const FETCH_MS: u64 = 20;
const MAX_STEPS: u32 = 100_000;

/// The result of a crawl.
pub(crate) struct Trace {
    pub(crate) store: ModelStore,
    /// Every request as (ms since the start, URL).
    pub(crate) requests: Vec<(u64, String)>,
    /// Settled pages of each commit.
    pub(crate) commits: Vec<usize>,
}

impl Trace {
    pub(crate) fn times_of(&self, url: &str) -> Vec<u64> {
        self.requests
            .iter()
            .filter(|(_, asked)| asked == url)
            .map(|(at, _)| *at)
            .collect()
    }
}

struct Site<'a> {
    case: &'a Value,
    asked: HashMap<String, u64>,
}

/// Crawls to the end.
pub(crate) fn crawl(case: &Value, concurrency: u32) -> Trace {
    let request = CrawlRequest::from_json(case["request"].to_string().as_bytes()).unwrap();
    crawl_from(case, concurrency, ModelStore::new(request.limit))
}

/// Crawls from a stored state to the end.
pub(crate) fn crawl_from(case: &Value, concurrency: u32, mut store: ModelStore) -> Trace {
    let request = CrawlRequest::from_json(case["request"].to_string().as_bytes()).unwrap();
    let policy = Policy {
        robots_agent: "harvestman".to_owned(),
        max_concurrency: concurrency,
        starts_in_browser: false,
    };
    let (epoch, snapshot) = store.lease();
    let mut crawl = Crawl::restore(&request, policy, snapshot).unwrap();
    let mut site = Site {
        case,
        asked: HashMap::new(),
    };
    let (mut requests, mut commits) = (Vec::new(), Vec::new());
    let mut now = START;
    let mut inputs: VecDeque<(Timestamp, Input)> = VecDeque::new();
    for _ in 0..MAX_STEPS {
        while let Some(output) = crawl.poll(now) {
            let mut asked = |url: &Url| requests.push((now.millis_since(START), url.to_string()));
            let (after, input) = match output {
                Output::FetchRobots { host, url } => {
                    asked(&url);
                    let robots = site.robots(&host, crawl.robots_agent());
                    (FETCH_MS, Input::RobotsFetched { host, robots })
                }
                Output::FetchSitemap { url } => {
                    asked(&url);
                    let sitemap = site.sitemap(&url);
                    (FETCH_MS, Input::SitemapFetched { url, sitemap })
                }
                Output::AcquireSlot(kind) => (0, Input::SlotGranted(kind)),
                Output::ReleaseSlot(_) => continue,
                Output::Render(_) => unreachable!("no page wants the browser"),
                Output::FetchPage(task, _) => {
                    asked(&task.url);
                    let outcome = site.page(&task);
                    (
                        FETCH_MS,
                        Input::PageFetched {
                            key: task.key,
                            outcome,
                        },
                    )
                }
                Output::Commit(batch) => {
                    commits.push(batch.settled.len());
                    (0, Input::Committed(store.commit(epoch, &batch).unwrap()))
                }
                Output::Finish => {
                    return Trace {
                        store,
                        requests,
                        commits,
                    };
                }
            };
            let at = Timestamp(now.0 + after);
            let place = inputs.partition_point(|(time, _)| *time <= at);
            inputs.insert(place, (at, input));
        }
        match (inputs.pop_front(), crawl.wake_at()) {
            (Some((at, input)), wake) if wake.is_none_or(|wake| at <= wake) => {
                now = at;
                crawl.handle(now, input);
            }
            (next, Some(wake)) => {
                if let Some(next) = next {
                    inputs.push_front(next);
                }
                now = wake;
            }
            (_, None) => panic!("{}: nothing to do and not ended", case["name"]),
        }
    }
    panic!("{}: does not end", case["name"]);
}

impl Site<'_> {
    fn count(&mut self, what: String) -> u64 {
        let count = self.asked.entry(what).or_default();
        *count += 1;
        *count
    }

    fn robots(&mut self, host: &HostKey, agent: &str) -> RobotsOutcome {
        let asked = self.count(format!("robots {host}"));
        match &self.case["robots"][host.as_str()] {
            Value::String(text) => RobotsOutcome::Found(Robots::parse(text.as_bytes(), agent)),
            Value::Number(times) if asked <= times.as_u64().unwrap() => {
                RobotsOutcome::Unreachable("the case says so".to_owned())
            }
            Value::Object(fault) => {
                let code = ErrorCode::parse(fault["fault"].as_str().unwrap()).unwrap();
                let transient = code == ErrorCode::SiteError;
                RobotsOutcome::HostError(failure(code, "no way to the host", transient))
            }
            _ => RobotsOutcome::Missing,
        }
    }

    fn sitemap(&self, url: &Url) -> Option<Sitemap> {
        let entry = &self.case["sitemaps"][url.as_str()];
        let list = |value: &Value, tag: &str| {
            let entry = |item: &Value| format!("<{tag}><loc>{}</loc></{tag}>", item.as_str().unwrap());
            value.as_array().unwrap().iter().map(entry).collect::<String>()
        };
        let body = match entry {
            Value::Array(_) => format!("<urlset>{}</urlset>", list(entry, "url")),
            Value::Object(_) => format!(
                "<sitemapindex>{}</sitemapindex>",
                list(&entry["index"], "sitemap")
            ),
            _ => return None,
        };
        Sitemap::parse(body.as_bytes(), url)
    }

    /// Follows redirects as the fetcher does.
    fn page(&mut self, task: &PageTask) -> PageOutcome {
        let mut url = task.url.clone();
        let web = &self.case["web"];
        for _ in 0..20 {
            match web[url.as_str()]["redirect"].as_str() {
                Some(target) => url = resolve_link(&url, target).unwrap(),
                None => return self.response(url),
            }
        }
        failed("too many redirects", false)
    }

    fn response(&mut self, url: Url) -> PageOutcome {
        let asked = self.count(url.to_string());
        let entry = &self.case["web"][url.as_str()];
        let faulty = entry["times"].as_u64().is_none_or(|times| asked <= times);
        if let (Some(fault), true) = (entry["fail"].as_str(), faulty) {
            return failed("no answer", fault == "transient");
        }
        let (status, hrefs) = match entry {
            Value::Array(list) => (200, list.clone()),
            Value::Object(page) => {
                let status = page.get("status").filter(|_| faulty).and_then(Value::as_u64);
                let hrefs = page.get("links").and_then(Value::as_array).cloned();
                (status.unwrap_or(200), hrefs.unwrap_or_default())
            }
            _ => (404, Vec::new()),
        };
        let base = entry["base"].as_str().and_then(|base| resolve_link(&url, base));
        let base = base.as_ref().unwrap_or(&url);
        let mut page = FetchedPage {
            links: hrefs
                .iter()
                .filter_map(|href| resolve_link(base, href.as_str().unwrap()))
                .collect(),
            final_url: url,
            status: u16::try_from(status).unwrap(),
            document: Box::default(),
            credits: 0,
            retry_after_ms: entry["retry_after_ms"].as_u64().filter(|_| faulty),
        };
        page.document.metadata.status_code = Some(page.status);
        let markdown = entry["markdown"]
            .as_u64()
            .and_then(|bytes| usize::try_from(bytes).ok());
        page.document.markdown = markdown.map(|bytes| "x".repeat(bytes));
        PageOutcome::Page(Box::new(page))
    }
}

fn failed(message: &str, transient: bool) -> PageOutcome {
    PageOutcome::Failed(failure(ErrorCode::SiteError, message, transient))
}

fn failure(code: ErrorCode, message: &str, transient: bool) -> FetchFailure {
    FetchFailure {
        id: "00000000-0000-4000-8000-000000000000".parse().unwrap(),
        code,
        message: message.to_owned(),
        transient,
    }
}
