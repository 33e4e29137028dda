//! Owners that crash on a page, and owners that get no response from the store: only the page that crashes the process
//! fails, and no page starts while a commit is late.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "simulation/model_store.rs"]
#[allow(dead_code, reason = "shared with the simulation")]
mod model_store;

use std::collections::BTreeSet;
use std::time::Duration;

use harvestman_core::api::console::Limiter;
use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::crawl::batch::{Batch, JobEnd};
use harvestman_core::crawl::limits::LOST_OWNERS_MAX;
use harvestman_core::crawl::{
    Crawl, FetchedPage, Input, Output, PageOutcome, PageTask, Policy, RobotsOutcome, Snapshot,
};
use harvestman_core::time::Timestamp;
use model_store::ModelStore;
use serde_json::json;
use url::Url;

const NOW: Timestamp = Timestamp(1_000_000);

fn page(task: &PageTask) -> Input {
    let links = match task.url.path() {
        "/" => (0..20)
            .map(|n| task.url.join(&format!("/{n}")).unwrap())
            .collect(),
        _ => Vec::new(),
    };
    let outcome = PageOutcome::Page(Box::new(FetchedPage {
        final_url: task.url.clone(),
        status: 200,
        links,
        document: Box::default(),
        credits: 0,
        retry_after_ms: None,
    }));
    Input::PageFetched {
        key: task.key,
        outcome,
    }
}

fn restore(request: &CrawlRequest, snapshot: Snapshot) -> Crawl {
    let policy = Policy {
        robots_agent: "harvestman".to_owned(),
        max_concurrency: 4,
        starts_in_browser: false,
    };
    Crawl::restore(request, policy, snapshot).unwrap()
}

/// Runs one owner with four pages at once. Returns true if the job ended, false if `deadly` was fetched.
fn own(store: &mut ModelStore, request: &CrawlRequest, deadly: &str) -> bool {
    let (epoch, snapshot) = store.lease();
    let mut crawl = restore(request, snapshot);
    let mut now = NOW;
    loop {
        let mut tasks = Vec::new();
        // Before a page arrives, everything that can start has started and every start is stored.
        // Commits are delayed to gather changes, so time advances once when nothing more comes.
        let mut gathered = false;
        loop {
            let Some(output) = crawl.poll(now) else {
                if gathered {
                    break;
                }
                gathered = true;
                now = now + Duration::from_secs(1);
                continue;
            };
            match output {
                Output::FetchRobots { host, .. } => {
                    let robots = RobotsOutcome::Missing;
                    crawl.handle(now, Input::RobotsFetched { host, robots });
                }
                Output::FetchSitemap { url } => {
                    crawl.handle(now, Input::SitemapFetched { url, sitemap: None })
                }
                Output::FetchPage(task, _) => tasks.push(task),
                Output::Commit(batch) => {
                    let committed = store.commit(epoch, &batch).unwrap();
                    crawl.handle(now, Input::Committed(committed));
                }
                Output::AcquireSlot(kind) => crawl.handle(now, Input::SlotGranted(kind)),
                Output::ReleaseSlot(_) => {}
                Output::Render(_) => unreachable!("no page wants the browser"),
                Output::Finish => return true,
            }
        }
        if tasks.iter().any(|task| task.url.path() == deadly) {
            return false;
        }
        assert!(!tasks.is_empty(), "{:?}", crawl.counts());
        for task in &tasks {
            crawl.handle(now, page(task));
        }
    }
}

#[test]
fn a_page_that_kills_its_owners_eventually_fails_alone() {
    for deadly in ["/", "/0", "/7", "/19"] {
        let request = json!({ "url": "http://site.test/", "sitemap": "skip" });
        let request = CrawlRequest::from_json(request.to_string().as_bytes()).unwrap();
        let mut store = ModelStore::new(request.limit);
        let mut lost = 0;
        while !own(&mut store, &request, deadly) {
            lost += 1;
            assert!(lost <= LOST_OWNERS_MAX, "{deadly} is retried forever");
        }
        assert_eq!(lost, LOST_OWNERS_MAX);
        let [(url, error)] = &store.errors[..] else {
            panic!("{:?}", store.errors)
        };
        assert_eq!((url.path(), error.code), (deadly, ErrorCode::Unknown));
        assert!(error.message.contains("10 times"), "{}", error.message);
        if deadly == "/" {
            assert!(matches!(store.end, Some(JobEnd::Failed { .. })));
            continue;
        }
        assert_eq!(store.end, Some(JobEnd::Completed));
        let pages: BTreeSet<&Url> = store.pages.iter().map(|page| &page.offer.url).collect();
        assert_eq!(
            (pages.len(), store.completed),
            (20, 20),
            "every other page is stored once"
        );
    }
}

/// Returns the pages that start, and the batch to commit.
fn starts(crawl: &mut Crawl, now: Timestamp) -> (Vec<PageTask>, Option<Batch>) {
    let (mut tasks, mut batch) = (Vec::new(), None);
    while let Some(output) = crawl.poll(now) {
        match output {
            Output::FetchPage(task, _) => tasks.push(task),
            Output::Commit(one) => batch = Some(one),
            Output::AcquireSlot(kind) => crawl.handle(now, Input::SlotGranted(kind)),
            _ => {}
        }
    }
    (tasks, batch)
}

#[test]
fn no_page_starts_while_a_commit_is_late() {
    let request = json!({ "url": "http://site.test/", "sitemap": "skip", "ignoreRobotsTxt": true });
    let request = CrawlRequest::from_json(request.to_string().as_bytes()).unwrap();
    let mut store = ModelStore::new(request.limit);
    let (epoch, snapshot) = store.lease();
    let mut crawl = restore(&request, snapshot);
    let (mut now, mut running) = (NOW, Vec::new());
    while running.len() < 4 {
        let (tasks, batch) = starts(&mut crawl, now);
        running.extend(tasks);
        if let Some(batch) = batch {
            let committed = store.commit(epoch, &batch).unwrap();
            crawl.handle(now, Input::Committed(committed));
        } else if let Some(seed) = running.pop_if(|task| task.url.path() == "/") {
            crawl.handle(now, page(&seed));
        }
        now = now + Duration::from_secs(1);
    }
    crawl.handle(now, page(&running.remove(0)));
    let (tasks, batch) = starts(&mut crawl, now);
    assert_eq!(tasks.len(), 1, "the store has time to answer");
    let batch = batch.expect("the result of a page");
    now = now + Duration::from_secs(2);
    crawl.handle(now, page(&running.remove(0)));
    assert_eq!(starts(&mut crawl, now).0, [], "the store is late");
    assert_eq!(crawl.limiter(), Some(Limiter::Storage));
    let committed = store.commit(epoch, &batch).unwrap();
    crawl.handle(now, Input::Committed(committed));
    assert_eq!(starts(&mut crawl, now).0.len(), 1);
}
