//! Responses as third-party clients parse them: field names, integers, null and absent fields.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::fmt::Debug;

use harvestman_core::api::batch::{BatchScrapeRequest, BatchStarted};
use harvestman_core::api::browser::{BrowserSession, BrowserSessions, SessionStatus};
use harvestman_core::api::crawl::{ActiveCrawl, ActiveCrawls, CrawlRequest, JobStarted};
use harvestman_core::api::interact::{ExecuteResponse, SessionEnded};
use harvestman_core::api::job::{
    JobCancelled, JobErrorEntry, JobErrors, JobProgress, StatusPath, StatusQuery,
};
use harvestman_core::api::map::{MapLink, MapResponse};
use harvestman_core::api::scrape::ScrapeResponse;
use harvestman_core::api::search_response::{SearchResponse, WebResult, scraped_fields};
use harvestman_core::api::team::{
    API_VERSION, Activity, ActivityEntry, ActivityQuery, ConcurrencyCheck, CreditPeriod, CreditUsage, Data,
    Endpoint, KeyUse, QueueStatus, TokenPeriod, TokenUsage, UsageHistory, UsageQuery,
};
use harvestman_core::api::{Document, ErrorCode, Metadata, Wire};
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::month::Month;
use harvestman_core::paging::Cursor;
use harvestman_core::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const ID: &str = "018f2f9e-0000-7000-8000-000000000001";
const TIME: Timestamp = Timestamp(1_769_850_300_000);

fn id() -> JobId {
    ID.parse().unwrap()
}

/// Checks that the response serializes to this JSON and parses back, also with an unknown field.
#[track_caller]
fn check<A: Serialize + DeserializeOwned + PartialEq + Debug>(response: A, expected: Value) {
    let mut sent = serde_json::to_value(&response).unwrap();
    assert_eq!(sent, expected);
    assert_eq!(serde_json::from_value::<A>(sent.clone()).unwrap(), response);
    sent["aFieldOfTomorrow"] = json!({"x": 1});
    assert_eq!(serde_json::from_value::<A>(sent).unwrap(), response);
}

#[test]
fn jobs() {
    let url = StatusPath::Crawl.url("http://h.test:3002", id());
    assert_eq!(url, format!("http://h.test:3002/v2/crawl/{ID}"));
    check(
        JobStarted::new(id(), url.clone()),
        json!({"success": true, "id": ID, "url": url}),
    );
    check(
        JobCancelled::new(),
        json!({"success": true, "status": "cancelled"}),
    );
    let entry = JobErrorEntry {
        id: id().into(),
        timestamp: TIME,
        url: "https://a.test/".to_owned(),
        code: ErrorCode::ScrapeTimeout,
        error: "Too slow.".to_owned(),
    };
    check(
        JobErrors::new(vec![entry], vec!["https://a.test/x".to_owned()]),
        json!({"success": true, "robotsBlocked": ["https://a.test/x"], "errors": [{
            "id": ID, "timestamp": "2026-01-31T09:05:00.000Z", "url": "https://a.test/",
            "code": "SCRAPE_TIMEOUT", "error": "Too slow."}]}),
    );
    let status = json!({"success": true, "status": "completed", "total": 2, "completed": 1, "creditsUsed": 1,
        "expiresAt": "2026-01-31T09:05:00.000Z", "completedAt": "2026-01-31T09:05:00.000Z", "duration": 1.5,
        "next": null, "warning": "w", "data": [{"metadata": {}}]});
    let read: JobProgress = serde_json::from_value(status.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), status);
    let failed = serde_json::from_value::<JobProgress>(json!({"status": "failed", "error": "e"})).unwrap();
    assert_eq!((failed.error.as_deref(), failed.next), (Some("e"), None));
}

#[test]
fn status_queries() {
    let read = |query| StatusQuery::parse(query).map_err(|error| error.status());
    assert_eq!(read(""), Ok(StatusQuery { skip: 0, limit: None }));
    assert_eq!(
        read("skip=5&limit=1000&x=1"),
        Ok(StatusQuery {
            skip: 5,
            limit: Some(1000)
        })
    );
    for bad in [
        "skip=-1", "skip=a", "limit=0", "limit=1001", "limit=", "skip=99999999999999999999",
    ] {
        assert_eq!(read(bad), Err(400), "{bad}");
    }
}

