//! Single scrapes: jobs with one page, run by the node that received the request.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::NewJob;
use crate::postgres::Postgres;
use crate::prepared::{ScrapeEnd, scrape_job};
use crate::scrape::{ScrapeResult, Scrapes};
use crate::sql::scrapes::{begin, finish};

impl Scrapes for Postgres {
    async fn begin_scrape(&self, job: &NewJob) -> Result<(), StoreError> {
        let (job, node) = (scrape_job(job), Some(self.node));
        self.write(job.created_at, move |transaction, _| {
            Box::pin(async move { begin(transaction, &job, node).await })
        })
        .await
    }

    async fn finish_scrape(
        &self,
        job: JobId,
        result: ScrapeResult<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let end = ScrapeEnd::prepare(result).await?;
        self.write(now, move |transaction, now| {
            Box::pin(async move { finish(transaction, job, end, now).await })
        })
        .await
    }

    async fn record_scrape(
        &self,
        job: &NewJob,
        result: ScrapeResult<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (job, node) = (scrape_job(job), Some(self.node));
        let end = ScrapeEnd::prepare(result).await?;
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                begin(transaction, &job, node).await?;
                finish(transaction, job.id, end, now).await
            })
        })
        .await
    }
}
