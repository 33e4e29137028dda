//! Webhooks of the real server: events, signatures, retries; no event is lost.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use harvestman_tests::receiver::{Delivery, Reply};
use harvestman_tests::{Page, Receiver, RunningSite, Site, TestServer, assert_fields};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SECRET: &str = "whsec 1";
const SIGNATURE: &str = "X-Service-Signature";

/// The events of a crawl of [`small_site`].
const CRAWL_EVENTS: [&str; 5] = [
    "crawl.started", "crawl.page", "crawl.page", "crawl.page", "crawl.completed",
];

/// Serves a front page, a page below it, and a page that redirects to itself.
async fn small_site() -> RunningSite {
    Site::new()
        .graph(&[("/", &["/a", "/loop"]), ("/a", &[])])
        .page("/loop", Page::redirect(302, "/loop"))
        .serve()
        .await
}

async fn signing_server(settings: &[(&str, &str)]) -> TestServer {
    let mut all = vec![
        ("HARVESTMAN_WEBHOOK_SECRET", SECRET),
        ("HARVESTMAN_WEBHOOK_RETRY_SECONDS", "1,1"),
    ];
    all.extend(settings);
    TestServer::start_with(&all).await
}

fn crawl_of(site: &RunningSite, webhook: impl Into<Value>) -> Value {
    let webhook = webhook.into();
    json!({ "url": site.url("/"), "sitemap": "skip", "webhook": webhook })
}

fn events(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(Delivery::event).collect()
}

/// Returns the events of first attempts.
fn first_attempts(deliveries: &[Delivery]) -> Vec<&str> {
    let first_attempts = deliveries.iter().filter(|delivery| delivery.attempt == 1);
    first_attempts.map(Delivery::event).collect()
}

async fn log(server: &TestServer, id: &str, query: &str) -> Value {
    let path = format!("/console/api/jobs/{id}/webhooks{query}");
    server.get(&path).await.ok()
}

/// Returns the delivery log when no event is pending.
async fn final_log(server: &TestServer, id: &str) -> Value {
    let path = format!("/console/api/jobs/{id}/webhooks");
    server.wait_until(&path, |log| log["pending"] == 0).await
}

#[tokio::test]
async fn all_events_of_a_crawl_are_delivered_signed_and_in_order() {
    let (site, receiver) = (small_site().await, Receiver::start().await);
    let server = signing_server(&[(
        "HARVESTMAN_WEBHOOK_SIGNATURE_ALIASES",
        "X-Firecrawl-Signature,X-Sig",
    )])
    .await;
    let metadata = json!({ "order": 7, "nested": { "a": [true, null] } });
    let headers = json!({
        "X-Tenant": "blue",
        "x-service-signature": "sha256=forged",
        "X-SIG": "sha256=forged",
        "content-type": "text/plain"
    });
    let webhook = json!({ "url": receiver.url(), "metadata": metadata, "headers": headers });
    let id = server.crawl(&crawl_of(&site, webhook)).await;
    let deliveries = receiver.wait_for("crawl.completed").await;
    assert_eq!(events(&deliveries), CRAWL_EVENTS);
    let ids: BTreeSet<&str> = deliveries.iter().map(Delivery::webhook_id).collect();
    assert_eq!(ids.len(), 5, "each event has its own id");
    for delivery in &deliveries {
        assert_eq!(delivery.path, "/hook");
        assert_fields(&delivery.json, json!({ "id": id, "metadata": metadata }));
        assert_eq!(delivery.header("content-type"), "application/json");
        assert_eq!(delivery.header("x-tenant"), "blue");
        assert!(
            delivery.header("user-agent").contains("Harvestman"),
            "{:?}",
            delivery.headers
        );
        for name in [SIGNATURE, "X-Firecrawl-Signature", "X-Sig"] {
            assert!(delivery.is_signed(name, SECRET), "{name}: {:?}", delivery.headers);
            assert_eq!(delivery.headers.get_all(name).iter().count(), 1);
        }
    }
    for delivery in [&deliveries[0], &deliveries[4]] {
        assert_fields(&delivery.json, json!({ "success": true, "data": [] }));
        assert!(delivery.json.get("error").is_none());
    }

    let (failed, pages): (Vec<&Delivery>, Vec<&Delivery>) = deliveries[1..4]
        .iter()
        .partition(|delivery| delivery.json["success"] == false);
    let (documents, _) = server.documents(&id, 100).await;
    let sent: Vec<Value> = pages
        .iter()
        .map(|delivery| delivery.json["data"][0].clone())
        .collect();
    assert_eq!(sent, documents, "a page event has the document of the status");
    let entry = &server.get(&format!("/v2/crawl/{id}/errors")).await.ok()["errors"][0];
    assert_eq!(failed.len(), 1);
    assert_eq!(
        failed[0].json["data"],
        json!([{ "metadata": { "sourceURL": site.url("/loop"), "error": entry["error"] } }])
    );
    assert_eq!(failed[0].json["error"], entry["error"]);
}

