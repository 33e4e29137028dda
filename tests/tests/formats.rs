//! Formats that need no language model, with the real server: change tracking, attributes, highlights, summaries.

#![allow(clippy::unwrap_used)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harvestman_tests::{Page, RunningSite, Site, TestServer, assert_contains};
use http::Method;
use serde_json::{Value, json};

const HERONS: &str = "<html><head><title>Herons</title></head><body><nav><a href='/fish'>Fish</a></nav><main>\
    <h1>Herons</h1><p data-kind='bird'>Grey herons are large wading birds of lakes and rivers. They hunt fish by \
    standing still in shallow water.</p><p>Entry to the park costs 12 euros for adults.</p></main></body></html>";

const FISH: &str = "<html><head><title>Fish</title></head><body><main><h1>Fish</h1><p data-kind='fish'>Small fish \
    hide from every heron under the roots of old trees. Tickets for the aquarium cost 9 euros.</p></main></body></html>";

async fn birds() -> RunningSite {
    Site::new()
        .page("/", Page::html(HERONS))
        .page("/fish", Page::html(FISH))
        .serve()
        .await
}

#[tokio::test]
async fn what_no_browser_can_change_is_refused_first() {
    let server = TestServer::start().await;
    let question = json!({ "type": "question", "question": "How many?" });
    for options in [
        json!({ "formats": ["screenshot", question] }),
        json!({ "formats": [question], "waitFor": 1 }),
        json!({ "formats": [question], "actions": [{ "type": "scrape" }] }),
    ] {
        let mut request = options;
        request["url"] = "http://127.0.0.1/".into();
        let refused = server.post("/v2/scrape", &request).await;
        refused.is_error(503, "FEATURE_NOT_CONFIGURED");
        assert!(refused.error().contains("language model"), "{}", refused.error());
    }
}

async fn change_tracking(server: &TestServer, url: &str, format: Value) -> Value {
    // A `maxAge` that clients send although their user did not choose it.
    let request = json!({ "url": url, "formats": ["markdown", format], "maxAge": 14_400_000 });
    let document = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    document["changeTracking"].clone()
}

#[tokio::test]
async fn change_tracking_reports_new_same_changed_and_removed() {
    let site = birds().await;
    let server = TestServer::start().await;
    let url = site.url("/");
    let plain = json!("changeTracking");

    let first = change_tracking(&server, &url, plain.clone()).await;
    assert_eq!(
        first,
        json!({"previousScrapeAt": null, "changeStatus": "new", "visibility": "visible"})
    );
    let second = change_tracking(&server, &url, plain.clone()).await;
    assert_eq!(second["changeStatus"], "same");
    let at = second["previousScrapeAt"].as_str().unwrap();
    assert!(at.ends_with('Z'), "{at}");

    site.change("/", Some(Page::html(HERONS.replace("12 euros", "14 euros"))));
    let diffed = json!({ "type": "changeTracking", "modes": ["git-diff"] });
    let changed = change_tracking(&server, &url, diffed.clone()).await;
    assert_eq!(changed["changeStatus"], "changed");
    let text = changed["diff"]["text"].as_str().unwrap();
    assert!(
        text.contains("\n-Entry to the park costs 12 euros for adults.\n"),
        "{text}"
    );
    assert!(
        text.contains("\n+Entry to the park costs 14 euros for adults.\n"),
        "{text}"
    );
    let changes = &changed["diff"]["json"]["files"][0]["chunks"][0]["changes"];
    let kinds: Vec<&str> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[kinds.len() - 2..], ["del", "add"], "{changes}");

    // Each tag has a separate history.
    let tagged = json!({ "type": "changeTracking", "tag": "weekly" });
    assert_eq!(
        change_tracking(&server, &url, tagged).await["changeStatus"],
        "new"
    );

    let cached = json!({ "url": url, "formats": ["markdown", "changeTracking"], "lockdown": true });
    let refused = server.post("/v2/scrape", &cached).await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.error().contains("`lockdown` or `minAge`"),
        "{}",
        refused.error()
    );

    site.change("/", None);
    let removed = change_tracking(&server, &url, diffed).await;
    assert_eq!(removed["changeStatus"], "removed");
    assert_eq!(removed.get("diff"), None);
}

#[tokio::test]
async fn the_history_of_a_page_survives_a_restart_and_is_private_to_its_team() {
    let site = birds().await;
    let mut server = TestServer::start().await;
    let url = site.url("/");
    assert_eq!(
        change_tracking(&server, &url, json!("changeTracking")).await["changeStatus"],
        "new"
    );
    server.kill9();
    server.restart().await;
    assert_eq!(
        change_tracking(&server, &url, json!("changeTracking")).await["changeStatus"],
        "same"
    );

    let request = json!({ "url": url, "formats": ["markdown", "changeTracking"] }).to_string();
    let other = server
        .send_as_other(Method::POST, "/v2/scrape", request)
        .await
        .ok();
    assert_eq!(other["data"]["changeTracking"]["changeStatus"], "new");
}

