//! Delivers webhook events from the stored outbox: at least once, in order within a job, and without one
//! receiver delaying another. Payloads and signatures are defined in the core.

use std::sync::Arc;

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::keys::WebhookTested;
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::webhook::{self, Event, Payload};
use harvestman_fetch::{FetchError, FetchRequest};
use harvestman_store::{AttemptEnd, DueEvent, EventSubject, Principal, StoreError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::context::{Context, Engine};
use crate::team_tasks::TeamTasks;
use crate::{clock, limits};

/// Delivers due events until `stop` is cancelled; deliveries in flight get [`limits::DRAIN_TIMEOUT`] to
/// finish.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut deliveries = TeamTasks::default();
    while !stop.is_cancelled() {
        deliveries.remove_ended();
        for (job, team) in due(&context, &deliveries).await {
            let span = tracing::info_span!("webhooks", job.id = %job);
            let delivery = deliver_job(context.clone(), job, stop.clone());
            deliveries.spawn(team, delivery.instrument(span));
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = context.outbox.notified() => {}
            Some(()) = deliveries.join_next() => {}
        }
    }
    let _ = tokio::time::timeout(limits::DRAIN_TIMEOUT, async {
        while deliveries.join_next().await.is_some() {}
    })
    .await;
}

/// Leases jobs that have events to deliver. A team whose `deliveries` in progress take up as much as is left for all
/// others has to wait, so that its slow receivers delay no other team.
async fn due(context: &Context, deliveries: &TeamTasks) -> Vec<(JobId, TeamId)> {
    let free = limits::WEBHOOK_RECEIVERS.saturating_sub(deliveries.len());
    if free == 0 {
        return Vec::new();
    }
    let mut busy = deliveries.by_team();
    busy.retain(|_, deliveries| *deliveries >= free as u64);
    let busy: Vec<TeamId> = busy.into_keys().collect();
    let limit = u32::try_from(free.div_ceil(2)).unwrap_or(u32::MAX);
    let leased = context
        .store
        .lease_receivers(clock::now(), limits::WEBHOOK_LEASE_MS, limit, &busy)
        .await;
    leased.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read due webhook events; retrying");
        Vec::new()
    })
}

/// Delivers events of one job in order, until none is due or its time is up.
async fn deliver_job(context: Arc<Context>, job: JobId, stop: CancellationToken) {
    let started = Instant::now();
    while started.elapsed() < limits::WEBHOOK_TURN && !stop.is_cancelled() {
        match deliver_next(&context, job).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                // The job stays leased for a while, which delays the next attempt.
                tracing::warn!(%error, "cannot read or record a webhook delivery; it will be repeated");
                return;
            }
        }
    }
    if let Err(error) = context.store.release_receiver(job, clock::now()).await {
        tracing::warn!(%error, "cannot release the events of a job; they wait until the lease expires");
    }
}

/// Makes one delivery attempt; returns false if nothing is due.
async fn deliver_next(context: &Context, job: JobId) -> Result<bool, StoreError> {
    let at = clock::now();
    let Some(event) = context.store.due_event(job, at).await? else {
        return Ok(false);
    };
    let secret = context.webhook_secret(event.team).await?;
    let started = Instant::now();
    let DeliveryResult { status, error, .. } = match prepare(context, &event, secret.as_deref()) {
        Ok(request) => send(context, request).await,
        Err(error) => {
            tracing::error!(%error, event.no = event.event_no, "cannot send a webhook event");
            DeliveryResult {
                error: Some(error),
                ..DeliveryResult::default()
            }
        }
    };
    let end = match (
        &error,
        context.config.webhook_retries.get(event.attempts as usize),
    ) {
        (None, _) => AttemptEnd::Delivered,
        (Some(_), Some(pause)) => AttemptEnd::RetryAt(clock::now() + *pause),
        (Some(_), None) => AttemptEnd::GivenUp,
    };
    context.slots.metrics().count_delivery(match end {
        AttemptEnd::Delivered => "delivered",
        AttemptEnd::RetryAt(_) => "retried",
        AttemptEnd::GivenUp => "given_up",
    });
    if let Some(error) = &error {
        let (event_no, attempts) = (event.event_no, event.attempts + 1);
        match end {
            AttemptEnd::GivenUp => {
                tracing::warn!(
                    error,
                    event.no = event_no,
                    attempts,
                    "cannot deliver a webhook event; giving up"
                );
            }
            AttemptEnd::Delivered | AttemptEnd::RetryAt(_) => {
                tracing::info!(
                    error,
                    event.no = event_no,
                    attempts,
                    "cannot deliver a webhook event; retrying later"
                );
            }
        }
    }
    let attempt = DeliveryAttempt {
        at,
        duration_ms: millis_since(started),
        status,
        error,
    };
    let lease_until = clock::now() + std::time::Duration::from_millis(limits::WEBHOOK_LEASE_MS);
    context
        .store
        .finish_attempt(&event, &attempt, end, lease_until)
        .await
}

/// The result of a delivery attempt; without an error the receiver accepted the event.
#[derive(Debug, Default)]
struct DeliveryResult {
    status: Option<u16>,
    error: Option<String>,
    body: Vec<u8>,
}

