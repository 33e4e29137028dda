//! Pages through real proxies: HTTP and SOCKS, with and without credentials, and proxies that fail.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::net::SocketAddr;

use harvestman_tests::{
    NameServer, Page, Site, TestProxy, TestServer, assert_contains, assert_fields, tools,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

const SECRET: &str = "s3cr3t";

/// Starts a proxy that answers every connection with bytes that are neither HTTP nor SOCKS.
async fn garbage() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 600];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&[0xff; 600]).await;
        }
    });
    address
}

/// Returns an address where nothing listens. Its port stays reserved, so that no other test gets it.
fn closed() -> SocketAddr {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    std::mem::forget(socket);
    address
}

fn request(url: &str, country: &str) -> Value {
    json!({ "url": url, "maxAge": 0, "location": { "country": country } })
}

async fn metrics(server: &TestServer) -> String {
    let text = server.get("/metrics").await.text();
    let lines = text.lines().filter(|line| line.starts_with("harvestman_proxy_"));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_counted(metrics: &str, proxy: SocketAddr, outcome: &str, times: u32) -> bool {
    metrics.lines().any(|line| {
        let labels = format!("{proxy}\",outcome=\"{outcome}\"");
        line.contains(&labels) && line.ends_with(&format!(" {times}"))
    })
}

#[tokio::test]
async fn pages_go_through_the_proxy_of_their_country() {
    let site = Site::new()
        .graph(&[("/", &[])])
        .page("/robots.txt", Page::new("text/plain", "User-agent: *\n"))
        .serve()
        .await;
    let (open, with_password) = (TestProxy::http(None), TestProxy::http(Some(("user", SECRET))));
    let (socks, socks_with_password) = (TestProxy::socks(None), TestProxy::socks(Some(("user", SECRET))));
    let pools = format!(
        "basic@DE=http://{};@FR=http://user:{SECRET}@{};basic@IT=socks5://{};enhanced@ES=socks5://user:{SECRET}@{}",
        open.address(),
        with_password.address(),
        socks.address(),
        socks_with_password.address()
    );
    let server = TestServer::start_with(&[("HARVESTMAN_PROXY", &pools)]).await;
    for (country, class, proxy, used) in [
        ("DE", "auto", &open, "basic"),
        ("FR", "enhanced", &with_password, "stealth"),
        ("IT", "basic", &socks, "basic"),
        ("ES", "stealth", &socks_with_password, "stealth"),
    ] {
        let mut request = request(&site.url("/"), country);
        request["proxy"] = class.into();
        let document = server.post("/v2/scrape", &request).await.ok()["data"].clone();
        assert_eq!(document["metadata"]["proxyUsed"], used, "{country}: {document}");
        assert_eq!(document["metadata"]["creditsUsed"], 1);
        assert_eq!(
            proxy.connections_to(site.address()),
            1,
            "{country}: {}",
            proxy.log()
        );
    }
    let direct = server
        .post("/v2/scrape", &request(&site.url("/"), "US"))
        .await
        .ok();
    assert_eq!(direct["data"]["metadata"]["proxyUsed"], "basic");
    let refused = json!({ "url": site.url("/"), "proxy": "enhanced" });
    let refused = server.post("/v2/scrape", &refused).await;
    refused.is_error(503, "FEATURE_NOT_CONFIGURED");
    assert!(
        refused.error().contains("`enhanced` proxy for the country `US`"),
        "{}",
        refused.error()
    );

    // robots.txt, sitemaps and pages of a crawl take the same way.
    let crawl =
        json!({ "url": site.url("/"), "scrapeOptions": { "maxAge": 0, "location": { "country": "IT" } } });
    let before = site.hits().len();
    let id = server.crawl(&crawl).await;
    assert_eq!(server.wait(&id).await["completed"], 1);
    assert!(site.hits().len() >= before + 3, "page, robots.txt and sitemap");

    let shown = server.run_command(&["config", "show"]).1;
    let metrics = metrics(&server).await;
    assert!(is_counted(&metrics, open.address(), "completed", 1), "{metrics}");
    assert!(is_counted(&metrics, socks.address(), "completed", 4), "{metrics}");
    for text in [&shown, &metrics, &server.log()] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[tokio::test]
async fn proxies_that_fail_are_reported() {
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let with_password = TestProxy::http(Some(("user", SECRET)));
    let socks_with_password = TestProxy::socks(Some(("user", SECRET)));
    let open = TestProxy::http(None);
    let (closed, garbage) = (closed(), garbage().await);
    let pools = [
        format!("@AT=http://{closed}"),
        format!("@BE=http://{}", with_password.address()),
        format!("@CH=http://user:wrong-{SECRET}@{}", with_password.address()),
        format!("@DE=socks5://{}", socks_with_password.address()),
        format!(
            "@DK=socks5://user:wrong-{SECRET}@{}",
            socks_with_password.address()
        ),
        format!("@EE=http://{garbage}"),
        format!("@ES=socks5://{garbage}"),
        format!("@FI=http://user:{SECRET}@nowhere.invalid:1"),
        format!("@FR=http://{closed};@FR=http://{}", open.address()),
    ];
    let server = TestServer::start_with(&[("HARVESTMAN_PROXY", &pools.join(";"))]).await;
    for (country, expected) in [
        ("AT", "the proxy refused the connection"),
        ("BE", "the proxy requires credentials, and none are configured"),
        ("CH", "the proxy rejected the configured credentials"),
        ("DE", "the proxy requires credentials, and none are configured"),
        ("DK", "the proxy rejected the configured credentials"),
        ("EE", "the proxy sent an invalid response"),
        ("ES", "the proxy sent an invalid response"),
        ("FI", "the name of the proxy does not resolve"),
    ] {
        let failed = server.post("/v2/scrape", &request(&site.url("/"), country)).await;
        failed.is_error_for(country, 500, "SCRAPE_PROXY_ERROR");
        assert!(
            failed.error().ends_with(expected),
            "{country}: {}",
            failed.error()
        );
        assert!(!failed.error().contains(SECRET));
    }
    assert_eq!(site.hits().len(), 0, "nothing was fetched directly");
    for _ in 0..5 {
        server
            .post("/v2/scrape", &request(&site.url("/"), "FR"))
            .await
            .ok();
    }
    let metrics = metrics(&server).await;
    assert!(is_counted(&metrics, open.address(), "completed", 5), "{metrics}");

    // A private target is rejected, with a proxy as without.
    server
        .post("/v2/scrape", &request("http://10.0.0.1/", "FR"))
        .await
        .is_error(403, "UNSAFE_TARGET");
    assert!(!server.log().contains(SECRET), "{}", server.log());
}

#[tokio::test]
async fn a_page_of_a_job_is_tried_again_if_its_proxy_fails() {
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let proxy = TestProxy::http(None);
    let front = TcpSocket::new_v4().unwrap();
    front.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = front.local_addr().unwrap();
    let server = TestServer::start_with(&[("HARVESTMAN_PROXY", &format!("http://{address}"))]).await;
    let batch = json!({ "urls": [site.url("/")], "maxAge": 0 });
    let path = server.batch(&batch).await;
    assert_fields(
        &server.wait_for_end(&path).await,
        json!({ "completed": 0, "total": 1 }),
    );
    let errors = server.get(&format!("{path}/errors")).await.ok();
    assert_contains(&errors, "/errors/0/error", "the proxy refused the connection");
    assert!(is_counted(&metrics(&server).await, address, "failed", 3));

    let path = server.batch(&batch).await;
    while !is_counted(&metrics(&server).await, address, "failed", 4) {
        tokio::task::yield_now().await;
    }
    let front = front.listen(8).unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = front.accept().await {
            let mut connection = TcpStream::connect(proxy.address()).await.unwrap();
            let _ = copy_bidirectional(&mut stream, &mut connection).await;
        }
    });
    assert_fields(
        &server.wait_for_end(&path).await,
        json!({ "completed": 1, "total": 1 }),
    );
}

