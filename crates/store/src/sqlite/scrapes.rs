//! Single scrapes: jobs with one page, run by the node that received the request. Also what is needed to repeat a
//! scrape or a page of a larger job.

use sqlx::query;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::page::Document;
use harvestman_core::ids::{JobId, KeyId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::NewJob;
use crate::prepared::{PreparedDocument, ScrapeEnd, scrape_job};
use crate::scrape::{OriginState, ScrapeOrigin, ScrapeResult, Scrapes, StoredScrape};
use crate::sqlite::Sqlite;
use crate::sqlite::commit::{NewPage, insert_pages};
use crate::sqlite::credits::Account;
use crate::sqlite::jobs::{insert_activity, insert_job, parse_kind};
use crate::sqlite::pages::decompress_texts;
use crate::sqlite::rows::{Columns, bad_column, blob, int};

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
            return self.failed_page(team, id, now).await;
        };
        let running = job.text("status")? == "scraping";
        let answer = (job.maybe_count("answer_status")?, job.maybe_text("answer_body")?);
        Ok(match answer {
            _ if running => Some(StoredScrape::Running),
            (Some(status), Some(body)) => Some(StoredScrape::Failed {
                status: u16::try_from(status).unwrap_or(500),
                body,
            }),
            _ => None,
        })
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
            let mut found = origin(&row, row.text("url")?, OriginState::Ended)?;
            // A page deleted for zero data retention cannot be repeated, whatever its URL.
            if !found.zero_data_retention {
                let document = decompress_texts(vec![row]).await?.pop().unwrap_or_default();
                let document: Document =
                    serde_json::from_str(&document).map_err(|_| bad_column("a document"))?;
                found.url = document.metadata.source_url.unwrap_or(found.url);
            }
            return Ok(Some(found));
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
    async fn failed_page(
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
        let Some(row) = row else { return Ok(None) };
        let code = ErrorCode::parse(&row.text("code")?).unwrap_or(ErrorCode::Unknown);
        let error = ApiError::new(code, row.text("message")?);
        Ok(Some(StoredScrape::Failed {
            status: error.status(),
            body: error.body().to_string(),
        }))
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
    let account = Account {
        job,
        team: TeamId(row.id("team_id")?),
        key: row.maybe_id("key_id")?.map(KeyId),
        kind: parse_kind(&row.text("kind")?)?,
    };
    let page = NewPage {
        seq: 1,
        key: None,
        document: kept.then_some(document),
        credits,
    };
    insert_pages(connection, &account, vec![page], now).await?;
    account.add_to_month(connection, u64::from(credits), now).await
}

/// Builds the origin from a row of `job`.
fn origin(row: &SqliteRow, url: String, state: OriginState) -> Result<ScrapeOrigin, StoreError> {
    Ok(ScrapeOrigin {
        team: TeamId(row.id("team_id")?),
        kind: parse_kind(&row.text("kind")?)?,
        url,
        request: row.text("request")?,
        zero_data_retention: row.count("zero_data_retention")? != 0,
        expires_at: row.maybe_time("expires_at")?,
        state,
    })
}
