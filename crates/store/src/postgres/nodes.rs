//! The nodes of a database. Each reports itself every few seconds. If a node stops reporting, the first node that
//! notices ends or frees what it held, under a lock on its row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harvestman_core::api::error::ApiError;
use harvestman_core::ids::SessionId;
use harvestman_core::time::Timestamp;
use parking_lot::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::clock::clock;
use crate::config::NodeReport;
use crate::error::StoreError;
use crate::limits;
use crate::postgres::client::Client;
use crate::postgres::connect::{BACKGROUND_RETRY, Pool};
use crate::postgres::query::query;
use crate::postgres::rows::{Columns, bad_column};
use crate::postgres::transaction::Transaction;
use crate::prepared::json_text;
use crate::secret_key::{NO_KEY, SECRET_KEY};
use crate::sql::sessions::end;
use crate::value::params;

/// Serializes the starts of nodes, so that each sees the settings of those before it.
const LOCK: &str = "SELECT pg_advisory_xact_lock(5210194012302)";
const HEARTBEAT: &str = "INSERT INTO harvestman.node (id, started_at, seen_at, url, settings)
    VALUES ($1, harvestman.clock($2), harvestman.clock($2), $3, $4)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
    RETURNING seen_at, ARRAY (SELECT id FROM harvestman.node AS other
        WHERE other.seen_at <= harvestman.clock($2) - $5 AND other.id <> $1) AS dead";

const FORGET_SHARES: &str = "DELETE FROM harvestman.share WHERE node = $1";

/// The reports of this node. While the last one is recent, other nodes do not take over what this node holds.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    until: Option<Instant>,
    lapses: u64,
    /// When the last report began, and the time of the database then.
    last: Option<(Instant, Timestamp)>,
    /// Until when other nodes may only look dead, because the clock of the database has gone forward.
    stepped_until: Option<Instant>,
}

/// A report as the database has stored it.
struct Report {
    seen_at: Timestamp,
    dead: Vec<Uuid>,
}

impl Reports {
    /// Returns until when this node counts as living without another report, and how often its reports have lapsed.
    pub(crate) fn state(&self) -> (Option<Instant>, u64) {
        let state = self.0.lock();
        (state.until, state.lapses)
    }

    /// Returns whether other nodes may have taken over what this node held before a report that begins at `now`.
    fn has_lapsed(&self, now: Instant) -> bool {
        self.state().0.is_some_and(|until| now >= until)
    }

    /// Returns the dead nodes: none while others have had no time to report since a step of the database's clock.
    fn reported(&self, began: Instant, lapsed: bool, report: Report) -> Vec<Uuid> {
        let lease = Duration::from_millis(limits::NODE_LEASE_MS);
        let mut state = self.0.lock();
        state.until = Some(began + lease - limits::NODE_LEASE_MARGIN);
        state.lapses += u64::from(lapsed);
        let last = state.last.replace((began, report.seen_at));
        if let Some((last_began, last_seen)) = last {
            let passed = Duration::from_millis(report.seen_at.millis_since(last_seen));
            if passed > last_began.elapsed() + limits::NODE_LEASE_MARGIN {
                state.stepped_until = Some(Instant::now() + lease);
            }
        }
        match state.stepped_until {
            Some(until) if began < until => Vec::new(),
            _ => report.dead,
        }
    }
}

/// This process as a node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    id: Uuid,
    url: Option<String>,
    settings: BTreeMap<String, String>,
    settings_text: String,
    reports: Arc<Reports>,
}

impl Node {
    pub(crate) fn new(id: Uuid, report: &NodeReport, reports: Arc<Reports>) -> Result<Self, StoreError> {
        Ok(Self {
            id,
            reports,
            url: report.url.clone(),
            settings_text: json_text(&report.settings)?,
            settings: report.settings.clone(),
        })
    }

    /// Adds this process to the nodes.
    ///
    /// # Errors
    /// [`StoreError::Setup`] if a setting that all nodes must have in common differs from that of a living node.
    pub(crate) async fn register(&self, pool: &Pool) -> Result<(), StoreError> {
        let transaction = Transaction::on(pool).await?;
        let registering = async {
            transaction.begin(clock()).await?;
            query(LOCK).execute(&transaction).await?;
            self.compare_settings(&transaction).await?;
            self.heartbeat(&transaction).await
        };
        let began = Instant::now();
        let outcome = registering.await;
        let report = transaction.finish(outcome).await?;
        self.reports.reported(began, false, report);
        Ok(())
    }

