//! Invalid requests: every response is an error of the same format with a reason, and the server never crashes.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{AUTHORIZATION, HttpResponse, JSON, Page, Site, TestServer, server};
use http::Method;
use serde_json::{Value, json};

/// Asserts an error response of the API with this status and code.
#[track_caller]
fn check(what: &str, response: &HttpResponse, status: u16, code: &str) {
    let body = String::from_utf8_lossy(&response.body);
    response.is_error_for(what, status, code);
    assert_eq!(response.json["success"], false, "{what}: {body}");
    assert!(!response.error().is_empty(), "{what}: {body}");
    assert!(
        response.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("application/json"),
        "{what}"
    );
    assert_eq!(response.headers["x-content-type-options"], "nosniff", "{what}");
}

async fn post_text(server: &TestServer, path: &str, body: impl Into<Vec<u8>>) -> HttpResponse {
    server
        .send(Method::POST, path, &[AUTHORIZATION, JSON], body.into())
        .await
}

#[tokio::test]
async fn bodies_that_are_not_json_objects_are_rejected() {
    let server = TestServer::start().await;
    let deep = format!("{{\"url\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    let no_json = [
        "", "{", "nonsense", "{\"url\":}", "{\"url\":\"a\"} trailing", "{'url':'a'}", "{\"limit\":NaN}",
    ];
    for path in ["/v2/crawl", "/v2/scrape", "/v2/batch/scrape"] {
        for body in no_json {
            check(
                body,
                &post_text(&server, path, body).await,
                400,
                "BAD_REQUEST_INVALID_JSON",
            );
        }
        for body in ["[]", "null", "5", "\"text\"", "true"] {
            check(body, &post_text(&server, path, body).await, 400, "BAD_REQUEST");
        }
        for body in [
            &b"{\"url\":\"\xff\xfe\"}"[..],
            b"{\"url\":\"\\ud800\"}",
            b"{\"limit\":1e999}",
            deep.as_bytes(),
        ] {
            let response = post_text(&server, path, body).await;
            assert!(response.code().starts_with("BAD_REQUEST"), "{response:?}");
            check("invalid text", &response, 400, response.code());
        }
    }
}

