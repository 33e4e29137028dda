//! Reads what is needed to repeat a scrape or a page of a larger job.

use harvestman_core::ids::{ScrapeId, TeamId};
use harvestman_core::time::Timestamp;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::rows::{decompress_texts, failed_page, origin, origin_of_page, result_of_scrape};
use crate::scrape::{OriginState, ScrapeOrigin, StoredScrape, StoredScrapes};
use crate::sql::{Connection, Database, statement};
use crate::value::params;

impl<D: Database> StoredScrapes for D {
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
