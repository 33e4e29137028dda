//! Encryption of a whole database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use uuid::Uuid;

use crate::cipher::Cipher;
use crate::encryption::{Column, Encryption, VALUES_PER_READ};
use crate::error::StoreError;
use crate::limits;
use crate::prepared::compress;
use crate::rows::decompress_texts;
use crate::secret_key::KeyRing;
use crate::secrets::Form;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::value::params;

const COLUMNS: &[Column] = &[
    Column {
        form: Form::WebhookSecret,
        select: "SELECT id, webhook_secret AS value FROM team
            WHERE id > ?1 AND webhook_secret IS NOT NULL ORDER BY id LIMIT ?2",
        update: "UPDATE team SET webhook_secret = ?2 WHERE id = ?1",
    },
    Column {
        form: Form::Request,
        select: "SELECT id, request AS value FROM job WHERE id > ?1 AND (request LIKE '%\"webhook\"%'
            OR request LIKE '%\"headers\"%' OR request LIKE '%\"actions\"%') ORDER BY id LIMIT ?2",
        update: "UPDATE job SET request = ?2 WHERE id = ?1",
    },
    Column {
        form: Form::Request,
        select: "SELECT id, request AS value FROM monitor WHERE id > ?1 ORDER BY id LIMIT ?2",
        update: "UPDATE monitor SET request = ?2 WHERE id = ?1",
    },
    Column {
        form: Form::Receiver,
        select: "SELECT job_id AS id, webhook AS value FROM receiver WHERE job_id > ?1 ORDER BY job_id LIMIT ?2",
        update: "UPDATE receiver SET webhook = ?2 WHERE job_id = ?1",
    },
];

impl Encryption for Sqlite {
    async fn adopt(&self, keys: Arc<KeyRing>) -> Result<(), StoreError> {
        let changed = self
            .write(move |connection| Box::pin(async move { encrypt(connection, &keys).await }))
            .await?;
        if changed {
            // What was replaced must not stay in the log.
            self.writer.checkpoint.store(true, Ordering::Relaxed);
        }
        Ok(())
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

/// Returns false if the database records this key already.
async fn encrypt(connection: &mut SqliteConnection, keys: &KeyRing) -> Result<bool, StoreError> {
    let id = keys.current.as_ref().map(Cipher::id);
    let recorded = query("SELECT id FROM secret_key")
        .fetch_optional(&mut *connection)
        .await?;
    if recorded.map(|row| row.text("id")).transpose()?.as_deref() == id {
        return Ok(false);
    }
    for column in COLUMNS {
        renew_column(connection, keys, column).await?;
    }
    renew_profiles(connection, keys).await?;
    query("DELETE FROM secret_key").run(&mut *connection).await?;
    if let Some(id) = id {
        query("INSERT INTO secret_key (id) VALUES (?1)")
            .bind(id)
            .run(connection)
            .await?;
    }
    Ok(true)
}

async fn renew_column(
    connection: &mut SqliteConnection,
    keys: &KeyRing,
    column: &Column,
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
            if let Some(renewed) = keys.renew(column.form, &row.text("value")?)? {
                query(column.update)
                    .bind_all(params![row.id("id")?, renewed])
                    .run(&mut *connection)
                    .await?;
            }
        }
    }
}

async fn renew_profiles(connection: &mut SqliteConnection, keys: &KeyRing) -> Result<(), StoreError> {
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
        let Some(renewed) = keys.renew(Form::Profile, &state)? else {
            continue;
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
