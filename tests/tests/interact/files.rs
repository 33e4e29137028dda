//! Files of sessions: what pages download, and what clients give to a session, for pages and for code.

use bytes::Bytes;
use harvestman_tests::server::KEY;
use harvestman_tests::{
    HostileSite, HttpResponse, Page, RunningSite, Site, TestServer, assert_contains, assert_fields, tools,
};
use http::Method;
use serde_json::{Value, json};

use crate::interact::setup::{as_other, delete, execute, open, run, server};

const DESK: &str = "<!doctype html><title>Desk</title>
    <a id=report href=/report.csv download>Report</a> <a id=huge href=/huge.bin download>Huge</a>
    <button id=made onclick=\"const link = document.createElement('a');
        link.href = window.URL.createObjectURL(new Blob(['made of herons'])); link.download = 'made.txt';
        link.click()\">Make</button>
    <input id=cv type=file multiple onchange=\"(async () => { document.querySelector('output').textContent =
        (await Promise.all([...this.files].map(async (file) => file.name + '=' + await file.text()))).join(' ') })()\">
    <input id=one type=file><output></output>";

async fn desk() -> RunningSite {
    Site::new()
        .page("/", Page::html(DESK))
        .page("/report.csv", Page::new("text/csv", "bird,count\nheron,3\n"))
        .page(
            "/huge.bin",
            Page::new("application/octet-stream", vec![7; 3 << 20]),
        )
        .serve()
        .await
}

/// Starts a server whose sessions take files of 1 MiB, and 2 MiB together.
async fn small_server() -> TestServer {
    let python = tools::path("HARVESTMAN_TEST_PYTHON");
    server(&[
        ("HARVESTMAN_PYTHON", python.to_str().unwrap()),
        ("HARVESTMAN_SESSION_FILE_MIB", "1"),
        ("HARVESTMAN_SESSION_FILES_MIB", "2"),
    ])
    .await
}

fn files_path(id: &str) -> String {
    format!("/v2/browser/{id}/files")
}

async fn files(server: &TestServer, id: &str) -> Vec<Value> {
    let mut response = server.get(&files_path(id)).await.ok();
    std::mem::take(response["files"].as_array_mut().unwrap())
}

/// Waits until the session has this number of files.
async fn wait_for_files(server: &TestServer, id: &str, number: usize) -> Vec<Value> {
    let has_all = |response: &Value| response["files"].as_array().unwrap().len() == number;
    server.wait_until(&files_path(id), has_all).await;
    files(server, id).await
}

