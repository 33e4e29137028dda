//! Requests that may carry an idempotency key. Both engines share it.

use harvestman_core::ids::{JobId, TeamId};

use crate::columns::Columns;
use crate::error::StoreError;
use crate::job::{CreateOutcome, Idempotency, NewJob};

/// A request that may carry an idempotency key.
pub(crate) struct IdempotentRequest {
    pub(crate) team: TeamId,
    /// The job it creates or adds to.
    pub(crate) job: JobId,
    pub(crate) idempotency: Option<Idempotency>,
}

impl IdempotentRequest {
    /// Returns the request that creates a job.
    pub(crate) fn of(job: &NewJob, idempotency: Option<&Idempotency>) -> Self {
        Self {
            team: job.team,
            job: job.id,
            idempotency: idempotency.cloned(),
        }
    }
}

/// Returns the result of the request that used the key, from a row with `job_id` and `same`.
pub(crate) fn earlier_request(row: &impl Columns) -> Result<CreateOutcome, StoreError> {
    Ok(match row.flag("same")? {
        true => CreateOutcome::Repeated(JobId(row.id("job_id")?)),
        false => CreateOutcome::KeyReused,
    })
}
