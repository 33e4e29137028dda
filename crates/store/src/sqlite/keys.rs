//! API keys, and their lookup by SHA-256.

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::new_id::new_id;
use crate::rows::key_row;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::teams::clock;
use crate::team::{KeyFingerprint, KeyRow, Keys, Principal, RevokeOutcome};
use crate::value::params;

impl Keys for Sqlite {
    async fn add_key(
        &self,
        team: TeamId,
        name: &str,
        key: impl Into<KeyFingerprint>,
        now: Timestamp,
    ) -> Result<KeyId, StoreError> {
        let (name, key) = (name.to_owned(), key.into());
        let id = new_id();
        self.write(move |connection| {
            Box::pin(async move {
                let row = query(
                    "INSERT INTO api_key (id, team_id, name, hash, created_at, hint)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT (hash) DO UPDATE
                        SET team_id = excluded.team_id, name = excluded.name, hint = excluded.hint
                     RETURNING id",
                )
                .bind_all(params![id, team, name, key.hash.to_vec(), now, key.hint])
                .fetch_one(connection)
                .await?;
                Ok(KeyId(row.id("id")?))
            })
        })
        .await
    }

    async fn principal(&self, key_hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
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

    async fn has_keys(&self) -> Result<bool, StoreError> {
        query("SELECT EXISTS (SELECT 1 FROM api_key WHERE revoked_at IS NULL)")
            .fetch_scalar(&self.readers)
            .await
    }

    async fn keys(&self, team: Option<TeamId>) -> Result<Vec<KeyRow>, StoreError> {
        query(
            "SELECT api_key.id AS id, api_key.name AS name, hint, api_key.created_at AS created_at,
                last_used_at, revoked_at, team.id AS team_id, team.name AS team_name
             FROM api_key JOIN team ON team.id = api_key.team_id
             WHERE ?1 IS NULL OR api_key.team_id = ?1 ORDER BY api_key.id",
        )
        .bind(team)
        .read_all(&self.readers, key_row)
        .await
    }

    async fn revoke_key(
        &self,
        team: Option<TeamId>,
        key: KeyId,
        now: Timestamp,
    ) -> Result<RevokeOutcome, StoreError> {
        self.write(move |connection| {
            Box::pin(async move {
                let found = query(
                    "SELECT (SELECT count(*) FROM api_key AS other WHERE other.team_id = api_key.team_id
                        AND other.revoked_at IS NULL AND other.id <> ?1) AS others
                     FROM api_key WHERE id = ?1 AND revoked_at IS NULL AND (?2 IS NULL OR team_id = ?2)",
                )
                .bind_all(params![key, team])
                .fetch_optional(&mut *connection)
                .await?;
                let Some(row) = found else {
                    return Ok(RevokeOutcome::NotFound);
                };
                if team.is_some() && row.count("others")? == 0 {
                    return Ok(RevokeOutcome::LastKey);
                }
                query("UPDATE api_key SET revoked_at = ?2 WHERE id = ?1")
                    .bind_all(params![key, now])
                    .execute(connection)
                    .await?;
                Ok(RevokeOutcome::Revoked)
            })
        })
        .await
    }
}

impl Sqlite {
    /// Updates `last_used_at` of a key, at most once per [`limits::KEY_USE_INTERVAL_MS`]. The write is not awaited,
    /// and its failure does not fail the request.
    fn record_use(&self, key: KeyId, now: Timestamp) {
        if !self.key_uses.record(key, now) {
            return;
        }
        self.writer.post(move |connection| {
            Box::pin(async move {
                query("UPDATE api_key SET last_used_at = ?2 WHERE id = ?1")
                    .bind_all(params![key, now])
                    .run(connection)
                    .await
            })
        });
    }
}
