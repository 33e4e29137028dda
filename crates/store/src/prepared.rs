//! Prepares data for a write in the caller's task: serialises and compresses documents. Both engines share it.

use std::cell::RefCell;

use harvestman_core::api::page::Document;
use harvestman_core::crawl::{PageError, SettledOutcome, SettledUrl, Source};
use harvestman_core::page_version::VersionKey;
use harvestman_core::search::PageText;
use serde_json::Value;
use zstd::bulk::Compressor;

use crate::cache::NewCachedPage;
use crate::error::StoreError;
use crate::job::NewJob;
use crate::limits;
use crate::run::RunEvent;
use crate::scrape::ScrapeResult;

/// A document as stored.
#[derive(Debug)]
pub(crate) struct PreparedDocument {
    pub(crate) scrape_id: Option<[u8; 16]>,
    pub(crate) status_code: Option<u16>,
    pub(crate) took_ms: Option<u64>,
    /// Length of the JSON text.
    pub(crate) size_bytes: u64,
    /// Compressed JSON text.
    pub(crate) body: Vec<u8>,
    /// The new last version of its page, where changes are tracked.
    pub(crate) version: Option<PreparedVersion>,
}

impl PreparedDocument {
    /// Returns the result of a run as a document.
    pub(crate) fn of_text(text: CompressedText) -> Self {
        Self {
            scrape_id: None,
            status_code: None,
            took_ms: None,
            size_bytes: text.size_bytes,
            body: text.body,
            version: None,
        }
    }
}

/// A version of a page as stored.
#[derive(Debug)]
pub(crate) struct PreparedVersion {
    pub(crate) key: VersionKey,
    pub(crate) status_code: u16,
    /// Length of the Markdown.
    pub(crate) size_bytes: u64,
    /// Compressed Markdown.
    pub(crate) body: Vec<u8>,
    /// Tracked data as JSON text.
    pub(crate) data: Option<String>,
}

/// See [`SettledOutcome`].
#[derive(Debug)]
pub(crate) enum PreparedOutcome {
    Page {
        document: PreparedDocument,
        credits: u32,
    },
    Failed(PageError),
    Dropped(Option<PageError>),
}

/// See [`harvestman_core::crawl::SettledUrl`].
#[derive(Debug)]
pub(crate) struct PreparedUrl {
    pub(crate) key: [u8; 16],
    pub(crate) url: String,
    pub(crate) outcome: PreparedOutcome,
}

/// Prepares the outcomes of a batch.
pub(crate) async fn prepare_urls(outcomes: &[SettledUrl]) -> Result<Vec<PreparedUrl>, StoreError> {
    let (mut texts, mut bodies) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for settled in outcomes {
        if let SettledOutcome::Page { document, .. } = &settled.outcome {
            for text in texts_of(document)? {
                bytes += text.len();
                texts.push(text);
            }
        }
        if bytes > limits::COMPRESSED_TOGETHER_BYTES {
            bodies.extend(compress(std::mem::take(&mut texts)).await?);
            bytes = 0;
        }
    }
    bodies.extend(compress(texts).await?);
    let mut bodies = bodies.into_iter();
    let mut settled = Vec::with_capacity(outcomes.len());
    for one in outcomes {
        let outcome = match &one.outcome {
            SettledOutcome::Page { document, credits } => PreparedOutcome::Page {
                document: with_bodies(document, &mut bodies),
                credits: *credits,
            },
            SettledOutcome::Failed(error) => PreparedOutcome::Failed(error.clone()),
            SettledOutcome::Dropped(error) => PreparedOutcome::Dropped(error.clone()),
        };
        settled.push(PreparedUrl {
            key: one.key.to_bytes(),
            url: one.url.as_str().into(),
            outcome,
        });
    }
    Ok(settled)
}

/// Stored instead of a request with zero data retention.
const NO_REQUEST: &str = "{}";

/// A scrape result, prepared for the transaction.
pub(crate) enum ScrapeEnd {
    Document {
        document: PreparedDocument,
        credits: u32,
    },
    Failed {
        error: String,
        status: u16,
        body: String,
    },
}

