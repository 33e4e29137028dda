//! Existing client libraries, unmodified, with the real server.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use harvestman_tests::files::{Pdf, line};
use harvestman_tests::receiver::{Delivery, Reply};
use harvestman_tests::server::KEY;
use harvestman_tests::{DocsSite, Model, ModelReply, ModelRequest, Page, Receiver, Site, TestServer, tools};
use serde_json::json;

const PAGES: usize = 24;
/// More pages than two status responses of 10 MiB hold.
const LARGE_PAGES: usize = 12;
const LARGE_BYTES: usize = 2 << 20;
const SECRET: &str = "between us";
/// Delay of a page that never responds during a test.
const NEVER: Duration = Duration::from_secs(600);

/// Runs a client script with a new server, a site of [`PAGES`] pages, and a site of a few large pages.
async fn run(client: Command, done: &str) {
    run_counted(client, done).await;
}

/// Does the same, and returns how often the page that the script compares with its last version was fetched.
async fn run_counted(mut client: Command, done: &str) -> usize {
    let server = TestServer::start().await;
    let tracked = Page::links("Tracked", &[]);
    let banner = Page::html(
        "<title>Herons</title><p>Ask ada@example.org about herons.</p>\
         <div id=onetrust-banner-sdk>We use cookies</div>",
    );
    let site = DocsSite::new(PAGES)
        .build()
        .page("/tracked", tracked)
        .page("/banner", banner)
        .serve()
        .await;
    let large = large_site().serve().await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &site.url("/"), &PAGES.to_string()])
        .args([large.url("/"), LARGE_PAGES.to_string()]);
    tools::run(client, done, &server).await;
    site.count("/tracked")
}

/// Runs a client script for batches, with a receiver that rejects the first delivery of each event.
async fn run_batches(mut client: Command, done: &str) {
    let settings = [
        ("HARVESTMAN_WEBHOOK_SECRET", SECRET),
        ("HARVESTMAN_WEBHOOK_RETRY_SECONDS", "1,1,1"),
    ];
    let server = TestServer::start_with(&settings).await;
    let docs = DocsSite::new(PAGES);
    let never = Page::html("late").delay(NEVER);
    let site = docs.build().page("/never", never).serve().await;
    let large = large_site().serve().await;
    let receiver =
        Receiver::replying(|delivery| Reply::Status(if delivery.attempt == 1 { 503 } else { 204 })).await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &receiver.url(), &site.url("/never")]);
    client.arg(
        docs.paths()
            .iter()
            .map(|path| site.url(path))
            .collect::<Vec<_>>()
            .join(" "),
    );
    client.arg(
        (0..LARGE_PAGES)
            .map(|page| large.url(&large_path(page)))
            .collect::<Vec<_>>()
            .join(" "),
    );
    tools::run(client, done, &server).await;

    // Each event of the crawl and the batch is delivered twice with the same id, since the first delivery is rejected.
    let ended = |delivery: &Delivery| delivery.event().ends_with(".completed") && delivery.attempt == 2;
    let deliveries = receiver
        .wait_until(|all| all.iter().filter(|one| ended(one)).count() == 2)
        .await;
    let mut events: BTreeMap<&str, Vec<&Delivery>> = BTreeMap::new();
    for delivery in &deliveries {
        assert!(delivery.is_signed("x-service-signature", SECRET), "{delivery:?}");
        assert_eq!(delivery.json["metadata"]["from"], "client", "{delivery:?}");
        events.entry(delivery.webhook_id()).or_default().push(delivery);
    }
    assert!(
        events
            .values()
            .all(|tries| tries.len() == 2 && tries[0].body == tries[1].body)
    );
    let mut names: Vec<&str> = events.values().map(|tries| tries[0].event()).collect();
    names.sort_unstable();
    let expected = [
        "batch_scrape.completed", "batch_scrape.page", "batch_scrape.page", "batch_scrape.page",
        "batch_scrape.started", "crawl.completed", "crawl.page", "crawl.page", "crawl.started",
    ];
    assert_eq!(names, expected);
}

