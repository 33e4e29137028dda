//! The nodes of a database. Each reports itself every few seconds; what belongs to one that no longer does is ended or
//! freed by the first node that notices, under a lock on its row.

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::ids::SessionId;
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::clock::clock;
use crate::error::StoreError;
use crate::limits;
use crate::postgres::connect::{BACKGROUND_RETRY, Pool};
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::sessions;
use crate::postgres::transaction::Transaction;

const HEARTBEAT: &str = "INSERT INTO harvestman.node (id, started_at, seen_at)
    VALUES ($1, harvestman.clock($2), harvestman.clock($2))
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at";

/// Adds this process to the nodes.
pub(crate) async fn register(pool: &Pool, node: Uuid) -> Result<(), StoreError> {
    heartbeat(&*pool.connection().await?, node).await
}

async fn heartbeat(client: &Client, node: Uuid) -> Result<(), StoreError> {
    query(HEARTBEAT)
        .bind(node)
        .bind(clock().0)
        .execute(client)
        .await?;
    Ok(())
}

/// Reports this node until `stop` is cancelled, and cleans up after dead nodes.
pub(crate) async fn keep_alive(pool: Pool, node: Uuid, stop: CancellationToken) {
    loop {
        let pause = match beat(&pool, node).await {
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

async fn beat(pool: &Pool, node: Uuid) -> Result<(), StoreError> {
    let connection = pool.connection().await?;
    heartbeat(&connection, node).await?;
    let dead =
        query("SELECT id FROM harvestman.node WHERE seen_at <= harvestman.clock($1) - $2 AND id <> $3")
            .bind(clock().0)
            .bind(limits::NODE_LEASE_MS)
            .bind(node)
            .fetch_all(&connection)
            .await?;
    drop(connection);
    for row in dead {
        let dead = row.id("id")?;
        if remove(pool, dead, limits::NODE_LEASE_MS).await? {
            tracing::warn!(node = %dead, "a node has stopped without notice; its work is free");
        }
    }
    Ok(())
}

/// Removes this node, and frees or ends what it holds.
pub(crate) async fn leave(pool: &Pool, node: Uuid) -> Result<(), StoreError> {
    remove(pool, node, 0).await.map(drop)
}

/// Removes a node that was last seen `silent_ms` ago or earlier. Returns false when another node does, or it lives.
async fn remove(pool: &Pool, node: Uuid, silent_ms: u64) -> Result<bool, StoreError> {
    let transaction = Transaction::new(pool.connection().await?);
    let removing = async {
        let now = transaction.begin(clock()).await?;
        free_all(&transaction, node, silent_ms, now).await
    };
    match removing.await {
        Ok(removed) => transaction.end().await.map(|()| removed),
        Err(error) => {
            transaction.roll_back().await;
            Err(error)
        }
    }
}

async fn free_all(
    transaction: &Transaction,
    node: Uuid,
    silent_ms: u64,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let found = query("SELECT 1 FROM harvestman.node WHERE id = $1 AND seen_at <= $2 FOR UPDATE SKIP LOCKED")
        .bind(node)
        .bind(now.0.saturating_sub(silent_ms))
        .fetch_optional(transaction)
        .await?;
    if found.is_none() {
        return Ok(false);
    }
    let error = ApiError::new(
        ErrorCode::Unknown,
        "The server stopped before this scrape was finished. Send the request again.",
    );
    query(
        "UPDATE harvestman.job SET status = 'failed', admitted = 0, error = $2, answer_status = $3, answer_body = $4,
            completed_at = $5, expires_at = $5 + retention_ms
         WHERE node = $1 AND status = 'scraping'",
    )
    .bind(node)
    .bind(error.message.clone())
    .bind(error.status())
    .bind(error.body().to_string())
    .bind(now.0)
    .execute(transaction)
    .await?;
    for statement in [
        // A shard of a node that lives on without heartbeat is fenced; its lease ends anyway.
        "UPDATE harvestman.shard SET lease_until = 0, node = NULL WHERE node = $1 AND active AND lease_until > 0",
        "UPDATE harvestman.receiver SET lease_until = 0, node = NULL WHERE node = $1",
        "DELETE FROM harvestman.profile_lock WHERE node = $1",
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
        sessions::end(transaction, SessionId(row.id("id")?), None).await?;
    }
    Ok(true)
}

/// Writes without changing anything, to find out whether the database can be written.
pub(crate) async fn touch(transaction: &Transaction) -> Result<(), StoreError> {
    query("UPDATE harvestman.schema_version SET version = version")
        .execute(transaction)
        .await?;
    Ok(())
}
