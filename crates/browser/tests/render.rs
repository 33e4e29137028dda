//! Pages in a real Chromium. The test itself is the proxy and answers for every host; nothing else is
//! reachable.

#![allow(clippy::unwrap_used)]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harvestman_browser::{
    Blocker, Browser, BrowserConfig, BrowserError, RenderRequest, Rendering, find_chromium,
};
use harvestman_core::api::options::ScrapeOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use url::Url;

/// Request heads that reached the sites.
type Requests = Arc<Mutex<Vec<String>>>;

async fn sites() -> (SocketAddr, Requests) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Requests::default();
    let heads = requests.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(respond(stream, heads.clone()));
        }
    });
    (address, requests)
}

async fn respond(mut stream: TcpStream, requests: Requests) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let url = head.split(' ').nth(1).unwrap_or_default().to_owned();
    requests.lock().unwrap().push(head);
    if url.ends_with("/held") {
        let _closed = stream.read(&mut [0]).await;
        requests.lock().unwrap().push("closed".to_owned());
        return;
    }
    let (status, kind, body) = page(&url);
    let framed = match url.ends_with("/chunked") {
        true => format!("Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", chunk(body)),
        false => format!("Content-Length: {}\r\n\r\n{body}", body.len()),
    };
    let asks = match status.starts_with("401") {
        true => "WWW-Authenticate: Basic realm=\"app\"\r\n",
        false => "",
    };
    let response =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{asks}Connection: close\r\n{framed}");
    // The browser may have gone away.
    let _gone = stream.write_all(response.as_bytes()).await;
}

/// Returns a body as one chunk; no chunk for an empty body.
fn chunk(body: &str) -> String {
    match body {
        "" => String::new(),
        body => format!("{:x}\r\n{body}\r\n", body.len()),
    }
}

fn page(url: &str) -> (&'static str, &'static str, &'static str) {
    const HTML: &str = "text/html; charset=utf-8";
    match url {
        "http://app.test/" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><title>App</title><div id=root></div><script>
               setTimeout(() => { document.getElementById('root').innerHTML = '<p>made by a script ä</p>'; }, 50);
             </script><script src='http://other.test/lib.js'></script>",
        ),
        "http://app.test/form" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><form onsubmit=\"event.preventDefault();
               document.querySelector('output').textContent = 'Hello ' + document.querySelector('input').value\">
             <input id=name><button>Send</button><output></output></form>",
        ),
        "http://app.test/shadow" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><my-card>in the light</my-card><script>
               const card = document.querySelector('my-card');
               card.attachShadow({mode: 'open'}).innerHTML = '<h2>in the shadow</h2><slot></slot>';
             </script>",
        ),
        "http://app.test/alert" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><script>alert('stop'); document.write('<p>went on</p>');</script>",
        ),
        "http://app.test/moves" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><script>location.href = '/form';</script>",
        ),
        "http://app.test/reloads" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><p>on its way</p><script>setTimeout(() => location.reload(), 5);</script>",
        ),
        "http://app.test/visitor" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><meta name=viewport content='width=device-width'><p></p><script>
               document.querySelector('p').textContent = [navigator.language, innerWidth,
                 Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.maxTouchPoints > 0].join(' ');
             </script>",
        ),
        "http://app.test/list" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><ul><li>1 <b>x</b><li>2 <b>x</b><li>3 <b>x</b></ul><p></p><script>
               const list = document.querySelector('ul');
               list.onclick = (event) => event.target.parentNode.remove();
               const show = (text) => { document.querySelector('p').innerHTML = text + '<i>+</i><i>+</i>'; };
               document.querySelector('p').onclick = () => show(document.querySelector('p').textContent);
               show('');
             </script>",
        ),
        "http://app.test/asks" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><a href='/form'>on</a><button onclick=\"window.open('/form')\">open</button><script>
               window.onbeforeunload = (event) => event.preventDefault();
             </script>",
        ),
        "http://app.test/holds" => (
            "200 OK",
            HTML,
            "<!DOCTYPE html><p>held</p><script>fetch('/held');</script>",
        ),
        "http://app.test/missing" => ("404 Not Found", HTML, "<!DOCTYPE html><p>no such page</p>"),
        "http://app.test/missing/chunked" => ("404 Not Found", HTML, "<!DOCTYPE html><p>no such page</p>"),
        "http://app.test/secret" => ("401 Unauthorized", HTML, "<!DOCTYPE html><p>no such page</p>"),
        "http://app.test/empty" => ("404 Not Found", HTML, ""),
        "http://app.test/empty/chunked" => ("503 Service Unavailable", HTML, ""),
        "http://app.test/file" => ("200 OK", "application/zip", "PK"),
        "http://other.test/lib.js" => ("200 OK", "text/javascript", "window.lib = 1;"),
        _ => ("502 Bad Gateway", "text/plain", ""),
    }
}

struct Chromium {
    browser: Browser,
    requests: Requests,
}

