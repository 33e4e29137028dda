//! Pages that need a browser, with the real server and Chromium.

#![allow(clippy::unwrap_used)]

#[path = "browser/consent.rs"]
mod consent;

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use harvestman_tests::{
    NameServer, Page, RunningSite, Site, TestServer, assert_contains, serve_without_tls, tools,
};
use http::{HeaderValue, Method};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const APP: &str = "<!doctype html><title>App</title><div id=root></div><script>
    fetch('/api').then(answer => answer.text()).then(name => {
        document.getElementById('root').innerHTML = '<h1>Herons</h1><p>This page was made by a script for '
            + name + ', and says a few things about herons.</p><a href=\"/second\">on</a>';
    });
</script>";
const FORM: &str = "<!doctype html><title>Form</title>
    <form onsubmit=\"event.preventDefault(); document.querySelector('output').textContent =
        'Hello ' + document.querySelector('input').value\">
    <input name=name><button>Send</button><output></output></form>
    <p>A form that greets the person who sends it.</p>";

async fn site() -> RunningSite {
    Site::new()
        .page("/", Page::html(APP))
        .page("/api", Page::new("text/plain", "everybody"))
        .page("/second", Page::links("Second", &["/"]))
        .page("/form", Page::html(FORM))
        .page("/data", Page::new("application/json", "{\"a\":1}"))
        .page(
            "/blue",
            Page::html("<!doctype html><body style='background:#0000ff'><p>Blue all over.</p>"),
        )
        .serve()
        .await
}

async fn server(settings: &[(&str, &str)]) -> TestServer {
    let mut all = vec![tools::chromium()];
    all.extend(settings);
    TestServer::start_with(&all).await
}

async fn scrape(server: &TestServer, request: Value) -> Value {
    let mut response = server.post("/v2/scrape", &request).await.ok();
    response["data"].take()
}

#[tokio::test]
async fn scrapes_and_crawls_return_the_text_of_pages_rendered_by_scripts() {
    let (site, server) = (site().await, server(&[]).await);
    let page = scrape(
        &server,
        json!({ "url": site.url("/"), "formats": ["markdown", "links"] }),
    )
    .await;
    let markdown = page["markdown"].as_str().unwrap();
    assert!(
        markdown.contains("# Herons") && markdown.contains("a script for everybody"),
        "{page}"
    );
    assert_eq!(page["links"], json!([site.url("/second")]));
    assert_eq!(page["metadata"]["statusCode"], 200);

    let crawl = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip" }))
        .await;
    server.wait(&crawl).await;
    let (documents, _) = server.documents(&crawl, 10).await;
    let titles: Vec<_> = documents.iter().map(|page| &page["metadata"]["title"]).collect();
    assert_eq!(
        titles,
        ["App", "Second"],
        "the link that the script adds was followed"
    );
    assert_contains(&documents[0], "/markdown", "# Herons");
}

#[tokio::test]
async fn actions_fill_and_submit_a_form_and_return_their_results() {
    let (site, server) = (site().await, server(&[]).await);
    let page = scrape(
        &server,
        json!({ "url": site.url("/form"), "onlyMainContent": false, "actions": [
            { "type": "click", "selector": "input" },
            { "type": "write", "text": "Ada" },
            { "type": "press", "key": "Enter" },
            { "type": "wait", "selector": "output" },
            { "type": "scrape" },
            { "type": "executeJavascript", "script": "document.title.length" },
            { "type": "screenshot" },
            { "type": "pdf" },
        ] }),
    )
    .await;
    assert_contains(&page, "/markdown", "Hello Ada");
    let actions = &page["actions"];
    assert_eq!(
        actions["javascriptReturns"],
        json!([{ "type": "number", "value": 4 }])
    );
    assert_eq!(actions["scrapes"][0]["url"], site.url("/form"));
    assert_contains(actions, "/scrapes/0/html", "Hello Ada");
    let file = async |address: &Value| {
        let base = format!("http://{}", server.address());
        let path = address.as_str().unwrap().strip_prefix(&base).unwrap();
        server.send(Method::GET, path, &[], Bytes::new()).await
    };
    let picture = file(&actions["screenshots"][0]).await;
    assert_eq!(
        (picture.status, &picture.headers["content-type"]),
        (200, &HeaderValue::from_static("image/png"))
    );
    assert_eq!(picture.headers["content-security-policy"], "sandbox");
    assert!(picture.body.starts_with(b"\x89PNG"));
    assert!(file(&actions["pdfs"][0]).await.body.starts_with(b"%PDF-"));

    let failed = server
        .post(
            "/v2/scrape",
            &json!({ "url": site.url("/form"), "timeout": 5_000, "actions": [
                { "type": "wait", "milliseconds": 1 }, { "type": "click", "selector": "#nowhere" }] }),
        )
        .await;
    failed.is_error(500, "SCRAPE_ACTION_ERROR");
    assert_eq!(failed.json["details"], json!({ "index": 1, "type": "click" }));

    // A connection error is not an error of the action.
    let nowhere = site.url("/form");
    drop(site);
    let request = json!({ "url": nowhere, "actions": [{ "type": "click", "selector": "button" }] });
    let failed = server.post("/v2/scrape", &request).await;
    assert_eq!(failed.code(), "SCRAPE_SITE_ERROR", "{}", failed.error());
}

