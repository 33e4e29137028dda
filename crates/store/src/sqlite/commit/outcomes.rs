//! What became of admitted URLs: pages with their ledger entries, errors, places given back.

use sqlx::query;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::crawl::PageError;
use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::prepared::{PreparedDocument, PreparedOutcome, PreparedSettled};
use crate::sqlite::commit::JobInCommit;
use crate::sqlite::events::Event;
use crate::sqlite::rows::{blob, int};
use crate::sqlite::versions;

impl JobInCommit {
    pub(super) async fn settle(
        &mut self,
        connection: &mut SqliteConnection,
        settled: PreparedSettled,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let state = match &settled.outcome {
            PreparedOutcome::Page { .. } => "done",
            PreparedOutcome::Failed(_) => "failed",
            PreparedOutcome::Dropped(_) => "dropped",
        };
        let marked =
            query("UPDATE job_url SET state = ?3 WHERE job_id = ?1 AND url_key = ?2 AND state = 'open'")
                .bind(blob(self.account.job.0))
                .bind(settled.key.to_vec())
                .bind(state)
                .execute(&mut *connection)
                .await?;
        if marked.rows_affected() == 0 {
            // Settled before or never admitted: a page is stored and charged once, or not at all.
            tracing::error!(job.id = %self.account.job, outcome = state, "an outcome of a URL that is not open");
            return Ok(());
        }
        match settled.outcome {
            PreparedOutcome::Page { document, credits } => {
                self.completed += 1;
                let seq = self.completed;
                insert_page(
                    connection,
                    self.account.job,
                    seq,
                    Some(settled.key),
                    Some(document),
                    now,
                )
                .await?;
                self.account.charge_page(connection, seq, credits, now).await?;
                self.credits += u64::from(credits);
                self.charged += u64::from(credits);
                self.event(connection, Event::Page(seq), now).await
            }
            PreparedOutcome::Failed(error) => {
                self.failed += 1;
                let no = self.add_error(connection, &settled.url, error, now).await?;
                self.event(connection, Event::PageFailed(no), now).await
            }
            PreparedOutcome::Dropped(error) => {
                self.admitted = self.admitted.saturating_sub(1);
                if let Some(error) = error {
                    self.add_error(connection, &settled.url, error, now).await?;
                }
                Ok(())
            }
        }
    }

    async fn add_error(
        &mut self,
        connection: &mut SqliteConnection,
        url: &str,
        error: PageError,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.error_count += 1;
        query(
            "INSERT INTO job_error (job_id, no, scrape_id, at, url, code, message)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .bind(blob(self.account.job.0))
        .bind(int(self.error_count))
        .bind(blob(error.id.0))
        .bind(int(now.0))
        .bind(url.to_owned())
        .bind(error.code.as_str())
        .bind(error.message)
        .execute(connection)
        .await?;
        Ok(self.error_count)
    }
}

/// Stores a page under its number. Without a document only that there was one.
pub(crate) async fn insert_page(
    connection: &mut SqliteConnection,
    job: JobId,
    seq: u64,
    key: Option<[u8; 16]>,
    document: Option<PreparedDocument>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut body_id = None;
    let (mut scrape_id, mut status_code, mut size_bytes) = (None, None, 0);
    if let Some(document) = document {
        scrape_id = document.scrape_id.map(|id| id.to_vec());
        status_code = document.status_code;
        size_bytes = document.size_bytes;
        let stored = query("INSERT INTO body (zstd) VALUES (?1)")
            .bind(document.body)
            .execute(&mut *connection)
            .await?;
        body_id = Some(stored.last_insert_rowid());
        if let Some(version) = document.version {
            versions::keep(connection, job, version, now).await?;
        }
    }
    query(
        "INSERT INTO page (job_id, seq, url_key, scrape_id, status_code, size_bytes, body_id, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
    .bind(blob(job.0))
    .bind(int(seq))
    .bind(key.map(|key| key.to_vec()))
    .bind(scrape_id)
    .bind(status_code)
    .bind(int(size_bytes))
    .bind(body_id)
    .bind(int(now.0))
    .execute(connection)
    .await?;
    Ok(())
}
