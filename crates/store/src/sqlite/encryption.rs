//! Encryption of a whole database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use harvestman_core::ids::{JobId, MonitorId};
use harvestman_core::time::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use uuid::Uuid;

use crate::cipher::Cipher;
use crate::encryption::{
    Column, DiscardedSecrets, Encryption, LOST_REQUEST, Lost, SecretKind, VALUES_PER_READ,
};
use crate::error::StoreError;
use crate::job::JobStatus;
use crate::limits;
use crate::prepared::compress;
use crate::rows::decompress_texts;
use crate::secret_key::KeyRing;
use crate::secrets::Form;
use crate::sqlite::Sqlite;
use crate::sqlite::jobs::end_early;
use crate::sqlite::monitors::{fail_check, pause};
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::value::params;

const COLUMNS: &[Column] = &[
    Column {
        kind: SecretKind::WebhookSecret,
        select: "SELECT id, webhook_secret AS value FROM team
            WHERE id > ?1 AND webhook_secret IS NOT NULL ORDER BY id LIMIT ?2",
        update: "UPDATE team SET webhook_secret = ?2 WHERE id = ?1",
    },
    Column {
        kind: SecretKind::JobRequest,
        select: "SELECT id, request AS value FROM job WHERE id > ?1 AND (request LIKE '%\"webhook\"%'
            OR request LIKE '%\"headers\"%' OR request LIKE '%\"actions\"%') ORDER BY id LIMIT ?2",
        update: "UPDATE job SET request = ?2 WHERE id = ?1",
    },
    Column {
        kind: SecretKind::MonitorRequest,
        select: "SELECT id, request AS value FROM monitor WHERE id > ?1 ORDER BY id LIMIT ?2",
        update: "UPDATE monitor SET request = ?2 WHERE id = ?1",
    },
    Column {
        kind: SecretKind::Receiver,
        select: "SELECT job_id AS id, webhook AS value FROM receiver WHERE job_id > ?1 ORDER BY job_id LIMIT ?2",
        update: "UPDATE receiver SET webhook = ?2 WHERE job_id = ?1",
    },
];

impl Encryption for Sqlite {
    async fn adopt(&self, keys: Arc<KeyRing>) -> Result<(), StoreError> {
        let changed = self
            .write(move |connection| {
                Box::pin(async move {
                    let renews = !is_recorded(connection, &keys).await?;
                    if renews {
                        encrypt(connection, &keys, &mut Lost::Keep).await?;
                    }
                    Ok(renews)
                })
            })
            .await?;
        if changed {
            // What was replaced must not stay in the log.
            self.writer.checkpoint.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn discard_lost(&self, keys: Arc<KeyRing>, now: Timestamp) -> Result<DiscardedSecrets, StoreError> {
        let discarded = self
            .write(move |connection| {
                Box::pin(async move {
                    let mut lost = Lost::discard(now);
                    encrypt(connection, &keys, &mut lost).await?;
                    Ok(lost.discarded())
                })
            })
            .await?;
        self.writer.checkpoint.store(true, Ordering::Relaxed);
        Ok(discarded)
    }
}

/// Returns the id of the key of a database file; `None` if there is no file, or it records no key.
pub(crate) async fn recorded_key(path: &Path) -> Result<Option<String>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(limits::BUSY_TIMEOUT);
    let mut connection = options.connect().await?;
    let is_older = query("SELECT 1 FROM sqlite_schema WHERE name = 'secret_key'")
        .fetch_optional(&mut connection)
        .await?
        .is_none();
    let recorded = match is_older {
        true => None,
        false => {
            query("SELECT id FROM secret_key")
                .fetch_optional(&mut connection)
                .await?
        }
    };
    connection.close().await?;
    recorded.map(|row| row.text("id")).transpose()
}

/// Returns whether the database records this key.
async fn is_recorded(connection: &mut SqliteConnection, keys: &KeyRing) -> Result<bool, StoreError> {
    let recorded = query("SELECT id FROM secret_key")
        .fetch_optional(connection)
        .await?;
    let recorded = recorded.map(|row| row.text("id")).transpose()?;
    Ok(recorded.as_deref() == keys.current.as_ref().map(Cipher::id))
}

async fn encrypt(
    connection: &mut SqliteConnection,
    keys: &KeyRing,
    lost: &mut Lost,
) -> Result<(), StoreError> {
    for column in COLUMNS {
        renew_column(connection, keys, column, lost).await?;
    }
    renew_profiles(connection, keys, lost).await?;
    query("DELETE FROM secret_key").run(&mut *connection).await?;
    if let Some(cipher) = &keys.current {
        query("INSERT INTO secret_key (id) VALUES (?1)")
            .bind(cipher.id())
            .run(connection)
            .await?;
    }
    Ok(())
}

async fn renew_column(
    connection: &mut SqliteConnection,
    keys: &KeyRing,
    column: &Column,
    lost: &mut Lost,
) -> Result<(), StoreError> {
    let mut after = Uuid::nil();
    loop {
        let rows = query(column.select)
            .bind_all(params![after, VALUES_PER_READ])
            .fetch_all(&mut *connection)
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
                        .run(&mut *connection)
                        .await?;
                }
                (Err(_), Lost::Discard { now, discarded }) => {
                    discard(connection, keys, column, (id, &value), *now, discarded).await?;
                }
                (Err(error), Lost::Keep) => return Err(column.kind.locate(error, &id)),
            }
        }
    }
}

