//! The OpenAPI document against the route table, its own references, and responses of a server.

use std::collections::BTreeSet;

use axum::http::Method;
use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::fields::Slot;
use harvestman_core::api::interact::InteractRequest;
use harvestman_core::api::monitor::MonitorRequest;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::{ScrapeRequest, Wire};
use harvestman_server::router::routes;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::app::{TestApp, TestResponse};
use crate::crawl::{self, ALLOW};
use crate::site::Site;

async fn document(app: &TestApp) -> Value {
    let response = app.send(app.anonymous(Method::GET, "/openapi.json"), "").await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), "application/json");
    response.json()
}

/// Returns every method and path of the document.
fn operations(document: &Value) -> impl Iterator<Item = (String, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap();
        methods
            .iter()
            .map(move |(method, operation)| (method.to_uppercase(), path.as_str(), operation))
    })
}

#[tokio::test]
async fn the_document_has_every_supported_route_and_no_other() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    let documented: BTreeSet<(String, &str)> = operations(&document)
        .map(|(method, path, _)| (method, path))
        .collect();
    let routed: BTreeSet<(String, &str)> = routes()
        .into_iter()
        .filter(|route| route.offered)
        .filter_map(|route| Some((route.method?.to_string(), route.path)))
        .collect();
    let api = |(_, path): &&(String, &str)| path.starts_with("/v2/");
    assert_eq!(
        documented.iter().filter(api).collect::<Vec<_>>(),
        routed.iter().filter(api).collect::<Vec<_>>()
    );
    for (method, path) in documented {
        let path = path.replace("{token}/json/version", "{token}/{*rest}");
        let path = path.replace("{token}/json/list", "{token}/{*rest}");
        assert!(
            routed.contains(&(method.clone(), path.as_str())),
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn every_reference_resolves_and_every_example_matches_its_schema() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    let title = &document["components"]["schemas"]["Metadata"]["properties"]["title"];
    assert_eq!(title["type"], "string");
    let mut references = Vec::new();
    visit(&document, &mut |value| {
        references.extend(value["$ref"].as_str().map(str::to_owned));
    });
    assert!(references.len() > 100);
    for reference in references {
        let place = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(place).is_some(), "{reference}");
    }
    visit(&document, &mut |value| {
        if let (Some(schema), Some(example)) = (value.get("schema"), value.get("example")) {
            matches_schema(&document, schema, example);
        }
    });
}

fn visit(value: &Value, found: &mut impl FnMut(&Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit(item, found)),
        Value::Object(fields) => {
            found(value);
            fields.values().for_each(|field| visit(field, found));
        }
        _ => {}
    }
}

/// Checks a value against a schema of the document.
#[track_caller]
fn matches_schema(document: &Value, schema: &Value, value: &Value) {
    let whole = json!({ "allOf": [schema], "components": document["components"] });
    let validator: Validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&whole)
        .unwrap();
    let problems: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{problems:#?}\n{value:#}");
}

fn validator(document: &Value, name: &str) -> Validator {
    let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
    let whole = json!({ "allOf": [reference], "components": document["components"] });
    jsonschema::options().build(&whole).unwrap()
}

/// Checks that the document and the reader agree about a body.
#[track_caller]
fn agree<W: Wire>(document: &Value, body: &Value, is_valid: bool) {
    let by_document = validator(document, W::NAME).is_valid(body);
    assert_eq!(by_document, is_valid, "the document: {body}");
    assert_eq!(
        W::from_value(body.clone()).is_ok(),
        is_valid,
        "the reader: {body}"
    );
}

