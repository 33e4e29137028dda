//! Feedback on results (docs/API.md section 9). Operators read it with `harvestman feedback`.

use harvestman_core::api::feedback::{Feedback, FeedbackStored, RatedEndpoint, Rating, SearchFeedback};
use harvestman_core::ids::JobId;
use harvestman_store::{FeedbackOutcome, NewFeedback, Principal, new_id};

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json};
use crate::routes::PathId;

pub(crate) async fn add(Caller { app, principal }: Caller, WholeBody(body): WholeBody) -> HandlerResult {
    let feedback = Feedback::from_json(&body)?;
    let text = serde_json::to_string(&feedback).map_err(unwritable)?;
    let about = (feedback.endpoint, feedback.job_id, feedback.rating);
    store(&app, &principal, about, text).await
}

pub(crate) async fn add_to_search(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let feedback = SearchFeedback::from_json(&body)?;
    let text = serde_json::to_string(&feedback).map_err(unwritable)?;
    store(
        &app,
        &principal,
        (RatedEndpoint::Search, id, feedback.rating),
        text,
    )
    .await
}

async fn store(
    app: &App,
    principal: &Principal,
    (endpoint, job, rating): (RatedEndpoint, JobId, Rating),
    body: String,
) -> HandlerResult {
    let feedback = NewFeedback {
        id: new_id(),
        team: principal.team,
        job,
        endpoint: endpoint.to_string(),
        rating: rating.to_string(),
        body,
        at: harvestman_engine::now(),
    };
    let (id, already_submitted) = match app.store().add_feedback(&feedback).await? {
        FeedbackOutcome::Stored => (feedback.id, None),
        FeedbackOutcome::Repeated(id) => (id, Some(true)),
        FeedbackOutcome::UnknownJob => {
            return Err(Failure::not_found(
                "your team made no request with this id within the last 24 hours",
            ));
        }
    };
    json(&FeedbackStored {
        success: true,
        feedback_id: id.to_string(),
        credits_refunded: 0,
        already_submitted,
    })
}

fn unwritable(error: serde_json::Error) -> Failure {
    Failure::internal(error.to_string())
}
