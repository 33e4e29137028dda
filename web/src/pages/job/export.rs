//! Export of a job, or of its selected pages: documents as JSON lines, Markdown as a ZIP archive or one file, pages and
//! links as CSV. Documents are fetched part by part and appended to the file as they arrive.

use std::collections::HashSet;
use std::sync::Arc;

use harvestman_client::ClientError;
use harvestman_core::api::Document;
use harvestman_core::api::job::{JobProgress, StatusQuery};
use harvestman_core::link_graph::markdown_links;
use harvestman_core::time::Timestamp;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::{self, FileParts};
use crate::components::dialog::Dialog;
use crate::components::notice::problem_notice;
use crate::console::Console;
use crate::csv::csv_line;
use crate::deflate::deflate;
use crate::job_feed::JobFeed;
use crate::limits::{EXPORT_DOCUMENTS, RETRY_FIRST_MS, RETRY_LONGEST_MS};
use crate::page_row::PageRow;
use crate::pages::job::page_list::Selection;
use crate::zip::{Zip, ZipFile};
use crate::{display, text};

/// File format of an export.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportFormat {
    Lines,
    Archive,
    Markdown,
    Pages,
    Links,
}

const FORMATS: [(ExportFormat, &str, &str); 5] = [
    (ExportFormat::Lines, "JSONL", "Complete documents, one per line"),
    (
        ExportFormat::Archive,
        "ZIP of Markdown",
        "One file per page, in the folders of the site",
    ),
    (
        ExportFormat::Markdown,
        "One Markdown file",
        "All pages in one file, each after its URL",
    ),
    (
        ExportFormat::Pages,
        "CSV of pages",
        "URL, status, title, depth, size and duration of every page",
    ),
    (
        ExportFormat::Links,
        "CSV of links",
        "Source page and target URL of every link",
    ),
];

impl ExportFormat {
    /// Returns the end of the file name, and the content type.
    fn file(self) -> (&'static str, &'static str) {
        match self {
            ExportFormat::Lines => (".jsonl", "application/jsonl"),
            ExportFormat::Archive => (".zip", "application/zip"),
            ExportFormat::Markdown => (".md", "text/markdown"),
            ExportFormat::Pages => ("-pages.csv", "text/csv"),
            ExportFormat::Links => ("-links.csv", "text/csv"),
        }
    }
}

/// A file under construction.
struct ExportFile {
    kind: ExportFormat,
    parts: FileParts,
    zip: Zip,
    index: String,
    /// Time of pages whose own time is not known.
    created_at: Timestamp,
}

impl ExportFile {
    fn new(kind: ExportFormat, created_at: Timestamp) -> Self {
        let parts = FileParts::default();
        if kind == ExportFormat::Links {
            parts.push_text(&csv_line(["from", "to"]));
        }
        Self {
            kind,
            parts,
            zip: Zip::default(),
            index: csv_line(["file", "url", "title", "status"]),
            created_at,
        }
    }

    /// Adds documents; `rows` are their pages. Returns false if the file is full.
    async fn add(&mut self, documents: &[Document], rows: &[Arc<PageRow>]) -> bool {
        let mut out = String::new();
        for (at, document) in documents.iter().enumerate() {
            let metadata = &document.metadata;
            let url = metadata
                .url
                .as_deref()
                .or(metadata.source_url.as_deref())
                .unwrap_or_default();
            let markdown = document.markdown.as_deref().unwrap_or_default();
            match self.kind {
                ExportFormat::Lines => {
                    out.push_str(&serde_json::to_string(document).unwrap_or_default());
                    out.push('\n');
                }
                ExportFormat::Markdown => out.push_str(&format!(
                    "<!-- {} -->\n\n{markdown}\n\n",
                    url.replace("--", "%2D%2D")
                )),
                ExportFormat::Links => {
                    let links_in_markdown = || markdown_links(markdown);
                    for link in document.links.clone().unwrap_or_else(links_in_markdown) {
                        out.push_str(&csv_line([url, link.as_str()]));
                    }
                }
                ExportFormat::Pages => {}
                ExportFormat::Archive => {
                    let name = display::short_url(url);
                    let name = if name.contains('/') {
                        format!("{name}.md")
                    } else {
                        format!("{name}/index.md")
                    };
                    let title = metadata.title.as_deref().unwrap_or_default();
                    let status = metadata
                        .status_code
                        .map(|status| status.to_string())
                        .unwrap_or_default();
                    let stored_at = rows.get(at).and_then(|row| row.page.stored_at);
                    match self.add_file(&name, markdown, stored_at).await {
                        Some(name) => self.index.push_str(&csv_line([&name, url, title, &status])),
                        None => return false,
                    }
                }
            }
        }
        match self.kind {
            ExportFormat::Archive => self.parts.push_bytes(&self.zip.take()),
            _ => self.parts.push_text(&out),
        }
        true
    }