#[tokio::test]
async fn a_crawl_whose_start_page_fails_sends_a_failed_event() {
    let site = Site::new().page("/", Page::redirect(302, "/")).serve().await;
    let (receiver, server) = (Receiver::start().await, signing_server(&[]).await);
    let id = server.crawl(&crawl_of(&site, receiver.url())).await;
    let deliveries = receiver.wait_for("crawl.failed").await;
    let status = server.wait(&id).await;
    assert_eq!(status["status"], "failed");
    let last = &deliveries.last().unwrap().json;
    assert_fields(last, json!({ "type": "crawl.failed", "success": false }));
    assert_fields(last, json!({ "data": [], "error": status["error"] }));
    assert_eq!(deliveries[0].event(), "crawl.started");
    assert!(
        deliveries
            .iter()
            .all(|delivery| delivery.event() != "crawl.completed")
    );
    assert!(
        deliveries
            .iter()
            .all(|delivery| delivery.json.get("metadata").is_none())
    );
}

#[tokio::test]
async fn a_crawl_without_pages_sends_started_and_completed() {
    let (site, receiver, server) = (
        small_site().await,
        Receiver::start().await,
        signing_server(&[]).await,
    );
    let mut request = crawl_of(&site, receiver.url());
    request["includePaths"] = json!(["^/nothing$"]);
    server.crawl(&request).await;
    let deliveries = receiver.wait_for("crawl.completed").await;
    assert_eq!(events(&deliveries), ["crawl.started", "crawl.completed"]);
}

#[tokio::test]
async fn only_requested_events_are_sent() {
    let (site, server) = (small_site().await, signing_server(&[]).await);
    let mut jobs = Vec::new();
    for (wanted, expected) in [
        (json!(["completed"]), vec!["crawl.completed"]),
        (
            json!(["crawl.started", "completed", "started"]),
            vec!["crawl.started", "crawl.completed"],
        ),
        (json!(["crawl.page"]), vec!["crawl.page"; 3]),
        (json!(["failed"]), vec![]),
        (json!([]), CRAWL_EVENTS.to_vec()),
    ] {
        let receiver = Receiver::start().await;
        let webhook = json!({ "url": receiver.url(), "events": wanted });
        let id = server.crawl(&crawl_of(&site, webhook)).await;
        jobs.push((id, receiver, expected));
    }
    for (id, receiver, expected) in jobs {
        server.wait(&id).await;
        let log = final_log(&server, &id).await;
        assert_eq!(log["delivered"], expected.len());
        assert_eq!(events(&receiver.deliveries()), expected);
    }
    for wrong in ["batch_scrape.page", "pages", "Completed"] {
        let webhook = json!({ "url": "http://127.0.0.1:9/", "events": [wrong] });
        let response = server.post("/v2/crawl", &crawl_of(&site, webhook)).await;
        response.is_error_for(wrong, 400, "BAD_REQUEST");
        assert_eq!(
            response.json["details"][0]["path"],
            json!(["webhook", "events", 0])
        );
    }
}

