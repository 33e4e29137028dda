//! Writes webhook events to the outbox, in the same transaction as the change that they report.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
pub(crate) use crate::event::Event;
use crate::job::{JobKind, NewJob};
use crate::new_id::new_id;
use crate::sqlite::outbox::make_due;
use crate::sqlite::query::query;
use crate::value::params;

/// Number and time of a job's latest event. The time never goes back, whatever the clock does, so that events
/// are delivered in order.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct EventLog {
    pub(crate) count: u64,
    pub(crate) last_at: u64,
}

impl EventLog {
    pub(crate) async fn add(
        &mut self,
        connection: &mut SqliteConnection,
        job: JobId,
        kind: JobKind,
        event: Event,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.add_with_data(connection, job, kind, event, None, now).await
    }

    /// Adds an event with its own data, as JSON text.
    pub(crate) async fn add_with_data(
        &mut self,
        connection: &mut SqliteConnection,
        job: JobId,
        kind: JobKind,
        event: Event,
        data: Option<String>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.count += 1;
        self.last_at = self.last_at.max(now.0);
        let (seq, error_no) = match event {
            Event::Page(seq) => (Some(seq), None),
            Event::PageFailed(no) => (None, Some(no)),
            Event::Started
            | Event::Completed
            | Event::Failed
            | Event::Action
            | Event::Cancelled
            | Event::CheckPage
            | Event::CheckCompleted => (None, None),
        };
        query(
            "INSERT INTO outbox (job_id, event_no, webhook_id, event, seq, error_no, created_at, next_attempt_at,
                data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)",
        )
        .bind_all(params![
            job,
            self.count,
            new_id(),
            format!("{}.{}", kind.as_str(), event.word()),
            seq,
            error_no,
            self.last_at,
            data,
        ])
        .execute(&mut *connection)
        .await?;
        make_due(connection, job, Timestamp(self.last_at)).await
    }
}

/// Stores the receiver of a job's events. Must run before the first event is added.
pub(crate) async fn insert_receiver(
    connection: &mut SqliteConnection,
    job: &NewJob,
) -> Result<(), StoreError> {
    query("INSERT INTO receiver (job_id, webhook) VALUES (?1, ?2 -> '$.webhook')")
        .bind_all(params![job.id, job.request.clone()])
        .execute(connection)
        .await?;
    Ok(())
}

/// Writes the number and time of the latest event to the job row.
pub(crate) async fn save_log(
    connection: &mut SqliteConnection,
    job: JobId,
    log: EventLog,
) -> Result<(), StoreError> {
    query("UPDATE job SET event_count = ?2, last_event_at = ?3 WHERE id = ?1")
        .bind_all(params![job, log.count, log.last_at])
        .execute(connection)
        .await?;
    Ok(())
}
