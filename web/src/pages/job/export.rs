//! Export of a job: documents as JSON lines, Markdown as a ZIP archive or one file, links as CSV. Documents are
//! fetched page by page and appended to the file as they arrive.

use harvestman_core::api::Document;
use harvestman_core::api::job::{JobProgress, StatusQuery};
use harvestman_core::link_graph::markdown_links;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::{self, FileParts};
use crate::components::dialog::Dialog;
use crate::console::Console;
use crate::csv::csv_line;
use crate::job_feed::JobFeed;
use crate::limits::EXPORT_DOCUMENTS;
use crate::zip::Zip;
use crate::{display, text};

/// File format of an export.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportFormat {
    Lines,
    Archive,
    Markdown,
    Links,
}

const FORMATS: [(ExportFormat, &str, &str); 4] = [
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
        ExportFormat::Links,
        "CSV of links",
        "Source page and target URL of every link",
    ),
];

impl ExportFormat {
    fn file(self, name: &str) -> (String, &'static str) {
        match self {
            ExportFormat::Lines => (format!("{name}.jsonl"), "application/jsonl"),
            ExportFormat::Archive => (format!("{name}.zip"), "application/zip"),
            ExportFormat::Markdown => (format!("{name}.md"), "text/markdown"),
            ExportFormat::Links => (format!("{name}-links.csv"), "text/csv"),
        }
    }
}

/// A file under construction.
struct ExportFile {
    kind: ExportFormat,
    parts: FileParts,
    zip: Zip,
    index: String,
}

impl ExportFile {
    fn new(kind: ExportFormat) -> Self {
        let parts = FileParts::default();
        if kind == ExportFormat::Links {
            parts.push_text(&csv_line(["from", "to"]));
        }
        Self {
            kind,
            parts,
            zip: Zip::default(),
            index: csv_line(["file", "url", "title", "status"]),
        }
    }

    /// Adds documents. Returns false if the file is full.
    fn add(&mut self, documents: &[Document]) -> bool {
        let mut out = String::new();
        for document in documents {
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
                    match self.zip.add(&name, markdown) {
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

    fn finish(mut self) -> Option<FileParts> {
        if self.kind == ExportFormat::Archive {
            let index = std::mem::take(&mut self.index);
            self.zip.add("index.csv", &index)?;
            self.parts.push_bytes(&self.zip.take());
            self.parts.push_bytes(&self.zip.finish()?);
        }
        Some(self.parts)
    }
}

/// Progress of an export, in pages.
#[derive(Clone, Copy, PartialEq)]
struct ExportProgress {
    fetched: u64,
    total: u64,
}

/// Renders the export dialog.
#[component]
pub fn Export(feed: JobFeed, open: RwSignal<bool>) -> impl IntoView {
    let console = Console::get();
    let progress = RwSignal::new(None::<ExportProgress>);
    let problem = RwSignal::new(None::<String>);
    // Closing the dialog stops the export.
    let write = move |kind: ExportFormat| {
        problem.set(None);
        spawn_local(async move {
            let result = export(console, feed, kind, open, progress).await;
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
    view! {
        <Dialog open title="Export pages">
            <ul class="exports">{kinds.collect_view()}</ul>
            {progress_view}
            {move || problem.get().map(|words| view! { <div class="notice bad" role="alert">{words}</div> })}
            <div class="dialog-foot">
                <button class="btn" on:click=move |_| open.set(false)>
                    {move || if progress.with(Option::is_some) { "Stop" } else { "Close" }}
                </button>
            </div>
        </Dialog>
    }
    .into_any()
}

/// Fetches every page and saves the file. Returns false if the export was stopped.
async fn export(
    console: Console,
    feed: JobFeed,
    kind: ExportFormat,
    open: RwSignal<bool>,
    progress: RwSignal<Option<ExportProgress>>,
) -> Result<bool, String> {
    let (Some(path), Some(total)) = (
        feed.path(),
        feed.rows.try_with_untracked(|rows| rows.len() as u64),
    ) else {
        return Ok(false);
    };
    let (mut file, mut fetched) = (ExportFile::new(kind), 0);
    while fetched < total {
        progress.try_set(Some(ExportProgress { fetched, total }));
        let query = StatusQuery {
            skip: fetched,
            limit: Some(EXPORT_DOCUMENTS.min(total - fetched)),
        };
        let answer: Result<JobProgress, _> = console.client().job_status(path, feed.id, query).await;
        let answer = answer.map_err(|error| error.to_string())?;
        if open.try_get_untracked() != Some(true) {
            return Ok(false);
        }
        if answer.data.is_empty() {
            break;
        }
        fetched += answer.data.len() as u64;
        if !file.add(&answer.data) {
            return Err(text::ARCHIVE_FULL.to_owned());
        }
    }
    let name = feed
        .job
        .try_with_untracked(|job| job.as_ref().map(|job| browser::file_name(&job.url)));
    let (name, kind) = kind.file(&name.flatten().unwrap_or_else(|| "job".to_owned()));
    let parts = file.finish().ok_or(text::ARCHIVE_FULL)?;
    match parts.save(&name, kind) {
        Some(()) => Ok(true),
        None => Err(text::NOT_SAVED.to_owned()),
    }
}