#[tokio::test]
async fn retries_deliver_the_same_bytes() {
    let site = small_site().await;
    let receiver =
        Receiver::replying(|delivery| Reply::Status(if delivery.attempt == 1 { 503 } else { 204 })).await;
    let server = signing_server(&[]).await;
    let id = server.crawl(&crawl_of(&site, receiver.url())).await;
    let deliveries = receiver
        .wait_until(|deliveries| deliveries.iter().filter(|delivery| delivery.attempt == 2).count() == 5)
        .await;
    assert_eq!(first_attempts(&deliveries), CRAWL_EVENTS);
    let mut bodies: BTreeMap<&str, BTreeSet<&[u8]>> = BTreeMap::new();
    for delivery in &deliveries {
        assert!(delivery.is_signed(SIGNATURE, SECRET));
        bodies
            .entry(delivery.webhook_id())
            .or_default()
            .insert(&delivery.body);
    }
    assert_eq!(bodies.len(), 5);
    assert!(
        bodies.values().all(|bodies| bodies.len() == 1),
        "every attempt has the same body"
    );

    let log = final_log(&server, &id).await;
    assert_fields(
        &log,
        json!({ "delivered": 5, "givenUp": 0, "url": receiver.url() }),
    );
    for event in log["events"].as_array().unwrap() {
        assert_fields(event, json!({ "state": "delivered", "nextAttemptAt": null }));
        let attempts = event["attempts"].as_array().unwrap();
        let statuses: Vec<&Value> = attempts.iter().map(|attempt| &attempt["status"]).collect();
        assert_eq!(statuses, [503, 204]);
        assert_eq!(attempts[0]["error"], "the receiver returned status 503");
        assert_eq!(attempts[1]["error"], Value::Null);
        assert!(attempts[0]["at"].as_str() < attempts[1]["at"].as_str());
    }
    assert_eq!(
        receiver.deliveries().len(),
        10,
        "acknowledged events are not sent again"
    );
}

#[tokio::test]
async fn undeliverable_events_are_given_up_and_stay_in_the_log() {
    let site = small_site().await;
    let elsewhere = Receiver::start().await;
    let target = elsewhere.url();
    let receiver = Receiver::replying(move |_| Reply::Redirect(target.clone())).await;
    let server = signing_server(&[]).await;
    let id = server
        .crawl(&crawl_of(
            &site,
            json!({ "url": receiver.url(), "events": ["started", "completed"] }),
        ))
        .await;
    assert_eq!(
        server.wait(&id).await["status"],
        "completed",
        "failed deliveries do not affect the job"
    );
    let whole = final_log(&server, &id).await;
    assert_fields(&whole, json!({ "givenUp": 2, "delivered": 0 }));
    let event = &whole["events"][0];
    let attempts = event["attempts"].as_array().unwrap();
    assert_eq!(
        (event["event"].as_str(), attempts.len()),
        (Some("crawl.started"), 3)
    );
    assert!(
        attempts
            .iter()
            .all(|attempt| attempt["status"] == 307 && attempt["error"].is_string())
    );
    assert_eq!(elsewhere.deliveries().len(), 0, "redirects are not followed");
    assert_eq!(receiver.deliveries().len(), 6);

    // The log is paginated, filtered by state, and visible only to its team.
    let first = log(&server, &id, "?limit=1&state=given_up").await;
    assert_eq!((&first["events"][0], &first["next"]), (event, &json!(1)));
    let second = log(&server, &id, "?limit=1&after=1").await;
    assert_eq!(second["events"][0]["event"], "crawl.completed");
    assert_eq!(log(&server, &id, "?limit=1&after=2").await["next"], Value::Null);
    assert_eq!(log(&server, &id, "?state=delivered").await["events"], json!([]));
    let path = format!("/console/api/jobs/{id}/webhooks");
    for method in [http::Method::GET, http::Method::POST] {
        let body = json!({ "webhookId": event["webhookId"] }).to_string();
        assert_eq!(server.send_as_other(method, &path, body).await.status, 404);
    }
    for wrong in ["?limit=0", "?limit=101", "?state=lost", "?after=-1"] {
        assert_eq!(server.get(&format!("{path}{wrong}")).await.status, 400, "{wrong}");
    }

    // Resend an event.
    server
        .post(&path, &json!({ "webhookId": event["webhookId"] }))
        .await
        .ok();
    receiver.wait_until(|deliveries| deliveries.len() == 7).await;
    let again = final_log(&server, &id).await;
    assert_eq!(again["events"][0]["attempts"].as_array().unwrap().len(), 4);
    let unknown = json!({ "webhookId": id });
    assert_eq!(server.post(&path, &unknown).await.status, 404);
    assert_eq!(server.post(&path, &json!({})).await.status, 400);
}

