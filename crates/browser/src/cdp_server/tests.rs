//! Clients of a real browser, through the endpoint that a session's code uses.

mod client;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use super::*;
use client::Client;

use crate::process::{Process, Purpose, find_chromium};

const TOKEN: &str = "f00d";

struct TestServer {
    process: Process,
    multiplexer: Multiplexer,
    server: CdpServer,
    command_count: Arc<AtomicU32>,
}

impl TestServer {
    async fn start(name: &str) -> TestServer {
        let program = std::env::var_os("HARVESTMAN_CHROMIUM")
            .map(PathBuf::from)
            .or_else(find_chromium);
        let folder = std::env::temp_dir().join(format!("harvestman-cdp-{}", std::process::id()));
        // Nothing listens there; the tests make no requests.
        let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        let process = Process::start(&program.unwrap(), proxy, &folder, name, Purpose::Session)
            .await
            .unwrap();
        let command_count = Arc::<AtomicU32>::default();
        let counter = command_count.clone();
        let multiplexer = Multiplexer::new(process.connection.clone(), None, move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let server = CdpServer::start(listener, multiplexer.clone(), TOKEN).unwrap();
        TestServer {
            process,
            multiplexer,
            server,
            command_count,
        }
    }

    fn host(&self) -> &str {
        let rest = self.server.url().strip_prefix("ws://").unwrap();
        rest.split('/').next().unwrap()
    }

    async fn client(&self) -> Client {
        Client::connect(self.server.url()).await
    }

    async fn get(&self, path: &str, headers: &str) -> (u16, String) {
        client::get(self.host(), path, headers).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_concurrent_clients_see_only_their_own_messages() {
    let test_server = TestServer::start("two").await;
    let (mut one, mut two) = (test_server.client().await, test_server.client().await);
    let (_, first) = one.open_page("one").await;
    let (target, second) = two.open_page("two").await;
    assert!(test_server.command_count.load(Ordering::Relaxed) > 0);

    // Both clients use the same ids at the same time, and each gets its own responses.
    for (client, session, title) in [(&mut one, &first, "one"), (&mut two, &second, "two")] {
        assert_eq!(client.value(Some(session), "document.title").await, title);
    }
    // Events reach only the owner of the session.
    for (client, session) in [(&mut one, &first), (&mut two, &second)] {
        client.result(Some(session), "Runtime.enable", json!({})).await;
        client.value(Some(session), "console.log('a word'), 1").await;
    }
    one.value(Some(&first), "1").await;
    two.value(Some(&second), "1").await;
    for (client, session) in [(&one, &first), (&two, &second)] {
        let said = client
            .events
            .iter()
            .filter(|event| event["method"] == "Runtime.consoleAPICalled");
        let sessions: Vec<&str> = said.map(|event| event["sessionId"].as_str().unwrap()).collect();
        assert_eq!(sessions, [session]);
    }
    // Sessions of other clients and of the server do not exist for a client.
    let (_ours, _events) = test_server.process.connection.attach(&target).await.unwrap();
    let message = one
        .refusal(Some(&second), "Runtime.evaluate", json!({"expression": "1"}))
        .await;
    assert_eq!(message, "Session with given id not found.");
    // Closing a client detaches its own sessions only.
    drop(two);
    assert_eq!(one.value(Some(&first), "document.title").await, "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_one_page_needs_no_session_id() {
    let test_server = TestServer::start("page").await;
    let mut browser_client = test_server.client().await;
    let (target, _) = browser_client.open_page("the page").await;
    let (status, list) = test_server.get(&format!("/{TOKEN}/json/list"), "").await;
    assert_eq!(status, 200);
    let list: Vec<Value> = serde_json::from_str(&list).unwrap();
    let page_info = list.iter().find(|page| page["id"] == target.as_str()).unwrap();
    assert_eq!(page_info["type"], "page");

    let mut page = Client::connect(page_info["webSocketDebuggerUrl"].as_str().unwrap()).await;
    assert_eq!(page.value(None, "document.title").await, "the page");
    page.result(None, "Page.enable", json!({})).await;
    page.result(None, "Page.reload", json!({})).await;
    while !page
        .events
        .iter()
        .any(|event| event["method"] == "Page.loadEventFired")
    {
        let event = page.next().await;
        assert!(event["sessionId"].is_null(), "{event}");
        page.events.push(event);
    }
    // The client ends with its page.
    browser_client
        .result(None, "Target.closeTarget", json!({"targetId": target}))
        .await;
    page.until_closed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_the_token_or_from_pages_are_rejected() {
    let test_server = TestServer::start("token").await;
    for path in [
        "/", "/json/version", "/devtools/browser/x", "/f00", "/f00dx", "/f00d/json/new", "/f00d/x",
    ] {
        assert_eq!(test_server.get(path, "").await.0, 404, "{path}");
    }
    assert_eq!(
        test_server
            .get("/f00d/json/version", "Origin: http://a.test\r\n")
            .await
            .0,
        403
    );
    assert_eq!(test_server.get("/f00d", "").await.0, 426);
    let (status, version) = test_server.get("/f00d/json/version/", "").await;
    let version: Value = serde_json::from_str(&version).unwrap();
    assert_eq!(status, 200);
    assert_eq!(version["webSocketDebuggerUrl"], test_server.server.url());
    assert!(
        version["Browser"].as_str().unwrap().contains("Chrome/"),
        "{version}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_cannot_leave_its_session_or_end_the_browser() {
    let test_server = TestServer::start("reach").await;
    let mut client = test_server.client().await;
    let (_, session) = client.open_page("mine").await;
    for (method, params) in [
        ("Page.navigate", json!({"url": "file:///etc/passwd"})),
        ("Page.navigate", json!({"url": "chrome://version"})),
        ("Page.navigate", json!({"url": "view-source:file:///etc/passwd"})),
        (
            "DOM.setFileInputFiles",
            json!({"files": ["/etc/passwd"], "backendNodeId": 1}),
        ),
        ("Page.crash", json!({})),
        ("Tracing.start", json!({})),
    ] {
        client.refusal(Some(&session), method, params).await;
    }
    for (method, params) in [
        ("Target.createTarget", json!({"url": "file:///etc/passwd"})),
        ("Target.createBrowserContext", json!({"proxyServer": "direct://"})),
        (
            "Target.sendMessageToTarget",
            json!({"sessionId": session, "message": "{}"}),
        ),
        ("Target.exposeDevToolsProtocol", json!({"targetId": "x"})),
        ("SystemInfo.getInfo", json!({})),
        ("Tethering.bind", json!({"port": 1})),
    ] {
        client.refusal(None, method, params).await;
    }
    let download_folder = std::env::temp_dir().join("harvestman-no-downloads");
    let params = json!({"behavior": "allow", "downloadPath": download_folder});
    client.result(None, "Browser.setDownloadBehavior", params).await;
    client.result(None, "Browser.close", json!({})).await;
    client.result(None, "Browser.crash", json!({})).await;
    for wrong in [
        "not JSON",
        r#"{"id": "1", "method": "Browser.getVersion"}"#,
        r#"{"id": 1, "method": "Browser.getVersion", "method": "SystemInfo.getInfo"}"#,
        "{\"id\": 1, \"method\": \"Browser.getVersion\", \"params\": {\"x\": \"\0{}\"}}",
        "{\"id\": 1, \"method\": \"Browser.getVersion\"}\0{\"id\": 2, \"method\": \"SystemInfo.getInfo\"}",
    ] {
        client.socket.send(Message::text(wrong)).await.unwrap();
        assert_eq!(client.next().await["error"]["code"], NOT_JSON, "{wrong}");
    }
    assert_eq!(client.value(Some(&session), "document.title").await, "mine");
    assert!(!download_folder.exists());
}

/// The protocol's error code for an invalid message.
const NOT_JSON: i32 = -32_700;

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_clients_is_limited() {
    let test_server = TestServer::start("many").await;
    let mut clients = Vec::new();
    for _ in 0..limits::MAX_CLIENTS {
        clients.push(test_server.multiplexer.client(None).await.unwrap());
    }
    assert!(test_server.multiplexer.client(None).await.is_err());
    clients.pop();
    assert!(test_server.multiplexer.client(None).await.is_ok());
    // The previous client was released at once.
    assert!(test_server.multiplexer.client(None).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_end_with_the_browser() {
    let test_server = TestServer::start("end").await;
    let mut client = test_server.client().await;
    client.result(None, "Browser.getVersion", json!({})).await;
    drop(test_server.process);
    client.until_closed().await;
}