    async fn compare_settings(&self, client: &Client) -> Result<(), StoreError> {
        let others = query(
            "SELECT DISTINCT settings FROM harvestman.node WHERE seen_at > harvestman.clock($1) - $2 AND id <> $3",
        )
        .bind_all(params![clock(), limits::NODE_LEASE_MS, self.id])
        .fetch_all(client)
        .await?;
        for row in others {
            let theirs: BTreeMap<String, String> =
                serde_json::from_str(&row.text("settings")?).map_err(|_| bad_column("settings"))?;
            if is_too_old(&self.settings, &theirs) {
                return Err(StoreError::Setup(
                    "a server of an earlier version runs on this database, and cannot decrypt the secrets that this \
                     version encrypts: stop it first"
                        .to_owned(),
                ));
            }
            if let Some(name) = first_difference(&self.settings, &theirs) {
                return Err(StoreError::Setup(format!(
                    "`{name}` differs from that of the running servers on this database: give every server the same \
                     value. To change it, stop all of them first; one that was killed counts as running for {} s",
                    limits::NODE_LEASE_MS / 1000
                )));
            }
        }
        Ok(())
    }

    /// Writes the report.
    async fn heartbeat(&self, client: &Client) -> Result<Report, StoreError> {
        let row = query(HEARTBEAT)
            .bind_all(params![
                self.id,
                clock(),
                self.url.clone(),
                self.settings_text.clone(),
                limits::NODE_LEASE_MS,
            ])
            .fetch_one(client)
            .await?;
        Ok(Report {
            seen_at: row.time("seen_at")?,
            dead: row.try_get("dead").map_err(|_| bad_column("dead"))?,
        })
    }

