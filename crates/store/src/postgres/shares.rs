//! Shared limits: each row says what one node holds of one limit. Nodes compute their units of a limit one after the
//! other, under an advisory lock for the transaction.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harvestman_core::ids::TeamId;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::clock::clock;
use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::transaction::Transaction;
use crate::share::{Demand, Holding, Part, RateGrant, allot};
use crate::value::params;

const LOCK: &str = "SELECT pg_advisory_xact_lock(number) FROM
    (SELECT DISTINCT hashtextextended(subject, 5210194) AS number FROM unnest($1) AS subject ORDER BY number) AS numbers";
/// What living nodes hold and want.
const READ: &str =
    "SELECT subject, node, held, wanted FROM harvestman.share JOIN harvestman.node ON node.id = share.node
    WHERE subject = ANY ($1) AND seen_at > harvestman.clock($2) - $3";
const WRITE: &str = "INSERT INTO harvestman.share AS old (subject, node, held, wanted)
    SELECT new.subject, $1, new.held, new.wanted FROM unnest($2, $3, $4) AS new (subject, held, wanted)
    WHERE new.held > 0 OR new.wanted > 0
    ON CONFLICT (subject, node) DO UPDATE SET held = excluded.held, wanted = excluded.wanted
    WHERE old.held <> excluded.held OR old.wanted <> excluded.wanted";
const DELETE: &str = "DELETE FROM harvestman.share WHERE node = $1 AND subject = ANY ($2)";

/// The limits that all nodes of a database share; only a store that other nodes use has them.
#[derive(Clone, Debug)]
pub struct SharedLimits(pub(crate) Arc<Postgres>);

impl SharedLimits {
    /// Returns what this node holds of each limit after giving back what it no longer wants and borrowing what is
    /// free and due to it. The units held across all living nodes never exceed the limit.
    pub async fn borrow(&self, demands: &[Demand]) -> Result<Vec<Holding>, StoreError> {
        if demands.is_empty() {
            return Ok(Vec::new());
        }
        let (node, demands) = (self.0.node, demands.to_vec());
        self.0
            .detached(move |transaction| {
                Box::pin(async move {
                    let outcome = borrow(&transaction, node, &demands).await;
                    transaction.finish(outcome).await
                })
            })
            .await
    }

    /// Returns which of these limits other nodes wait for.
    pub async fn awaited(&self, subjects: &[String]) -> Result<Vec<String>, StoreError> {
        let rows = query(
            "SELECT DISTINCT subject FROM harvestman.share WHERE subject = ANY ($1) AND node <> $2 AND wanted > held",
        )
        .bind_all(params![subjects.to_vec(), self.0.node])
        .fetch_all(&self.0.pool.connection().await?)
        .await?;
        rows.iter().map(|row| row.text("subject")).collect()
    }

    /// Takes up to `wanted` requests of a limit per minute. A window of one minute begins with its first request.
    pub async fn take_requests(
        &self,
        subject: String,
        limit: u32,
        wanted: u32,
    ) -> Result<RateGrant, StoreError> {
        let row = query(
            "INSERT INTO harvestman.rate_window AS old (subject, since, used, granted)
             VALUES ($1, harvestman.clock($4), least($3, $2), least($3, $2))
             ON CONFLICT (subject) DO UPDATE SET
                since = CASE WHEN abs(old.since - excluded.since) >= $5 THEN excluded.since ELSE old.since END,
                used = CASE WHEN abs(old.since - excluded.since) >= $5 THEN excluded.used
                    ELSE least(greatest(old.used, $2), old.used + $3) END,
                granted = CASE WHEN abs(old.since - excluded.since) >= $5 THEN excluded.used
                    ELSE least(greatest($2 - old.used, 0), $3) END
             RETURNING granted, since + $5 - harvestman.clock($4) AS left_ms",
        )
        .bind_all(params![subject, limit, wanted, clock(), limits::RATE_WINDOW_MS])
        .fetch_one(&self.0.pool.connection().await?)
        .await?;
        Ok(RateGrant {
            requests: u32::try_from(row.count("granted")?).unwrap_or(wanted),
            valid_for: Duration::from_millis(row.count("left_ms").unwrap_or_default()),
        })
    }

    /// Reserves the next start of a request to a host, `delay` after the previous one across all nodes. Returns how
    /// long to wait for it.
    pub async fn reserve_start(&self, host: String, delay: Duration) -> Result<Duration, StoreError> {
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        let row = query(
            "INSERT INTO harvestman.host AS old (host, next_at, set_at)
             VALUES ($1, harvestman.clock($2) + $3, harvestman.clock($2))
             ON CONFLICT (host) DO UPDATE SET
                next_at = CASE WHEN old.set_at - excluded.set_at > $4 THEN excluded.next_at
                    ELSE greatest(old.next_at, old.paused_until, excluded.set_at) + $3 END,
                paused_until = CASE WHEN old.set_at - excluded.set_at > $4 THEN 0 ELSE old.paused_until END,
                set_at = excluded.set_at
             RETURNING greatest(next_at - $3 - set_at, 0) AS wait_ms",
        )
        .bind_all(params![host, clock()])
        // Nodes start late by the time of a round trip, which differs between nodes.
        .bind(delay_ms.saturating_add(limits::HOST_START_SLACK_MS))
        .bind(limits::CLOCK_STEP_MS)
        .fetch_one(&self.0.pool.connection().await?)
        .await?;
        row.count("wait_ms").map(Duration::from_millis)
    }

