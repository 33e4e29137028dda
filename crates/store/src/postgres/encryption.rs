//! Encryption of a whole database, by the node that starts first with a key.

use std::sync::Arc;

use harvestman_core::ids::{JobId, MonitorId};
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::cipher::Cipher;
use crate::encryption::{
    Column, DiscardedSecrets, Encryption, LOST_REQUEST, Lost, SecretKind, VALUES_PER_READ,
};
use crate::error::StoreError;
use crate::job::JobStatus;
use crate::postgres::Postgres;
use crate::postgres::connect::Pool;
use crate::postgres::jobs::end_early;
use crate::postgres::monitors::{fail_check, pause};
use crate::postgres::nodes::is_served;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::prepared::compress;
use crate::rows::decompress_texts;
use crate::secret_key::KeyRing;
use crate::secrets::Form;
use crate::value::params;

/// Lets one node encrypt while the others wait for it.
const LOCK: &str = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '60s';
    SELECT pg_advisory_xact_lock(5210194012303)";

const COLUMNS: &[Column] = &[
    Column {
        kind: SecretKind::WebhookSecret,
        select: "SELECT id, webhook_secret AS value FROM harvestman.team
            WHERE id > $1 AND webhook_secret IS NOT NULL ORDER BY id LIMIT $2",
        update: "UPDATE harvestman.team SET webhook_secret = $2 WHERE id = $1",
    },
    Column {
        kind: SecretKind::JobRequest,
        select:
            "SELECT id, request AS value FROM harvestman.job WHERE id > $1 AND (request LIKE '%\"webhook\"%'
            OR request LIKE '%\"headers\"%' OR request LIKE '%\"actions\"%') ORDER BY id LIMIT $2",
        update: "UPDATE harvestman.job SET request = $2 WHERE id = $1",
    },
    Column {
        kind: SecretKind::MonitorRequest,
        select: "SELECT id, request AS value FROM harvestman.monitor WHERE id > $1 ORDER BY id LIMIT $2",
        update: "UPDATE harvestman.monitor SET request = $2 WHERE id = $1",
    },
    Column {
        kind: SecretKind::Receiver,
        select: "SELECT job_id AS id, webhook AS value FROM harvestman.receiver WHERE job_id > $1 ORDER BY job_id LIMIT $2",
        update: "UPDATE harvestman.receiver SET webhook = $2 WHERE job_id = $1",
    },
];

impl Encryption for Postgres {
    async fn adopt(&self, keys: Arc<KeyRing>) -> Result<(), StoreError> {
        if is_recorded(&*self.pool.connection().await?, &keys).await? {
            return Ok(());
        }
        self.write(Timestamp(0), move |transaction, _| {
            Box::pin(async move {
                transaction.batch_execute(LOCK).await?;
                match is_recorded(transaction, &keys).await? {
                    true => Ok(()),
                    false => encrypt(transaction, &keys, &mut Lost::Keep).await,
                }
            })
        })
        .await
    }

    async fn discard_lost(&self, keys: Arc<KeyRing>, now: Timestamp) -> Result<DiscardedSecrets, StoreError> {
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                transaction.batch_execute(LOCK).await?;
                if is_served(transaction).await? {
                    return Err(StoreError::Setup(
                        "a server uses the PostgreSQL database: stop it first".to_owned(),
                    ));
                }
                let mut lost = Lost::discard(now);
                encrypt(transaction, &keys, &mut lost).await?;
                Ok(lost.discarded())
            })
        })
        .await
    }
}

/// Returns the id of the key of a database; `None` if it records none.
pub(crate) async fn recorded_key(url: &str) -> Result<Option<String>, StoreError> {
    let connection = Pool::connect(url).await?.connection().await?;
    let there = query("SELECT to_regclass('harvestman.secret_key') IS NOT NULL AS there")
        .fetch_one(&connection)
        .await?;
    match there.flag("there")? {
        true => recorded(&connection).await,
        false => Ok(None),
    }
}

async fn recorded(client: &Client) -> Result<Option<String>, StoreError> {
    let row = query("SELECT id FROM harvestman.secret_key")
        .fetch_optional(client)
        .await?;
    row.map(|row| row.text("id")).transpose()
}

/// Returns whether the database records this key.
async fn is_recorded(client: &Client, keys: &KeyRing) -> Result<bool, StoreError> {
    Ok(recorded(client).await?.as_deref() == keys.current.as_ref().map(Cipher::id))
}

