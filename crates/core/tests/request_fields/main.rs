//! Every field of every request: valid, out of range, of the wrong type, null and unknown.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod check;
mod field;

use harvestman_core::api::agent::AgentRequest;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest};
use harvestman_core::api::crawl::SitemapMode;
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::interact::InteractRequest;
use harvestman_core::api::monitor::{MonitorChange, MonitorRequest};
use harvestman_core::api::params_preview::ParamsPreviewRequest;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::search::{SearchRequest, SearchSource, SourceKind};
use harvestman_core::api::support::DocsSearchRequest;
use harvestman_core::api::{
    BatchScrapeRequest, CrawlRequest, ErrorCode, MapRequest, ScrapeOptions, ScrapeRequest, Wire,
};
use serde_json::{Value, json};

use check::{check, check_required, check_some};
use field::*;

#[test]
fn scrape() {
    let base = json!({"url": "https://a.test"});
    let mut fields = options();
    fields.extend([url_field("url"), flag("zeroDataRetention")]);
    check::<ScrapeRequest>(base.clone(), fields);
    check_required::<ScrapeRequest>(base, &["url"]);
}

#[test]
fn crawl() {
    let base = json!({"url": "https://a.test"});
    let mut fields = extras();
    fields.extend([
        url_field("url"),
        text("prompt", 10_000),
        patterns("includePaths"),
        exclude_paths(),
        integer("maxDiscoveryDepth", 0, None),
        sitemap(),
        flag("ignoreQueryParameters"),
        flag("deduplicateSimilarURLs"),
        flag("regexOnFullURL"),
        integer("limit", 1, None),
        flag("crawlEntireDomain"),
        flag("allowExternalLinks"),
        flag("allowSubdomains"),
        flag("ignoreRobotsTxt"),
        field("robotsUserAgent", json!(["bot"]), json!([1, "", "a\r\nb"])),
        field("delay", json!([0.001, 1, 60]), json!([0, -1, 60.5, "1", true])),
        integer("maxConcurrency", 1, None),
        webhook(),
        field(
            "scrapeOptions",
            json!([{}, {"formats": ["links"], "timeout": 5000}, {"origin": "x", "fastMode": true}]),
            json!([[], "x", {"format": []}, {"formats": ["x"]}, {"timeout": 1}, {"url": "https://a.test"}, {"headers": {"a": 1}}]),
        ),
        flag("zeroDataRetention"),
        flag("ignoreSitemap"),
    ]);
    check::<CrawlRequest>(base.clone(), fields);
    check_required::<CrawlRequest>(base, &["url"]);
    let sitemap = |options: Value| {
        let mut body = json!({"url": "a.test", "ignoreSitemap": true});
        body.as_object_mut()
            .unwrap()
            .extend(options.as_object().unwrap().clone());
        CrawlRequest::from_value(body).map(|request| request.sitemap)
    };
    assert_eq!(sitemap(json!({})), Ok(SitemapMode::Skip));
    assert_eq!(sitemap(json!({"sitemap": "skip"})), Ok(SitemapMode::Skip));
    assert_eq!(sitemap(json!({"ignoreSitemap": false})), Ok(SitemapMode::Include));
    let error = sitemap(json!({"sitemap": "only"})).unwrap_err();
    assert!(error.message.starts_with("`ignoreSitemap`"), "{}", error.message);
    let error = CrawlRequest::from_value(json!({"url": "a.test", "maxDepth": 2})).unwrap_err();
    assert!(error.message.contains("`maxDiscoveryDepth`"), "{}", error.message);
}

#[test]
fn scrape_options_inside_of_a_crawl() {
    let error = |options: Value| {
        let body = json!({"url": "a.test", "scrapeOptions": options});
        CrawlRequest::from_value(body).unwrap_err().details.unwrap()[0]["path"].clone()
    };
    for field in options() {
        for bad in field.bad {
            let path = error(json!({ (field.name): bad }));
            assert_eq!(path[0], "scrapeOptions", "{path}");
            assert_eq!(path[1], field.name, "{path}");
        }
    }
}