/// Discards a value that cannot be decrypted. A job whose request had it fails, and a monitor is paused: they would go on
/// without it.
async fn discard(
    connection: &mut SqliteConnection,
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
            .run(&mut *connection)
            .await?;
    }
    match column.kind {
        SecretKind::WebhookSecret => {
            query("UPDATE team SET webhook_secret = NULL WHERE id = ?1")
                .bind(id)
                .run(&mut *connection)
                .await?;
        }
        SecretKind::JobRequest => {
            let job = JobId(id);
            let end = (JobStatus::Failed, Some(LOST_REQUEST));
            discarded.failed_jobs += u64::from(end_early(connection, job, end, now).await?);
            fail_check(connection, job, LOST_REQUEST, now).await?;
        }
        SecretKind::MonitorRequest => {
            discarded.paused_monitors += u64::from(pause(connection, MonitorId(id), now).await?);
        }
        SecretKind::Receiver => {
            for statement in [
                "UPDATE outbox SET state = 'given_up' WHERE job_id = ?1 AND state = 'pending'",
                "DELETE FROM receiver WHERE job_id = ?1",
            ] {
                query(statement).bind(id).run(&mut *connection).await?;
            }
        }
        // They have names instead of ids.
        SecretKind::Profile => {}
    }
    Ok(())
}

async fn renew_profiles(
    connection: &mut SqliteConnection,
    keys: &KeyRing,
    lost: &mut Lost,
) -> Result<(), StoreError> {
    let names = query("SELECT team_id, name FROM profile")
        .fetch_all(&mut *connection)
        .await?;
    for name in names {
        let (team, name) = (name.id("team_id")?, name.text("name")?);
        let row = query("SELECT size_bytes, zstd FROM profile WHERE team_id = ?1 AND name = ?2")
            .bind_all(params![team, &*name])
            .fetch_one(&mut *connection)
            .await?;
        let state = decompress_texts(vec![row]).await?.pop().unwrap_or_default();
        let renewed = match (keys.renew(Form::Profile, &state), &mut *lost) {
            (Ok(None), _) => continue,
            (Ok(Some(renewed)), _) => renewed,
            (Err(_), Lost::Discard { discarded, .. }) => {
                discarded.count(SecretKind::Profile);
                query("DELETE FROM profile WHERE team_id = ?1 AND name = ?2")
                    .bind_all(params![team, name])
                    .run(&mut *connection)
                    .await?;
                continue;
            }
            (Err(error), Lost::Keep) => return Err(SecretKind::Profile.locate(error, &name)),
        };
        if let Some(state) = compress(vec![renewed]).await?.pop() {
            query("UPDATE profile SET size_bytes = ?3, zstd = ?4 WHERE team_id = ?1 AND name = ?2")
                .bind_all(params![team, name, state.size_bytes, state.body])
                .run(&mut *connection)
                .await?;
        }
    }
    Ok(())
}