#[test]
fn active_crawls_show_every_option() {
    let request =
        CrawlRequest::from_json(br#"{"url":"a.test","limit":5,"scrapeOptions":{"formats":["links"]}}"#);
    let team: TeamId = ID.parse().unwrap();
    let crawl = ActiveCrawl::new(id(), team, TIME, &request.unwrap());
    let response = serde_json::to_value(ActiveCrawls {
        success: true,
        crawls: vec![crawl],
    })
    .unwrap();
    let crawl = &response["crawls"][0];
    assert_eq!(
        (&crawl["id"], &crawl["teamId"], &crawl["url"]),
        (&json!(ID), &json!(ID), &json!("a.test"))
    );
    assert_eq!(crawl["created_at"], "2026-01-31T09:05:00.000Z");
    assert_eq!(crawl["options"]["limit"], 5);
    assert_eq!(crawl["options"]["sitemap"], "include");
    assert_eq!(crawl["options"]["scrapeOptions"]["formats"], json!(["links"]));
    assert_eq!(crawl["options"]["scrapeOptions"]["timeout"], 60000);
    assert_eq!(
        crawl["options"]["scrapeOptions"]["location"],
        json!({"country": "US", "languages": ["en-US"]})
    );
}

#[test]
fn batches_report_invalid_urls() {
    let start = |body: Value| {
        let mut request = BatchScrapeRequest::from_value(body).unwrap();
        let left_out = request.take_invalid_urls();
        serde_json::to_value(BatchStarted::new(id(), "u".to_owned(), left_out)).unwrap()
    };
    assert_eq!(
        start(json!({"urls": ["a.test", "ftp://b"]}))["invalidURLs"],
        json!(["ftp://b"])
    );
    assert_eq!(start(json!({"urls": ["a.test"]}))["invalidURLs"], json!([]));
    assert_eq!(
        start(json!({"urls": ["a.test"], "ignoreInvalidURLs": false})).get("invalidURLs"),
        None
    );
}

#[test]
fn pages() {
    let document = Document {
        metadata: Metadata {
            status_code: Some(200),
            ..Metadata::default()
        },
        ..Document::default()
    };
    check(
        ScrapeResponse::done(document.clone()),
        json!({"success": true, "data": {"metadata": {"statusCode": 200}}}),
    );
    check(
        ScrapeResponse::running(),
        json!({"success": true, "status": "scraping"}),
    );
    let link = MapLink {
        url: "https://a.test/".to_owned(),
        title: None,
        description: Some("d".to_owned()),
    };
    check(
        MapResponse {
            success: true,
            id: Some(id()),
            links: vec![link],
            warning: None,
        },
        json!({"success": true, "id": ID, "links": [{"url": "https://a.test/", "description": "d"}]}),
    );
}

#[test]
fn scraped_results_are_distinguished_from_bare_ones() {
    let bare = WebResult {
        url: "https://a.test/".to_owned(),
        position: Some(1),
        ..WebResult::default()
    };
    assert_eq!(
        serde_json::to_value(&bare).unwrap(),
        json!({"url": "https://a.test/", "title": "", "description": "", "position": 1})
    );
    assert_eq!(bare.document(), None);
    let document = Document {
        markdown: Some("m".to_owned()),
        ..Document::default()
    };
    let scraped = WebResult {
        scraped: scraped_fields(&document),
        ..bare
    };
    let text = serde_json::to_string(&scraped).unwrap();
    let read: WebResult = serde_json::from_str(&text).unwrap();
    assert_eq!(read.document().unwrap().markdown.as_deref(), Some("m"));
    let response: SearchResponse =
        serde_json::from_value(json!({"success": true, "data": {"news": []}})).unwrap();
    assert_eq!((response.data.web, response.data.news), (None, Some(vec![])));
}

#[test]
fn teams() {
    let period = CreditPeriod::new(Month::of(TIME), None, 7);
    let time = "2026-01-31T09:05:00.000Z";
    let (start, end) = ("2026-01-01T00:00:00.000Z", "2026-01-31T23:59:59.999Z");
    check(
        UsageHistory {
            success: true,
            periods: vec![TokenPeriod::from(period.clone())],
        },
        json!({"success": true, "periods": [{"startDate": start, "endDate": end, "totalTokens": 105, "tokensUsed": 105}]}),
    );
    let period = CreditPeriod {
        api_key: Some("main".to_owned()),
        ..period
    };
    check(
        UsageHistory {
            success: true,
            periods: vec![period],
        },
        json!({"success": true, "periods": [
            {"startDate": start, "endDate": end, "apiKey": "main", "totalCredits": 7, "creditsUsed": 7}]}),
    );
    let usage = CreditUsage {
        remaining_credits: 3,
        plan_credits: 10,
        billing_period_start: TIME,
        billing_period_end: TIME,
    };
    check(
        Data::new(TokenUsage::from(usage)),
        json!({"success": true, "data": {"remainingTokens": 45, "planTokens": 150, "billingPeriodStart": time, "billingPeriodEnd": time}}),
    );
    check(
        QueueStatus {
            success: true,
            ..QueueStatus::default()
        },
        json!({"success": true, "jobsInQueue": 0, "activeJobsInQueue": 0, "waitingJobsInQueue": 0,
               "maxConcurrency": 0, "mostRecentSuccess": null}),
    );
    check(
        ConcurrencyCheck {
            success: true,
            concurrency: 1,
            max_concurrency: 8,
        },
        json!({"success": true, "concurrency": 1, "maxConcurrency": 8}),
    );
    let entry = ActivityEntry {
        id: id(),
        endpoint: Endpoint::BatchScrape,
        api_version: API_VERSION.to_owned(),
        created_at: TIME,
        target: None,
        audit_metadata: None,
    };
    check(
        Activity {
            success: true,
            data: vec![entry],
            cursor: None,
            has_more: false,
        },
        json!({"success": true, "cursor": null, "has_more": false, "data": [
            {"id": ID, "endpoint": "batch_scrape", "api_version": "v2", "created_at": time, "target": null}]}),
    );
}

#[test]
fn a_usage_report_lists_the_current_month_and_every_month_with_usage() {
    let month = |name: &str| Month::parse(name).unwrap();
    let used = |name: &str, key: &str, credits| KeyUse {
        month: month(name),
        api_key: key.to_owned(),
        credits,
    };
    let report = |entries: &[KeyUse], current, by_api_key| -> Vec<String> {
        let query = UsageQuery { by_api_key };
        let report = UsageHistory::of(entries.to_vec(), query, month(current), "asking");
        let tokens = report.clone().in_tokens().periods;
        assert!(report.periods.iter().zip(&tokens).all(|(credits, tokens)| {
            tokens.total_tokens == 15 * credits.total_credits && tokens.start_date == credits.start_date
        }));
        let lines = report.periods.iter().map(|period| {
            assert_eq!(period.total_credits, period.credits_used);
            let key = period.api_key.as_deref().unwrap_or("-");
            format!("{} {key} {}", Month::of(period.start_date), period.credits_used)
        });
        lines.collect()
    };
    let entries = [
        used("2025-12", "a", 1),
        used("2025-12", "b", 2),
        used("2026-02", "b", 4),
    ];
    assert_eq!(report(&entries, "2026-02", false), ["2025-12 - 3", "2026-02 - 4"]);
    assert_eq!(
        report(&entries, "2026-03", false),
        ["2025-12 - 3", "2026-02 - 4", "2026-03 - 0"]
    );
    assert_eq!(
        report(&entries, "2026-01", true),
        ["2025-12 a 1", "2025-12 b 2", "2026-01 asking 0", "2026-02 b 4"]
    );
    assert_eq!(report(&[], "2026-01", false), ["2026-01 - 0"]);
    assert_eq!(report(&[], "2026-01", true), ["2026-01 asking 0"]);
}

#[test]
fn remaining_credits_are_the_unused_budget_or_unlimited() {
    let left = |budget, used| {
        let usage = CreditUsage::of(Month::of(TIME), budget, used);
        (usage.remaining_credits, usage.plan_credits)
    };
    assert_eq!(left(Some(10), 3), (7, 10));
    assert_eq!(left(Some(10), 12), (0, 10));
    assert_eq!(left(None, 12), (1_000_000_000, 1_000_000_000));
}

#[test]
fn activity_has_a_cursor_to_the_next_page() {
    let entry = |minute: u64| ActivityEntry {
        id: id(),
        endpoint: Endpoint::Scrape,
        api_version: API_VERSION.to_owned(),
        created_at: Timestamp(TIME.0 - minute * 60_000),
        target: None,
        audit_metadata: None,
    };
    let found: Vec<_> = (0..3).map(entry).collect();
    let response = Activity::of(found.clone(), 2);
    assert_eq!((response.data.len(), response.has_more), (2, true));
    let cursor = Cursor::decode(&response.cursor.unwrap()).unwrap();
    assert_eq!((cursor.time, cursor.id), (found[1].created_at, id().0));
    let response = Activity::of(found, 3);
    assert_eq!(
        (response.data.len(), response.has_more, response.cursor),
        (3, false, None)
    );
}

#[test]
fn a_queue_counts_running_and_waiting_pages() {
    let queue = |unsettled, in_work| {
        let queue = QueueStatus::of(unsettled, in_work, 8, None);
        [
            queue.jobs_in_queue, queue.active_jobs_in_queue, queue.waiting_jobs_in_queue,
        ]
    };
    assert_eq!(queue(5, 2), [5, 2, 3]);
    // A page in flight whose job has just ended.
    assert_eq!(queue(0, 1), [1, 1, 0]);
}

#[test]
fn team_queries() {
    let activity = |query| ActivityQuery::parse(query).map_err(|error| error.status());
    assert_eq!(activity("").unwrap().limit, 50);
    assert_eq!(
        activity("endpoint=deep_research&limit=100").unwrap().endpoint,
        Some(Endpoint::DeepResearch)
    );
    for bad in ["endpoint=Crawl", "limit=0", "limit=101", "cursor=x", "cursor="] {
        assert_eq!(activity(bad), Err(400), "{bad}");
    }
    let usage = |query| {
        UsageQuery::parse(query)
            .map(|query| query.by_api_key)
            .map_err(|error| error.status())
    };
    assert_eq!(
        ["", "byApiKey=1", "byApiKey=false"].map(usage),
        [Ok(false), Ok(true), Ok(false)]
    );
    assert_eq!(usage("byApiKey=yes"), Err(400));
}

#[test]
fn sessions() {
    let response = ExecuteResponse {
        success: false,
        exit_code: Some(124),
        killed: Some(true),
        error: Some("e".to_owned()),
        ..ExecuteResponse::default()
    };
    check(
        response,
        json!({"success": false, "exitCode": 124, "killed": true, "error": "e"}),
    );
    check(
        SessionEnded {
            success: true,
            session_duration_ms: 61_000,
            credits_billed: 3,
            error: None,
        },
        json!({"success": true, "sessionDurationMs": 61000, "creditsBilled": 3}),
    );
    let session = BrowserSession {
        id: ID.to_owned(),
        status: SessionStatus::Destroyed,
        cdp_url: String::new(),
        live_view_url: String::new(),
        interactive_live_view_url: String::new(),
        stream_web_view: true,
        created_at: TIME,
        last_activity: TIME,
    };
    let time = "2026-01-31T09:05:00.000Z";
    check(
        BrowserSessions {
            success: true,
            sessions: vec![session],
        },
        json!({"success": true, "sessions": [{"id": ID, "status": "destroyed", "cdpUrl": "", "liveViewUrl": "",
            "interactiveLiveViewUrl": "", "streamWebView": true, "createdAt": time, "lastActivity": time}]}),
    );
}