#[tokio::test]
async fn invalid_crawl_fields_are_named_in_the_error() {
    let server = TestServer::start().await;
    let url = "http://127.0.0.1:1/";
    #[rustfmt::skip]
    let cases: &[(Value, &[&str])] = &[
        (json!({}), &["url"]),
        (json!({ "url": null }), &["url"]),
        (json!({ "url": 5 }), &["url"]),
        (json!({ "url": "" }), &["url"]),
        (json!({ "url": "http://" }), &["url"]),
        (json!({ "url": "ftp://a.example/" }), &["url"]),
        (json!({ "url": "file:///etc/passwd" }), &["url"]),
        (json!({ "url": "http://a.example/\nb" }), &["url", "control characters", "U+000A"]),
        (json!({ "url": "http://user:secret@a.example/" }), &["url"]),
        (json!({ "url": format!("http://a.example/{}", "x".repeat(9000)) }), &["url"]),
        (json!({ "url": url, "limt": 5 }), &["limt", "limit"]),
        (json!({ "url": url, "Limit": 5 }), &["Limit", "limit"]),
        (json!({ "url": url, "limit": "5" }), &["limit"]),
        (json!({ "url": url, "limit": 0 }), &["limit"]),
        (json!({ "url": url, "limit": -1 }), &["limit"]),
        (json!({ "url": url, "limit": 1.5 }), &["limit"]),
        (json!({ "url": url, "maxDiscoveryDepth": -1 }), &["maxDiscoveryDepth"]),
        (json!({ "url": url, "maxConcurrency": 0 }), &["maxConcurrency"]),
        (json!({ "url": url, "delay": 0 }), &["delay"]),
        (json!({ "url": url, "delay": 61 }), &["delay"]),
        (json!({ "url": url, "sitemap": "sometimes" }), &["sitemap"]),
        (json!({ "url": url, "allowSubdomains": "yes" }), &["allowSubdomains"]),
        (json!({ "url": url, "includePaths": "x" }), &["includePaths"]),
        (json!({ "url": url, "includePaths": ["("] }), &["includePaths"]),
        (json!({ "url": url, "excludePaths": ["(?=x)"] }), &["excludePaths"]),
        (json!({ "url": url, "excludePaths": ["a{1000}{1000}"] }), &["excludePaths"]),
        (json!({ "url": url, "scrapeOptions": { "formts": ["markdown"] } }), &["formts", "formats"]),
        (json!({ "url": url, "scrapeOptions": { "formats": ["markdwn"] } }), &["markdwn"]),
        (json!({ "url": url, "scrapeOptions": { "timeout": 10 } }), &["timeout"]),
        (json!({ "url": url, "scrapeOptions": { "headers": { "x": 1 } } }), &["headers"]),
        (json!({ "url": url, "scrapeOptions": { "headers": { "Host": "x" } } }), &["Host"]),
        (json!({ "url": url, "scrapeOptions": { "headers": { "x": "a\r\nb" } } }), &["headers"]),
        (json!({ "url": url, "webhook": "not a url" }), &["webhook"]),
        (json!({ "url": url, "webhook": { "url": "ftp://a.example/" } }), &["webhook"]),
    ];
    for (body, named) in cases {
        let response = server.post("/v2/crawl", body).await;
        let what = body.to_string();
        check(&what[..what.len().min(200)], &response, 400, "BAD_REQUEST");
        let message = format!("{} {}", response.error(), response.json["details"]);
        for word in *named {
            assert!(
                message.contains(word),
                "{what}: the error does not contain `{word}`: {message}"
            );
        }
        assert!(!message.contains("secret"), "{message}");
    }
    let both = server
        .post(
            "/v2/crawl",
            &json!({ "url": url, "limit": 0, "scrapeOptions": { "waitFor": "x" } }),
        )
        .await;
    let paths: Vec<&Value> = both.json["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["path"])
        .collect();
    assert!(
        paths.contains(&&json!(["limit"])) && paths.contains(&&json!(["scrapeOptions", "waitFor"])),
        "{paths:?}"
    );
}

#[tokio::test]
async fn invalid_batch_fields_are_named_in_the_error() {
    let server = TestServer::start().await;
    let urls = ["http://127.0.0.1:1/"];
    let cases: &[(Value, &[&str])] = &[
        (json!({}), &["urls"]),
        (json!({ "urls": null }), &["urls"]),
        (json!({ "urls": [] }), &["urls"]),
        (json!({ "urls": "http://a.example/" }), &["urls"]),
        (json!({ "urls": [5] }), &["urls"]),
        (json!({ "urls": [null] }), &["urls"]),
        (json!({ "urls": ["http://"] }), &["urls"]),
        (json!({ "url": urls[0] }), &["url", "urls"]),
        (json!({ "urls": urls, "urlss": [] }), &["urlss", "urls"]),
        (json!({ "urls": urls, "scrapeOptions": {} }), &["scrapeOptions"]),
        (json!({ "urls": urls, "limit": 5 }), &["limit"]),
        (json!({ "urls": urls, "formats": ["markdwn"] }), &["formats"]),
        (json!({ "urls": urls, "timeout": 10 }), &["timeout"]),
        (json!({ "urls": urls, "maxConcurrency": 0 }), &["maxConcurrency"]),
        (
            json!({ "urls": urls, "ignoreInvalidURLs": "yes" }),
            &["ignoreInvalidURLs"],
        ),
        (json!({ "urls": urls, "appendToId": "1" }), &["appendToId"]),
        (json!({ "urls": urls, "webhook": "not a url" }), &["webhook"]),
        (
            json!({ "urls": urls, "webhook": { "url": "http://a.example/", "events": ["crawl.page"] } }),
            &["webhook", "events"],
        ),
    ];
    for (body, named) in cases {
        let response = server.post("/v2/batch/scrape", body).await;
        check(&body.to_string(), &response, 400, "BAD_REQUEST");
        let message = format!("{} {}", response.error(), response.json["details"]);
        for word in *named {
            assert!(
                message.contains(word),
                "{body}: the error does not contain `{word}`: {message}"
            );
        }
    }
    let mut large = br#"{"urls":["http://a.example/"#.to_vec();
    large.resize(10 * 1024 * 1024 + 1, b'x');
    let response = post_text(&server, "/v2/batch/scrape", large).await;
    check("too large", &response, 413, "PAYLOAD_TOO_LARGE");
}

#[tokio::test]
async fn harmless_extra_values_are_accepted() {
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let server = TestServer::start().await;
    let request = json!({
        "url": site.url("/"), "limit": 5.0, "prompt": null, "origin": "test", "integration": null, "__internal": { "x": 1 },
        "scrapeOptions": { "fastMode": true, "formats": ["markdown", "markdown"], "maxAge": null },
    });
    let id = server.crawl(&request).await;
    assert_eq!(server.wait(&id).await["completed"], 1);
    let headers = [AUTHORIZATION, ("content-type", "text/plain")];
    let body = json!({ "url": site.url("/") }).to_string();
    server.send(Method::POST, "/v2/scrape", &headers, body).await.ok();
    // The accountable user is shown with the activity.
    let audited = json!({ "url": site.url("/"), "auditMetadata": { "username": "ada" } });
    server.post("/v2/scrape", &audited).await.ok();
    let activity = server.get("/v2/team/activity?limit=1").await.ok();
    assert_eq!(
        activity["data"][0]["auditMetadata"]["username"], "ada",
        "{activity}"
    );
}

#[tokio::test]
async fn every_request_without_a_valid_key_gets_401() {
    let server = TestServer::start().await;
    let id = "01890000-0000-7000-8000-000000000000";
    let paths = [
        (Method::POST, "/v2/crawl".to_owned()),
        (Method::POST, "/v2/scrape".to_owned()),
        (Method::GET, format!("/v2/crawl/{id}")),
        (Method::DELETE, format!("/v2/crawl/{id}")),
        (Method::GET, format!("/v2/crawl/{id}/errors")),
        (Method::GET, "/v2/crawl/active".to_owned()),
        (Method::GET, format!("/v2/scrape/{id}")),
        (Method::POST, "/v2/batch/scrape".to_owned()),
        (Method::GET, format!("/v2/batch/scrape/{id}")),
        (Method::DELETE, format!("/v2/batch/scrape/{id}")),
        (Method::GET, format!("/v2/batch/scrape/{id}/errors")),
    ];
    let keys: &[&[(&str, &str)]] = &[
        &[],
        &[("authorization", "")],
        &[("authorization", "Bearer")],
        &[("authorization", "Bearer ")],
        &[("authorization", "Bearer fc-wrong")],
        &[("authorization", "Bearer fc-tes")],
        &[("authorization", "Bearer fc-test1")],
        &[("authorization", "Basic ZmMtdGVzdA==")],
        &[("authorization", "fc-test")],
    ];
    for (method, path) in &paths {
        for headers in keys {
            let response = server.send(method.clone(), path, headers, "{}").await;
            check(
                &format!("{method} {path} {headers:?}"),
                &response,
                401,
                "UNAUTHORIZED",
            );
        }
    }
    for path in ["/health", "/ready"] {
        assert_eq!(
            server.send(Method::GET, path, &[], "").await.status,
            200,
            "{path}"
        );
    }
}

#[tokio::test]
async fn jobs_of_another_team_are_not_found() {
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let server = TestServer::start().await;
    let id = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&id).await;
    let (documents, _) = server.documents(&id, 10).await;
    let page = documents[0]["metadata"]["scrapeId"].as_str().unwrap();
    let scrape = server.scrape_id(&json!({ "url": site.url("/") })).await;
    let other = format!("Bearer {}", server::OTHER_KEY);
    for (method, path) in [
        (Method::GET, format!("/v2/crawl/{id}")),
        (Method::GET, format!("/v2/crawl/{id}/errors")),
        (Method::DELETE, format!("/v2/crawl/{id}")),
        (Method::GET, format!("/v2/scrape/{page}")),
        (Method::GET, format!("/v2/scrape/{scrape}")),
    ] {
        let response = server
            .send(method.clone(), &path, &[("authorization", &other)], "")
            .await;
        check(&format!("{method} {path}"), &response, 404, "NOT_FOUND");
        if method == Method::GET {
            assert_eq!(
                server.get(&path).await.status,
                200,
                "the owning team can read {path}"
            );
        }
    }
    let unknown = "/v2/crawl/01890000-0000-7000-8000-000000000000";
    let foreign = server
        .send(
            Method::GET,
            &format!("/v2/crawl/{id}"),
            &[("authorization", &other)],
            "",
        )
        .await;
    assert_eq!(
        foreign.error(),
        server.get(unknown).await.error(),
        "foreign and unknown jobs get the same error"
    );
    let active = server
        .send(Method::GET, "/v2/crawl/active", &[("authorization", &other)], "")
        .await
        .ok();
    assert_eq!(active["crawls"], json!([]));
}

