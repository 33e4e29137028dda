//! Creating jobs, adding pages to them, and idempotency keys.

use harvestman_core::crawl::Offer;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::idempotency::IdempotentRequest;
use crate::job::{AddPagesOutcome, CreateOutcome, Idempotency, NewJob, NewJobs};
use crate::sql::jobs::insert_running_job;
use crate::sql::transact;
use crate::sqlite::Sqlite;
use crate::sqlite::commit::{add_to_batch, insert_batch_pages};
use crate::sqlite::prepared::page_lists;

impl NewJobs for Sqlite {
    async fn create_batch(
        &self,
        job: &NewJob,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
    ) -> Result<CreateOutcome, StoreError> {
        let lists = page_lists(pages).await?;
        let job = job.clone();
        let request = IdempotentRequest::of(&job, idempotency);
        transact!(self, |connection| {
            if let Some(earlier) = request.store_or_find(connection, job.created_at).await? {
                return Ok(earlier);
            }
            insert_running_job(connection, &job, job.created_at).await?;
            if !lists.is_empty() {
                insert_batch_pages(connection, job.id, &lists, job.created_at).await?;
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
        let lists = page_lists(pages).await?;
        let request = IdempotentRequest {
            team,
            job,
            idempotency: idempotency.cloned(),
        };
        transact!(self, |connection| {
            add_to_batch(connection, request, lists, now).await
        })
    }
}
