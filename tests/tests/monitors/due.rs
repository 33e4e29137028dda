//! Due checks: each runs once, also when the server is killed meanwhile, when many are due at once, or without credits.

use std::collections::BTreeSet;
use std::time::Duration;

use harvestman_core::ids::{JobId, MonitorId, TeamId};
use harvestman_core::time::Timestamp;
use harvestman_store::{JobKind, MonitorUpdate, NewCheck, NewJob, StartOutcome, new_id};
use harvestman_tests::receiver::Delivery;
use harvestman_tests::{Receiver, Site, TestServer, assert_contains, assert_fields, new_job};
use serde_json::{Value, json};

use super::{create, ended, monitor_of, page, pages_of, run, shop};

/// Makes monitors due while no server runs, and replaces their stored requests by `request` if it is given.
async fn make_due(server: &TestServer, monitors: impl IntoIterator<Item = &String>, request: Option<&str>) {
    let store = server.store().await;
    let team: TeamId = store.ensure_team("test").await.unwrap();
    for monitor in monitors {
        let id = MonitorId(monitor.parse().unwrap());
        let row = store.monitor(team, id).await.unwrap().unwrap();
        let update = MonitorUpdate {
            seen: row.updated_at,
            request: request.map_or(row.request, str::to_owned),
            next_run_at: Some(Timestamp(1_700_000_000_000)),
            changed_targets: Vec::new(),
            now: row.updated_at,
        };
        assert!(store.update_monitor(team, id, update).await.unwrap());
    }
    store.close().await.unwrap();
}

/// Waits until the last check of a monitor has read a page.
async fn wait_for_check(server: &TestServer, monitor: &str) {
    let has_page = |monitor: &Value| monitor["data"]["lastCheckSummary"]["totalPages"] == 1;
    server
        .wait_until(&format!("/v2/monitor/{monitor}"), has_page)
        .await;
}