    /// Pauses the requests of all nodes to a host.
    pub async fn pause_host(&self, host: String, pause: Duration) -> Result<(), StoreError> {
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        query(
            "INSERT INTO harvestman.host AS old (host, next_at, paused_until, set_at)
             VALUES ($1, 0, harvestman.clock($2) + $3, harvestman.clock($2))
             ON CONFLICT (host) DO UPDATE SET
                next_at = CASE WHEN old.set_at - excluded.set_at > $4 THEN 0 ELSE old.next_at END,
                paused_until = CASE WHEN old.set_at - excluded.set_at > $4 THEN excluded.paused_until
                    ELSE greatest(old.paused_until, excluded.paused_until) END,
                set_at = excluded.set_at",
        )
        .bind_all(params![host, clock(), pause_ms, limits::CLOCK_STEP_MS])
        .run(&self.0.pool.connection().await?)
        .await
    }

    /// Returns the hosts that are paused, and for how long.
    pub async fn paused_hosts(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        let rows = query(
            "SELECT host, paused_until - harvestman.clock($1) AS left_ms FROM harvestman.host
             WHERE paused_until > harvestman.clock($1) AND set_at <= harvestman.clock($1) + $3
             ORDER BY paused_until DESC LIMIT $2",
        )
        .bind_all(params![clock(), limits::PAUSED_HOSTS, limits::CLOCK_STEP_MS])
        .fetch_all(&self.0.pool.connection().await?)
        .await?;
        rows.iter()
            .map(|row| Ok((row.text("host")?, Duration::from_millis(row.count("left_ms")?))))
            .collect()
    }

    /// Returns whether this node counts as living, and so keeps what it holds.
    pub fn holds(&self) -> bool {
        let (until, _) = self.0.reports().state();
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Returns how often this node did not report itself in time. Each time, it lost what it held.
    pub fn losses(&self) -> u64 {
        self.0.reports().state().1
    }
}

async fn borrow(
    transaction: &Transaction,
    node: Uuid,
    demands: &[Demand],
) -> Result<Vec<Holding>, StoreError> {
    let subjects: Vec<String> = demands.iter().map(|demand| demand.subject.clone()).collect();
    let (now, locked, rows) = futures_util::future::join3(
        transaction.begin(clock()),
        query(LOCK).bind(subjects.clone()).execute(transaction),
        query(READ)
            .bind_all(params![subjects.clone(), clock(), limits::NODE_LEASE_MS])
            .fetch_all(transaction),
    )
    .await;
    let now = now?;
    locked?;
    let mut parts: HashMap<String, Vec<Part>> = HashMap::new();
    for row in rows? {
        let part = part(&row)?;
        if part.node != node {
            parts.entry(row.text("subject")?).or_default().push(part);
        }
    }
    let spent = spent(transaction, demands, now).await?;
    let mut holdings = Vec::with_capacity(demands.len());
    let mut wanted = Vec::with_capacity(demands.len());
    for demand in demands {
        let others = parts.get(&demand.subject).map_or(&[][..], Vec::as_slice);
        let spent = demand
            .budget_of
            .and_then(|team| spent.get(&team))
            .copied()
            .unwrap_or_default();
        let limit = demand.limit.saturating_sub(spent);
        let held = allot(limit, demand, node, others, now.0 / limits::SHARE_TURN_MS);
        wanted.push(if demand.waits { demand.wanted } else { held });
        holdings.push(Holding {
            held,
            held_elsewhere: others.iter().map(|part| part.held).sum(),
            spent,
        });
    }
    let returned: Vec<String> = subjects
        .iter()
        .zip(holdings.iter().zip(&wanted))
        .filter(|(_, (holding, wanted))| holding.held == 0 && **wanted == 0)
        .map(|(subject, _)| subject.clone())
        .collect();
    let held: Vec<u64> = holdings.iter().map(|holding| holding.held).collect();
    let write = query(WRITE)
        .bind_all(params![node, subjects, held, wanted])
        .execute(transaction);
    let delete = query(DELETE)
        .bind_all(params![node, returned.clone()])
        .execute_if(!returned.is_empty(), transaction);
    let (written, deleted) = futures_util::future::join(write, delete).await;
    written?;
    deleted?;
    Ok(holdings)
}

fn part(row: &Row) -> Result<Part, StoreError> {
    Ok(Part {
        node: row.id("node")?,
        held: row.count("held")?,
        wanted: row.count("wanted")?,
    })
}

/// Returns the credits that the teams of the budgets have spent this month.
async fn spent(
    transaction: &Transaction,
    demands: &[Demand],
    now: Timestamp,
) -> Result<HashMap<TeamId, u64>, StoreError> {
    let teams: Vec<Uuid> = demands
        .iter()
        .filter_map(|demand| Some(demand.budget_of?.0))
        .collect();
    if teams.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = query(
        "SELECT team_id, sum(credits)::bigint AS spent FROM harvestman.month_usage
         WHERE team_id = ANY ($1) AND month = $2 GROUP BY team_id",
    )
    .bind_all(params![teams, Month::of(now).to_string()])
    .fetch_all(transaction)
    .await?;
    rows.iter()
        .map(|row| Ok((TeamId(row.id("team_id")?), row.count("spent")?)))
        .collect()
}

/// Deletes some rates and turns of hosts that nothing has used for long. Returns how many.
pub(crate) async fn delete_old(client: &Client, now: Timestamp) -> Result<u64, StoreError> {
    let mut deleted = 0;
    for statement in [
        "DELETE FROM harvestman.rate_window WHERE subject IN (SELECT subject
            FROM harvestman.rate_window WHERE since <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
        "DELETE FROM harvestman.host WHERE host IN (SELECT host FROM harvestman.host
            WHERE greatest(next_at, paused_until) <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
    ] {
        deleted += query(statement)
            .bind_all(params![
                now.0.saturating_sub(limits::SHARED_ROWS_MS),
                limits::EXPIRY_ROWS
            ])
            .execute(client)
            .await?;
    }
    Ok(deleted)
}
