//! Request bodies: size, content coding, content type, timeouts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Method;
use futures_util::stream::{self, StreamExt};
use serde_json::json;

use crate::app::TestApp;

const LIMIT: usize = 10 * 1024 * 1024;

fn padded(size: usize) -> String {
    let body = json!({ "url": "ftp://x/" }).to_string();
    let spaces = " ".repeat(size - body.len());
    body + &spaces
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused() {
    let app = TestApp::start().await;
    for streamed in [false, true] {
        let send = async |size: usize| {
            let text = padded(size);
            let body = if streamed {
                let parts: Vec<_> = text
                    .as_bytes()
                    .chunks(64 * 1024)
                    .map(|part| Ok::<_, std::io::Error>(Bytes::copy_from_slice(part)))
                    .collect();
                Body::from_stream(stream::iter(parts))
            } else {
                Body::from(text)
            };
            let mut request = app.request(Method::POST, "/v2/scrape");
            if !streamed {
                request = request.header("content-length", size);
            }
            app.send(request, body).await
        };
        send(LIMIT).await.is_error(400, "BAD_REQUEST");
        let refused = send(LIMIT + 1).await;
        refused.is_error(413, "PAYLOAD_TOO_LARGE");
        assert_eq!(refused.header("connection"), "close");
    }
}

#[tokio::test]
async fn nothing_of_a_body_above_the_limit_is_read_in_vain() {
    let app = TestApp::start().await;
    for (announced, most) in [(Some(LIMIT + 1), 0), (None, LIMIT + 64 * 1024)] {
        let read = Arc::new(AtomicUsize::new(0));
        let parts = stream::repeat(Bytes::from_static(&[b' '; 64 * 1024])).map({
            let read = read.clone();
            move |part| {
                read.fetch_add(part.len(), Ordering::Relaxed);
                Ok::<_, std::io::Error>(part)
            }
        });
        let mut request = app.request(Method::POST, "/v2/scrape");
        if let Some(size) = announced {
            request = request.header("content-length", size);
        }
        let refused = app.send(request, Body::from_stream(parts)).await;
        refused.is_error(413, "PAYLOAD_TOO_LARGE");
        assert_eq!(read.load(Ordering::Relaxed), most);
    }
}

#[tokio::test]
async fn the_content_type_is_ignored_and_invalid_json_is_rejected() {
    let app = TestApp::start().await;
    for kind in [
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
    ] {
        let mut request = app.request(Method::POST, "/v2/scrape");
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        let response = app.send(request, r#"{"url":"ftp://x/"}"#).await;
        response.is_error(400, "BAD_REQUEST");
        assert_eq!(response.json()["details"][0]["path"], json!(["url"]));
    }
    for bad in ["", "{", "no", "\u{feff}{}x"] {
        let request = app.request(Method::POST, "/v2/crawl");
        app.send(request, bad)
            .await
            .is_error(400, "BAD_REQUEST_INVALID_JSON");
    }
}

/// RFC 8259 section 8.1.
#[tokio::test]
async fn a_byte_order_mark_before_json_is_ignored() {
    let app = TestApp::start().await;
    let post = async |path: &str, body: &str| {
        app.send(app.request(Method::POST, path), format!("\u{feff}{body}"))
            .await
    };
    for path in ["/v2/scrape", "/v2/crawl", "/v2/map"] {
        let response = post(path, r#"{"url":"ftp://x/"}"#).await;
        assert_eq!(response.json()["details"][0]["path"], json!(["url"]));
    }
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(post("/mcp", call).await.json()["result"], json!({}));
    let reference = r#"{"uploadRef":"x"}"#;
    post("/v2/parse", reference).await.is_error(404, "NOT_FOUND");
}

#[tokio::test]
async fn encoded_bodies_are_refused() {
    let app = TestApp::start().await;
    for coding in ["gzip", "br", "gzip, identity"] {
        let request = app
            .request(Method::POST, "/v2/scrape")
            .header("content-encoding", coding);
        app.send(request, "{}")
            .await
            .is_error(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    let request = app
        .request(Method::POST, "/v2/scrape")
        .header("content-encoding", "identity");
    app.send(request, "{}").await.is_error(400, "BAD_REQUEST");
}

#[tokio::test]
async fn an_incomplete_body_times_out_with_408() {
    let app = TestApp::start().await;
    let start = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{\"url\":"))]);
    let body = Body::from_stream(start.chain(stream::pending()));
    let request = app.request(Method::POST, "/v2/crawl");
    let response = tokio::time::timeout(Duration::from_secs(5), app.send(request, body))
        .await
        .unwrap();
    response.is_error(408, "REQUEST_TIMEOUT");
    assert_eq!(response.header("connection"), "close");
}

#[tokio::test]
async fn scrapes_by_alexandria_are_not_supported() {
    let app = TestApp::start().await;
    let body = json!({ "alexandria": { "id": 1 } });
    app.post("/v2/scrape", &body)
        .await
        .is_error(501, "FEATURE_NOT_SUPPORTED");
    let feedback = json!({ "endpoint": "alexandria", "rating": "bad", "rationale": "No data." });
    app.post("/v2/feedback", &feedback)
        .await
        .is_error(501, "FEATURE_NOT_SUPPORTED");
    app.get("/exchange/discover")
        .await
        .is_error(501, "FEATURE_NOT_SUPPORTED");
}
