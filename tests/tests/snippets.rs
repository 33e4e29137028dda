//! The code that the console shows beside a form, run as it stands: each language gets the page.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::process::Command;

use harvestman_core::api::snippet::{Call, KEY_VARIABLE, SnippetLanguage};
use harvestman_core::api::wire_enum::WireEnum;
use harvestman_core::api::{ScrapeRequest, Wire};
use harvestman_tests::server::KEY;
use harvestman_tests::{Page, Site, TestServer, tools};
use serde_json::json;

const MANIFEST: &str = "[package]\nname = \"snippet\"\nedition = \"2024\"\n\n[dependencies]\nserde_json = \"1\"\n\
    ureq = { version = \"3\", default-features = false, features = [\"json\"] }\n\n[workspace]\n";

/// The program that runs a piece of code.
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
        SnippetLanguage::Curl => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(code);
            shell
        }
        SnippetLanguage::Node => script("HARVESTMAN_TEST_NODE", "snippet.mjs"),
        SnippetLanguage::Python => script("HARVESTMAN_TEST_PYTHON", "snippet.py"),
        SnippetLanguage::Rust => {
            fs::write(folder.join("Cargo.toml"), MANIFEST).unwrap();
            fs::write(folder.join("src/main.rs"), code).unwrap();
            // The versions of the workspace, which are on this machine.
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

#[tokio::test(flavor = "multi_thread")]
async fn the_code_beside_a_form_does_what_the_form_does() {
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
        let code = call.snippet(*language);
        let mut command = program(*language, &code, &server.data_dir().join(language.as_str()));
        command.env(KEY_VARIABLE, KEY);
        let output = tokio::task::spawn_blocking(move || command.output())
            .await
            .unwrap()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && printed.contains("Eight legs.") && printed.contains("scrapeId"),
            "{language}:\n{code}\n{printed}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
