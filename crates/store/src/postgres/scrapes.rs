//! Single scrapes: jobs with one page, run by the node that received the request.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::account::Account;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::job::NewJob;
use crate::postgres::Postgres;
use crate::postgres::commit::PageRows;
use crate::postgres::credits::add_to_sums;
use crate::postgres::jobs::insert_job;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::prepared::{PreparedDocument, ScrapeEnd, scrape_job};
use crate::scrape::{ScrapeResult, Scrapes};
use crate::sql::activity::insert_activity;
use crate::usage::UsageChange;
use crate::value::params;

impl Scrapes for Postgres {
    async fn begin_scrape(&self, job: &NewJob) -> Result<(), StoreError> {
        let (job, node) = (scrape_job(job), self.node);
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
        let (job, node) = (scrape_job(job), self.node);
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

async fn begin(client: &Client, job: &NewJob, node: Uuid) -> Result<(), StoreError> {
    insert_job(client, job, 1, Some(node)).await?;
    insert_activity(&mut &*client, job, None).await
}

async fn finish(client: &Client, job: JobId, end: ScrapeEnd, now: Timestamp) -> Result<(), StoreError> {
    match end {
        ScrapeEnd::Document { document, credits } => {
            store_document(client, job, document, credits, now).await
        }
        ScrapeEnd::Failed { error, status, body } => {
            query(
                "UPDATE harvestman.job SET status = 'failed', failed = 1,
                    error = CASE zero_data_retention WHEN 0 THEN $2 END, answer_status = $3,
                    answer_body = CASE zero_data_retention WHEN 0 THEN $4 END,
                    completed_at = $5, expires_at = $5 + retention_ms
                 WHERE id = $1 AND status = 'scraping'",
            )
            .bind_all(params![job, error, status, body, now])
            .run(client)
            .await
        }
    }
}

async fn store_document(
    client: &Client,
    job: JobId,
    mut document: PreparedDocument,
    credits: u32,
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = query(
        "UPDATE harvestman.job SET status = 'completed', completed = 1, credits = $2, completed_at = $3,
            expires_at = $3 + retention_ms
         WHERE id = $1 AND status = 'scraping'
         RETURNING team_id, key_id, kind, zero_data_retention",
    )
    .bind_all(params![job, credits, now])
    .fetch_optional(client)
    .await?;
    let Some(row) = row else { return Ok(()) };
    // A scrape has the id of its job, whatever the document says.
    document.scrape_id = Some(job.0.into_bytes());
    let kept = row.count("zero_data_retention")? == 0;
    let account = Account::read(&row, job)?;
    let page = NewPage {
        seq: 1,
        key: None,
        document: kept.then_some(document),
        credits,
    };
    PageRows::of(vec![page]).store(client, &account, now).await?;
    add_to_sums(&account, UsageChange::page(credits), now)
        .run(client)
        .await
}
