//! Memory per URL of a large crawl. The only test of its process, because it counts every allocated byte.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::alloc::System;

use cap::Cap;
use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::crawl::{AdmittedUrl, Crawl, Policy, Snapshot, Source};
use harvestman_core::scope::Scope;
use harvestman_core::url_key::UrlKey;
use serde_json::json;
use url::Url;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

const URLS: usize = 100_000;
/// Length of each URL's path in bytes.
const PATH: usize = 40;

/// Returns the memory per URL of an owner that knows `URLS` URLs, `waiting` of them queued.
fn bytes_a_url(waiting: usize) -> usize {
    let request = json!({ "url": "http://site.test/", "limit": URLS }).to_string();
    let request = CrawlRequest::from_json(request.as_bytes()).unwrap();
    let policy = Policy {
        robots_agent: "harvestman".to_owned(),
        max_concurrency: 8,
        starts_in_browser: false,
    };
    let scope = Scope::compile(&request).unwrap();
    let before = MEMORY.allocated();
    let mut snapshot = Snapshot::default();
    for number in 0..URLS {
        let url: Url = format!("http://site.test/{number:0>width$}", width = PATH - 1)
            .parse()
            .unwrap();
        let key = UrlKey::of(&url, scope.identity());
        snapshot.seen.push(key);
        if number < waiting {
            snapshot.open.push(AdmittedUrl {
                key,
                url,
                depth: 1,
                source: Source::Link,
                attempts: 0,
            });
        }
    }
    let crawl = Crawl::restore(&request, policy, snapshot).unwrap();
    let after = MEMORY.allocated();
    assert_eq!(crawl.counts().queued, waiting as u64);
    (after - before) / URLS
}

#[test]
fn known_and_queued_urls_take_little_memory() {
    let (waiting, known) = (bytes_a_url(URLS), bytes_a_url(0));
    assert!(waiting <= PATH + 120, "{waiting}");
    assert!(known <= 24, "{known}");
}
