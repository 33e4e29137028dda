//! Reading what the owner of a shard needs to go on, as of one moment.

use futures_util::TryStreamExt;
use sqlx::query;
use sqlx::sqlite::SqliteConnection;
use url::Url;

use harvestman_core::crawl::{Admitted, JobState, Progress, Snapshot};
use harvestman_core::ids::JobId;

use crate::error::StoreError;
use crate::job::{JobStatus, Lease};
use crate::prepared::parse_source;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, blob, wrong};

impl Sqlite {
    pub(crate) async fn load(&self, lease: &Lease) -> Result<Snapshot, StoreError> {
        Ok(self.load_with_state(lease).await?.0)
    }

    /// The snapshot and whether the job still runs.
    pub(crate) async fn load_with_state(&self, lease: &Lease) -> Result<(Snapshot, JobState), StoreError> {
        let mut transaction = self.readers.begin().await?;
        let mut snapshot = Snapshot::default();
        let state = read_counts(&mut transaction, lease, &mut snapshot).await?;
        read_urls(&mut transaction, lease.job, &mut snapshot).await?;
        transaction.commit().await?;
        Ok((snapshot, state))
    }
}

async fn read_counts(
    connection: &mut SqliteConnection,
    lease: &Lease,
    snapshot: &mut Snapshot,
) -> Result<JobState, StoreError> {
    let row = query(
        "SELECT last_batch, progress, status, admitted, completed, failed
         FROM shard JOIN job ON job.id = shard.job_id WHERE job_id = ?1 AND no = ?2",
    )
    .bind(blob(lease.job.0))
    .bind(lease.shard)
    .fetch_one(connection)
    .await?;
    let progress: Progress = serde_json::from_str(&row.text("progress")?).map_err(|_| wrong("progress"))?;
    snapshot.last_batch = row.count("last_batch")?;
    snapshot.progress = progress;
    snapshot.admitted = row.count("admitted")?;
    snapshot.completed = row.count("completed")?;
    snapshot.failed = row.count("failed")?;
    match JobStatus::parse(&row.text("status")?) {
        Some(JobStatus::Scraping) => Ok(JobState::Running),
        Some(JobStatus::Completed | JobStatus::Failed | JobStatus::Cancelled) => Ok(JobState::Ended),
        None => Err(wrong("status")),
    }
}

async fn read_urls(
    connection: &mut SqliteConnection,
    job: JobId,
    snapshot: &mut Snapshot,
) -> Result<(), StoreError> {
    // Only open rows carry their address: of a million settled ones the key is enough.
    let mut rows = query(
        "SELECT url_key, state, position, depth, source, iif(state = 'open', url, NULL) AS url
         FROM job_url WHERE job_id = ?1",
    )
    .bind(blob(job.0))
    .fetch(connection);
    let mut open = Vec::new();
    while let Some(row) = rows.try_next().await? {
        snapshot.seen.push(row.url_key("url_key")?);
        match row.text("state")?.as_str() {
            "open" => open.push((row.count("position")?, admitted(&row)?)),
            "spare" => snapshot.spare += 1,
            _ => {}
        }
    }
    open.sort_by_key(|(position, _)| *position);
    snapshot.open = open.into_iter().map(|(_, admitted)| admitted).collect();
    Ok(())
}

/// An admitted URL of a row with `url_key`, `url`, `depth` and `source`.
pub(crate) fn admitted(row: &sqlx::sqlite::SqliteRow) -> Result<Admitted, StoreError> {
    Ok(Admitted {
        key: row.url_key("url_key")?,
        url: Url::parse(&row.text("url")?).map_err(|_| wrong("url"))?,
        depth: u32::try_from(row.count("depth")?).map_err(|_| wrong("depth"))?,
        source: parse_source(&row.text("source")?).ok_or_else(|| wrong("source"))?,
        attempts: 0,
    })
}
