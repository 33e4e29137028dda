//! The decision whether a page needs the browser, and its result, with the real server and Chromium.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{Page, RunningSite, Site, TestServer, assert_contains, tools};
use serde_json::{Value, json};

const STORY: &str = "<h1>Herons</h1><p>Herons stand still in shallow water and wait for fish to come by.</p>";

async fn server(settings: &[(&str, &str)]) -> TestServer {
    let mut all = vec![tools::chromium()];
    all.extend(settings);
    TestServer::start_with(&all).await
}

async fn without_browser() -> TestServer {
    TestServer::start_with(&[("HARVESTMAN_CHROMIUM", "none")]).await
}

async fn scrape(server: &TestServer, url: String) -> Value {
    let request = json!({ "url": url, "formats": ["markdown", "rawHtml"], "maxAge": 0 });
    let mut response = server.post("/v2/scrape", &request).await.ok();
    response["data"].take()
}

/// Returns the scrape engine of a document and the reason for it.
fn engine(page: &Value) -> (&str, &str) {
    let field = |name: &str| page["metadata"][name].as_str().unwrap_or_default();
    (field("scrapeEngine"), field("scrapeEngineReason"))
}

fn markdown(page: &Value) -> &str {
    page["markdown"].as_str().unwrap_or_default()
}

/// Returns a page whose script writes `html` into its root element.
fn app(html: &str) -> String {
    format!(
        "<!doctype html><title>App</title><div id=root></div><script>
         document.getElementById('root').innerHTML = {html:?};</script>"
    )
}

/// Returns a page whose script writes `html` into its root element `ms` milliseconds after the load event.
fn late_app(html: &str, ms: u32) -> String {
    format!(
        "<!doctype html><title>App</title><div id=root><p>Loading...</p></div><script>
         addEventListener('load', () => setTimeout(() => {{
             document.getElementById('root').innerHTML = {html:?};
         }}, {ms}));</script>"
    )
}

fn stub(target: &str) -> Page {
    Page::html(format!(
        "<!doctype html><meta http-equiv=refresh content='0;URL={target}'><title>Redirection</title>
         <p>Redirecting to <a href='{target}'>{target}</a>...</p>
         <script>location.replace('{target}' + location.search + location.hash);</script>"
    ))
}

async fn stubs() -> RunningSite {
    let mut site = Site::new()
        .page("/old", stub("new"))
        .page(
            "/new",
            Page::html(format!("<!doctype html><title>New</title>{STORY}")),
        )
        .page(
            "/script",
            Page::html("<!doctype html><script>location.replace('/new')</script>"),
        )
        .page("/header", Page::html(STORY).header("refresh", "0; url=new"))
        .page("/late", Page::html(STORY).header("refresh", "60; url=/new"))
        .page("/there", stub("/back"))
        .page("/back", stub("/there"))
        .page("/file", stub("/data.json"))
        .page("/data.json", Page::new("application/json", "{\"a\":1}"))
        .page("/missing", stub("/nowhere"));
    for number in 0..12 {
        site = site.page(&format!("/hop{number}"), stub(&format!("/hop{}", number + 1)));
    }
    site.serve().await
}

#[tokio::test]
async fn a_stub_page_is_a_redirect() {
    let (site, server) = (stubs().await, without_browser().await);
    for path in ["/old", "/script", "/header"] {
        let page = scrape(&server, site.url(path)).await;
        assert!(markdown(&page).contains("# Herons"), "{page}");
        let metadata = &page["metadata"];
        assert_eq!(metadata["sourceURL"], site.url(path));
        assert_eq!(metadata["url"], site.url("/new"));
        assert_eq!(metadata["statusCode"], 200);
        assert_eq!(engine(&page), ("http", "noScripts"));
        assert!(page["warning"].is_null(), "{page}");
    }
    let late = scrape(&server, site.url("/late")).await;
    assert_eq!(late["metadata"]["url"], site.url("/late"));
    let file = scrape(&server, site.url("/file")).await;
    assert_eq!(markdown(&file), "```json\n{\"a\":1}\n```");
    let missing = scrape(&server, site.url("/missing")).await;
    assert_eq!(missing["metadata"]["statusCode"], 404);
}