#[test]
fn batch_scrape() {
    let base = json!({"urls": ["https://a.test", "b.test"]});
    let mut fields = options();
    fields.extend([
        field(
            "urls",
            json!([["a.test"], ["a.test", "ftp://x"], vec!["a.test"; 100_000]]),
            json!(["a.test", [], [1], ["ftp://x", ""], vec!["a.test"; 100_001]]),
        ),
        webhook(),
        field(
            "appendToId",
            json!(["018f2f9e-0000-7000-8000-000000000001"]),
            json!(["x", 1, ""]),
        ),
        flag("ignoreInvalidURLs"),
        integer("maxConcurrency", 1, None),
        flag("zeroDataRetention"),
    ]);
    check::<BatchScrapeRequest>(base.clone(), fields);
    check_required::<BatchScrapeRequest>(base, &["urls"]);
    let strict = json!({"urls": ["a.test", "ftp://x"], "ignoreInvalidURLs": false});
    let error = BatchScrapeRequest::from_value(strict).unwrap_err();
    assert_eq!(error.details.unwrap()[0]["path"], json!(["urls", 1]));
    let lenient = json!({"urls": ["https://a.test/", "ftp://x", "a.test", "https://b.test"]});
    let read = BatchScrapeRequest::from_value(lenient).unwrap();
    assert_eq!(
        (read.urls.len(), read.invalid_urls),
        (2, vec!["ftp://x".to_owned()])
    );
}

#[test]
fn map() {
    let base = json!({"url": "https://a.test"});
    let mut fields = extras();
    fields.extend([
        url_field("url"),
        text("search", 10_000),
        sitemap(),
        flag("includeSubdomains"),
        flag("ignoreQueryParameters"),
        flag("ignoreCache"),
        integer("limit", 1, Some(100_000)),
        integer("timeout", 1, None),
        location(),
        patterns("includePaths"),
        exclude_paths(),
        flag("regexOnFullURL"),
        flag("allowExternalLinks"),
        headers("headers"),
        flag("filterByPath"),
        flag("useIndex"),
        flag("deduplicateSimilarURLs"),
    ]);
    check::<MapRequest>(base.clone(), fields);
    check_required::<MapRequest>(base, &["url"]);
}

#[test]
fn params_preview_and_docs_search() {
    let prompt = |name| {
        field(
            name,
            json!(["x", "x".repeat(10_000)]),
            json!(["", 1, "x".repeat(10_001)]),
        )
    };
    let base = json!({"url": "a.test", "prompt": "the blog"});
    let mut fields = caller();
    fields.extend([url_field("url"), prompt("prompt")]);
    check::<ParamsPreviewRequest>(base.clone(), fields);
    check_required::<ParamsPreviewRequest>(base, &["url", "prompt"]);
    let base = json!({"question": "how?"});
    let mut fields = caller();
    fields.extend([
        prompt("question"),
        field(
            "jobId",
            json!(["x", "x".repeat(1024)]),
            json!(["", 1, "x".repeat(1025)]),
        ),
    ]);
    check::<DocsSearchRequest>(base.clone(), fields);
    check_required::<DocsSearchRequest>(base, &["question"]);
}

fn language() -> Field {
    field(
        "language",
        json!(["python", "node", "bash"]),
        json!(["ruby", "", 1]),
    )
}

fn execute_timeout() -> Field {
    field("timeout", json!([1, 300, 2.5]), json!([0, 0.5, 300.5, "30"]))
}

#[test]
fn interact() {
    let code = |name, max: usize| {
        field(
            name,
            json!(["x", "x".repeat(max)]),
            json!(["", 1, "x".repeat(max + 1)]),
        )
    };
    let mut fields = caller();
    fields.extend([
        code("code", 100_000),
        language(),
        execute_timeout(),
        integer("ttl", 30, Some(3600)),
        integer("activityTtl", 10, Some(3600)),
        field("existingSessionId", json!(["x"]), json!(["", 1])),
    ]);
    check_some::<InteractRequest>(json!({"code": "1"}), fields);
    check_some::<InteractRequest>(
        json!({"prompt": "look"}),
        vec![code("prompt", 10_000), language()],
    );
    for body in [
        json!({}),
        json!({"code": null}),
        json!({"code": "1", "prompt": "x"}),
    ] {
        assert_eq!(InteractRequest::from_value(body).unwrap_err().status(), 400);
    }
}

#[test]
fn browser() {
    let mut fields = caller();
    fields.extend([
        integer("ttl", 30, Some(3600)),
        integer("activityTtl", 10, Some(3600)),
        flag("streamWebView"),
        flag("blockAds"),
        profile(),
        location(),
        flag("recordSession"),
    ]);
    check::<BrowserRequest>(json!({}), fields);
    let base = json!({"code": "1"});
    let mut fields = caller();
    fields.extend([language(), execute_timeout()]);
    check::<ExecuteRequest>(base.clone(), fields);
    check_required::<ExecuteRequest>(base, &["code"]);
}