impl ScrapeEnd {
    pub(crate) async fn prepare(result: ScrapeResult<'_>) -> Result<Self, StoreError> {
        Ok(match result {
            ScrapeResult::Document { document, credits } => Self::Document {
                document: prepare_document(document).await?,
                credits,
            },
            ScrapeResult::Failed(error) => Self::Failed {
                error: error.message.clone(),
                status: error.status(),
                body: error.body().to_string(),
            },
        })
    }
}

/// Returns the job of a scrape as it is stored: without its content for zero data retention.
pub(crate) fn scrape_job(job: &NewJob) -> NewJob {
    let mut job = job.clone();
    if job.zero_data_retention {
        job.url.clear();
        job.request = NO_REQUEST.to_owned();
    }
    job
}

/// An event of a trace as stored.
#[derive(Debug)]
pub(crate) struct PreparedEvent {
    pub(crate) number: u64,
    pub(crate) event: String,
    /// Length of the content that the event refers to, and the content compressed.
    pub(crate) snapshot: Option<(u64, Vec<u8>)>,
}

/// Prepares the events of a trace.
pub(crate) async fn prepare_events(mut events: Vec<RunEvent>) -> Result<Vec<PreparedEvent>, StoreError> {
    let snapshots = events.iter_mut().map(|event| event.snapshot.take());
    let snapshots: Vec<Option<String>> = snapshots.collect();
    let has_snapshot: Vec<bool> = snapshots.iter().map(Option::is_some).collect();
    let mut bodies = compress(snapshots.into_iter().flatten().collect())
        .await?
        .into_iter();
    let mut prepared = Vec::with_capacity(events.len());
    for (event, has_snapshot) in events.into_iter().zip(has_snapshot) {
        let snapshot = if has_snapshot { bodies.next() } else { None };
        prepared.push(PreparedEvent {
            number: event.number,
            event: event.event,
            snapshot: snapshot.map(|body| (body.size_bytes, body.body)),
        });
    }
    Ok(prepared)
}

/// Prepares a single document.
pub(crate) async fn prepare_document(document: &Document) -> Result<PreparedDocument, StoreError> {
    let mut bodies = compress(texts_of(document)?).await?.into_iter();
    Ok(with_bodies(document, &mut bodies))
}

/// Decompresses a stored body into its JSON text.
pub(crate) fn decompress(body: &[u8], size_bytes: u64) -> Result<String, StoreError> {
    let unreadable = |why: String| StoreError::Unreadable(format!("a document body: {why}"));
    let size = usize::try_from(size_bytes.min(limits::DOCUMENT_BYTES)).unwrap_or(usize::MAX);
    let text = zstd::bulk::decompress(body, size).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(text).map_err(|error| unreadable(error.to_string()))
}

#[derive(Default)]
pub(crate) struct CompressedText {
    /// Length of the text.
    pub(crate) size_bytes: u64,
    pub(crate) body: Vec<u8>,
}

/// Returns the texts to compress for a document: its JSON text and, if it becomes a version, its Markdown.
fn texts_of(document: &Document) -> Result<Vec<String>, StoreError> {
    let mut texts = vec![json_text(document)?];
    if document.version.is_some() {
        texts.push(document.markdown.clone().unwrap_or_default());
    }
    Ok(texts)
}

/// Assembles a document from the next bodies, in the order of [`texts_of`].
fn with_bodies(document: &Document, bodies: &mut impl Iterator<Item = CompressedText>) -> PreparedDocument {
    let compressed = bodies.next().unwrap_or_default();
    let version = document.version.clone().map(|key| {
        let CompressedText { size_bytes, body } = bodies.next().unwrap_or_default();
        PreparedVersion {
            key,
            status_code: document.metadata.status_code.unwrap_or(200),
            size_bytes,
            body,
            data: document.tracked.as_ref().map(Value::to_string),
        }
    });
    PreparedDocument {
        scrape_id: document.metadata.scrape_id.map(|id| id.0.into_bytes()),
        status_code: document.metadata.status_code,
        took_ms: document.took_ms,
        size_bytes: compressed.size_bytes,
        body: compressed.body,
        version,
    }
}

