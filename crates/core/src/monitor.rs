//! Rules of monitors (docs/API.md section 13): when a check is due, what each page of a check reports, and which
//! changes matter. Running the checks is up to the engine.

pub mod judge;
pub mod page;
#[cfg(feature = "schedules")]
pub mod schedule;

use crate::api::batch::BatchOptions;
use crate::api::crawl::CrawlRequest;
use crate::api::error::ApiError;
use crate::api::format::{ChangeMode, ChangeTracking, Format, FormatKind};
use crate::api::monitor::{MonitorRequest, MonitorTarget, SearchWindow, Target};
use crate::api::options::ScrapeOptions;
use crate::api::problem::{PathPart, Problem, bad_request};
use crate::api::search::SearchRequest;
use crate::api::url_field::TargetUrl;
use crate::billing;
use crate::ids::MonitorId;
use crate::limits::{DEFAULT_MONITOR_CRAWL_LIMIT, MAX_MONITOR_PAGES};
use crate::page_version::monitor_tag;

/// `origin` of the jobs of a check.
pub const ORIGIN: &str = "monitor";

/// The jobs that a check starts for a target.
#[derive(Clone, PartialEq, Debug)]
pub enum TargetJob {
    /// A batch scrape of pages.
    Pages(Box<BatchOptions>, Vec<TargetUrl>),
    /// A crawl.
    Crawl(Box<CrawlRequest>),
    /// Searches, one after the other.
    Searches(Vec<SearchRequest>),
}

/// Returns the id of each target, as clients see it: the one that the client gave it, else `target-1` and so on.
pub fn target_ids(targets: &[MonitorTarget]) -> Vec<String> {
    let is_given = |id: &str| targets.iter().any(|target| target.id() == Some(id));
    let mut others = (1..)
        .map(|number| format!("target-{number}"))
        .filter(|id| !is_given(id));
    let ids = targets.iter().map(|target| target.id().map(str::to_owned));
    ids.map(|id| id.or_else(|| others.next()).unwrap_or_default())
        .collect()
}

/// Checks that a monitor can use these targets: each has an id of its own, it compares stored pages, and its checks are
/// bounded.
///
/// # Errors
/// 400 with every problem.
pub fn check_targets(targets: &[MonitorTarget]) -> Result<(), ApiError> {
    let mut problems = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let mut fail = |field: &str, message: &str| {
            let path = [PathPart::Key("targets".to_owned()), PathPart::Index(index)];
            let field = field.split('.').map(|name| PathPart::Key(name.to_owned()));
            problems.push(Problem {
                path: path.into_iter().chain(field).collect(),
                message: message.to_owned(),
            });
        };
        if target.id().is_some() && targets[..index].iter().any(|other| other.id() == target.id()) {
            fail("id", "must not be that of another target");
        }
        if let Target::Crawl { crawl_options, .. } = &target.target {
            let options = crawl_options.as_ref().map(|options| options.request());
            if options.is_some_and(|options| options.zero_data_retention) {
                fail(
                    "crawlOptions.zeroDataRetention",
                    "cannot be true: a monitor compares each page with its stored last version",
                );
            }
            if options.is_some_and(|options| options.webhook.is_some()) {
                fail(
                    "crawlOptions.webhook",
                    "cannot be set: `webhook` of the monitor receives the events",
                );
            }
            if options.is_some_and(|options| options.prompt.is_some()) {
                fail(
                    "crawlOptions.prompt",
                    "cannot be set: give the options that `POST /v2/crawl/params-preview` returns for it",
                );
            }
        }
    }
    let pages = targets
        .iter()
        .map(|target| page_limit(&target.target))
        .fold(0, u64::saturating_add);
    if pages > MAX_MONITOR_PAGES {
        problems.push(Problem {
            path: vec![PathPart::Key("targets".to_owned())],
            message: format!(
                "can have {pages} pages in one check, but at most {MAX_MONITOR_PAGES} are allowed: give fewer \
                 URLs, or a lower `limit` for crawls"
            ),
        });
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(bad_request(&problems)),
    }
}

