//! Writes webhook events to the outbox, in the same transaction as the change that they report.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::error::StoreError;
use crate::event::Event;
use crate::job::{JobKind, NewJob, WebhookEvents};
use crate::new_id::new_id;
use crate::postgres::query::{Query, query};
use crate::postgres::rows::{Columns, int};
use crate::value::params;

/// The events of a job: number and time of the latest, and those that this transaction adds. The time never goes back,
/// whatever the clock does, so that events are delivered in order.
#[derive(Default, Debug)]
pub(crate) struct EventLog {
    pub(crate) count: u64,
    pub(crate) last_at: u64,
    subscriptions: WebhookEvents,
    numbers: Vec<u64>,
    ids: Vec<Uuid>,
    names: Vec<String>,
    pages: Vec<Option<u64>>,
    errors: Vec<Option<u64>>,
    data: Vec<Option<String>>,
}

impl EventLog {
    /// Returns the empty log of a new job.
    pub(crate) fn of(subscriptions: WebhookEvents) -> Self {
        Self {
            subscriptions,
            ..Self::default()
        }
    }

    /// Reads the log of a job from a row with `event_count`, `last_event_at` and `webhook_events`.
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            count: row.count("event_count")?,
            last_at: row.count("last_event_at")?,
            subscriptions: WebhookEvents::from_bits(int(row.count("webhook_events")?)),
            ..Self::default()
        })
    }

    /// Adds an event, with its own data as JSON text, if the receiver subscribed to it.
    pub(crate) fn add(&mut self, kind: JobKind, event: Event, data: Option<String>, now: Timestamp) {
        if !event.is_subscribed(self.subscriptions) {
            return;
        }
        self.count += 1;
        self.last_at = self.last_at.max(now.0);
        let (seq, error) = match event {
            Event::Page(seq) => (Some(seq), None),
            Event::PageFailed(no) => (None, Some(no)),
            _ => (None, None),
        };
        self.numbers.push(self.count);
        self.ids.push(new_id());
        self.names.push(format!("{}.{}", kind.as_str(), event.word()));
        self.pages.push(seq);
        self.errors.push(error);
        self.data.push(data);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the statement that stores the added events.
    pub(crate) fn insert(&mut self, job: JobId) -> Query {
        query(
            "INSERT INTO harvestman.outbox (job_id, event_no, webhook_id, event, seq, error_no, data, created_at,
                next_attempt_at)
             SELECT $1, new.no, new.id, new.event, new.seq, new.error, new.data, $2, $2
             FROM unnest($3, $4, $5, $6, $7, $8) AS new (no, id, event, seq, error, data)",
        )
        .bind_all(params![
            job,
            self.last_at,
            std::mem::take(&mut self.numbers),
            std::mem::take(&mut self.ids),
            std::mem::take(&mut self.names),
            std::mem::take(&mut self.pages),
            std::mem::take(&mut self.errors),
            std::mem::take(&mut self.data),
        ])
    }

    /// Stores the added events of a job outside a commit.
    pub(crate) async fn save(mut self, client: &Client, job: JobId) -> Result<(), StoreError> {
        if self.is_empty() {
            return Ok(());
        }
        self.insert(job).execute(client).await?;
        query("UPDATE harvestman.job SET event_count = $2, last_event_at = $3 WHERE id = $1")
            .bind_all(params![job, self.count, self.last_at])
            .execute(client)
            .await?;
        make_due(job, self.last_at).execute(client).await?;
        Ok(())
    }
}

/// Returns the statement that records that a job has an event that may be attempted at this time.
pub(crate) fn make_due(job: JobId, at: u64) -> Query {
    query("UPDATE harvestman.receiver SET due_at = least(coalesce(due_at, $2), $2) WHERE job_id = $1")
        .bind_all(params![job, at])
}

/// Stores the receiver of a job's events. Must run before the first event is added.
pub(crate) async fn insert_receiver(client: &Client, job: &NewJob) -> Result<(), StoreError> {
    let request: serde_json::Value = serde_json::from_str(&job.request)
        .map_err(|error| StoreError::Unreadable(format!("the request of a job: {error}")))?;
    let webhook = request.get("webhook").map(serde_json::Value::to_string);
    query("INSERT INTO harvestman.receiver (job_id, webhook) VALUES ($1, $2)")
        .bind_all(params![job.id, webhook])
        .execute(client)
        .await?;
    Ok(())
}
