//! Search with the real server: in the team's own pages, and with providers in this process.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use harvestman_tests::files::{Pdf, line};
use harvestman_tests::{
    JsonService, Page, ReceivedRequest, RunningSite, Site, TestServer, assert_contains, assert_fields,
};
use http::Method;
use serde_json::{Value, json};

fn article(title: &str, text: &str, links: &[&str]) -> Page {
    let links: String = links
        .iter()
        .map(|link| format!("<a href=\"{link}\">{link}</a> "))
        .collect();
    Page::html(format!(
        "<!doctype html><html lang=\"en\"><head><title>{title}</title></head><body><main><h1>{title}</h1><p>{text}</p>\
         <p>{links}</p></main></body></html>"
    ))
}

async fn birds() -> RunningSite {
    let herons =
        "Herons stand in shallow water. They wait for fish without moving. A colony nests in tall trees.";
    let ducks = "Ducks swim on ponds. Some species dive for food. Unlike herons they swim.";
    Site::new()
        .page(
            "/",
            article(
                "Birds",
                "A small guide to birds near water.",
                &["/herons", "/ducks", "/owls.html"],
            ),
        )
        .page("/herons", article("Grey herons", herons, &[]))
        .page("/ducks", article("Wild ducks", ducks, &[]))
        .page(
            "/owls.html",
            article("Owls", "Owls hunt at night and turn their heads.", &[]),
        )
        .serve()
        .await
}

async fn search(server: &TestServer, body: Value) -> Value {
    server.post("/v2/search", &body).await.ok()
}