/// Compresses texts; longer ones on the blocking thread pool.
pub(crate) async fn compress(texts: Vec<String>) -> Result<Vec<CompressedText>, StoreError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let size: usize = texts.iter().map(String::len).sum();
    let work = move || {
        texts
            .into_iter()
            .map(|text| {
                Ok(CompressedText {
                    size_bytes: text.len() as u64,
                    body: compressed(text.as_bytes())?,
                })
            })
            .collect::<Result<Vec<_>, std::io::Error>>()
    };
    run_by_size(size, work)
        .await?
        .map_err(|error| StoreError::io("cannot compress a document", &error))
}

/// Runs work on this many bytes: on the caller's thread if they are few, else on the blocking thread pool.
pub(crate) async fn run_by_size<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    if bytes <= limits::COMPRESSED_INLINE_BYTES {
        return Ok(work());
    }
    blocking(work).await
}

/// Runs work on the blocking thread pool.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|_| StoreError::Closed)
}

/// Compresses a small body with the compressor of this thread, whose tables are reused. The tables for a large one take
/// megabytes, so they are not kept.
fn compressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    }
    let mut compressed = match bytes.len() <= limits::COMPRESSED_INLINE_BYTES {
        true => COMPRESSOR.with_borrow_mut(|kept| {
            let compressor = match kept {
                Some(compressor) => compressor,
                None => kept.insert(Compressor::new(limits::ZSTD_LEVEL)?),
            };
            compressor.compress(bytes)
        }),
        false => zstd::bulk::compress(bytes, limits::ZSTD_LEVEL),
    }?;
    // The buffer is as large as the input.
    compressed.shrink_to_fit();
    Ok(compressed)
}

pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// Returns the stored name of a source.
pub(crate) fn source_word(source: Source) -> &'static str {
    match source {
        Source::Seed => "seed",
        Source::Sitemap => "sitemap",
        Source::Link => "link",
        Source::Given => "given",
        Source::Guessed => "guessed",
    }
}

/// Parses a name returned by [`source_word`].
pub(crate) fn parse_source(word: &str) -> Option<Source> {
    match word {
        "seed" => Some(Source::Seed),
        "sitemap" => Some(Source::Sitemap),
        "link" => Some(Source::Link),
        "given" => Some(Source::Given),
        "guessed" => Some(Source::Guessed),
        _ => None,
    }
}

/// A compressed response, ready to be stored.
#[derive(Debug)]
pub(crate) struct CompressedPage {
    pub(crate) page: NewCachedPage,
    pub(crate) zstd: Vec<u8>,
    /// Size of the body before compression.
    pub(crate) size_bytes: usize,
    /// Estimated size of the row on disk.
    pub(crate) stored_bytes: u64,
}

impl CompressedPage {
    /// Compresses a response, a large one on the blocking thread pool; returns `None` if it is too large for the cache.
    pub(crate) async fn of(page: NewCachedPage, body: impl AsRef<[u8]> + Send + 'static) -> Option<Self> {
        let bytes = body.as_ref().len();
        if bytes > limits::CACHED_BODY_BYTES {
            return None;
        }
        let compress = move || Self::new(page, body.as_ref());
        run_by_size(bytes, compress).await.ok()?.ok()
    }

    fn new(page: NewCachedPage, body: &[u8]) -> std::io::Result<Self> {
        let zstd = compressed(body)?;
        let texts = [&page.site, &page.title, &page.description, &page.content_type];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let words = page.text.as_ref().map_or(0, PageText::len) / limits::TEXT_BYTES_PER_INDEXED;
        Ok(Self {
            stored_bytes: limits::CACHED_ROW_BYTES + (page.url.len() + texts + words + zstd.len()) as u64,
            size_bytes: body.len(),
            zstd,
            page,
        })
    }
}
