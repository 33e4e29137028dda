//! Reads the documents of jobs.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::limits;
use crate::page::{DocumentChunk, Documents};
use crate::postgres::Postgres;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::zero_retention::delete_documents;
use crate::rows::decompress_texts;
use crate::value::params;

impl Documents for Postgres {
    async fn documents(
        &self,
        job: JobId,
        skip: u64,
        limit: Option<u64>,
        max_bytes: usize,
    ) -> Result<DocumentChunk, StoreError> {
        let transaction = self.snapshot().await?;
        let limit = limit.unwrap_or(u64::MAX);
        let (mut last, mut total, mut full) = (skip, 0, false);
        // Sizes are read in parts: otherwise the server would send those of the whole job.
        while !full && last - skip < limit {
            let part = u64::from(limits::SIZES_PER_READ).min(limit - (last - skip));
            let sizes = query(
                "SELECT seq, size_bytes FROM harvestman.page WHERE job_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
            )
            .bind_all(params![job, last, part])
            .fetch_all(&transaction)
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
        let bodies = query(
            "SELECT size_bytes, zstd FROM harvestman.page
             WHERE job_id = $1 AND seq > $2 AND seq <= $3 AND zstd IS NOT NULL ORDER BY seq",
        )
        .bind_all(params![job, skip, last])
        .fetch_all(&transaction)
        .await?;
        let more = query("SELECT 1 FROM harvestman.page WHERE job_id = $1 AND seq > $2 LIMIT 1")
            .bind_all(params![job, last])
            .fetch_optional(&transaction)
            .await?;
        transaction.end().await?;
        Ok(DocumentChunk {
            documents: decompress_texts(bodies).await?,
            next_skip: last,
            more: more.is_some(),
        })
    }

    async fn delete_delivered(&self, job: JobId, skip: u64, upto: u64) -> Result<(), StoreError> {
        self.write(Timestamp(0), move |transaction, _| {
            Box::pin(delete_documents(transaction, job, skip, upto, false))
        })
        .await
    }
}