/// Returns the maximum number of pages of a target in one check.
pub fn page_limit(target: &Target) -> u64 {
    match target {
        Target::Scrape { urls, .. } => urls.len() as u64,
        Target::Crawl { crawl_options, .. } => crawl_options
            .as_ref()
            .map_or(DEFAULT_MONITOR_CRAWL_LIMIT, |options| options.request().limit),
        Target::Search {
            queries, max_results, ..
        } => max_results.saturating_mul(queries.len() as u64),
    }
}

/// Returns the most credits that a check costs, without judgments.
pub fn check_credits(request: &MonitorRequest) -> u64 {
    let price = |target: &Target| match target {
        Target::Scrape { scrape_options, .. } | Target::Crawl { scrape_options, .. } => {
            let options = scrape_options.as_deref();
            page_limit(target) * u64::from(options.map_or(1, |options| billing::page(options, 1)))
        }
        Target::Search {
            queries, max_results, ..
        } => billing::search(*max_results) * queries.len() as u64,
    };
    request.targets.iter().map(|target| price(&target.target)).sum()
}

/// Returns the jobs that a check starts for a target. Pages are always fetched and then compared with the
/// version that the monitor's last check stored.
pub fn job_of(target: &Target, monitor: MonitorId) -> TargetJob {
    match target {
        Target::Scrape { urls, scrape_options } => {
            let batch = BatchOptions {
                options: options(scrape_options.as_deref(), monitor),
                ..BatchOptions::default()
            };
            TargetJob::Pages(Box::new(batch), urls.clone())
        }
        Target::Crawl {
            url,
            crawl_options,
            scrape_options,
        } => {
            let mut request = crawl_options.as_ref().map_or_else(
                || CrawlRequest::new(url.clone()),
                |options| options.request().clone(),
            );
            request.url = url.clone();
            request.limit = page_limit(target);
            let given = scrape_options.as_deref();
            request.scrape_options = options(Some(given.unwrap_or(&request.scrape_options)), monitor);
            TargetJob::Crawl(Box::new(request))
        }
        Target::Search {
            queries,
            search_window,
            max_results,
            include_domains,
            exclude_domains,
        } => {
            let search = |query: &String| SearchRequest {
                limit: *max_results,
                include_domains: include_domains.clone(),
                exclude_domains: exclude_domains.clone(),
                tbs: Some(time_filter(*search_window).to_owned()),
                ..SearchRequest::new(query.clone())
            };
            TargetJob::Searches(queries.iter().map(search).collect())
        }
    }
}

/// Returns the scrape options with `changeTracking` in the history of the monitor.
fn options(given: Option<&ScrapeOptions>, monitor: MonitorId) -> ScrapeOptions {
    let mut options = given.cloned().unwrap_or_else(ScrapeOptions::default);
    options.max_age = Some(0);
    options.min_age = None;
    if !options.wants(FormatKind::Markdown) {
        options.formats.push(Format::Markdown);
    }
    let tag = Some(monitor_tag(monitor));
    match options.formats.iter_mut().find_map(tracking_of) {
        Some(tracking) => {
            tracking.tag = tag;
            if !tracking.modes.contains(&ChangeMode::GitDiff) {
                tracking.modes.push(ChangeMode::GitDiff);
            }
        }
        None => options.formats.push(Format::ChangeTracking(ChangeTracking {
            modes: vec![ChangeMode::GitDiff],
            tag,
            ..ChangeTracking::default()
        })),
    }
    options
}

fn tracking_of(format: &mut Format) -> Option<&mut ChangeTracking> {
    match format {
        Format::ChangeTracking(tracking) => Some(tracking),
        _ => None,
    }
}