    /// Reports this node until `stop` is cancelled, and cleans up after dead nodes.
    pub(crate) async fn keep_alive(self, pool: Pool, stop: CancellationToken) {
        loop {
            let pause = match self.beat(&pool).await {
                Ok(()) => limits::NODE_HEARTBEAT,
                Err(StoreError::Closed) => return,
                Err(error) => {
                    tracing::warn!(%error, "cannot report this node to the database; retrying");
                    BACKGROUND_RETRY
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn beat(&self, pool: &Pool) -> Result<(), StoreError> {
        let lease = Duration::from_millis(limits::NODE_LEASE_MS) - limits::NODE_LEASE_MARGIN;
        let reported = timeout(lease, self.report(pool))
            .await
            .unwrap_or_else(|_| Err(StoreError::Transient("it does not respond".to_owned())));
        // Other nodes may take over all work of this one by then, so no response is worth waiting for any longer.
        if reported.is_err() && self.reports.has_lapsed(Instant::now()) && pool.is_silent().await {
            pool.end_connections();
        }
        for dead in reported? {
            if remove(pool, dead, limits::NODE_LEASE_MS).await? {
                tracing::warn!(node = %dead, "a node has stopped without notice; its work is free");
            }
        }
        Ok(())
    }

    /// Reports this node, and returns the nodes that have stopped reporting themselves.
    async fn report(&self, pool: &Pool) -> Result<Vec<Uuid>, StoreError> {
        let connection = pool.connection().await?;
        let began = Instant::now();
        let lapsed = self.reports.has_lapsed(began);
        if lapsed {
            query(FORGET_SHARES).bind(self.id).execute(&connection).await?;
        }
        let report = self.heartbeat(&connection).await?;
        Ok(self.reports.reported(began, lapsed, report))
    }
}

/// Returns whether a node does not know of encryption, but this one encrypts.
fn is_too_old(ours: &BTreeMap<String, String>, theirs: &BTreeMap<String, String>) -> bool {
    ours.get(SECRET_KEY).is_some_and(|key| key != NO_KEY) && !theirs.contains_key(SECRET_KEY)
}

/// Returns the name of a setting that both sides report and that differs.
fn first_difference<'a>(
    ours: &'a BTreeMap<String, String>,
    theirs: &BTreeMap<String, String>,
) -> Option<&'a str> {
    let differs = |(name, value): &(&String, &String)| theirs.get(*name).is_some_and(|other| other != *value);
    ours.iter().find(differs).map(|(name, _)| name.as_str())
}

/// Removes this node, and frees or ends what it holds.
pub(crate) async fn leave(pool: &Pool, node: Uuid) -> Result<(), StoreError> {
    remove(pool, node, 0).await.map(drop)
}

/// Removes a node that was last seen `silent_ms` ago or earlier. Returns false if another node removes it, or it is
/// alive.
async fn remove(pool: &Pool, node: Uuid, silent_ms: u64) -> Result<bool, StoreError> {
    let mut transaction = Transaction::on(pool).await?;
    let removing = async {
        let now = transaction.begin(clock()).await?;
        free_all(&mut transaction, node, silent_ms, now).await
    };
    let outcome = removing.await;
    transaction.finish(outcome).await
}

async fn free_all(
    transaction: &mut Transaction,
    node: Uuid,
    silent_ms: u64,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let found = query("SELECT 1 FROM harvestman.node WHERE id = $1 AND seen_at <= $2 FOR UPDATE SKIP LOCKED")
        .bind_all(params![node, now.0.saturating_sub(silent_ms)])
        .fetch_optional(transaction)
        .await?;
    if found.is_none() {
        return Ok(false);
    }
    let error =
        ApiError::internal("The server stopped before this scrape was finished. Send the request again.");
    query(
        "UPDATE harvestman.job SET status = 'failed', admitted = 0, error = $2, answer_status = $3, answer_body = $4,
            completed_at = $5, expires_at = $5 + retention_ms
         WHERE node = $1 AND status = 'scraping'",
    )
    .bind_all(params![
        node,
        error.message.clone(),
        error.status(),
        error.body().to_string(),
        now,
    ])
    .execute(transaction)
    .await?;
    for statement in [
        // If the node lives on without a heartbeat, its shards are fenced, and their leases end anyway.
        "UPDATE harvestman.shard SET lease_until = 0, node = NULL WHERE node = $1 AND active AND lease_until > 0",
        "UPDATE harvestman.receiver SET lease_until = 0, node = NULL WHERE node = $1",
        "DELETE FROM harvestman.profile_lock WHERE node = $1",
        FORGET_SHARES,
        "DELETE FROM harvestman.node WHERE id = $1",
    ] {
        query(statement).bind(node).execute(transaction).await?;
    }
    // Last, because it charges: rows of months are locked after all others.
    let live = query("SELECT id FROM harvestman.session WHERE node = $1 AND ended_at IS NULL ORDER BY id")
        .bind(node)
        .fetch_all(transaction)
        .await?;
    for row in live {
        end(transaction, SessionId(row.id("id")?), None).await?;
    }
    Ok(true)
}

/// Writes without changing anything, to find out whether the database can be written.
pub(crate) async fn touch(transaction: &Transaction) -> Result<(), StoreError> {
    query("UPDATE harvestman.schema_version SET version = version")
        .run(transaction)
        .await
}

/// Returns whether a node uses the database.
pub(super) async fn is_served(client: &Client) -> Result<bool, StoreError> {
    let found = query(
        "SELECT EXISTS (SELECT 1 FROM harvestman.node WHERE seen_at > harvestman.clock($1) - $2) AS served",
    )
    .bind_all(params![clock(), limits::NODE_LEASE_MS])
    .fetch_one(client)
    .await?;
    found.flag("served")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_node_that_encrypts_refuses_earlier_versions() {
        let key = |id: &str| BTreeMap::from([(SECRET_KEY.to_owned(), id.to_owned())]);
        assert!(is_too_old(&key("0123"), &BTreeMap::new()));
        assert!(!is_too_old(&key(NO_KEY), &BTreeMap::new()));
        assert!(!is_too_old(&key("0123"), &key("0123")));
    }

    #[test]
    fn no_node_is_dead_until_it_could_report_after_a_step_of_the_clock() {
        let reports = Reports::default();
        let dead = vec![Uuid::from_u128(1)];
        let report = |began: Instant, seen_at: u64| {
            let seen_at = Timestamp(seen_at);
            let dead = dead.clone();
            reports.reported(began, false, Report { seen_at, dead })
        };
        let start = Instant::now();
        assert_eq!(report(start, 1_000), dead);
        assert_eq!(report(start, 2_000), dead);
        assert!(report(start, 3_600_000).is_empty());
        assert!(report(start, 3_601_000).is_empty());
        let lease = Duration::from_millis(limits::NODE_LEASE_MS);
        assert_eq!(report(Instant::now() + lease, 3_602_000), dead);
    }

    #[test]
    fn settings_that_differ_are_named() {
        let settings = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let ours = settings(&[("a", "1"), ("b", "2")]);
        assert_eq!(first_difference(&ours, &ours), None);
        assert_eq!(
            first_difference(&ours, &settings(&[("a", "1"), ("b", "3")])),
            Some("b")
        );
        // A server of another version may not know a setting.
        assert_eq!(first_difference(&ours, &settings(&[("a", "1")])), None);
    }
}
