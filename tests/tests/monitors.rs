//! Monitors of the real server: requests, checks, judgments, webhooks. `due.rs` has the checks that are due.

#![allow(clippy::unwrap_used)]

#[path = "monitors/due.rs"]
mod due;

use harvestman_tests::receiver::Delivery;
use harvestman_tests::{
    Model, ModelReply, ModelRequest, Page, Receiver, RunningSite, Site, TestServer, assert_fields,
};
use http::Method;
use serde_json::{Value, json};

fn page(text: &str) -> Page {
    Page::html(format!(
        "<!doctype html><title>Cups</title><main><h1>Cups</h1><p>Cups of all kinds are sold here every day.</p>\
         <p>{text}</p></main>"
    ))
}

async fn shop() -> RunningSite {
    let site = Site::new()
        .page("/cup", page("Price: $10.00"))
        .page("/pot", page("Price: $20.00"));
    site.serve().await
}

fn monitor_of(targets: Value) -> Value {
    json!({ "name": "Prices", "schedule": { "text": "hourly" }, "targets": targets })
}

fn pages_of(site: &RunningSite, paths: &[&str]) -> Value {
    let urls: Vec<String> = paths.iter().map(|path| site.url(path)).collect();
    json!([{ "type": "scrape", "urls": urls }])
}

async fn create(server: &TestServer, request: &Value) -> String {
    let created = server.post("/v2/monitor", request).await.ok();
    created["data"]["id"].as_str().unwrap().to_owned()
}

/// Starts a check and returns it, with its pages, when it has ended.
async fn run(server: &TestServer, monitor: &str) -> Value {
    let started = server
        .post(&format!("/v2/monitor/{monitor}/run"), &json!({}))
        .await
        .ok();
    assert_eq!(started["id"], started["data"]["id"]);
    ended(server, monitor, started["id"].as_str().unwrap()).await
}

async fn ended(server: &TestServer, monitor: &str, check: &str) -> Value {
    let path = format!("/v2/monitor/{monitor}/checks/{check}?limit=100");
    let has_ended = |check: &Value| check["data"]["finishedAt"].is_string();
    server.wait_until(&path, has_ended).await["data"].clone()
}

/// Returns the pages of a check as (path, status), sorted.
fn states(check: &Value) -> Vec<(String, String)> {
    let pages = check["pages"].as_array().unwrap().iter();
    let mut states: Vec<_> = pages
        .map(|page| {
            let url: url::Url = page["url"].as_str().unwrap().parse().unwrap();
            (url.path().to_owned(), page["status"].as_str().unwrap().to_owned())
        })
        .collect();
    states.sort();
    states
}

fn state(path: &str, status: &str) -> (String, String) {
    (path.to_owned(), status.to_owned())
}

