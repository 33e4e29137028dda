//! Usage and activity of a team, through the router.

use axum::http::{Method, StatusCode};
use harvestman_core::ids::{JobId, KeyId, TeamId};
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use harvestman_server::{bootstrap, keys};
use harvestman_store::{JobKind, NewJob};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::assertions::assert_fields;
use crate::crawl::{ALLOW, start, wait_until};
use crate::site::Site;
use crate::stored_job::new_job;

const DAY_MS: u64 = 24 * 3_600_000;

/// Stores a request of a team with its credits and time.
async fn note(
    app: &TestApp,
    (team, key): (TeamId, Option<KeyId>),
    kind: JobKind,
    credits: u32,
    at: Timestamp,
) -> JobId {
    let call = NewJob {
        key,
        url: "http://site.test/".to_owned(),
        retention_ms: DAY_MS,
        ..new_job(harvestman_engine::new_job_id(), team, kind, at)
    };
    app.app.store().record_call(&call, Ok(credits), at).await.unwrap();
    call.id
}

/// Returns the team and key of the app's API key.
async fn caller(app: &TestApp) -> (TeamId, Option<KeyId>) {
    let principal = app
        .app
        .store()
        .principal(keys::hash(&app.key))
        .await
        .unwrap()
        .unwrap();
    (principal.team, principal.key)
}

