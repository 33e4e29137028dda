//! Pages with the banners of consent tools, fetched over HTTP and with the browser.

use harvestman_core::api::page::{ConsentBanner, Document};
use harvestman_tests::{Page, RunningSite, Site, TestServer};
use serde_json::{Value, json};

use crate::{scrape, server};

const QUESTION: &str = "<p>We use cookies to improve your visit.</p><button>Accept all</button>";

/// A tool: its name, its markup with `BUTTON` in place of the attributes that mark the button that refuses, and scripts.
const TOOLS: [(&str, &str, &str); 21] = [
    (
        "onetrust",
        "<div id=onetrust-consent-sdk><div id=onetrust-banner-sdk>Q<button id=onetrust-reject-all-handler BUTTON>Reject</button></div></div>",
        "",
    ),
    (
        "cookiebot",
        "<div id=CybotCookiebotDialog>Q<button id=CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll BUTTON>Deny</button></div>",
        "window.Cookiebot = { hasResponse: false, dialog: { visible: true }, withdraw() {}, hide() {} };",
    ),
    (
        "didomi",
        "<div id=didomi-host><div id=didomi-notice>Q<button id=didomi-notice-disagree-button BUTTON>Disagree</button></div></div>",
        "",
    ),
    (
        "quantcast",
        "<div id=qc-cmp2-container class=qc-cmp2-container><div id=qc-cmp2-ui>Q<button id=disagree-btn BUTTON>Disagree</button></div></div>",
        "",
    ),
    (
        "usercentrics",
        "<div id=usercentrics-root><template shadowrootmode=open><div data-testid=uc-container>Q<button data-testid=uc-deny-all-button onclick='refuse()'>Deny</button></div></template></div>",
        "window.UC_UI = { closeCMP() {}, denyAllConsents() {} };",
    ),
    (
        "trustarc",
        "<div id=truste-consent-track><div id=truste-consent-content>Q<button id=truste-consent-required BUTTON>Required only</button></div></div>",
        "",
    ),
    (
        "sourcepoint",
        "<div id=sp_message_container_1024567><iframe id=sp_message_iframe_1024567 src='/index.html?message_id=1024567&consentUUID=1' width=600 height=200></iframe></div>",
        "addEventListener('message', refuse);",
    ),
    (
        "sourcepoint-kept",
        "<div id=sp_message_container_1024567><iframe id=sp_message_iframe_1024567 src='/index.html?message_id=1024567&consentUUID=1' width=600 height=200></iframe></div>",
        "addEventListener('message', () => {
             document.querySelector('.tool').hidden = true;
             document.querySelector('#answer').textContent = 'Cookies were refused.';
         });",
    ),
    (
        "cookieyes",
        "<div class=cky-overlay></div><div class='cky-consent-container cky-box-bottom-left'>Q<button data-cky-tag=reject-button BUTTON>Reject all</button></div>",
        "",
    ),
    (
        "complianz",
        "<div id=cmplz-cookiebanner-container><div class='cmplz-cookiebanner banner-1'>Q<button class='cmplz-btn cmplz-deny' BUTTON>Deny</button></div></div>",
        "",
    ),
    (
        "iubenda",
        "<div id=iubenda-cs-banner>Q<button class=iubenda-cs-accept-btn>Accept</button><button class=iubenda-cs-reject-btn BUTTON>Reject</button></div>",
        "",
    ),
    (
        "klaro",
        "<div id=klaro><div class=klaro><div class=cookie-notice>Q<button class=cn-decline BUTTON>I decline</button></div></div></div>",
        "",
    ),
    (
        "osano",
        "<div class=osano-cm-window><div class='osano-cm-dialog osano-cm-dialog--type_bar'>Q<button class=osano-cm-denyAll BUTTON>Deny all</button></div></div>",
        "window.Osano = { cm: { dialogOpen: true } };",
    ),
    (
        "borlabs",
        "<div id=BorlabsCookieBox><div class=brlbs-cmpnt-dialog>Q<button class=brlbs-btn-accept-only-essential BUTTON>Only essential</button></div></div>",
        "",
    ),
    (
        "axeptio",
        "<div id=axeptio_overlay><div class=axeptio_mount><div class=axeptio_widget>Q<button id=axeptio_btn_dismiss BUTTON>No</button></div></div></div>",
        "",
    ),
    (
        "consentmanager",
        "<div id=cmpwrapper><div id=cmpbox>Q<a class=cmpmore href='#more'>More</a><button class=cmpboxbtnno BUTTON>Reject</button></div></div>",
        "",
    ),
    (
        "funding-choices",
        "<div class=fc-consent-root><div class=fc-dialog-container>Q<button class=fc-cta-do-not-consent BUTTON>Do not consent</button></div></div>",
        "",
    ),
    (
        "termly",
        "<div id=termly-code-snippet-support><div>Q<button data-tid=banner-decline BUTTON>Decline</button></div></div>",
        "",
    ),
    (
        "cookie-notice",
        "<div id=cookie-notice style='position:fixed;bottom:0;width:100%'>Q<button id=cn-refuse-cookie BUTTON>Reject all</button></div>",
        "",
    ),
    (
        "tarteaucitron",
        "<div id=tarteaucitronRoot><div id=tarteaucitronAlertBig>Q<button id=tarteaucitronAllDenied2 BUTTON>Deny all</button></div></div>",
        "",
    ),
    (
        "cookiefirst",
        "<div class=cookiefirst-root>Q<button data-cookiefirst-action=reject BUTTON>Reject</button></div>",
        "",
    ),
];

