//! What is needed to repeat a scrape, of any team.

use sqlx::query;
use sqlx::sqlite::SqliteRow;

use harvestman_core::api::page::Document;
use harvestman_core::ids::{ScrapeId, TeamId};

use crate::error::StoreError;
use crate::session::{OriginState, ScrapeOrigin};
use crate::sqlite::Sqlite;
use crate::sqlite::jobs::parse_kind;
use crate::sqlite::rows::{Columns, bad_column, blob};
use crate::sqlite::status::decompress_texts;

impl Sqlite {
    pub(crate) async fn scrape_origin(&self, id: ScrapeId) -> Result<Option<ScrapeOrigin>, StoreError> {
        let single = query("SELECT * FROM job WHERE id = ?1 AND kind = 'scrape'")
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