#[tokio::test]
async fn a_blocked_page_is_fetched_again_through_an_enhanced_proxy() {
    const CHALLENGE: &str = "<html><head><title>Just a moment...</title></head><body>\
        <script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'></script></body></html>";
    let site = Site::new()
        .graph(&[("/", &[])])
        .page("/blocked", Page::html(CHALLENGE).status(403))
        .page(
            "/forbidden",
            Page::html("<p>You may not read this.</p>").status(403),
        )
        .page("/empty", Page::html(""))
        .serve()
        .await;
    let (basic, enhanced) = (TestProxy::http(None), TestProxy::socks(None));
    let pools = format!(
        "basic=http://{};enhanced=socks5://{}",
        basic.address(),
        enhanced.address()
    );
    let server = TestServer::start_with(&[("HARVESTMAN_PROXY", &pools)]).await;
    for (path, class, used, fetches) in [
        ("/", "auto", "basic", 1),
        ("/blocked", "auto", "stealth", 2),
        ("/blocked", "basic", "basic", 3),
        ("/forbidden", "auto", "basic", 1),
        ("/empty", "auto", "stealth", 2),
    ] {
        let request = json!({ "url": site.url(path), "maxAge": 0, "proxy": class });
        let document = server.post("/v2/scrape", &request).await.ok()["data"].clone();
        assert_eq!(document["metadata"]["proxyUsed"], used, "{path} {class}");
        assert_eq!(site.count(path), fetches, "{path} {class}");
    }
}

