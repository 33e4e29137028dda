//! Single scrapes: jobs with one page, run by the node that received the request. Also what is needed to repeat a
//! scrape or a page of a larger job.

use sqlx::query;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::{JobId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::job::NewJob;
use crate::prepared::{PreparedDocument, ScrapeEnd, scrape_job};
use crate::rows::{decompress_texts, failed_page, origin, origin_of_page, result_of_scrape};
use crate::scrape::{OriginState, ScrapeOrigin, ScrapeResult, Scrapes, StoredScrape};
use crate::sqlite::Sqlite;
use crate::sqlite::commit::insert_pages;
use crate::sqlite::credits::add_to_month;
use crate::sqlite::jobs::{insert_activity, insert_job};
use crate::sqlite::rows::{Columns, blob, int};

impl Scrapes for Sqlite {
    async fn begin_scrape(&self, job: &NewJob) -> Result<(), StoreError> {
        let job = scrape_job(job);
        self.writer
            .run(move |connection| Box::pin(async move { begin(connection, &job).await }))
            .await
    }

    async fn finish_scrape(
        &self,
        job: JobId,
        result: ScrapeResult<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let end = ScrapeEnd::prepare(result).await?;
        self.writer
            .run(move |connection| Box::pin(async move { finish(connection, job, end, now).await }))
            .await
    }

    async fn record_scrape(
        &self,
        job: &NewJob,
        result: ScrapeResult<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let job = scrape_job(job);
        let end = ScrapeEnd::prepare(result).await?;
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    begin(connection, &job).await?;
                    finish(connection, job.id, end, now).await
                })
            })
            .await
    }

    async fn scrape(
        &self,
        team: TeamId,
        id: ScrapeId,
        now: Timestamp,
    ) -> Result<Option<StoredScrape>, StoreError> {
        let page = query(
            "SELECT page.size_bytes, body.zstd FROM page
             JOIN job ON job.id = page.job_id JOIN body ON body.id = page.body_id
             WHERE page.scrape_id = ?1 AND job.team_id = ?2 AND (job.expires_at IS NULL OR job.expires_at > ?3)
                AND job.zero_data_retention = 0
             LIMIT 1",
        )
        .bind(blob(id.0))
        .bind(blob(team.0))
        .bind(int(now.0))
        .fetch_optional(&self.readers)
        .await?;
        if let Some(page) = page {
            return Ok(decompress_texts(vec![page])
                .await?
                .pop()
                .map(StoredScrape::Document));
        }
        let job = query(
            "SELECT status, answer_status, answer_body FROM job
             WHERE id = ?1 AND team_id = ?2 AND kind IN ('scrape', 'parse') AND (expires_at IS NULL OR expires_at > ?3)",
        )
        .bind(blob(id.0))
        .bind(blob(team.0))
        .bind(int(now.0))
        .fetch_optional(&self.readers)
        .await?;
        let Some(job) = job else {
            return self.failed_page_of(team, id, now).await;
        };
        result_of_scrape(&job)
    }

    async fn scrape_origin(&self, id: ScrapeId) -> Result<Option<ScrapeOrigin>, StoreError> {
        let single = query("SELECT * FROM job WHERE id = ?1 AND kind IN ('scrape', 'parse')")
            .bind(blob(id.0))
            .fetch_optional(&self.readers)
            .await?;
        if let Some(row) = single {
            let state = match row.text("status")?.as_str() {
                "scraping" => OriginState::Running,
                _ => OriginState::Ended,
            };
            return origin(&row, row.text("url")?, state).map(Some);
        }
        let page = query(
            "SELECT job.*, page.size_bytes, body.zstd FROM page JOIN job ON job.id = page.job_id
             LEFT JOIN body ON body.id = page.body_id WHERE page.scrape_id = ?1 LIMIT 1",
        )
        .bind(blob(id.0))
        .fetch_optional(&self.readers)
        .await?;
        if let Some(row) = page {
            return origin_of_page(row).await.map(Some);
        }
        let failed = query(
            "SELECT job.*, job_error.url AS page_url FROM job_error JOIN job ON job.id = job_error.job_id
             WHERE job_error.scrape_id = ?1 LIMIT 1",
        )
        .bind(blob(id.0))
        .fetch_optional(&self.readers)
        .await?;
        failed
            .map(|row| origin(&row, row.text("page_url")?, OriginState::Failed))
            .transpose()
    }
}

async fn begin(connection: &mut SqliteConnection, job: &NewJob) -> Result<(), StoreError> {
    insert_job(connection, job, 1).await?;
    insert_activity(connection, job, None).await
}

async fn finish(
    connection: &mut SqliteConnection,
    job: JobId,
    end: ScrapeEnd,
    now: Timestamp,
) -> Result<(), StoreError> {
    match end {
        ScrapeEnd::Document { document, credits } => {
            store_document(connection, job, document, credits, now).await
        }
        ScrapeEnd::Failed { error, status, body } => {
            query(
                "UPDATE job SET status = 'failed', failed = 1,
                    error = CASE zero_data_retention WHEN 0 THEN ?2 END, answer_status = ?3,
                    answer_body = CASE zero_data_retention WHEN 0 THEN ?4 END,
                    completed_at = ?5, expires_at = ?5 + retention_ms
                 WHERE id = ?1 AND status = 'scraping'",
            )
            .bind(blob(job.0))
            .bind(error)
            .bind(status)
            .bind(body)
            .bind(int(now.0))
            .execute(connection)
            .await?;
            Ok(())
        }
    }
}

impl Sqlite {
    /// Returns the error of a failed page of a larger job, as a single scrape would have returned it.
    async fn failed_page_of(
        &self,
        team: TeamId,
        id: ScrapeId,
        now: Timestamp,
    ) -> Result<Option<StoredScrape>, StoreError> {
        let row = query(
            "SELECT job_error.code, job_error.message FROM job_error JOIN job ON job.id = job_error.job_id
             WHERE job_error.scrape_id = ?1 AND job.team_id = ?2
                AND (job.expires_at IS NULL OR job.expires_at > ?3)
             LIMIT 1",
        )
        .bind(blob(id.0))
        .bind(blob(team.0))
        .bind(int(now.0))
        .fetch_optional(&self.readers)
        .await?;
        row.as_ref().map(failed_page).transpose()
    }
}

async fn store_document(
    connection: &mut SqliteConnection,
    job: JobId,
    mut document: PreparedDocument,
    credits: u32,
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = query(
        "UPDATE job SET status = 'completed', completed = 1, credits = ?2, completed_at = ?3,
            expires_at = ?3 + retention_ms
         WHERE id = ?1 AND status = 'scraping'
         RETURNING team_id, key_id, kind, zero_data_retention",
    )
    .bind(blob(job.0))
    .bind(credits)
    .bind(int(now.0))
    .fetch_optional(&mut *connection)
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
    insert_pages(connection, &account, vec![page], now).await?;
    add_to_month(connection, &account, u64::from(credits), now).await
}
