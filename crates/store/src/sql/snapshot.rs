//! Reads the state that the owner of a shard continues from, as of one moment.

use harvestman_core::crawl::{JobState, Snapshot};

use crate::columns::Columns;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::rows::{admitted_url, snapshot};
use crate::sql::{Database, Snapshot as _, statement};
use crate::value::params;

/// Returns the snapshot, and whether the job is still running.
pub(crate) async fn load(
    database: &impl Database,
    lease: &Lease,
) -> Result<(Snapshot, JobState), StoreError> {
    let mut transaction = database.snapshot().await?;
    let row = statement!(
        "SELECT last_batch, progress, status, admitted, completed, failed
         FROM harvestman.shard JOIN harvestman.job ON job.id = shard.job_id WHERE job_id = $1 AND no = $2",
    )
    .bind_all(params![lease.job, lease.shard])
    .fetch_one(&mut transaction)
    .await?;
    let (mut snapshot, state) = snapshot(&row)?;
    // URLs only of open rows: most of a million URLs are settled.
    snapshot.seen = transaction.read_keys(lease.job).await?;
    snapshot.open = statement!(
        "SELECT url_key, url, depth, source FROM harvestman.job_url WHERE job_id = $1 AND state = 'open'
         ORDER BY position",
    )
    .bind(lease.job)
    .read_all(&mut transaction, admitted_url)
    .await?;
    let spare = statement!(
        "SELECT count(*) AS spare FROM harvestman.job_url WHERE job_id = $1 AND waiting",
        sqlite: "SELECT count(*) AS spare FROM job_url WHERE job_id = ?1 AND state = 'spare'",
    )
    .bind(lease.job)
    .fetch_one(&mut transaction)
    .await?;
    snapshot.spare = spare.count("spare")?;
    transaction.end().await?;
    Ok((snapshot, state))
}