#[tokio::test]
async fn proxies_resolve_names_only_if_the_operator_allows_it() {
    let names = NameServer::serve().await;
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let proxy = TestProxy::http(None);
    let settings = [
        ("HARVESTMAN_PROXY", format!("http://{}", proxy.address())),
        ("HARVESTMAN_DNS_SERVERS", names.setting()),
    ];
    let mut settings: Vec<_> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let server = TestServer::start_with(&settings).await;
    let named = site.url_at("shop.test", "/");
    server.post("/v2/scrape", &request(&named, "US")).await.ok();
    assert_eq!(
        proxy.connections_to(site.address()),
        1,
        "the proxy gets the address: {}",
        proxy.log()
    );
    drop(server);

    settings.push(("HARVESTMAN_PROXY_REMOTE_DNS", "1"));
    let server = TestServer::start_with(&settings).await;
    let unknown = server
        .post("/v2/scrape", &request("http://only-the-proxy.invalid/", "US"))
        .await;
    assert_eq!(unknown.code(), "SCRAPE_SITE_ERROR", "{}", unknown.error());
    assert!(
        proxy.log().contains("CONNECT only-the-proxy.invalid:80"),
        "{}",
        proxy.log()
    );
    let own = server
        .post("/v2/scrape", &request("http://10.0.0.1/", "US"))
        .await;
    assert_eq!(own.code(), "UNSAFE_TARGET");
}

#[tokio::test]
async fn a_crawl_survives_the_death_of_one_of_its_proxies() {
    const PAGES: usize = 1_000;
    const HOSTS: usize = 12;
    let names = NameServer::serve().await;
    let url = |page: usize| format!("http://host{}.test{{port}}/{page}", page % HOSTS);
    let links: Vec<String> = (1..PAGES).map(url).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let site = (1..PAGES).fold(Site::new().page("/0", Page::links("0", &links)), |site, page| {
        site.page(&format!("/{page}"), Page::links(&page.to_string(), &[]))
    });
    let site = site.serve().await;
    let mut proxies = [
        TestProxy::http(None),
        TestProxy::socks(None),
        TestProxy::http(None),
    ];
    let schemes = ["http", "socks5", "http"];
    let pools = schemes
        .iter()
        .zip(&proxies)
        .map(|(scheme, proxy)| format!("basic={scheme}://{}", proxy.address()))
        .collect::<Vec<_>>()
        .join(";");
    let names = names.setting();
    let settings = [
        ("HARVESTMAN_PROXY", pools.as_str()),
        ("HARVESTMAN_DNS_SERVERS", &names),
    ];
    let server = TestServer::start_with(&settings).await;

    site.hold_after(300);
    let request = json!({
        "url": site.url_at("host0.test", "/0"), "limit": PAGES, "allowExternalLinks": true, "crawlEntireDomain": true,
        "maxDiscoveryDepth": 1, "scrapeOptions": { "maxAge": 0, "formats": ["markdown"] },
    });
    let id = server.crawl(&request).await;
    site.wait_for_requests(310).await;
    // The proxy with the most connections dies while pages are in flight.
    let busiest = proxies
        .iter_mut()
        .max_by_key(|proxy| proxy.connections_to(site.address()));
    let dead = busiest.unwrap();
    dead.kill();
    let dead = dead.address();
    site.release();
    let status = server.wait(&id).await;
    let metrics = metrics(&server).await;
    println!("{metrics}");
    assert_fields(
        &status,
        json!({ "status": "completed", "completed": PAGES, "total": PAGES }),
    );
    let (documents, _) = server.documents(&id, 200).await;
    let urls: BTreeSet<&str> = documents
        .iter()
        .map(|document| document["metadata"]["sourceURL"].as_str().unwrap())
        .collect();
    assert_eq!((documents.len(), urls.len()), (PAGES, PAGES));
    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    assert_fields(&errors, json!({ "errors": [], "robotsBlocked": [] }));
    let failed = metrics.lines().filter(|line| line.contains("outcome=\"failed\""));
    assert!(failed.clone().count() == 1 && failed.clone().all(|line| line.contains(&dead.to_string())));
    let unavailable = format!("harvestman_proxy_available{{proxy=\"{{}}://{dead}\"}} 0");
    assert!(
        ["http", "socks5"]
            .iter()
            .any(|scheme| metrics.contains(&unavailable.replace("{}", scheme)))
    );
}