#[tokio::test]
async fn every_page_of_a_crawl_has_the_requested_formats() {
    let site = birds().await;
    let server = TestServer::start().await;
    let request = json!({
        "url": site.url("/"),
        "scrapeOptions": { "formats": [
            "markdown",
            "summary",
            "changeTracking",
            { "type": "highlights", "query": "What does entry cost? Price of tickets in euros" },
            { "type": "attributes", "selectors": [{ "selector": "p[data-kind]", "attribute": "data-kind" }] },
        ] },
    });
    for (round, status) in ["new", "same"].into_iter().enumerate() {
        let id = server.crawl(&request).await;
        server.wait(&id).await;
        let (documents, _) = server.documents(&id, 10).await;
        assert_eq!(documents.len(), 2, "round {round}");
        for document in documents {
            let (kind, price) = match document["metadata"]["title"].as_str().unwrap() {
                "Herons" => ("bird", "Entry to the park costs 12 euros for adults."),
                _ => ("fish", "Tickets for the aquarium cost 9 euros."),
            };
            assert_eq!(document["attributes"][0]["values"], json!([kind]));
            assert_eq!(document["highlights"], price);
            assert_eq!(document["changeTracking"]["changeStatus"], status);
            assert!(document["summary"].as_str().unwrap().len() > 20, "{document}");
            assert_contains(&document, "/warning", "`summary`");
        }
    }
}

#[tokio::test]
async fn highlights_are_quoted_without_additions() {
    let site = birds().await;
    let server = TestServer::start().await;
    let mut request = json!({
        "url": site.url("/"),
        "formats": [{ "type": "query", "prompt": "How do herons hunt?", "mode": "directQuote" }],
    });
    let document = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    let found = document["highlights"].as_str().unwrap();
    assert!(
        found.contains("They hunt fish by standing still in shallow water."),
        "{found}"
    );
    assert_eq!(document.get("markdown"), None);
    assert_eq!(document.get("warning"), None);

    request["formats"][0] = json!({ "type": "highlights", "query": "volcano" });
    let document = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    assert_eq!(document["highlights"], "");
    assert_contains(&document, "/warning", "highlights");
}

#[tokio::test]
async fn unsupported_formats_are_refused_by_name() {
    let site = birds().await;
    let server = TestServer::start().await;
    let tracking = |modes: Value| json!({ "type": "changeTracking", "modes": modes });
    let cases = [
        (
            json!(["deterministicJson"]),
            400,
            "BAD_REQUEST",
            "deterministicJson",
        ),
        (json!([{ "type": "audio" }]), 400, "BAD_REQUEST", "audio"),
        (json!(["branding"]), 503, "FEATURE_NOT_CONFIGURED", "branding"),
        (json!(["changeTracking"]), 400, "BAD_REQUEST", "markdown"),
        (
            json!(["markdown", tracking(json!(["json"]))]),
            503,
            "FEATURE_NOT_CONFIGURED",
            "changeTracking",
        ),
        (
            json!([{ "type": "query", "prompt": "x" }]),
            503,
            "FEATURE_NOT_CONFIGURED",
            "query",
        ),
        (
            json!([{ "type": "question", "question": "x" }]),
            503,
            "FEATURE_NOT_CONFIGURED",
            "question",
        ),
    ];
    for (formats, status, code, word) in cases {
        let request = json!({ "url": site.url("/"), "formats": formats });
        let response = server.post("/v2/scrape", &request).await;
        response.is_error_for(&request, status, code);
        assert!(response.error().contains(word), "{request}: {}", response.json);

        let request = json!({ "url": site.url("/"), "scrapeOptions": { "formats": formats } });
        let response = server.post("/v2/crawl", &request).await;
        response.is_error_for(request, status, code);
    }
    assert_eq!(site.hits().len(), 0, "requests are refused before any fetch");
}