#[tokio::test]
async fn a_slow_receiver_delays_neither_its_job_nor_other_receivers() {
    let site = small_site().await;
    let slow = Receiver::replying(|_| Reply::Held).await;
    let quick = Receiver::start().await;
    let server = signing_server(&[]).await;
    let held = server.crawl(&crawl_of(&site, slow.url())).await;
    slow.wait_for("crawl.started").await;
    assert_eq!(server.wait(&held).await["completed"], 2);
    server.crawl(&crawl_of(&site, quick.url())).await;
    quick.wait_for("crawl.completed").await;
    let waiting = slow.deliveries();
    assert!(
        waiting.iter().all(|delivery| delivery.event() == "crawl.started"),
        "{waiting:?}"
    );
    slow.release();
    let deliveries = slow.wait_for("crawl.completed").await;
    assert_eq!(first_attempts(&deliveries), CRAWL_EVENTS);
}

#[tokio::test]
async fn a_delivery_without_a_response_is_retried() {
    let site = small_site().await;
    let receiver = Receiver::replying(|delivery| match delivery.attempt {
        1 => Reply::Held,
        _ => Reply::Status(200),
    })
    .await;
    let server = signing_server(&[]).await;
    let webhook = json!({ "url": receiver.url(), "events": ["completed"] });
    let id = server.crawl(&crawl_of(&site, webhook)).await;
    receiver.wait_until(|deliveries| deliveries.len() == 2).await;
    let log = final_log(&server, &id).await;
    let attempts = log["events"][0]["attempts"].as_array().unwrap();
    assert_eq!(
        (&attempts[0]["status"], &attempts[1]["status"]),
        (&Value::Null, &json!(200))
    );
    assert_eq!(attempts[0]["error"], "the receiver did not respond within 10 s");
    assert!(attempts[0]["durationMs"].as_u64().unwrap() >= 10_000, "{log}");
}

#[tokio::test]
async fn an_event_is_delivered_whatever_becomes_of_the_body_of_the_response() {
    let server = TestServer::start().await;
    for (body, breaks_off) in [("ok", true), ("", true), ("ok", false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"}") {
                stream.read_buf(&mut request).await.unwrap();
            }
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{body}");
            stream.write_all(response.as_bytes()).await.unwrap();
            while !breaks_off && stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        });
        let test = json!({ "url": url });
        let since = Instant::now();
        let tested = server.post("/console/api/webhook-test", &test).await.ok();
        assert_fields(&tested, json!({ "delivered": true, "status": 200 }));
        assert!(since.elapsed() < Duration::from_secs(9), "{tested}");
    }
}

#[tokio::test]
async fn kill_9_during_a_delivery_loses_no_event() {
    let site = small_site().await;
    let receiver = Receiver::replying(|delivery| match (delivery.event(), delivery.attempt) {
        ("crawl.page", 1) => Reply::Held,
        _ => Reply::Status(200),
    })
    .await;
    let mut server = signing_server(&[]).await;
    let id = server.crawl(&crawl_of(&site, receiver.url())).await;
    let before = receiver.wait_for("crawl.page").await;
    server.wait(&id).await;
    server.kill9();
    receiver.release();
    server.restart().await;
    let deliveries = receiver.wait_for("crawl.completed").await;
    assert_eq!(first_attempts(&deliveries), CRAWL_EVENTS);
    let held = before.last().unwrap();
    let twice: Vec<&Delivery> = deliveries
        .iter()
        .filter(|delivery| delivery.webhook_id() == held.webhook_id())
        .collect();
    assert_eq!(twice.len(), 2, "the delivery in flight is repeated");
    assert_eq!(twice[0].body, twice[1].body);
    assert_eq!(final_log(&server, &id).await["delivered"], 5);
}

