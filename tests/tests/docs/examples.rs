//! Every command and example of the README and the documentation does what it says: shell commands, code of client
//! libraries and request bodies are run, names of commands, tasks and settings are checked.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use harvestman_core::api::command::RequestCommand;
use harvestman_tests::files::{self, Pdf};
use harvestman_tests::server::{self, KEY};
use harvestman_tests::{Folder, Page, RunningSite, Site, TestServer, printed, tools};
use serde_json::Value;

/// Commands that need another machine, or are run by tests of their own (packages, tasks, linters).
const OUTSIDE: [&str; 9] = [
    "cargo", "docker", "kubectl", "npm", "npx", "pip", "schemathesis", "sudo", "train.py",
];
/// Lines of a failed example that are shown.
const FAILURE_LINES: usize = 15;
/// Start of each script. A command prints its output and notes the first id in it, which `ID` in examples stands for.
/// `serve` stops once it listens.
const PREAMBLE: &str = r#"set -euo pipefail
note() {
  tee output
  grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' output | head -n 1 > next || true
  if [ -s next ]; then mv next id; fi
}
curl() { command curl --fail-with-body "$@" | note; }
harvestman() {
  if [ "$1" != serve ] || [ "${2:-}" = --help ]; then "$PROGRAM" "$@" | note; return; fi
  HARVESTMAN_DATA_DIR=served "$PROGRAM" "$@" > serving &
  until grep -q 'listening on' serving; do kill -0 $!; sleep 0.1; done
  kill $!
  wait $!
}
cd() { [ -d "$ROOT/$1" ]; }
HARVESTMAN_API_KEY=$KEY
"#;

/// Page of the documentation.
struct Document {
    /// Path in the clone.
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn documents() -> Vec<Document> {
    let mut paths = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/guide"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                paths.push(format!("{folder}/{name}"));
            }
        }
    }
    paths.sort();
    let read = |path: String| Document {
        text: fs::read_to_string(root().join(&path)).unwrap(),
        path,
    };
    paths.into_iter().map(read).collect()
}

impl Document {
    /// Returns the code blocks in a language.
    fn blocks(&self, language: &str) -> Vec<&str> {
        let fences = self.text.split("\n```").skip(1).step_by(2);
        fences
            .filter_map(|fence| fence.split_once('\n'))
            .filter(|(name, _)| *name == language)
            .map(|(_, code)| code)
            .collect()
    }

    /// Returns the words that follow `before` in the text.
    fn words_after(&self, before: &str) -> BTreeSet<&str> {
        let is_word = |c: char| c.is_ascii_lowercase() || c == '-';
        let word = |rest: &'_ str| rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let rests = self
            .text
            .match_indices(before)
            .map(|(at, _)| &self.text[at + before.len()..]);
        rests
            .map(|rest| &rest[..word(rest)])
            .filter(|word| !word.is_empty())
            .collect()
    }
}

async fn site() -> RunningSite {
    let paths = [
        "/a", "/article", "/b", "/blog", "/docs", "/page", "/pricing", "/product/1",
    ];
    let product = "<title>A lamp</title><main><h1>A lamp</h1><p>It shines all night long.</p></main>";
    let start = Site::new().page("/", Page::links("Start", &paths));
    let site = paths
        .iter()
        .fold(start, |site, path| site.page(path, Page::html(product)));
    site.serve().await
}

/// Writes the files that examples read.
fn write_files(folder: &Path) {
    let pdf = Pdf {
        pages: vec![files::line(12, 700, "A report")],
        ..Pdf::default()
    };
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Archived</h1>";
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.com/\r\n\
         Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{html}\r\n\r\n",
        html.len()
    );
    let page = r#"{"id": 1, "url": "https://example.com/", "html": "<h1>A page</h1>"}"#;
    let question = r#"{"id": 1, "robots": "", "agent": "bot", "url": "https://example.com/"}"#;
    let text: [(&str, &[u8]); 6] = [
        ("report.pdf", &pdf.bytes()),
        (
            "report.docx",
            &files::docx(&files::paragraph("Heading1", "A report")),
        ),
        ("page.html", b"<h1>A page</h1>"),
        ("pages.jsonl", page.as_bytes()),
        ("questions.jsonl", question.as_bytes()),
        ("crawl.warc.gz", &gzip(record.as_bytes())),
    ];
    for (name, bytes) in text {
        fs::write(folder.join(name), bytes).unwrap();
    }
    fs::create_dir_all(folder.join(".local/share/bash-completion/completions")).unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Replaces what stands for something of the reader's machine.