#[tokio::test]
async fn services_of_the_hosted_product_have_no_effect_but_a_warning() {
    let site = birds().await;
    let server = TestServer::start().await;
    for (field, value) in [
        ("checkPromptInjection", json!(true)),
        ("safeMode", json!(true)),
        ("domainTools", json!(true)),
        ("useMock", json!("page")),
        ("threatProtection", json!({"mode": "normal"})),
    ] {
        let warns = |answer: &Value| {
            let warning = answer["warning"].as_str().unwrap_or_default();
            assert!(
                warning.contains(&format!("`{field}` had no effect")),
                "{field}: {answer}"
            );
        };
        let url = site.url("/");
        let scraped = server
            .post("/v2/scrape", &json!({ "url": url, field: value }))
            .await;
        warns(&scraped.ok()["data"]);
        warns(
            &server
                .post("/v2/map", &json!({ "url": url, field: value }))
                .await
                .ok(),
        );
        let crawl = json!({ "url": url, "limit": 1, "scrapeOptions": { field: value } });
        let crawl = format!("/v2/crawl/{}", server.crawl(&crawl).await);
        warns(&server.wait_for_end(&crawl).await);
        let batch = server.batch(&json!({ "urls": [url], field: value })).await;
        warns(&server.wait_for_end(&batch).await);
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        for path in ["/v2/extract", "/v2/agent"] {
            let request = json!({ "urls": [url], "prompt": "Name", "schema": schema, field: value });
            let run = server.post(path, &request).await.ok();
            let run = format!("{path}/{}", run["id"].as_str().unwrap());
            warns(&server.wait_for_end(&run).await);
        }
    }
    let neutral = json!({ "url": site.url("/"), "checkPromptInjection": false, "useMock": "none",
        "threatProtection": {"mode": "off"}, "toolDetail": "full" });
    let scraped = server.post("/v2/scrape", &neutral).await.ok();
    assert_eq!(scraped["data"].get("warning"), None, "{scraped}");
}

#[tokio::test]
async fn products_and_menus_are_what_the_page_states() {
    let product = r#"<script type="application/ld+json">{"@type":"Product","name":"Red cup","brand":"Heron","offers":
        {"@type":"Offer","price":"9.50","priceCurrency":"EUR","availability":"https://schema.org/InStock"}}</script>"#;
    let menu = r#"<div itemscope itemtype="https://schema.org/Menu"><div itemprop=hasMenuSection itemscope
        itemtype="https://schema.org/MenuSection"><h2 itemprop=name>Soups</h2><div itemprop=hasMenuItem itemscope
        itemtype="https://schema.org/MenuItem"><span itemprop=name>Broth</span></div></div></div>"#;
    let site = Site::new()
        .page(
            "/cup",
            Page::html(format!("{product}<h1>Red cup</h1><p>A cup.</p>")),
        )
        .page("/menu", Page::html(format!("<h1>Reed</h1>{menu}")))
        .serve()
        .await;
    let server = TestServer::start().await;
    let scrape = async |path: &str| {
        let request = json!({ "url": site.url(path), "formats": ["product", "menu", "rawBase64"] });
        server.post("/v2/scrape", &request).await.ok()["data"].clone()
    };
    let cup = scrape("/cup").await;
    assert_eq!(cup["product"]["title"], "Red cup");
    assert_eq!(cup["product"]["url"], site.url("/cup"));
    let variant = &cup["product"]["variants"][0];
    assert_eq!(
        variant["price"],
        json!({"amount": 9.5, "currency": "EUR", "formatted": "9.50"})
    );
    assert_eq!(
        variant["availability"],
        json!({"inStock": true, "text": "InStock"})
    );
    assert_eq!(cup.get("menu"), None);
    assert!(
        cup["warning"].as_str().unwrap().starts_with("`menu` is missing"),
        "{cup}"
    );
    let body = STANDARD.decode(cup["rawBase64"].as_str().unwrap()).unwrap();
    assert!(String::from_utf8(body).unwrap().starts_with("<script"));

    let menu = scrape("/menu").await;
    assert_eq!(menu["menu"]["sections"][0]["items"][0]["name"], "Broth");
    assert_eq!(menu["menu"]["merchant"]["name"], "127.0.0.1");
    assert_contains(&menu, "/warning", "`product`");
}

#[tokio::test]
async fn a_feed_is_a_page_of_its_entries() {
    let feed = "<rss version=\"2.0\"><channel><title>Herons</title><item><title>Grey</title><link>/grey</link>\
        <description>&lt;p&gt;Large &lt;b&gt;birds&lt;/b&gt;.&lt;/p&gt;</description></item></channel></rss>";
    let site = Site::new()
        .page("/", Page::new("application/rss+xml", feed))
        .graph(&[("/grey", &[])])
        .serve()
        .await;
    let server = TestServer::start().await;
    let formats = json!(["markdown", "links", "rawHtml"]);
    let request = json!({ "url": site.url("/"), "formats": formats });
    let document = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    let grey = site.url("/grey");
    let expected = format!("# Herons\n\n## [Grey]({grey})\n\nLarge **birds**.");
    assert_eq!(document["markdown"], expected);
    assert_eq!(document["links"], json!([grey]));
    assert_eq!(document["rawHtml"], feed);
    assert_eq!(document["metadata"]["title"], "Herons");
    server
        .run_crawl(&json!({ "url": site.url("/") }))
        .await
        .assert_visited(&site, &["/"]);
}

