//! Single scrapes: jobs with one page, run by the node that received the request. Also what is needed to repeat a
//! scrape or a page of a larger job.

use harvestman_core::ids::JobId;
use harvestman_core::ids::{ScrapeId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::account::Account;
use crate::columns::Columns;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::job::NewJob;
use crate::prepared::{PreparedDocument, ScrapeEnd, scrape_job};
use crate::rows::{decompress_texts, failed_page, origin, origin_of_page, result_of_scrape};
use crate::scrape::{OriginState, ScrapeOrigin, ScrapeResult, Scrapes, StoredScrape};
use crate::sql::activity::insert_activity;
use crate::sql::jobs::insert_job;
use crate::sql::{Connection, Database, Transaction, statement, transact};
use crate::usage::UsageChange;
use crate::value::params;

impl<D: Database> Scrapes for D {
    async fn begin_scrape(&self, job: &NewJob, node_now: Timestamp) -> Result<(), StoreError> {
        let (job, node) = (scrape_job(job), self.node());
        transact!(self, node_now, |transaction, now| {
            let job = job.by_database_clock(node_now, now);
            begin(transaction, &job, node).await
        })
    }

    async fn finish_scrape(
        &self,
        job: JobId,
        result: ScrapeResult<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let end = ScrapeEnd::prepare(result).await?;
        transact!(self, now, |transaction, now| {
            finish(transaction, job, end, now).await
        })
    }

    async fn record_scrape(
        &self,
        job: &NewJob,
        result: ScrapeResult<'_>,
        node_now: Timestamp,
    ) -> Result<(), StoreError> {
        let (job, node) = (scrape_job(job), self.node());
        let end = ScrapeEnd::prepare(result).await?;
        transact!(self, node_now, |transaction, now| {
            let job = job.by_database_clock(node_now, now);
            transaction.record_scrape(job, end, node, now).await
        })
    }

    async fn scrape(
        &self,
        team: TeamId,
        id: ScrapeId,
        now: Timestamp,
    ) -> Result<Option<StoredScrape>, StoreError> {
        let mut reader = self.reader().await?;
        let page = statement!(
            "SELECT page.size_bytes, zstd FROM harvestman.page JOIN harvestman.job ON job.id = page.job_id
             WHERE page.scrape_id = $1 AND job.team_id = $2 AND zstd IS NOT NULL
                AND (job.expires_at IS NULL OR job.expires_at > harvestman.clock($3))
                AND job.zero_data_retention = 0
             LIMIT 1",
            sqlite: "SELECT page.size_bytes, body.zstd FROM page
             JOIN job ON job.id = page.job_id JOIN body ON body.id = page.body_id
             WHERE page.scrape_id = ?1 AND job.team_id = ?2 AND (job.expires_at IS NULL OR job.expires_at > ?3)
                AND job.zero_data_retention = 0
             LIMIT 1",
        )
        .bind_all(params![id, team, now])
        .fetch_optional(&mut reader)
        .await?;
        if let Some(page) = page {
            return Ok(decompress_texts(vec![page])
                .await?
                .pop()
                .map(StoredScrape::Document));
        }
        let job = statement!(
            "SELECT status, answer_status, answer_body FROM harvestman.job
             WHERE id = $1 AND team_id = $2 AND kind IN ('scrape', 'parse')
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))",
        )
        .bind_all(params![id, team, now])
        .fetch_optional(&mut reader)
        .await?;
        let Some(job) = job else {
            return failed_page_of(&mut reader, team, id, now).await;
        };
        result_of_scrape(&job)
    }

    async fn scrape_origin(&self, id: ScrapeId) -> Result<Option<ScrapeOrigin>, StoreError> {
        let mut reader = self.reader().await?;
        let single = statement!("SELECT * FROM harvestman.job WHERE id = $1 AND kind IN ('scrape', 'parse')")
            .bind(id)
            .fetch_optional(&mut reader)
            .await?;
        if let Some(row) = single {
            let state = match row.text("status")?.as_str() {
                "scraping" => OriginState::Running,
                _ => OriginState::Ended,
            };
            return origin(&row, row.text("url")?, state).map(Some);
        }
        let page = statement!(
            "SELECT job.*, page.size_bytes, zstd FROM harvestman.page JOIN harvestman.job ON job.id = page.job_id
             WHERE page.scrape_id = $1 LIMIT 1",
            sqlite: "SELECT job.*, page.size_bytes, body.zstd FROM page JOIN job ON job.id = page.job_id
             LEFT JOIN body ON body.id = page.body_id WHERE page.scrape_id = ?1 LIMIT 1",
        )
        .bind(id)
        .fetch_optional(&mut reader)
        .await?;
        if let Some(row) = page {
            return origin_of_page(row).await.map(Some);
        }
        let failed = statement!(
            "SELECT job.*, job_error.url AS page_url FROM harvestman.job_error
             JOIN harvestman.job ON job.id = job_error.job_id WHERE job_error.scrape_id = $1 LIMIT 1",
        )
        .bind(id)
        .fetch_optional(&mut reader)
        .await?;
        failed
            .map(|row| origin(&row, row.text("page_url")?, OriginState::Failed))
            .transpose()
    }
}

/// Returns the error of a failed page of a larger job, as a single scrape would have returned it.
async fn failed_page_of(
    connection: &mut impl Connection,
    team: TeamId,
    id: ScrapeId,
    now: Timestamp,
) -> Result<Option<StoredScrape>, StoreError> {
    statement!(
        "SELECT job_error.code, job_error.message FROM harvestman.job_error
         JOIN harvestman.job ON job.id = job_error.job_id
         WHERE job_error.scrape_id = $1 AND job.team_id = $2
            AND (job.expires_at IS NULL OR job.expires_at > harvestman.clock($3))
         LIMIT 1",
    )
    .bind_all(params![id, team, now])
    .read_optional(connection, failed_page)
    .await
}

pub(crate) async fn begin(
    connection: &mut impl Transaction,
    job: &NewJob,
    node: Option<Uuid>,
) -> Result<(), StoreError> {
    insert_job(connection, job, 1, node).await?;
    insert_activity(connection, job, None).await
}

pub(crate) async fn finish(
    connection: &mut impl Transaction,
    job: JobId,
    end: ScrapeEnd,
    now: Timestamp,
) -> Result<(), StoreError> {
    match end {
        ScrapeEnd::Document { document, credits } => {
            store_document(connection, job, document, credits, now).await
        }
        ScrapeEnd::Failed { error, status, body } => {
            statement!(
                "UPDATE harvestman.job SET status = 'failed', failed = 1,
                    error = CASE zero_data_retention WHEN 0 THEN $2 END, answer_status = $3,
                    answer_body = CASE zero_data_retention WHEN 0 THEN $4 END,
                    completed_at = $5, expires_at = $5 + retention_ms
                 WHERE id = $1 AND status = 'scraping'",
            )
            .bind_all(params![job, error, status, body, now])
            .run(connection)
            .await
        }
    }
}

async fn store_document(
    connection: &mut impl Transaction,
    job: JobId,
    mut document: PreparedDocument,
    credits: u32,
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = statement!(
        "UPDATE harvestman.job SET status = 'completed', completed = 1, credits = $2, completed_at = $3,
            expires_at = $3 + retention_ms
         WHERE id = $1 AND status = 'scraping'
         RETURNING team_id, key_id, kind, zero_data_retention",
    )
    .bind_all(params![job, credits, now])
    .fetch_optional(connection)
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
    connection.store_pages(&account, vec![page], now).await?;
    connection
        .add_to_sums(&account, UsageChange::page(credits), now)
        .await
}
