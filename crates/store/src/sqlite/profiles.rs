//! Browser profiles: the last saved state under each name of a team.

use harvestman_core::ids::TeamId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::limits;
use crate::rows::decompress_texts;
use crate::session::Profiles;
use crate::sqlite::Sqlite;
use crate::sqlite::prepared::compress;
use crate::sqlite::query::query;
use crate::value::params;

impl Profiles for Sqlite {
    async fn profile(&self, team: TeamId, name: &str) -> Result<Option<String>, StoreError> {
        let row = query("SELECT size_bytes, zstd FROM profile WHERE team_id = ?1 AND name = ?2")
            .bind_all(params![team, name])
            .fetch_optional(&self.readers)
            .await?;
        match row {
            Some(row) => Ok(decompress_texts(vec![row]).await?.pop()),
            None => Ok(None),
        }
    }

    async fn save_profile(
        &self,
        team: TeamId,
        name: String,
        state: String,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some(state) = compress(vec![state]).await?.pop() else {
            return Ok(true);
        };
        self.write(move |connection| {
            Box::pin(async move {
                query(
                    "INSERT INTO profile (team_id, name, size_bytes, zstd, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (team_id, name) DO UPDATE SET size_bytes = excluded.size_bytes,
                        zstd = excluded.zstd, updated_at = excluded.updated_at",
                )
                .bind_all(params![team, name, state.size_bytes, state.body, now])
                .execute(&mut *connection)
                .await?;
                query(
                    "DELETE FROM profile WHERE rowid IN (SELECT rowid FROM profile WHERE team_id = ?1
                        ORDER BY updated_at DESC, rowid DESC LIMIT -1 OFFSET ?2)",
                )
                .bind_all(params![team, limits::PROFILES_PER_TEAM])
                .execute(connection)
                .await?;
                Ok(true)
            })
        })
        .await
    }
}