#[tokio::test]
async fn any_body_is_returned_as_base64() {
    let site = Site::new()
        .page(
            "/data",
            Page::new("application/octet-stream", vec![0, 159, 146, 150]),
        )
        .serve()
        .await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/data"), "formats": ["rawBase64"] });
    let data = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    assert_eq!(data["rawBase64"], "AJ+Slg==");
    let with_text = json!({ "url": site.url("/data"), "formats": ["markdown"] });
    let refused = server.post("/v2/scrape", &with_text).await;
    assert_eq!(refused.code(), "SCRAPE_UNSUPPORTED_FILE_ERROR");
}

#[tokio::test]
async fn personal_data_is_removed_before_anything_is_stored() {
    let page = "<html><head><title>Ask jane@example.com</title><meta name='author' content='jane@example.com'></head>\
        <body><main><h1>Contact</h1><p>Write to <a href='mailto:jane@example.com'>jane@example.com</a>, call \
        +49 30 1234567, or pay 4111 1111 1111 1111.</p><p>The number 4111 1111 1111 1112 is none.</p>\
        <a href='/x?to=jane%40example.com'>More</a></main></body></html>";
    let site = Site::new().page("/", Page::html(page)).serve().await;
    let server = TestServer::start().await;
    let formats = json!(["markdown", "html", "rawHtml", "links", "summary"]);
    let request = json!({ "url": site.url("/"), "formats": formats, "redactPII": true });
    let response = server.post("/v2/scrape", &request).await.ok();
    let stored_id = response["data"]["metadata"]["scrapeId"]
        .as_str()
        .unwrap()
        .to_owned();
    let stored = server.get(&format!("/v2/scrape/{stored_id}")).await.ok();
    for document in [&response["data"], &stored["data"]] {
        let text = document.to_string();
        for secret in ["jane", "1234567", "4111 1111 1111 1111"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains("4111 1111 1111 1112"), "{text}");
        let markdown = document["markdown"].as_str().unwrap();
        assert!(
            markdown.contains("call <PHONE>, or pay <FINANCIAL>."),
            "{markdown}"
        );
        assert_contains(document, "/rawHtml", "&lt;EMAIL&gt;");
        assert_eq!(document["metadata"]["author"], "<EMAIL>");
        let warning = document["warning"].as_str().unwrap();
        assert!(
            warning.contains("did not search for PERSON and LOCATION"),
            "{warning}"
        );
    }
    // The page is not in the cache either.
    let cached = json!({ "url": site.url("/"), "minAge": 0 });
    server
        .post("/v2/scrape", &cached)
        .await
        .is_error(404, "SCRAPE_NO_CACHED_DATA");

    let masked =
        json!({ "url": site.url("/"), "redactPII": { "entities": ["EMAIL"], "replaceStyle": "mask" } });
    let data = server.post("/v2/scrape", &masked).await.ok()["data"].clone();
    let markdown = data["markdown"].as_str().unwrap();
    assert!(
        markdown.contains("+49 30 1234567") && !markdown.contains("jane"),
        "{markdown}"
    );
    assert_eq!(data.get("warning"), None);

    let pictures = json!({ "url": site.url("/"), "formats": ["screenshot"], "redactPII": true });
    server
        .post("/v2/scrape", &pictures)
        .await
        .is_error(400, "BAD_REQUEST");
}

#[tokio::test]
async fn a_page_of_ten_megabytes_is_redacted() {
    let paragraph = "<p>Write to jane@example.com, call +49 30 1234567, or pay 4111 1111 1111 1111.</p>";
    let number = (10 << 20) / paragraph.len() + 1;
    let page = format!("<main><h1>Contact</h1>{}</main>", paragraph.repeat(number));
    let site = Site::new().page("/", Page::html(page)).serve().await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/"), "formats": ["markdown", "rawHtml"], "redactPII": true,
        "onlyMainContent": false, "timeout": 300_000 });
    let data = server.post("/v2/scrape", &request).await.ok()["data"].take();
    for format in ["markdown", "rawHtml"] {
        let text = data[format].as_str().unwrap();
        for secret in ["jane", "1234567", "4111"] {
            assert!(!text.contains(secret), "{secret} in {format}");
        }
    }
    let redacted = data["rawHtml"].as_str().unwrap().matches("&lt;EMAIL&gt;").count();
    assert_eq!(redacted, number);
    let memory = server.peak_memory_bytes() >> 20;
    println!("{memory} MiB");
    assert!(memory < 1024, "{memory} MiB");
}