fn with_real_values(code: &str, server: &TestServer, site: &RunningSite, folder: &Path) -> String {
    let base = format!("http://{}", server.address());
    let folder = folder.display();
    let mut code = code.to_owned();
    for (example, real) in [
        (
            "HARVESTMAN_API_KEY=fc-...",
            format!("HARVESTMAN_API_KEY={KEY} HARVESTMAN_API_URL={base}"),
        ),
        ("fc-...", KEY.to_owned()),
        ("http://localhost:3002", base),
        (
            "https://example.com",
            site.url("/").trim_end_matches('/').to_owned(),
        ),
        (
            "https://shop.example",
            site.url("/").trim_end_matches('/').to_owned(),
        ),
        ("0.0.0.0:3002", "127.0.0.1:0".to_owned()),
        ("127.0.0.1:8000", "127.0.0.1:0".to_owned()),
        ("/var/lib/harvestman", format!("{folder}/served")),
        ("/backups/", format!("{folder}/")),
        ("crates/content/score/train.py", "train.py".to_owned()),
        ("/ID", "/$(cat id)".to_owned()),
        (" ID\n", " $(cat id)\n".to_owned()),
    ] {
        code = code.replace(example, &real);
    }
    code
}

async fn start() -> TestServer {
    let path = |name: &str| tools::path(name).into_os_string().into_string().unwrap();
    TestServer::start_with(&[
        tools::chromium(),
        ("HARVESTMAN_PYTHON", &path("HARVESTMAN_TEST_PYTHON")),
    ])
    .await
}