/// Serves a page of each tool. Refusing removes the banner and says so in the text.
async fn site() -> RunningSite {
    let frame = format!(
        "<!doctype html><title>Message</title>{QUESTION}<button class='sp_choice_type_13' \
         onclick=\"parent.postMessage('refused', '*')\">Reject all</button>"
    );
    let mut site = Site::new().page("/index.html?message_id=1024567&consentUUID=1", Page::html(frame));
    for (name, markup, script) in TOOLS {
        let markup = markup
            .replace("BUTTON", "onclick='refuse()'")
            .replace('Q', QUESTION);
        site = site.page(
            &format!("/{name}"),
            Page::html(format!(
                "<!doctype html><html><head><title>Herons</title><script>
                 function refuse() {{
                     document.querySelector('.tool').remove();
                     document.querySelector('#answer').textContent = 'Cookies were refused.';
                 }}
                 {script}</script></head>
                 <body><main><h1>Herons</h1><p>Herons stand still in shallow water and wait for fish to come by.</p>
                 <p id=answer>Nothing was answered.</p></main><div class=tool>{markup}</div></body></html>"
            )),
        );
    }
    site.serve().await
}

/// Returns each page of the site with the name of its tool.
async fn scrape_all(
    server: &TestServer,
    site: &RunningSite,
    options: &Value,
) -> Vec<(&'static str, Document)> {
    let mut pages = Vec::new();
    for (name, ..) in TOOLS {
        let mut request =
            json!({"url": site.url(&format!("/{name}")), "onlyMainContent": false, "maxAge": 0});
        let fields = options.as_object().unwrap().clone();
        request.as_object_mut().unwrap().extend(fields);
        let data = scrape(server, request).await;
        pages.push((name, serde_json::from_value(data).unwrap()));
    }
    pages
}

#[tokio::test]
async fn consent_banners_are_removed_from_pages_over_http() {
    let (site, server) = (site().await, server(&[]).await);
    for (name, document) in scrape_all(&server, &site, &json!({"fastMode": true})).await {
        let markdown = document.markdown.unwrap();
        assert!(markdown.contains("Herons stand still"), "{name}: {markdown}");
        assert!(!markdown.contains("We use cookies"), "{name}: {markdown}");
        let done = document.metadata.consent_banner;
        assert_eq!(done, Some(ConsentBanner::Removed), "{name}");
    }
    let request =
        json!({"url": site.url("/onetrust"), "onlyMainContent": false, "blockAds": false, "maxAge": 0});
    let kept = scrape(&server, request).await;
    let markdown = kept["markdown"].as_str().unwrap();
    assert!(markdown.contains("We use cookies"), "{kept}");
    assert_eq!(kept["metadata"]["consentBanner"], Value::Null, "{kept}");
}

#[tokio::test]
async fn consent_banners_are_answered_in_the_browser() {
    let (site, server) = (site().await, server(&[]).await);
    let mut unanswered = Vec::new();
    for (name, document) in scrape_all(&server, &site, &json!({"waitFor": 1, "timeout": 60_000})).await {
        let markdown = document.markdown.unwrap();
        assert!(markdown.contains("Herons stand still"), "{name}: {markdown}");
        assert!(!markdown.contains("We use cookies"), "{name}: {markdown}");
        let done = document.metadata.consent_banner;
        if !markdown.contains("Cookies were refused.") || done != Some(ConsentBanner::Answered) {
            unanswered.push(name);
        }
    }
    assert!(unanswered.is_empty(), "not refused: {unanswered:?}");
}
