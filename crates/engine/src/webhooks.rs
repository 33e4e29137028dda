//! Delivery of owed webhook events from the stored outbox: at least once, one by one within a job, and
//! no receiver delays another. What is sent and how it is signed is decided in core.

use std::sync::Arc;

use harvestman_core::api::error::ApiError;
use harvestman_core::api::keys::WebhookTested;
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::webhook::{self, Event, Payload};
use harvestman_fetch::FetchRequest;
use harvestman_store::{Attempt, AttemptEnd, DueEvent, EventSubject, Principal, StoreError};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::engine::{Engine, Inner, unavailable};
use crate::{clock, limits};

/// Delivers what is due until `stop`; deliveries in flight get their time to end.
pub(crate) async fn run(inner: Arc<Inner>, stop: CancellationToken) {
    let mut turns = JoinSet::new();
    while !stop.is_cancelled() {
        while turns.try_join_next().is_some() {}
        for job in due(&inner, limits::WEBHOOK_RECEIVERS - turns.len()).await {
            let span = tracing::info_span!("webhooks", job.id = %job);
            turns.spawn(turn(inner.clone(), job, stop.clone()).instrument(span));
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = inner.outbox.notified() => {}
            Some(_) = turns.join_next() => {}
            () = tokio::time::sleep(limits::WEBHOOK_POLL) => {}
        }
    }
    let _ = tokio::time::timeout(limits::DRAIN, async {
        while turns.join_next().await.is_some() {}
    })
    .await;
}

/// Takes jobs with something to deliver, at most as many as there are places.
async fn due(inner: &Inner, places: usize) -> Vec<JobId> {
    if places == 0 {
        return Vec::new();
    }
    let taken = inner
        .store
        .take_receivers(clock::now(), limits::WEBHOOK_LEASE_MS, places as u32)
        .await;
    taken.unwrap_or_else(|error| {
        tracing::warn!(%error, "owed webhook events could not be read; trying again");
        Vec::new()
    })
}

/// Delivers events of one job, one after the other, until none is due or others should have the place.
async fn turn(inner: Arc<Inner>, job: JobId, stop: CancellationToken) {
    let begun = Instant::now();
    while begun.elapsed() < limits::WEBHOOK_TURN && !stop.is_cancelled() {
        match deliver_next(&inner, job).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                // The job stays taken for a while, which is the pause before the next try.
                tracing::warn!(%error, "a delivery could not be read or noted; it will be repeated");
                return;
            }
        }
    }
    if let Err(error) = inner.store.give_back_receiver(job, clock::now()).await {
        tracing::warn!(%error, "a receiver could not be given back; its events wait a moment");
    }
}

/// Makes one attempt; false when nothing is due.
async fn deliver_next(inner: &Inner, job: JobId) -> Result<bool, StoreError> {
    let at = clock::now();
    let Some(event) = inner.store.due_event(job, at).await? else {
        return Ok(false);
    };
    let secret = inner.webhook_secret(event.team).await?;
    let begun = Instant::now();
    let Met { status, error, .. } = match prepared(inner, &event, secret.as_deref()) {
        Ok(request) => send(inner, request).await,
        Err(error) => {
            tracing::error!(%error, event.no = event.event_no, "a webhook event cannot be sent");
            Met {
                error: Some(error),
                ..Met::default()
            }
        }
    };
    let end = match (&error, inner.config.webhook_retries.get(event.attempts as usize)) {
        (None, _) => AttemptEnd::Delivered,
        (Some(_), Some(pause)) => AttemptEnd::RetryAt(clock::now() + *pause),
        (Some(_), None) => AttemptEnd::GivenUp,
    };
    let attempt = Attempt {
        at,
        duration_ms: millis_since(begun),
        status,
        error,
    };
    let lease_until = clock::now() + std::time::Duration::from_millis(limits::WEBHOOK_LEASE_MS);
    inner
        .store
        .finish_attempt(&event, &attempt, end, lease_until)
        .await
}

/// What an attempt met; without an error it was acknowledged.
#[derive(Debug, Default)]
struct Met {
    status: Option<u16>,
    error: Option<String>,
    body: Vec<u8>,
}

async fn send(inner: &Inner, request: FetchRequest) -> Met {
    match inner.scraper.fetcher().fetch(request).await {
        Ok(answer) => Met {
            status: Some(answer.status),
            error: (!(200..300).contains(&answer.status))
                .then(|| format!("the receiver answered {}", answer.status)),
            body: answer.body.to_vec(),
        },
        Err(error) => Met {
            error: Some(error.to_string()),
            ..Met::default()
        },
    }
}

