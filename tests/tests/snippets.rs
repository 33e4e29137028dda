//! The code snippets of the console: each language is run unmodified and must scrape the page.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::process::Command;

use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::snippet::{Call, KEY_VARIABLE, SnippetLanguage};
use harvestman_core::api::wire_enum::WireEnum;
use harvestman_core::api::{ScrapeRequest, Wire};
use harvestman_tests::server::{self, KEY};
use harvestman_tests::{Page, Site, TestServer, tools};
use serde_json::{Value, json};

const MANIFEST: &str = "[package]\nname = \"snippet\"\nedition = \"2024\"\n\n[dependencies]\nserde_json = \"1\"\n\
    ureq = { version = \"3\", default-features = false, features = [\"json\"] }\n\n[workspace]\n";

/// Returns the command that runs a snippet.
fn program(language: SnippetLanguage, code: &str, folder: &Path) -> Command {
    fs::create_dir_all(folder.join("src")).unwrap();
    let script = |program: &str, name: &str| {
        let file = folder.join(name);
        fs::write(&file, code).unwrap();
        let mut command = Command::new(tools::path(program));
        command.arg(file);
        command
    };
    match language {
        SnippetLanguage::Curl => shell(code),
        SnippetLanguage::Cli => {
            let mut shell = shell(code);
            let own = server::binary().unwrap();
            let others = std::env::var_os("PATH").unwrap_or_default();
            let folders = own.parent().map(Path::to_owned).into_iter();
            let path = std::env::join_paths(folders.chain(std::env::split_paths(&others)));
            shell.env("PATH", path.unwrap());
            shell
        }
        SnippetLanguage::Mcp => {
            let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}});
            let call: Value = serde_json::from_str(code).unwrap();
            let input = folder.join("messages");
            fs::write(&input, format!("{hello}\n{call}\n")).unwrap();
            let mut program = Command::new(server::binary().unwrap());
            program.arg("mcp").stdin(fs::File::open(input).unwrap());
            program
        }
        SnippetLanguage::Node => script("HARVESTMAN_TEST_NODE", "snippet.mjs"),
        SnippetLanguage::Python => script("HARVESTMAN_TEST_PYTHON", "snippet.py"),
        SnippetLanguage::Rust => {
            fs::write(folder.join("Cargo.toml"), MANIFEST).unwrap();
            fs::write(folder.join("src/main.rs"), code).unwrap();
            // Use the versions of the workspace, which are available offline.
            let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
            fs::copy(lock, folder.join("Cargo.lock")).unwrap();
            let mut cargo = Command::new(env!("CARGO"));
            cargo
                .args(["run", "--quiet", "--offline"])
                .current_dir(folder)
                .env(
                    "CARGO_TARGET_DIR",
                    Path::new(env!("CARGO_TARGET_TMPDIR")).join("snippet"),
                );
            cargo
        }
    }
}

fn shell(code: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(code);
    shell
}

/// Runs a snippet, which must succeed, and returns its output.
async fn run(server: &TestServer, base: &str, language: SnippetLanguage, code: String) -> String {
    let mut command = program(language, &code, &server.data_dir().join(language.as_str()));
    command.env(KEY_VARIABLE, KEY).env("HARVESTMAN_API_URL", base);
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.unwrap().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{language}:\n{code}\n{printed}\n{stderr}"
    );
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn snippets_in_all_languages_do_the_same_as_the_form() {
    let server = TestServer::start().await;
    let page = Page::html("<title>A page</title><main><h1>It's \"here\"</h1><p>Eight legs.</p></main>");
    let site = Site::new().page("/it's", page).serve().await;
    let body =
        json!({ "url": site.url("/it's"), "formats": ["markdown", "links"], "onlyMainContent": false });
    let body = ScrapeRequest::from_value(body).unwrap().to_body();
    let base = format!("http://{}", server.address());
    for language in SnippetLanguage::ALL {
        let call = Call {
            method: "POST",
            base: &base,
            path: "/v2/scrape",
            body: Some(&body),
            with_key: true,
        };
        let code = call.snippet(*language).unwrap();
        let printed = run(&server, &base, *language, code).await;
        let id = match language {
            SnippetLanguage::Mcp => "Scrape id: ",
            _ => "scrapeId",
        };
        assert!(
            printed.contains("Eight legs.") && printed.contains(id),
            "{language}:\n{printed}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_has_a_command_and_a_tool() {
    let server = TestServer::start().await;
    let page = Page::html("<title>A page</title><main><h1>It's here</h1><p>Eight legs.</p></main>");
    let site = Site::new().page("/it's", page).serve().await;
    let (url, base) = (site.url("/it's"), format!("http://{}", server.address()));
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}});
    for (command, body, command_output, tool_output) in [
        (
            RequestCommand::Scrape,
            json!({"url": url}),
            "Eight legs.",
            "Eight legs.",
        ),
        (
            RequestCommand::Crawl,
            json!({"url": url, "limit": 2, "includePaths": ["^/it's$"],
            "scrapeOptions": {"onlyMainContent": false}}),
            "Eight legs.",
            "id",
        ),
        (
            RequestCommand::Batch,
            json!({"urls": [url], "formats": ["html", "links"]}),
            "Eight legs.",
            "id",
        ),
        (
            RequestCommand::Map,
            json!({"url": url, "sitemap": "skip"}),
            "/it's",
            "/it's",
        ),
        (
            RequestCommand::Extract,
            json!({"urls": [url], "schema": schema}),
            "It's here",
            "It's here",
        ),
        (
            RequestCommand::Search,
            json!({"query": "eight legs", "limit": 3}),
            "web",
            "web",
        ),
    ] {
        let body = command.check(body).unwrap();
        let call = Call {
            method: "POST",
            base: &base,
            path: command.path(),
            body: Some(&body),
            with_key: true,
        };
        let printed = |language| run(&server, &base, language, call.snippet(language).unwrap());
        let by_command = printed(SnippetLanguage::Cli).await;
        assert!(by_command.contains(command_output), "{command}: {by_command}");
        let by_tool = printed(SnippetLanguage::Mcp).await;
        let responses: Vec<Value> = by_tool
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let result = &responses.iter().find(|response| response["id"] == 1).unwrap()["result"];
        let parts = result["content"].as_array().unwrap().iter();
        let text: String = parts.filter_map(|part| part["text"].as_str()).collect();
        assert!(
            result["isError"] == false && text.contains(tool_output),
            "{command}: {text}"
        );
    }
}
