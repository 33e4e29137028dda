//! Live browsers in a real Chromium: pages, profiles, and the end.

#![allow(clippy::unwrap_used)]

#[path = "live/plain.rs"]
mod plain;
#[path = "live/sandboxed.rs"]
mod sandboxed;
#[path = "live/sites.rs"]
mod sites;

use std::time::Duration;

use harvestman_browser::{LiveBrowser, LiveBrowsers};
use harvestman_core::api::options::ScrapeOptions;
use tokio::time::Instant;
use url::Url;

fn options(json: &str) -> ScrapeOptions {
    ScrapeOptions::from_json(json.as_bytes()).unwrap()
}

async fn go(browser: &LiveBrowser, url: &str, json: &str) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let url = Url::parse(url).unwrap();
    browser.replay(&url, &options(json), deadline).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_moves_from_one_browser_to_another() {
    let browsers = sandboxed::browsers("profile").await;
    let plain = ScrapeOptions::default();
    let first = browsers.open(&plain).await.unwrap();
    let fill = r#"{"actions":[{"type":"executeJavascript","script":
        "document.cookie = 'a=1; max-age=900'; document.cookie = 'b=2'; localStorage.kept = 'yes'; sessionStorage.tab = 'ä'"}]}"#;
    go(&first, "http://app.test/shop", fill).await;
    go(
        &first,
        "http://other.test/",
        r#"{"actions":[{"type":"executeJavascript","script":"1"}]}"#,
    )
    .await;
    go(&first, "http://app.test/shop", "{}").await;
    let storage = first.storage().await.unwrap();
    first.end().await;
    assert!(first.has_ended());
    assert_eq!(storage.cookies.len(), 2, "{storage:?}");
    let origin = &storage.origins["http://app.test"];
    assert_eq!(origin.local["kept"], "yes");
    assert_eq!(origin.session["tab"], "ä");

    let text = serde_json::to_string(&storage).unwrap();
    let second = browsers.open(&plain).await.unwrap();
    second
        .restore(&serde_json::from_str(&text).unwrap())
        .await
        .unwrap();
    let check = r#"{"actions":[{"type":"executeJavascript","script":
        "if ([document.cookie, localStorage.kept, sessionStorage.tab].join() !== 'a=1; b=2,yes,ä') throw Error(document.cookie + localStorage.kept + sessionStorage.tab)"}]}"#;
    go(&second, "http://app.test/shop", check).await;
    // Origins that were not visited stay in the profile.
    let again = second.storage().await.unwrap();
    assert_eq!(again.origins, storage.origins);
    second.end().await;
    browsers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_popup_becomes_the_current_page_with_the_same_visitor_settings() {
    let browsers = LiveBrowsers::new(plain::config("popup"));
    let browser = browsers
        .open(&options(r#"{"headers":{"User-Agent":"mine"}}"#))
        .await
        .unwrap();
    let open = r#"{"actions":[{"type":"executeJavascript","script":"window.open('/agent-popup', 'popup'); 1"},
        {"type":"wait","milliseconds":600}]}"#;
    go(&browser, "http://app.test/agent", open).await;
    let check = r#"{"actions":[{"type":"executeJavascript","script":
        "if (window.name !== 'popup') throw Error('not the popup'); if (!document.body.textContent.includes('mine')) throw Error(document.body.textContent)"}]}"#;
    go(&browser, "http://app.test/agent-popup", check).await;
    browser.end().await;
    browsers.stop().await;
}