    async fn add_file(&mut self, name: &str, text: &str, modified: Option<Timestamp>) -> Option<String> {
        let deflated = deflate(text).await;
        let file = ZipFile {
            text,
            deflated: deflated.as_deref(),
            modified: modified.unwrap_or(self.created_at),
        };
        self.zip.add(name, file)
    }

    async fn finish(mut self) -> Option<FileParts> {
        if self.kind == ExportFormat::Archive {
            let index = std::mem::take(&mut self.index);
            self.add_file("index.csv", &index, None).await?;
            self.parts.push_bytes(&self.zip.take());
            self.parts.push_bytes(&self.zip.finish()?);
        }
        Some(self.parts)
    }
}

/// Returns the table of pages.
fn page_table(rows: &[Arc<PageRow>]) -> String {
    let mut table = csv_line(["url", "status", "title", "depth", "size", "duration_ms"]);
    for page in rows.iter().map(|row| &row.page) {
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let (status, depth) = (
            number(page.status.map(u64::from)),
            number(page.depth.map(u64::from)),
        );
        let (size, duration) = (page.size.to_string(), number(page.took_ms));
        table.push_str(&csv_line(
            [&page.url, &status, &page.title, &depth, &size, &duration].map(|cell| cell.as_str()),
        ));
    }
    table
}

/// Splits rows into parts that follow each other in the job, of at most [`EXPORT_DOCUMENTS`] rows.
fn consecutive_parts(rows: &[Arc<PageRow>]) -> impl Iterator<Item = &[Arc<PageRow>]> {
    let runs = rows.chunk_by(|one, next| one.index + 1 == next.index);
    runs.flat_map(|run| run.chunks(EXPORT_DOCUMENTS as usize))
}

/// Progress of an export, in pages.
#[derive(Clone, Copy, PartialEq)]
struct ExportProgress {
    fetched: u64,
    total: u64,
}

/// Renders the export dialog.
#[component]
pub fn Export(feed: JobFeed, selected: Selection, open: RwSignal<bool>) -> impl IntoView {
    let console = Console::get();
    let progress = RwSignal::new(None::<ExportProgress>);
    let problem = RwSignal::new(None::<String>);
    // Closing the dialog stops the export.
    let write = move |kind: ExportFormat| {
        problem.set(None);
        spawn_local(async move {
            let result = export(console, feed, selected, kind, open, progress).await;
            progress.try_set(None);
            match result {
                Ok(true) => {
                    open.try_set(false);
                    console.notify(text::EXPORTED);
                }
                Ok(false) => {}
                Err(words) => _ = problem.try_set(Some(words)),
            }
        });
    };
    let kinds = FORMATS.map(|(kind, name, about)| {
        view! {
            <li>
                <button class="export" disabled=move || progress.with(Option::is_some) on:click=move |_| write(kind)>
                    <b>{name}</b>
                    <span>{about}</span>
                </button>
            </li>
        }
    });
    let progress_view = move || {
        progress.get().map(|ExportProgress { fetched, total }| {
            let share = fetched as f64 / total.max(1) as f64;
            view! {
                <div class="gap" role="status">
                    <div class="bar thin"><i style:transform=format!("scaleX({share:.4})")></i></div>
                    <p class="hint">{format!("{} of {}", display::count(fetched), display::plural(total, "page", "pages"))}</p>
                </div>
            }
        })
    };
    let scope = move || {
        let (count, all) = (selected.with(HashSet::len), feed.rows.with(Vec::len));
        match count {
            0 => display::plural(all as u64, "page", "pages"),
            count => format!(
                "{} of {}, as selected",
                display::count(count as u64),
                display::plural(all as u64, "page", "pages")
            ),
        }
    };
    view! {
        <Dialog open title="Export pages">
            <p class="hint">{scope}</p>
            <ul class="exports">{kinds.collect_view()}</ul>
            {progress_view}
            {move || problem.get().as_deref().map(problem_notice)}
            <div class="dialog-foot">
                <button class="btn" on:click=move |_| open.set(false)>
                    {move || if progress.with(Option::is_some) { "Stop" } else { "Close" }}
                </button>
            </div>
        </Dialog>
    }
    .into_any()
}