#[tokio::test]
async fn stub_pages_count_towards_the_redirect_limit() {
    let (site, server) = (stubs().await, without_browser().await);
    let refused = async |path: &str| {
        let request = json!({ "url": site.url(path), "maxAge": 0 });
        server.post("/v2/scrape", &request).await.error().to_owned()
    };
    assert!(refused("/there").await.contains("redirect loop"));
    assert!(refused("/hop0").await.contains("more than 10 redirects"));
    let last = scrape(&server, site.url("/hop3")).await;
    assert_eq!(
        last["metadata"]["url"],
        site.url("/hop12"),
        "ten redirects are followed: {last}"
    );
}

#[tokio::test]
async fn a_stub_page_is_restricted_like_a_redirect() {
    let inner = Site::new().page("/", Page::html("<p>secret</p>")).serve().await;
    let site = Site::new()
        .page("/private", stub(&inner.url("/")))
        .page("/other", stub("{base}/seen").header("x-note", "1"))
        .page("/seen", Page::html(STORY))
        .serve()
        .await;
    let only = site.address().to_string();
    let server = TestServer::start_with(&[
        ("HARVESTMAN_CHROMIUM", "none"),
        ("HARVESTMAN_ALLOW_PRIVATE_HOSTS", only.as_str()),
    ])
    .await;
    let refused = server
        .post("/v2/scrape", &json!({ "url": site.url("/private"), "maxAge": 0 }))
        .await;
    assert!(refused.error().contains("private"), "{}", refused.error());
    assert_eq!(inner.hits().len(), 0);

    let open = TestServer::start_with(&[("HARVESTMAN_CHROMIUM", "none")]).await;
    let request = json!({ "url": site.url("/private"), "maxAge": 0,
        "headers": { "Authorization": "Bearer 1", "Cookie": "a=b", "X-Own": "1" } });
    open.post("/v2/scrape", &request).await.ok();
    let headers = &inner.hits()[0].headers;
    assert!(!headers.contains_key("authorization") && !headers.contains_key("cookie"));
    assert_eq!(headers["x-own"], "1");

    let request =
        json!({ "url": site.url("/other"), "maxAge": 0, "headers": { "Authorization": "Bearer 1" } });
    open.post("/v2/scrape", &request).await.ok();
    assert_eq!(site.hits().last().unwrap().headers["authorization"], "Bearer 1");
}

#[tokio::test]
async fn the_browser_sends_private_headers_to_the_start_site_only() {
    let other = Site::new().page("/page", Page::html(STORY)).serve().await;
    let links = Page::links("Start", &[&other.url("/page")]);
    let site = Site::new().page("/", links).serve().await;
    let headers = json!({ "Authorization": "Bearer 1", "Cookie": "a=b", "X-Own": "1" });
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "allowExternalLinks": true,
        "scrapeOptions": { "waitFor": 1, "headers": headers } });
    let crawled = server(&[]).await.run_crawl(&request).await;
    assert_eq!(engine(crawled.document(&other.url("/page"))).0, "browser");

    let headers_of = |site: &RunningSite, path: &str| {
        let hit = site.hits().into_iter().find(|hit| hit.path == path);
        hit.unwrap().headers
    };
    let own = headers_of(&site, "/");
    assert!(own["authorization"] == "Bearer 1" && own["cookie"] == "a=b" && own["x-own"] == "1");
    let public = headers_of(&other, "/page");
    assert!(!public.contains_key("authorization") && !public.contains_key("cookie"));
    assert_eq!(public["x-own"], "1");
}

