//! Uploads: valid and invalid forms, and text files, which need no file reader process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::app::{TestApp, TestResponse};
use crate::assertions::assert_fields;

const BOUNDARY: &str = "boundary-of-herons";
const FORM_TYPE: &str = "multipart/form-data; boundary=boundary-of-herons";

/// Part of a form: its `Content-Disposition` parameters, its content type (empty for none), its bytes.
type Part<'a> = (&'a str, &'a str, &'a [u8]);

fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (disposition, content_type, bytes) in parts {
        let kind = match *content_type {
            "" => String::new(),
            kind => format!("Content-Type: {kind}\r\n"),
        };
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n{kind}\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

async fn send(app: &TestApp, content_type: &str, body: Vec<u8>) -> TestResponse {
    let request = app
        .request(Method::POST, "/v2/parse")
        .header("content-type", content_type);
    app.send(request, body).await
}

async fn post(app: &TestApp, parts: &[Part<'_>]) -> TestResponse {
    send(app, FORM_TYPE, form(parts)).await
}

pub(crate) async fn parse(
    app: &TestApp,
    disposition: &str,
    content_type: &str,
    bytes: &[u8],
    options: &Value,
) -> TestResponse {
    let options = options.to_string();
    let parts = [
        (disposition, content_type, bytes),
        ("name=\"options\"", "", options.as_bytes()),
    ];
    post(app, &parts).await
}

const NOTES: &str = "name=\"file\"; filename=\"notes.md\"";

#[tokio::test]
async fn text_is_converted_and_stored_under_its_scrape_id() {
    let app = TestApp::start().await;
    let file = "name=\"file\"; filename=\"C:\\\\birds\\\\herons.html\"";
    let page = b"<title>Herons</title><nav>Menu</nav><main><h1>Herons</h1><p>They wade in shallow water all day.</p></main>";
    let response = parse(
        &app,
        file,
        "text/html",
        page,
        &json!({"formats": ["markdown", "links"]}),
    )
    .await;
    let json = response.json();
    assert_eq!(
        (response.status.as_u16(), &json["success"]),
        (200, &json!(true)),
        "{json}"
    );
    let data = &json["data"];
    assert_eq!(
        data["markdown"],
        "# Herons\n\nThey wade in shallow water all day."
    );
    assert_eq!(data["links"], json!([]));
    let mut metadata = data["metadata"].clone();
    let id = metadata["scrapeId"].take();
    metadata
        .as_object_mut()
        .unwrap()
        .retain(|name, _| !matches!(name.as_str(), "scrapeId" | "articleTitle"));
    assert_eq!(
        metadata,
        json!({"title": "Herons", "sourceFile": "herons.html", "sourceURL": "herons.html", "statusCode": 200,
            "contentType": "text/html", "creditsUsed": 1, "concurrencyLimited": false})
    );
    let kept = app
        .get(&format!("/v2/scrape/{}", id.as_str().unwrap()))
        .await
        .json();
    assert_eq!(kept["data"], *data);
}

#[tokio::test]
async fn files_cost_the_same_credits_as_pages() {
    let app = TestApp::with(&[("HARVESTMAN_CREDIT_BUDGET", "6")]).await;
    let summed = json!({"formats": ["markdown", "summary"]});
    for (options, credits) in [(&summed, 5), (&json!({}), 1)] {
        let response = parse(&app, NOTES, "", b"# Herons\n\nThey wade.", options).await;
        assert_eq!(response.json()["data"]["metadata"]["creditsUsed"], credits);
    }
    let refused = parse(&app, NOTES, "", b"# Herons", &json!({})).await;
    refused.is_error(402, "INSUFFICIENT_CREDITS");
    let left = app.get("/v2/team/credit-usage").await.json();
    assert_eq!(left["data"]["remainingCredits"], 0);
}

#[tokio::test]
async fn the_format_is_detected_by_name_then_content_type_then_bytes() {
    let app = TestApp::start().await;
    let no_options = json!({});
    let check = async |file: &str, kind: &str, bytes: &[u8], content_type: &str, markdown: &str| {
        let json = parse(&app, file, kind, bytes, &no_options).await.json();
        let found = (
            &json["data"]["metadata"]["contentType"],
            &json["data"]["markdown"],
        );
        assert_eq!(found, (&json!(content_type), &json!(markdown)), "{file} {json}");
    };
    check(
        NOTES, "application/octet-stream", b"# Herons", "text/markdown", "# Herons",
    )
    .await;
    let nameless = "name=\"file\"; filename=\"upload\"";
    check(nameless, "text/plain; charset=utf-8", b"<b>", "text/plain", "<b>").await;
    check(
        nameless,
        "application/octet-stream",
        b"<!doctype html><h1>Herons</h1>",
        "text/html",
        "# Herons",
    )
    .await;
    let json = "name=\"file\"; filename=\"a.json\"";
    check(json, "", b"{}", "application/json", "```json\n{}\n```").await;
}

#[tokio::test]
async fn a_form_without_a_valid_file_is_rejected() {
    let app = TestApp::start().await;
    let file = (NOTES, "", b"x".as_slice());
    post(&app, &[]).await.is_error(400, "BAD_REQUEST");
    post(&app, &[("name=\"options\"", "", b"{}")])
        .await
        .is_error(400, "BAD_REQUEST");
    post(&app, &[("name=\"file\"", "", b"x")])
        .await
        .is_error(400, "BAD_REQUEST");
    post(&app, &[("name=\"file\"; filename=\" \"", "", b"x")])
        .await
        .is_error(400, "BAD_REQUEST");
    post(&app, &[file, file]).await.is_error(400, "BAD_REQUEST");
    post(
        &app,
        &[("name=\"file\"; filename=\"a.mp3\"", "audio/mpeg", b"ID3\0")],
    )
    .await
    .is_error(400, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    // Other parts are ignored.
    let response = post(&app, &[("name=\"more\"", "", b"?"), file]).await;
    assert_eq!(response.json()["data"]["markdown"], "x");
}

#[tokio::test]
async fn invalid_forms_are_rejected() {
    let app = TestApp::start().await;
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let mut cut_short = form(&[(NOTES, "", b"x")]);
    cut_short.truncate(cut_short.len() - BOUNDARY.len() - 10);
    send(&app, &kind, cut_short).await.is_error(400, "BAD_REQUEST");
    send(&app, &kind, b"nothing of a form".to_vec())
        .await
        .is_error(400, "BAD_REQUEST");
    send(&app, "multipart/form-data", form(&[(NOTES, "", b"x")]))
        .await
        .is_error(400, "BAD_REQUEST");
    send(&app, "application/json", b"{}".to_vec())
        .await
        .is_error(400, "BAD_REQUEST");
    send(&app, "application/json", b"{\"uploadRef\":\"x\"}".to_vec())
        .await
        .is_error(404, "NOT_FOUND");
}

async fn upload_url(app: &TestApp, body: &Value) -> Value {
    let response = app.post("/v2/parse/upload-url", body).await;
    let json = response.json();
    assert_eq!(response.status, 200, "{json}");
    json["data"].clone()
}

async fn put(app: &TestApp, data: &Value, bytes: impl Into<Body>) -> TestResponse {
    let url = data["uploadUrl"].as_str().unwrap();
    let path = &url[url.find("/v2/").unwrap()..];
    let request = app.anonymous(Method::PUT, path);
    app.send(request, bytes.into()).await
}

#[tokio::test]
async fn a_file_is_uploaded_by_url_and_used_once() {
    let app = TestApp::start().await;
    let named = json!({"filename": "../herons/notes.md", "contentType": "text/markdown"});
    let data = upload_url(&app, &named).await;
    assert_fields(
        &data,
        json!({ "method": "PUT", "maxSizeBytes": 50 << 20, "headers": {"Content-Type": "text/markdown"} }),
    );
    let by_reference = |options: Value| {
        let mut body = json!({"uploadRef": data["uploadRef"]});
        body.as_object_mut()
            .unwrap()
            .extend(options.as_object().unwrap().clone());
        body
    };
    let parse = async |body: Value| app.post("/v2/parse", &body).await;
    parse(by_reference(json!({}))).await.is_error(409, "CONFLICT");
    assert_eq!(
        put(&app, &data, "# Herons").await.json(),
        json!({"success": true})
    );
    put(&app, &data, "# Storks").await.is_error(409, "CONFLICT");

    // An invalid request and one of another team leave the file in place.
    parse(by_reference(json!({"mobile": true})))
        .await
        .is_error(400, "PARSE_UNSUPPORTED_OPTIONS");
    parse(by_reference(json!({"nests": 3})))
        .await
        .is_error(400, "BAD_REQUEST");
    let other = app.other_key("another team").await;
    let request = app.request_as(&other, Method::POST, "/v2/parse");
    app.send(request, by_reference(json!({})).to_string())
        .await
        .is_error(404, "NOT_FOUND");

    let document = parse(by_reference(json!({"formats": ["markdown"]}))).await.json();
    assert_eq!(document["data"]["markdown"], "# Herons");
    assert_eq!(document["data"]["metadata"]["sourceFile"], "notes.md");
    parse(by_reference(json!({}))).await.is_error(404, "NOT_FOUND");
    put(&app, &data, "# Storks").await.is_error(404, "NOT_FOUND");
}

#[tokio::test]
async fn slow_uploads_of_a_team_do_not_block_other_teams() {
    let app = TestApp::start().await;
    let reading = Arc::new(AtomicUsize::new(0));
    // Never ends, and never pauses long enough for a timeout.
    let slow_body = || {
        let reading = reading.clone();
        let start = stream::once(async move {
            reading.fetch_add(1, Ordering::SeqCst);
            Ok::<_, std::io::Error>("x")
        });
        Body::from_stream(start.chain(stream::repeat("x").then(|byte| async move {
            sleep(Duration::from_millis(20)).await;
            Ok(byte)
        })))
    };
    let slow_uploads = join_all((0..20).map(async |n| {
        if n % 2 == 0 {
            let data = upload_url(&app, &json!({"filename": "a.txt"})).await;
            return put(&app, &data, slow_body()).await;
        }
        let request = app
            .request(Method::POST, "/v2/parse")
            .header("content-type", FORM_TYPE);
        app.send(request, slow_body()).await
    }));
    let of_another_team = async {
        let other = app.other_key("another team").await;
        while reading.load(Ordering::SeqCst) < 4 {
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_millis(300)).await;
        let request = app
            .request_as(&other, Method::POST, "/v2/parse")
            .header("content-type", FORM_TYPE);
        app.send(request, form(&[(NOTES, "", b"# Herons")])).await
    };
    tokio::select! {
        _ = slow_uploads => unreachable!("the slow uploads never end"),
        response = timeout(Duration::from_secs(20), of_another_team) => {
            assert_eq!(response.unwrap().json()["data"]["markdown"], "# Herons");
        }
    }
}

#[tokio::test]
async fn uploads_by_url_are_bounded() {
    let app = TestApp::start().await;
    for (body, code) in [
        (json!({}), "BAD_REQUEST"),
        (json!({"filename": "/"}), "BAD_REQUEST"),
        (json!({"filename": "x".repeat(256)}), "BAD_REQUEST"),
        (
            json!({"filename": "a", "declaredSizeBytes": 10_737_418_240_u64}),
            "BAD_REQUEST",
        ),
    ] {
        app.post("/v2/parse/upload-url", &body).await.is_error(400, code);
    }
    let data = upload_url(&app, &json!({"filename": "large.txt"})).await;
    // Announced and unannounced sizes above the limit.
    let url = data["uploadUrl"].as_str().unwrap();
    let announced = app
        .anonymous(Method::PUT, &url[url.find("/v2/").unwrap()..])
        .header("content-length", "10737418240");
    app.send(announced, "start")
        .await
        .is_error(413, "PAYLOAD_TOO_LARGE");
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'x'; 1 << 20]));
    put(&app, &data, Body::from_stream(endless))
        .await
        .is_error(413, "PAYLOAD_TOO_LARGE");
    let body = json!({"uploadRef": data["uploadRef"]});
    app.post("/v2/parse", &body).await.is_error(409, "CONFLICT");
    // The URL still takes a file that is small enough.
    assert_eq!(put(&app, &data, "heron").await.status, 200);

    for _ in 1..20 {
        upload_url(&app, &json!({"filename": "a.txt"})).await;
    }
    let full = app
        .post("/v2/parse/upload-url", &json!({"filename": "a.txt"}))
        .await;
    full.is_error(429, "CONCURRENCY_LIMITED");
    assert!(!full.header("retry-after").is_empty());
    assert_eq!(
        app.post("/v2/parse", &body).await.json()["data"]["markdown"],
        "heron"
    );
    upload_url(&app, &json!({"filename": "a.txt"})).await;
}