/// Repeats a request with back-off while it fails temporarily. Returns `None` once the dialog is closed.
async fn retry_while_open(
    console: Console,
    open: RwSignal<bool>,
    request: impl AsyncFn() -> Result<JobProgress, ClientError>,
) -> Result<Option<JobProgress>, String> {
    let mut retry_ms = RETRY_FIRST_MS;
    loop {
        let response = request().await;
        if open.try_get_untracked() != Some(true) {
            return Ok(None);
        }
        match response {
            Ok(response) => return Ok(Some(response)),
            Err(error) if error.is_transient() => {
                console.handle_error(&error);
                console.wait_for_retry(retry_ms).await;
                retry_ms = (retry_ms * 2).min(RETRY_LONGEST_MS);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Fetches the selected pages, or every page if none is selected, and saves the file. Returns false if the export was
/// stopped.
async fn export(
    console: Console,
    feed: JobFeed,
    selected: Selection,
    kind: ExportFormat,
    open: RwSignal<bool>,
    progress: RwSignal<Option<ExportProgress>>,
) -> Result<bool, String> {
    let chosen = selected.try_with_untracked(Clone::clone).unwrap_or_default();
    let is_exported = |row: &&Arc<PageRow>| chosen.is_empty() || chosen.contains(&row.index);
    let rows = feed
        .rows
        .try_with_untracked(|rows| rows.iter().filter(is_exported).cloned().collect::<Vec<_>>());
    let (Some(path), Some(rows), Some(Some(job))) = (feed.path(), rows, feed.job.try_get_untracked()) else {
        return Ok(false);
    };
    let mut file = ExportFile::new(kind, job.created_at);
    let mut progress_now = ExportProgress {
        fetched: 0,
        total: rows.len() as u64,
    };
    if kind == ExportFormat::Pages {
        file.parts.push_text(&page_table(&rows));
    } else {
        for mut part in consecutive_parts(&rows) {
            while let Some(first) = part.first() {
                progress.try_set(Some(progress_now));
                let query = StatusQuery {
                    skip: first.index,
                    limit: Some(part.len() as u64),
                };
                let request = async || console.client().job_status(path, feed.id, query).await;
                let Some(response) = retry_while_open(console, open, request).await? else {
                    return Ok(false);
                };
                if response.data.is_empty() {
                    break;
                }
                if !file.add(&response.data, part).await {
                    return Err(text::ARCHIVE_FULL.to_owned());
                }
                progress_now.fetched += response.data.len() as u64;
                part = part.get(response.data.len()..).unwrap_or_default();
            }
        }
    }
    let (ending, content_type) = kind.file();
    // Host, day and id, so that the files of several runs have different names, and each name identifies its job.
    let url = match job.url.is_empty() {
        true => rows.first().map_or("", |row| row.page.url.as_str()),
        false => job.url.as_str(),
    };
    let (host, day) = (
        browser::file_name(display::host(url)),
        display::date(job.created_at.0),
    );
    let name = format!("{host}-{day}-{}{ending}", feed.id);
    let parts = file.finish().await.ok_or(text::ARCHIVE_FULL)?;
    match parts.save(&name, content_type) {
        Some(()) => Ok(true),
        None => Err(text::NOT_SAVED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use harvestman_core::api::console::PageSummary;

    use super::*;

    fn rows(indexes: &[u64]) -> Vec<Arc<PageRow>> {
        let row = |index: &u64| {
            let page = PageSummary {
                url: format!("https://e.com/{index}"),
                title: "A, b".to_owned(),
                status: Some(200),
                depth: Some(1),
                size: 12,
                ..PageSummary::default()
            };
            Arc::new(PageRow { index: *index, page })
        };
        indexes.iter().map(row).collect()
    }

    #[test]
    fn selected_pages_are_fetched_in_runs() {
        let rows = rows(&[0, 1, 2, 7, 9, 10]);
        let parts = consecutive_parts(&rows).map(|part| (part[0].index, part.len()));
        assert_eq!(parts.collect::<Vec<_>>(), [(0, 3), (7, 1), (9, 2)]);
    }

    #[test]
    fn the_table_has_a_line_for_each_page() {
        let table = page_table(&rows(&[3]));
        assert_eq!(
            table,
            "url,status,title,depth,size,duration_ms\r\nhttps://e.com/3,200,\"A, b\",1,12,\r\n"
        );
    }
}
