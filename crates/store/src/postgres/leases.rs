//! Leases of shards. Each lease raises the epoch of its shard; the owner of a lower epoch cannot change anything. A
//! node leases its share of the running shards, so that a new node gets work.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::commit::Owner;
use crate::error::StoreError;
use crate::lease::{DueWork, Lease, LeaseRoom, Leases};
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::query::query;
use crate::postgres::rows::{Columns, bad_column};
use crate::postgres::transaction::Transaction;
use crate::prepared::json_text;
use crate::rows::{due_work, lease, parse_progress};
use crate::sql::leases::fail;
use crate::sql::transact;
use crate::value::params;

/// Counts living nodes, running shards, those of this node, free ones, and ones that have been free for a while.
const LOOK: &str = "SELECT
        (SELECT count(*) FROM harvestman.node WHERE seen_at > harvestman.clock($2) - $3) AS nodes,
        count(*) AS shards,
        count(*) FILTER (WHERE node = $1 AND lease_until > harvestman.clock($2)) AS own,
        count(*) FILTER (WHERE lease_until <= harvestman.clock($2)) AS free,
        count(*) FILTER (WHERE greatest(lease_until, free_at) <= harvestman.clock($2) - $4) AS overdue
    FROM harvestman.shard WHERE active";

/// Steps from team to team, and looks at their newest jobs first, which are the most likely to be free.
const TEAMS_WITH_FREE_SHARDS: &str = "WITH RECURSIVE team AS (
        (SELECT team_id AS id FROM harvestman.job WHERE status = 'scraping' AND kind <> 'scrape'
            ORDER BY team_id LIMIT 1)
        UNION ALL
        SELECT (SELECT team_id FROM harvestman.job
            WHERE status = 'scraping' AND kind <> 'scrape' AND team_id > team.id ORDER BY team_id LIMIT 1)
        FROM team WHERE id IS NOT NULL)
    SELECT id FROM team WHERE id IS NOT NULL AND (
        SELECT true FROM harvestman.job JOIN harvestman.shard ON shard.job_id = job.id
        WHERE team_id = team.id AND status = 'scraping' AND kind <> 'scrape'
            AND active AND lease_until <= harvestman.clock($1)
        ORDER BY job.id DESC LIMIT 1)";

impl Leases for Postgres {
    async fn due_work(&self, now: Timestamp) -> Result<DueWork, StoreError> {
        let row = query(
            "SELECT
                EXISTS (SELECT FROM harvestman.shard WHERE active AND lease_until <= now) AS shards,
                EXISTS (SELECT FROM harvestman.receiver WHERE due_at <= now AND lease_until <= now) AS events,
                EXISTS (SELECT FROM harvestman.monitor_check WHERE lease_until <= now)
                    OR EXISTS (SELECT FROM harvestman.monitor WHERE next_run_at <= now) AS checks
             FROM harvestman.clock($1) AS now",
        )
        .bind(now)
        .fetch_one(&self.pool.connection().await?)
        .await?;
        due_work(&row)
    }

    /// At most the share of this node, rounded up; a shard that no other node takes is leased regardless.
    async fn lease(
        &self,
        _node: &str,
        now: Timestamp,
        lease_ms: u64,
        room: &LeaseRoom,
    ) -> Result<Vec<Lease>, StoreError> {
        if room.limit == 0 {
            return Ok(Vec::new());
        }
        let connection = self.pool.connection().await?;
        let wanted = self.wanted_shards(&connection, now, room.limit).await?;
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let teams = teams_with_free_shards(&connection, now).await?;
        drop(connection);
        let room = LeaseRoom {
            limit: wanted,
            ..room.clone()
        };
        let shares = room.shares(&teams);
        if shares.is_empty() {
            return Ok(Vec::new());
        }
        let node = self.node;
        let (leases, damaged) = transact!(self, now, |transaction, now| {
            let until = Timestamp(now.0.saturating_add(lease_ms));
            take_shards(transaction, node, shares, (now, until)).await
        })?;
        // Not in the same transaction, which has locked their shards before their jobs.
        for owner in damaged {
            if let Err(error) = transact!(self, now, |transaction, now| {
                fail(transaction, owner, now).await
            }) {
                tracing::warn!(job.id = %owner.job, %error, "cannot end a damaged job; retrying when its lease expires");
            }
        }
        Ok(leases)
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let (job, shard, epoch) = (lease.job, lease.shard, lease.epoch);
        transact!(self, Timestamp(0), |transaction, now| {
            let row = query(
                "SELECT progress FROM harvestman.shard WHERE job_id = $1 AND no = $2 AND epoch = $3
                 FOR NO KEY UPDATE",
            )
            .bind_all(params![job, shard, epoch])
            .fetch_optional(transaction)
            .await?;
            let Some(row) = row else { return Ok(()) };
            // A regular release: the pages in flight were not the cause of a crash.
            let mut progress = parse_progress(&row)?;
            progress.begun.clear();
            query(
                "UPDATE harvestman.shard SET lease_until = $3, node = NULL, progress = $4
                 WHERE job_id = $1 AND no = $2",
            )
            .bind_all(params![job, shard, now, json_text(&progress)?])
            .run(transaction)
            .await
        })
    }
}

