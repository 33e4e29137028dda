//! Request commands of the real program, with the real server and a local site.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod command_line {
    mod sessions;
    mod table;
}

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use harvestman_tests::server::{self, KEY};
use harvestman_tests::{Page, Site, TestServer, printed};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Id of a job that does not exist.
const JOB: &str = "0190c7a0-0000-7000-8000-000000000001";

/// Creates a command with the server's URL and key.
fn harvestman(server: &TestServer, arguments: &[&str]) -> Command {
    let mut command = Command::new(server::binary().unwrap());
    command
        .args(arguments)
        .env("HARVESTMAN_API_URL", format!("http://{}/", server.address()))
        .env("HARVESTMAN_API_KEY", KEY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

async fn output_of(mut command: Command) -> Output {
    let output = tokio::task::spawn_blocking(move || command.output());
    output.await.unwrap().unwrap()
}

/// Runs the program, checks its exit code, and returns standard output and standard error.
async fn run(server: &TestServer, arguments: &[&str], code: i32) -> (String, String) {
    printed(&output_of(harvestman(server, arguments)).await, code)
}

/// Arguments that are refused, with the exit code and words of the error.
type Refusal<'a> = (&'a [&'a str], i32, &'a str);

async fn assert_refused(server: &TestServer, cases: &[Refusal<'_>]) {
    for (arguments, code, words) in cases {
        let (text, stderr) = run(server, arguments, *code).await;
        assert!(
            text.is_empty() && stderr.contains(words),
            "{arguments:?}: {stderr}"
        );
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn small_site() -> Site {
    Site::new()
        .page("/", Page::links("Start", &["/a", "/b"]))
        .page("/a", Page::links("A", &["/"]))
        .page("/b", Page::links("B", &["/"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn one_format_is_printed_as_text_and_several_as_json() {
    let server = TestServer::start().await;
    let site = small_site().serve().await;
    let url = site.url("/a");
    let (text, _) = run(&server, &["scrape", &url], 0).await;
    assert!(text.starts_with("# A\n") && text.ends_with('\n'), "{text}");
    let (text, _) = run(&server, &["scrape", &url, "--formats", "links"], 0).await;
    assert_eq!(lines(&text), [json!([site.url("/")])]);
    let both = [
        "scrape", "--url", &url, "--formats", "markdown", "--formats", "links",
    ];
    let (text, _) = run(&server, &both, 0).await;
    let document = &lines(&text)[0];
    assert_eq!(
        (&document["metadata"]["title"], &document["links"][0]),
        (&json!("A"), &json!(site.url("/")))
    );
    let (text, _) = run(&server, &["scrape", &url, "--json", "--pretty"], 0).await;
    let response: Value = serde_json::from_str(&text).unwrap();
    assert!(response["success"] == true && text.lines().count() > 3, "{text}");

    let file = server.data_dir().join("request.json");
    let request = json!({"url": url, "formats": ["html"]});
    std::fs::write(&file, format!("\u{feff}{request}")).unwrap();
    let out = server.data_dir().join("page.md");
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let (text, _) = run(
        &server,
        &["scrape", "--body", file, "--formats", "markdown", "-o", out],
        0,
    )
    .await;
    assert_eq!(text, "");
    assert!(std::fs::read_to_string(out).unwrap().starts_with("# A\n"));

    let (text, _) = run(&server, &["map", &site.url("/"), "--ignore-cache", "true"], 0).await;
    let mut found: Vec<&str> = text.lines().collect();
    found.sort_unstable();
    assert_eq!(found, [site.url("/"), url.clone(), site.url("/b")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_flag_and_have_an_exit_code() {
    let server = TestServer::start().await;
    let site = small_site().serve().await;
    let url = site.url("/");
    let options = r#"{"waitFor":-1}"#;
    let nowhere = "http://127.0.0.1:1/";
    let cases: &[Refusal] = &[
        (&["scrape"], 2, "--url is required"),
        (
            &["crawl", &url, "--limit", "many"],
            2,
            "--limit must be a whole number",
        ),
        (
            &["crawl", &url, "--scrape-options", options],
            2,
            "--scrape-options.waitFor must be",
        ),
        (&["scrape", &url, "--formats", "markdown,tml"], 2, "--formats[1]"),
        (&["scrape", &url, "--body", "{"], 2, "--body"),
        (&["scrape", &url, "--listen", "x"], 2, "setting of the server"),
        (&["scrape", &url, "--fomats", "html"], 2, "--formats"),
        (&["map", &url, "--api-url", "nowhere"], 2, "nowhere"),
        (&["crawl", &url, "--resume", JOB], 2, "remove the request"),
        (&["crawl", "--no-wait", "--cancel", JOB], 2, "--no-wait"),
        (&["crawl", &url, "--skip", "1"], 2, "--resume"),
        (
            &["scrape", &url, "--api-key", "fc-wrong"],
            1,
            "set HARVESTMAN_API_KEY",
        ),
        (&["crawl", nowhere], 1, " failed: Nothing could be crawled"),
        (&["scrape", nowhere], 1, "127.0.0.1"),
        (&["scrape", &url, "--api-url", nowhere], 1, "does not respond"),
        (&["scrape", &url, "--api-url", &url], 1, "404"),
        (&["crawl", "--resume", JOB], 1, "cannot read"),
    ];
    assert_refused(&server, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http_error_is_printed_reported_and_the_exit_code() {
    let server = TestServer::start().await;
    let site = Site::new()
        .page("/gone", Page::html("<p>Nothing is here.").status(404))
        .serve()
        .await;
    let url = site.url("/gone");
    let (text, stderr) = run(&server, &["scrape", &url], 3).await;
    assert!(text.contains("Nothing is here"), "{text}");
    assert!(
        stderr.contains(&format!("{url} responded with HTTP status 404")),
        "{stderr}"
    );
    let (text, stderr) = run(
        &server,
        &["crawl", &site.url("/"), "--include-paths", "^/never$"],
        1,
    )
    .await;
    assert!(text.is_empty() && stderr.contains("0 pages"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_command_prints_its_result() {
    let server = TestServer::start().await;
    let site = small_site().serve().await;
    let url = site.url("/a");
    let file = server.data_dir().join("table.csv");
    std::fs::write(&file, "name,legs\nspider,8\n").unwrap();
    let (text, stderr) = run(&server, &["parse", file.to_str().unwrap()], 0).await;
    assert!(text.contains("| spider") && stderr.is_empty(), "{text}{stderr}");
    run(&server, &["parse", "/nowhere/at/all.pdf"], 1).await;
    run(&server, &["scrape", &url], 0).await;
    // Without a search provider the team's own pages are searched.
    let (text, stderr) = run(&server, &["search", "start"], 0).await;
    assert!(
        lines(&text)[0]["web"].is_array() && !stderr.is_empty(),
        "{text}{stderr}"
    );
    let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
    let agent = ["agent", "the title", "--urls", &url, "--schema", schema];
    let (text, stderr) = run(&server, &agent, 0).await;
    assert_eq!(lines(&text), [json!({"title": "A"})]);
    assert!(stderr.contains("agent "), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn session_commands_report_what_they_cannot_do() {
    let server = TestServer::start_with(&[("HARVESTMAN_CHROMIUM", "off")]).await;
    let cases: &[Refusal] = &[
        (&["browser", "open"], 1, "browser"),
        (&["browser", "open", "--ttl", "5"], 2, "--ttl"),
        (&["browser", "execute", JOB, "get", "title"], 1, "session"),
        (&["browser", "execute", JOB], 2, "--code is required"),
        (&["browser", "close", JOB], 1, "session"),
        (&["browser", "close", "x"], 2, "SESSION"),
        (&["interact", JOB, "click", "Next"], 1, ""),
        (&["interact", JOB], 2, "--code is required"),
        (&["interact", JOB, "--stop"], 1, ""),
        (&["interact", JOB, "--stop", "--code", "1"], 2, "--stop"),
    ];
    assert_refused(&server, cases).await;
    let (text, stderr) = run(&server, &["browser", "list"], 0).await;
    assert!(text.is_empty() && stderr.is_empty(), "{text}{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn monitors_are_created_run_read_and_deleted() {
    let server = TestServer::start().await;
    let site = small_site().serve().await;
    let page = site.url("/a");
    let create = [
        "monitor", "create", &page, "--name", "A", "--schedule", "every 30 minutes",
    ];
    let (id, stderr) = run(&server, &create, 0).await;
    let id = id.trim();
    assert!(id.len() == 36 && stderr.is_empty(), "{id} {stderr}");
    let (text, _) = run(
        &server,
        &["monitor", "list", "--status", "active", "--limit", "1"],
        0,
    )
    .await;
    assert_eq!((lines(&text).len(), &lines(&text)[0]["id"]), (1, &json!(id)));
    let (text, _) = run(&server, &["monitor", "show", id], 0).await;
    assert_eq!(lines(&text)[0]["targets"][0]["urls"], json!([page]));

    let (text, stderr) = run(&server, &["monitor", "run", id], 0).await;
    let check = &lines(&text)[0];
    assert_eq!(
        (&check["status"], &check["summary"]["new"], check.get("pages")),
        (&json!("completed"), &json!(1), None)
    );
    let check = check["id"].as_str().unwrap();
    assert!(stderr.contains(&format!("check {check}")), "{stderr}");
    let (text, _) = run(&server, &["monitor", "checks", id], 0).await;
    assert_eq!(lines(&text)[0]["id"], check);
    let pages = ["monitor", "pages", id, check];
    let (text, _) = run(&server, &pages, 0).await;
    assert_eq!((lines(&text).len(), &lines(&text)[0]["url"]), (1, &json!(page)));
    let same = [&pages[..], &["--status", "same"]].concat();
    let (text, stderr) = run(&server, &same, 0).await;
    assert!(text.is_empty() && stderr.is_empty(), "{text}{stderr}");

    // A page that is gone fails the only target.
    site.change("/a", None);
    let update = ["monitor", "update", id, "--status", "paused", "--targets"];
    let target = json!([{ "type": "scrape", "urls": ["http://127.0.0.1:1/"] }]).to_string();
    let (text, _) = run(&server, &[&update[..], &[&target]].concat(), 0).await;
    assert_eq!(lines(&text)[0]["status"], "paused");
    let (text, stderr) = run(&server, &["monitor", "run", id, "--no-wait"], 0).await;
    assert!(text.trim().len() == 36 && stderr.is_empty(), "{text}{stderr}");
    let (text, stderr) = run(&server, &["monitor", "delete", id], 0).await;
    assert!(text.is_empty() && stderr.contains("is deleted"), "{text}{stderr}");
    let cases: &[Refusal] = &[
        (&["monitor"], 2, "requires a subcommand"),
        (&["monitor", "show", id], 1, "no such monitor"),
        (&["monitor", "run", id], 1, "no such monitor"),
        (&["monitor", "pages", id, "x"], 2, "CHECK"),
        (&["monitor", "list", "--status", "asleep"], 2, "asleep"),
        (&["monitor", "list", "--limit", "0"], 2, "--limit"),
        (
            &["monitor", "create", &page, "--name", "A"],
            2,
            "--schedule is required",
        ),
        (
            &["monitor", "create", "--name", "A", "--schedule", "hourly"],
            2,
            "--targets is required",
        ),
        (
            &[
                "monitor", "create", &page, "--name", "A", "--schedule", "whenever",
            ],
            1,
            "is not understood",
        ),
        (&["monitor", "create", &page, "--targets", "[]"], 2, "--targets"),
    ];
    assert_refused(&server, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_continued_and_an_extract_cancelled() {
    let server = TestServer::start().await;
    let site = small_site()
        .page("/late", Page::html("late").delay(Duration::from_secs(600)))
        .serve()
        .await;
    let (url, late) = (site.url("/a"), site.url("/late"));
    let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
    let agent = ["agent", "the title", "--urls", &url, "--schema", schema];
    let (_, stderr) = run(&server, &agent, 0).await;
    let hint = stderr
        .lines()
        .find(|line| line.contains("--thread-id"))
        .expect(&stderr);
    let thread = hint
        .split_whitespace()
        .skip_while(|word| *word != "--thread-id")
        .nth(1)
        .unwrap();
    let next = [&agent[..], &["--thread-id", thread]].concat();
    let (text, stderr) = run(&server, &next, 0).await;
    assert_eq!(lines(&text), [json!({"title": "A"})]);
    assert!(stderr.contains("no language model"), "{stderr}");
    let (text, stderr) = run(&server, &["agent", "--show-thread", thread], 0).await;
    let runs = &lines(&text)[0]["runs"];
    assert_eq!(
        (&runs[0]["data"], &runs[1]["turn"]),
        (&json!({"title": "A"}), &json!(2))
    );
    assert!(stderr.is_empty(), "{stderr}");
    let (text, _) = run(&server, &["agent", "--show-trace", thread], 0).await;
    let trace = lines(&text);
    assert_eq!(
        (&trace[0]["type"], &trace.last().unwrap()["outcome"]),
        (&json!("run.started"), &json!("succeeded"))
    );

    let extract = ["extract", &late, "--schema", schema, "--no-wait"];
    let (id, _) = run(&server, &extract, 0).await;
    let (text, stderr) = run(&server, &["extract", "--cancel", id.trim()], 0).await;
    assert!(
        text.is_empty() && stderr.contains("is cancelled"),
        "{text}{stderr}"
    );
    let (_, stderr) = run(&server, &["extract", "--resume", id.trim()], 1).await;
    assert!(stderr.contains("is cancelled"), "{stderr}");
    let cases: &[Refusal] = &[
        (&["agent", "--show-thread", JOB], 1, "no such thread"),
        (&["agent", "--show-thread", "x"], 2, "--show-thread"),
        (&["agent", "words", "--show-trace", JOB], 2, "remove the request"),
        (
            &[
                "agent", "words", "--thread-id", JOB, "--schema", schema, "--urls", &url,
            ],
            1,
            "no such thread",
        ),
        (&["extract", "--cancel", JOB], 1, ""),
    ];
    assert_refused(&server, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_print_one_line_per_page() {
    let server = TestServer::start().await;
    let site = small_site()
        .page("/gone", Page::html("").status(404))
        .serve()
        .await;
    let (text, stderr) = run(&server, &["crawl", &site.url("/"), "--max-concurrency", "1"], 0).await;
    let mut titles: Vec<String> = lines(&text)
        .iter()
        .map(|page| page["metadata"]["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort_unstable();
    assert_eq!(titles, ["A", "B", "Start"]);
    assert!(stderr.contains("3 pages, 0 failed"), "{stderr}");

    let batch = ["batch", &site.url("/a"), "http://127.0.0.1:1/", "no address"];
    let (text, stderr) = run(&server, &batch, 3).await;
    assert_eq!(lines(&text).len(), 1);
    assert!(
        stderr.contains("no address") && stderr.contains("127.0.0.1:1"),
        "{stderr}"
    );
    let (_, stderr) = run(&server, &["batch", "http://127.0.0.1:1/"], 1).await;
    assert!(stderr.contains("0 pages, 1 failed"), "{stderr}");

    let (id, _) = run(&server, &["crawl", &site.url("/"), "--no-wait"], 0).await;
    let (text, _) = run(&server, &["crawl", "--resume", id.trim()], 0).await;
    assert_eq!(lines(&text).len(), 3);
    let (rest, _) = run(&server, &["crawl", "--resume", id.trim(), "--skip", "2"], 0).await;
    assert_eq!(lines(&rest), lines(&text)[2..]);
    let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
    let (data, _) = run(&server, &["extract", &site.url("/a"), "--schema", schema], 0).await;
    assert_eq!(lines(&data), [json!({"title": "A"})]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_crawl_keeps_its_pages_and_prints_how_to_resume() {
    let server = TestServer::start().await;
    let site = small_site().serve().await;
    // One page never responds during the test.
    site.change("/a", Some(Page::links("A", &[]).delay(Duration::from_secs(600))));
    let patient = r#"{"timeout":300000}"#;
    let start = site.url("/");
    let mut child = harvestman(&server, &["crawl", &start, "--scrape-options", patient])
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    // The pipe must stay open, although the rest of the output is not read.
    let (child, first, _out) = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        (child, line, out)
    })
    .await
    .unwrap();
    assert_eq!(lines(&first)[0]["metadata"]["title"], "Start");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output());
    let (_, stderr) = printed(&output.await.unwrap().unwrap(), 130);
    let resume = stderr
        .lines()
        .find(|line| line.contains("--resume"))
        .expect(&stderr);
    let id = resume
        .split_whitespace()
        .skip_while(|word| *word != "--resume")
        .nth(1)
        .unwrap();
    assert!(resume.contains("--skip "), "{stderr}");

    let (_, stderr) = run(&server, &["crawl", "--cancel", id], 0).await;
    assert!(stderr.contains("is cancelled"), "{stderr}");
    let (_, stderr) = run(&server, &["crawl", "--resume", id], 1).await;
    assert!(stderr.contains("is cancelled"), "{stderr}");
}