#[tokio::test]
async fn a_crawl_treats_stub_pages_as_redirects() {
    let other = Site::new().page("/", Page::html(STORY)).serve().await;
    let site = Site::new()
        .page("/", Page::links("Start", &["/old", "/away", "/new"]))
        .page("/old", stub("/new"))
        .page("/away", stub(&other.url("/")))
        .page("/new", Page::html(STORY))
        .serve()
        .await;
    let server = without_browser().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip", "ignoreRobotsTxt": false }))
        .await;
    server.wait(&id).await;
    let (documents, _) = server.documents(&id, 10).await;
    let mut urls: Vec<_> = documents
        .iter()
        .map(|page| page["metadata"]["url"].as_str().unwrap())
        .collect();
    urls.sort_unstable();
    assert_eq!(
        urls,
        [site.url("/"), site.url("/new")],
        "the redirect target is stored once"
    );
    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    assert_eq!(errors["errors"][0]["code"], "OUT_OF_SCOPE", "{errors}");
}

#[tokio::test]
async fn complete_pages_are_fetched_once_without_the_browser() {
    let tag = "<script async src='https://www.googletagmanager.com/gtag/js?id=G-1'></script>";
    let site = Site::new()
        .page("/tiny", Page::html(format!("<!doctype html><title>Ada</title>{tag}<p>Ada</p>")))
        .page("/short", Page::html("<!doctype html><h1>Closed</h1><p>The shop is closed today.</p><script src=/a.js></script>"))
        .page("/cjk", Page::html("<!doctype html><meta charset=utf-8><p>事務所は金曜日に休みます。月曜日に再びお電話ください。</p><script src=/a.js></script>"))
        .page("/soft", Page::html("<!doctype html><h1>404</h1><p>There is nothing here.</p><script src=/a.js></script>").status(404))
        .serve()
        .await;
    let server = server(&[]).await;
    for (path, reason) in [
        ("/tiny", "sideScripts"),
        ("/short", "shortPage"),
        ("/cjk", "shortPage"),
        ("/soft", "shortPage"),
    ] {
        let page = scrape(&server, site.url(path)).await;
        assert_eq!(engine(&page), ("http", reason), "{path}");
        assert!(page["warning"].is_null(), "{page}");
        assert_eq!(site.count(path), 1, "{path}");
    }
}

#[tokio::test]
async fn placeholder_pages_go_to_the_browser_whatever_their_status() {
    let site = Site::new()
        .page("/gone", Page::html(app(STORY)).status(404))
        .page("/late", Page::html(late_app(STORY, 3_000)))
        .page(
            "/shell",
            Page::html(format!(
                "<!doctype html><nav><a href=/>Home</a></nav>{}<footer>Example Corporation</footer>",
                app(STORY)
            )),
        )
        .serve()
        .await;
    let server = server(&[]).await;
    for (path, status) in [("/gone", 404), ("/late", 200), ("/shell", 200)] {
        let page = scrape(&server, site.url(path)).await;
        assert!(markdown(&page).contains("# Herons"), "{path}: {page}");
        assert_eq!(page["metadata"]["statusCode"], status);
        assert_eq!(engine(&page), ("browser", "emptyMount"));
        assert!(page["warning"].is_null(), "{page}");
    }
}