fn urls(response: &Value) -> Vec<&str> {
    let web = response["data"]["web"].as_array().unwrap();
    web.iter().map(|result| result["url"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn without_a_provider_the_search_covers_the_teams_own_pages() {
    let site = birds().await;
    let mut server = TestServer::start().await;
    let empty = search(&server, json!({ "query": "herons" })).await;
    assert_fields(&empty, json!({ "data": { "web": [] }, "creditsUsed": 0 }));
    assert_contains(&empty, "/warning", "No search provider");

    server.run_crawl(&json!({ "url": site.url("/") })).await;
    let response = search(
        &server,
        json!({ "query": "where do herons nest?", "origin": "test" }),
    )
    .await;
    let first = &response["data"]["web"][0];
    assert_eq!(first["url"], site.url("/herons"));
    assert_fields(first, json!({ "title": "Grey herons", "position": 1 }));
    assert_contains(first, "/description", "colony nests in tall trees");
    assert!(first.get("markdown").is_none() && first.get("metadata").is_none());
    assert_contains(&response, "/warning", "pages that your team scraped");
    assert_fields(&response, json!({ "success": true, "creditsUsed": 2 }));

    let by_host = search(&server, json!({ "query": "site:127.0.0.1 inurl:owls" })).await;
    assert_eq!(urls(&by_host), [site.url("/owls.html")]);
    assert_contains(&by_host["data"]["web"][0], "/description", "hunt at night");

    let only = search(&server, json!({ "query": "herons -ducks", "limit": 1 })).await;
    assert_eq!(urls(&only), [site.url("/herons")]);
    let anonymous = search(
        &server,
        json!({ "query": "herons", "enterprise": ["default", "zdr"] }),
    )
    .await;
    let warning = anonymous["warning"].as_str().unwrap();
    assert!(warning.contains("`enterprise` had no effect"), "{anonymous}");
    let by_mcp = json!({ "query": "herons", "sources": ["web", "alexandria"], "domainTools": true,
        "toolDetail": "compact", "filter": "text" });
    let by_mcp = search(&server, by_mcp).await;
    assert_eq!(urls(&by_mcp), urls(&anonymous));
    let warning = by_mcp["warning"].as_str().unwrap();
    for field in ["`domainTools` had no effect", "`filter` had no effect"] {
        assert!(warning.contains(field), "{by_mcp}");
    }
    let elsewhere = search(
        &server,
        json!({ "query": "herons", "includeDomains": ["b.test"] }),
    )
    .await;
    assert_eq!(urls(&elsewhere), [""; 0]);
    let here = search(
        &server,
        json!({ "query": "owl", "includeDomains": ["127.0.0.1"], "tbs": "qdr:h" }),
    )
    .await;
    assert_eq!(urls(&here)[0], site.url("/owls.html"));
    let old = search(&server, json!({ "query": "owl", "tbs": "cdr:1,cd_max:1/1/2020" })).await;
    assert_eq!(urls(&old), [""; 0]);

    // Other teams do not find these pages, and the index survives a restart.
    let herons = json!({ "query": "herons" }).to_string();
    let other = server.send_as_other(Method::POST, "/v2/search", herons);
    assert_eq!(urls(&other.await.ok()), [""; 0]);
    server.kill9();
    server.restart().await;
    assert!(!urls(&search(&server, json!({ "query": "herons" })).await).is_empty());
}

#[tokio::test]
async fn text_and_files_are_described_by_their_passages_too() {
    let text = "Notes on waders.\n\nBitterns boom in the reeds at dawn.\n\nThe end.";
    let page = line(24, 700, "Waders") + &line(12, 660, "Bitterns are shy birds of the marsh.");
    let pdf = Pdf {
        pages: vec![page],
        ..Pdf::default()
    };
    let site = Site::new()
        .page("/", Page::links("Start", &["/notes.txt", "/waders.pdf"]))
        .page("/notes.txt", Page::new("text/plain", text))
        .page("/waders.pdf", Page::new("application/pdf", pdf.bytes()))
        .serve()
        .await;
    let server = TestServer::start().await;
    server.run_crawl(&json!({ "url": site.url("/") })).await;
    let found = search(&server, json!({ "query": "bitterns" })).await;
    let described = |path: &str| {
        let web = found["data"]["web"].as_array().unwrap();
        let result = web.iter().find(|result| result["url"] == site.url(path));
        result.unwrap()["description"].as_str().unwrap().to_owned()
    };
    assert!(described("/notes.txt").contains("boom in the reeds"), "{found}");
    assert!(
        described("/waders.pdf").contains("shy birds of the marsh"),
        "{found}"
    );
}

#[tokio::test]
async fn a_killed_server_finds_all_cached_pages_again() {
    let site = birds().await;
    let mut server = TestServer::start().await;
    server.run_crawl(&json!({ "url": site.url("/") })).await;
    // The texts of these pages are not in the index yet.
    server.kill9();
    server.restart().await;
    for (query, path) in [
        ("shallow", "/herons"),
        ("ponds", "/ducks"),
        ("night", "/owls.html"),
    ] {
        let since = Instant::now();
        loop {
            let found = search(&server, json!({ "query": query })).await;
            if urls(&found) == [site.url(path)] {
                break;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "{query}: {found}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn uncached_pages_are_not_found() {
    let site = birds().await;
    let server = TestServer::start_with(&[("HARVESTMAN_ALLOW_ZERO_DATA_RETENTION", "1")]).await;
    for options in [
        json!({ "storeInCache": false }),
        json!({ "headers": { "Cookie": "a=b" } }),
        json!({ "zeroDataRetention": true }),
    ] {
        let mut body = options.clone();
        body["url"] = site.url("/herons").into();
        server.post("/v2/scrape", &body).await.ok();
        let found = search(&server, json!({ "query": "herons" })).await;
        assert_eq!(urls(&found), [""; 0], "{options}");
    }
    server
        .post("/v2/scrape", &json!({ "url": site.url("/herons") }))
        .await
        .ok();
    assert_eq!(
        urls(&search(&server, json!({ "query": "herons" })).await).len(),
        1
    );
}

#[tokio::test]
async fn results_are_scraped_if_requested() {
    let site = birds().await;
    let server = TestServer::start().await;
    server.run_crawl(&json!({ "url": site.url("/") })).await;
    let body =
        json!({ "query": "herons ducks", "limit": 2, "scrapeOptions": { "formats": ["markdown", "links"] } });
    let response = search(&server, body).await;
    let web = response["data"]["web"].as_array().unwrap();
    assert_eq!(web.len(), 2);
    for result in web {
        assert!(result["markdown"].as_str().unwrap().starts_with("# "), "{result}");
        assert_eq!(result["metadata"]["sourceURL"], result["url"]);
        assert!(result["title"].is_string() && result["position"].is_u64());
    }
    assert_eq!(
        response["creditsUsed"], 4,
        "two credits for the search, one per page"
    );

    for (format, has_markdown) in [("images", true), ("product", true), ("links", false)] {
        let body = json!({ "query": "herons", "limit": 1, "scrapeOptions": { "formats": [format] } });
        let response = search(&server, body).await;
        let result = &response["data"]["web"][0];
        assert!(result["metadata"].is_object(), "{format}: {result}");
        assert_eq!(result["markdown"].is_string(), has_markdown, "{format}: {result}");
    }

    let wrong = json!({ "query": "x", "scrapeOptions": { "formats": ["markdown"], "colour": 1 } });
    assert_eq!(server.post("/v2/search", &wrong).await.status, 400);
    for (body, status, code) in [
        (json!({}), 400, "BAD_REQUEST"),
        (json!({ "query": "" }), 400, "BAD_REQUEST"),
        (json!({ "query": "x", "limit": 101 }), 400, "BAD_REQUEST"),
        (
            json!({ "query": "x", "categories": ["gov"] }),
            501,
            "FEATURE_NOT_SUPPORTED",
        ),
        (
            json!({ "query": "x", "sources": ["news"] }),
            503,
            "FEATURE_NOT_CONFIGURED",
        ),
        (
            json!({ "query": "x", "sources": ["images", "news"] }),
            503,
            "FEATURE_NOT_CONFIGURED",
        ),
    ] {
        let response = server.post("/v2/search", &body).await;
        response.is_error_for(body, status, code);
    }
    let both = search(&server, json!({ "query": "herons", "sources": ["web", "news"] })).await;
    assert_eq!(both["data"]["news"], json!([]));
    assert_contains(&both, "/warning", "need a search provider");
}

/// Returns the response of a SearXNG instance.
fn searxng(base: &str, request: &ReceivedRequest) -> (u16, Value) {
    let page: u32 = request.query["pageno"].parse().unwrap();
    let result = |number: u32| {
        json!({
            "url": format!("{base}/{number}"), "title": format!("Result <b>{number}</b>"),
            "content": "What it says.", "engine": "e", "publishedDate": format!("2026-01-{:02}T00:00:00", number % 28 + 1),
            "img_src": format!("{base}/{number}.png"), "resolution": "640 x 480",
        })
    };
    let results: Vec<Value> = match page {
        1 => (0..10).map(result).collect(),
        2 => (8..18).map(result).collect(),
        _ => Vec::new(),
    };
    (
        200,
        json!({ "query": request.query["q"], "results": results, "unresponsive_engines": [] }),
    )
}

async fn provided(provider: &JsonService, kind: &str) -> TestServer {
    TestServer::start_with(&[
        ("HARVESTMAN_SEARCH_URL", &provider.url()),
        ("HARVESTMAN_SEARCH_PROVIDER", kind),
        ("HARVESTMAN_SEARCH_API_KEY", "between-us"),
    ])
    .await
}

#[tokio::test]
async fn searxng_gets_its_own_parameters_and_is_read_page_by_page() {
    let site = Site::new()
        .page("/0", article("Zero", "Nothing counts as much.", &[]))
        .serve()
        .await;
    let base = site.url("");
    let provider = JsonService::start(move |request| searxng(&base, request)).await;
    let server = provided(&provider, "searxng").await;
    let body = json!({
        "query": "herons", "limit": 15, "tbs": "qdr:w", "country": "DE", "safe": true, "location": "Bonn",
        "excludeDomains": ["b.test"],
    });
    let response = search(&server, body).await;
    let web = response["data"]["web"].as_array().unwrap();
    assert_eq!(web.len(), 15, "two result pages with two duplicates");
    assert_eq!(
        web[1],
        json!({ "url": site.url("/1"), "title": "Result 1", "description": "What it says.", "position": 2 })
    );
    assert_eq!(
        (&response["creditsUsed"], response.get("warning")),
        (&json!(4), None)
    );
    let requests = provider.requests();
    assert_eq!(requests.len(), 2);
    let query = &requests[1].query;
    let expected = [
        ("q", "herons -site:b.test Bonn"),
        ("format", "json"),
        ("categories", "general"),
        ("pageno", "2"),
        ("time_range", "week"),
        ("language", "de-DE"),
        ("safesearch", "2"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(
        query
            .iter()
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect::<Vec<_>>()
            .len(),
        expected.len()
    );
    for (name, value) in expected {
        assert_eq!(query[&name], value, "{name}");
    }
    assert_eq!(requests[0].path, "/search");

    let sources = json!({ "query": "herons", "limit": 3, "sources": ["news", { "type": "images" }] });
    let response = search(&server, sources).await;
    assert_eq!(response["data"].get("web"), None);
    assert_eq!(response["data"]["news"][0]["date"], "2026-01-01T00:00:00");
    assert_eq!(response["data"]["news"][0]["snippet"], "What it says.");
    let image = &response["data"]["images"][2];
    assert_fields(image, json!({ "imageWidth": 640, "imageHeight": 480 }));
    assert_eq!(image["imageUrl"], site.url("/2.png"));

    let days = json!({ "query": "herons", "tbs": "cdr:1,cd_min:1/3/2026,cd_max:1/5/2026", "limit": 5 });
    let response = search(&server, days).await;
    assert_eq!(urls(&response), [site.url("/2"), site.url("/3"), site.url("/4")]);

    // Only one result can be scraped; the others have no page content.
    let scraped = json!({ "query": "herons", "limit": 2, "scrapeOptions": { "formats": ["markdown"] } });
    let response = search(&server, scraped).await;
    assert_contains(&response, "/data/web/0/markdown", "Nothing counts");
    assert_eq!(response["data"]["web"][1]["metadata"]["statusCode"], 404);
}

#[tokio::test]
async fn serper_and_brave_get_their_own_parameters() {
    let provider = JsonService::start(|request| {
        let result = |number: u64| {
            json!({ "title": format!("R{number}"), "link": format!("https://a.test/{number}"), "snippet": "S", "date": "2 days ago",
                "imageUrl": "https://a.test/i.png", "imageWidth": 3, "imageHeight": 4 })
        };
        let page = request.json["page"].as_u64().unwrap();
        let name = match request.path.as_str() {
            "/search" => "organic",
            "/news" => "news",
            _ => "images",
        };
        (200, json!({ name: if page == 1 { vec![result(1), result(2)] } else { vec![] } }))
    })
    .await;
    let server = provided(&provider, "serper").await;
    let body = json!({ "query": "rust", "sources": ["web", "news", "images"], "tbs": "qdr:d,sbd:1", "location": "Bonn", "categories": ["pdf"] });
    let mut open = body.clone();
    open["categories"] = json!([]);
    let response = search(&server, open).await;
    assert_eq!(urls(&response), ["https://a.test/1", "https://a.test/2"]);
    assert_eq!(response["data"]["news"][1]["date"], "2 days ago");
    assert_eq!(response["data"]["images"][0]["imageWidth"], 3);
    let first = provider.requests()[0].clone();
    assert_eq!(first.headers["x-api-key"], "between-us");
    let sent =
        json!({ "q": "rust", "gl": "us", "num": 10, "page": 1, "tbs": "qdr:d,sbd:1", "location": "Bonn" });
    assert_eq!(first.json, sent);
    let none = search(&server, body).await;
    assert_eq!(urls(&none), [""; 0], "no result is a PDF");
    assert_contains(&none, "/warning", "No results");

    let brave = JsonService::start(|request| {
        let results = match request.query["offset"].as_str() {
            "0" => json!([{ "url": "https://a.test/1", "title": "R1", "description": "<strong>S</strong>", "page_age": "2026-01-01T00:00:00" }]),
            _ => json!([]),
        };
        (200, json!({ "web": { "results": results } }))
    })
    .await;
    let server = provided(&brave, "brave").await;
    let response = search(
        &server,
        json!({ "query": "rust", "tbs": "cdr:1,cd_min:1/1/2026,cd_max:1/2/2026" }),
    )
    .await;
    assert_eq!(response["data"]["web"][0]["description"], "S");
    let first = brave.requests()[0].clone();
    assert_eq!(first.path, "/res/v1/web/search");
    assert_eq!(first.headers["x-subscription-token"], "between-us");
    assert_eq!(first.query["freshness"], "2026-01-01to2026-01-02");
}

#[tokio::test]
async fn a_failed_provider_is_reported() {
    let silent = JsonService::start(|_| (500, json!({}))).await;
    let server = provided(&silent, "searxng").await;
    let response = server.post("/v2/search", &json!({ "query": "x" })).await;
    response.is_error(503, "SERVICE_UNAVAILABLE");
    assert!(response.error().contains("500") && !response.error().contains("between-us"));
    assert_eq!(silent.requests().len(), 2, "a transient failure is retried once");
    assert_eq!(server.get("/ready").await.ok()["search"], "unavailable");

    let odd = JsonService::start(|request| match request.query["categories"].as_str() {
        "news" => (403, json!({})),
        _ => (
            200,
            json!({ "results": [{ "url": "https://a.test/", "title": "A" }, { "url": "ftp://b.test/" }] }),
        ),
    })
    .await;
    let server = provided(&odd, "searxng").await;
    let response = search(&server, json!({ "query": "x", "sources": ["web", "news"] })).await;
    assert_eq!(urls(&response), ["https://a.test/", "ftp://b.test/"]);
    assert_contains(&response, "/warning", "403");
    let valid = search(&server, json!({ "query": "x", "ignoreInvalidURLs": true })).await;
    assert_eq!(urls(&valid), ["https://a.test/"]);
    assert_eq!(server.get("/ready").await.ok()["search"], "ok");

    let slow = Site::new()
        .page(
            "/search?q=x&format=json&categories=general&pageno=1",
            Page::html("{}").delay(Duration::from_secs(600)),
        )
        .serve()
        .await;
    let server = TestServer::start_with(&[("HARVESTMAN_SEARCH_URL", slow.url("").as_str())]).await;
    server
        .post("/v2/search", &json!({ "query": "x", "timeout": 300 }))
        .await
        .is_error(408, "SEARCH_TIMEOUT");
}
