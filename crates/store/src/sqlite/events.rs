//! Writes webhook events to the outbox, in the same transaction as the change that they report.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;

use crate::error::StoreError;
use crate::event::EventLog;
use crate::sql::outbox::make_due;
use crate::sqlite::query::query;
use crate::value::params;

/// Stores the added events.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    job: JobId,
    log: &EventLog,
) -> Result<(), StoreError> {
    if log.added.is_empty() {
        return Ok(());
    }
    for event in &log.added {
        query(
            "INSERT INTO outbox (job_id, event_no, webhook_id, event, seq, error_no, created_at, next_attempt_at,
                data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)",
        )
        .bind_all(params![
            job,
            event.number,
            event.id,
            &event.name,
            event.seq,
            event.error_no,
            log.last_at,
            event.data.as_deref(),
        ])
        .execute(&mut *connection)
        .await?;
    }
    make_due(job, log.last_at).run(connection).await
}

/// Stores the added events of a job outside a commit.
pub(crate) async fn save(
    connection: &mut SqliteConnection,
    job: JobId,
    log: &EventLog,
) -> Result<(), StoreError> {
    insert(connection, job, log).await?;
    query("UPDATE job SET event_count = ?2, last_event_at = ?3 WHERE id = ?1")
        .bind_all(params![job, log.count, log.last_at])
        .run(connection)
        .await
}
