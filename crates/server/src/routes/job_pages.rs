//! Pages of a job without their bodies, and the links among them, for the console: ten thousand pages fit into a few
//! small responses. Documents of a job with zero data retention are never included: they are for a single reader.

use harvestman_core::api::console::{
    ConsoleJob, ConsoleJobResponse, JobLinks, JobProcessing, PageSummaries, PageSummary,
};
use harvestman_core::api::fields::Slot;
use harvestman_core::api::job::{JobKind, JobStatus, StatusPath};
use harvestman_core::api::query::Query;
use harvestman_core::ids::JobId;
use harvestman_core::job_comparison::{PageDigest, content_hash};
use harvestman_core::link_graph::{LinkGraph, PageLinks, markdown_links};
use harvestman_core::paging::MAX_DATA_BYTES;
use harvestman_store::{JobRow, Principal, blocking};
use serde::Deserialize;

use crate::app::App;
use crate::auth::Caller;
use crate::error::{Failure, HandlerResult, json};
use crate::limits;
use crate::routes::{PathId, QueryText};

/// Returns the job as the console lists it, with its pace: the page counts, and the limiter that holds it back now.
pub(crate) async fn job(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    let row = row(&app, &principal, id).await?;
    let can_continue =
        row.kind == JobKind::Crawl && row.status != JobStatus::Scraping && !row.zero_data_retention;
    let mut job = entry(row);
    if can_continue {
        job.urls_left = Some(app.store().urls_left(id).await?);
    }
    if StatusPath::of(job.kind).is_some() {
        let limiter = app.engine().limiter(id);
        job.pace = Some(JobProcessing {
            pages: app.store().pace_counts(id).await?,
            limited_by: limiter.filter(|_| job.status == JobStatus::Scraping),
        });
    }
    json(&ConsoleJobResponse { success: true, job })
}

/// Returns a job as the console lists it.
pub(crate) fn entry(row: JobRow) -> ConsoleJob {
    ConsoleJob {
        id: row.id,
        kind: row.kind,
        status: row.status,
        completed: row.completed,
        total: row.total(),
        credits_used: row.credits,
        created_at: row.created_at,
        completed_at: row.completed_at,
        expires_at: row.expires_at,
        request: serde_json::from_str(&row.request).ok(),
        url: row.url,
        pace: None,
        urls_left: None,
    }
}

/// Returns a summary of each page from `skip` on, at most `limit` of them.
pub(crate) async fn list(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = Query::parse(&query);
    let skip = query.integer("skip", 0..=Slot::UNBOUNDED)?.unwrap_or(0);
    let limit = query
        .integer("limit", 1..=limits::JOB_PAGES)?
        .unwrap_or(limits::JOB_PAGES);
    let row = row(&app, &principal, id).await?;
    let (mut pages, next, more) = read(&app, &row, skip, limit, |document| {
        StoredDocument::of(document).summary()
    })
    .await?;
    let facts = app.store().page_facts(row.id, skip, pages.len() as u64).await?;
    for (page, facts) in pages.iter_mut().zip(facts) {
        page.depth = facts.depth;
        page.took_ms = facts.took_ms;
        page.stored_at = Some(facts.stored_at);
    }
    json(&PageSummaries {
        success: true,
        pages,
        next: more.then_some(next),
    })
}

/// Returns the links among the first pages of a job.
pub(crate) async fn links(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    let row = row(&app, &principal, id).await?;
    let (results, ..) = read(&app, &row, 0, limits::GRAPH_PAGES, |document| {
        let document = StoredDocument::of(document);
        (document.links.is_some(), document.links())
    })
    .await?;
    let (listed, mut pages): (Vec<bool>, Vec<PageLinks>) = results.into_iter().unzip();
    let found_on = app.store().found_on(row.id, pages.len() as u64).await?;
    for (page, found_on) in pages.iter_mut().zip(found_on) {
        page.found_on = found_on;
    }
    let work = move || LinkGraph::of(&pages, limits::GRAPH_LINKS);
    let graph = blocking(work).await?;
    json(&JobLinks {
        success: true,
        pages: graph.parents.len(),
        graph,
        listed: listed.into_iter().all(|listed| listed),
    })
}

