//! Creating jobs, adding pages to them, and idempotency keys.

use harvestman_core::crawl::Offer;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::idempotency::IdempotentRequest;
use crate::job::{AddPagesOutcome, CreateOutcome, Idempotency, NewJob, NewJobs};
use crate::postgres::Postgres;
use crate::postgres::commit::{add_to_batch, insert_batch_pages, page_rows};
use crate::sql::jobs::insert_running_job;
use crate::sql::transact;

impl NewJobs for Postgres {
    async fn create_batch(
        &self,
        job: &NewJob,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
    ) -> Result<CreateOutcome, StoreError> {
        let lists = page_rows(pages).await?;
        let job = job.clone();
        let request = IdempotentRequest::of(&job, idempotency);
        transact!(self, job.created_at, |transaction, now| {
            if let Some(earlier) = request.store_or_find(transaction, now).await? {
                return Ok(earlier);
            }
            insert_running_job(transaction, &job, now).await?;
            if !lists.is_empty() {
                insert_batch_pages(transaction, job.id, &lists, now).await?;
            }
            Ok(CreateOutcome::Created)
        })
    }

    async fn add_pages(
        &self,
        team: TeamId,
        job: JobId,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
        now: Timestamp,
    ) -> Result<AddPagesOutcome, StoreError> {
        let lists = page_rows(pages).await?;
        let idempotency = idempotency.cloned();
        let request = IdempotentRequest {
            team,
            job,
            idempotency,
        };
        transact!(self, now, |transaction, now| {
            add_to_batch(transaction, request, lists, now).await
        })
    }
}