impl Chromium {
    async fn start(name: &str) -> Chromium {
        let (proxy, requests) = sites().await;
        let program = std::env::var_os("HARVESTMAN_CHROMIUM")
            .map(PathBuf::from)
            .or_else(find_chromium)
            .expect("a Chromium: `cargo xtask test` installs one");
        let browser = Browser::new(BrowserConfig {
            program,
            folder: std::env::temp_dir().join(format!("harvestman-browser-{name}-{}", std::process::id())),
            proxy,
            agent: "Harvestman/1.0".to_owned(),
            pages: 2,
            blocker: Blocker::default(),
        });
        Chromium { browser, requests }
    }

    async fn render(&self, url: &str, options: &str) -> Result<Rendering, BrowserError> {
        let url = Url::parse(url).unwrap();
        let options = ScrapeOptions::from_json(options.as_bytes()).unwrap();
        let request = RenderRequest {
            proxy: None,
            storage: None,
            take_storage: false,
            url: &url,
            options: &options,
            deadline: Instant::now() + Duration::from_millis(options.timeout),
        };
        self.browser.render(request).await
    }
}

/// Returns types and values of the scripts among the actions.
fn values(page: &Rendering) -> Vec<String> {
    let returns = page.steps.javascript_returns.iter();
    returns
        .map(|value| format!("{} {}", value.kind, value.value))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn content_made_by_scripts_is_in_the_document() {
    let chromium = Chromium::start("scripts").await;
    let page = chromium.render("http://app.test/", "{}").await.unwrap();
    assert!(page.html.contains("<p>made by a script ä</p>"), "{}", page.html);
    assert_eq!((page.status, page.url.as_str()), (200, "http://app.test/"));
    assert_eq!(page.content_type, "text/html");
    let shadow = chromium.render("http://app.test/shadow", "{}").await.unwrap();
    assert!(
        shadow
            .html
            .contains("<my-card><h2>in the shadow</h2><slot>in the light</slot></my-card>"),
        "{}",
        shadow.html
    );
    let alert = chromium.render("http://app.test/alert", "{}").await.unwrap();
    assert!(alert.html.contains("<p>went on</p>"), "{}", alert.html);
    let moved = chromium.render("http://app.test/moves", "{}").await.unwrap();
    assert_eq!(moved.url.as_str(), "http://app.test/form");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_reloads_without_end_is_read_between_two_reloads() {
    let chromium = Chromium::start("reloads").await;
    let page = chromium.render("http://app.test/reloads", r#"{"timeout": 60000}"#);
    let html = page.await.unwrap().html;
    assert!(html.contains("<p>on its way</p>"), "{html}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_status_is_a_page_with_and_without_a_body() {
    let chromium = Chromium::start("errors").await;
    let body = "<p>no such page</p>";
    for (path, status, text) in [
        ("missing", 404, body),
        ("missing/chunked", 404, body),
        ("secret", 401, body),
        ("empty", 404, ""),
        ("empty/chunked", 503, ""),
    ] {
        let url = format!("http://app.test/{path}");
        let page = chromium.render(&url, "{}").await.unwrap();
        assert_eq!((page.status, page.url.as_str()), (status, url.as_str()));
        let shown = page
            .html
            .split_once("<body>")
            .unwrap()
            .1
            .split_once("</body>")
            .unwrap()
            .0;
        assert_eq!(shown.trim(), text, "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_run_in_order_and_return_their_results() {
    let chromium = Chromium::start("actions").await;
    let options = r##"{"actions":[
        {"type":"wait","selector":"#name"},
        {"type":"click","selector":"#name"},
        {"type":"write","text":"Jörg A."},
        {"type":"scrape"},
        {"type":"press","key":"Enter"},
        {"type":"executeJavascript","script":"document.querySelector('output').textContent"},
        {"type":"executeJavascript","script":"return {n: 1 + 1}"},
        {"type":"screenshot","quality":50},
        {"type":"pdf","format":"A6"},
        {"type":"scroll"}
    ],"formats":["html",{"type":"screenshot","fullPage":true}]}"##;
    let page = chromium.render("http://app.test/form", options).await.unwrap();
    assert!(
        page.html.contains("<output>Hello Jörg A.</output>"),
        "{}",
        page.html
    );
    assert_eq!(values(&page), [r#"string "Hello Jörg A.""#, r#"object {"n":2}"#]);
    assert!(page.steps.scrapes[0].html.contains("<output></output>"));
    assert!(page.steps.screenshots[0].bytes.starts_with(b"\xff\xd8\xff"));
    assert!(page.screenshot.unwrap().bytes.starts_with(b"\x89PNG"));
    assert!(page.steps.pdfs[0].starts_with(b"%PDF"));

    let wrong = r##"{"actions":[{"type":"scrape"},{"type":"click","selector":"#none"}]}"##;
    let error = chromium.render("http://app.test/form", wrong).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "action 1 (click) failed: no element matches `#none`"
    );
    let hidden = r##"{"timeout":3000,"actions":[{"type":"wait","selector":"#none"}]}"##;
    let error = chromium.render("http://app.test/form", hidden).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "action 0 (wait) failed: the element did not become visible in time"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_as_in_a_console() {
    let chromium = Chromium::start("scripts-of-actions").await;
    let scripts = [
        ("const name = 1; name", "number 1"),
        ("const name = 2; name", "number 2"),
        ("const sum = await Promise.resolve(3); sum + name", "number 5"),
        ("(async () => 6)()", "number 6"),
        ("await null; return 7", "number 7"),
        ("window", "object null"),
        ("Symbol('s')", "symbol null"),
        ("undefined", "undefined null"),
        ("document.title = 'ä'", "string \"ä\""),
    ];
    let actions = scripts.map(|(script, _)| format!(r#"{{"type":"executeJavascript","script":"{script}"}}"#));
    let options = format!(r#"{{"actions":[{}]}}"#, actions.join(","));
    let page = chromium.render("http://app.test/form", &options).await.unwrap();
    assert_eq!(values(&page), scripts.map(|(_, value)| value));

    let fails = r#"{"actions":[{"type":"executeJavascript","script":"JSON.parse('{')"}]}"#;
    let error = chromium.render("http://app.test/form", fails).await.unwrap_err();
    assert!(error.to_string().contains("in JSON at position 1"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_match_is_clicked_even_if_clicks_remove_or_replace_matches() {
    let chromium = Chromium::start("clicks").await;
    let options = r#"{"actions":[
        {"type":"click","selector":"b","all":true},
        {"type":"click","selector":"i","all":true}
    ]}"#;
    let page = chromium.render("http://app.test/list", options).await.unwrap();
    assert!(
        page.html.contains("<ul></ul><p>++++<i>+</i><i>+</i></p>"),
        "{}",
        page.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_behind_its_pop_up_stays_visible_and_is_left_when_a_link_is_clicked() {
    let chromium = Chromium::start("pop-up").await;
    let options = r#"{"actions":[
        {"type":"click","selector":"button"},
        {"type":"executeJavascript","script":"new Promise((done) => requestAnimationFrame(() => done(document.visibilityState)))"},
        {"type":"click","selector":"a"}
    ]}"#;
    let page = chromium.render("http://app.test/asks", options).await.unwrap();
    assert_eq!(values(&page), [r#"string "visible""#]);
    assert_eq!(
        page.url.as_str(),
        "http://app.test/form",
        "it asked whether to leave"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_closed_when_its_client_has_gone() {
    let chromium = Chromium::start("gone").await;
    let has = |line: &str| {
        let requests = chromium.requests.lock().unwrap();
        requests.iter().any(|head| head.starts_with(line))
    };
    let until = async |line: &str| {
        while !has(line) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = chromium.render("http://app.test/holds", r#"{"waitFor":60000,"timeout":300000}"#) => unreachable!(),
        () = until("GET http://app.test/held ") => {}
    }
    let closed = tokio::time::timeout(Duration::from_secs(60), until("closed"));
    closed.await.expect("the page is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_sees_the_visitor_settings_and_only_the_target_gets_the_headers() {
    let chromium = Chromium::start("visitor").await;
    let phone = r#"{"mobile":true,"location":{"country":"DE"}}"#;
    let page = chromium.render("http://app.test/visitor", phone).await.unwrap();
    assert!(
        page.html.contains("de-DE 412 Europe/Berlin true"),
        "{}",
        page.html
    );
    let page = chromium.render("http://app.test/visitor", "{}").await.unwrap();
    assert!(
        page.html.contains("en-US 1280 America/New_York false"),
        "{}",
        page.html
    );

    let secret = r#"{"headers":{"X-Key":"secret"}}"#;
    chromium.render("http://app.test/", secret).await.unwrap();
    let requests = chromium.requests.lock().unwrap();
    let carries = |start: &str| {
        requests
            .iter()
            .rfind(|head| head.starts_with(start))
            .is_some_and(|head| head.to_ascii_lowercase().contains("x-key: secret"))
    };
    assert!(carries("GET http://app.test/ "));
    assert!(
        requests
            .iter()
            .any(|head| head.starts_with("GET http://other.test/lib.js "))
    );
    assert!(!carries("GET http://other.test/lib.js "));
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_and_timeouts_are_reported_and_the_browser_survives() {
    let chromium = Chromium::start("errors").await;
    let error = chromium.render("http://app.test/file", "{}").await.unwrap_err();
    assert_eq!(error, BrowserError::Download);
    let slow =
        r#"{"timeout":2000,"waitFor":1000,"actions":[{"type":"executeJavascript","script":"for(;;);"}]}"#;
    let error = chromium.render("http://app.test/form", slow).await.unwrap_err();
    assert_eq!(error, BrowserError::Timeout);
    chromium.browser.stop().await;
    assert!(chromium.render("http://app.test/form", "{}").await.is_ok());
}