#[tokio::test]
async fn invalid_paths_and_methods_are_rejected() {
    let server = TestServer::start().await;
    let id = "01890000-0000-7000-8000-000000000000";
    for path in [
        "/v2/crawl/no-uuid",
        "/v2/crawl/0189",
        "/v2/crawl/no-uuid/errors",
        "/v2/scrape/no-uuid",
        "/v2/batch/scrape/no-uuid",
        "/v2/batch/scrape/no-uuid/errors",
    ] {
        check(path, &server.get(path).await, 400, "BAD_REQUEST");
    }
    for query in ["skip=-1", "skip=x", "limit=0", "limit=1001", "limit=1.5"] {
        check(
            query,
            &server.get(&format!("/v2/crawl/{id}?{query}")).await,
            400,
            "BAD_REQUEST",
        );
    }
    for path in [
        format!("/v2/crawl/{id}"),
        format!("/v2/crawl/{id}/errors"),
        format!("/v2/scrape/{id}"),
        format!("/v2/batch/scrape/{id}"),
        format!("/v2/batch/scrape/{id}/errors"),
    ] {
        check(&path, &server.get(&path).await, 404, "NOT_FOUND");
    }
    check(
        "cancel",
        &server.delete(&format!("/v2/crawl/{id}")).await,
        404,
        "NOT_FOUND",
    );
    for path in [
        "/v2/nothing", "/v2", "/v2/crawl/active/x", "/nothing", "/v2/crawl/../../etc/passwd",
    ] {
        check(path, &server.get(path).await, 404, "NOT_FOUND");
    }
    let old = server
        .post("/v1/scrape", &json!({ "url": "http://a.example/" }))
        .await;
    check("/v1/scrape", &old, 404, "NOT_FOUND");
    assert!(old.error().contains("v2"), "{}", old.error());
    for (method, path) in [
        (Method::PUT, "/v2/crawl".to_owned()),
        (Method::GET, "/v2/scrape".to_owned()),
        (Method::POST, format!("/v2/crawl/{id}")),
        (Method::DELETE, format!("/v2/scrape/{id}")),
    ] {
        let response = server.send(method.clone(), &path, &[AUTHORIZATION], "{}").await;
        check(&format!("{method} {path}"), &response, 405, "METHOD_NOT_ALLOWED");
    }
    check(
        "unsupported path",
        &server.get("/v2/search/research/x").await,
        501,
        "FEATURE_NOT_SUPPORTED",
    );
    let options = server
        .send(
            Method::OPTIONS,
            "/v2/crawl",
            &[("origin", "http://a.example")],
            "",
        )
        .await;
    assert_eq!(options.status, 204);
    assert_eq!(options.headers["access-control-allow-origin"], "*");
}