#[test]
fn search() {
    let base = json!({"query": "herons"});
    let tbs = field(
        "tbs",
        json!([
            "qdr:d",
            "qdr:h",
            "sbd:1,qdr:w",
            "cdr:1,cd_min:1/31/2026,cd_max:2/28/2026"
        ]),
        json!(["day", "qdr:x", "cdr:2", "cd_min:2026-01-31", 1]),
    );
    let domains = |name| {
        field(
            name,
            json!([[], ["a.test"]]),
            json!(["a.test", ["https://a.test"], ["a.test/x"], [""], [1]]),
        )
    };
    let mut fields = extras();
    fields.extend([
        text("filter", 1024),
        field("query", json!(["x", "x".repeat(500)]), json!(["", "x".repeat(501), 1])),
        integer("limit", 1, Some(100)),
        field(
            "sources",
            json!([[], ["web", "news", "images"], ["alexandria"], [{"type": "web", "tbs": "qdr:d", "location": "Berlin"}],
                   [{"type": "alexandria", "depth": 1}]]),
            json!(["web", ["maps"], [{}], [{"type": "web", "x": 1}], [1]]),
        ),
        field("categories", json!([[], ["github", {"type": "pdf"}], ["gov"]]), json!(["pdf", ["x"], [{}]])),
        domains("includeDomains"),
        domains("excludeDomains"),
        tbs,
        text("location", 1024),
        field("country", json!(["us", "DE"]), json!(["XX", "", 1])),
        flag("safe"),
        integer("timeout", 1, Some(300_000)),
        flag("ignoreInvalidURLs"),
        flag("highlights"),
        field("enterprise", json!([[], ["zdr"]]), json!([true, "zdr"])),
        field("scrapeOptions", json!([{}, {"formats": []}]), json!([[], {"formats": ["x"]}])),
    ]);
    check::<SearchRequest>(base.clone(), fields);
    check_required::<SearchRequest>(base, &["query"]);
    let both = json!({"query": "x", "includeDomains": ["a.test"], "excludeDomains": ["b.test"]});
    assert_eq!(SearchRequest::from_value(both).unwrap_err().status(), 400);
    let by_mcp = json!({
        "query": "x", "sources": ["web", "alexandria"], "domainTools": true, "toolDetail": "compact", "filter": "text"
    });
    let by_mcp = SearchRequest::from_value(by_mcp).unwrap();
    assert!(by_mcp.caller.domain_tools && by_mcp.filter.is_some());
    assert_eq!(by_mcp.sources, [SearchSource::new(SourceKind::Web)]);
    let inner = json!({"query": "x", "scrapeOptions": {"domainTools": true}});
    assert!(SearchRequest::from_value(inner).unwrap().caller.domain_tools);
    let gov = SearchRequest::from_value(json!({"query": "x", "categories": ["gov"]})).unwrap();
    assert_eq!(gov.check_offered().unwrap_err().status(), 501);
}

#[test]
fn extract() {
    let mut fields = extras();
    fields.extend([
        field(
            "urls",
            json!([["a.test/*", "https://b.test/c"], ["a.test", "ftp://x"]]),
            json!(["a.test", [1], ["ftp://x"], vec!["a.test"; 11]]),
        ),
        schema(),
        text("systemPrompt", 10_000),
        flag("allowExternalLinks"),
        flag("enableWebSearch"),
        flag("includeSubdomains"),
        flag("ignoreSitemap"),
        flag("showSources"),
        flag("ignoreInvalidURLs"),
        integer("limit", 1, None),
        integer("timeout", 1, None),
        field("scrapeOptions", json!([{}]), json!([{"formats": ["x"]}])),
        field(
            "agent",
            json!([{}, {"model": "m"}]),
            json!(["m", {"model": 1}, {"name": "m"}]),
        ),
        webhook(),
        flag("urlTrace"),
    ]);
    check::<ExtractRequest>(json!({"prompt": "prices"}), fields);
    check_some::<ExtractRequest>(json!({"urls": ["a.test"]}), vec![text("prompt", 10_000)]);
    assert_eq!(ExtractRequest::from_value(json!({})).unwrap_err().status(), 400);
}

