//! The pages to check: those in `tests/pages`, and, with `HARVESTMAN_CORPUS`, those of a corpus.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flate2::read::MultiGzDecoder;
use harvestman_content::{HtmlPage, Selection};
use serde_json::Value;
use url::Url;

use crate::rendered_text::{RenderedText, rendered_text};

/// The source of a page.
pub(crate) struct Source {
    name: String,
    url: String,
    html: String,
}

/// A converted page.
pub(crate) struct Converted {
    pub(crate) name: String,
    pub(crate) markdown: String,
    pub(crate) rendered: RenderedText,
    pub(crate) html: String,
}

impl Source {
    pub(crate) fn page(&self) -> HtmlPage {
        let url =
            Url::parse(&self.url).unwrap_or_else(|_| Url::parse("https://site.test/a/page.html").unwrap());
        HtmlPage::parse(&self.html, &url)
    }
}

/// Returns all pages, sorted by name.
fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages");
        let mut sources: Vec<Source> = files(Path::new(folder), ".html")
            .iter()
            .map(|path| Source {
                name: path.file_name().unwrap().to_string_lossy().into_owned(),
                url: String::new(),
                html: fs::read_to_string(path).unwrap(),
            })
            .collect();
        assert!(sources.len() >= 10);
        if let Some(folder) = std::env::var_os("HARVESTMAN_CORPUS") {
            for path in files(Path::new(&folder), ".jsonl.gz") {
                let lines = BufReader::new(MultiGzDecoder::new(File::open(path).unwrap())).lines();
                sources
                    .extend(lines.filter_map(|line| source(&serde_json::from_str(&line.unwrap()).unwrap())));
            }
            assert!(sources.len() >= 100);
        }
        sources
    })
}

/// Reads a row of a corpus. Rows without a page hold reference results.
fn source(row: &Value) -> Option<Source> {
    let text = |key: &str| row[key].as_str().map(str::to_owned);
    Some(Source {
        name: text("id")?,
        url: text("url")?,
        html: text("html")?,
    })
}

fn files(folder: &Path, ends: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(ends));
    paths.sort();
    paths
}

/// Runs `work` on every page, on all cores, and returns the results in the order of the pages.
pub(crate) fn on_all<T: Send>(work: impl Fn(&Source) -> T + Sync) -> Vec<T> {
    let (sources, next) = (sources(), AtomicUsize::new(0));
    let run = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = sources.get(number) else {
                return done;
            };
            done.push((number, work(source)));
        }
    };
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        running.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns every page, converted as a whole and as main content only.
pub(crate) fn converted() -> &'static [[Converted; 2]] {
    static CONVERTED: OnceLock<Vec<[Converted; 2]>> = OnceLock::new();
    CONVERTED.get_or_init(|| {
        on_all(|source| {
            let page = source.page();
            [false, true].map(|only_main_content| {
                let content = page.convert(&selection(only_main_content));
                let markdown = content.markdown();
                Converted {
                    name: format!("{}, main content: {only_main_content}", source.name),
                    rendered: rendered_text(&markdown),
                    markdown,
                    html: content.html(),
                }
            })
        })
    })
}

pub(crate) fn selection(only_main_content: bool) -> Selection {
    Selection {
        only_main_content,
        ..Selection::default()
    }
}
