//! The benchmarked pages and converters: ours and those of peers, on the same bytes (docs/BENCHMARKS.md).

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use harvestman_content::{HtmlPage, Selection};
use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::RcDom;
use serde_json::Value;
use url::Url;

/// Maximum total size of the measured pages; they are chosen evenly from all.
const PAGES_BYTES: usize = 12_000_000;

/// A converter to measure.
pub struct Converter {
    /// Name in the table.
    pub name: &'static str,
    /// Runs it and discards the result.
    pub run: fn(&str),
}

/// The converters, starting with the bare parse.
pub const CONVERTERS: [Converter; 8] = [
    Converter {
        name: "html5ever: parse",
        run: html5ever,
    },
    Converter {
        name: "harvestman: parse",
        run: harvestman_parse,
    },
    Converter {
        name: "harvestman: whole page to Markdown",
        run: harvestman_whole,
    },
    Converter {
        name: "htmd: whole page to Markdown",
        run: htmd,
    },
    Converter {
        name: "html-to-markdown: whole page to Markdown",
        run: html_to_markdown,
    },
    Converter {
        name: "harvestman: main content to Markdown",
        run: harvestman_main,
    },
    Converter {
        name: "dom_smoothie: main content to Markdown",
        run: dom_smoothie,
    },
    Converter {
        name: "harvestman: all outputs",
        run: harvestman_all,
    },
];

/// Returns the pages of `HARVESTMAN_CORPUS` (`pages-*.jsonl.gz`; docs/MARKDOWN.md), or else the small ones of
/// the tests.
pub fn pages() -> Vec<String> {
    let mut pages = match std::env::var_os("HARVESTMAN_CORPUS") {
        Some(folder) => corpus(Path::new(&folder)),
        None => files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/pages"))),
    };
    let whole: usize = pages.iter().map(String::len).sum();
    let mut number = 0;
    pages.retain(|_| {
        number += 1;
        number % whole.div_ceil(PAGES_BYTES) == 0
    });
    assert!(!pages.is_empty(), "no pages");
    pages
}

fn names(folder: &Path, ends: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("the pages folder is readable");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("the folder entry is readable").path())
        .collect();
    paths.retain(|path| path.to_string_lossy().ends_with(ends));
    paths.sort();
    paths
}

fn files(folder: &Path) -> Vec<String> {
    let read = |path| fs::read_to_string(path).expect("the page is UTF-8");
    names(folder, ".html").into_iter().map(read).collect()
}

fn corpus(folder: &Path) -> Vec<String> {
    let mut pages = Vec::new();
    for path in names(folder, ".jsonl.gz") {
        let lines = BufReader::new(MultiGzDecoder::new(
            File::open(path).expect("the pages file is readable"),
        ));
        for line in lines.lines() {
            let row: Value =
                serde_json::from_str(&line.expect("the line is readable")).expect("the line is JSON");
            pages.extend(row["html"].as_str().map(str::to_owned));
        }
    }
    pages
}

fn page(html: &str) -> HtmlPage {
    HtmlPage::parse(
        html,
        &Url::parse("https://site.test/a/b").expect("the URL is valid"),
    )
}

fn selection(only_main_content: bool) -> Selection {
    Selection {
        only_main_content,
        remove_base64_images: true,
        ..Selection::default()
    }
}

fn html5ever(html: &str) {
    black_box(parse_document(RcDom::default(), ParseOpts::default()).one(html));
}

fn harvestman_parse(html: &str) {
    black_box(page(html));
}

fn harvestman_whole(html: &str) {
    black_box(page(html).convert(&selection(false)).markdown());
}

fn harvestman_main(html: &str) {
    black_box(page(html).convert(&selection(true)).markdown());
}

/// Produces every output of a page.
fn harvestman_all(html: &str) {
    let page = page(html);
    let content = page.convert(&selection(true));
    black_box((content.markdown(), content.html()));
    black_box((page.links(), page.crawl_links(), page.images(), page.metadata()));
}

fn htmd(html: &str) {
    black_box(htmd::convert(html).ok());
}

fn html_to_markdown(html: &str) {
    black_box(html_to_markdown_rs::convert(html, None).ok());
}

fn dom_smoothie(html: &str) {
    let config = dom_smoothie::Config {
        text_mode: dom_smoothie::TextMode::Markdown,
        ..dom_smoothie::Config::default()
    };
    let reader = dom_smoothie::Readability::new(html, Some("https://site.test/a/b"), Some(config));
    // For this library, a page without an article is an error, after the same work.
    black_box(reader.ok().and_then(|mut reader| reader.parse().ok()));
}
