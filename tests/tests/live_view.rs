//! Access to a session from outside: `cdpUrl`, `liveViewUrl`, `interactiveLiveViewUrl`.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use harvestman_tests::server::KEY;
use harvestman_tests::{Page, RunningSite, Site, TestServer, tools};
use http::Method;
use serde_json::json;

/// Page whose colour and title show its inputs: a button that turns it green, a field, a select list, a link that
/// opens a blue page in a new tab.
const PAGE: &str = "<!doctype html><title>Session</title>
    <style>body{background:#e00000}body *{position:fixed;left:10px;margin:0;width:100px;height:30px}
    button{top:15px}input{top:65px}select{top:115px}a{top:170px}</style>
    <button onclick=\"window.count=(window.count??0)+1; document.title=count+(count===1?' click':' clicks');
        document.body.style.background='#00a000'\">Go</button><input>
    <select onchange=\"document.title='chose '+this.value\"><option value=a>First<option value=b>Second
    <option value=c>Third</select><a href=/popup target=_blank>another</a>";
const POPUP: &str = "<!doctype html><title>Popup</title><body style='background:#0000e0'>";

async fn site() -> RunningSite {
    Site::new()
        .page("/", Page::html(PAGE))
        .page("/popup", Page::html(POPUP))
        .page(
            "/host",
            Page::html("<!doctype html><title>Host</title><link rel=icon href='data:,'>"),
        )
        .serve()
        .await
}

async fn server() -> TestServer {
    let python = tools::path("HARVESTMAN_TEST_PYTHON");
    TestServer::start_with(&[tools::chromium(), ("HARVESTMAN_PYTHON", python.to_str().unwrap())]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_can_be_watched_and_controlled_from_outside() {
    let (server, site) = (server().await, site().await);
    let mut script = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    script
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .envs([tools::chromium()])
        .arg(tools::script("live_view.mjs"))
        .args([
            &format!("http://{}", server.address()),
            KEY,
            site.url("").trim_end_matches('/'),
        ]);
    tools::run(script, "live view: ok", &server).await;
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[tokio::test]
async fn each_token_opens_one_endpoint_and_is_not_logged() {
    let server = server().await;
    let session = server.post("/v2/browser", &json!({})).await.ok();
    let token = |field: &str| {
        session[field]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap()
            .to_owned()
    };
    let [view, control, cdp] = ["liveViewUrl", "interactiveLiveViewUrl", "cdpUrl"].map(token);
    let get = async |path: String| server.send(Method::GET, &path, &[], "").await;
    for token in [&view, &control] {
        let page = get(format!("/live/{token}")).await;
        assert_eq!(page.status, 200);
        let header = |name: &str| page.headers[name].to_str().unwrap().to_owned();
        assert!(header("content-security-policy").contains("frame-ancestors *"));
        assert!(!header("content-security-policy").contains("unsafe"));
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert!(!page.headers.contains_key("x-frame-options"));
        assert_eq!(get(format!("/cdp/{token}/json/version")).await.status, 404);
        // The socket requires an upgrade.
        assert_eq!(get(format!("/live/sockets/{token}")).await.status, 400);
    }
    let version = get(format!("/cdp/{cdp}/json/version/")).await;
    assert_eq!(version.json["webSocketDebuggerUrl"], session["cdpUrl"]);
    for path in [
        format!("/live/{cdp}"),
        format!("/live/sockets/{cdp}"),
        "/live/0".to_owned(),
        "/cdp/0".to_owned(),
        format!("/cdp/{cdp}/json/new"),
        "/live/assets/other.js".to_owned(),
    ] {
        assert_eq!(get(path.clone()).await.status, 404, "{path}");
    }
    let log = server.log();
    assert!(log.contains("/live/..."), "{log}");
    for token in [view, control, cdp] {
        assert!(!log.contains(&token), "{log}");
    }
}