/// Runs an example, and returns the end of its output if it fails.
async fn failure(mut command: Command) -> Option<String> {
    let output = tokio::task::spawn_blocking(move || command.output())
        .await
        .unwrap()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = printed.lines().collect();
    let last = &lines[lines.len().saturating_sub(FAILURE_LINES)..];
    (!output.status.success()).then(|| format!("{}\n{}", output.status, last.join("\n")))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shell_command_succeeds() {
    let (site, mut failures) = (site().await, Vec::new());
    for document in documents() {
        let blocks = document.blocks("sh");
        if blocks.is_empty() {
            continue;
        }
        let (server, work) = (start().await, Folder::new().unwrap());
        write_files(work.path());
        let mut script = PREAMBLE.to_owned();
        for name in OUTSIDE {
            script.push_str(&format!("{name}() {{ :; }}\n"));
        }
        for block in blocks {
            let block = format!("{block}\n");
            script.push_str(&with_real_values(&block, &server, &site, work.path()));
        }
        let mut bash = Command::new("bash");
        bash.args(["-x", "-c"]).arg(script).current_dir(work.path());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HARVESTMAN_") {
                bash.env_remove(name);
            }
        }
        bash.env("PROGRAM", server::binary().unwrap())
            .env("KEY", KEY)
            .env("ROOT", root())
            .env("HOME", work.path())
            .env("HARVESTMAN_DATA_DIR", server.data_dir().join("data"))
            .envs([tools::chromium()])
            .stdin(std::process::Stdio::null());
        failures.extend(
            failure(bash)
                .await
                .map(|failure| format!("{}: {failure}", document.path)),
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_of_the_readme_runs() {
    let (site, server, work) = (site().await, start().await, Folder::new().unwrap());
    let packages = tools::path("HARVESTMAN_TEST_JAVASCRIPT").join("node_modules");
    let modules = work.path().join("node_modules");
    fs::create_dir(&modules).unwrap();
    let link = std::os::unix::fs::symlink::<PathBuf, PathBuf>;
    link(packages.join("@mendable"), modules.join("@mendable")).unwrap();
    link(tools::path("HARVESTMAN_TEST_PACKAGE"), modules.join("harvestman")).unwrap();
    let readme = documents()
        .into_iter()
        .find(|document| document.path == "README.md")
        .unwrap();
    for (language, program) in [
        ("python", "HARVESTMAN_TEST_PYTHON"),
        ("js", "HARVESTMAN_TEST_NODE"),
    ] {
        let blocks = readme.blocks(language);
        assert!(!blocks.is_empty(), "{language}");
        for block in blocks {
            let file = work
                .path()
                .join(format!("example.{}", if language == "js" { "mjs" } else { "py" }));
            fs::write(&file, with_real_values(block, &server, &site, work.path())).unwrap();
            let mut command = Command::new(tools::path(program));
            command.arg(&file).current_dir(work.path());
            assert_eq!(failure(command).await, None, "{block}");
        }
    }
}

#[test]
fn every_request_body_is_accepted() {
    for document in documents() {
        let page = document.path.rsplit('/').next().unwrap();
        let command = match page {
            "actions.md" | "caching.md" | "change-tracking.md" | "formats.md" | "privacy.md"
            | "scrape.md" => RequestCommand::Scrape,
            "crawl-prompts.md" | "crawl-scope.md" | "politeness.md" | "webhooks.md" => RequestCommand::Crawl,
            "batch.md" => RequestCommand::Batch,
            "extract.md" => RequestCommand::Extract,
            "agent.md" => RequestCommand::Agent,
            _ => RequestCommand::Search,
        };
        for block in document.blocks("json") {
            let body: Value = serde_json::from_str(block)
                .unwrap_or_else(|error| panic!("{}: {error}\n{block}", document.path));
            let is_request = ["url", "urls", "query", "prompt"]
                .iter()
                .any(|field| body.get(field).is_some());
            if is_request && let Err(error) = command.check(body) {
                panic!("{}: {}\n{block}", document.path, error.message);
            }
        }
    }
}

#[test]
fn every_command_task_and_setting_has_its_name() {
    let program = |arguments: &[&str]| {
        let output = Command::new(server::binary().unwrap()).args(arguments).output();
        printed(&output.unwrap(), 0).0
    };
    let tasks = include_str!("../../../crates/xtask/src/main.rs");
    let help = program(&["serve", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let names = help.split("[env: ").skip(1);
    let names = names.filter_map(|rest| rest.split_once(']'));
    let variables: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
    assert!(variables.contains("HARVESTMAN_DATA_DIR"), "{variables:?}");
    let mut all = String::new();
    for document in documents() {
        for name in document.words_after("`harvestman ") {
            assert!(
                program(&[name, "--help"]).contains("Usage:"),
                "{}: harvestman {name}",
                document.path
            );
        }
        for name in document.words_after("cargo xtask ") {
            assert!(
                tasks.contains(&format!("\n    {name} ")) || tasks.contains(&format!("\n    {name}\n")),
                "{}: cargo xtask {name}",
                document.path
            );
        }
        all.push_str(&document.text);
    }
    let settings = documents()
        .into_iter()
        .find(|document| document.path == "docs/guide/settings.md")
        .unwrap();
    for variable in &variables {
        // Some share a row: `HARVESTMAN_LLM_BASE_URL`, `_LLM_MODEL`.
        let short = variable.trim_start_matches("HARVESTMAN");
        assert!(
            settings.text.contains(&format!("`{variable}`")) || settings.text.contains(&format!("`{short}`")),
            "docs/guide/settings.md does not list {variable}"
        );
    }
    let known = ["API_URL", "API_KEY", "CORPUS", "CYCLES", "TOOLS", "TEST_"];
    for (at, _) in all.match_indices("HARVESTMAN_") {
        let rest = &all[at..];
        let end = rest
            .find(|c: char| !c.is_ascii_uppercase() && c != '_')
            .unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches("_FILE");
        let rest = name.trim_start_matches("HARVESTMAN_");
        assert!(
            variables.contains(name) || known.iter().any(|known| rest.starts_with(known)),
            "unknown setting {name}"
        );
    }
}

#[test]
fn every_link_leads_to_a_section_of_a_file() {
    let anchors = |text: &str| -> BTreeSet<String> {
        let headings = text.lines().filter(|line| line.starts_with('#'));
        let anchor = |line: &str| {
            let title = line
                .trim_start_matches('#')
                .trim()
                .to_lowercase()
                .replace(' ', "-");
            title
                .chars()
                .filter(|&c| c.is_alphanumeric() || c == '-' || c == '_')
                .collect()
        };
        headings.map(anchor).collect()
    };
    for document in documents() {
        let folder = root().join(&document.path);
        let folder = folder.parent().unwrap();
        for (at, _) in document.text.match_indices("](") {
            let link = &document.text[at + 2..];
            let link = &link[..link.find(')').unwrap()];
            if link.contains("://") || link.contains(['\n', ' ', '"']) {
                continue;
            }
            let (path, section) = link.split_once('#').unwrap_or((link, ""));
            let file = folder.join(path);
            let is_page = path.is_empty() || file.is_file() || file.is_dir();
            assert!(is_page, "{}: no file {link}", document.path);
            let text = match path.is_empty() {
                true => document.text.clone(),
                false if section.is_empty() => continue,
                false => fs::read_to_string(file).unwrap(),
            };
            assert!(
                anchors(&text).contains(section),
                "{}: no section {link}",
                document.path
            );
        }
    }
}
