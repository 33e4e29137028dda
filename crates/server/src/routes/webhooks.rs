//! Delivery log of a job's webhook, and resending of its events, for the console.

use harvestman_core::api::console::{ResendRequest, SuccessResponse, WebhookEvent, WebhookLog};
use harvestman_core::api::fields::Slot;
use harvestman_core::api::query::Query;
use harvestman_store::{Delivery, DeliveryQuery, JobRow};
use serde_json::Value;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json};
use crate::limits;
use crate::routes::job_pages::row;
use crate::routes::{PathId, QueryText};

/// Returns the events of a job after the event number `after`, in order, with every delivery attempt.
pub(crate) async fn log(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = Query::parse(&query);
    let limit = query
        .integer("limit", 1..=limits::DELIVERIES)?
        .unwrap_or(limits::DELIVERIES_DEFAULT);
    let delivery_query = DeliveryQuery {
        after: query.integer("after", 0..=Slot::UNBOUNDED)?.unwrap_or(0),
        state: query.word("state")?,
        limit: limit as u32,
    };
    let row = row(&app, &principal, id).await?;
    let log = app
        .store()
        .delivery_log(principal.team, id, &delivery_query)
        .await?;
    let last = log.deliveries.last().map(|delivery| delivery.event_no);
    json(&WebhookLog {
        success: true,
        url: webhook_url(&row),
        pending: log.pending,
        delivered: log.delivered,
        given_up: log.given_up,
        next: last.filter(|_| log.deliveries.len() as u64 == limit),
        events: log.deliveries.into_iter().map(event).collect(),
    })
}

/// Makes an event of the job due at once, whatever its delivery state.
pub(crate) async fn resend(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    row(&app, &principal, id).await?;
    let ResendRequest { webhook_id } = serde_json::from_slice(&body)
        .map_err(|_| Failure::bad_request("the body must be {\"webhookId\": \"...\"}"))?;
    if !app.engine().resend_event(&principal, id, webhook_id).await? {
        return Err(Failure::not_found("this job has no event with this webhookId"));
    }
    json(&SuccessResponse { success: true })
}

/// Returns the URL of the webhook; in the request it is a string or in an object.
fn webhook_url(row: &JobRow) -> Option<String> {
    let request: Value = serde_json::from_str(&row.request).ok()?;
    let webhook = request.get("webhook")?;
    let url = webhook.as_str().or_else(|| webhook.get("url")?.as_str());
    url.map(str::to_owned)
}

fn event(delivery: Delivery) -> WebhookEvent {
    WebhookEvent {
        number: delivery.event_no,
        event: delivery.event,
        webhook_id: delivery.webhook_id,
        state: delivery.state,
        created_at: delivery.created_at,
        next_attempt_at: delivery.next_attempt_at,
        attempts: delivery.attempts,
    }
}
