//! Creates the stored form of a new job.

use harvestman_core::api::caller::Caller;
use harvestman_core::api::error::ApiError;
use harvestman_store::{JobKind, NewJob, Principal};
use serde::Serialize;

use crate::engine::internal_error;
use crate::{clock, limits};

/// Returns a job of one page, without a webhook or base URL; callers override fields that differ.
pub(crate) fn new_job(
    principal: &Principal,
    kind: JobKind,
    target: &impl ToString,
    request: &impl Serialize,
    caller: &Caller,
) -> Result<NewJob, ApiError> {
    Ok(NewJob {
        id: clock::new_job_id(),
        team: principal.team,
        key: principal.key,
        kind,
        url: target.to_string(),
        request: serde_json::to_string(request).map_err(|error| internal_error(&error))?,
        base: String::new(),
        page_limit: 1,
        webhook: None,
        origin: caller.origin.clone(),
        integration: caller.integration.clone(),
        created_at: clock::now(),
        zero_data_retention: false,
        retention_ms: limits::RETENTION_MS,
    })
}