#[tokio::test]
async fn a_check_reports_new_same_changed_removed_and_unreachable_pages() {
    let site = shop().await;
    let server = TestServer::start().await;
    let request = monitor_of(pages_of(&site, &["/cup", "/pot", "/gone"]));
    let id = create(&server, &request).await;
    let first = run(&server, &id).await;
    assert_fields(&first, json!({ "status": "completed", "trigger": "manual" }));
    assert_eq!(
        states(&first),
        [
            state("/cup", "new"),
            state("/gone", "error"),
            state("/pot", "new")
        ]
    );
    let counts = json!({ "totalPages": 3, "same": 0, "changed": 0, "new": 2, "removed": 0, "error": 1 });
    assert_eq!(first["summary"], counts);
    assert_fields(
        &first,
        json!({ "actualCredits": 3, "billingStatus": "confirmed" }),
    );
    assert_eq!(first["targetResults"][0]["targetId"], "target-1");

    site.change("/cup", Some(page("Price: $9.50")));
    site.change("/pot", None);
    let second = run(&server, &id).await;
    assert_eq!(
        states(&second),
        [
            state("/cup", "changed"),
            state("/gone", "error"),
            state("/pot", "removed")
        ]
    );
    let pages = second["pages"].as_array().unwrap();
    let cup = pages.iter().find(|page| page["status"] == "changed").unwrap();
    let diff = cup["diff"]["text"].as_str().unwrap();
    assert!(diff.contains("-Price: $10.00\n+Price: $9.50\n"), "{diff}");
    assert_eq!(
        cup["diff"]["json"]["files"][0]["chunks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let earlier = first["pages"].as_array().unwrap().iter();
    let earlier = earlier.clone().find(|page| page["url"] == cup["url"]).unwrap();
    assert_eq!(cup["previousScrapeId"], earlier["currentScrapeId"]);
    let scrape = format!("/v2/scrape/{}", cup["currentScrapeId"].as_str().unwrap());
    assert_eq!(server.get(&scrape).await.status, 200);

    let third = run(&server, &id).await;
    assert_eq!(
        states(&third),
        [
            state("/cup", "same"),
            state("/gone", "error"),
            state("/pot", "error")
        ]
    );
    let monitor = server.get(&format!("/v2/monitor/{id}")).await.ok();
    assert_eq!(monitor["data"]["lastCheckSummary"], third["summary"]);
    assert_eq!(monitor["data"].get("currentCheckId"), None);

    // Lists, filters and pages.
    let checks = server.get(&format!("/v2/monitor/{id}/checks?limit=2")).await.ok();
    let ids: Vec<&Value> = checks["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| &check["id"])
        .collect();
    assert_eq!(ids, [&third["id"], &second["id"]]);
    let failed = server
        .get(&format!("/v2/monitor/{id}/checks?status=failed"))
        .await
        .ok();
    assert_eq!(failed["data"], json!([]));
    let path = format!("/v2/monitor/{id}/checks/{}", second["id"].as_str().unwrap());
    let changed = server.get(&format!("{path}?status=changed")).await.ok();
    assert_eq!(changed["data"]["pages"].as_array().unwrap().len(), 1);
    let page_one = server.get(&format!("{path}?limit=2")).await.ok();
    let next = page_one["next"].as_str().unwrap();
    assert!(next.ends_with(&format!("{path}?skip=2&limit=2")), "{next}");
    let page_two = server.get(&format!("{path}?skip=2&limit=2")).await.ok();
    assert_eq!(
        (
            page_two["data"]["pages"].as_array().unwrap().len(),
            &page_two["next"]
        ),
        (1, &Value::Null)
    );
}

#[tokio::test]
async fn a_crawl_reports_pages_that_are_no_longer_found() {
    let site = Site::new()
        .graph(&[("/", &["/a", "/b"]), ("/a", &[]), ("/b", &[])])
        .serve()
        .await;
    let server = TestServer::start().await;
    let id = create(
        &server,
        &monitor_of(
            json!([{ "type": "crawl", "url": site.url("/"), "crawlOptions": { "sitemap": "skip" } }]),
        ),
    )
    .await;
    let first = run(&server, &id).await;
    assert_eq!(
        states(&first),
        [state("/", "new"), state("/a", "new"), state("/b", "new")],
        "{first}"
    );
    site.change("/", Some(Page::links("/", &["/a", "/c"])));
    site.change("/c", Some(Page::links("/c", &[])));
    let second = run(&server, &id).await;
    let expected = [
        state("/", "changed"),
        state("/a", "same"),
        state("/b", "removed"),
        state("/c", "new"),
    ];
    assert_eq!(states(&second), expected, "{second}");
    assert!(second["targetResults"][0]["crawlId"].is_string());
    let third = run(&server, &id).await;
    assert_eq!(
        states(&third),
        [state("/", "same"), state("/a", "same"), state("/c", "same")]
    );
}

#[tokio::test]
async fn a_monitor_that_compares_data_returns_it_as_the_snapshot() {
    let cup = |price: &str| {
        Page::html(format!(
            r#"<!doctype html><title>Cup</title><script type="application/ld+json">
                {{"@type":"Product","name":"Cup","offers":{{"price":"{price}","priceCurrency":"EUR"}}}}</script>
                <main><h1>Cup</h1><p>It costs {price} and survives the dishwasher.</p></main>"#
        ))
    };
    let site = Site::new().page("/cup", cup("9.50")).serve().await;
    let server = TestServer::start().await;
    let schema = json!({ "type": "object", "properties": { "price": { "type": "number" } } });
    let tracking = json!({ "type": "changeTracking", "modes": ["git-diff", "json"], "schema": schema });
    let mut targets = pages_of(&site, &["/cup"]);
    targets[0]["id"] = "cups".into();
    targets[0]["scrapeOptions"] = json!({ "formats": ["markdown", tracking], "onlyMainContent": true });
    let mut request = monitor_of(targets.clone());
    request["goal"] = "the price falls".into();
    let id = create(&server, &request).await;
    let monitor = server.get(&format!("/v2/monitor/{id}")).await.ok();
    assert_eq!(monitor["data"]["targets"], targets);
    let first = run(&server, &id).await;
    assert_eq!(first["targetResults"][0]["targetId"], "cups");
    assert_eq!(first["pages"][0]["targetId"], "cups");
    assert_eq!(first["pages"][0]["snapshot"], json!({ "json": { "price": 9.5 } }));
    site.change("/cup", Some(cup("8")));
    let second = run(&server, &id).await;
    let page = &second["pages"][0];
    assert_eq!(page["snapshot"], json!({ "json": { "price": 8 } }), "{page}");
    assert_eq!(
        page["diff"]["json"],
        json!({ "price": { "previous": 9.5, "current": 8 } })
    );
    assert_eq!(page["judgment"]["fields"], json!(["price"]), "{page}");
}

#[tokio::test]
async fn changes_are_judged_by_rules_without_a_model() {
    let site = shop().await;
    let server = TestServer::start().await;
    let mut request = monitor_of(pages_of(&site, &["/cup", "/pot"]));
    request["goal"] = "Notify me when the price falls".into();
    let id = create(&server, &request).await;
    let first = run(&server, &id).await;
    assert!(
        first["pages"]
            .as_array()
            .unwrap()
            .iter()
            .all(|page| page.get("judgment").is_none())
    );
    site.change("/cup", Some(page("Price: $9.50")));
    site.change("/pot", Some(page("Price: $25.00")));
    let second = run(&server, &id).await;
    for page in second["pages"].as_array().unwrap() {
        let fell = page["url"].as_str().unwrap().ends_with("/cup");
        assert_eq!(page["judgment"]["meaningful"], fell, "{page}");
        assert_eq!(page["judgment"]["confidence"], "high");
    }
    let result = &second["targetResults"][0];
    assert_fields(result, json!({ "matches": 1, "resultsJudged": 2 }));
    assert_eq!(second["actualCredits"], 2);
}

#[tokio::test]
async fn changes_are_judged_by_the_model_and_charged() {
    let model = Model::start(|request: &ModelRequest| {
        let task = request.texts()[1];
        assert!(
            task.contains("price falls") && task.contains("+Price: $9.50"),
            "{task}"
        );
        ModelReply::Text(
            r#"{"meaningful":true,"confidence":"high","reason":"It is cheaper.","meaningfulChanges":
                [{"type":"changed","before":"$10.00","after":"$9.50","reason":"Cheaper."}]}"#,
        )
    })
    .await;
    let site = shop().await;
    let server = TestServer::start_with(&model.settings()).await;
    let mut request = monitor_of(pages_of(&site, &["/cup"]));
    request["goal"] = "the price falls".into();
    let id = create(&server, &request).await;
    run(&server, &id).await;
    site.change("/cup", Some(page("Price: $9.50")));
    let check = run(&server, &id).await;
    assert_eq!(
        check["pages"][0]["judgment"]["reason"], "It is cheaper.",
        "{check}"
    );
    assert_eq!(check["targetResults"][0]["judgeDegraded"], false);
    assert_eq!(check["actualCredits"], 5);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn new_search_results_are_reported_once() {
    let site = shop().await;
    let server = TestServer::start().await;
    let scrape = |path: &str| json!({ "url": site.url(path) });
    server.post("/v2/scrape", &scrape("/cup")).await.ok();
    let target = json!([{ "type": "search", "queries": ["cups price"], "searchWindow": "7d" }]);
    let id = create(&server, &monitor_of(target)).await;
    assert_eq!(states(&run(&server, &id).await), [state("/cup", "new")]);
    server.post("/v2/scrape", &scrape("/pot")).await.ok();
    let check = run(&server, &id).await;
    assert_eq!(
        states(&check),
        [state("/cup", "same"), state("/pot", "new")],
        "{check}"
    );
    assert_eq!(check["actualCredits"], 2);
}

#[tokio::test]
async fn every_page_and_the_end_of_a_check_are_sent_to_the_webhook() {
    let (site, receiver) = (shop().await, Receiver::start().await);
    let server = TestServer::start_with(&[("HARVESTMAN_WEBHOOK_SECRET", "s")]).await;
    let mut request = monitor_of(pages_of(&site, &["/cup", "/pot"]));
    request["webhook"] = json!({ "url": receiver.url(), "metadata": { "n": 1 } });
    let id = create(&server, &request).await;
    let check = run(&server, &id).await;
    let deliveries = receiver.wait_for("monitor.check.completed").await;
    let names: Vec<&str> = deliveries.iter().map(Delivery::event).collect();
    assert_eq!(names, ["monitor.page", "monitor.page", "monitor.check.completed"]);
    for delivery in &deliveries {
        assert!(delivery.is_signed("x-service-signature", "s"));
        assert_eq!(
            (&delivery.json["id"], &delivery.json["metadata"]["n"]),
            (&check["id"], &json!(1))
        );
    }
    assert_eq!(deliveries[0].json["data"][0]["status"], "new");
    let end = &deliveries[2].json["data"][0];
    assert_fields(end, json!({ "monitorId": id, "checkId": check["id"] }));
    assert_fields(end, json!({ "status": "completed", "summary": check["summary"] }));
}

#[tokio::test]
async fn monitors_are_changed_paused_and_deleted() {
    let site = shop().await;
    let server = TestServer::start().await;
    let created = server
        .post("/v2/monitor", &monitor_of(pages_of(&site, &["/cup"])))
        .await
        .ok();
    let monitor = &created["data"];
    assert_eq!(
        monitor["schedule"],
        json!({ "cron": "0 * * * *", "timezone": "UTC" })
    );
    assert_fields(monitor, json!({ "status": "active", "retentionDays": 30 }));
    assert_eq!(monitor["estimatedCreditsPerMonth"], 720);
    assert_fields(monitor, json!({ "webhook": null, "notification": null }));
    assert_eq!(
        monitor["targets"][0],
        json!({ "id": "target-1", "type": "scrape", "urls": [site.url("/cup")] })
    );
    let id = monitor["id"].as_str().unwrap();
    let path = format!("/v2/monitor/{id}");

    let change = json!({ "name": "Cups", "status": "paused", "schedule": { "text": "daily at 9:00", "timezone": "Europe/Berlin" },
        "targets": monitor["targets"], "goal": "the price falls" });
    let changed = server.patch(&path, &change).await.ok()["data"].clone();
    assert_fields(&changed, json!({ "name": "Cups", "status": "paused" }));
    assert_eq!(
        changed["schedule"],
        json!({ "cron": "0 9 * * *", "timezone": "Europe/Berlin" })
    );
    assert_eq!(
        (changed.get("nextRunAt"), &changed["judgeEnabled"]),
        (None, &json!(true))
    );
    let active = server.patch(&path, &json!({ "status": "active" })).await.ok()["data"].clone();
    assert!(active["nextRunAt"].is_string(), "{active}");
    let without = server.patch(&path, &json!({ "goal": null })).await.ok()["data"].clone();
    assert_eq!(
        (without.get("goal"), &without["name"]),
        (None, &json!("Cups")),
        "null removes the goal"
    );
    let list = server.get("/v2/monitor?limit=1").await.ok();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);

    // A check that is running prevents another one, and ends with its monitor.
    site.hold_after(0);
    let run = format!("{path}/run");
    let check = server.post(&run, &json!({})).await.ok()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    site.wait_for_requests(1).await;
    let second = server.post(&run, &json!({})).await;
    second.is_error(409, "CONFLICT");
    assert_eq!(server.get(&path).await.ok()["data"]["currentCheckId"], *check);
    assert_eq!(server.delete(&path).await.ok(), json!({ "success": true }));
    site.release();
    for gone in [
        path.clone(),
        format!("{path}/checks"),
        format!("{path}/checks/{check}"),
    ] {
        assert_eq!(server.get(&gone).await.status, 404, "{gone}");
    }
    assert_eq!(server.delete(&path).await.status, 404);
    assert_eq!(server.post(&run, &json!({})).await.status, 404);
    assert_eq!(server.get("/v2/monitor").await.ok()["data"], json!([]));
}

#[tokio::test]
async fn the_pages_of_a_target_that_changes_during_a_check_are_not_missed_later() {
    let (old, new) = (shop().await, shop().await);
    let server = TestServer::start().await;
    let crawl = |site: &RunningSite, path: &str| json!([{ "type": "crawl", "url": site.url(path) }]);
    let id = create(&server, &monitor_of(crawl(&old, "/cup"))).await;
    let path = format!("/v2/monitor/{id}");
    old.hold_after(0);
    let check = server.post(&format!("{path}/run"), &json!({})).await.ok();
    old.wait_for_requests(1).await;
    let change = json!({ "targets": crawl(&new, "/pot") });
    server.patch(&path, &change).await.ok();
    old.release();
    let first = ended(&server, &id, check["id"].as_str().unwrap()).await;
    assert_eq!(states(&first), [state("/cup", "new")]);
    let second = run(&server, &id).await;
    assert_eq!(states(&second), [state("/pot", "new")]);
}

#[tokio::test]
async fn deleting_a_monitor_cancels_the_crawl_of_its_check() {
    let site = Site::new().graph(&[("/", &["/a", "/b"])]).serve().await;
    site.hold_after(0);
    let mut server = TestServer::start().await;
    let crawl = json!([{ "type": "crawl", "url": site.url("/") }]);
    let id = create(&server, &monitor_of(crawl)).await;
    let path = format!("/v2/monitor/{id}");
    server.post(&format!("{path}/run"), &json!({})).await.ok();
    site.wait_for_requests(1).await;
    let active = server.get("/v2/crawl/active").await.ok();
    assert_eq!(active["crawls"].as_array().unwrap().len(), 1, "{active}");
    server.delete(&path).await.ok();
    let active = server.get("/v2/crawl/active").await.ok();
    assert_eq!(active["crawls"], json!([]), "{active}");
    // Nor does a server continue it that is killed at once.
    server.kill9();
    server.restart().await;
    let active = server.get("/v2/crawl/active").await.ok();
    assert_eq!(active["crawls"], json!([]), "{active}");
}

#[tokio::test]
async fn another_team_sees_no_monitor() {
    let site = shop().await;
    let server = TestServer::start().await;
    let id = create(&server, &monitor_of(pages_of(&site, &["/cup"]))).await;
    let check = run(&server, &id).await;
    let other = async |method: Method, path: &str| {
        let path = format!("/v2/monitor{path}");
        server.send_as_other(method, &path, "{}").await
    };
    let check = format!("/{id}/checks/{}", check["id"].as_str().unwrap());
    for (method, path) in [
        (Method::GET, format!("/{id}")),
        (Method::PATCH, format!("/{id}")),
        (Method::DELETE, format!("/{id}")),
        (Method::POST, format!("/{id}/run")),
        (Method::GET, format!("/{id}/checks")),
        (Method::GET, check),
    ] {
        assert_eq!(other(method.clone(), &path).await.status, 404, "{method} {path}");
    }
    assert_eq!(other(Method::GET, "").await.ok()["data"], json!([]));
    assert_eq!(server.get(&format!("/v2/monitor/{id}")).await.status, 200);
}

#[tokio::test]
async fn requests_that_cannot_work_are_refused_with_the_reason() {
    let site = shop().await;
    let server = TestServer::start().await;
    let check = async |field: &str, value: Value, expected: &str| {
        let mut request = monitor_of(pages_of(&site, &["/cup"]));
        request[field] = value;
        let refused = server.post("/v2/monitor", &request).await;
        assert_eq!(refused.status, 400, "{request} {}", refused.json);
        let error = refused.json["error"].as_str().unwrap();
        assert!(error.contains(expected), "{error}");
    };
    check(
        "schedule",
        json!({ "cron": "0 0 31 2 *" }),
        "`schedule.cron` never fires",
    )
    .await;
    check("schedule", json!({ "cron": "* * * * *" }), "at least 5 minutes").await;
    check(
        "schedule",
        json!({ "text": "when I say so" }),
        "is not understood",
    )
    .await;
    check(
        "schedule",
        json!({ "text": "hourly", "timezone": "Nowhere" }),
        "`schedule.timezone`",
    )
    .await;
    let crawl = |options: Value| json!([{ "type": "crawl", "url": site.url("/"), "crawlOptions": options }]);
    check(
        "targets",
        crawl(json!({ "zeroDataRetention": true })),
        "zeroDataRetention` cannot be true",
    )
    .await;
    check("targets", crawl(json!({ "limit": 10_001 })), "10000 are allowed").await;
    let private = server
        .post(
            "/v2/monitor",
            &monitor_of(json!([{ "type": "scrape", "urls": ["http://10.0.0.1/"] }])),
        )
        .await;
    private.is_error(403, "UNSAFE_TARGET");
    check("webhook", json!("http://10.0.0.1/hook"), "webhook").await;
    for path in [
        "/v2/monitor/7", "/v2/monitor/7/checks", "/v2/monitor?limit=101", "/v2/monitor?offset=-1",
    ] {
        assert_eq!(server.get(path).await.status, 400, "{path}");
    }
}
