//! Endpoint for operator commands to a running server.

use axum::extract::State;
use serde_json::json;

use crate::app::App;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json};
use crate::operator::execute;

pub(crate) async fn command(State(app): State<App>, WholeBody(body): WholeBody) -> HandlerResult {
    let command = serde_json::from_slice(&body)
        .map_err(|error| Failure::bad_request(format!("invalid operator command: {error}")))?;
    let output = execute(command, app.store(), app.engine().plans()).await?;
    if let Some(key) = output.revoked {
        app.principals().remove(key);
    }
    json(&json!({ "success": true, "text": output.text }))
}
