//! Request commands without a server, and what the program says about itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use harvestman_tests::{Folder, Page, RunningSite, Site, TestServer, printed, server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A working folder, also for temporary files.
struct Work(Folder);

impl Work {
    fn new() -> Work {
        let folder = Folder::new().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        Work(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(server::binary().unwrap());
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("HARVESTMAN_") || name.starts_with("FIRECRAWL_") {
                command.env_remove(&*name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("TMPDIR", self.0.path().join("tmp"))
            .env("HARVESTMAN_CHROMIUM", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        tokio::task::spawn_blocking(move || command.output())
            .await
            .unwrap()
            .unwrap()
    }

    /// Asserts that no temporary data folder is left.
    #[track_caller]
    fn assert_clean(&self) {
        assert_eq!(files(&self.0.path().join("tmp")), BTreeSet::new());
    }
}

fn sources(lines: &str) -> BTreeSet<String> {
    let source = |line: &str| {
        let document: Value = serde_json::from_str(line).unwrap();
        document["metadata"]["sourceURL"].as_str().unwrap().to_owned()
    };
    lines.lines().map(source).collect()
}

/// Returns the paths of all files below a folder, relative to it.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => drop(found.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned())),
            }
        }
    }
    found
}

async fn small_site() -> RunningSite {
    Site::new()
        .page("/", Page::links("Start", &["/a", "/b/", "/b/c?d=1"]))
        .page("/a", Page::links("A", &["/"]))
        .page("/b/", Page::links("B", &["/"]))
        .page("/b/c?d=1", Page::links("C", &["/gone"]))
        .serve()
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_need_no_server_and_leave_nothing_behind() {
    let (site, work) = (small_site().await, Work::new());
    let url = site.url("/a");
    let (text, err) = printed(&work.run(&["scrape", &url]).await, 0);
    assert!(text.starts_with("# A\n") && err.is_empty(), "{text}\n{err}");
    let (text, _) = printed(&work.run(&["map", &site.url("/"), "--local"]).await, 0);
    assert!(text.lines().any(|line| line == url), "{text}");
    let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
    let (text, _) = printed(&work.run(&["extract", &url, "--schema", schema]).await, 0);
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        json!({"title": "A"})
    );
    let file = work.0.path().join("table.csv");
    fs::write(&file, "name,legs\nspider,8\n").unwrap();
    let (text, _) = printed(&work.run(&["parse", file.to_str().unwrap()]).await, 0);
    assert!(text.contains("| spider") && text.contains('8'), "{text}");
    let (_, err) = printed(&work.run(&["scrape", "http://127.0.0.1:1/"]).await, 1);
    assert!(err.contains("127.0.0.1"), "{err}");
    work.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_crawl_writes_the_folders_of_the_site() {
    let (site, work) = (small_site().await, Work::new());
    let crawl = ["crawl", &site.url("/"), "--out-dir", "pages"];
    let (text, err) = printed(&work.run(&crawl).await, 0);
    assert!(text.is_empty() && err.contains("5 pages, 0 failed"), "{err}");
    assert!(!err.contains('\u{1b}'), "no progress without a terminal: {err}");
    let host = format!("127.0.0.1+{}", site.address().port());
    let expected =
        ["index.md", "a.md", "b/index.md", "b/c%3Fd=1.md", "gone.md"].map(|path| format!("{host}/{path}"));
    assert_eq!(files(&work.0.path().join("pages")), BTreeSet::from(expected));
    let page = fs::read_to_string(work.0.path().join("pages").join(host).join("a.md")).unwrap();
    assert!(page.starts_with("# A\n"), "{page}");
    work.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_folder_keeps_the_job() {
    let (site, work) = (small_site().await, Work::new());
    let crawl = ["crawl", &site.url("/"), "--data-dir", "data", "--limit", "2"];
    let (text, err) = printed(&work.run(&crawl).await, 0);
    let id = err.split_whitespace().nth(2).unwrap();
    let again = ["crawl", "--data-dir", "data", "--resume", id];
    let (same, _) = printed(&work.run(&again).await, 0);
    assert_eq!(sources(&same), sources(&text));
    work.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_crawl_is_resumed_to_the_set_of_the_server() {
    let (site, work) = (small_site().await, Work::new());
    site.hold_after(2);
    let mut child = work.command(&["crawl", &site.url("/")]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    site.wait_for_requests(3).await;
    let (child, mut first, rest) = tokio::task::spawn_blocking(move || {
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        interrupt(&child);
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        (child, first, rest)
    })
    .await
    .unwrap();
    first.push_str(&rest);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output());
    let (_, err) = printed(&output.await.unwrap().unwrap(), 130);
    site.release();
    let resume = err.lines().find(|line| line.contains("--resume")).expect(&err);
    let arguments: Vec<&str> = resume.split_whitespace().skip(1).collect();
    let (text, _) = printed(&work.run(&arguments).await, 0);
    first.push_str(&text);
    work.assert_clean();

    let server = TestServer::start().await;
    let expected = server.run_crawl(&json!({"url": site.url("/")})).await;
    assert_eq!(sources(&first), expected.visited());
    assert_eq!(
        first.lines().count(),
        expected.documents.len(),
        "each page is printed once"
    );
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_that_do_not_fit_are_refused() {
    let work = Work::new();
    const JOB: &str = "0190c7a0-0000-7000-8000-000000000001";
    const URL: &str = "http://127.0.0.1:1/";
    for (arguments, words) in [
        (
            &["scrape", URL, "--api-url", URL, "--data-dir", "x"][..],
            "--data-dir applies to",
        ),
        (&["scrape", URL, "--api-url", URL, "--local"], "--local"),
        (&["crawl", URL, "--no-wait"], "--no-wait needs a server"),
        (&["crawl", "--resume", JOB], "--data-dir"),
        (&["crawl", URL, "--out-dir", "x", "-o", "y"], "--out-dir"),
        (&["scrape", URL, "--listen", "x"], "setting of the server"),
        (&["--listen", "127.0.0.1:0"], "harvestman serve"),
        (&["parse"], "FILE"),
    ] {
        let (text, err) = printed(&work.run(arguments).await, 2);
        assert!(err.contains(words) && text.is_empty(), "{arguments:?}: {err}");
    }
    let (_, err) = printed(&work.run(&["parse", "missing.pdf"]).await, 1);
    assert!(err.contains("cannot read missing.pdf"), "{err}");
    let server = TestServer::start().await;
    let folder = server.data_dir().join("data");
    let folder = folder.to_str().unwrap();
    let (_, err) = printed(&work.run(&["scrape", URL, "--data-dir", folder]).await, 1);
    assert!(err.contains(folder), "{err}");
    work.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_explains_itself() {
    let work = Work::new();
    let (page, _) = printed(&work.run(&[]).await, 0);
    assert!(
        page.contains("harvestman serve") && page.lines().count() < 20,
        "{page}"
    );
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let (script, _) = printed(&work.run(&["completions", shell]).await, 0);
        assert!(script.contains("only-main-content"), "{shell}");
    }
    printed(&work.run(&["man", "man1"]).await, 0);
    let pages = files(&work.0.path().join("man1"));
    for page in [
        "harvestman.1", "harvestman-serve.1", "harvestman-keys-create.1", "harvestman-crawl.1",
    ] {
        assert!(pages.contains(page), "{pages:?}");
    }
    assert!(!pages.iter().any(|page| page.contains("sandbox")), "{pages:?}");
    let page = fs::read_to_string(work.0.path().join("man1/harvestman-crawl.1")).unwrap();
    assert!(page.contains("out\\-dir"), "{page}");
}