#[tokio::test]
async fn a_due_check_runs_once_through_20_kills() {
    const PAGES: usize = 30;
    let site = (0..PAGES).fold(Site::new(), |site, number| {
        site.page(&format!("/{number}"), page(&format!("Number {number}")))
    });
    let (site, receiver) = (site.serve().await, Receiver::start().await);
    let paths: Vec<String> = (0..PAGES).map(|number| format!("/{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut server = TestServer::start().await;
    let mut request = monitor_of(pages_of(&site, &paths));
    request["schedule"] = json!({ "cron": "0 0 1 1 *" });
    request["webhook"] = receiver.url().into();
    let id = create(&server, &request).await;
    server.kill9();
    make_due(&server, [&id], None).await;
    for round in 0..20u64 {
        // The site answers a few more pages in each round; some rounds are killed before the check starts.
        site.hold_after(round * 2);
        server.restart().await;
        tokio::time::sleep(Duration::from_millis(round * 97 % 1300)).await;
        server.kill9();
    }
    site.release();
    server.restart().await;
    let checks = server.get(&format!("/v2/monitor/{id}/checks")).await.ok();
    let checks = checks["data"].as_array().unwrap().clone();
    assert!(checks.len() <= 1, "{checks:?}");
    let path = format!("/v2/monitor/{id}/checks");
    let checks = server
        .wait_until(&path, |checks| checks["data"] != json!([]))
        .await;
    let check = ended(&server, &id, checks["data"][0]["id"].as_str().unwrap()).await;
    assert_fields(&check, json!({ "status": "completed", "trigger": "scheduled" }));
    assert_eq!(check["scheduledFor"], "2023-11-14T22:13:20.000Z");
    // A page that is in flight at several kills is given up, like that of any job.
    let count = |name: &str| check["summary"][name].as_u64().unwrap() as usize;
    assert_eq!(
        (count("totalPages"), count("new") + count("error")),
        (PAGES, PAGES),
        "{check}"
    );
    assert!(count("new") > PAGES / 2, "{check}");
    let urls: BTreeSet<&str> = check["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|page| page["url"].as_str().unwrap())
        .collect();
    assert_eq!(urls.len(), PAGES);
    let checks = server.get(&format!("/v2/monitor/{id}/checks")).await.ok();
    assert_eq!(checks["data"].as_array().unwrap().len(), 1, "{checks}");
    assert_eq!(check["actualCredits"], count("new"));
    let usage = server.get("/v2/team/credit-usage/historical").await.ok();
    assert_eq!(usage["periods"][0]["creditsUsed"], count("new"), "{usage}");
    let deliveries = receiver.wait_for("monitor.check.completed").await;
    let events: BTreeSet<&str> = deliveries.iter().map(Delivery::webhook_id).collect();
    assert_eq!(events.len(), PAGES + 1);
    let next = server.get(&format!("/v2/monitor/{id}")).await.ok();
    assert!(
        next["data"]["nextRunAt"]
            .as_str()
            .unwrap()
            .ends_with("-01-01T00:00:00.000Z"),
        "{next}"
    );
}

#[tokio::test]
async fn a_search_keeps_its_figures_if_the_server_is_killed_later_in_the_check() {
    let site = shop().await;
    let mut server = TestServer::start().await;
    let search = json!({ "type": "search", "queries": ["cups price"], "searchWindow": "7d" });
    let pages = pages_of(&site, &["/pot"]);
    let mut request = monitor_of(json!([search, pages[0]]));
    request["goal"] = "Notify me of cups".into();
    let id = create(&server, &request).await;
    let first = run(&server, &id).await;
    server
        .post("/v2/scrape", &json!({ "url": site.url("/cup") }))
        .await
        .ok();
    site.hold_after(2);
    let started = server
        .post(&format!("/v2/monitor/{id}/run"), &json!({}))
        .await
        .ok();
    let check = started["id"].as_str().unwrap();
    let path = format!("/v2/monitor/{id}/checks/{check}");
    let has_searched = |check: &Value| check["data"]["summary"]["totalPages"] == 2;
    let running = server.wait_until(&path, has_searched).await;
    assert!(
        running["data"]["targetResults"].is_null(),
        "not complete: {running}"
    );
    server.kill9();
    site.release();
    server.restart().await;
    let ended = ended(&server, &id, check).await;
    assert_fields(&ended, json!({ "status": "completed", "actualCredits": 3 }));
    let figures = &ended["targetResults"][0];
    assert_fields(
        figures,
        json!({ "searchCredits": 2, "resultCount": 2, "resultsJudged": 2, "matches": 2 }),
    );
    let usage = server.get("/v2/team/credit-usage/historical").await.ok();
    let credits = first["actualCredits"].as_u64().unwrap() + 4;
    assert_eq!(usage["periods"][0]["creditsUsed"], credits, "{usage}");
}

#[tokio::test]
async fn a_thousand_due_monitors_each_run_once() {
    let site = shop().await;
    let mut server = TestServer::start_with(&[("HARVESTMAN_RATE_LIMIT", "100000")]).await;
    let mut ids = Vec::new();
    for _ in 0..1000 {
        ids.push(create(&server, &monitor_of(pages_of(&site, &["/cup"]))).await);
    }
    let refused = server
        .post("/v2/monitor", &monitor_of(pages_of(&site, &["/cup"])))
        .await;
    refused.is_error(409, "CONFLICT");
    assert_contains(&refused.json, "/error", "1000 monitors");
    server.kill9();
    make_due(&server, &ids, None).await;
    server.restart().await;
    for id in &ids {
        wait_for_check(&server, id).await;
    }
    assert_eq!(site.count("/cup"), 1000);
    let memory = server.peak_memory_bytes() >> 20;
    assert!(memory < 400, "{memory} MiB");
}

#[tokio::test]
async fn an_unreadable_monitor_does_not_hold_up_others() {
    let site = shop().await;
    let mut server = TestServer::start().await;
    let request = monitor_of(pages_of(&site, &["/cup"]));
    let (unreadable, other) = (create(&server, &request).await, create(&server, &request).await);
    server.kill9();
    make_due(&server, [&unreadable], Some("{}")).await;
    make_due(&server, [&other], None).await;
    server.restart().await;
    wait_for_check(&server, &other).await;
    let listed = server.get("/v2/monitor").await.ok();
    assert_eq!(
        (&listed["data"][0]["id"], listed["data"].get(1)),
        (&json!(other), None)
    );
}

#[tokio::test]
async fn a_check_without_credits_is_skipped() {
    let site = shop().await;
    let mut server = TestServer::start_with(&[("HARVESTMAN_CREDIT_BUDGET", "1")]).await;
    let mut request = monitor_of(pages_of(&site, &["/cup"]));
    request["schedule"] = json!({ "cron": "0 0 1 1 *" });
    let id = create(&server, &request).await;
    run(&server, &id).await;
    let refused = server.post(&format!("/v2/monitor/{id}/run"), &json!({})).await;
    assert_eq!(refused.status, 402, "{}", refused.json);
    server.kill9();
    make_due(&server, [&id], None).await;
    server.restart().await;
    let path = format!("/v2/monitor/{id}/checks");
    let has_two = |checks: &Value| {
        checks["data"].as_array().unwrap().len() == 2 && checks["data"][0]["finishedAt"].is_string()
    };
    let checks = server.wait_until(&path, has_two).await;
    assert_eq!(checks["data"][0]["status"], "skipped_no_credits", "{checks}");
    assert_contains(&checks, "/data/0/error", "1 credits");
}

#[tokio::test]
async fn a_check_with_a_damaged_request_fails() {
    let site = shop().await;
    let mut server = TestServer::start().await;
    let monitor = create(&server, &monitor_of(pages_of(&site, &["/cup"]))).await;
    server.terminate().await;
    let store = server.store().await;
    let check = JobId(new_id());
    let start = NewCheck {
        monitor: MonitorId(monitor.parse().unwrap()),
        job: NewJob {
            url: "Prices".to_owned(),
            request: r#"{"name":"Prices","targets":"#.to_owned(),
            ..new_job(
                check,
                store.ensure_team("test").await.unwrap(),
                JobKind::Monitor,
                Timestamp(0),
            )
        },
        due: None,
        jobs: vec![JobId(new_id())],
    };
    assert_eq!(store.start_check(&start).await, Ok(StartOutcome::Started));
    store.close().await.unwrap();
    server.restart().await;
    let failed = ended(&server, &monitor, &check.to_string()).await;
    assert_eq!(failed["status"], "failed", "{failed}");
    assert!(failed["error"].as_str().unwrap().contains("damaged"), "{failed}");
    assert_eq!(run(&server, &monitor).await["status"], "completed");
}