/// Returns the time filter of searches. Providers know no unit below an hour.
fn time_filter(window: SearchWindow) -> &'static str {
    match window {
        SearchWindow::Minutes5 | SearchWindow::Minutes15 | SearchWindow::Hour => "qdr:h",
        SearchWindow::Hours6 => "qdr:h6",
        SearchWindow::Day => "qdr:d",
        SearchWindow::Week => "qdr:w",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::api::fields::Wire;

    fn request(targets: &Value) -> MonitorRequest {
        let body = json!({ "name": "n", "schedule": { "text": "hourly" }, "targets": targets });
        MonitorRequest::from_value(body).unwrap()
    }

    #[test]
    fn pages_are_fetched_and_compared_in_the_history_of_the_monitor() {
        let monitor = MonitorId(Uuid::from_u128(7));
        let target = json!({ "type": "scrape", "urls": ["https://a.test/", "b.test"],
            "scrapeOptions": { "formats": ["html"], "maxAge": 5000 } });
        let request = request(&json!([target]));
        let TargetJob::Pages(batch, urls) = job_of(&request.targets[0].target, monitor) else {
            panic!("pages are a batch");
        };
        assert_eq!(urls.len(), 2);
        assert_eq!(batch.options.max_age_ms(), 0);
        assert!(batch.options.wants(FormatKind::Markdown) && batch.options.wants(FormatKind::Html));
        let tracking = batch.options.change_tracking().unwrap();
        assert_eq!(
            tracking.tag.as_deref(),
            Some("monitor 00000000-0000-0000-0000-000000000007")
        );
        assert_eq!(tracking.modes, [ChangeMode::GitDiff]);
    }

    #[test]
    fn a_crawl_is_bounded_and_costs_are_estimated() {
        let crawl =
            |limit: Value| json!({ "type": "crawl", "url": "https://a.test/", "crawlOptions": limit });
        let one = request(&json!([crawl(json!({}))]));
        assert_eq!(check_credits(&one), 1000);
        let TargetJob::Crawl(job) = job_of(&one.targets[0].target, MonitorId(Uuid::nil())) else {
            panic!("a crawl is a crawl");
        };
        assert_eq!((job.limit, job.url.as_sent()), (1000, "https://a.test/"));
        assert_eq!(
            check_credits(&request(&json!([crawl(json!({ "limit": 10_000 }))]))),
            10_000
        );
        let two = request(&json!([
            crawl(json!({ "limit": 6000 })),
            crawl(json!({ "limit": 6000 }))
        ]));
        let error = check_targets(&two.targets).unwrap_err();
        assert!(error.message.contains("12000 pages"), "{error}");
        let search = request(&json!([{ "type": "search", "queries": ["a", "b"], "searchWindow": "6h" }]));
        assert_eq!(check_credits(&search), 4);
        assert!(check_targets(&search.targets).is_ok());
    }

    #[test]
    fn targets_keep_their_ids_and_options() {
        let page = |id: Value| json!({ "id": id, "type": "scrape", "urls": ["https://a.test/"] });
        let one = request(&json!([
            page(json!(null)),
            page(json!("target-1")),
            page(json!("own")),
            page(json!(""))
        ]));
        assert_eq!(
            target_ids(&one.targets),
            ["target-2", "target-1", "own", "target-3"]
        );
        assert!(check_targets(&one.targets).is_ok());
        let twice = check_targets(&request(&json!([page(json!("own")), page(json!("own"))])).targets);
        assert!(twice.unwrap_err().message.contains("`targets[1].id`"));

        let schema = json!({ "enum": [null], "__x": null });
        let sent = json!({ "id": "own", "type": "search", "queries": ["a"], "searchWindow": "24h", "maxResults": 10 });
        let mut pages = json!({ "type": "scrape", "urls": ["a.test"],
            "scrapeOptions": { "formats": ["markdown", { "type": "json", "schema": schema }], "onlyMainContent": true } });
        let kept = [sent.clone(), pages.clone()];
        pages["scrapeOptions"]["__private"] = json!(1);
        pages["scrapeOptions"]["minAge"] = Value::Null;
        let stored = serde_json::to_value(request(&json!([sent, pages]))).unwrap();
        assert_eq!(stored["targets"], json!(kept));
    }

    #[test]
    fn zero_data_retention_is_refused() {
        let target = json!({ "type": "crawl", "url": "https://a.test/",
            "crawlOptions": { "zeroDataRetention": true, "prompt": "only posts" } });
        let error = check_targets(&request(&json!([target])).targets).unwrap_err();
        assert_eq!(error.status(), 400);
        assert!(
            error
                .message
                .contains("`targets[0].crawlOptions.zeroDataRetention`"),
            "{error}"
        );
        assert_eq!(error.details.unwrap().as_array().unwrap().len(), 2);
    }
}