fn millis_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Inner {
    /// What signs the webhooks of a team: its own secret, else the operator's.
    async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> {
        let own = self.store.webhook_secret(team).await?;
        Ok(own.or_else(|| self.config.webhook_secret.clone()))
    }
}

impl Engine {
    /// Sends an event that tells of nothing, signed like every other, and says what came back. It is sent once
    /// and stored nowhere. Errors: 400 for a receiver at a private address.
    pub async fn test_webhook(&self, who: &Principal, spec: WebhookSpec) -> Result<WebhookTested, ApiError> {
        let inner = &self.inner;
        self.check_receiver_at(&["url"], &spec).await?;
        let secret = inner
            .webhook_secret(who.team)
            .await
            .map_err(|error| unavailable(&error))?;
        let webhook_id = WebhookId(harvestman_store::fresh_id());
        let payload = Payload::new(
            Event::WebhookTest,
            clock::new_job_id(),
            webhook_id,
            spec.metadata.clone(),
        );
        let begun = Instant::now();
        let met = send(inner, signed(inner, spec, payload.to_json(), secret.as_deref())).await;
        let shown = &met.body[..met.body.len().min(limits::WEBHOOK_ANSWER_SHOWN)];
        Ok(WebhookTested {
            success: true,
            delivered: met.error.is_none(),
            signed: secret.is_some(),
            webhook_id,
            status: met.status,
            error: met.error,
            duration_ms: millis_since(begun),
            answer: String::from_utf8_lossy(shown).into_owned(),
        })
    }
}

/// The exact request of an event, the same bytes on every attempt; or why it cannot be made.
fn prepared(inner: &Inner, event: &DueEvent, secret: Option<&str>) -> Result<FetchRequest, String> {
    let name = Event::parse(&event.event).ok_or("the event is unknown")?;
    let spec =
        WebhookSpec::from_json(event.webhook.as_bytes(), name.family()).map_err(|error| error.message)?;
    let body = payload(name, event, &spec)?.to_json();
    Ok(signed(inner, spec, body, secret))
}

fn signed(inner: &Inner, spec: WebhookSpec, body: String, secret: Option<&str>) -> FetchRequest {
    let deadline = Instant::now() + limits::WEBHOOK_TIMEOUT;
    let signature = secret.map(|secret| webhook::sign(secret.as_bytes(), body.as_bytes()));
    let mut request = FetchRequest::post_json(spec.url, body.into(), deadline.into_std());
    request.max_body_bytes = limits::WEBHOOK_ANSWER_BYTES;
    request.truncate = true;
    request
        .headers
        .extend(spec.headers.into_iter().filter(|(name, _)| !is_ours(inner, name)));
    if let Some(signature) = signature {
        let aliases = inner.config.webhook_signature_aliases.iter().map(String::as_str);
        for name in std::iter::once(webhook::SIGNATURE_HEADER).chain(aliases) {
            request.headers.push((name.to_owned(), signature.clone()));
        }
    }
    request
}

/// Headers that a caller cannot replace.
fn is_ours(inner: &Inner, name: &str) -> bool {
    let aliases = inner.config.webhook_signature_aliases.iter().map(String::as_str);
    ["content-type", webhook::SIGNATURE_HEADER]
        .into_iter()
        .chain(aliases)
        .any(|ours| ours.eq_ignore_ascii_case(name))
}

fn payload(name: Event, event: &DueEvent, spec: &WebhookSpec) -> Result<Payload, String> {
    let payload = Payload::new(name, event.job, event.webhook_id, spec.metadata.clone());
    Ok(match &event.subject {
        // `started` of a job that failed since is what it was.
        EventSubject::Job { error: Some(error) } if !name.is_success() => payload.with_error(error),
        EventSubject::Job { .. } => payload,
        EventSubject::Told { told, error } => {
            let told = serde_json::from_str(told).map_err(|error| error.to_string())?;
            let payload = payload.with_data(told);
            match name.is_success() {
                true => payload,
                // A job that was cancelled has no other reason.
                false => payload.with_error(error.as_deref().unwrap_or("cancelled")),
            }
        }
        EventSubject::Page(document) => {
            payload.with_data(serde_json::from_str(document).map_err(|error| error.to_string())?)
        }
        EventSubject::PageFailed(entry) => payload.with_failed_page(&entry.url, &entry.message),
        EventSubject::Unreadable(why) => return Err(why.clone()),
    })
}