pub(super) async fn row(app: &App, principal: &Principal, id: JobId) -> Result<JobRow, Failure> {
    let row = app
        .store()
        .job(principal.team, id, harvestman_engine::now())
        .await?;
    row.ok_or_else(Failure::no_job)
}

/// Maps documents with `map`; returns the results, the offset of the next document, and whether there is one.
pub(super) async fn read<T: Send + 'static>(
    app: &App,
    row: &JobRow,
    skip: u64,
    limit: u64,
    map: fn(&str) -> T,
) -> Result<(Vec<T>, u64, bool), Failure> {
    let (mut results, mut next) = (Vec::new(), skip);
    loop {
        let remaining = limit.saturating_sub(next - skip);
        // Reading documents of such a job deletes them, which this request must not do.
        if remaining == 0 || row.zero_data_retention {
            return Ok((results, next, next < row.completed && !row.zero_data_retention));
        }
        let chunk = app
            .store()
            .documents(row.id, next, Some(remaining), MAX_DATA_BYTES)
            .await?;
        let documents = chunk.documents;
        let work = move || documents.iter().map(|text| map(text)).collect::<Vec<_>>();
        let mapped = blocking(work).await?;
        next = chunk.next_skip;
        results.extend(mapped);
        if !chunk.more {
            return Ok((results, next, false));
        }
    }
}

/// Fields of a stored document that are read here.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct StoredDocument {
    markdown: Option<String>,
    html: Option<String>,
    raw_html: Option<String>,
    links: Option<Vec<String>>,
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    url: Option<String>,
    #[serde(rename = "sourceURL")]
    source_url: Option<String>,
    title: Option<String>,
    status_code: Option<u16>,
    error: Option<String>,
}

impl StoredDocument {
    pub(super) fn of(document: &str) -> Self {
        serde_json::from_str(document).unwrap_or_default()
    }

    fn summary(self) -> PageSummary {
        let texts = [&self.markdown, &self.html, &self.raw_html];
        let size = texts.into_iter().flatten().map(String::len).max();
        let content = Some(self.text()).filter(|text| !text.trim().is_empty());
        let content = content.map(content_hash);
        let metadata = self.metadata;
        let (source, url) = (metadata.source_url.as_deref(), metadata.url.as_deref());
        PageSummary {
            requested: PageSummary::redirect_source(source, url),
            content,
            url: metadata.url.or(metadata.source_url).unwrap_or_default(),
            title: metadata.title.unwrap_or_default(),
            status: metadata.status_code,
            error: metadata.error,
            size: size.unwrap_or(0),
            ..PageSummary::default()
        }
    }

    /// Returns the text that is compared between versions of the page: Markdown, else HTML.
    pub(super) fn text(&self) -> &str {
        let texts = [&self.markdown, &self.html, &self.raw_html];
        texts.into_iter().flatten().next().map_or("", String::as_str)
    }

    pub(super) fn digest(self) -> PageDigest {
        let content = content_hash(self.text());
        let summary = self.summary();
        PageDigest {
            url: summary.url,
            title: summary.title,
            status: summary.status,
            content,
        }
    }

    /// Returns the links of the page: its `links` format, else the links in its Markdown.
    fn links(self) -> PageLinks {
        let metadata = self.metadata;
        let found_links = || markdown_links(self.markdown.as_deref().unwrap_or_default());
        PageLinks {
            urls: [metadata.url, metadata.source_url]
                .into_iter()
                .flatten()
                .collect(),
            links: self.links.unwrap_or_else(found_links),
            found_on: None,
        }
    }
}
