//! Reads jobs: rows, documents, errors, and on which pages their pages were found.

use std::collections::HashMap;

use futures_util::TryStreamExt;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, query, query_as, query_scalar};

use harvestman_core::crawl::ProcessingCounts;
use harvestman_core::ids::{JobId, KeyId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::{JobError, JobErrors, JobRow, JobStatus};
use crate::page::DocumentChunk;
use crate::prepared::decompress;
use crate::sqlite::Sqlite;
use crate::sqlite::jobs::{parse_kind, parse_progress};
use crate::sqlite::rows::{Columns, bad_column, blob, int};

/// A stored url_key, if there is one.
type MaybeKey = Option<Vec<u8>>;

macro_rules! select_jobs {
    ($rest:literal) => {
        concat!(
            "SELECT id, team_id, key_id, kind, url, request, status, page_limit, admitted, completed, failed,
                credits, created_at, completed_at, expires_at, retention_ms, warnings, error, zero_data_retention
             FROM job ",
            $rest
        )
    };
}

impl Sqlite {
    pub(crate) async fn job(
        &self,
        team: TeamId,
        job: JobId,
        now: Timestamp,
    ) -> Result<Option<JobRow>, StoreError> {
        let row = query(select_jobs!(
            "WHERE id = ?1 AND team_id = ?2 AND (expires_at IS NULL OR expires_at > ?3)"
        ))
        .bind(blob(job.0))
        .bind(blob(team.0))
        .bind(int(now.0))
        .fetch_optional(&self.readers)
        .await?;
        row.map(|row| job_row(&row)).transpose()
    }

    pub(crate) async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> {
        let rows = query(select_jobs!(
            "WHERE team_id = ?1 AND kind = 'crawl' AND status = 'scraping' ORDER BY created_at DESC, id DESC"
        ))
        .bind(blob(team.0))
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(job_row).collect()
    }

    pub(crate) async fn recent_jobs(
        &self,
        team: TeamId,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<JobRow>, StoreError> {
        let rows = query(select_jobs!(
            "WHERE team_id = ?1 AND (expires_at IS NULL OR expires_at > ?2) ORDER BY id DESC LIMIT ?3"
        ))
        .bind(blob(team.0))
        .bind(int(now.0))
        .bind(i64::from(limit))
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(job_row).collect()
    }

    pub(crate) async fn documents(
        &self,
        job: JobId,
        skip: u64,
        limit: Option<u64>,
        max_bytes: usize,
    ) -> Result<DocumentChunk, StoreError> {
        let mut transaction = self.readers.begin().await?;
        let last = {
            let mut sizes = query(
                "SELECT seq, size_bytes FROM page WHERE job_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            )
            .bind(blob(job.0))
            .bind(int(skip))
            .bind(int(limit.unwrap_or(u64::MAX)))
            .fetch(&mut *transaction);
            let mut last = skip;
            // The separator between two documents counts too.
            let mut total: u64 = 0;
            while let Some(row) = sizes.try_next().await? {
                let first = last == skip;
                total += row.count("size_bytes")? + u64::from(!first);
                if !first && total > max_bytes as u64 {
                    break;
                }
                last = row.count("seq")?;
            }
            last
        };
        let bodies = query(
            "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id
             WHERE job_id = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq",
        )
        .bind(blob(job.0))
        .bind(int(skip))
        .bind(int(last))
        .fetch_all(&mut *transaction)
        .await?;
        let more: bool = query_scalar("SELECT EXISTS (SELECT 1 FROM page WHERE job_id = ?1 AND seq > ?2)")
            .bind(blob(job.0))
            .bind(int(last))
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(DocumentChunk {
            documents: decompress_texts(bodies).await?,
            next_skip: last,
            more,
        })
    }

    pub(crate) async fn found_on(&self, job: JobId, limit: u64) -> Result<Vec<Option<u32>>, StoreError> {
        let pages: Vec<(MaybeKey, MaybeKey)> = query_as(
            "SELECT page.url_key, found_on FROM page LEFT JOIN job_url USING (job_id, url_key)
             WHERE page.job_id = ?1 AND EXISTS (SELECT 1 FROM job WHERE id = ?1 AND zero_data_retention = 0)
             ORDER BY seq LIMIT ?2",
        )
        .bind(blob(job.0))
        .bind(int(limit))
        .fetch_all(&self.readers)
        .await?;
        let indexes: HashMap<_, _> = pages
            .iter()
            .zip(0..)
            .filter_map(|((key, _), index)| Some((key.as_ref()?, index)))
            .collect();
        let index = |page: &MaybeKey| indexes.get(page.as_ref()?).copied();
        Ok(pages.iter().map(|(_, page)| index(page)).collect())
    }

    pub(crate) async fn pace_counts(&self, job: JobId) -> Result<ProcessingCounts, StoreError> {
        let shards = query("SELECT progress FROM shard WHERE job_id = ?1")
            .bind(blob(job.0))
            .fetch_all(&self.readers)
            .await?;
        let mut sum = ProcessingCounts::default();
        for row in &shards {
            let of_shard = parse_progress(row)?.pace;
            sum.in_browser += of_shard.in_browser;
            sum.waited += of_shard.waited;
            sum.retried += of_shard.retried;
        }
        Ok(sum)
    }

    pub(crate) async fn errors(&self, job: JobId) -> Result<JobErrors, StoreError> {
        let mut transaction = self.readers.begin().await?;
        let entries =
            query("SELECT scrape_id, at, url, code, message FROM job_error WHERE job_id = ?1 ORDER BY no")
                .bind(blob(job.0))
                .fetch_all(&mut *transaction)
                .await?;
        let robots_blocked = query_scalar(
            "SELECT url FROM job_url WHERE job_id = ?1 AND robots_blocked = 1 ORDER BY position",
        )
        .bind(blob(job.0))
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(JobErrors {
            errors: entries.iter().map(job_error).collect::<Result<_, _>>()?,
            robots_blocked,
        })
    }
}

/// Builds an error list entry from a row with `scrape_id`, `at`, `url`, `code` and `message`.
pub(crate) fn job_error(row: &SqliteRow) -> Result<JobError, StoreError> {
    Ok(JobError {
        id: ScrapeId(row.id("scrape_id")?),
        at: row.time("at")?,
        url: row.text("url")?,
        code: row.text("code")?,
        message: row.text("message")?,
    })
}

/// Decompresses the JSON texts of rows with `size_bytes` and `zstd`.
pub(crate) async fn decompress_texts(rows: Vec<SqliteRow>) -> Result<Vec<String>, StoreError> {
    let work = move || {
        rows.iter()
            .map(|row| decompress(row.try_get("zstd")?, row.count("size_bytes")?))
            .collect::<Result<Vec<_>, StoreError>>()
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| StoreError::Closed)?
}

fn job_row(row: &SqliteRow) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        id: JobId(row.id("id")?),
        team: TeamId(row.id("team_id")?),
        key: row.maybe_id("key_id")?.map(KeyId),
        kind: parse_kind(&row.text("kind")?)?,
        url: row.text("url")?,
        request: row.text("request")?,
        status: JobStatus::parse(&row.text("status")?).ok_or_else(|| bad_column("status"))?,
        page_limit: row.count("page_limit")?,
        admitted: row.count("admitted")?,
        completed: row.count("completed")?,
        failed: row.count("failed")?,
        credits: row.count("credits")?,
        created_at: row.time("created_at")?,
        completed_at: row.maybe_time("completed_at")?,
        expires_at: row.maybe_time("expires_at")?,
        retention_ms: row.count("retention_ms")?,
        warnings: serde_json::from_str(&row.text("warnings")?).map_err(|_| bad_column("warnings"))?,
        error: row.maybe_text("error")?,
        zero_data_retention: row.count("zero_data_retention")? > 0,
    })
}
