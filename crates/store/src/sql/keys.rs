//! API keys, and their lookup by SHA-256.

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::clock::clock;
use crate::columns::Columns;
use crate::error::StoreError;
use crate::new_id::new_id;
use crate::rows::key_row;
use crate::sql::{Database, statement, transact};
use crate::team::{KeyFingerprint, KeyRow, Keys, Principal, RevokeOutcome};
use crate::value::params;

impl<D: Database> Keys for D {
    async fn add_key(
        &self,
        team: TeamId,
        name: &str,
        key: impl Into<KeyFingerprint>,
        now: Timestamp,
    ) -> Result<KeyId, StoreError> {
        let (name, key) = (name.to_owned(), key.into());
        transact!(self, now, |transaction, now| {
            let row = statement!(
                "INSERT INTO harvestman.api_key (id, team_id, name, hash, created_at, hint)
                 VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (hash) DO UPDATE
                    SET team_id = excluded.team_id, name = excluded.name, hint = excluded.hint
                 RETURNING id",
            )
            .bind_all(params![new_id(), team, name, key.hash.to_vec(), now, key.hint])
            .fetch_one(transaction)
            .await?;
            row.id("id").map(KeyId)
        })
    }

    async fn principal(&self, key_hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
        let row = statement!(
            "SELECT api_key.id AS key_id, api_key.name AS key_name, team.id AS team_id, team.name AS team_name
             FROM harvestman.api_key JOIN harvestman.team ON team.id = api_key.team_id
             WHERE api_key.hash = $1 AND api_key.revoked_at IS NULL",
        )
        .bind(key_hash.to_vec())
        .fetch_optional(&mut self.reader().await?)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let key = KeyId(row.id("key_id")?);
        record_use(self, key, clock()).await;
        Ok(Some(Principal {
            team: TeamId(row.id("team_id")?),
            team_name: row.text("team_name")?,
            key: Some(key),
            key_name: row.text("key_name")?,
        }))
    }

    async fn has_keys(&self) -> Result<bool, StoreError> {
        let found = statement!("SELECT 1 FROM harvestman.api_key WHERE revoked_at IS NULL LIMIT 1")
            .fetch_optional(&mut self.reader().await?)
            .await?;
        Ok(found.is_some())
    }

    async fn keys(&self, team: Option<TeamId>) -> Result<Vec<KeyRow>, StoreError> {
        statement!(
            "SELECT api_key.id AS id, api_key.name AS name, hint, api_key.created_at AS created_at, last_used_at,
                revoked_at, team.id AS team_id, team.name AS team_name
             FROM harvestman.api_key JOIN harvestman.team ON team.id = api_key.team_id
             WHERE $1 IS NULL OR api_key.team_id = $1 ORDER BY api_key.id",
        )
        .bind(team)
        .read_all(&mut self.reader().await?, key_row).await
    }

    async fn revoke_key(
        &self,
        team: Option<TeamId>,
        key: KeyId,
        now: Timestamp,
    ) -> Result<RevokeOutcome, StoreError> {
        transact!(self, now, |transaction, now| {
            // Locks the row of the team, so that revoking two keys at once cannot revoke the last one.
            let row = statement!(
                "SELECT team.id FROM harvestman.team JOIN harvestman.api_key ON team_id = team.id
                 WHERE api_key.id = $1 AND ($2 IS NULL OR team_id = $2) FOR NO KEY UPDATE OF team",
            )
            .bind_all(params![key, team])
            .fetch_optional(transaction)
            .await?;
            let Some(row) = row else {
                return Ok(RevokeOutcome::NotFound);
            };
            let keys = statement!(
                "SELECT count(*) FILTER (WHERE id = $2) AS this, count(*) AS keys FROM harvestman.api_key
                 WHERE team_id = $1 AND revoked_at IS NULL",
            )
            .bind_all(params![row.id("id")?, key])
            .fetch_one(transaction)
            .await?;
            if keys.count("this")? == 0 {
                return Ok(RevokeOutcome::NotFound);
            }
            if keys.count("keys")? == 1 && team.is_some() {
                return Ok(RevokeOutcome::LastKey);
            }
            statement!("UPDATE harvestman.api_key SET revoked_at = $2 WHERE id = $1")
                .bind_all(params![key, now])
                .execute(transaction)
                .await?;
            Ok(RevokeOutcome::Revoked)
        })
    }
}

/// Updates `last_used_at` of a key, at most once per [`KEY_USE_INTERVAL_MS`](crate::limits::KEY_USE_INTERVAL_MS). A failure
/// does not fail the request.
async fn record_use(database: &impl Database, key: KeyId, now: Timestamp) {
    if database.key_uses().record(key, now) {
        let update =
            statement!("UPDATE harvestman.api_key SET last_used_at = harvestman.clock($2) WHERE id = $1");
        database.write_optional(update.bind_all(params![key, now])).await;
    }
}
