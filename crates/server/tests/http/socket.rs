//! The live job socket of a crawl, over a real connection.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use harvestman_server::listen::ConnectionLimits;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::app::TestApp;
use crate::assertions::{assert_contains, assert_fields};
use crate::crawl::{ALLOW, path_of, start, wait_until};
use crate::site::Site;

type Socket = WebSocketStream<TcpStream>;

/// Connects and returns the socket and the subprotocol that the server selected.
async fn connect(address: SocketAddr, id: &str, header: (&'static str, String)) -> (Socket, Option<String>) {
    let mut request = format!("ws://{address}/v2/crawl/{id}")
        .into_client_request()
        .unwrap();
    if !header.1.is_empty() {
        request.headers_mut().insert(header.0, header.1.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    let (socket, response) = client_async(request, stream).await.unwrap();
    let chosen = response
        .headers()
        .get("sec-websocket-protocol")
        .map(|name| name.to_str().unwrap().to_owned());
    (socket, chosen)
}

/// Connects with the valid key.
async fn open(app: &TestApp, address: SocketAddr, id: &str) -> Socket {
    let header = ("authorization", format!("Bearer {}", app.key));
    connect(address, id, header).await.0
}

async fn message(socket: &mut Socket) -> Message {
    let next = tokio::time::timeout(Duration::from_secs(20), socket.next());
    next.await
        .expect("a message arrives in time")
        .expect("the socket is open")
        .unwrap()
}

async fn text(socket: &mut Socket) -> Value {
    match message(socket).await {
        Message::Text(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("{other:?}"),
    }
}

async fn document(socket: &mut Socket) -> Value {
    let mut message = text(socket).await;
    assert_eq!(message["type"], "document");
    message["data"].take()
}

async fn close_frame(socket: &mut Socket) -> (u16, String) {
    match message(socket).await {
        Message::Close(Some(frame)) => (frame.code.into(), frame.reason.to_string()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_client_gets_the_catchup_each_document_and_the_end() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(2).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let id = start(&app, json!({ "url": site.url("/"), "limit": 3 })).await;
    wait_until(&app, &id, |status| status["completed"] == 1).await;

    let (mut socket, chosen) = connect(address, &id, ("sec-websocket-protocol", app.key.clone())).await;
    assert_eq!(
        chosen.as_deref(),
        Some(app.key.as_str()),
        "the offered key is echoed"
    );
    let catchup = text(&mut socket).await;
    assert_eq!(catchup["type"], "catchup");
    assert_eq!(catchup["data"]["success"], true);
    assert_eq!(catchup["data"]["data"].as_array().unwrap().len(), 1);
    for _ in 0..2 {
        site.release(1);
        let document = document(&mut socket).await;
        let markdown = document["markdown"].as_str().unwrap();
        assert!(markdown.starts_with("# Page"), "{document}");
    }
    let done = text(&mut socket).await;
    assert_eq!(done["type"], "done");
    assert_fields(
        &done["data"],
        json!({ "status": "completed", "data": [], "completed": 3 }),
    );
    assert_eq!(close_frame(&mut socket).await.0, 1000);
}

#[tokio::test]
async fn a_cancelled_crawl_sends_an_error_and_closes() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(2).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let id = start(&app, json!({ "url": site.url("/"), "limit": 3 })).await;
    let mut socket = open(&app, address, &id).await;
    assert_eq!(text(&mut socket).await["type"], "catchup");
    app.delete(&format!("/v2/crawl/{id}")).await;
    loop {
        let message = text(&mut socket).await;
        if message["type"] == "error" {
            assert_contains(&message, "/error", "cancelled");
            break;
        }
        assert_eq!(message["type"], "document");
    }
    assert_eq!(close_frame(&mut socket).await.0, 1000);
}

#[tokio::test]
async fn refusals_come_after_the_upgrade_as_close_frames() {
    let app = TestApp::with(ALLOW).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let unknown = "01920000-0000-7000-8000-000000000001";
    let key = ("authorization", format!("Bearer {}", app.key));
    for (id, header, code) in [
        (unknown, ("authorization", "Bearer fc-wrong".to_owned()), 3000),
        (unknown, ("sec-websocket-protocol", "fc-wrong".to_owned()), 3000),
        (unknown, ("authorization", String::new()), 3000),
        (unknown, key.clone(), 1008),
        ("not-an-id", key, 1008),
    ] {
        let (mut socket, _) = connect(address, id, header).await;
        let (given, reason) = close_frame(&mut socket).await;
        assert_eq!(given, code, "{id}: {reason}");
        assert!(!reason.is_empty() && reason.len() <= 123);
    }
}

#[tokio::test]
async fn a_shutdown_closes_the_socket_with_1001() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(2).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let id = start(&app, json!({ "url": site.url("/"), "limit": 3 })).await;
    wait_until(&app, &id, |status| status["completed"] == 1).await;
    let mut socket = open(&app, address, &id).await;
    assert_eq!(text(&mut socket).await["type"], "catchup");
    app.app.stopping().cancel();
    assert_eq!(close_frame(&mut socket).await.0, 1001);
}

#[tokio::test]
async fn documents_follow_a_full_catchup_without_gap_or_repeat() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(0).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    // Pages of 3 MiB; another one is fetched only after the client has received these.
    let body = json!({ "url": site.url("/big"), "limit": 6, "sitemap": "skip", "crawlEntireDomain": true,
        "scrapeOptions": { "formats": ["rawHtml"] } });
    let id = start(&app, body).await;
    let status = wait_until(&app, &id, |status| status["completed"] == 5).await;
    assert!(
        status["next"].is_string(),
        "the documents fill more than one status page"
    );

    let mut socket = open(&app, address, &id).await;
    let first = message(&mut socket).await.into_text().unwrap();
    assert!(first.len() <= 10_485_760 + 64, "{} bytes", first.len());
    let catchup: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(catchup["type"], "catchup");
    assert_eq!(
        catchup["data"]["next"],
        format!("http://{address}/v2/crawl/{id}?skip=3")
    );
    let mut documents: Vec<Value> = catchup["data"]["data"].as_array().unwrap().clone();
    assert_eq!(documents.len(), 3);
    for _ in 0..2 {
        documents.push(document(&mut socket).await);
    }
    site.release(1);
    documents.push(document(&mut socket).await);
    let done = text(&mut socket).await;
    assert_eq!(done["type"], "done");
    assert_fields(&done["data"], json!({ "completed": 6, "data": [], "next": null }));

    let mut stored = Vec::new();
    let mut next = Some(format!("/v2/crawl/{id}"));
    while let Some(path) = next {
        let page = app.get(&path).await.json();
        stored.extend(page["data"].as_array().unwrap().clone());
        next = page["next"].as_str().map(path_of);
    }
    assert!(
        documents == stored,
        "the socket sends the documents of the status in the same order"
    );

    let mut socket = open(&app, address, &id).await;
    let catchup = text(&mut socket).await;
    let mut documents: Vec<Value> = catchup["data"]["data"].as_array().unwrap().clone();
    assert_eq!(
        (&catchup["data"]["status"], catchup["data"].get("completedAt")),
        (&json!("scraping"), None),
        "clients stop at a final status"
    );
    while documents.len() < stored.len() {
        documents.push(document(&mut socket).await);
    }
    assert!(
        documents == stored,
        "the socket of an ended job sends every document before its end"
    );
    assert_eq!(text(&mut socket).await["type"], "done");
}

#[tokio::test]
async fn a_client_is_read_while_documents_are_sent() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    // 15 MiB, more than the buffers of a connection hold.
    let body = json!({ "url": site.url("/big"), "limit": 6, "sitemap": "skip", "crawlEntireDomain": true,
        "scrapeOptions": { "formats": ["rawHtml"] } });
    let id = start(&app, body).await;
    wait_until(&app, &id, |status| status["status"] == "completed").await;
    let is_done = |message: &Message| {
        message
            .to_text()
            .is_ok_and(|text| text.starts_with(r#"{"type":"done""#))
    };

    let mut socket = open(&app, address, &id).await;
    socket.send(Message::Ping("here".into())).await.unwrap();
    let mut messages = Vec::new();
    while !messages.last().is_some_and(is_done) {
        messages.push(message(&mut socket).await);
    }
    assert!(messages.contains(&Message::Pong("here".into())));

    let mut socket = open(&app, address, &id).await;
    socket.close(None).await.unwrap();
    while let Some(Ok(message)) = socket.next().await {
        assert!(!is_done(&message), "the server goes on sending");
    }
}

#[tokio::test]
async fn the_catchup_equals_the_status_and_a_failed_crawl_sends_an_error() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    for (path, last) in [("/", "done"), ("/loop", "error")] {
        let id = start(&app, json!({ "url": site.url(path), "sitemap": "skip" })).await;
        let status = wait_until(&app, &id, |status| status["status"] != "scraping").await;
        let (mut socket, chosen) =
            connect(address, &id, ("authorization", format!("Bearer {}", app.key))).await;
        assert_eq!(chosen, None, "no subprotocol was offered");
        let mut catchup = text(&mut socket).await;
        let base = format!("http://{address}");
        assert!(!catchup.to_string().contains(&base), "a finished job has no next");
        assert_eq!(catchup["data"].take(), status);
        assert_eq!(catchup, json!({ "type": "catchup", "data": null }));
        let end = text(&mut socket).await;
        match last {
            "done" => assert_eq!(
                (&end["type"], &end["data"]["success"], &end["data"]["data"]),
                (&json!("done"), &json!(true), &json!([]))
            ),
            _ => assert_eq!(end, json!({ "type": "error", "error": status["error"] })),
        }
        assert_eq!(close_frame(&mut socket).await, (1000, String::new()));
    }
}

#[tokio::test]
async fn a_job_of_another_team_closes_with_1008_and_a_store_error_with_1011() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let id = start(&app, json!({ "url": site.url("/"), "limit": 1 })).await;
    let stranger = app.other_key("strangers").await;
    let (mut socket, chosen) = connect(address, &id, ("sec-websocket-protocol", stranger.clone())).await;
    assert_eq!(chosen, Some(stranger));
    assert_eq!(close_frame(&mut socket).await.0, 1008);
    app.app.store().close().await.unwrap();
    let mut socket = open(&app, address, &id).await;
    assert_eq!(close_frame(&mut socket).await.0, 1011);
}

#[tokio::test]
async fn an_idle_socket_gets_pings() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(1).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let body = json!({ "url": site.url("/"), "limit": 2, "sitemap": "skip" });
    let id = start(&app, body).await;
    wait_until(&app, &id, |status| status["completed"] == 1).await;
    let mut socket = open(&app, address, &id).await;
    assert_eq!(text(&mut socket).await["type"], "catchup");
    let next = tokio::time::timeout(Duration::from_secs(60), socket.next()).await;
    assert!(matches!(next, Ok(Some(Ok(Message::Ping(_))))), "{next:?}");
    site.release(1);
    assert_eq!(text(&mut socket).await["type"], "document");
}

#[tokio::test]
async fn a_revoked_key_closes_the_socket() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(2).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let body = json!({ "url": site.url("/"), "limit": 3, "sitemap": "skip" });
    let id = start(&app, body).await;
    wait_until(&app, &id, |status| status["completed"] == 1).await;
    let created = app
        .post("/console/api/keys", &json!({ "name": "watcher" }))
        .await
        .json();
    let key = format!("Bearer {}", created["key"].as_str().unwrap());
    let (mut socket, _) = connect(address, &id, ("authorization", key)).await;
    assert_eq!(text(&mut socket).await["type"], "catchup");
    site.release(1);
    document(&mut socket).await;
    let path = format!("/console/api/keys/{}", created["id"].as_str().unwrap());
    assert_eq!(app.delete(&path).await.status, 200);
    site.release(1);
    let (code, reason) = close_frame(&mut socket).await;
    assert_eq!(code, 3000, "{reason}");
}

#[tokio::test]
async fn a_socket_counts_towards_the_rate_limit() {
    let app = TestApp::with(&[ALLOW[0], ("HARVESTMAN_RATE_LIMIT", "2")]).await;
    let site = Site::blocked(1).await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let id = start(&app, json!({ "url": site.url("/page/1"), "limit": 1 })).await;
    let mut first = open(&app, address, &id).await;
    assert_eq!(text(&mut first).await["type"], "catchup");
    let mut second = open(&app, address, &id).await;
    let (code, reason) = close_frame(&mut second).await;
    assert_eq!(code, 1008);
    assert!(reason.contains("2 requests per minute"), "{reason}");
}