/// Runs a client script that uploads a file.
async fn run_files(mut client: Command, done: &str) {
    let server = TestServer::start().await;
    let pdf = Pdf {
        pages: (1..=3)
            .map(|number| line(12, 700, &format!("Page {number}")))
            .collect(),
        ..Pdf::default()
    };
    let path = server.data_dir().join("of-three-pages.pdf");
    std::fs::write(&path, pdf.bytes()).unwrap();
    client
        .arg(format!("http://{}", server.address()))
        .arg(KEY)
        .arg(path);
    tools::run(client, done, &server).await;
}

/// Runs a client script for searches.
async fn run_search(mut client: Command, done: &str) {
    let server = TestServer::start().await;
    let site = DocsSite::new(PAGES).build().serve().await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &site.url("/")]);
    tools::run(client, done, &server).await;
}

/// Runs a client script for browser sessions.
async fn run_sessions(mut client: Command, done: &str) {
    let form = "<!doctype html><title>Form</title><input><button
        onclick=\"document.querySelector('output').textContent = 'Hello ' + document.querySelector('input').value\"
        >Send</button><output></output><p>A form that greets the person who sends it.</p>";
    let site = Site::new().page("/form", Page::html(form)).serve().await;
    let python = tools::path("HARVESTMAN_TEST_PYTHON");
    let python = ("HARVESTMAN_PYTHON", python.to_str().unwrap());
    let server = TestServer::start_with(&[tools::chromium(), python]).await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &site.url("/form")]);
    tools::run(client, done, &server).await;
}

/// Runs a client script for reports, with an unused key.
async fn run_usage(mut client: Command, done: &str) {
    let server = TestServer::start_with(&[
        ("HARVESTMAN_API_KEYS", "fc-reports=reports:Reports"),
        ("HARVESTMAN_CREDIT_BUDGET", "1000"),
        ("HARVESTMAN_MAX_CONCURRENCY", "3"),
    ])
    .await;
    let never = (0..6).fold(DocsSite::new(PAGES).build(), |site, number| {
        site.page(&format!("/never?{number}"), Page::html("late").delay(NEVER))
    });
    let site = never.serve().await;
    client.arg(format!("http://{}", server.address())).args([
        "fc-reports",
        "Reports",
        "1000",
        &site.url("/"),
        &site.url("/never"),
    ]);
    tools::run(client, done, &server).await;
}

/// Runs a client script for extracts and agents, with a model that knows two products.
async fn run_extract(mut client: Command, done: &str) {
    let product = |name: &str| {
        Page::html(format!(
            "<title>{name}</title><h1>{name}</h1><p>This is a {name}.</p>"
        ))
    };
    let site = Site::new()
        .page("/cup", product("Cup"))
        .page("/pot", product("Pot"));
    let site = site.serve().await;
    let cup = site.url("/cup");
    let model = Model::start(move |request: &ModelRequest| {
        let (task, last) = (request.texts()[1], request.last());
        match request.json.get("tools") {
            Some(_) if task.contains("wait") => ModelReply::Silence,
            Some(_) if last.contains("This is a Cup") => {
                ModelReply::call("done", json!({ "result": { "name": "Cup", "price": 9.5 } }))
            }
            Some(_) => ModelReply::call("scrape", json!({ "url": cup })),
            None if task.contains("Summarize") => ModelReply::Text("A product."),
            None if task.contains("all products") && task.contains("This is a Pot") => {
                ModelReply::Text(r#"{"products": [{"name": "Pot", "price": 20}]}"#)
            }
            None if task.contains("all products") => {
                ModelReply::Text(r#"{"products": [{"name": "Cup", "price": 9.5}]}"#)
            }
            None => ModelReply::Text(r#"{"name": "Cup", "price": 9.5}"#),
        }
    })
    .await;
    let server = TestServer::start_with(&model.settings()).await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &site.url("/cup"), &site.url("/pot")]);
    tools::run(client, done, &server).await;
}

/// Runs a client script for monitors, with a page to check.
async fn run_monitors(mut client: Command, done: &str) {
    let server = TestServer::start().await;
    let site = Site::new().page("/cup", Page::links("Cup", &[])).serve().await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &site.url("/cup")]);
    tools::run(client, done, &server).await;
}

