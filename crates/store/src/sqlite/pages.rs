//! Reads the documents of jobs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::TryStreamExt;

use harvestman_core::ids::JobId;

use crate::error::StoreError;
use crate::page::{DocumentChunk, Documents};
use crate::rows::decompress_texts;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::zero_retention::delete_documents;
use crate::value::params;

impl Documents for Sqlite {
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
}
