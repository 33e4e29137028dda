//! Endpoint for operator commands to a running server.

use axum::extract::State;
use harvestman_core::api::error::ErrorCode;
use serde_json::json;

use crate::app::App;
use crate::body::WholeBody;
use crate::error::{Answer, Failure, json};
use crate::operator::carry_out;

pub(crate) async fn command(State(app): State<App>, WholeBody(body): WholeBody) -> Answer {
    let command = serde_json::from_slice(&body).map_err(|error| {
        Failure::new(
            ErrorCode::BadRequest,
            format!("invalid operator command: {error}"),
        )
    })?;
    let done = carry_out(command, app.store(), app.engine().plans()).await?;
    if let Some(key) = done.revoked {
        app.principals().forget(key);
    }
    json(&json!({ "success": true, "text": done.text }))
}