impl Postgres {
    /// Returns how many shards this node may lease now, at most `limit`.
    async fn wanted_shards(&self, client: &Client, now: Timestamp, limit: u32) -> Result<u32, StoreError> {
        let look = query(LOOK)
            .bind_all(params![
                self.node,
                now,
                limits::NODE_LEASE_MS,
                limits::SHARE_GRACE_MS
            ])
            .fetch_one(client)
            .await?;
        let share = look.count("shards")?.div_ceil(look.count("nodes")?.max(1));
        let of_share = share
            .saturating_sub(look.count("own")?)
            .max(look.count("overdue")?);
        let wanted = of_share.min(look.count("free")?);
        Ok(u32::try_from(wanted).map_or(limit, |wanted| wanted.min(limit)))
    }
}

async fn teams_with_free_shards(client: &Client, now: Timestamp) -> Result<Vec<TeamId>, StoreError> {
    let rows = query(TEAMS_WITH_FREE_SHARDS).bind(now).fetch_all(client).await?;
    rows.iter().map(|row| row.id("id").map(TeamId)).collect()
}

/// Leases free shards, as many of each team as its share. Returns the leases, and the owners of damaged jobs.
async fn take_shards(
    transaction: &Transaction,
    node: Uuid,
    shares: Vec<(TeamId, u32)>,
    (now, until): (Timestamp, Timestamp),
) -> Result<(Vec<Lease>, Vec<Owner>), StoreError> {
    let (teams, sizes): (Vec<_>, Vec<_>) = shares.into_iter().map(|(team, size)| (team.0, size)).unzip();
    let taken = query(
        "UPDATE harvestman.shard SET node = $1, epoch = epoch + 1, lease_until = $2
         FROM unnest($4, $5) AS share (team, size)
         CROSS JOIN LATERAL (SELECT job_id AS id, no AS number
            FROM harvestman.job JOIN harvestman.shard ON shard.job_id = job.id
            WHERE team_id = share.team AND status = 'scraping' AND kind <> 'scrape'
                AND active AND lease_until <= $3
            ORDER BY job.id LIMIT share.size FOR NO KEY UPDATE OF shard SKIP LOCKED) AS free
         JOIN harvestman.job ON job.id = free.id
         WHERE shard.job_id = free.id AND shard.no = free.number
         RETURNING job.id, no, epoch, team_id, key_id, kind, url, request, base, page_limit, created_at",
    )
    .bind_all(params![node, until, now, teams, sizes])
    .fetch_all(transaction)
    .await?;
    let (mut leases, mut damaged) = (Vec::with_capacity(taken.len()), Vec::new());
    for row in &taken {
        let job = JobId(row.id("id")?);
        let shard = u32::try_from(row.count("no")?).map_err(|_| bad_column("no"))?;
        let epoch = row.count("epoch")?;
        match lease(row, job, (shard, epoch), until) {
            Ok(lease) => leases.push(lease),
            Err(error) => {
                tracing::error!(job.id = %job, %error, "a stored job is damaged");
                damaged.push(Owner { job, shard, epoch });
            }
        }
    }
    leases.sort_by_key(|lease| (lease.job, lease.shard));
    Ok((leases, damaged))
}