#[tokio::test]
async fn options_are_validated_like_those_of_a_scrape() {
    let app = TestApp::start().await;
    let check = async |options: &[u8], code: &str| {
        let response = post(
            &app,
            &[
                (NOTES, "", b"x"),
                ("name=\"options\"", "application/json", options),
            ],
        )
        .await;
        response.is_error(400, code).json()
    };
    check(b"{", "BAD_REQUEST_INVALID_JSON").await;
    check(b"\xef\xbb\xbf{\"format\":[]}", "BAD_REQUEST").await;
    check(b"{\"url\":\"https://a.test\"}", "BAD_REQUEST").await;
    check(b"{\"timeout\":300001}", "BAD_REQUEST").await;
    check(
        b"{\"parsers\":[{\"type\":\"pdf\",\"maxPages\":0}]}",
        "BAD_REQUEST",
    )
    .await;
    for forbidden in [
        json!({"actions": [{"type": "wait", "milliseconds": 1}]}),
        json!({"waitFor": 1}),
        json!({"location": {"country": "DE"}}),
        json!({"mobile": true}),
        json!({"maxAge": 1}),
        json!({"minAge": 1}),
        json!({"storeInCache": false}),
        json!({"lockdown": true}),
        json!({"profile": {"name": "a"}}),
        json!({"proxy": "enhanced"}),
        json!({"formats": ["screenshot"]}),
        json!({"formats": ["changeTracking", "markdown"]}),
        json!({"formats": ["branding"]}),
    ] {
        let response = check(forbidden.to_string().as_bytes(), "PARSE_UNSUPPORTED_OPTIONS").await;
        let name = forbidden["formats"][0]
            .as_str()
            .unwrap_or_else(|| forbidden.as_object().unwrap().keys().next().unwrap());
        assert!(response["error"].as_str().unwrap().contains(name), "{response}");
    }
}

