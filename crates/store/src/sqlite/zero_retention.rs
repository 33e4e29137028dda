//! Deletion of documents of jobs with zero data retention.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;

use crate::error::StoreError;
use crate::page::ZeroRetention;
use crate::sql::transact;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::value::params;

/// Selects documents of pages after `?2` up to `?3`; with `?4` also those that a pending webhook event needs.
macro_rules! documents {
    ($statement:literal) => {
        concat!(
            $statement,
            " FROM page WHERE job_id = ?1 AND seq > ?2 AND seq <= ?3 AND body_id IS NOT NULL
                AND EXISTS (SELECT 1 FROM job WHERE id = ?1 AND zero_data_retention = 1)
                AND (?4 OR NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.job_id = page.job_id
                    AND outbox.seq = page.seq AND state = 'pending')))"
        )
    };
}

impl ZeroRetention for Sqlite {
    async fn delete_delivered(&self, job: JobId, skip: u64, upto: u64) -> Result<(), StoreError> {
        let checkpoint = Arc::clone(&self.writer.checkpoint);
        transact!(self, |connection| {
            // Not before: the writer could checkpoint the log ahead of this task.
            checkpoint.store(true, Ordering::Relaxed);
            delete_documents(connection, job, skip, upto, false).await
        })
    }
}

pub(crate) async fn delete_documents(
    connection: &mut SqliteConnection,
    job: JobId,
    skip: u64,
    upto: u64,
    with_pending: bool,
) -> Result<(), StoreError> {
    // Body ids are reused: no page may refer to a deleted one.
    for statement in [
        documents!("DELETE FROM body WHERE id IN (SELECT body_id"),
        documents!("UPDATE page SET body_id = NULL WHERE (job_id, seq) IN (SELECT job_id, seq"),
    ] {
        query(statement)
            .bind_all(params![job, skip, upto, with_pending])
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
