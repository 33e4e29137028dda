//! Teams, and the lookup of API keys by their SHA-256. Listing and revoking keys is in `keys`.

use std::time::SystemTime;

use sqlx::{query, query_scalar};

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::limits;
use crate::new_id::new_id;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, blob, int};
use crate::team::{KeyFingerprint, Principal, TeamRow};

/// Returns the wall clock time, for timestamps on which no decision depends.
pub(crate) fn clock() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl Sqlite {
    pub(crate) async fn ensure_team(&self, name: &str) -> Result<TeamId, StoreError> {
        let name = name.to_owned();
        let now = clock();
        let id = new_id();
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    query("INSERT INTO team (id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING")
                        .bind(blob(id))
                        .bind(name.clone())
                        .bind(int(now.0))
                        .execute(&mut *connection)
                        .await?;
                    let row = query("SELECT id FROM team WHERE name = ?1").bind(name).fetch_one(connection).await?;
                    Ok(TeamId(row.id("id")?))
                })
            })
            .await
    }

    pub(crate) async fn teams(&self) -> Result<Vec<TeamRow>, StoreError> {
        let rows = query(
            "SELECT id, name, plan, created_at, (SELECT count(*) FROM api_key
                WHERE team_id = team.id AND revoked_at IS NULL) AS keys FROM team ORDER BY name",
        )
        .fetch_all(&self.readers)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(TeamRow {
                    id: TeamId(row.id("id")?),
                    name: row.text("name")?,
                    plan: row.maybe_text("plan")?,
                    keys: row.count("keys")?,
                    created_at: row.time("created_at")?,
                })
            })
            .collect()
    }

    pub(crate) async fn set_plan(
        &self,
        name: &str,
        plan: Option<&str>,
    ) -> Result<Option<TeamId>, StoreError> {
        let (name, plan) = (name.to_owned(), plan.map(str::to_owned));
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    let row = query("UPDATE team SET plan = ?2 WHERE name = ?1 RETURNING id")
                        .bind(name)
                        .bind(plan)
                        .fetch_optional(connection)
                        .await?;
                    row.map(|row| row.id("id").map(TeamId)).transpose()
                })
            })
            .await
    }

    pub(crate) async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> {
        let secret: Option<Option<String>> = query_scalar("SELECT webhook_secret FROM team WHERE id = ?1")
            .bind(blob(team.0))
            .fetch_optional(&self.readers)
            .await?;
        Ok(secret.flatten())
    }

    pub(crate) async fn set_webhook_secret(&self, team: TeamId, secret: &str) -> Result<(), StoreError> {
        let secret = secret.to_owned();
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    query("UPDATE team SET webhook_secret = ?2 WHERE id = ?1")
                        .bind(blob(team.0))
                        .bind(secret)
                        .execute(connection)
                        .await?;
                    Ok(())
                })
            })
            .await
    }

    pub(crate) async fn add_key(
        &self,
        team: TeamId,
        name: &str,
        key: KeyFingerprint,
        now: Timestamp,
    ) -> Result<KeyId, StoreError> {
        let name = name.to_owned();
        let id = new_id();
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    let row = query(
                        "INSERT INTO api_key (id, team_id, name, hash, created_at, hint)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                         ON CONFLICT (hash) DO UPDATE
                            SET team_id = excluded.team_id, name = excluded.name, hint = excluded.hint
                         RETURNING id",
                    )
                    .bind(blob(id))
                    .bind(blob(team.0))
                    .bind(name)
                    .bind(key.hash.to_vec())
                    .bind(int(now.0))
                    .bind(key.hint)
                    .fetch_one(connection)
                    .await?;
                    Ok(KeyId(row.id("id")?))
                })
            })
            .await
    }

    pub(crate) async fn principal(&self, key_hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
        let row = query(
            "SELECT api_key.id AS key_id, api_key.name AS key_name, team.id AS team_id, team.name AS team_name
             FROM api_key JOIN team ON team.id = api_key.team_id WHERE api_key.hash = ?1 AND api_key.revoked_at IS NULL",
        )
        .bind(key_hash.to_vec())
        .fetch_optional(&self.readers)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let key = KeyId(row.id("key_id")?);
        self.record_use(key, clock());
        Ok(Some(Principal {
            team: TeamId(row.id("team_id")?),
            team_name: row.text("team_name")?,
            key: Some(key),
            key_name: row.text("key_name")?,
        }))
    }

    /// Updates `last_used_at` of a key, at most once per [`limits::KEY_USE_INTERVAL_MS`]. The write is not awaited,
    /// and its failure does not fail the request.
    fn record_use(&self, key: KeyId, now: Timestamp) {
        {
            let mut uses = self
                .key_uses
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            match uses.get(&key) {
                Some(last) if now.millis_since(*last) < limits::KEY_USE_INTERVAL_MS => return,
                _ => uses.insert(key, now),
            };
        }
        self.writer.post(move |connection| {
            Box::pin(async move {
                query("UPDATE api_key SET last_used_at = ?2 WHERE id = ?1")
                    .bind(blob(key.0))
                    .bind(int(now.0))
                    .execute(connection)
                    .await?;
                Ok(())
            })
        });
    }

    pub(crate) async fn has_keys(&self) -> Result<bool, StoreError> {
        let found: bool = query_scalar("SELECT EXISTS (SELECT 1 FROM api_key WHERE revoked_at IS NULL)")
            .fetch_one(&self.readers)
            .await?;
        Ok(found)
    }
}
