//! Reads the state that the owner of a shard continues from, as of one moment.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::crawl::{JobState, Snapshot};
use harvestman_core::ids::JobId;
use harvestman_core::url_key::UrlKey;

use crate::error::StoreError;
use crate::lease::Lease;
use crate::limits;
use crate::rows::{admitted_url, snapshot};
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::{Columns, bad_column};
use crate::value::params;

impl Sqlite {
    /// Returns the snapshot, and whether the job is still running.
    pub(crate) async fn load_with_state(&self, lease: &Lease) -> Result<(Snapshot, JobState), StoreError> {
        let mut transaction = self.readers.begin().await?;
        let row = query(
            "SELECT last_batch, progress, status, admitted, completed, failed
             FROM shard JOIN job ON job.id = shard.job_id WHERE job_id = ?1 AND no = ?2",
        )
        .bind_all(params![lease.job, lease.shard])
        .fetch_one(&mut *transaction)
        .await?;
        let (mut snapshot, state) = snapshot(&row)?;
        read_urls(&mut transaction, lease.job, &mut snapshot).await?;
        transaction.commit().await?;
        Ok((snapshot, state))
    }
}

/// Reads keys as concatenated text, and URLs only of open rows: most of a million URLs are settled.
async fn read_urls(
    connection: &mut SqliteConnection,
    job: JobId,
    snapshot: &mut Snapshot,
) -> Result<(), StoreError> {
    let mut after = Vec::new();
    loop {
        let row = query(
            "SELECT group_concat(hex(url_key), '') AS keys, max(url_key) AS last
             FROM (SELECT url_key FROM job_url WHERE job_id = ?1 AND url_key > ?2 ORDER BY url_key LIMIT ?3)",
        )
        .bind_all(params![job, after, limits::KEYS_PER_READ])
        .fetch_one(&mut *connection)
        .await?;
        let Some(keys) = row.maybe_text("keys")? else {
            break;
        };
        for key in keys.as_bytes().chunks(32) {
            let key = std::str::from_utf8(key)
                .ok()
                .and_then(|key| u128::from_str_radix(key, 16).ok());
            snapshot
                .seen
                .push(UrlKey(key.ok_or_else(|| bad_column("url_key"))?));
        }
        after = row.url_key("last")?.to_bytes().to_vec();
    }
    let open = query(
        "SELECT url_key, url, depth, source FROM job_url WHERE job_id = ?1 AND state = 'open' ORDER BY position",
    )
    .bind(job)
    .fetch_all(&mut *connection)
    .await?;
    snapshot.open = open.iter().map(admitted_url).collect::<Result<_, _>>()?;
    let row = query("SELECT count(*) AS spare FROM job_url WHERE job_id = ?1 AND state = 'spare'")
        .bind(job)
        .fetch_one(connection)
        .await?;
    snapshot.spare = row.count("spare")?;
    Ok(())
}
