//! Looking after keys: who has which, and taking one back.

use sqlx::query;

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, blob, int};
use crate::team::KeyRow;

impl Sqlite {
    pub(crate) async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        let rows = query(
            "SELECT api_key.id AS id, api_key.name AS name, api_key.created_at AS created_at,
                api_key.last_used_at AS last_used_at, team.id AS team_id, team.name AS team_name
             FROM api_key JOIN team ON team.id = api_key.team_id
             WHERE api_key.revoked_at IS NULL ORDER BY api_key.id",
        )
        .fetch_all(&self.readers)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(KeyRow {
                    id: KeyId(row.id("id")?),
                    team: TeamId(row.id("team_id")?),
                    team_name: row.text("team_name")?,
                    name: row.text("name")?,
                    created_at: row.time("created_at")?,
                    last_used_at: row.maybe_time("last_used_at")?,
                })
            })
            .collect()
    }

    pub(crate) async fn revoke_key(&self, key: KeyId, now: Timestamp) -> Result<bool, StoreError> {
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    let done =
                        query("UPDATE api_key SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL")
                            .bind(blob(key.0))
                            .bind(int(now.0))
                            .execute(connection)
                            .await?;
                    Ok(done.rows_affected() == 1)
                })
            })
            .await
    }
}
