//! Leases of shards. Each lease raises the epoch of its shard; the owner of a lower epoch cannot change
//! anything.

use sqlx::query;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::lease::{DueWork, Lease, Leases};
use crate::rows::{due_work, lease};
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, bad_column, blob, int};

impl Leases for Sqlite {
    async fn due_work(&self, now: Timestamp) -> Result<DueWork, StoreError> {
        let row = query(
            "SELECT EXISTS (SELECT 1 FROM shard WHERE active = 1 AND lease_until <= ?1) AS shards,
                EXISTS (SELECT 1 FROM receiver WHERE due_at <= ?1 AND lease_until <= ?1) AS events,
                EXISTS (SELECT 1 FROM monitor_check WHERE lease_until <= ?1)
                    OR EXISTS (SELECT 1 FROM monitor WHERE next_run_at <= ?1) AS checks",
        )
        .bind(int(now.0))
        .fetch_one(&self.readers)
        .await?;
        due_work(&row)
    }

    async fn lease(
        &self,
        node: &str,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> Result<Vec<Lease>, StoreError> {
        let node = node.to_owned();
        let until = Timestamp(now.0.saturating_add(lease_ms));
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    let taken = query(
                        "UPDATE shard SET owner = ?1, epoch = epoch + 1, lease_until = ?2
                         WHERE (job_id, no) IN (
                            SELECT job_id, no FROM shard WHERE active = 1 AND lease_until <= ?3
                            ORDER BY job_id, no LIMIT ?4)
                         RETURNING job_id, no, epoch",
                    )
                    .bind(node)
                    .bind(int(until.0))
                    .bind(int(now.0))
                    .bind(limit)
                    .fetch_all(&mut *connection)
                    .await?;
                    let mut leases = Vec::with_capacity(taken.len());
                    for row in taken {
                        let job = JobId(row.id("job_id")?);
                        let shard = u32::try_from(row.count("no")?).map_err(|_| bad_column("no"))?;
                        leases.push(lease_of(connection, job, shard, row.count("epoch")?, until).await?);
                    }
                    leases.sort_by_key(|lease| (lease.job, lease.shard));
                    Ok(leases)
                })
            })
            .await
    }

    async fn renew(&self, lease: &Lease, now: Timestamp, lease_ms: u64) -> Result<bool, StoreError> {
        let (job, shard, epoch) = (lease.job, lease.shard, lease.epoch);
        let until = now.0.saturating_add(lease_ms);
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    let done = query(
                        "UPDATE shard SET lease_until = ?4
                         WHERE job_id = ?1 AND no = ?2 AND epoch = ?3 AND active = 1",
                    )
                    .bind(blob(job.0))
                    .bind(shard)
                    .bind(int(epoch))
                    .bind(int(until))
                    .execute(connection)
                    .await?;
                    Ok(done.rows_affected() == 1)
                })
            })
            .await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let (job, shard, epoch) = (lease.job, lease.shard, lease.epoch);
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    query(
                        // A regular release: the pages in flight were not the cause of a crash.
                        "UPDATE shard SET lease_until = 0, owner = NULL,
                            progress = json_set(progress, '$.begun', json('{}'))
                         WHERE job_id = ?1 AND no = ?2 AND epoch = ?3",
                    )
                    .bind(blob(job.0))
                    .bind(shard)
                    .bind(int(epoch))
                    .execute(connection)
                    .await?;
                    Ok(())
                })
            })
            .await
    }
}

async fn lease_of(
    connection: &mut SqliteConnection,
    job: JobId,
    shard: u32,
    epoch: u64,
    until: Timestamp,
) -> Result<Lease, StoreError> {
    let row = query(
        "SELECT team_id, key_id, kind, url, request, base, page_limit, created_at FROM job WHERE id = ?1",
    )
    .bind(blob(job.0))
    .fetch_one(connection)
    .await?;
    lease(&row, job, (shard, epoch), until)
}
