//! Leases of shards. Each lease raises the epoch of its shard; the owner of a lower epoch cannot change
//! anything.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::commit::Owner;
use crate::error::StoreError;
use crate::lease::{DueWork, Lease, LeaseRoom, Leases};
use crate::rows::{due_work, lease};
use crate::sql::leases::fail;
use crate::sql::transact;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::{Columns, bad_column};
use crate::value::params;

/// Steps from team to team, and looks at their newest jobs first, which are the most likely to be free. `CROSS JOIN` fixes
/// the order of the tables.
const TEAMS_WITH_FREE_SHARDS: &str = "WITH RECURSIVE team (id) AS (
        SELECT min(team_id) FROM job WHERE status = 'scraping' AND kind <> 'scrape'
        UNION ALL
        SELECT (SELECT min(team_id) FROM job
            WHERE status = 'scraping' AND kind <> 'scrape' AND team_id > team.id)
        FROM team WHERE id IS NOT NULL)
    SELECT id FROM team WHERE id IS NOT NULL AND (
        SELECT 1 FROM job CROSS JOIN shard ON shard.job_id = job.id
        WHERE job.team_id = team.id AND status = 'scraping' AND kind <> 'scrape'
            AND active = 1 AND lease_until <= ?1
        ORDER BY job.id DESC LIMIT 1) IS NOT NULL";

/// Leases the oldest free shards of a team.
const LEASE_OF_TEAM: &str = "UPDATE shard SET owner = ?1, epoch = epoch + 1, lease_until = ?2
    WHERE (job_id, no) IN (
        SELECT job_id, no FROM job CROSS JOIN shard ON shard.job_id = job.id
        WHERE team_id = ?4 AND status = 'scraping' AND kind <> 'scrape' AND active = 1 AND lease_until <= ?3
        ORDER BY job.id LIMIT ?5)
    RETURNING job_id, no, epoch";

impl Leases for Sqlite {
    async fn due_work(&self, now: Timestamp) -> Result<DueWork, StoreError> {
        let row = query(
            "SELECT EXISTS (SELECT 1 FROM shard WHERE active = 1 AND lease_until <= ?1) AS shards,
                EXISTS (SELECT 1 FROM receiver WHERE due_at <= ?1 AND lease_until <= ?1) AS events,
                EXISTS (SELECT 1 FROM monitor_check WHERE lease_until <= ?1)
                    OR EXISTS (SELECT 1 FROM monitor WHERE next_run_at <= ?1) AS checks",
        )
        .bind(now)
        .fetch_one(&self.readers)
        .await?;
        due_work(&row)
    }

    async fn lease(
        &self,
        node: &str,
        now: Timestamp,
        lease_ms: u64,
        room: &LeaseRoom,
    ) -> Result<Vec<Lease>, StoreError> {
        if room.limit == 0 {
            return Ok(Vec::new());
        }
        let rows = query(TEAMS_WITH_FREE_SHARDS)
            .bind(now)
            .fetch_all(&self.readers)
            .await?;
        let teams: Result<Vec<TeamId>, StoreError> =
            rows.iter().map(|row| row.id("id").map(TeamId)).collect();
        let shares = room.shares(&teams?);
        if shares.is_empty() {
            return Ok(Vec::new());
        }
        let node = node.to_owned();
        let until = Timestamp(now.0.saturating_add(lease_ms));
        transact!(self, |connection| {
            let mut leases = Vec::new();
            for (team, share) in shares {
                let taken = query(LEASE_OF_TEAM)
                    .bind_all(params![node.clone(), until, now, team, share])
                    .fetch_all(&mut *connection)
                    .await?;
                for row in taken {
                    let job = JobId(row.id("job_id")?);
                    let shard = u32::try_from(row.count("no")?).map_err(|_| bad_column("no"))?;
                    let epoch = row.count("epoch")?;
                    match lease_of(connection, job, shard, epoch, until).await {
                        Ok(lease) => leases.push(lease),
                        Err(StoreError::Unreadable(error)) => {
                            tracing::error!(job.id = %job, error, "a stored job is damaged");
                            fail(connection, Owner { job, shard, epoch }, now).await?;
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            leases.sort_by_key(|lease| (lease.job, lease.shard));
            Ok(leases)
        })
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        query(
            // A regular release: the pages in flight were not the cause of a crash.
            "UPDATE shard SET lease_until = 0, owner = NULL,
                progress = json_set(progress, '$.begun', json('{}'))
             WHERE job_id = ?1 AND no = ?2 AND epoch = ?3",
        )
        .bind_all(params![lease.job, lease.shard, lease.epoch])
        .write(&self.writer)
        .await?;
        Ok(())
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
    .bind(job)
    .fetch_one(connection)
    .await?;
    lease(&row, job, (shard, epoch), until)
}
