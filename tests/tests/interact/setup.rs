//! Setup of the session tests: a server with a browser, a site, and helpers for requests.

use std::time::{Duration, Instant};

use harvestman_tests::{HttpResponse, Page, RunningSite, Site, TestServer, assert_fields, tools};
use http::Method;
use serde_json::{Value, json};

/// Time limit for waits.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

const FORM: &str = "<!doctype html><title>Form</title>
    <form onsubmit=\"event.preventDefault(); document.querySelector('output').textContent =
        'Hello ' + document.querySelector('input').value\">
    <input name=name><button>Send</button><output></output></form>
    <p>A form that greets the person who sends it.</p>";
/// Page that shows the visitor's cookie and storage, and stores the name in its query.
const KNOWN: &str = "<!doctype html><title>Known</title><main><h1>Known</h1><p id=known></p></main><script>
    const name = new URLSearchParams(location.search).get('name');
    document.getElementById('known').textContent =
        'Cookie ' + (document.cookie || 'none') + ', storage ' + (localStorage.name || 'none');
    if (name) { document.cookie = 'name=' + name + ';max-age=3600'; localStorage.name = name; }
</script>";

pub(crate) async fn site() -> RunningSite {
    Site::new()
        .page("/", Page::links("Start", &["/second"]))
        .page("/second", Page::links("Second", &["/"]))
        .page("/form", Page::html(FORM))
        .page("/known", Page::html(KNOWN))
        .page("/known?name=Ada", Page::html(KNOWN))
        .page("/known?name=Bob", Page::html(KNOWN))
        .serve()
        .await
}

pub(crate) async fn server(settings: &[(&str, &str)]) -> TestServer {
    let mut all = vec![tools::chromium(), ("HARVESTMAN_MAX_SESSIONS", "4")];
    all.extend(settings);
    TestServer::start_with(&all).await
}

pub(crate) fn bash(code: &str) -> Value {
    json!({ "code": code, "language": "bash" })
}

pub(crate) fn interact(scrape: &str) -> String {
    format!("/v2/scrape/{scrape}/interact")
}

/// Runs browser commands and returns their output.
pub(crate) async fn run(server: &TestServer, path: &str, code: &str) -> String {
    let response = server.post(path, &bash(code)).await.ok();
    assert_fields(&response, json!({ "success": true, "exitCode": 0 }));
    response["stdout"].as_str().unwrap().trim().to_owned()
}

/// Sends a request with the key of the team `other`.
pub(crate) async fn as_other(
    server: &TestServer,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> HttpResponse {
    let body = body.map(Value::to_string).unwrap_or_default();
    server.send_as_other(method, path, body).await
}

/// Opens a browser session and returns its id.
pub(crate) async fn open(server: &TestServer, request: Value) -> String {
    let response = server.post("/v2/browser", &request).await.ok();
    assert_eq!(response["success"], true);
    response["id"].as_str().unwrap().to_owned()
}

pub(crate) fn execute(id: &str) -> String {
    format!("/v2/browser/{id}/execute")
}

pub(crate) async fn delete(server: &TestServer, id: &str) -> HttpResponse {
    server.delete(&format!("/v2/browser/{id}")).await
}

/// Returns the sessions of the team `test`.
pub(crate) async fn sessions(server: &TestServer, query: &str) -> Vec<Value> {
    let mut response = server.get(&format!("/v2/browser{query}")).await.ok();
    assert_eq!(response["success"], true);
    std::mem::take(response["sessions"].as_array_mut().unwrap())
}

/// Waits until a session has ended.
pub(crate) async fn wait_for_end(server: &TestServer, id: &str) {
    let has_ended = |response: &Value| {
        let active = response["sessions"].as_array().unwrap();
        active.iter().all(|session| session["id"] != id)
    };
    server.wait_until("/v2/browser?status=active", has_ended).await;
}

/// Returns all direct and indirect child processes of a process.
pub(crate) fn descendants(of: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // `pid (name) state parent ...`; the name may contain anything.
            let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found.split_off(1)
}

/// Waits until none of these processes is running.
pub(crate) async fn wait_until_gone(pids: &[u32]) {
    let since = Instant::now();
    let runs = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while pids.iter().any(runs) {
        assert!(since.elapsed() < TIMEOUT, "processes are still running: {pids:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