#[tokio::test]
async fn bodies_match_the_document() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    let scrape = |more: Value, is_valid: bool| {
        let mut body = json!({ "url": "https://a.test/" });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        agree::<ScrapeRequest>(&document, &body, is_valid);
    };
    let tracked = json!(["markdown", "changeTracking"]);
    for more in [
        json!({ "formats": tracked }),
        json!({ "formats": tracked, "lockdown": false, "minAge": null }),
        json!({ "formats": ["markdown", "markdown", {"type": "screenshot"}] }),
        json!({ "formats": [{"type": "json", "schema": {}, "prompt": null}] }),
        json!({ "formats": null, "timeout": null, "location": null, "proxy": null, "redactPII": null, "origin": null }),
        json!({ "location": {"country": "de", "languages": ["de-DE", "en"]} }),
        json!({ "location": {"country": null, "languages": null} }),
        json!({ "useMock": "page", "safeMode": true, "domainTools": true, "checkPromptInjection": false }),
        json!({ "useMock": null, "safeMode": null, "threatProtection": {"mode": "normal"} }),
        json!({ "threatProtection": {}, "maxAge": Slot::UNBOUNDED, "__any": 1 }),
        json!({ "waitFor": 30_001, "timeout": 100_000, "headers": {"X-A": "tab\there"} }),
    ] {
        scrape(more, true);
    }
    for more in [
        json!({ "url": null }),
        json!({ "formats": ["changeTracking"] }),
        json!({ "formats": tracked, "lockdown": true }),
        json!({ "formats": tracked, "minAge": 0 }),
        json!({ "formats": ["screenshot", {"type": "screenshot"}] }),
        json!({ "formats": [{"type": "json"}] }),
        json!({ "formats": [null] }),
        json!({ "location": {"country": "XX"} }),
        json!({ "location": {"languages": ["e"]} }),
        json!({ "location": {"languages": [null]} }),
        json!({ "safeMode": 1 }),
        json!({ "threatProtection": "off" }),
        json!({ "maxAge": Slot::UNBOUNDED + 1 }),
        json!({ "waitFor": 30_001 }),
        json!({ "headers": {"a b": "c"} }),
        json!({ "headers": {"a": "b\u{0}"} }),
    ] {
        scrape(more, false);
    }
    for (more, is_valid) in [
        (
            json!({ "includeDomains": ["a.test"], "excludeDomains": [] }),
            true,
        ),
        (
            json!({ "includeDomains": ["a.test"], "excludeDomains": ["b.test"] }),
            false,
        ),
        (
            json!({ "includeDomains": ["b\u{fc}cher.test", "*.a.test"] }),
            true,
        ),
        (json!({ "includeDomains": ["https://a.test"] }), false),
        (json!({ "tbs": "" }), true),
        (json!({ "tbs": "qdr:d2,sbd:1" }), true),
        (
            json!({ "tbs": "cdr:1, cd_min:1/31/2026 ,cd_max:2/28/2026" }),
            true,
        ),
        (json!({ "tbs": "qdr:x" }), false),
    ] {
        let mut body = json!({ "query": "herons" });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        agree::<SearchRequest>(&document, &body, is_valid);
    }
    for (body, is_valid) in [
        (json!({ "code": "1", "prompt": null }), true),
        (json!({ "prompt": "click" }), true),
        (json!({ "code": "1", "prompt": "click" }), false),
        (json!({}), false),
    ] {
        agree::<InteractRequest>(&document, &body, is_valid);
    }
    for (body, is_valid) in [
        (json!({ "urls": [], "prompt": "names" }), true),
        (json!({ "prompt": "" }), false),
        (json!({ "urls": ["a.test"], "schema": {} }), true),
        (json!({ "urls": [] }), false),
        (json!({}), false),
    ] {
        agree::<ExtractRequest>(&document, &body, is_valid);
    }
    for (options, is_valid) in [
        (json!({ "ignoreSitemap": true }), true),
        (json!({ "ignoreSitemap": true, "sitemap": "skip" }), true),
        (json!({ "ignoreSitemap": false, "sitemap": "only" }), true),
        (json!({ "ignoreSitemap": true, "sitemap": "only" }), false),
        (json!({ "ignoreSitemap": true, "sitemap": "include" }), false),
    ] {
        let mut body = options;
        body["url"] = "a.test".into();
        agree::<CrawlRequest>(&document, &body, is_valid);
    }
    for (schedule, is_valid) in [
        (json!({ "text": "hourly" }), true),
        (json!({ "cron": "0 * * * *", "text": null }), true),
        (json!({ "cron": "0 * * * *", "text": "hourly" }), false),
        (json!({}), false),
    ] {
        let target = json!({ "type": "scrape", "urls": ["a.test"] });
        let body = json!({ "name": "a", "schedule": schedule, "targets": [target] });
        agree::<MonitorRequest>(&document, &body, is_valid);
    }
}

