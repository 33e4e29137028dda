//! Delivery log of a job's webhook, and resending of its events, for the console.

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::fields::Slot;
use harvestman_core::api::query::Query;
use harvestman_core::ids::{JobId, WebhookId};
use harvestman_store::{Attempt, Delivery, DeliveryQuery, JobRow, Principal};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json_response};
use crate::limits;
use crate::routes::PathId;

/// Returns the events of a job after the event number `after`, in order, with every delivery attempt.
pub(crate) async fn log(
    State(app): State<App>,
    Caller(principal): Caller,
    PathId(id): PathId,
    uri: Uri,
) -> HandlerResult {
    let query = Query::parse(uri.query().unwrap_or_default());
    let limit = query
        .integer("limit", 1..=limits::DELIVERIES)?
        .unwrap_or(limits::DELIVERIES_DEFAULT);
    let delivery_query = DeliveryQuery {
        after: query.integer("after", 0..=Slot::UNBOUNDED)?.unwrap_or(0),
        state: query.word("state")?,
        limit: limit as u32,
    };
    let row = job(&app, &principal, id).await?;
    let log = app
        .store()
        .delivery_log(principal.team, id, &delivery_query)
        .await?;
    let last = log.deliveries.last().map(|delivery| delivery.event_no);
    let body = json!({
        "success": true,
        "url": webhook_url(&row),
        "pending": log.pending,
        "delivered": log.delivered,
        "givenUp": log.given_up,
        "events": log.deliveries.iter().map(event).collect::<Vec<_>>(),
        "next": last.filter(|_| log.deliveries.len() as u64 == limit),
    });
    Ok(json_response(StatusCode::OK, body.to_string()))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resend {
    webhook_id: WebhookId,
}

/// Makes an event of the job due at once, whatever its delivery state.
pub(crate) async fn resend(
    State(app): State<App>,
    Caller(principal): Caller,
    PathId(id): PathId,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    job(&app, &principal, id).await?;
    let Resend { webhook_id } = serde_json::from_slice(&body)
        .map_err(|_| Failure::new(ErrorCode::BadRequest, "the body must be {\"webhookId\": \"...\"}"))?;
    if !app.engine().resend_event(&principal, id, webhook_id).await? {
        return Err(Failure::new(
            ErrorCode::NotFound,
            "this job has no event with this webhookId",
        ));
    }
    Ok(json_response(
        StatusCode::OK,
        json!({ "success": true }).to_string(),
    ))
}

async fn job(app: &App, principal: &Principal, id: JobId) -> Result<JobRow, Failure> {
    let row = app
        .store()
        .job(principal.team, id, harvestman_engine::now())
        .await?;
    row.ok_or_else(Failure::no_job)
}

/// Returns the URL of the webhook; in the request it is a string or in an object.
fn webhook_url(row: &JobRow) -> Option<String> {
    let request: Value = serde_json::from_str(&row.request).ok()?;
    let webhook = request.get("webhook")?;
    let url = webhook.as_str().or_else(|| webhook.get("url")?.as_str());
    url.map(str::to_owned)
}

fn event(delivery: &Delivery) -> Value {
    json!({
        "number": delivery.event_no,
        "event": delivery.event,
        "webhookId": delivery.webhook_id,
        "state": delivery.state,
        "createdAt": delivery.created_at,
        "nextAttemptAt": delivery.next_attempt_at,
        "attempts": delivery.attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn attempt(attempt: &Attempt) -> Value {
    json!({
        "at": attempt.at,
        "durationMs": attempt.duration_ms,
        "status": attempt.status,
        "error": attempt.error,
    })
}