/// Creates a chain of linked pages of some megabytes each.
fn large_site() -> Site {
    (0..LARGE_PAGES).fold(Site::new(), |site, number| {
        let next = number + 1;
        let filling = "<!-- x -->".repeat(LARGE_BYTES / 10);
        let html =
            format!("<title>{number}</title><p>Page {number} <a href=\"/{next}\">next</a></p>{filling}");
        site.page(&large_path(number), Page::html(html))
    })
}

fn large_path(number: usize) -> String {
    match number {
        0 => "/".to_owned(),
        _ => format!("/{number}"),
    }
}

fn python(script: &str) -> Command {
    let mut client = Command::new(tools::path("HARVESTMAN_TEST_PYTHON"));
    client.arg(tools::script(script));
    client
}

fn javascript(script: &str) -> Command {
    let mut client = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    client
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .arg(tools::script(script));
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_scrapes_and_crawls() {
    // Pages with `changeTracking` never come from the cache.
    assert_eq!(
        run_counted(python("python_client.py"), "python client: ok").await,
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_waits_paginates_watches_and_cancels() {
    run(python("python_jobs.py"), "python jobs: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_scrapes_and_crawls() {
    // Pages with `changeTracking` never come from the cache.
    assert_eq!(
        run_counted(javascript("javascript_client.mjs"), "javascript client: ok").await,
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_waits_paginates_watches_and_cancels() {
    run(javascript("javascript_jobs.mjs"), "javascript jobs: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_scrapes_batches() {
    run_batches(python("python_batches.py"), "python batches: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_scrapes_batches() {
    run_batches(javascript("javascript_batches.mjs"), "javascript batches: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_uploads_files() {
    run_files(python("python_files.py"), "python files: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_uploads_files() {
    run_files(javascript("javascript_files.mjs"), "javascript files: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_searches() {
    run_search(python("python_search.py"), "python search: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_searches() {
    run_search(javascript("javascript_search.mjs"), "javascript search: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_uses_browser_sessions() {
    run_sessions(python("python_sessions.py"), "python sessions: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_uses_browser_sessions() {
    run_sessions(javascript("javascript_sessions.mjs"), "javascript sessions: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_reads_usage_and_queue() {
    run_usage(python("python_usage.py"), "python usage: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_reads_usage_and_queue() {
    run_usage(javascript("javascript_usage.mjs"), "javascript usage: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_extracts_and_runs_agents() {
    run_extract(python("python_extract.py"), "python extract: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_extracts_and_runs_agents() {
    run_extract(javascript("javascript_extract.mjs"), "javascript extract: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_manages_monitors() {
    run_monitors(python("python_monitors.py"), "python monitors: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_manages_monitors() {
    run_monitors(javascript("javascript_monitors.mjs"), "javascript monitors: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_firecrawl_command_line_works() {
    let form = "<!doctype html><title>Form</title><p>A form that says hello to its sender.</p><button
        onclick=\"document.querySelector('output').textContent = 'Hello'\">Send</button><output></output>";
    let site = Site::new()
        .page("/", Page::links("Start", &["/form"]))
        .page("/form", Page::html(form))
        .serve()
        .await;
    let server = TestServer::start_with(&[tools::chromium()]).await;
    let mut client = javascript("firecrawl_cli.mjs");
    client
        .current_dir(server.data_dir())
        .arg(format!("http://{}", server.address()))
        .args([KEY, site.url("/").trim_end_matches('/')]);
    tools::run(client, "firecrawl cli: ok", &server).await;
}