#[tokio::test]
async fn a_receiver_at_a_private_address_is_refused_when_the_crawl_starts() {
    let (site, receiver) = (small_site().await, Receiver::start().await);
    let allowed = site.address().to_string();
    let server = signing_server(&[("HARVESTMAN_ALLOW_PRIVATE_HOSTS", &allowed)]).await;
    let url = receiver.url();
    for (webhook, url_path) in [
        (json!(url), json!(["webhook", "url"])),
        (json!({ "url": url }), json!(["webhook", "url"])),
        (
            json!({ "url": "http://169.254.169.254/latest" }),
            json!(["webhook", "url"]),
        ),
        (json!({ "url": "http://[::1]:80/" }), json!(["webhook", "url"])),
    ] {
        let response = server.post("/v2/crawl", &crawl_of(&site, webhook.clone())).await;
        response.is_error_for(webhook, 400, "BAD_REQUEST");
        assert_eq!(response.json["details"][0]["path"], url_path);
    }
    let jobs = server.get("/console/api/jobs").await.ok();
    assert_eq!(jobs["jobs"], json!([]), "no job was stored");
}

#[tokio::test]
async fn without_a_secret_deliveries_have_no_signature_header() {
    let (site, receiver, server) = (
        small_site().await,
        Receiver::start().await,
        TestServer::start().await,
    );
    let webhook = json!({ "url": receiver.url(), "headers": { SIGNATURE: "sha256=00" } });
    server.crawl(&crawl_of(&site, webhook)).await;
    let deliveries = receiver.wait_for("crawl.completed").await;
    assert!(
        deliveries
            .iter()
            .all(|delivery| !delivery.headers.contains_key(SIGNATURE))
    );
}

#[tokio::test]
async fn the_secret_of_a_team_replaces_that_of_the_operator() {
    let (site, receiver) = (small_site().await, Receiver::start().await);
    let server = signing_server(&[]).await;
    let rotated = server.post("/console/api/webhook-secret", &json!({})).await.ok();
    let own = rotated["secret"].as_str().unwrap();
    server.crawl(&crawl_of(&site, receiver.url())).await;
    let tested = server
        .post(
            "/console/api/webhook-test",
            &json!({ "url": receiver.url(), "metadata": { "k": 1 } }),
        )
        .await
        .ok();
    assert_fields(
        &tested,
        json!({ "delivered": true, "signed": true, "status": 200 }),
    );
    let deliveries = receiver
        .wait_until(|all| {
            let came = |event| all.iter().any(|delivery| delivery.event() == event);
            came("crawl.completed") && came("webhook.test")
        })
        .await;
    for delivery in &deliveries {
        assert!(delivery.is_signed(SIGNATURE, own) && !delivery.is_signed(SIGNATURE, SECRET));
    }
    let test = deliveries
        .iter()
        .find(|delivery| delivery.event() == "webhook.test")
        .unwrap();
    assert_eq!(test.webhook_id(), tested["webhookId"]);
    assert_fields(&test.json, json!({ "metadata": { "k": 1 }, "data": [] }));

    // Another team still uses the operator's secret.
    let request = json!({ "url": receiver.url() }).to_string();
    let path = "/console/api/webhook-test";
    let other = server.send_as_other(http::Method::POST, path, request).await.ok();
    let theirs = receiver
        .wait_until(|all| {
            all.iter()
                .any(|delivery| delivery.webhook_id() == other["webhookId"])
        })
        .await;
    assert!(theirs.last().unwrap().is_signed(SIGNATURE, SECRET));
}