#[test]
fn agent() {
    let base = json!({"prompt": "find prices"});
    let mut fields = extras();
    fields.extend([
        field("prompt", json!(["x", "x".repeat(10_000)]), json!(["", 1, "x".repeat(10_001)])),
        field("urls", json!([[], ["a.test"]]), json!(["a.test", ["ftp://x"], [1]])),
        schema(),
        integer("maxCredits", 1, None),
        flag("strictConstrainToURLs"),
        text("model", 1024),
        field("effort", json!(["low", "medium", "high"]), json!(["max", 1])),
        field(
            "webhook",
            json!([{"url": "https://h.test", "events": ["started", "action", "completed", "failed", "cancelled"]}]),
            json!([{"url": "https://h.test", "events": ["page"]}]),
        ),
        field("mode", json!(["extract", "chat"]), json!(["talk", 1])),
        field("threadId", json!(["018f2f9e-0000-7000-8000-000000000001"]), json!(["x", 1])),
        location(),
        flag("zeroDataRetention"),
    ]);
    check::<AgentRequest>(base.clone(), fields);
    check_required::<AgentRequest>(base, &["prompt"]);
}

#[test]
fn parse() {
    let mut fields = options();
    fields.push(flag("zeroDataRetention"));
    check::<ParseOptions>(json!({}), fields);
    let refuse = |options: Value| {
        ParseOptions::from_value(options)
            .unwrap()
            .check_allowed()
            .unwrap_err()
    };
    for options in [
        json!({"actions": [{"type": "scrape"}]}),
        json!({"waitFor": 5}),
        json!({"location": {"country": "DE"}}),
        json!({"mobile": true}),
        json!({"maxAge": 5}),
        json!({"minAge": 5}),
        json!({"storeInCache": false}),
        json!({"lockdown": true}),
        json!({"profile": {"name": "a"}}),
        json!({"formats": ["screenshot"]}),
        json!({"formats": ["branding"]}),
        json!({"formats": ["markdown", "changeTracking"]}),
        json!({"proxy": "enhanced"}),
    ] {
        assert_eq!(refuse(options).code, ErrorCode::ParseUnsupportedOptions);
    }
    let fine = json!({
        "mobile": false, "maxAge": 172_800_000, "proxy": "basic", "headers": {"a": "b"},
        "location": {"country": "us", "languages": ["en-US"]}
    });
    let fine = ParseOptions::from_value(fine).unwrap();
    fine.check_allowed().unwrap();
    assert_eq!(fine.options.timeout, 30_000);
}

#[test]
fn monitors() {
    let base = json!({
        "name": "prices", "schedule": {"text": "hourly"}, "targets": [{"type": "scrape", "urls": ["a.test"]}]
    });
    let mut fields = caller();
    fields.extend([
        field("name", json!(["x", "x".repeat(256)]), json!(["", 1, "x".repeat(257)])),
        field(
            "schedule",
            json!([{"cron": "0 9 * * 1"}, {"text": "daily at 9:00", "timezone": "Europe/Berlin"}]),
            json!(["hourly", {}, {"cron": "0 9 * *"}, {"cron": "0 9 * * 1", "text": "hourly"}, {"every": 5}]),
        ),
        field(
            "targets",
            json!([[{"type": "crawl", "url": "a.test", "crawlOptions": {"limit": 5}, "scrapeOptions": {"formats": ["links"]}}],
                   [{"type": "search", "queries": ["x"], "searchWindow": "7d", "maxResults": 50}],
                   [{"id": "t1", "type": "scrape", "urls": ["a.test"], "scrapeOptions": {}}]]),
            json!([[], [{}], [{"type": "scrape"}], [{"type": "scrape", "urls": []}], [{"type": "crawl"}],
                   [{"type": "crawl", "url": "a.test", "crawlOptions": {"limit": 0}}], [{"type": "search", "queries": []}],
                   [{"type": "search", "queries": ["x"], "maxResults": 51}], [{"type": "search", "queries": vec!["x"; 13]}],
                   vec![json!({"type": "crawl", "url": "a.test"}); 51]]),
        ),
        field(
            "webhook",
            json!(["https://h.test", {"url": "https://h.test", "events": ["monitor.page", "check.completed"]}]),
            json!([{"url": "https://h.test", "events": ["crawl.page"]}]),
        ),
        field("notification", json!([{"email": "a"}]), json!(["a", true])),
        integer("retentionDays", 1, Some(365)),
        text("goal", 2000),
        flag("judgeEnabled"),
    ]);
    check::<MonitorRequest>(base.clone(), fields);
    check_required::<MonitorRequest>(base, &["name", "schedule", "targets"]);
    check_some::<MonitorChange>(
        json!({}),
        vec![field(
            "status",
            json!(["active", "paused"]),
            json!(["deleted", 1]),
        )],
    );
}

