//! Webhook events and their deliveries.

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::webhook::DeliveryState;

use crate::columns::{Columns, bad_column};
use crate::error::StoreError;
use crate::outbox::{Delivery, DueEvent, EventSubject};
use crate::rows::jobs::parse_kind;
use crate::rows::pages::decompress_texts;

/// Builds a leased job and its team from a row of `receiver` and `job`.
pub(crate) fn leased_receiver(row: &impl Columns) -> Result<(JobId, TeamId), StoreError> {
    Ok((JobId(row.id("job_id")?), TeamId(row.id("team_id")?)))
}

/// Builds an event to deliver from a row of `outbox`, `receiver` and `job`, and what was read of its subject.
pub(crate) fn due_event(
    row: &impl Columns,
    job: JobId,
    subject: Result<EventSubject, StoreError>,
) -> Result<DueEvent, StoreError> {
    let subject = match subject {
        Ok(subject) => subject,
        Err(error) if error.is_transient() => return Err(error),
        Err(error) => EventSubject::Unreadable(error.to_string()),
    };
    Ok(DueEvent {
        job,
        team: TeamId(row.id("team_id")?),
        kind: parse_kind(row)?,
        event_no: row.count("event_no")?,
        webhook_id: WebhookId(row.id("webhook_id")?),
        event: row.text("event")?,
        subject,
        attempts: u32::try_from(row.count("attempts")?).map_err(|_| bad_column("attempts"))?,
        created_at: row.time("created_at")?,
        webhook: row.text("webhook")?,
    })
}

/// Builds the subject of an event of a whole job from a row with `error` and `data`.
pub(crate) fn subject_of_job(row: &impl Columns) -> Result<EventSubject, StoreError> {
    let error = row.maybe_text("error")?;
    Ok(match row.maybe_text("data")? {
        Some(data) => EventSubject::Run { data, error },
        None => EventSubject::Job { error },
    })
}

/// Builds the subject of an event of a page from the rows of its body, if it is still stored. With zero data retention
/// the document may be gone: the event then only reports that there was a page.
pub(crate) async fn subject_of_page(
    body: Vec<impl Columns + Send + 'static>,
) -> Result<EventSubject, StoreError> {
    let erased_event = EventSubject::Job { error: None };
    let document = decompress_texts(body).await?.pop();
    Ok(document.map_or(erased_event, EventSubject::Page))
}

/// Builds a delivery, without its attempts, from a row of `outbox`.
pub(crate) fn delivery(row: &impl Columns) -> Result<Delivery, StoreError> {
    let state = row.parsed("state", DeliveryState::parse)?;
    Ok(Delivery {
        event_no: row.count("event_no")?,
        webhook_id: WebhookId(row.id("webhook_id")?),
        event: row.text("event")?,
        state,
        created_at: row.time("created_at")?,
        next_attempt_at: match state {
            DeliveryState::Pending => Some(row.time("next_attempt_at")?),
            DeliveryState::Delivered | DeliveryState::GivenUp => None,
        },
        attempts: Vec::new(),
    })
}

/// Builds an attempt from a row of `delivery`.
pub(crate) fn attempt(row: &impl Columns) -> Result<DeliveryAttempt, StoreError> {
    let status = row.maybe_count("status_code")?;
    Ok(DeliveryAttempt {
        at: row.time("at")?,
        duration_ms: row.count("duration_ms")?,
        status: status
            .map(u16::try_from)
            .transpose()
            .map_err(|_| bad_column("status_code"))?,
        error: row.maybe_text("error")?,
    })
}