#[tokio::test]
async fn a_screenshot_is_returned_inline_with_zero_data_retention() {
    let (site, server) = (
        site().await,
        server(&[("HARVESTMAN_ALLOW_ZERO_DATA_RETENTION", "1")]).await,
    );
    let viewport = json!({ "width": 300, "height": 200 });
    let request = json!({ "url": site.url("/blue"),
        "formats": [{ "type": "screenshot", "viewport": viewport }], "zeroDataRetention": true });
    let page = scrape(&server, request).await;
    let data = page["screenshot"].as_str().unwrap();
    let bytes = STANDARD
        .decode(data.strip_prefix("data:image/png;base64,").unwrap())
        .unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(
        (number(16), number(20)),
        (300, 200),
        "the size in the PNG's header"
    );
}

#[tokio::test]
async fn files_are_fetched_without_the_browser() {
    let (site, server) = (site().await, server(&[]).await);
    let page = scrape(&server, json!({ "url": site.url("/data"), "waitFor": 10 })).await;
    assert_eq!(page["markdown"], "```json\n{\"a\":1}\n```");
}

#[tokio::test]
async fn a_redirect_that_cannot_be_followed_is_named_in_the_browser_too() {
    let to = ["http://", "file:///etc/passwd", "javascript:1"];
    let mut site = Site::new();
    for (n, to) in to.iter().enumerate() {
        site = site.page(&format!("/{n}"), Page::redirect(302, to));
    }
    let (site, server) = (site.serve().await, server(&[]).await);
    for n in 0..to.len() {
        for options in [json!({}), json!({ "waitFor": 1 })] {
            let mut request = options;
            request["url"] = json!(site.url(&format!("/{n}")));
            let refused = server.post("/v2/scrape", &request).await;
            refused.is_error(500, "SCRAPE_SITE_ERROR");
            let reason = "redirects to a URL that cannot be followed";
            assert!(refused.error().contains(reason), "{}", refused.error());
        }
    }
}

#[tokio::test]
async fn the_browser_cannot_reach_private_hosts() {
    let inner = Site::new().page("/", Page::html("<p>secret</p>")).serve().await;
    let there = inner.url("/");
    let app = format!(
        "<!doctype html><title>Probe</title><p id=told>Nothing is told here.</p><script>
         fetch('{there}').then(answer => answer.text()).then(text => {{ told.textContent = text; }})
             .catch(() => {{ told.textContent = 'refused by the proxy'; }});</script>"
    );
    let site = Site::new().page("/", Page::html(app)).serve().await;
    let only = site.address().to_string();
    let server = server(&[("HARVESTMAN_ALLOW_PRIVATE_HOSTS", only.as_str())]).await;
    let page = scrape(&server, json!({ "url": site.url("/"), "waitFor": 300 })).await;
    assert_contains(&page, "/markdown", "refused by the proxy");
    assert_eq!(inner.hits().len(), 0);
}