async fn send(context: &Context, request: FetchRequest) -> DeliveryResult {
    match context.scraper.fetcher().fetch(request).await {
        Ok(response) => DeliveryResult {
            status: Some(response.status),
            error: (!(200..300).contains(&response.status))
                .then(|| format!("the receiver returned status {}", response.status)),
            body: response.body.to_vec(),
        },
        Err(error) => DeliveryResult {
            error: Some(failure(&error)),
            ..DeliveryResult::default()
        },
    }
}

fn failure(error: &FetchError) -> String {
    match error {
        // Its own text is about pages.
        FetchError::Timeout => {
            let seconds = limits::WEBHOOK_TIMEOUT.as_secs();
            format!("the receiver did not respond within {seconds} s")
        }
        error => error.to_string(),
    }
}

fn millis_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Context {
    /// Returns the secret that signs the webhooks of a team: its own, else the operator's.
    async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> {
        let own = self.store.webhook_secret(team).await?;
        Ok(own.or_else(|| self.config.webhook_secret.clone()))
    }
}

impl Engine {
    /// Sends an event of a job of the team again. Returns false if there is no such event.
    pub async fn resend_event(
        &self,
        principal: &Principal,
        job: JobId,
        event: WebhookId,
    ) -> Result<bool, StoreError> {
        let exists = self
            .context
            .store
            .resend_event(principal.team, job, event, clock::now())
            .await?;
        self.context.outbox.notify_one();
        Ok(exists)
    }

    /// Sends a signed test event once and returns the receiver's response. The event is not stored.
    ///
    /// # Errors
    /// 400 for a receiver at a private address.
    pub async fn test_webhook(
        &self,
        principal: &Principal,
        spec: WebhookSpec,
    ) -> Result<WebhookTested, ApiError> {
        let context = &self.context;
        self.check_receiver_at(&["url"], &spec).await?;
        let secret = context.webhook_secret(principal.team).await?;
        let webhook_id = WebhookId(harvestman_store::new_id());
        let payload = Payload::new(
            Event::WebhookTest,
            clock::new_job_id(),
            webhook_id,
            spec.metadata.clone(),
        );
        let started = Instant::now();
        let result = send(
            context,
            signed_request(context, spec, payload.to_json(), secret.as_deref()),
        )
        .await;
        let shown = &result.body[..result.body.len().min(limits::WEBHOOK_RESPONSE_SHOWN)];
        Ok(WebhookTested {
            success: true,
            delivered: result.error.is_none(),
            signed: secret.is_some(),
            webhook_id,
            status: result.status,
            error: result.error,
            duration_ms: millis_since(started),
            answer: String::from_utf8_lossy(shown).into_owned(),
        })
    }
}

/// Returns the request for an event, with the same bytes on every attempt. The error says why it cannot be
/// built.
fn prepare(context: &Context, event: &DueEvent, secret: Option<&str>) -> Result<FetchRequest, String> {
    let name = Event::parse(&event.event).ok_or("unknown event")?;
    let spec =
        WebhookSpec::from_json(event.webhook.as_bytes(), name.family()).map_err(|error| error.message)?;
    let body = payload(name, event, &spec)?.to_json();
    Ok(signed_request(context, spec, body, secret))
}

fn signed_request(context: &Context, spec: WebhookSpec, body: String, secret: Option<&str>) -> FetchRequest {
    let deadline = Instant::now() + limits::WEBHOOK_TIMEOUT;
    let signature = secret.map(|secret| webhook::sign(secret.as_bytes(), body.as_bytes()));
    let mut request = FetchRequest::post_json(spec.url, body.into(), deadline.into_std());
    request.max_body_bytes = limits::WEBHOOK_RESPONSE_BYTES;
    request.truncate = true;
    // The status acknowledges the event, whatever becomes of the body.
    request.keep_partial = true;
    request.body_time = Some(limits::WEBHOOK_BODY_TIME);
    request.headers.extend(
        spec.headers
            .into_iter()
            .filter(|(name, _)| !is_reserved_header(context, name)),
    );
    if let Some(signature) = signature {
        let aliases = context
            .config
            .webhook_signature_aliases
            .iter()
            .map(String::as_str);
        for name in std::iter::once(webhook::SIGNATURE_HEADER).chain(aliases) {
            request.headers.push((name.to_owned(), signature.clone()));
        }
    }
    request
}

/// Returns whether the server sets this header itself, so that a webhook cannot replace it.
fn is_reserved_header(context: &Context, name: &str) -> bool {
    let aliases = context
        .config
        .webhook_signature_aliases
        .iter()
        .map(String::as_str);
    ["content-type", webhook::SIGNATURE_HEADER]
        .into_iter()
        .chain(aliases)
        .any(|reserved| reserved.eq_ignore_ascii_case(name))
}

fn payload(name: Event, event: &DueEvent, spec: &WebhookSpec) -> Result<Payload, String> {
    let payload = Payload::new(name, event.job, event.webhook_id, spec.metadata.clone());
    Ok(match &event.subject {
        // A `started` event keeps its meaning even if the job has failed since.
        EventSubject::Job { error: Some(error) } if !name.is_success() => payload.with_error(error),
        EventSubject::Job { .. } => payload,
        EventSubject::Run { data, error } => {
            let data = serde_json::from_str(data).map_err(|error| error.to_string())?;
            let payload = payload.with_data(data);
            match name.is_success() {
                true => payload,
                // A cancelled job has no other error.
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