async fn upload(server: &TestServer, id: &str, name: &str, bytes: &[u8]) -> HttpResponse {
    let head = format!("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    let body = [head.as_bytes(), bytes, b"\r\n--x--\r\n"].concat();
    let key = format!("Bearer {KEY}");
    let headers = [
        ("authorization", key.as_str()),
        ("content-type", "multipart/form-data; boundary=x"),
    ];
    server.send(Method::POST, &files_path(id), &headers, body).await
}

/// Runs code and returns the whole response.
async fn code(server: &TestServer, id: &str, language: &str, code: &str) -> Value {
    let body = json!({"code": code, "language": language});
    let response = server.post(&execute(id), &body).await.ok();
    assert_eq!(response["success"], true, "{response}");
    response
}

/// Fetches a URL of this server without a key.
async fn fetch(server: &TestServer, url: &Value) -> HttpResponse {
    let url = url.as_str().unwrap();
    let path = &url[url.find("/files/").unwrap()..];
    server.send(Method::GET, path, &[], Bytes::new()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_are_kept_with_the_session() {
    let (server, site) = (small_server().await, desk().await);
    let id = open(&server, json!({})).await;
    run(
        &server,
        &execute(&id),
        &format!("open {}\nclick #report", site.url("/")),
    )
    .await;
    let report = wait_for_files(&server, &id, 1).await.remove(0);
    assert_fields(
        &report,
        json!({ "origin": "download", "name": "report.csv", "contentType": "text/csv", "sizeBytes": 19 }),
    );
    assert_eq!(report["sourceUrl"], site.url("/report.csv"));
    let content = fetch(&server, &report["url"]).await;
    assert_eq!(content.text(), "bird,count\nheron,3\n");

    // Code finds the content where its driver says that it is.
    let node = "const [file] = await Promise.all([page.waitForEvent('download'), page.click('#made')]);
        file.suggestedFilename() + ': ' + require('fs').readFileSync(await file.path(), 'utf8')";
    let ran = code(&server, &id, "node", node).await;
    assert_eq!(ran["result"], "made.txt: made of herons");
    assert_eq!(ran["files"].as_array().unwrap().len(), 2, "{ran}");
    let python = "async with page.expect_download() as made:
    await page.click('#made')
file = await made.value
await file.save_as('/tmp/copy.txt')
open('/tmp/copy.txt').read()";
    let ran = code(&server, &id, "python", python).await;
    assert_eq!(ran["result"], "made of herons");

    // Too large: cancelled, and the list says why.
    run(&server, &execute(&id), "click #huge").await;
    let huge = wait_for_files(&server, &id, 4).await.remove(3);
    assert_fields(&huge, json!({ "name": "huge.bin", "url": null }));
    assert_contains(&huge, "/error", "larger than 1 MiB");
    // The browser goes on.
    code(&server, &id, "node", node).await;

    as_other(&server, Method::GET, &files_path(&id), None)
        .await
        .is_error(403, "FORBIDDEN");
    // The list and the content outlive the browser.
    delete(&server, &id).await.ok();
    assert_eq!(files(&server, &id).await.len(), 5);
    assert_eq!(
        fetch(&server, &report["url"]).await.text(),
        "bird,count\nheron,3\n"
    );
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_of_ten_gigabytes_is_cancelled() {
    let (server, site) = (small_server().await, HostileSite::serve().await);
    let id = open(&server, json!({})).await;
    let code_of = |path: &str| json!({"language": "bash", "code": format!("open {}", site.url(path))});
    server
        .post(&execute(&id), &code_of("/ten-gigabytes.bin"))
        .await
        .ok();
    let file = wait_for_files(&server, &id, 1).await.remove(0);
    assert_fields(&file, json!({ "name": "ten-gigabytes.bin", "url": null }));
    assert_contains(&file, "/error", "larger than 1 MiB");
    assert_eq!(code(&server, &id, "node", "1 + 1").await["result"], "2");
    let memory = server.peak_memory_bytes() >> 20;
    assert!(memory < 400, "{memory} MiB");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_are_used_by_commands_and_code() {
    let (server, site) = (small_server().await, desk().await);
    let id = open(&server, json!({})).await;
    let added = upload(&server, &id, "cv.txt", b"waders").await.ok();
    let file = &added["file"];
    assert_fields(
        file,
        json!({ "origin": "upload", "name": "cv.txt", "sizeBytes": 6 }),
    );
    assert_eq!(fetch(&server, &file["url"]).await.text(), "waders");
    let path = file["path"].as_str().unwrap();

    let named = json!({"filename": "note.md", "contentType": "text/markdown"});
    let reserved = server.post("/v2/parse/upload-url", &named).await.ok();
    let url = reserved["data"]["uploadUrl"].as_str().unwrap();
    let sent = server
        .send(Method::PUT, &url[url.find("/v2/").unwrap()..], &[], "# Storks")
        .await;
    sent.ok();
    let by_reference = json!({"uploadRef": reserved["data"]["uploadRef"]});
    let added = server.post(&files_path(&id), &by_reference).await.ok();
    assert_eq!(added["file"]["contentType"], "text/markdown");
    server
        .post(&files_path(&id), &by_reference)
        .await
        .is_error(404, "NOT_FOUND");

    let script = format!(
        "open {}\nupload #cv cv.txt note.md\nget text output",
        site.url("/")
    );
    let shown = run(&server, &execute(&id), &script).await;
    assert!(shown.ends_with("cv.txt=waders note.md=# Storks"), "{shown}");
    let ran = server
        .post(
            &execute(&id),
            &json!({"language": "bash", "code": "upload #one cv.txt note.md"}),
        )
        .await
        .ok();
    assert_contains(&ran, "/stderr", "takes one file");
    let ran = server
        .post(
            &execute(&id),
            &json!({"language": "bash", "code": "upload #one no.txt"}),
        )
        .await
        .ok();
    assert_contains(&ran, "/stderr", "no file `no.txt`");

    // Code reads its own copy, also one that arrives later.
    let shown = "const output = page.locator('output:has-text(\"=\")'); await output.textContent()";
    for (language, set) in [
        ("node", format!("await page.setInputFiles('#cv', '{path}')")),
        ("python", format!("await page.set_input_files('#cv', '{path}')")),
    ] {
        code(&server, &id, language, "await page.reload()").await;
        code(&server, &id, language, &set).await;
        let ran = code(&server, &id, "node", shown).await;
        assert_eq!(ran["result"], "cv.txt=waders", "{language}");
    }
    upload(&server, &id, "later.txt", b"later").await.ok();
    let read = code(&server, &id, "python", "open('/tmp/files/later.txt').read()").await;
    assert_eq!(read["result"], "later");

    // Limits: of one file, of the session, and of names.
    for (name, bytes, words) in [
        ("large.bin", 2 << 20, "larger than 1 MiB"),
        ("cv.txt", 1, "already has a file `cv.txt`"),
    ] {
        let refused = upload(&server, &id, name, &vec![b'x'; bytes]).await;
        refused.is_error(409, "CONFLICT");
        assert!(refused.error().contains(words), "{}", refused.error());
    }
    upload(&server, &id, "half.bin", &vec![b'x'; 1 << 20]).await.ok();
    let refused = upload(&server, &id, "half2.bin", &vec![b'x'; 1 << 20]).await;
    assert!(refused.error().contains("exceed 2 MiB"), "{}", refused.error());
    assert_eq!(files(&server, &id).await.len(), 4);

    as_other(&server, Method::POST, &files_path(&id), Some(&by_reference))
        .await
        .is_error(403, "FORBIDDEN");
    delete(&server, &id).await.ok();
    upload(&server, &id, "late.txt", b"x")
        .await
        .is_error(410, "SESSION_DESTROYED");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_extended() {
    let server = server(&[]).await;
    let created = server.post("/v2/browser", &json!({"ttl": 30})).await.ok();
    let id = created["id"].as_str().unwrap();
    let path = format!("/v2/browser/{id}/extend");
    let extended = server.post(&path, &json!({"ttl": 600})).await.ok();
    let (before, after) = (&created["expiresAt"], &extended["expiresAt"]);
    assert!(before.as_str() < after.as_str(), "{before} {after}");
    // Never shortened.
    let again = server.post(&path, &json!({"ttl": 30})).await.ok();
    assert_eq!(&again["expiresAt"], after);
    server
        .post(&path, &json!({"ttl": 3601}))
        .await
        .is_error(400, "BAD_REQUEST");
    as_other(&server, Method::POST, &path, Some(&json!({})))
        .await
        .is_error(403, "FORBIDDEN");
    delete(&server, id).await.ok();
    server
        .post(&path, &json!({}))
        .await
        .is_error(410, "SESSION_DESTROYED");
}