#[tokio::test]
async fn bodies_that_the_document_excludes_are_refused() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    let url = "https://a.test/";
    let monitor = |options: Value| {
        json!({ "name": "a", "schedule": { "text": "hourly" },
            "targets": [{ "type": "crawl", "url": url, "crawlOptions": options }] })
    };
    for (path, name, body) in [
        (
            "/v2/scrape",
            "ScrapeRequest",
            json!({ "url": url, "redactPII": true, "formats": ["screenshot"] }),
        ),
        (
            "/v2/scrape",
            "ScrapeRequest",
            json!({ "url": url, "redactPII": {}, "formats": [{"type": "rawBase64"}] }),
        ),
        (
            "/v2/scrape",
            "ScrapeRequest",
            json!({ "url": url, "redactPII": true, "actions": [{"type": "pdf"}] }),
        ),
        (
            "/v2/monitor",
            "MonitorRequest",
            monitor(json!({ "prompt": "blog" })),
        ),
        (
            "/v2/monitor",
            "MonitorRequest",
            monitor(json!({ "webhook": url })),
        ),
        (
            "/v2/monitor",
            "MonitorRequest",
            monitor(json!({ "limit": 10_001 })),
        ),
        (
            "/v2/monitor",
            "MonitorRequest",
            monitor(json!({ "zeroDataRetention": true })),
        ),
    ] {
        assert!(!validator(&document, name).is_valid(&body), "{body}");
        app.post(path, &body).await.is_error(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn options_of_uploads_match_the_document() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    let validator = validator(&document, "ParseOptions");
    for (options, is_valid) in [
        (
            json!({ "formats": ["markdown", "links"], "actions": [], "location": {}, "waitFor": 0 }),
            true,
        ),
        (
            json!({ "maxAge": 172_800_000, "storeInCache": true, "proxy": "basic", "minAge": null }),
            true,
        ),
        (json!({ "formats": ["screenshot"] }), false),
        (json!({ "actions": [{"type": "scrape"}] }), false),
        (json!({ "location": {"country": "DE"} }), false),
        (json!({ "maxAge": 0 }), false),
        (json!({ "minAge": 0 }), false),
        (json!({ "proxy": "enhanced" }), false),
        (json!({ "mobile": true }), false),
        (json!({ "profile": {"name": "a"} }), false),
    ] {
        assert_eq!(validator.is_valid(&options), is_valid, "the document: {options}");
        let read = ParseOptions::from_value(options.clone()).unwrap();
        assert_eq!(read.check_allowed().is_ok(), is_valid, "the reader: {options}");
    }
}

/// Checks that a response is one that the document describes for this operation.
#[track_caller]
fn is_documented(document: &Value, method: &str, path: &str, response: &TestResponse) {
    let responses = &document["paths"][path][method]["responses"];
    let mut documented = &responses[response.status.as_str()];
    if let Some(reference) = documented["$ref"].as_str() {
        documented = document.pointer(&reference[1..]).unwrap();
    }
    assert!(
        documented.is_object(),
        "{method} {path}: {} is not documented",
        response.status
    );
    matches_schema(
        document,
        &documented["content"]["application/json"]["schema"],
        &response.json(),
    );
}

#[tokio::test]
async fn responses_match_the_document() {
    let app = TestApp::with(ALLOW).await;
    let document = document(&app).await;
    let site = Site::open(3).await;
    let check =
        |method: &str, path: &str, response: &TestResponse| is_documented(&document, method, path, response);

    let scrape = app
        .post(
            "/v2/scrape",
            &json!({"url": site.url("/"), "formats": ["markdown", "links", "html"]}),
        )
        .await;
    assert_eq!(scrape.status, 200);
    check("post", "/v2/scrape", &scrape);
    let id = scrape.json()["data"]["metadata"]["scrapeId"].clone();
    let again = app.get(&format!("/v2/scrape/{}", id.as_str().unwrap())).await;
    check("get", "/v2/scrape/{id}", &again);

    let map = app.post("/v2/map", &json!({"url": site.url("/")})).await;
    assert_eq!(map.status, 200);
    check("post", "/v2/map", &map);

    let id = crawl::start(&app, json!({"url": site.url("/"), "limit": 3})).await;
    crawl::wait_until(&app, &id, |status| status["status"] == "completed").await;
    check(
        "get",
        "/v2/crawl/{id}",
        &app.get(&format!("/v2/crawl/{id}")).await,
    );
    check(
        "get",
        "/v2/crawl/{id}/errors",
        &app.get(&format!("/v2/crawl/{id}/errors")).await,
    );

    let batch = app
        .post(
            "/v2/batch/scrape",
            &json!({"urls": [site.url("/"), "not a url:"]}),
        )
        .await;
    assert_eq!(batch.status, 200);
    check("post", "/v2/batch/scrape", &batch);
    let id = batch.json()["id"].as_str().unwrap().to_owned();
    check(
        "get",
        "/v2/batch/scrape/{id}",
        &app.get(&format!("/v2/batch/scrape/{id}")).await,
    );

    for path in [
        "/v2/crawl/active",
        "/v2/agent",
        "/v2/browser",
        "/v2/parse/formats",
        "/v2/team/credit-usage",
        "/v2/team/credit-usage/historical",
        "/v2/team/token-usage",
        "/v2/team/token-usage/historical",
        "/v2/team/activity",
        "/v2/team/queue-status",
        "/v2/concurrency-check",
        "/health",
        "/ready",
    ] {
        let response = app.get(path).await;
        assert_eq!(response.status, 200, "{path}");
        check("get", path, &response);
    }
    for (path, body, status) in [
        ("/v2/scrape", json!({}), 400),
        (
            "/v2/scrape",
            json!({"url": site.url("/"), "formats": ["nothing"]}),
            400,
        ),
        ("/v2/scrape", json!({"url": site.url("/"), "mobile": true}), 503),
        (
            "/v2/crawl",
            json!({"url": site.url("/"), "ignoreRobotsTxt": true}),
            403,
        ),
        (
            "/v2/extract",
            json!({"urls": [site.url("/")], "prompt": "names"}),
            503,
        ),
        (
            "/v2/agent",
            json!({"prompt": "x", "urls": [site.url("/")], "schema": {}, "threadId": id}),
            404,
        ),
        (
            "/v2/support/ask",
            json!({"question": "How do I limit a crawl?"}),
            200,
        ),
        (
            "/v2/crawl/params-preview",
            json!({"url": "a.test", "prompt": "only the blog"}),
            200,
        ),
        ("/v2/search", json!({"query": "page"}), 200),
    ] {
        let response = app.post(path, &body).await;
        assert_eq!(response.status, status, "{path} {body}: {}", response.json());
        check("post", path, &response);
    }
    let missing = app.get("/v2/crawl/018f2f9e-0000-7000-8000-000000000001").await;
    missing.is_error(404, "NOT_FOUND");
    check("get", "/v2/crawl/{id}", &missing);
}
