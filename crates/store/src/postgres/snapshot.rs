//! Reads the state that the owner of a shard continues from, as of one moment.

use harvestman_core::crawl::{JobState, Snapshot};
use harvestman_core::ids::JobId;
use uuid::Uuid;

use crate::error::StoreError;
use crate::lease::Lease;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::rows::{admitted_url, snapshot};
use crate::value::params;

impl Postgres {
    /// Returns the snapshot, and whether the job is still running.
    pub(crate) async fn load_with_state(&self, lease: &Lease) -> Result<(Snapshot, JobState), StoreError> {
        let transaction = self.snapshot().await?;
        let row = query(
            "SELECT last_batch, progress, status, admitted, completed, failed
             FROM harvestman.shard JOIN harvestman.job ON job.id = shard.job_id WHERE job_id = $1 AND no = $2",
        )
        .bind_all(params![lease.job, lease.shard])
        .fetch_one(&transaction)
        .await?;
        let (mut snapshot, state) = snapshot(&row)?;
        read_urls(&transaction, lease.job, &mut snapshot).await?;
        transaction.end().await?;
        Ok((snapshot, state))
    }
}

/// Reads all keys, and URLs only of open rows: most of a million URLs are settled.
async fn read_urls(client: &Client, job: JobId, snapshot: &mut Snapshot) -> Result<(), StoreError> {
    let mut after = Uuid::nil();
    loop {
        let keys = query(
            "SELECT url_key FROM harvestman.job_url WHERE job_id = $1 AND url_key > $2 ORDER BY url_key LIMIT $3",
        )
        .bind_all(params![job, after, limits::KEYS_PER_READ])
        .fetch_all(client)
        .await?;
        let Some(last) = keys.last() else { break };
        after = last.id("url_key")?;
        for row in &keys {
            snapshot.seen.push(row.url_key("url_key")?);
        }
    }
    let open = query(
        "SELECT url_key, url, depth, source FROM harvestman.job_url WHERE job_id = $1 AND state = 'open'
         ORDER BY position",
    )
    .bind(job)
    .fetch_all(client)
    .await?;
    snapshot.open = open.iter().map(admitted_url).collect::<Result<_, _>>()?;
    let spare = query("SELECT count(*) AS spare FROM harvestman.job_url WHERE job_id = $1 AND waiting")
        .bind(job)
        .fetch_one(client)
        .await?;
    snapshot.spare = spare.count("spare")?;
    Ok(())
}