async fn encrypt(client: &Client, keys: &KeyRing, lost: &mut Lost) -> Result<(), StoreError> {
    for column in COLUMNS {
        renew_column(client, keys, column, lost).await?;
    }
    renew_profiles(client, keys, lost).await?;
    query("DELETE FROM harvestman.secret_key").run(client).await?;
    if let Some(cipher) = &keys.current {
        query("INSERT INTO harvestman.secret_key (id) VALUES ($1)")
            .bind(cipher.id())
            .run(client)
            .await?;
    }
    Ok(())
}

async fn renew_column(
    client: &Client,
    keys: &KeyRing,
    column: &Column,
    lost: &mut Lost,
) -> Result<(), StoreError> {
    let mut after = Uuid::nil();
    loop {
        let rows = query(column.select)
            .bind_all(params![after, VALUES_PER_READ])
            .fetch_all(client)
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.id("id")?;
        for row in &rows {
            let (id, value) = (row.id("id")?, row.text("value")?);
            match (keys.renew(column.kind.form(), &value), &mut *lost) {
                (Ok(None), _) => {}
                (Ok(Some(renewed)), _) => {
                    query(column.update)
                        .bind_all(params![id, renewed])
                        .run(client)
                        .await?;
                }
                (Err(_), Lost::Discard { now, discarded }) => {
                    discard(client, keys, column, (id, &value), *now, discarded).await?;
                }
                (Err(error), Lost::Keep) => return Err(column.kind.locate(error, &id)),
            }
        }
    }
}

/// Discards a value that cannot be decrypted. A job whose request had it fails, and a monitor is paused: they would go on
/// without it.
async fn discard(
    client: &Client,
    keys: &KeyRing,
    column: &Column,
    (id, value): (Uuid, &str),
    now: Timestamp,
    discarded: &mut DiscardedSecrets,
) -> Result<(), StoreError> {
    discarded.count(column.kind);
    if column.kind.form() == Form::Request {
        query(column.update)
            .bind_all(params![id, keys.without_lost_parts(value)?])
            .run(client)
            .await?;
    }
    match column.kind {
        SecretKind::WebhookSecret => {
            query("UPDATE harvestman.team SET webhook_secret = NULL WHERE id = $1")
                .bind(id)
                .run(client)
                .await?;
        }
        SecretKind::JobRequest => {
            let job = JobId(id);
            let end = (JobStatus::Failed, Some(LOST_REQUEST));
            discarded.failed_jobs += u64::from(end_early(client, job, end, now).await?);
            fail_check(client, job, LOST_REQUEST, now).await?;
        }
        SecretKind::MonitorRequest => {
            discarded.paused_monitors += u64::from(pause(client, MonitorId(id), now).await?);
        }
        SecretKind::Receiver => {
            for statement in [
                "UPDATE harvestman.outbox SET state = 'given_up' WHERE job_id = $1 AND state = 'pending'",
                "DELETE FROM harvestman.receiver WHERE job_id = $1",
            ] {
                query(statement).bind(id).run(client).await?;
            }
        }
        // They have names instead of ids.
        SecretKind::Profile => {}
    }
    Ok(())
}

async fn renew_profiles(client: &Client, keys: &KeyRing, lost: &mut Lost) -> Result<(), StoreError> {
    let names = query("SELECT team_id, name FROM harvestman.profile")
        .fetch_all(client)
        .await?;
    for name in names {
        let (team, name) = (name.id("team_id")?, name.text("name")?);
        let row = query("SELECT size_bytes, zstd FROM harvestman.profile WHERE team_id = $1 AND name = $2")
            .bind_all(params![team, &*name])
            .fetch_one(client)
            .await?;
        let state = decompress_texts(vec![row]).await?.pop().unwrap_or_default();
        let renewed = match (keys.renew(Form::Profile, &state), &mut *lost) {
            (Ok(None), _) => continue,
            (Ok(Some(renewed)), _) => renewed,
            (Err(_), Lost::Discard { discarded, .. }) => {
                discarded.count(SecretKind::Profile);
                query("DELETE FROM harvestman.profile WHERE team_id = $1 AND name = $2")
                    .bind_all(params![team, name])
                    .run(client)
                    .await?;
                continue;
            }
            (Err(error), Lost::Keep) => return Err(SecretKind::Profile.locate(error, &name)),
        };
        if let Some(state) = compress(vec![renewed]).await?.pop() {
            query(
                "UPDATE harvestman.profile SET size_bytes = $3, zstd = $4 WHERE team_id = $1 AND name = $2",
            )
            .bind_all(params![team, name, state.size_bytes, state.body])
            .run(client)
            .await?;
        }
    }
    Ok(())
}
