//! Documents, versions and cached responses, decompressed.

use std::collections::HashMap;

use harvestman_core::page_version::PageVersion;
use harvestman_core::search::Candidate;
use url::Url;

use crate::cache::{CachedPage, KnownPage};
use crate::columns::{Columns, bad_column};
use crate::error::StoreError;
use crate::limits;
use crate::prepared::{blocking, decompress, run_by_size};

/// Decompresses the texts of rows with `size_bytes` and `zstd`.
pub(crate) async fn decompress_texts(
    rows: Vec<impl Columns + Send + 'static>,
) -> Result<Vec<String>, StoreError> {
    let work = move || {
        rows.iter()
            .map(|row| decompress(&row.bytes("zstd")?, row.count("size_bytes")?))
            .collect::<Result<Vec<_>, StoreError>>()
    };
    blocking(work).await?
}

/// Builds the last version of a page from a row of `page_version`.
pub(crate) async fn page_version(
    row: impl Columns + Send + 'static,
) -> Result<Option<PageVersion>, StoreError> {
    let (at, status_code) = (row.time("at")?, row.count("status_code")?);
    let data = row.maybe_text("data")?;
    let data = data
        .map(|text| serde_json::from_str(&text).map_err(|_| bad_column("data")))
        .transpose()?;
    let markdown = decompress_texts(vec![row]).await?.pop();
    Ok(markdown.map(|markdown| PageVersion {
        at,
        status_code: u16::try_from(status_code).unwrap_or(0),
        markdown,
        data,
    }))
}

/// Builds the response from a row of `cached_page`.
pub(crate) async fn decompress_page(row: &(impl Columns + Sync)) -> Result<CachedPage, StoreError> {
    let (compressed, size) = (row.bytes("zstd")?, row.count("size_bytes")?);
    let size = usize::try_from(size).map_err(|_| bad_column("size_bytes"))?;
    let decompress = move || zstd::bulk::decompress(&compressed, size.min(limits::CACHED_BODY_BYTES));
    let body = run_by_size(size, decompress)
        .await?
        .map_err(|error| StoreError::Unreadable(format!("body of a cached response: {error}")))?;
    Ok(CachedPage {
        url: row.text("url")?,
        status: u16::try_from(row.count("status_code")?).map_err(|_| bad_column("status_code"))?,
        content_type: row.maybe_text("content_type")?,
        fetched_at: row.time("fetched_at")?,
        body,
    })
}

/// Builds a search result from a row of `cached_page` and from what each engine reads in its own types.
pub(crate) fn candidate(
    row: &impl Columns,
    id: i64,
    score: f64,
    has_all: bool,
) -> Result<Candidate, StoreError> {
    let url = Url::parse(&row.text("url")?)
        .map_err(|error| StoreError::Unreadable(format!("the URL of a cached page: {error}")))?;
    Ok(Candidate {
        id,
        url,
        title: row.maybe_text("title")?,
        description: row.maybe_text("description")?,
        content_type: row.maybe_text("content_type")?,
        fetched_at: row.time("fetched_at")?,
        score,
        has_all,
    })
}

/// Returns for each page the index of the page with the first link to it, from rows with `url_key` and `found_on`.
pub(crate) fn linking_pages(rows: &[impl Columns]) -> Result<Vec<Option<u32>>, StoreError> {
    let mut indexes = HashMap::new();
    for (row, index) in rows.iter().zip(0..) {
        if let Some(key) = row.maybe_id("url_key")? {
            indexes.insert(key, index);
        }
    }
    let index = |page| indexes.get(&page).copied();
    rows.iter()
        .map(|row| Ok(row.maybe_id("found_on")?.and_then(index)))
        .collect()
}

/// Builds a known page from a row of `cached_page`.
pub(crate) fn known_page(row: &impl Columns) -> Result<KnownPage, StoreError> {
    Ok(KnownPage {
        url: row.text("url")?,
        title: row.maybe_text("title")?,
        description: row.maybe_text("description")?,
    })
}
