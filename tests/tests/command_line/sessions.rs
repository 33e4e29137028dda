//! Live browsers of a server, from the command line.

use harvestman_tests::{Page, Site, TestServer, tools};
use serde_json::{Value, json};

use crate::{lines, run};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_opened_used_extended_and_closed() {
    let form = "<!doctype html><title>Form</title><p>A form that takes files of any kind, one at a time.</p>
        <input type=file onchange=\"document.title = this.files[0].name\"><a href=/save download>Save</a>";
    let site = Site::new()
        .page("/", Page::html(form))
        .page("/save", Page::new("text/csv", "name,legs\n"))
        .serve()
        .await;
    let server = TestServer::start_with(&[tools::chromium()]).await;
    let file = server.data_dir().join("legs.csv");
    std::fs::write(&file, "name,legs\nspider,8\n").unwrap();

    let (id, stderr) = run(&server, &["browser", "open", "--ttl", "120"], 0).await;
    let id = id.trim();
    assert!(id.len() == 36 && stderr.is_empty(), "{id} {stderr}");
    let (path, stderr) = run(&server, &["browser", "upload", id, file.to_str().unwrap()], 0).await;
    assert!(
        path.trim().ends_with("legs.csv") && stderr.is_empty(),
        "{path}{stderr}"
    );
    let url = site.url("/");
    let work = [
        "open", &url, "&&", "upload", "input", "legs.csv", "&&", "click", "a", "&&", "get", "title",
    ];
    let (text, stderr) = run(&server, &[&["browser", "execute", id][..], &work].concat(), 0).await;
    assert!(text.contains("legs.csv") && stderr.is_empty(), "{text}{stderr}");
    let (text, stderr) = run(&server, &["browser", "execute", id, "click", "#nothing"], 1).await;
    assert!(text.is_empty() && !stderr.is_empty(), "{text}{stderr}");
    let (text, _) = run(&server, &["browser", "list", "--status", "active"], 0).await;
    assert_eq!((lines(&text).len(), &lines(&text)[0]["id"]), (1, &json!(id)));
    let (text, stderr) = run(&server, &["browser", "extend", id, "--ttl", "300"], 0).await;
    assert!(text.trim().ends_with('Z') && stderr.is_empty(), "{text}{stderr}");
    let (text, stderr) = run(&server, &["browser", "files", id], 0).await;
    let names: Vec<Value> = lines(&text).iter().map(|file| file["name"].clone()).collect();
    assert_eq!(
        (names, stderr.as_str()),
        (vec![json!("legs.csv"), json!("save.csv")], "")
    );
    let (text, _) = run(&server, &["browser", "close", id], 0).await;
    assert!(!text.contains("error"), "{text}");
    let (text, stderr) = run(&server, &["browser", "execute", id, "get", "title"], 1).await;
    assert!(text.is_empty() && !stderr.is_empty(), "{text}{stderr}");

    let (text, _) = run(&server, &["scrape", &url, "--json"], 0).await;
    let scrape = lines(&text)[0]["data"]["metadata"]["scrapeId"]
        .as_str()
        .unwrap()
        .to_owned();
    let code = ["interact", &scrape, "--language", "bash", "--code", "get title"];
    let (text, stderr) = run(&server, &code, 0).await;
    assert!(text.contains("Form") && stderr.is_empty(), "{text}{stderr}");
    let (_, stderr) = run(&server, &["interact", &scrape, "--stop"], 0).await;
    assert!(!stderr.contains("error"), "{stderr}");
}
