//! Text generated from the field tables: the option tables of the documentation and the request types of the npm
//! package. It is between markers; the tests compare it with the files, and rewrite it when `UPDATE_EXPECT=1` is set.
//!
//! Markers: `<!-- fields: CrawlRequest only limit delay -->` to `<!-- end -->` in the documentation ([`markdown`] says
//! what may follow the name), `// Generated from the field tables: begin` to `: end` in the types.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]
#![allow(
    clippy::print_stdout,
    reason = "a failure names the command that updates the text"
)]

#[path = "generated/block.rs"]
mod block;
#[path = "generated/markdown.rs"]
mod markdown;
#[path = "generated/tables.rs"]
mod tables;
#[path = "generated/typescript.rs"]
mod typescript;
#[path = "generated/words.rs"]
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

const UPDATE: &str = "UPDATE_EXPECT=1 cargo test -p harvestman-core --test generated";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with the same file after its blocks were generated again.
fn check(file: &Path, generate: impl Fn(&str) -> String) {
    let text = fs::read_to_string(file).unwrap();
    let generated = generate(&text);
    if generated != text {
        println!("{} is outdated. Update it: {UPDATE}", file.display());
    }
    expect_file![file].assert_eq(&generated);
}

/// Returns the pages with tables: those of the guide, the one about sessions, and the API reference.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let guide = fs::read_dir(docs.join("guide")).unwrap();
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    pages.extend(["SESSIONS.md", "API.md"].map(|page| docs.join(page)));
    pages.sort();
    pages
}

#[test]
fn option_tables_match_the_fields() {
    for page in pages() {
        let links = match page.parent().unwrap().ends_with("guide") {
            true => words::Links::FromGuide,
            false => words::Links::FromDocs,
        };
        check(&page, |text| {
            block::replace(text, "<!-- fields: ", " -->", "<!-- end -->", |table| {
                format!("\n{}\n", markdown::table(table, links))
            })
        });
    }
}

#[test]
fn every_request_has_a_table() {
    let pages: String = pages()
        .iter()
        .map(|page| fs::read_to_string(page).unwrap())
        .collect();
    for name in tables::NAMES {
        let marker = format!("<!-- fields: {name} ");
        assert!(pages.contains(&marker), "no page has {marker}");
    }
}

#[test]
fn request_types_match_the_fields() {
    let types = root().join("crates/wasm/npm/requests.d.ts");
    check(&types, |text| {
        let generated = typescript::types();
        let (begin, end) = (
            "// Generated from the field tables: ",
            "// Generated from the field tables: end",
        );
        block::replace(text, begin, "", end, |_| format!("\n{generated}\n"))
    });
}