#[tokio::test]
async fn the_browser_uses_the_proxy_of_each_page() {
    let site = Site::new()
        .page(
            "/",
            Page::html("<main><h1>Shop</h1><p>Twelve chairs.</p></main><img src='/picture.png'>"),
        )
        .serve()
        .await;
    let (http, socks) = (
        TestProxy::http(Some(("user", SECRET))),
        TestProxy::socks(Some(("user", SECRET))),
    );
    let pools = format!(
        "@DE=http://user:{SECRET}@{};@FR=socks5://user:{SECRET}@{};@IT=http://{}",
        http.address(),
        socks.address(),
        closed()
    );
    let settings = [("HARVESTMAN_PROXY", pools.as_str()), tools::chromium()];
    let server = TestServer::start_with(&settings).await;
    for (country, proxy) in [("DE", &http), ("FR", &socks)] {
        let mut request = request(&site.url("/"), country);
        request["waitFor"] = 1.into();
        let document = server.post("/v2/scrape", &request).await.ok()["data"].clone();
        assert_eq!(document["metadata"]["scrapeEngine"], "browser");
        assert_contains(&document, "/markdown", "Twelve chairs");
        assert!(proxy.connections_to(site.address()) >= 1, "{}", proxy.log());
    }
    assert_eq!(site.count("/picture.png"), 2);
    let before = site.hits().len();
    let mut request = request(&site.url("/"), "IT");
    request["waitFor"] = 1.into();
    let failed = server.post("/v2/scrape", &request).await;
    failed.is_error(500, "SCRAPE_PROXY_ERROR");
    assert_eq!(site.hits().len(), before, "nothing was fetched directly");
}

#[tokio::test]
async fn a_browser_session_uses_the_proxy_of_its_location() {
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let (german, french) = (TestProxy::http(None), TestProxy::http(None));
    let pools = format!("@DE=http://{};@FR=http://{}", german.address(), french.address());
    let server = TestServer::start_with(&[("HARVESTMAN_PROXY", &pools), tools::chromium()]).await;
    let open = format!("agent-browser open {}", site.url("/"));
    // The second session starts with the spare browser of the first one.
    for (country, used, other) in [("DE", &german, &french), ("FR", &french, &german)] {
        let before = other.connections_to(site.address());
        let session = json!({ "location": { "country": country } });
        let session = server.post("/v2/browser", &session).await.ok();
        let path = format!("/v2/browser/{}", session["id"].as_str().unwrap());
        let request = json!({ "code": open, "language": "bash" });
        let opened = server.post(&format!("{path}/execute"), &request).await.ok();
        assert_eq!(opened["success"], true, "{opened}");
        assert!(
            used.connections_to(site.address()) > 0,
            "{country}: {}",
            used.log()
        );
        assert_eq!(other.connections_to(site.address()), before, "{country}");
        server.delete(&path).await.ok();
    }
}
