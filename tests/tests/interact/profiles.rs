//! Profiles: browser state that is stored under a name.

use std::time::{Duration, Instant};

use harvestman_tests::{DatabaseProxy, TestDatabase, TestServer, assert_contains, assert_fields};
use http::Method;
use serde_json::{Value, json};
use tokio_postgres::NoTls;

use super::setup::{TIMEOUT, as_other, delete, execute, interact, open, run, server, site};

async fn known(server: &TestServer, url: String, profile: Value) -> String {
    let request = json!({ "url": url, "profile": profile });
    let response = server.post("/v2/scrape", &request).await.ok();
    response["data"]["markdown"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_profile_passes_browser_state_to_later_browsers() {
    let (site, mut server) = (site().await, server(&[]).await);
    let shop = || json!({ "name": "shop" });
    let (page, ada, bob) = (
        site.url("/known"),
        site.url("/known?name=Ada"),
        site.url("/known?name=Bob"),
    );

    // From a session to a scrape.
    let id = open(&server, json!({ "profile": shop() })).await;
    run(&server, &execute(&id), &format!("open '{ada}'")).await;
    delete(&server, &id).await.ok();
    let text = known(&server, page.clone(), shop()).await;
    assert!(text.contains("Cookie name=Ada, storage Ada"), "{text}");

    // From a scrape to a scrape, but not from one with `saveChanges: false`.
    let reads = json!({ "name": "shop", "saveChanges": false });
    known(&server, bob.clone(), reads).await;
    let text = known(&server, bob, shop()).await;
    assert!(text.contains("Cookie name=Ada, storage Ada"), "{text}");
    let text = known(&server, page.clone(), shop()).await;
    assert!(text.contains("Cookie name=Bob, storage Bob"), "{text}");

    // From a scrape to its session, and through a restart, which ends the session.
    let scraped = server.scrape_id(&json!({ "url": page, "profile": shop() })).await;
    let path = interact(&scraped);
    assert!(
        run(&server, &path, "get text '#known'")
            .await
            .contains("name=Bob, storage Bob")
    );
    run(&server, &path, &format!("open '{ada}'")).await;
    server.terminate().await;
    server.restart().await;
    let text = known(&server, site.url("/known"), shop()).await;
    assert!(text.contains("Cookie name=Ada, storage Ada"), "{text}");

    // Other names and other teams have separate profiles.
    let text = known(&server, site.url("/known"), json!({ "name": "bank" })).await;
    assert!(text.contains("Cookie none, storage none"), "{text}");
    let request = json!({ "url": site.url("/known"), "profile": shop() });
    let other = as_other(&server, Method::POST, "/v2/scrape", Some(&request))
        .await
        .ok();
    assert_contains(&other, "/data/markdown", "Cookie none");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_to_a_profile_outlive_an_outage_of_the_database_on_postgresql() {
    let database = TestDatabase::create().await;
    let proxy = DatabaseProxy::start(database.url()).await;
    let url = proxy.url(database.url());
    let (site, server) = (site().await, server(&[("HARVESTMAN_DATABASE_URL", &url)]).await);
    let shop = json!({ "name": "shop" });
    let id = open(&server, json!({ "profile": shop })).await;
    let ada = site.url("/known?name=Ada");
    run(&server, &execute(&id), &format!("open '{ada}'")).await;
    // The database becomes unavailable while the session ends.
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("BEGIN; LOCK TABLE harvestman.profile")
        .await
        .unwrap();
    let since = Instant::now();
    let (ended, ()) = tokio::join!(delete(&server, &id), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        proxy.refuse();
    });
    assert_eq!(ended.status, 503, "{}", ended.text());
    client.batch_execute("ROLLBACK").await.unwrap();
    proxy.restore();
    let request = json!({ "url": site.url("/known"), "profile": shop });
    loop {
        let scraped = server.post("/v2/scrape", &request).await;
        if scraped.status == 200 {
            assert_contains(&scraped.json, "/data/markdown", "Cookie name=Ada, storage Ada");
            return;
        }
        assert!(matches!(scraped.status, 409 | 503), "{}", scraped.text());
        assert!(since.elapsed() < TIMEOUT, "{}", scraped.text());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn only_one_browser_at_a_time_can_write_to_a_profile() {
    let (site, mut server) = (site().await, server(&[]).await);
    let shop = json!({ "profile": { "name": "shop" } });
    let id = open(&server, shop.clone()).await;
    let request = json!({ "url": site.url("/"), "profile": { "name": "shop" } });
    for (path, body) in [("/v2/browser", &shop), ("/v2/scrape", &request)] {
        let busy = server.post(path, body).await;
        busy.is_error_for(path, 409, "PROFILE_BUSY");
    }
    let reads = json!({ "profile": { "name": "shop", "saveChanges": false } });
    let reader = open(&server, reads).await;
    delete(&server, &reader).await.ok();
    delete(&server, &id).await.ok();
    let next = open(&server, shop.clone()).await;
    server.kill9();
    server.restart().await;
    assert_ne!(
        open(&server, shop).await,
        next,
        "a crash leaves no profile locked"
    );
}

#[tokio::test]
async fn pages_of_a_crawl_share_a_profile() {
    let (site, server) = (site().await, server(&[]).await);
    let options = json!({ "profile": { "name": "shop" } });
    let crawl = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip", "scrapeOptions": options }))
        .await;
    let status = server.wait(&crawl).await;
    assert_fields(&status, json!({ "status": "completed", "completed": 2 }));
}
