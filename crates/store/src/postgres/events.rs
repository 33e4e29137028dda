//! Writes webhook events to the outbox, in the same transaction as the change that they report.

use harvestman_core::ids::JobId;

use crate::error::StoreError;
use crate::event::EventLog;
use crate::postgres::client::Client;
use crate::postgres::query::{Query, query};
use crate::sql::outbox::make_due;
use crate::value::params;

/// Returns the statement that stores the added events.
pub(crate) fn insert(job: JobId, log: &EventLog) -> Query {
    let added = || log.added.iter();
    query(
        "INSERT INTO harvestman.outbox (job_id, event_no, webhook_id, event, seq, error_no, data, created_at,
            next_attempt_at)
         SELECT $1, new.no, new.id, new.event, new.seq, new.error, new.data, $2, $2
         FROM unnest($3, $4, $5, $6, $7, $8) AS new (no, id, event, seq, error, data)",
    )
    .bind_all(params![
        job,
        log.last_at,
        added().map(|event| event.number).collect::<Vec<_>>(),
        added().map(|event| event.id).collect::<Vec<_>>(),
        added().map(|event| &*event.name).collect::<Vec<_>>(),
        added().map(|event| event.seq).collect::<Vec<_>>(),
        added().map(|event| event.error_no).collect::<Vec<_>>(),
        added().map(|event| event.data.as_deref()).collect::<Vec<_>>(),
    ])
}

/// Stores the added events of a job outside a commit.
pub(crate) async fn save(client: &Client, job: JobId, log: &EventLog) -> Result<(), StoreError> {
    if log.added.is_empty() {
        return Ok(());
    }
    insert(job, log).execute(client).await?;
    query("UPDATE harvestman.job SET event_count = $2, last_event_at = $3 WHERE id = $1")
        .bind_all(params![job, log.count, log.last_at])
        .execute(client)
        .await?;
    make_due(job, log.last_at).run(&mut &*client).await
}
