//! Delivery of owed webhook events from the stored outbox: at least once, in order within a job, and
//! no receiver delays another. What is sent and how it is signed is decided in core.

use std::collections::BTreeMap;
use std::sync::Arc;

use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::ids::JobId;
use harvestman_core::webhook::{self, Event, Payload};
use harvestman_fetch::FetchRequest;
use harvestman_store::{Attempt, AttemptEnd, DueEvent, EventSubject, StoreError};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::engine::Inner;
use crate::{clock, limits};

/// Delivers what is due until `stop`; deliveries in flight get their time to end.
pub(crate) async fn run(inner: Arc<Inner>, stop: CancellationToken) {
    let mut deliveries = JoinSet::new();
    while !stop.is_cancelled() {
        while deliveries.try_join_next().is_some() {}
        let events = due(&inner).await;
        let taken = events.len();
        for (job, events) in by_job(events) {
            let span = tracing::info_span!("webhooks", job.id = %job);
            deliveries.spawn(deliver_in_order(inner.clone(), events).instrument(span));
        }
        if taken > 0 {
            continue;
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = inner.outbox.notified() => {}
            () = tokio::time::sleep(limits::WEBHOOK_POLL) => {}
        }
    }
    let _ = tokio::time::timeout(limits::DRAIN, async {
        while deliveries.join_next().await.is_some() {}
    })
    .await;
}

async fn due(inner: &Inner) -> Vec<DueEvent> {
    match inner
        .store
        .due_events(clock::now(), limits::WEBHOOK_LEASE_MS, limits::WEBHOOKS_PER_POLL)
        .await
    {
        Ok(events) => events,
        Err(error) => {
            tracing::warn!(%error, "owed webhook events could not be read; trying again");
            Vec::new()
        }
    }
}

fn by_job(events: Vec<DueEvent>) -> BTreeMap<JobId, Vec<DueEvent>> {
    let mut jobs: BTreeMap<JobId, Vec<DueEvent>> = BTreeMap::new();
    for event in events {
        jobs.entry(event.job).or_default().push(event);
    }
    jobs
}

/// The events of one job. Once their lease may have run out the rest is left to the next look.
async fn deliver_in_order(inner: Arc<Inner>, events: Vec<DueEvent>) {
    let begun = Instant::now();
    for event in events {
        if begun.elapsed() + limits::WEBHOOK_TIMEOUT
            > std::time::Duration::from_millis(limits::WEBHOOK_LEASE_MS)
        {
            return;
        }
        if let Err(error) = deliver(&inner, &event).await {
            tracing::warn!(%error, event.no = event.event_no, "a delivery could not be noted; it will be repeated");
            return;
        }
    }
    inner.outbox.notify_one();
}

async fn deliver(inner: &Inner, event: &DueEvent) -> Result<(), StoreError> {
    let at = clock::now();
    let begun = Instant::now();
    let answer = match prepared(inner, event) {
        Ok(request) => inner
            .scraper
            .fetcher()
            .fetch(request)
            .await
            .map(|answer| answer.status),
        Err(error) => return Err(error),
    };
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (status, error) = match answer {
        Ok(status) if (200..300).contains(&status) => (Some(status), None),
        Ok(status) => (Some(status), Some(format!("the receiver answered {status}"))),
        Err(error) => (None, Some(error.to_string())),
    };
    let end = match (&error, inner.config.webhook_retries.get(event.attempts as usize)) {
        (None, _) => AttemptEnd::Delivered,
        (Some(_), Some(pause)) => AttemptEnd::RetryAt(clock::now() + *pause),
        (Some(_), None) => AttemptEnd::GivenUp,
    };
    let attempt = Attempt {
        at,
        duration_ms,
        status,
        error,
    };
    inner.store.finish_attempt(event, &attempt, end).await?;
    Ok(())
}

/// The exact request of an event; the same bytes on every attempt.
fn prepared(inner: &Inner, event: &DueEvent) -> Result<FetchRequest, StoreError> {
    let unreadable =
        |what: &str| StoreError::Unreadable(format!("webhook event {}: {what}", event.webhook_id));
    let request =
        CrawlRequest::from_json(event.request.as_bytes()).map_err(|error| unreadable(&error.message))?;
    let spec = request
        .webhook
        .ok_or_else(|| unreadable("its job has no webhook"))?;
    let body = payload(event, &spec)
        .ok_or_else(|| unreadable("unknown event or document"))?
        .to_json();

    let deadline = Instant::now() + limits::WEBHOOK_TIMEOUT;
    let mut request = FetchRequest::post_json(spec.url.clone(), body.clone().into(), deadline.into_std());
    request.max_body_bytes = limits::WEBHOOK_ANSWER_BYTES;
    request.truncate = true;
    request
        .headers
        .extend(spec.headers.into_iter().filter(|(name, _)| !is_ours(inner, name)));
    if let Some(secret) = &inner.config.webhook_secret {
        let signature = webhook::sign(secret.as_bytes(), body.as_bytes());
        let aliases = inner.config.webhook_signature_aliases.iter().map(String::as_str);
        for name in std::iter::once(webhook::SIGNATURE_HEADER).chain(aliases) {
            request.headers.push((name.to_owned(), signature.clone()));
        }
    }
    Ok(request)
}

/// Headers that a caller cannot replace.
fn is_ours(inner: &Inner, name: &str) -> bool {
    let aliases = inner.config.webhook_signature_aliases.iter().map(String::as_str);
    ["content-type", webhook::SIGNATURE_HEADER]
        .into_iter()
        .chain(aliases)
        .any(|ours| ours.eq_ignore_ascii_case(name))
}

fn payload(event: &DueEvent, spec: &WebhookSpec) -> Option<Payload> {
    let name = Event::parse(&event.event)?;
    let payload = Payload::new(name, event.job, event.webhook_id, spec.metadata.clone());
    Some(match &event.subject {
        EventSubject::Job { error: None } => payload,
        EventSubject::Job { error: Some(error) } => payload.with_error(error),
        EventSubject::Page(document) => payload.with_data(serde_json::from_str(document).ok()?),
        EventSubject::PageFailed(entry) => payload.with_failed_page(&entry.url, &entry.message),
    })
}
