//! `harvestman convert` and `harvestman robots` as processes, with files, JSON lines and archives.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use harvestman_tests::files::{Pdf, docx, line, paragraph};
use harvestman_tests::{assert_contains, server};
use serde_json::{Value, json};

const PAGE: &str = "<html><head><title>Herons</title></head><body><nav><a href=/nav>Nav</a></nav>\
    <main><h1>Herons</h1><p>They wade and <a href=fish.html>fish</a> in the shallow water, all day long.</p></main>";

fn harvestman(arguments: &[&str]) -> Command {
    let mut command = Command::new(server::binary().unwrap());
    // These commands must not use the data folder or settings.
    command
        .args(arguments)
        .env("HARVESTMAN_DATA_DIR", "/nowhere/at/all")
        .env("HARVESTMAN_LISTEN", "nonsense")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = harvestman(arguments).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // A command with invalid arguments does not read its input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

#[track_caller]
fn lines(output: &Output) -> Vec<Value> {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Temporary file that is removed on drop.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("harvestman-convert-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn files_and_standard_input_are_converted_to_api_documents() {
    let arguments = [
        "convert", "-", "--url", "https://a.test/birds/", "--formats", "markdown,links",
    ];
    let document: Value = serde_json::from_slice(&run(&arguments, PAGE.as_bytes()).stdout).unwrap();
    let markdown = document["markdown"].as_str().unwrap();
    assert!(markdown.starts_with("# Herons"), "{markdown}");
    assert!(
        markdown.contains("[fish](https://a.test/birds/fish.html)"),
        "{markdown}"
    );
    assert!(!markdown.contains("Nav"), "{markdown}");
    assert_eq!(
        document["links"],
        json!(["https://a.test/nav", "https://a.test/birds/fish.html"])
    );
    assert_eq!(document["metadata"]["title"], "Herons");
    assert_eq!(document["metadata"]["sourceURL"], "https://a.test/birds/");
    for only_a_fetch_knows in ["scrapeId", "creditsUsed", "proxyUsed"] {
        assert_eq!(document["metadata"][only_a_fetch_knows], Value::Null);
    }

    let file = TempFile::new("page.html", PAGE.as_bytes());
    let output = run(
        &[
            "convert",
            file.path(),
            "--json",
            "--only-main-content",
            "false",
            "--exclude-tags",
            "h1,p",
        ],
        b"",
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let markdown = document["markdown"].as_str().unwrap();
    assert!(
        markdown.contains("Nav") && !markdown.contains("Herons"),
        "{markdown}"
    );
    assert!(
        document["metadata"]["url"]
            .as_str()
            .unwrap()
            .starts_with("file:///")
    );
}

#[test]
fn pdf_and_office_files_are_converted() {
    let pdf = Pdf {
        pages: ["One", "Two"].map(|title| line(24, 700, title)).to_vec(),
        ..Pdf::default()
    };
    let convert = |name: &str, bytes: &[u8], more: &[&str]| {
        let file = TempFile::new(name, bytes);
        run(&[&["convert", file.path(), "--json"], more].concat(), b"")
    };
    let document = |output: Output| serde_json::from_slice::<Value>(&output.stdout).unwrap();
    let complete = document(convert("a.pdf", &pdf.bytes(), &[]));
    assert_eq!(complete["markdown"], "One\n\nTwo");
    assert_eq!(complete["metadata"]["totalPages"], 2);
    let parsers = "[{\"type\":\"pdf\",\"maxPages\":1}]";
    let part = document(convert("b.pdf", &pdf.bytes(), &["--parsers", parsers]));
    assert_eq!(part["markdown"], "One");
    let letter = docx(&paragraph("Heading1", "A letter"));
    assert_eq!(
        document(convert("a.docx", &letter, &[]))["markdown"],
        "# A letter"
    );
    let broken = convert("broken.docx", b"PK\x03\x04", &[]);
    assert!(!broken.status.success());
    assert!(String::from_utf8_lossy(&broken.stderr).contains("damaged"));
}

#[test]
fn json_lines_are_converted_in_order_despite_invalid_lines() {
    let mut input = String::new();
    for number in 0..200 {
        let text = "word ".repeat(if number % 7 == 0 { 5000 } else { 5 });
        let html = format!("<p>Page {number}. {text}</p>");
        let line =
            json!({"id": number, "url": format!("https://a.test/{number}"), "html": html, "more": [1]});
        input.push_str(&format!("{line}\n"));
        if number == 100 {
            input.push_str("not json\n\n{\"id\":\"x\",\"url\":\"https://a.test/\"}\n");
            input.push_str("{\"id\":\"y\",\"url\":\"gopher://a.test/\",\"html\":\"<p>y\"}\n");
        }
    }
    let found = lines(&run(
        &["convert", "--jsonl", "--only-main-content", "false"],
        input.as_bytes(),
    ));
    assert_eq!(found.len(), 203);
    let (errors, pages): (Vec<&Value>, Vec<&Value>) =
        found.iter().partition(|line| line["error"].is_string());
    for (number, page) in pages.iter().enumerate() {
        assert_eq!(page["id"], number);
        assert!(
            page["markdown"]
                .as_str()
                .unwrap()
                .starts_with(&format!("Page {number}. word"))
        );
        assert_eq!(page["metadata"]["url"], format!("https://a.test/{number}"));
    }
    let ids: Vec<&Value> = errors.iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, [&Value::Null, &json!("x"), &json!("y")]);
    assert_eq!(found[101..104], errors.into_iter().cloned().collect::<Vec<_>>());
}

#[test]
fn one_format_is_printed_alone_as_by_scrape() {
    let text = |arguments: &[&str]| {
        let output = run(&[&["convert", "-"], arguments].concat(), PAGE.as_bytes());
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text(&[]).starts_with("# Herons\n"));
    assert_eq!(
        text(&["--formats", "links", "--url", "https://a.test/"])
            .lines()
            .count(),
        1
    );
    assert!(text(&["--formats", "markdown", "--json", "--pretty"]).starts_with("{\n"));
    let file = TempFile::new(
        "out.md",
        b"old and longer than the new text: ".repeat(9).as_slice(),
    );
    assert_eq!(text(&["-o", file.path()]), "");
    assert!(
        std::fs::read_to_string(file.path())
            .unwrap()
            .starts_with("# Herons\n")
    );
    assert!(!std::fs::read_to_string(file.path()).unwrap().contains("old"));
}

#[test]
fn each_line_is_answered_before_the_next_one_is_sent() {
    let mut child = harvestman(&["convert", "--jsonl"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(stdin, "{}", json!({"id": id, "html": "<p>Some text."})).unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], id);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_output_ends_the_command_without_an_error() {
    let mut child = harvestman(&["convert", "--jsonl"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let line = format!(
        "{}\n",
        json!({"id": 1, "html": format!("<p>{}", "word ".repeat(20_000))})
    );
    thread::scope(|scope| {
        // Writes until the command ends, which never holds all of the input.
        scope.spawn(move || while stdin.write_all(line.as_bytes()).is_ok() {});
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        assert!(first.starts_with("{\"id\":1,"), "{first}");
        let status = child.wait().unwrap();
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert!(status.success() && stderr.is_empty(), "{status}: {stderr}");
    });
}

fn record(kind: &str, id: &str, url: &str, content_type: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Target-URI: {url}\r\n\
         Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns records as crawlers write them: chunked, compressed, mixed with other types.
fn records() -> Vec<Vec<u8>> {
    let http = "application/http; msgtype=response";
    let plain = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{PAGE}");
    let packed = gzip("<p>Söme packed text.</p>".as_bytes());
    let (first, second) = packed.split_at(10);
    let chunk = |part: &[u8]| [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
    let chunked = [
        b"HTTP/1.1 404 Not Found\r\ncontent-type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\
          Content-Encoding: gzip\r\n\r\n"
            .to_vec(),
        chunk(first),
        chunk(second),
        b"0\r\n\r\n".to_vec(),
    ]
    .concat();
    vec![
        record(
            "warcinfo", "0", "https://a.test/", "application/warc-fields", b"software: x\r\n",
        ),
        record(
            "request", "1", "https://a.test/1", "application/http", b"GET / HTTP/1.1\r\n\r\n",
        ),
        record("response", "2", "https://a.test/2", http, plain.as_bytes()),
        record("response", "3", "https://a.test/3", http, &chunked),
        record(
            "response",
            "4",
            "https://a.test/4",
            http,
            b"HTTP/1.1 200 OK\nContent-Type: image/png\n\n\x89PNG",
        ),
        record("resource", "5", "https://a.test/5", "text/plain", b"As it is."),
        record("response", "6", "dns:a.test", "text/dns", b"1.2.3.4"),
    ]
}

#[test]
fn plain_and_compressed_archives_are_converted() {
    let plain = TempFile::new("plain.warc", &records().concat());
    let packed: Vec<Vec<u8>> = records().iter().map(|record| gzip(record)).collect();
    let packed = TempFile::new("packed.warc.gz", &packed.concat());
    let found = lines(&run(&["convert", "--warc", plain.path()], b""));
    assert_eq!(found, lines(&run(&["convert", "--warc", packed.path()], b"")));
    let ids: Vec<&str> = found.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["urn:uuid:2", "urn:uuid:3", "urn:uuid:4", "urn:uuid:5"]);
    assert_contains(&found[0], "/markdown", "https://a.test/fish.html");
    assert_eq!(found[1]["markdown"], "Söme packed text.");
    assert_eq!(found[1]["metadata"]["statusCode"], 404);
    assert_contains(&found[2], "/error", "image/png");
    assert_eq!(found[3]["markdown"], "As it is.");
}

#[test]
fn a_truncated_archive_returns_its_complete_records_and_an_error() {
    let archive = records().concat();
    let file = TempFile::new("cut.warc", &archive[..archive.len() - 155]);
    let output = run(&["convert", "--warc", file.path()], b"");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 3);
    assert!(String::from_utf8_lossy(&output.stderr).contains("damaged"));
}

#[test]
fn exit_codes_distinguish_usage_errors_from_failures() {
    let check = |arguments: &[&str], input: &[u8], code: i32, words: &str| {
        let output = run(arguments, input);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    };
    check(&["convert", "--formats", "markdwon"], b"", 2, "markdwon");
    check(&["convert", "--formats", "screenshot"], b"", 2, "browser");
    check(&["convert", "--url", "nowhere"], b"", 2, "nowhere");
    check(&["convert", "--no-such-flag"], b"", 2, "--no-such-flag");
    check(
        &["convert", "/nowhere/at/all.html"],
        b"",
        1,
        "/nowhere/at/all.html",
    );
    check(
        &["convert"],
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        1,
        "cannot convert",
    );
}

#[test]
fn robots_checks_lines_in_order() {
    let rules = "User-agent: *\nDisallow: /private\nAllow: /private/open\n";
    let question =
        |url: &str, agent: &str| json!({"id": 1, "robots": rules, "agent": agent, "url": url}).to_string();
    let input = [
        question("https://a.test/private/x", "bot"),
        question("https://a.test/private/open", "bot"),
        question("https://a.test", "bot"),
        json!({"robots": "User-agent: bot\nDisallow: /", "agent": "Bot/2.0", "url": "https://a.test/"})
            .to_string(),
    ]
    .join("\n");
    let output = run(&["robots"], input.as_bytes());
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "disallowed\nallowed\nallowed\ndisallowed\n"
    );

    let output = run(&["robots"], format!("{{}}\n{input}").as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("error\ndisallowed\n"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 1"));
}