#[tokio::test]
async fn usage_is_reported_by_month_and_key() {
    let app = TestApp::start().await;
    let (team, key) = caller(&app).await;
    let now = harvestman_engine::now();
    let this = Month::of(now);
    let before = Month::of(Timestamp(this.start().0 - 1));
    let dates = |month: Month| (month.start().to_string(), month.end().to_string());
    let (start, end) = dates(this);

    // The current month is listed even without usage.
    let history = app.get("/v2/team/credit-usage/historical").await;
    assert_eq!(history.status, 200);
    let expected = json!({ "success": true, "periods": [
        { "startDate": start, "endDate": end, "totalCredits": 0, "creditsUsed": 0 }] });
    assert_eq!(history.json(), expected);

    let store = app.app.store();
    let lost = store.add_key(team, "lost", [7; 32], now).await.unwrap();
    note(&app, (team, key), JobKind::Map, 3, before.start()).await;
    note(&app, (team, Some(lost)), JobKind::Map, 4, before.end()).await;
    note(&app, (team, None), JobKind::Map, 5, this.start()).await;
    let other = store.ensure_team("others").await.unwrap();
    note(&app, (other, None), JobKind::Map, 100, now).await;

    let periods = async |path: &str| app.get(path).await.json()["periods"].clone();
    let (past_start, past_end) = dates(before);
    assert_eq!(
        periods("/v2/team/credit-usage/historical").await,
        json!([
            { "startDate": past_start, "endDate": past_end, "totalCredits": 7, "creditsUsed": 7 },
            { "startDate": start, "endDate": end, "totalCredits": 5, "creditsUsed": 5 },
        ])
    );
    assert_eq!(
        periods("/v2/team/token-usage/historical?byApiKey=true").await,
        json!([
            { "startDate": past_start, "endDate": past_end, "apiKey": "first key", "totalTokens": 45, "tokensUsed": 45 },
            { "startDate": past_start, "endDate": past_end, "apiKey": "lost", "totalTokens": 60, "tokensUsed": 60 },
            { "startDate": start, "endDate": end, "apiKey": "open mode", "totalTokens": 75, "tokensUsed": 75 },
        ])
    );
    for unit in ["credit", "token"] {
        let path = format!("/v2/team/{unit}-usage/historical?byApiKey=perhaps");
        app.get(&path).await.is_error(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn remaining_credits_are_those_of_the_current_month() {
    let unlimited = TestApp::start().await;
    let left = unlimited.get("/v2/team/token-usage").await.json();
    assert_eq!(left["data"]["remainingTokens"], 15_000_000_000_u64);
    let left = unlimited.get("/v2/team/credit-usage").await.json();
    assert_fields(
        &left["data"],
        json!({ "remainingCredits": 1_000_000_000, "planCredits": 1_000_000_000 }),
    );

    let app = TestApp::with(&[("HARVESTMAN_CREDIT_BUDGET", "20")]).await;
    let principal = caller(&app).await;
    let now = harvestman_engine::now();
    let month = Month::of(now);
    note(&app, principal, JobKind::Map, 19, Timestamp(month.start().0 - 1)).await;
    let left = async |path: &str| app.get(path).await.json();
    for (credits, remaining) in [(8, 12), (11, 1), (2, 0)] {
        note(&app, principal, JobKind::Map, credits, now).await;
        let expected = json!({ "success": true, "data": {
            "remainingCredits": remaining, "planCredits": 20,
            "billingPeriodStart": month.start().to_string(), "billingPeriodEnd": month.end().to_string() } });
        assert_eq!(left("/v2/team/credit-usage").await, expected);
        let tokens = left("/v2/team/token-usage").await;
        assert_fields(
            &tokens["data"],
            json!({ "remainingTokens": 15 * remaining, "planTokens": 300 }),
        );
    }
}

#[tokio::test]
async fn activity_is_paged_without_gap_or_repeat_while_new_entries_arrive() {
    let app = TestApp::start().await;
    let principal = caller(&app).await;
    let now = harvestman_engine::now();
    let kinds = [JobKind::Map, JobKind::Search, JobKind::Interact];
    let mut activities = Vec::new();
    for number in 0..150 {
        // Three entries per timestamp; the oldest is almost a day old.
        let at = Timestamp(now.0 - (number / 3 + 1) * (DAY_MS / 52));
        let kind = kinds[number as usize % 3];
        activities.push((at, note(&app, principal, kind, 0, at).await, kind));
    }
    note(&app, principal, JobKind::Map, 0, Timestamp(now.0 - DAY_MS)).await;
    let other = app.app.store().ensure_team("others").await.unwrap();
    note(&app, (other, None), JobKind::Map, 0, now).await;
    activities.sort_by_key(|(at, id, _)| std::cmp::Reverse((*at, *id)));

    for (limit, kind) in [
        (1, Some(JobKind::Search)),
        (7, None),
        (100, None),
        (100, Some(JobKind::Map)),
    ] {
        let filter = kind.map_or(String::new(), |kind| format!("&endpoint={}", kind.as_str()));
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v2/team/activity?limit={limit}{filter}{cursor}");
            let page = app.get(&path).await.json();
            let entries = page["data"].as_array().unwrap().clone();
            assert!(entries.len() <= limit);
            assert_eq!(page["cursor"].is_null(), page["has_more"] == false);
            walked.extend(entries);
            let Some(next) = page["cursor"].as_str() else {
                break;
            };
            cursor = format!("&cursor={next}");
            let newer = note(
                &app,
                principal,
                kinds[walked.len() % 3],
                0,
                harvestman_engine::now(),
            )
            .await;
            assert!(walked.iter().all(|entry| entry["id"] != newer.to_string()));
        }
        // Entries of an earlier walk are newer than all prepared ones.
        let since = Timestamp(now.0).to_string();
        walked.retain(|entry| entry["created_at"].as_str().unwrap() < since.as_str());
        let expected: Vec<Value> = activities
            .iter()
            .filter(|(.., of)| kind.is_none_or(|kind| *of == kind))
            .map(|(at, id, kind)| {
                json!({ "id": id, "endpoint": kind.as_str(), "api_version": "v2",
                    "created_at": at.to_string(), "target": "http://site.test/" })
            })
            .collect();
        assert_eq!(walked, expected, "limit {limit}, {kind:?}");
    }
    let default = app.get("/v2/team/activity").await.json();
    assert_eq!(default["data"].as_array().unwrap().len(), 50);
    for bad in ["limit=0", "limit=101", "endpoint=crawls", "cursor=AAAA"] {
        app.get(&format!("/v2/team/activity?{bad}"))
            .await
            .is_error(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn the_console_lists_activity_with_keys_and_outcomes_and_filters_it() {
    let app = TestApp::with(ALLOW).await;
    let (team, key) = caller(&app).await;
    let site = Site::blocked(0).await;
    let crawl = start(&app, json!({ "url": site.url("/"), "sitemap": "skip" })).await;
    wait_until(&app, &crawl, |status| status["status"] == "completed").await;
    let now = harvestman_engine::now();
    // Concurrent writes share a few transactions.
    let others =
        (1..=5100).map(|number| note(&app, (team, None), JobKind::Map, 0, Timestamp(now.0 - number)));
    futures_util::future::join_all(others).await;
    let map = note(&app, (team, key), JobKind::Map, 0, Timestamp(now.0 - DAY_MS / 2)).await;

    let walk = async |filter: &str| {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app
                .get(&format!("/console/api/activity?{filter}{cursor}"))
                .await
                .json();
            found.extend(page["data"].as_array().unwrap().clone());
            match page["cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    };
    let ids = |calls: &[Value]| calls.iter().map(|call| call["id"].clone()).collect::<Vec<_>>();
    let mine = walk(&format!("limit=1&key={}", key.unwrap())).await;
    let first = app
        .get(&format!("/console/api/activity?key={}", key.unwrap()))
        .await
        .json();
    assert_eq!(
        ids(first["data"].as_array().unwrap()),
        [json!(crawl)],
        "the other entry is beyond the entries that one request scans"
    );
    assert_eq!(ids(&mine), [json!(crawl), json!(map)]);
    let endpoint_and_outcome = |call: &Value| (call["endpoint"].clone(), call["outcome"].clone());
    assert_eq!(
        endpoint_and_outcome(&mine[0]),
        (json!("crawl"), json!("completed"))
    );
    assert_eq!(endpoint_and_outcome(&mine[1]), (json!("map"), json!("completed")));
    assert!(mine[0]["key"].is_string() && mine[0]["key"] == mine[1]["key"]);

    let gone = json!({ "url": "http://nobody.test/" });
    app.post("/v2/map", &gone)
        .await
        .is_error(400, "SCRAPE_DNS_RESOLUTION_ERROR");
    let failed = walk("outcome=failed").await;
    assert_eq!(endpoint_and_outcome(&failed[0]), (json!("map"), json!("failed")));
    assert!(
        failed[0]["error"].as_str().unwrap().contains("nobody.test"),
        "{failed:?}"
    );
    assert_eq!(failed.len(), 1);
    let completed = walk("outcome=completed&limit=100").await;
    assert_eq!((completed.len(), &completed[0]["error"]), (5102, &Value::Null));
    assert_eq!(
        ids(&walk(&format!("endpoint=map&key={}", key.unwrap())).await),
        [failed[0]["id"].clone(), json!(map)]
    );
    let all = walk("limit=100").await;
    assert_eq!(all.len(), 5103);
    assert_eq!(all[2]["key"], Value::Null);
    for bad in ["limit=0", "key=mine", "outcome=well", "cursor=AAAA"] {
        app.get(&format!("/console/api/activity?{bad}"))
            .await
            .is_error(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn queue_status_counts_running_and_waiting_pages() {
    let settings = [ALLOW, &[("HARVESTMAN_MAX_CONCURRENCY", "2")]].concat();
    let app = TestApp::with(&settings).await;
    let site = Site::blocked(5).await;
    let queue = async |app: &TestApp| app.get("/v2/team/queue-status").await.json();
    let idle = json!({ "success": true, "jobsInQueue": 0, "activeJobsInQueue": 0, "waitingJobsInQueue": 0,
        "maxConcurrency": 2, "mostRecentSuccess": null });
    assert_eq!(queue(&app).await, idle);

    let id = start(&app, json!({ "url": site.url("/"), "sitemap": "skip" })).await;
    wait_until(&app, &id, |status| status["total"] == 6).await;
    let busy = loop {
        let busy = queue(&app).await;
        if busy["activeJobsInQueue"] == 2 && busy["jobsInQueue"] == 5 {
            break busy;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    assert_eq!(busy["waitingJobsInQueue"], 3, "{busy}");
    let calls = app.get("/console/api/activity").await.json();
    assert!(calls["data"][0]["duration"].is_u64(), "{calls}");
    let check = app.get("/v2/concurrency-check").await.json();
    assert_eq!(
        check,
        json!({ "success": true, "concurrency": 2, "maxConcurrency": 2 })
    );
    // The queue of another team is empty.
    let other = app.other_key("others").await;
    assert_eq!(app.get_as(&other, "/v2/team/queue-status").await.json(), idle);

    site.release(5);
    let status = wait_until(&app, &id, |status| status["status"] == "completed").await;
    let done = queue(&app).await;
    assert_fields(
        &done,
        json!({ "jobsInQueue": 0, "mostRecentSuccess": status["completedAt"] }),
    );
}

#[tokio::test]
async fn usage_without_a_key_is_reported_as_open_mode() {
    let app = TestApp::with(&[
        ("HARVESTMAN_NO_AUTH", "1"),
        ("HARVESTMAN_PUBLIC_URL", "http://hm.test:3002"),
    ])
    .await;
    let report = async || {
        let request = app.anonymous(Method::GET, "/v2/team/credit-usage/historical?byApiKey=true");
        let response = app.send(request, "").await;
        assert_eq!(response.status, StatusCode::OK);
        let report = response.json();
        let periods = report["periods"].as_array().unwrap();
        assert_eq!(periods.len(), 1);
        (periods[0]["apiKey"].clone(), periods[0]["creditsUsed"].clone())
    };
    assert_eq!(report().await, (json!("open mode"), json!(0)));
    let team = app.app.store().ensure_team(bootstrap::TEAM).await.unwrap();
    note(&app, (team, None), JobKind::Map, 2, harvestman_engine::now()).await;
    assert_eq!(report().await, (json!("open mode"), json!(2)));
}