#[test]
fn null_removes_parts_of_a_monitor() {
    let parts =
        json!({"webhook": "https://h.test/", "notification": {"email": "a"}, "goal": "the price falls"});
    let mut whole = json!({"name": "a", "schedule": {"text": "hourly"}, "retentionDays": 7,
        "targets": [{"type": "scrape", "urls": ["https://a.test"]}]});
    whole
        .as_object_mut()
        .unwrap()
        .extend(parts.as_object().unwrap().clone());
    let applied = |change: &Value| {
        let change = MonitorChange::from_value(change.clone()).unwrap();
        let request = MonitorRequest::from_value(whole.clone()).unwrap();
        Value::Object(change.apply(request).to_body().into_map())
    };
    assert_eq!(applied(&json!({"name": null, "retentionDays": null})), whole);
    for (name, part) in parts.as_object().unwrap() {
        let removal = json!({name: null});
        let change = MonitorChange::from_value(removal.clone()).unwrap();
        assert_eq!(serde_json::to_value(&change).unwrap(), removal, "null is sent");
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(name);
        assert_eq!(applied(&removal), without);
        assert_eq!(applied(&json!({name: part})), whole);
        let wrong = MonitorChange::from_value(json!({name: 1})).unwrap_err();
        assert!(wrong.message.starts_with(&format!("`{name}` must be")), "{wrong}");
    }
}

#[test]
fn zero_data_retention_belongs_to_the_top_level() {
    fn check<R: Wire + PartialEq + std::fmt::Debug>(body: Value) {
        let nested = |options: Value| {
            let mut body = body.clone();
            body["scrapeOptions"] = options;
            R::from_value(body)
        };
        let plain = nested(json!({})).unwrap();
        assert_eq!(nested(json!({"zeroDataRetention": false})).unwrap(), plain);
        let error = nested(json!({"zeroDataRetention": true})).err().unwrap();
        assert_eq!(error.code, ErrorCode::BadRequest);
        let expected = "`scrapeOptions.zeroDataRetention` must be false or left out";
        assert!(error.message.starts_with(expected), "{error}");
        assert!(
            error.message.contains("at the top level of the request"),
            "{error}"
        );
    }
    check::<CrawlRequest>(json!({"url": "https://a.test"}));
    check::<SearchRequest>(json!({"query": "a"}));
    check::<ExtractRequest>(json!({"urls": ["https://a.test"], "prompt": "x"}));
}

#[test]
fn private_headers_can_be_left_out() {
    let read = |options: Value| ScrapeOptions::from_value(options).unwrap();
    assert_eq!(
        read(json!({"headers": {"X-Own": "1"}})).without_private_headers(),
        None
    );
    let headers = json!({"authorization": "Bearer 1", "COOKIE": "a", "X-Own": "1"});
    let public = read(json!({ "headers": headers }))
        .without_private_headers()
        .unwrap();
    assert_eq!(public.headers.keys().collect::<Vec<_>>(), ["X-Own"]);
    let public = read(json!({"headers": {"Cookie": "a"}}))
        .without_private_headers()
        .unwrap();
    assert!(public.headers.is_empty() && public.verify_tls() && !public.stores_in_cache());
    assert_eq!(public.max_age_ms(), 0);
}

#[test]
fn absent_options_have_their_conditional_defaults() {
    let read = |options: Value| ScrapeOptions::from_value(options).unwrap();
    assert!(!read(json!({})).verify_tls());
    assert!(read(json!({"headers": {"Cookie": "a"}})).verify_tls());
    assert!(read(json!({"actions": [{"type": "scrape"}]})).verify_tls());
    assert!(!read(json!({"headers": {"Cookie": "a"}, "skipTlsVerification": true})).verify_tls());
    assert!(read(json!({"skipTlsVerification": false})).verify_tls());
    assert!(read(json!({})).stores_in_cache());
    for uncached in [
        json!({"storeInCache": false}),
        json!({"headers": {"a": "b"}}),
        json!({"profile": {"name": "a"}}),
        json!({"actions": [{"type": "scrape"}]}),
    ] {
        assert!(!read(uncached).stores_in_cache());
    }
    assert_eq!(read(json!({})).max_age_ms(), 172_800_000);
    assert_eq!(read(json!({"lockdown": true})).max_age_ms(), 63_072_000_000);
    assert_eq!(read(json!({"minAge": 5})).max_age_ms(), 63_072_000_000);
    assert_eq!(read(json!({"lockdown": true, "maxAge": 5})).max_age_ms(), 5);
}