#[tokio::test]
async fn a_download_has_no_screenshot_and_says_so() {
    let file = Page::new("text/csv", "name,price\ncup,9").header("content-disposition", "attachment");
    let site = Site::new().page("/prices.csv", file).serve().await;
    let server = server(&[]).await;
    let request = json!({ "url": site.url("/prices.csv"), "formats": ["markdown", "screenshot"] });
    let document = scrape(&server, request).await;
    assert_contains(&document, "/markdown", "cup");
    let warning = document["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("`screenshot` had no effect"), "{document}");
}

#[tokio::test]
async fn a_url_without_a_scheme_is_tried_with_http_if_https_gets_no_answer() {
    let (site, server) = (site().await, server(&[]).await);
    let url = format!("{}/form", serve_without_tls(site.address()).await);
    let page = scrape(&server, json!({ "url": url, "waitFor": 1, "timeout": 20_000 })).await;
    assert_eq!(page["metadata"]["title"], "Form", "{page}");
}

#[tokio::test]
async fn without_a_browser_requests_that_need_one_get_503() {
    let site = site().await;
    let server = TestServer::start_with(&[("HARVESTMAN_CHROMIUM", "none")]).await;
    let shot = json!({ "url": site.url("/blue"), "formats": ["screenshot"] });
    server
        .post("/v2/scrape", &shot)
        .await
        .is_error(503, "FEATURE_NOT_CONFIGURED");
}

#[tokio::test]
async fn ready_reports_whether_the_browser_starts() {
    let browser = async |server: &TestServer| server.get("/ready").await.ok()["browser"].clone();
    let site = site().await;
    assert_eq!(browser(&server(&[]).await).await, "ok");
    assert_eq!(
        browser(&server(&[("HARVESTMAN_CHROMIUM", "none")]).await).await,
        "not configured"
    );

    let broken = server(&[("HARVESTMAN_CHROMIUM", "/bin/false")]).await;
    let shot = json!({ "url": site.url("/blue"), "formats": ["screenshot"] });
    assert!(broken.post("/v2/scrape", &shot).await.status >= 500);
    assert_eq!(browser(&broken).await, "unavailable");
}

#[tokio::test]
async fn a_page_is_rendered_again_if_the_browser_dies() {
    let site = site().await;
    let server = server(&[]).await;
    let request = json!({ "url": site.url("/"), "waitFor": 3_000, "maxAge": 0 });
    let killing = async {
        site.wait_for_requests(1).await;
        signal_browsers(server.pid(), Signal::KILL);
    };
    let (document, ()) = tokio::join!(scrape(&server, request), killing);
    assert_eq!(document["metadata"]["scrapeEngine"], "browser", "{document}");
    assert_eq!(site.count("/"), 2);
    assert!(
        server
            .log()
            .contains("the browser ended while it rendered a page"),
        "{}",
        server.log()
    );
}

#[tokio::test]
async fn a_browser_that_hangs_is_replaced() {
    let site = site().await;
    let server = server(&[]).await;
    let request = json!({ "url": site.url("/"), "waitFor": 100, "maxAge": 0, "timeout": 5_000 });
    scrape(&server, request.clone()).await;
    signal_browsers(server.pid(), Signal::STOP);
    let since = Instant::now();
    loop {
        let response = server.post("/v2/scrape", &request).await;
        if response.status == 200 {
            break;
        }
        assert_eq!(response.code(), "SCRAPE_TIMEOUT", "{}", response.text());
        assert!(since.elapsed() < Duration::from_secs(120), "{}", server.log());
    }
}

/// Sends a signal to the browsers that a server has started: all its descendants.
fn signal_browsers(server: u32, signal: Signal) {
    let parent_of = |process: i32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse::<i32>().ok()
    };
    let processes = std::fs::read_dir("/proc").unwrap();
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let server = i32::try_from(server).unwrap();
    let is_descendant = |process: &i32| {
        std::iter::successors(parent_of(*process), |parent| parent_of(*parent)).any(|one| one == server)
    };
    let descendants: Vec<i32> = numbers.filter(is_descendant).collect();
    assert!(!descendants.is_empty(), "no browser is running");
    for process in descendants {
        let process = Pid::from_raw(process).unwrap();
        // Some end with their parent.
        let _ = kill_process(process, signal);
    }
}

