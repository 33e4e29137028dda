//! Encryption of a whole database.

use harvestman_core::ids::{JobId, MonitorId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::columns::Columns;
use crate::encryption::{DiscardedSecrets, LOST_REQUEST, Lost, SecretKind, VALUES_PER_READ};
use crate::error::StoreError;
use crate::job::JobStatus;
use crate::prepared::compress;
use crate::rows::decompress_texts;
use crate::secret_key::KeyRing;
use crate::secrets::Form;
use crate::sql::jobs::end_early;
use crate::sql::monitors::{fail_check, pause};
use crate::sql::{Statement, Transaction, statement};
use crate::value::params;

/// A column with values that are encrypted. Each row has an id.
struct Column {
    kind: SecretKind,
    /// Reads `id` and `value` of the rows after an id, in the order of ids, and at most so many.
    select: fn() -> Statement,
    /// Replaces the value of the row with an id.
    update: fn() -> Statement,
}

const COLUMNS: &[Column] = &[
    Column {
        kind: SecretKind::WebhookSecret,
        select: || {
            statement!(
                "SELECT id, webhook_secret AS value FROM harvestman.team
                 WHERE id > $1 AND webhook_secret IS NOT NULL ORDER BY id LIMIT $2"
            )
        },
        update: || statement!("UPDATE harvestman.team SET webhook_secret = $2 WHERE id = $1"),
    },
    Column {
        kind: SecretKind::JobRequest,
        select: || {
            statement!(
                "SELECT id, request AS value FROM harvestman.job WHERE id > $1 AND (request LIKE '%\"webhook\"%'
                    OR request LIKE '%\"headers\"%' OR request LIKE '%\"actions\"%') ORDER BY id LIMIT $2"
            )
        },
        update: || statement!("UPDATE harvestman.job SET request = $2 WHERE id = $1"),
    },
    Column {
        kind: SecretKind::MonitorRequest,
        select: || {
            statement!(
                "SELECT id, request AS value FROM harvestman.monitor WHERE id > $1 ORDER BY id LIMIT $2"
            )
        },
        update: || statement!("UPDATE harvestman.monitor SET request = $2 WHERE id = $1"),
    },
    Column {
        kind: SecretKind::Receiver,
        select: || {
            statement!(
                "SELECT job_id AS id, webhook AS value FROM harvestman.receiver
                 WHERE job_id > $1 ORDER BY job_id LIMIT $2"
            )
        },
        update: || statement!("UPDATE harvestman.receiver SET webhook = $2 WHERE job_id = $1"),
    },
];

/// Encrypts every value with the current key, and records the key.
pub(crate) async fn encrypt(
    connection: &mut impl Transaction,
    keys: &KeyRing,
    lost: &mut Lost,
) -> Result<(), StoreError> {
    for column in COLUMNS {
        renew_column(connection, keys, column, lost).await?;
    }
    renew_profiles(connection, keys, lost).await?;
    statement!("DELETE FROM harvestman.secret_key")
        .run(connection)
        .await?;
    if let Some(cipher) = &keys.current {
        statement!("INSERT INTO harvestman.secret_key (id) VALUES ($1)")
            .bind(cipher.id())
            .run(connection)
            .await?;
    }
    Ok(())
}

async fn renew_column(
    connection: &mut impl Transaction,
    keys: &KeyRing,
    column: &Column,
    lost: &mut Lost,
) -> Result<(), StoreError> {
    let mut after = Uuid::nil();
    loop {
        let rows = (column.select)()
            .bind_all(params![after, VALUES_PER_READ])
            .fetch_all(connection)
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.id("id")?;
        for row in &rows {
            let (id, value) = (row.id("id")?, row.text("value")?);
            match (keys.renew(column.kind.form(), &value), &mut *lost) {
                (Ok(None), _) => {}
                (Ok(Some(renewed)), _) => {
                    (column.update)()
                        .bind_all(params![id, renewed])
                        .run(connection)
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
    connection: &mut impl Transaction,
    keys: &KeyRing,
    column: &Column,
    (id, value): (Uuid, &str),
    now: Timestamp,
    discarded: &mut DiscardedSecrets,
) -> Result<(), StoreError> {
    discarded.count(column.kind);
    if column.kind.form() == Form::Request {
        (column.update)()
            .bind_all(params![id, keys.without_lost_parts(value)?])
            .run(connection)
            .await?;
    }
    match column.kind {
        SecretKind::WebhookSecret => {
            statement!("UPDATE harvestman.team SET webhook_secret = NULL WHERE id = $1")
                .bind(id)
                .run(connection)
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
            for change in [
                statement!(
                    "UPDATE harvestman.outbox SET state = 'given_up' WHERE job_id = $1 AND state = 'pending'"
                ),
                statement!("DELETE FROM harvestman.receiver WHERE job_id = $1"),
            ] {
                change.bind(id).run(connection).await?;
            }
        }
        // They have names instead of ids.
        SecretKind::Profile => {}
    }
    Ok(())
}

async fn renew_profiles(
    connection: &mut impl Transaction,
    keys: &KeyRing,
    lost: &mut Lost,
) -> Result<(), StoreError> {
    let names = statement!("SELECT team_id, name FROM harvestman.profile")
        .fetch_all(connection)
        .await?;
    for name in names {
        let (team, name) = (name.id("team_id")?, name.text("name")?);
        let row =
            statement!("SELECT size_bytes, zstd FROM harvestman.profile WHERE team_id = $1 AND name = $2")
                .bind_all(params![team, &*name])
                .fetch_one(connection)
                .await?;
        let state = decompress_texts(vec![row]).await?.pop().unwrap_or_default();
        let renewed = match (keys.renew(Form::Profile, &state), &mut *lost) {
            (Ok(None), _) => continue,
            (Ok(Some(renewed)), _) => renewed,
            (Err(_), Lost::Discard { discarded, .. }) => {
                discarded.count(SecretKind::Profile);
                statement!("DELETE FROM harvestman.profile WHERE team_id = $1 AND name = $2")
                    .bind_all(params![team, name])
                    .run(connection)
                    .await?;
                continue;
            }
            (Err(error), Lost::Keep) => return Err(SecretKind::Profile.locate(error, &name)),
        };
        if let Some(state) = compress(vec![renewed]).await?.pop() {
            statement!(
                "UPDATE harvestman.profile SET size_bytes = $3, zstd = $4 WHERE team_id = $1 AND name = $2",
            )
            .bind_all(params![team, name, state.size_bytes, state.body])
            .run(connection)
            .await?;
        }
    }
    Ok(())
}
