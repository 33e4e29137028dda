//! Leased shards: renewed, and ended if their job is damaged.

use harvestman_core::time::Timestamp;

use crate::commit::Owner;
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::job::JobStatus;
use crate::lease::{DAMAGED_JOB, Lease, LeasedShards};
use crate::rows::{parse_kind, readable_job};
use crate::sql::jobs::end_early;
use crate::sql::{Connection, Database, Transaction, statement, transact};
use crate::value::params;

impl<D: Database> LeasedShards for D {
    async fn renew(&self, lease: &Lease, now: Timestamp, lease_ms: u64) -> Result<bool, StoreError> {
        let done = statement!(
            "UPDATE harvestman.shard SET lease_until = harvestman.clock($4) + $5
             WHERE job_id = $1 AND no = $2 AND epoch = $3 AND active",
        )
        .bind_all(params![lease.job, lease.shard, lease.epoch, now, lease_ms])
        .write(self)
        .await?;
        Ok(done == 1)
    }

    async fn fail_damaged(&self, lease: &Lease, now: Timestamp) -> Result<bool, StoreError> {
        let owner = Owner::of(lease);
        transact!(self, now, |transaction, now| {
            fail(transaction, owner, now).await
        })
    }
}

/// See [`crate::Store::fail_damaged`]. Leaves a job of an unknown kind to the version that knows it.
pub(crate) async fn fail(
    transaction: &mut impl Transaction,
    owner: Owner,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let job = owner.job;
    let Some(events) = owned_job(transaction, owner).await? else {
        return Ok(false);
    };
    let row = statement!(
        "SELECT kind, request, url, base, warnings, created_at FROM harvestman.job WHERE id = $1",
    )
    .bind(job)
    .fetch_one(transaction)
    .await?;
    let Ok(kind) = parse_kind(&row) else {
        return Ok(false);
    };
    end_early(transaction, job, (JobStatus::Failed, Some(DAMAGED_JOB)), now).await?;
    statement!(
        "UPDATE harvestman.job SET request = $2, url = $3, base = $4, warnings = $5, created_at = $6
         WHERE id = $1",
    )
    .bind(job)
    .bind_all(readable_job(&row, now))
    .execute(transaction)
    .await?;
    if let Ok(mut log) = EventLog::read(&events) {
        log.add_end(kind, Event::Failed, now);
        transaction.save_events(job, &log).await?;
    }
    Ok(true)
}

/// Locks the job of an owner and returns the columns of its event log; `None` if the owner lost the shard, or the job
/// has ended.
pub(crate) async fn owned_job<C: Connection>(
    connection: &mut C,
    owner: Owner,
) -> Result<Option<C::Row>, StoreError> {
    let job = statement!(
        "SELECT webhook_events, event_count, last_event_at FROM harvestman.job
         WHERE id = $1 AND status = 'scraping' FOR NO KEY UPDATE",
    )
    .bind(owner.job)
    .fetch_optional(connection)
    .await?;
    let owned = statement!(
        "SELECT 1 FROM harvestman.shard WHERE job_id = $1 AND no = $2 AND epoch = $3 AND active
         FOR NO KEY UPDATE",
    )
    .bind_all(params![owner.job, owner.shard, owner.epoch])
    .fetch_optional(connection)
    .await?;
    Ok(job.filter(|_| owned.is_some()))
}