#[tokio::test]
async fn branding_is_what_the_browser_shows() {
    let page = "<!doctype html><html><head><title>Shop | Heron</title><meta property=og:site_name content=Heron>
        <link rel=icon href=/icon.png><style>:root { --primary: #ff6600; --danger: #cc0000 } body { background: #101820; color: #eeeeee;
        font: 16px Georgia, serif } h1 { font: bold 40px Arial } button { background: #ff6600; color: black;
        border: 0; border-radius: 8px; transition: opacity 0.2s ease-in } header { height: 72px } .cards {
        display: grid; grid-template-columns: 1fr 1fr 1fr; max-width: 900px; height: 120px }</style></head><body><header><a href=/><img class=logo src=/logo.svg width=80
        height=20></a><svg width=24 height=24 fill=none stroke='#00aa00'><path d='M2 2h20'/></svg></header><h1>Herons</h1><p>Herons stand still in shallow water and wait.</p>
        <p><a href=/more style='color: #3399ff'>Read more about herons 🐦</a></p><div class=cards><p>One</p><p>Two</p><p>Three</p></div><button>Buy</button></body></html>";
    let site = Site::new().page("/", Page::html(page)).serve().await;
    let server = server(&[]).await;
    let data = scrape(&server, json!({ "url": site.url("/"), "formats": ["branding"] })).await;
    let branding = &data["branding"];
    assert_eq!(branding["colorScheme"], "dark", "{data}");
    assert_eq!(branding["brandName"], "Heron");
    assert_eq!(branding["logo"], site.url("/logo.svg"));
    assert_eq!(branding["images"]["favicon"], site.url("/icon.png"));
    assert_eq!(branding["fonts"][0]["family"], "Georgia");
    assert_eq!(branding["typography"]["fontSizes"]["h1"], "40px");
    assert_eq!(branding["typography"]["fontFamilies"]["heading"], "Arial");
    for (name, color) in [
        ("primary", "#FF6600"),
        ("background", "#101820"),
        ("textPrimary", "#EEEEEE"),
        ("link", "#3399FF"),
        ("error", "#CC0000"),
    ] {
        assert_eq!(branding["colors"][name], color, "{name}: {data}");
    }
    assert_eq!(
        branding["components"]["buttonPrimary"],
        json!({"background": "#FF6600", "textColor": "#000000", "borderRadius": "8px"})
    );
    assert_eq!(
        branding["icons"],
        json!({"style": "outline", "primaryColor": "#00AA00"})
    );
    assert_eq!(
        branding["animations"],
        json!({"transitionDuration": "0.2s", "easing": "ease-in"})
    );
    assert_eq!(
        branding["layout"],
        json!({"grid": {"columns": 3, "maxWidth": "900px"}, "headerHeight": "72px"})
    );
    assert_eq!(branding["tone"], json!({"emojiUsage": "minimal"}));
    assert_eq!(data["metadata"]["scrapeEngineReason"], "requested");
}

#[tokio::test]
async fn requests_on_filter_lists_are_not_made() {
    let names = NameServer::serve().await;
    let others = Site::new()
        .page(
            "/ad.js",
            Page::new(
                "text/javascript",
                "document.querySelector('#ad').textContent = 'Buy now!';",
            ),
        )
        .page(
            "/fine.js",
            Page::new(
                "text/javascript",
                "document.querySelector('h1').textContent = 'Fine news';",
            ),
        )
        .page("/frame.html", Page::html("<p>Framed advertisement.</p>"))
        .serve()
        .await;
    let at = |host: &str, path: &str| others.url(path).replace("127.0.0.1", host);
    let page = format!(
        "<!doctype html><title>News</title><h1>News</h1><p>Herons stand still in shallow water.</p><p id=ad>No ad.</p>
         <iframe src='{}'></iframe><script src='{}'></script><script src='{}'></script>",
        at("ads.news.test", "/frame.html"),
        at("ads.test", "/ad.js"),
        at("fine.test", "/fine.js"),
    );
    let site = Site::new().page("/", Page::html(page)).serve().await;
    let list = std::env::temp_dir().join(format!("harvestman-list-{}.txt", std::process::id()));
    std::fs::write(&list, "! own list\n||ads.test^$third-party\n||ads.news.test^\n").unwrap();
    let server = server(&[
        ("HARVESTMAN_BLOCK_LISTS", list.to_str().unwrap()),
        ("HARVESTMAN_DNS_SERVERS", &names.setting()),
    ])
    .await;
    let url = site.url("/").replace("127.0.0.1", "news.test");
    // The Markdown, and how many requests were blocked.
    let scraped = async |options: Value| {
        let mut request = json!({ "url": url, "onlyMainContent": false, "maxAge": 0 });
        request
            .as_object_mut()
            .unwrap()
            .extend(options.as_object().unwrap().clone());
        let data = scrape(&server, request).await;
        let markdown = data["markdown"].as_str().unwrap().to_owned();
        (markdown, data["metadata"]["blockedRequests"].as_u64())
    };
    let (blocked, count) = scraped(json!({ "waitFor": 1 })).await;
    assert!(
        blocked.contains("Fine news") && blocked.contains("No ad."),
        "{blocked}"
    );
    assert_eq!(count, Some(2));
    let (blocked, count) = scraped(json!({ "fastMode": true })).await;
    assert!(!blocked.contains("Framed"), "{blocked}");
    assert_eq!(count, Some(1));
    assert_eq!((others.count("/ad.js"), others.count("/frame.html")), (0, 0));
    let (allowed, count) = scraped(json!({ "waitFor": 1, "blockAds": false })).await;
    assert!(allowed.contains("Buy now!"), "{allowed}");
    assert_eq!(count, None);
    std::fs::remove_file(list).unwrap();
}
