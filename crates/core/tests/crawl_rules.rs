//! Single rules of a crawl: how it ends, which warnings it issues, when it retries, and its pace.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "simulation/model_store.rs"]
#[allow(dead_code, reason = "shared with the simulation")]
mod model_store;
#[path = "scripted/site.rs"]
mod site;

use harvestman_core::api::error::ErrorCode;
use harvestman_core::crawl::batch::JobEnd;
use harvestman_core::crawl::warnings;
use serde_json::{Value, json};
use site::{Trace, crawl, crawl_from};

fn visited(trace: &Trace) -> Vec<&str> {
    trace
        .store
        .pages
        .iter()
        .map(|page| page.offer.url.as_str())
        .collect()
}

fn failure(trace: &Trace) -> &str {
    match &trace.store.end {
        Some(JobEnd::Failed { error }) => error,
        other => panic!("ended with {other:?}"),
    }
}

fn has_warning(trace: &Trace, part: &str) -> bool {
    trace.store.warnings.iter().any(|warning| warning.contains(part))
}

#[test]
fn found_on_is_the_page_with_the_first_link() {
    let case = json!({"web": {"http://site.test/": ["/a", "/old"], "http://site.test/a": ["/", "/old", "/b"],
        "http://site.test/b": ["/m"], "http://site.test/old": {"redirect": "/new"},
        "http://site.test/new": ["/b", "/c"], "http://site.test/c": [], "http://site.test/m": []},
        "sitemaps": {"http://site.test/sitemap.xml": ["/m"]}, "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 1);
    let key = |path: &str| {
        let mut pages = trace.store.pages.iter().map(|page| &page.offer);
        pages.find(|offer| offer.url.path() == path).unwrap().key
    };
    for (path, page) in [("/a", "/"), ("/old", "/"), ("/b", "/a"), ("/c", "/old")] {
        assert_eq!(trace.store.found_on(key(path)), Some(key(page)), "{path}");
    }
    assert_eq!(trace.store.found_on(key("/")), None);
    assert_eq!(trace.store.found_on(key("/m")), None);
}

#[test]
fn an_unreachable_start_page_with_nothing_else_fails_the_job() {
    let case =
        json!({"web": {"http://site.test/": {"fail": "transient"}}, "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 4);
    assert!(failure(&trace).contains("cannot fetch the start page http://site.test/. Reason: no answer"));
    assert_eq!(
        trace.times_of("http://site.test/"),
        [20, 1040, 3060],
        "three attempts with back-off"
    );
    assert_eq!(trace.store.errors.len(), 1);
}

#[test]
fn a_sitemap_is_another_seed() {
    let case = json!({"web": {"http://site.test/": {"fail": "final"}, "http://site.test/m": []},
        "sitemaps": {"http://site.test/sitemap.xml": ["/m"]}, "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 4);
    assert_eq!(trace.store.end, Some(JobEnd::Completed));
    assert_eq!(visited(&trace), ["http://site.test/m"]);
    assert_eq!(
        trace.times_of("http://site.test/").len(),
        1,
        "a permanent failure is not retried"
    );
}

#[test]
fn sitemap_pages_come_before_the_links_of_the_start_page() {
    let mut case = json!({"web": {"http://site.test/": ["/a", "/b"], "http://site.test/a": ["/below-a"],
        "http://site.test/b": ["/below-b"], "http://site.test/below-a": [], "http://site.test/below-b": [],
        "http://site.test/m": []}, "sitemaps": {"http://site.test/sitemap.xml": ["/m", "/a"]},
        "request": {"url": "http://site.test/", "limit": 3}});
    let expected = ["http://site.test/", "http://site.test/m", "http://site.test/a"];
    assert_eq!(visited(&crawl(&case, 1)), expected);
    // A page named by both has depth 0, so its links have depth 1.
    case["request"] = json!({"url": "http://site.test/", "maxDiscoveryDepth": 1});
    let expected = [&expected[..], &["http://site.test/b", "http://site.test/below-a"]].concat();
    assert_eq!(visited(&crawl(&case, 1)), expected);
    // A crawl of one page does not wait for sitemaps.
    case["request"] = json!({"url": "http://site.test/", "limit": 1});
    let trace = crawl(&case, 1);
    assert_eq!(visited(&trace), expected[..1]);
    assert!(trace.times_of("http://site.test/sitemap.xml").is_empty());
}

#[test]
fn a_host_without_readable_robots_txt_is_given_up_after_three_attempts() {
    let case = json!({"web": {"http://site.test/": []}, "robots": {"http://site.test": 9},
        "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 4);
    assert!(failure(&trace).contains("cannot read http://site.test/robots.txt"));
    assert_eq!(trace.times_of("http://site.test/robots.txt"), [0, 1020, 3040]);
    assert_eq!(trace.requests.len(), 3);
    assert_eq!(trace.store.robots_blocked.len(), 1);
    let case = json!({"web": {"http://site.test/": []}, "robots": {"http://site.test": 2},
        "request": {"url": "http://site.test/"}});
    assert_eq!(visited(&crawl(&case, 4)), ["http://site.test/"]);
}

#[test]
fn an_unreachable_start_host_fails_the_job() {
    for (code, tries) in [
        ("SCRAPE_DNS_RESOLUTION_ERROR", 1),
        ("SCRAPE_SSL_ERROR", 1),
        ("SCRAPE_SITE_ERROR", 3),
    ] {
        let case = json!({"web": {"http://site.test/": []}, "robots": {"http://site.test": {"fault": code}},
            "request": {"url": "http://site.test/"}});
        let trace = crawl(&case, 4);
        assert!(
            failure(&trace)
                .contains("cannot fetch the start page http://site.test/. Reason: no way to the host")
        );
        assert_eq!(
            trace.times_of("http://site.test/robots.txt").len(),
            tries,
            "{code}"
        );
        assert_eq!(trace.requests.len(), tries, "nothing else was fetched");
        let [(url, error)] = &trace.store.errors[..] else {
            panic!("{:?}", trace.store.errors)
        };
        assert_eq!((url.as_str(), error.code.as_str()), ("http://site.test/", code));
        assert!(trace.store.robots_blocked.is_empty() && trace.store.warnings.is_empty());
        assert_eq!(
            (trace.store.admitted, trace.store.failed),
            (1, 1),
            "the start page counts as attempted"
        );
    }
}

#[test]
fn each_page_of_an_unreachable_host_has_its_own_error() {
    let case = json!({"web": {"http://site.test/": ["http://docs.site.test/a", "http://docs.site.test/b"]},
        "robots": {"http://docs.site.test": {"fault": "SCRAPE_DNS_RESOLUTION_ERROR"}},
        "request": {"url": "http://site.test/", "allowSubdomains": true}});
    let trace = crawl(&case, 4);
    assert_eq!(trace.store.end, Some(JobEnd::Completed));
    let failed: Vec<&str> = trace.store.errors.iter().map(|(url, _)| url.as_str()).collect();
    assert_eq!(failed, ["http://docs.site.test/a", "http://docs.site.test/b"]);
    assert_ne!(trace.store.errors[0].1.id, trace.store.errors[1].1.id);
    assert!(trace.store.robots_blocked.is_empty() && trace.store.warnings.is_empty());
}

#[test]
fn a_rejected_start_page_completes_the_job_without_pages() {
    let web = json!({"http://site.test/docs": ["/docs/a"]});
    let case = json!({"web": web, "robots": {"http://site.test": "User-agent: *\nDisallow: /docs"},
        "request": {"url": "http://site.test/docs"}});
    let trace = crawl(&case, 4);
    assert_eq!(trace.store.end, Some(JobEnd::Completed));
    assert!(visited(&trace).is_empty() && has_warning(&trace, "robots.txt disallows it"));
    assert_eq!(trace.store.robots_blocked.len(), 1);

    let case = json!({"web": web, "request": {"url": "http://site.test/docs", "excludePaths": ["docs"]}});
    let trace = crawl(&case, 4);
    assert_eq!(trace.store.end, Some(JobEnd::Completed));
    assert!(trace.requests.is_empty() && has_warning(&trace, "matches excludePaths"));
}

#[test]
fn pages_blocked_by_robots_are_listed_with_one_warning() {
    let case = json!({"web": {"http://site.test/": ["/x/1", "/x/2"]},
        "robots": {"http://site.test": "User-agent: *\nDisallow: /x/"}, "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 4);
    let blocked: Vec<&str> = trace
        .store
        .robots_blocked
        .iter()
        .map(|url| url.as_str())
        .collect();
    assert_eq!(blocked, ["http://site.test/x/1", "http://site.test/x/2"]);
    assert_eq!(trace.store.warnings, [warnings::ROBOTS]);
}

#[test]
fn the_group_of_the_robots_agent_applies() {
    let robots =
        json!({"http://site.test": "User-agent: special\nDisallow: /a\n\nUser-agent: *\nDisallow: /b"});
    let web = json!({"http://site.test/": ["/a", "/b"], "http://site.test/a": [], "http://site.test/b": []});
    let pages = |extra: Value| {
        let mut case = json!({"web": web, "robots": robots, "request": {"url": "http://site.test/"}});
        case["request"]
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        visited(&crawl(&case, 1))
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(pages(json!({})), ["http://site.test/", "http://site.test/a"]);
    assert_eq!(
        pages(json!({"robotsUserAgent": "special"})),
        ["http://site.test/", "http://site.test/b"]
    );
    assert_eq!(pages(json!({"ignoreRobotsTxt": true})).len(), 3);
}

#[test]
fn a_warning_names_the_child_rule_if_only_one_page_is_left() {
    let web = json!({"http://site.test/docs": ["/", "/blog"], "http://site.test/": [], "http://site.test/blog": []});
    let trace = crawl(
        &json!({"web": web, "request": {"url": "http://site.test/docs"}}),
        4,
    );
    assert_eq!(trace.store.warnings, [warnings::ONLY_CHILDREN]);
    let trace = crawl(
        &json!({"web": web, "request": {"url": "http://site.test/docs", "limit": 1}}),
        4,
    );
    assert!(trace.store.warnings.is_empty(), "the request asks for one page");
    let request = json!({"url": "http://site.test/docs", "crawlEntireDomain": true});
    let trace = crawl(&json!({"web": web, "request": request}), 4);
    assert!(trace.store.warnings.is_empty() && trace.store.completed == 3);
}

#[test]
fn a_guessed_https_falls_back_to_http() {
    let case = json!({"web": {"http://site.test/": ["/a"], "http://site.test/a": []},
        "robots": {"https://site.test": {"fault": "SCRAPE_SSL_ERROR"}}, "request": {"url": "site.test"}});
    assert_eq!(
        visited(&crawl(&case, 4)),
        ["http://site.test/", "http://site.test/a"]
    );
}

#[test]
fn a_redirect_of_the_start_page_moves_the_scope() {
    let case = json!({"web": {"http://site.test/": {"redirect": "http://docs.site.test/en/"},
        "http://docs.site.test/en/": ["/en/a", "/de/a", "http://site.test/x"], "http://docs.site.test/en/a": [],
        "http://docs.site.test/de/a": [], "http://docs.site.test/en/m": []},
        "sitemaps": {"http://docs.site.test/sitemap.xml": ["/en/m"], "http://site.test/sitemap.xml": ["/y"]},
        "request": {"url": "http://site.test/"}});
    let expected = [
        "http://site.test/", "http://docs.site.test/en/m", "http://docs.site.test/en/a",
    ];
    assert_eq!(visited(&crawl(&case, 1)), expected);
}

#[test]
fn redirects_out_of_scope_are_errors_and_do_not_count_against_the_limit() {
    let case = json!({"web": {"http://site.test/": ["/out", "/a"], "http://site.test/out": {"redirect": "http://other.test/x"},
        "http://other.test/x": [], "http://site.test/a": []}, "request": {"url": "http://site.test/", "limit": 2}});
    let trace = crawl(&case, 4);
    assert_eq!(visited(&trace), ["http://site.test/", "http://site.test/a"]);
    assert_eq!(trace.store.errors[0].1.code, ErrorCode::OutOfScope);

    let case = json!({"web": {"http://site.test/": {"redirect": "http://other.test/x"}, "http://other.test/x": []},
        "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 4);
    assert!(visited(&trace).is_empty() && has_warning(&trace, "redirects to http://other.test/x"));
}

#[test]
fn a_redirect_to_a_disallowed_page_is_listed_as_blocked() {
    let case = json!({"web": {"http://site.test/": ["/r"], "http://site.test/r": {"redirect": "http://docs.site.test/p"},
        "http://docs.site.test/p": []}, "robots": {"http://docs.site.test": "User-agent: *\nDisallow: /"},
        "request": {"url": "http://site.test/", "allowSubdomains": true}});
    let trace = crawl(&case, 4);
    assert_eq!(visited(&trace), ["http://site.test/"]);
    assert_eq!(trace.store.robots_blocked[0].as_str(), "http://docs.site.test/p");
}

#[test]
fn large_pages_that_wait_for_another_robots_txt_are_bounded() {
    let paths: Vec<String> = (0..40).map(|number| format!("/{number}")).collect();
    let mut web = json!({"http://site.test/": paths});
    for path in &paths {
        web[format!("http://site.test{path}")] = json!({"redirect": format!("http://docs.site.test{path}")});
        web[format!("http://docs.site.test{path}")] = json!({"markdown": 4 << 20});
    }
    let case = json!({"web": web, "robots": {"http://docs.site.test": 2},
        "request": {"url": "http://site.test/", "allowSubdomains": true}});
    let trace = crawl(&case, 2);
    let decided = trace.times_of("http://docs.site.test/robots.txt")[2];
    let early = trace
        .requests
        .iter()
        .filter(|(at, url)| *at < decided && paths.iter().any(|path| url.ends_with(path)));
    assert!(early.count() <= 6, "16 MiB, and one page in flight");
    assert_eq!(visited(&trace).len(), 41);
}

#[test]
fn transient_errors_are_tried_three_times_and_then_accepted() {
    let case = json!({"web": {"http://site.test/": ["/busy", "/down"],
        "http://site.test/busy": {"status": 429, "times": 1, "retry_after_ms": 5000, "links": ["/more"]},
        "http://site.test/down": {"status": 503}, "http://site.test/more": []}, "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 1);
    let busy = trace.times_of("http://site.test/busy");
    assert_eq!(busy.len(), 2);
    assert!(busy[1] - busy[0] >= 5000, "{busy:?}");
    assert!(
        trace
            .requests
            .iter()
            .all(|(at, _)| *at <= busy[0] + 20 || *at >= busy[1]),
        "the host is left alone"
    );
    assert_eq!(trace.times_of("http://site.test/down").len(), 3);
    assert_eq!(trace.store.completed, 4);
    let down = trace
        .store
        .pages
        .iter()
        .find(|page| page.offer.url.path() == "/down")
        .unwrap();
    assert_eq!(down.document.metadata.status_code, Some(503));
}

#[test]
fn an_hour_of_retry_after_is_not_waited_for() {
    let case = json!({"web": {"http://site.test/": {"status": 503, "retry_after_ms": 3_600_000}},
        "request": {"url": "http://site.test/", "sitemap": "skip"}});
    let trace = crawl(&case, 1);
    assert_eq!(trace.times_of("http://site.test/").len(), 1);
    assert_eq!(trace.store.completed, 1);
}

#[test]
fn delay_spaces_all_starts() {
    let links: Vec<String> = (0..6).map(|i| format!("/{i}")).collect();
    let case = json!({"web": {"http://site.test/": links}, "robots": {"http://site.test": "User-agent: *\nCrawl-delay: 30"},
        "request": {"url": "http://site.test/", "delay": 0.5, "maxConcurrency": 4}});
    let trace = crawl(&case, 8);
    let starts: Vec<u64> = trace.requests.iter().skip(1).map(|(at, _)| *at).collect();
    assert_eq!(starts.len(), 8, "seven pages and the sitemap");
    assert!(
        starts.windows(2).all(|pair| pair[1] - pair[0] == 500),
        "{starts:?}"
    );
}

#[test]
fn crawl_delay_in_robots_txt_is_kept() {
    let case = json!({"web": {"http://site.test/": ["/a", "/b"]}, "robots": {"http://site.test": "User-agent: *\nCrawl-delay: 2"},
        "request": {"url": "http://site.test/", "sitemap": "skip"}});
    let starts: Vec<u64> = crawl(&case, 8).requests.iter().map(|(at, _)| *at).collect();
    assert_eq!(starts, [0, 20, 2020, 4020]);
}

#[test]
fn crawl_delay_counts_from_the_first_request_including_sitemaps() {
    let case = json!({"web": {"http://site.test/": []},
        "robots": {
            "http://site.test": "Sitemap: http://maps.site.test/a.xml\nSitemap: http://maps.site.test/b.xml",
            "http://maps.site.test": "User-agent: *\nCrawl-delay: 3"},
        "sitemaps": {
            "http://maps.site.test/a.xml": ["http://maps.site.test/1", "http://maps.site.test/2"],
            "http://maps.site.test/b.xml": []},
        "request": {"url": "http://site.test/", "allowSubdomains": true}});
    let trace = crawl(&case, 8);
    let at_maps = trace
        .requests
        .iter()
        .filter(|(_, url)| url.starts_with("http://maps."));
    let (times, urls): (Vec<u64>, Vec<&str>) = at_maps.map(|(at, url)| (*at, url.as_str())).unzip();
    assert_eq!(urls[0], "http://maps.site.test/robots.txt");
    let pauses: Vec<u64> = times[1..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(pauses, [3000; 3], "two sitemaps and two pages: {urls:?}");
}

#[test]
fn urls_beyond_the_known_limit_are_ignored_with_a_warning() {
    let links: Vec<String> = (0..40_000).map(|i| format!("/{i}")).collect();
    let case =
        json!({"web": {"http://site.test/": links}, "request": {"url": "http://site.test/", "limit": 1000}});
    let trace = crawl(&case, 8);
    assert_eq!(trace.store.completed, 1000);
    assert_eq!(trace.store.warnings, [warnings::TOO_MANY_URLS]);
    assert_eq!(trace.store.known(), 30_000);
}

#[test]
fn a_continued_crawl_fetches_only_what_the_earlier_one_left() {
    let links: Vec<String> = (0..6).map(|page| format!("/{page}")).collect();
    let mut case = json!({"web": {"http://site.test/": links, "http://site.test/0": {"fail": "final"},
        "http://site.test/1": ["/", "/0", "/2", "/1/a"], "http://site.test/5": ["/1", "/new"]},
        "sitemaps": {"http://site.test/sitemap.xml": ["/map"]},
        "request": {"url": "http://site.test/", "limit": 4}});
    let first = crawl(&case, 1);
    let paths = |trace: &Trace| -> Vec<String> {
        let pages = trace.store.pages.iter();
        pages.map(|page| page.offer.url.path().to_owned()).collect()
    };
    assert_eq!(paths(&first), ["/", "/map", "/1"]);
    case["web"]["http://site.test/0"] = json!([]);
    let second = crawl_from(&case, 1, first.store.continued());
    assert_eq!(
        paths(&second),
        ["/0", "/2", "/3", "/4"],
        "failed pages first, then those beyond the limit"
    );
    assert_eq!(second.requests[0].1, "http://site.test/robots.txt");
    assert_eq!(
        second.requests.len(),
        5,
        "neither the start page nor the sitemap is read again: {:?}",
        second.requests
    );
    let third = crawl_from(&case, 1, second.store.continued());
    assert_eq!(paths(&third), ["/5", "/1/a", "/new"]);
    assert_eq!(third.store.end, Some(JobEnd::Completed));
    let last = crawl_from(&case, 1, third.store.continued());
    assert_eq!(
        (last.store.completed, last.store.end),
        (0, Some(JobEnd::Completed))
    );
}

#[test]
fn a_continued_crawl_starts_over_if_its_start_page_failed() {
    let mut case = json!({"web": {"http://site.test/": {"fail": "final"}, "http://site.test/a": ["/"]},
        "sitemaps": {"http://site.test/sitemap.xml": ["/a"]}, "request": {"url": "http://site.test/"}});
    let first = crawl(&case, 1);
    assert_eq!(visited(&first), ["http://site.test/a"]);
    case["web"]["http://site.test/"] = json!(["/a", "/b"]);
    let second = crawl_from(&case, 1, first.store.continued());
    assert_eq!(visited(&second), ["http://site.test/", "http://site.test/b"]);
}

#[test]
fn known_urls_of_a_continued_crawl_do_not_count_towards_its_limit() {
    let links: Vec<String> = (0..40_000).map(|i| format!("/{i}")).collect();
    let more: Vec<String> = (0..40_000).map(|i| format!("/more/{i}")).collect();
    let case = json!({"web": {"http://site.test/": links, "http://site.test/9": more},
        "request": {"url": "http://site.test/", "limit": 10, "sitemap": "skip"}});
    let first = crawl(&case, 8);
    assert_eq!(first.store.known(), 10_200);
    let second = crawl_from(&case, 8, first.store.continued());
    assert_eq!((second.store.completed, second.store.known()), (10, 20_400));
}

#[test]
fn cyclic_and_deep_sitemap_indexes_terminate() {
    let files: Vec<String> = (0..600).map(|i| format!("/s{i}.xml")).collect();
    let case = json!({"web": {"http://site.test/": []}, "sitemaps": {
        "http://site.test/sitemap.xml": {"index": ["/l2.xml", "/sitemap.xml"]}, "http://site.test/l2.xml": {"index": ["/l3.xml"]},
        "http://site.test/l3.xml": {"index": ["/l4.xml"]}, "http://site.test/l4.xml": {"index": ["/l5.xml"]},
        "http://site.test/l5.xml": {"index": ["/l6.xml"]}, "http://site.test/l6.xml": ["/never"]},
        "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 4);
    assert_eq!(trace.times_of("http://site.test/l5.xml").len(), 1);
    assert!(
        trace.times_of("http://site.test/l6.xml").is_empty(),
        "five levels"
    );
    let case = json!({"web": {"http://site.test/": []}, "sitemaps": {"http://site.test/sitemap.xml": {"index": files}},
        "request": {"url": "http://site.test/"}});
    let trace = crawl(&case, 4);
    assert_eq!(
        trace
            .requests
            .iter()
            .filter(|(_, url)| url.ends_with(".xml"))
            .count(),
        500
    );
}

#[test]
fn a_slow_crawl_commits_several_pages_at_once() {
    let pages: Vec<String> = (0..100).map(|number| format!("/{number}")).collect();
    let mut case = json!({"web": {"http://site.test/": pages}, "request": {"url": "http://site.test/"}});
    for page in &pages {
        case["web"][format!("http://site.test{page}")] = json!([]);
    }
    let trace = crawl(&case, 1);
    assert_eq!(trace.commits.iter().sum::<usize>(), 101);
    assert!(trace.commits.len() <= 30, "{:?}", trace.commits);
}

#[test]
fn pages_are_fetched_breadth_first() {
    let case = json!({"web": {"http://site.test/": ["/a", "/b"], "http://site.test/a": ["/a/1"], "http://site.test/a/1": ["/a/1/x"],
        "http://site.test/b": ["/b/1"], "http://site.test/b/1": [], "http://site.test/a/1/x": []},
        "request": {"url": "http://site.test/", "sitemap": "skip"}});
    let paths = ["/", "/a", "/b", "/a/1", "/b/1", "/a/1/x"].map(|path| format!("http://site.test{path}"));
    assert_eq!(visited(&crawl(&case, 1)), paths);
}
