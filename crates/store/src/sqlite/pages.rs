//! Reads the pages of jobs: documents, errors, versions, and the pages that link to them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::TryStreamExt;

use harvestman_core::crawl::ProcessingCounts;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::page_version::{PageVersion, VersionKey};

use crate::error::StoreError;
use crate::job::JobErrors;
use crate::page::{DocumentChunk, PageFacts, Pages};
use crate::rows::{decompress_texts, job_error, linking_pages, page_version, sum_of_paces};
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::zero_retention::delete_documents;
use crate::value::params;

impl Pages for Sqlite {
    async fn documents(
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
            .bind_all(params![job, skip, limit.unwrap_or(u64::MAX)])
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
        .bind_all(params![job, skip, last])
        .fetch_all(&mut *transaction)
        .await?;
        let more: bool = query("SELECT EXISTS (SELECT 1 FROM page WHERE job_id = ?1 AND seq > ?2)")
            .bind_all(params![job, last])
            .fetch_scalar(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(DocumentChunk {
            documents: decompress_texts(bodies).await?,
            next_skip: last,
            more,
        })
    }

    async fn found_on(&self, job: JobId, limit: u64) -> Result<Vec<Option<u32>>, StoreError> {
        let rows = query(
            "SELECT page.url_key, found_on FROM page LEFT JOIN job_url USING (job_id, url_key)
             WHERE page.job_id = ?1 AND EXISTS (SELECT 1 FROM job WHERE id = ?1 AND zero_data_retention = 0)
             ORDER BY seq LIMIT ?2",
        )
        .bind_all(params![job, limit])
        .fetch_all(&self.readers)
        .await?;
        linking_pages(&rows)
    }

    async fn page_facts(&self, job: JobId, skip: u64, limit: u64) -> Result<Vec<PageFacts>, StoreError> {
        let rows = query(
            "SELECT page.at, depth, took_ms FROM page LEFT JOIN job_url USING (job_id, url_key)
             WHERE page.job_id = ?1 AND seq > ?2
                AND EXISTS (SELECT 1 FROM job WHERE id = ?1 AND zero_data_retention = 0)
             ORDER BY seq LIMIT ?3",
        )
        .bind_all(params![job, skip, limit])
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(Columns::page_facts).collect()
    }

    async fn pace_counts(&self, job: JobId) -> Result<ProcessingCounts, StoreError> {
        let shards = query("SELECT progress FROM shard WHERE job_id = ?1")
            .bind(job)
            .fetch_all(&self.readers)
            .await?;
        sum_of_paces(&shards)
    }

    async fn errors(&self, job: JobId) -> Result<JobErrors, StoreError> {
        let mut transaction = self.readers.begin().await?;
        let entries =
            query("SELECT scrape_id, at, url, code, message FROM job_error WHERE job_id = ?1 ORDER BY no")
                .bind(job)
                .fetch_all(&mut *transaction)
                .await?;
        let blocked =
            query("SELECT url FROM job_url WHERE job_id = ?1 AND robots_blocked = 1 ORDER BY position")
                .bind(job)
                .fetch_all(&mut *transaction)
                .await?;
        transaction.commit().await?;
        Ok(JobErrors {
            errors: entries.iter().map(job_error).collect::<Result<_, _>>()?,
            robots_blocked: blocked
                .iter()
                .map(|row| row.text("url"))
                .collect::<Result<_, _>>()?,
        })
    }

    async fn delete_delivered(&self, job: JobId, skip: u64, upto: u64) -> Result<(), StoreError> {
        let checkpoint = Arc::clone(&self.writer.checkpoint);
        self.write(move |connection| {
            Box::pin(async move {
                // Not before: the writer could checkpoint the log ahead of this task.
                checkpoint.store(true, Ordering::Relaxed);
                delete_documents(connection, job, skip, upto, false).await
            })
        })
        .await
    }

    async fn page_version(&self, team: TeamId, key: &VersionKey) -> Result<Option<PageVersion>, StoreError> {
        let row = query(
            "SELECT at, status_code, size_bytes, zstd, data FROM page_version
             WHERE team_id = ?1 AND url_key = ?2 AND tag = ?3",
        )
        .bind_all(params![team, key.url.to_bytes().to_vec(), &key.tag])
        .fetch_optional(&self.readers)
        .await?;
        match row {
            Some(row) => page_version(row).await,
            None => Ok(None),
        }
    }
}