#[tokio::test]
async fn a_file_above_the_limit_is_a_bad_request() {
    let app = TestApp::start().await;
    let most = 50 * 1024 * 1024;
    let mut bytes = vec![b' '; most + 1];
    post(&app, &[(NOTES, "", &bytes)])
        .await
        .is_error(400, "BAD_REQUEST");
    bytes.resize(most + (2 << 20), b' ');
    post(&app, &[(NOTES, "", &bytes)])
        .await
        .is_error(400, "BAD_REQUEST");
    bytes.truncate(most);
    let response = parse(&app, NOTES, "", &bytes, &json!({"formats": []})).await;
    assert_eq!(response.status.as_u16(), 200);
}

#[tokio::test]
async fn a_file_reader_that_cannot_start_is_a_server_error() {
    let app = TestApp::start().await;
    let file = "name=\"file\"; filename=\"a.pdf\"";
    post(&app, &[(file, "application/pdf", b"%PDF-1.7")])
        .await
        .is_error(500, "UNKNOWN_ERROR");
}

#[tokio::test]
async fn the_list_of_formats_requires_a_key() {
    let app = TestApp::start().await;
    let formats = app.get("/v2/parse/formats").await.json();
    let formats = formats["data"]["formats"].as_array().unwrap();
    let pdf = formats.iter().find(|format| format["format"] == "pdf").unwrap();
    assert_eq!(pdf["available"], true);
    for (method, path) in [(Method::GET, "/v2/parse/formats"), (Method::POST, "/v2/parse")] {
        let request = app.anonymous(method, path);
        app.send(request, "").await.is_error(401, "UNAUTHORIZED");
    }
}

#[tokio::test]
async fn a_file_without_data_retention_is_not_stored() {
    let discreet = json!({ "zeroDataRetention": true });
    let app = TestApp::start().await;
    parse(&app, NOTES, "", b"# Herons", &discreet)
        .await
        .is_error(403, "FORBIDDEN");
    let neutral = parse(
        &app,
        NOTES,
        "",
        b"# Herons",
        &json!({ "zeroDataRetention": false }),
    )
    .await;
    assert_eq!(neutral.status, 200);

    let app = TestApp::with(&[("HARVESTMAN_ALLOW_ZERO_DATA_RETENTION", "1")]).await;
    let document = parse(&app, NOTES, "", b"# Herons", &discreet).await.json()["data"].clone();
    assert_eq!(document["markdown"], "# Herons");
    let id = document["metadata"]["scrapeId"].as_str().unwrap();
    app.get(&format!("/v2/scrape/{id}"))
        .await
        .is_error(404, "NOT_FOUND");
}