#[tokio::test]
async fn bodies_that_are_too_large_or_encoded_are_rejected() {
    let server = TestServer::start().await;
    let mut large = br#"{"url":"http://a.example/","prompt":""#.to_vec();
    large.resize(10 * 1024 * 1024 + 1, b'x');
    check(
        "too large",
        &post_text(&server, "/v2/crawl", large).await,
        413,
        "PAYLOAD_TOO_LARGE",
    );
    for coding in ["gzip", "br", "x"] {
        let headers = [AUTHORIZATION, ("content-encoding", coding)];
        let response = server.send(Method::POST, "/v2/crawl", &headers, "{}").await;
        check(coding, &response, 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert_eq!(server.get("/health").await.status, 200);
}

#[tokio::test]
async fn forbidden_and_unreachable_targets_have_their_own_error_codes() {
    let site = Site::new()
        .page("/inward", Page::redirect(302, "http://10.0.0.1/"))
        .page("/circle", Page::redirect(302, "/circle"))
        .page("/slow", Page::links("slow", &[]))
        .serve()
        .await;
    site.hold_after(2);
    let server = TestServer::start().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let cases = [
        ("http://10.0.0.1/".to_owned(), 403, "UNSAFE_TARGET"),
        ("http://[::1]/".to_owned(), 403, "UNSAFE_TARGET"),
        (
            "http://169.254.169.254/latest/meta-data".to_owned(),
            403,
            "UNSAFE_TARGET",
        ),
        ("http://0xa9fea9fe/".to_owned(), 403, "UNSAFE_TARGET"),
        (site.url("/inward"), 403, "UNSAFE_TARGET"),
        (site.url("/circle"), 500, "SCRAPE_SITE_ERROR"),
        (
            "http://nothing.invalid/".to_owned(),
            400,
            "SCRAPE_DNS_RESOLUTION_ERROR",
        ),
        (format!("http://{free}/"), 500, "SCRAPE_SITE_ERROR"),
        (site.url("/slow"), 408, "SCRAPE_TIMEOUT"),
    ];
    for (url, status, code) in cases {
        let response = server
            .post("/v2/scrape", &json!({ "url": url, "timeout": 5000 }))
            .await;
        check(&url, &response, status, code);
    }
}

#[tokio::test]
async fn options_that_are_not_enabled_are_refused_before_anything_is_fetched() {
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let server = TestServer::start().await;
    for (field, value) in [
        ("ignoreRobotsTxt", json!(true)),
        ("robotsUserAgent", json!("me")),
        ("zeroDataRetention", json!(true)),
    ] {
        let mut request = json!({ "url": site.url("/") });
        request[field] = value;
        let response = server.post("/v2/crawl", &request).await;
        check(field, &response, 403, "FORBIDDEN");
        assert!(response.error().contains(field), "{}", response.error());
    }
    assert_eq!(site.hits().len(), 0);
}
