//! Listing and revoking API keys.

use sqlx::{query, query_scalar};

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, blob, int, maybe_blob};
use crate::team::{KeyRow, RevokeOutcome};

impl Sqlite {
    pub(crate) async fn keys(&self, team: Option<TeamId>) -> Result<Vec<KeyRow>, StoreError> {
        let rows = query(
            "SELECT api_key.id AS id, api_key.name AS name, hint, api_key.created_at AS created_at,
                last_used_at, revoked_at, team.id AS team_id, team.name AS team_name
             FROM api_key JOIN team ON team.id = api_key.team_id
             WHERE ?1 IS NULL OR api_key.team_id = ?1 ORDER BY api_key.id",
        )
        .bind(maybe_blob(team.map(|team| team.0)))
        .fetch_all(&self.readers)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(KeyRow {
                    id: KeyId(row.id("id")?),
                    team: TeamId(row.id("team_id")?),
                    team_name: row.text("team_name")?,
                    name: row.text("name")?,
                    hint: row.text("hint")?,
                    created_at: row.time("created_at")?,
                    last_used_at: row.maybe_time("last_used_at")?,
                    revoked_at: row.maybe_time("revoked_at")?,
                })
            })
            .collect()
    }

    pub(crate) async fn revoke_key(
        &self,
        team: Option<TeamId>,
        key: KeyId,
        now: Timestamp,
    ) -> Result<RevokeOutcome, StoreError> {
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    let (id, team) = (blob(key.0), maybe_blob(team.map(|team| team.0)));
                    let others: Option<i64> = query_scalar(
                        "SELECT (SELECT count(*) FROM api_key AS other
                            WHERE other.team_id = api_key.team_id AND other.revoked_at IS NULL AND other.id <> ?1)
                         FROM api_key WHERE id = ?1 AND revoked_at IS NULL AND (?2 IS NULL OR team_id = ?2)",
                    )
                    .bind(id.clone())
                    .bind(team.clone())
                    .fetch_optional(&mut *connection)
                    .await?;
                    match others {
                        None => return Ok(RevokeOutcome::NotFound),
                        Some(0) if team.is_some() => return Ok(RevokeOutcome::LastKey),
                        Some(_) => {}
                    }
                    query("UPDATE api_key SET revoked_at = ?2 WHERE id = ?1")
                        .bind(id)
                        .bind(int(now.0))
                        .execute(connection)
                        .await?;
                    Ok(RevokeOutcome::Revoked)
                })
            })
            .await
    }
}