#[tokio::test]
async fn fast_mode_keeps_a_page_out_of_the_browser() {
    let site = Site::new().page("/", Page::html(app(STORY))).serve().await;
    let server = server(&[]).await;
    let mut request = json!({ "url": site.url("/"), "fastMode": true });
    let fetched = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    assert_eq!(engine(&fetched), ("http", "fastMode"));
    assert!(!markdown(&fetched).contains("Herons"), "{fetched}");
    let warning = fetched["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("Leave out `fastMode`"), "{warning}");
    // A page fetched in fast mode does not answer other requests.
    request["fastMode"] = false.into();
    let rendered = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    assert_eq!(engine(&rendered), ("browser", "emptyMount"));
    assert!(markdown(&rendered).contains("Herons"), "{rendered}");
    // Options that need the browser win.
    let both = json!({ "url": site.url("/"), "fastMode": true, "waitFor": 1 });
    let rendered = server.post("/v2/scrape", &both).await.ok()["data"].clone();
    assert_eq!(engine(&rendered), ("browser", "requested"));
}

#[tokio::test]
async fn the_fetched_page_is_kept_if_the_browser_adds_nothing() {
    let page = "<!doctype html><title>Small</title><p>Small words</p><script>
        document.body.insertAdjacentHTML('beforeend', '<nav><a href=/a>All of the pages of this site</a></nav>');</script>";
    let site = (0..5)
        .fold(Site::new(), |site, number| {
            site.page(&format!("/{number}"), Page::html(page))
        })
        .serve()
        .await;
    let server = server(&[]).await;
    let mut reasons = Vec::new();
    for number in 0..5 {
        let scraped = scrape(&server, site.url(&format!("/{number}"))).await;
        assert_eq!(scraped["rawHtml"], page);
        assert!(scraped["warning"].is_null(), "{scraped}");
        reasons.push(engine(&scraped).1.to_owned());
    }
    assert_eq!(
        reasons,
        [
            "nothingAdded", "nothingAdded", "nothingAdded", "unhelpful", "unhelpful"
        ]
    );
    assert_eq!(
        (site.count("/2"), site.count("/3")),
        (2, 1),
        "fetched over HTTP and by the browser, then only over HTTP"
    );
}

#[tokio::test]
async fn pages_of_a_host_that_needs_the_browser_go_there_first() {
    let site = (0..5)
        .fold(Site::new(), |site, number| {
            site.page(&format!("/{number}"), Page::html(app(STORY)))
        })
        .page("/data", Page::new("application/json", "{\"a\":1}"))
        .serve()
        .await;
    let server = server(&[]).await;
    let mut ways = Vec::new();
    for number in 0..5 {
        let page = scrape(&server, site.url(&format!("/{number}"))).await;
        assert!(markdown(&page).contains("# Herons"), "{page}");
        ways.push(engine(&page).1.to_owned());
    }
    assert_eq!(
        ways,
        ["emptyMount", "emptyMount", "emptyMount", "learned", "learned"]
    );
    assert_eq!((site.count("/2"), site.count("/3")), (2, 1));
    let data = scrape(&server, site.url("/data")).await;
    assert_eq!(
        markdown(&data),
        "```json\n{\"a\":1}\n```",
        "files are fetched over HTTP"
    );
}

#[tokio::test]
async fn with_the_browser_switched_off_only_requests_that_need_it_are_refused() {
    let site = Site::new().page("/", Page::links("Start", &[])).serve().await;
    let server = TestServer::start_with(&[("HARVESTMAN_CHROMIUM", "off")]).await;
    assert!(
        server.log().contains("the browser is switched off"),
        "{}",
        server.log()
    );
    let ready = server.get("/ready").await.ok();
    assert_eq!(ready["browser"], "not configured");
    assert!(scrape(&server, site.url("/")).await["markdown"].is_string());
    for option in [
        json!({ "formats": ["screenshot"] }),
        json!({ "waitFor": 10 }),
        json!({ "mobile": true }),
    ] {
        let mut request = option.clone();
        request["url"] = site.url("/").into();
        let response = server.post("/v2/scrape", &request).await;
        response.is_error_for(option, 503, "FEATURE_NOT_CONFIGURED");
    }
    let actions = json!({ "url": site.url("/"), "actions": [{ "type": "wait", "milliseconds": 1 }] });
    assert_eq!(server.post("/v2/scrape", &actions).await.status, 400);
    assert_eq!(server.post("/v2/browser", &json!({})).await.status, 503);
}

#[tokio::test]
async fn a_page_that_remains_a_placeholder_has_a_warning() {
    let site = Site::new()
        .page(
            "/shell",
            Page::html("<!doctype html><title>App</title><div id=root></div><script src=/gone.js></script>"),
        )
        .serve()
        .await;
    let plain_server = without_browser().await;
    let plain = scrape(&plain_server, site.url("/shell")).await;
    assert_eq!(engine(&plain), ("http", "noBrowser"));
    assert_contains(&plain, "/warning", "none is configured");
    let again = plain_server
        .post("/v2/scrape", &json!({ "url": site.url("/shell") }))
        .await
        .ok();
    assert_eq!(
        again["data"]["metadata"]["cacheState"], "miss",
        "a placeholder is not cached: {again}"
    );
    let drawn = scrape(&server(&[]).await, site.url("/shell")).await;
    assert_eq!(engine(&drawn), ("http", "nothingAdded"));
    assert_contains(&drawn, "/warning", "`waitFor`");
}

#[tokio::test]
async fn a_frameset_page_contains_the_documents_of_its_frames() {
    let other = Site::new()
        .page("/", Page::html("<p>Another site</p>"))
        .serve()
        .await;
    let site = Site::new()
        .page(
            "/",
            Page::html(
                "<html><head><title>Manual</title></head><frameset cols='20%,*'>
            <frame src='/toc.html'><frame src='/text/'><noframes>Get a browser</noframes></frameset></html>",
            ),
        )
        .page(
            "/toc.html",
            Page::html("<ul><li><a href='text/one.html'>One</a></ul>"),
        )
        .page(
            "/text/",
            Page::html("<p>Read on.</p><iframe src=inner.html></iframe>"),
        )
        .page(
            "/text/inner.html",
            Page::html(format!("{STORY}<p><a href=more.html>More</a></p>")),
        )
        .page(
            "/text/map",
            Page::html(format!(
                "<p>Map</p><iframe src='{}'></iframe>",
                other.url_at("localhost", "/")
            )),
        )
        .page(
            "/missing",
            Page::html("<p>Framed</p><iframe src=/nothing></iframe>"),
        )
        .serve()
        .await;
    let server = without_browser().await;
    let request = json!({ "url": site.url("/"), "formats": ["markdown", "links"], "onlyMainContent": false, "maxAge": 0 });
    let page = server.post("/v2/scrape", &request).await.ok()["data"].take();
    assert!(
        markdown(&page).contains("# Herons") && !markdown(&page).contains("Get a browser"),
        "{page}"
    );
    assert_eq!(page["metadata"]["title"], "Manual");
    assert_eq!(page["metadata"]["url"], site.url("/"));
    assert_eq!(
        page["links"],
        json!([site.url("/text/one.html"), site.url("/text/more.html")])
    );

    let map = scrape(&server, site.url("/text/map")).await;
    assert_eq!(
        markdown(&map).trim(),
        "Map",
        "documents of other sites are not fetched"
    );
    assert_eq!(other.hits().len(), 0);
    assert_eq!(
        markdown(&scrape(&server, site.url("/missing")).await).trim(),
        "Framed"
    );
}

#[tokio::test]
async fn frames_of_a_redirect_target_do_not_get_private_headers() {
    let target = Site::new()
        .page("/", Page::html("<p>Framed</p><iframe src=/frame></iframe>"))
        .page("/frame", Page::html(STORY))
        .serve()
        .await;
    let moved = Page::redirect(302, &target.url("/"));
    let site = Site::new().page("/", moved).serve().await;
    let request = json!({ "url": site.url("/"), "headers": { "Cookie": "a=b", "X-Own": "1" } });
    without_browser().await.post("/v2/scrape", &request).await.ok();
    let paths: Vec<_> = target.hits().into_iter().map(|hit| hit.path).collect();
    assert_eq!(paths, ["/", "/frame"]);
    for hit in target.hits() {
        assert!(!hit.headers.contains_key("cookie"), "{}", hit.path);
        assert_eq!(hit.headers["x-own"], "1", "{}", hit.path);
    }
}

#[tokio::test]
async fn a_busy_site_gets_no_second_request_from_the_browser() {
    let busy = Page::html(app(STORY)).status(503).header("retry-after", "60");
    let site = Site::new().page("/", busy).serve().await;
    let page = scrape(&server(&[]).await, site.url("/")).await;
    assert_eq!(engine(&page), ("http", "errorPage"));
    assert_eq!(page["metadata"]["statusCode"], 503);
    assert_eq!(site.count("/"), 1);
}

#[tokio::test]
async fn the_fetched_page_is_kept_if_the_browser_result_is_worse() {
    let html = "<!doctype html><p>Small words</p><script>
        document.body.innerHTML = '<p>Your browser is blocked: please enable JavaScript to go on.</p>';</script>";
    let site = Site::new().page("/", Page::html(html)).serve().await;
    let page = scrape(&server(&[]).await, site.url("/")).await;
    assert_eq!(engine(&page), ("http", "nothingAdded"));
    assert_eq!(markdown(&page).trim(), "Small words");
}

#[tokio::test]
async fn a_page_without_a_charset_is_decoded_alike_with_http_and_browser() {
    let text =
        "<!doctype html><title>Grüße</title><h1>Grüße</h1><p>Kein Zeichensatz, aber schöne Umlaute.</p>";
    let (shift_jis, plain) = (b"<!doctype html><title>x</title><p>\x93\x8c\x8b\x9e\x82\xcc\x93\x56\x8b\x43\x82\xcd\x90\xb0\x82\xea\x82\xc5\x82\xb7\x81\x42</p>", "東京の天気は晴れです。");
    let site = Site::new()
        .page("/utf8", Page::new("text/html", text))
        .page("/japanese", Page::new("text/html", shift_jis.to_vec()))
        .page("/missing", Page::new("text/html", text).status(404))
        .serve()
        .await;
    let server = server(&[]).await;
    for (path, word) in [
        ("/utf8", "schöne Umlaute"),
        ("/japanese", plain),
        ("/missing", "schöne Umlaute"),
    ] {
        for forced in [false, true] {
            let request = json!({ "url": site.url(path), "mobile": forced, "maxAge": 0 });
            let page = server.post("/v2/scrape", &request).await.ok()["data"].take();
            let engine_name = if forced { "browser" } else { "http" };
            assert_eq!(engine(&page).0, engine_name);
            assert!(markdown(&page).contains(word), "{engine_name}: {page}");
        }
    }
}

#[tokio::test]
async fn the_browser_sends_the_requested_languages() {
    let site = Site::new()
        .page("/plain", Page::html(STORY))
        .page("/own", Page::html(STORY))
        .serve()
        .await;
    let server = server(&[]).await;
    let sent = async |path: &str, extra: Value| {
        let mut request = json!({ "url": site.url(path), "mobile": true, "maxAge": 0 });
        request
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        let page = server.post("/v2/scrape", &request).await.ok()["data"].take();
        assert_eq!(engine(&page), ("browser", "requested"));
        let hits = site.hits();
        let hit = hits.iter().rfind(|hit| hit.path == path).unwrap();
        hit.headers["accept-language"].to_str().unwrap().to_owned()
    };
    assert_eq!(sent("/plain", json!({})).await, "en-US,en;q=0.9");
    let location = json!({ "location": { "country": "CH", "languages": ["de-CH", "fr"] } });
    assert_eq!(sent("/plain", location).await, "de-CH,de;q=0.9,fr;q=0.8");
    let own = json!({ "headers": { "Accept-Language": "fr;q=0.3, de" } });
    assert_eq!(sent("/own", own).await, "fr;q=0.3, de");
}

#[tokio::test]
async fn a_rendered_page_contains_the_documents_of_its_frames_too() {
    let site = Site::new()
        .page(
            "/",
            Page::html("<html><title>Manual</title><frameset><frame src='/text'></frameset></html>"),
        )
        .page("/shell", Page::html("<p>Menu</p><iframe src='/text'></iframe>"))
        .page("/text", Page::html(STORY))
        .serve()
        .await;
    let server = server(&[]).await;
    for path in ["/", "/shell"] {
        let request = json!({ "url": site.url(path), "waitFor": 1, "maxAge": 0 });
        let page = server.post("/v2/scrape", &request).await.ok()["data"].take();
        assert!(markdown(&page).contains("# Herons"), "{page}");
        assert_eq!(engine(&page), ("browser", "requested"));
    }
}
