//! Reads the pages of jobs: documents, errors, versions, and the pages that link to them.

use harvestman_core::crawl::ProcessingCounts;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::page_version::{PageVersion, VersionKey};

use crate::columns::Columns;
use crate::error::StoreError;
use crate::job::JobErrors;
use crate::limits;
use crate::page::{DocumentChunk, PageFacts, Pages};
use crate::rows::decompress_texts;
use crate::rows::{job_error, linking_pages, page_version, sum_of_paces};
use crate::sql::{Database, Snapshot, statement};
use crate::value::params;

impl<D: Database> Pages for D {
    async fn documents(
        &self,
        job: JobId,
        skip: u64,
        limit: Option<u64>,
        max_bytes: usize,
    ) -> Result<DocumentChunk, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let limit = limit.unwrap_or(u64::MAX);
        let (mut last, mut total, mut full) = (skip, 0, false);
        // Sizes are read in parts: otherwise the server would send those of the whole job.
        while !full && last - skip < limit {
            let part = u64::from(limits::SIZES_PER_READ).min(limit - (last - skip));
            let sizes = statement!(
                "SELECT seq, size_bytes FROM harvestman.page WHERE job_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
            )
            .bind_all(params![job, last, part])
            .fetch_all(&mut snapshot)
            .await?;
            for row in &sizes {
                let first = last == skip;
                // The separator between two documents counts too.
                total += row.count("size_bytes")? + u64::from(!first);
                full = !first && total > max_bytes as u64;
                if full {
                    break;
                }
                last = row.count("seq")?;
            }
            full |= (sizes.len() as u64) < part;
        }
        let bodies = statement!(
            "SELECT size_bytes, zstd FROM harvestman.page
             WHERE job_id = $1 AND seq > $2 AND seq <= $3 AND zstd IS NOT NULL ORDER BY seq",
            sqlite: "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id
             WHERE job_id = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq",
        )
        .bind_all(params![job, skip, last])
        .fetch_all(&mut snapshot)
        .await?;
        let more = statement!("SELECT 1 FROM harvestman.page WHERE job_id = $1 AND seq > $2 LIMIT 1")
            .bind_all(params![job, last])
            .fetch_optional(&mut snapshot)
            .await?;
        snapshot.end().await?;
        Ok(DocumentChunk {
            documents: decompress_texts(bodies).await?,
            next_skip: last,
            more: more.is_some(),
        })
    }

    async fn found_on(&self, job: JobId, limit: u64) -> Result<Vec<Option<u32>>, StoreError> {
        let rows = statement!(
            "SELECT page.url_key, found_on FROM harvestman.page
             LEFT JOIN harvestman.job_url ON job_url.job_id = page.job_id AND job_url.url_key = page.url_key
             WHERE page.job_id = $1
                AND EXISTS (SELECT 1 FROM harvestman.job WHERE id = $1 AND zero_data_retention = 0)
             ORDER BY seq LIMIT $2",
        )
        .bind_all(params![job, limit])
        .fetch_all(&mut self.reader().await?)
        .await?;
        linking_pages(&rows)
    }

    async fn page_facts(&self, job: JobId, skip: u64, limit: u64) -> Result<Vec<PageFacts>, StoreError> {
        let rows = statement!(
            "SELECT page.at, depth, took_ms FROM harvestman.page
             LEFT JOIN harvestman.job_url ON job_url.job_id = page.job_id AND job_url.url_key = page.url_key
             WHERE page.job_id = $1 AND seq > $2
                AND EXISTS (SELECT 1 FROM harvestman.job WHERE id = $1 AND zero_data_retention = 0)
             ORDER BY seq LIMIT $3",
        )
        .bind_all(params![job, skip, limit])
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter().map(Columns::page_facts).collect()
    }

    async fn pace_counts(&self, job: JobId) -> Result<ProcessingCounts, StoreError> {
        let shards = statement!("SELECT progress FROM harvestman.shard WHERE job_id = $1")
            .bind(job)
            .fetch_all(&mut self.reader().await?)
            .await?;
        sum_of_paces(&shards)
    }

    async fn errors(&self, job: JobId) -> Result<JobErrors, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let entries = statement!(
            "SELECT scrape_id, at, url, code, message FROM harvestman.job_error WHERE job_id = $1 ORDER BY no",
        )
        .bind(job)
        .fetch_all(&mut snapshot)
        .await?;
        let blocked = statement!(
            "SELECT url FROM harvestman.job_url WHERE job_id = $1 AND robots_blocked ORDER BY position",
            // The index of these rows is used for this condition only.
            sqlite: "SELECT url FROM job_url WHERE job_id = ?1 AND robots_blocked = 1 ORDER BY position",
        )
        .bind(job)
        .fetch_all(&mut snapshot)
        .await?;
        snapshot.end().await?;
        Ok(JobErrors {
            errors: entries.iter().map(job_error).collect::<Result<_, _>>()?,
            robots_blocked: blocked
                .iter()
                .map(|row| row.text("url"))
                .collect::<Result<_, _>>()?,
        })
    }

    async fn page_version(&self, team: TeamId, key: &VersionKey) -> Result<Option<PageVersion>, StoreError> {
        let row = statement!(
            "SELECT at, status_code, size_bytes, zstd, data FROM harvestman.page_version
             WHERE team_id = $1 AND url_key = $2 AND tag = $3",
        )
        .bind_all(params![team, key.url.to_bytes(), key.tag.clone()])
        .fetch_optional(&mut self.reader().await?)
        .await?;
        match row {
            Some(row) => page_version(row).await,
            None => Ok(None),
        }
    }
}
