//! Browser profiles: the last saved state under each name of a team.

use harvestman_core::ids::TeamId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::limits;
use crate::prepared::compress;
use crate::rows::decompress_texts;
use crate::session::Profiles;
use crate::sql::{Database, statement, transact};
use crate::value::params;

impl<D: Database> Profiles for D {
    async fn profile(&self, team: TeamId, name: &str) -> Result<Option<String>, StoreError> {
        let row =
            statement!("SELECT size_bytes, zstd FROM harvestman.profile WHERE team_id = $1 AND name = $2")
                .bind_all(params![team, name])
                .fetch_optional(&mut self.reader().await?)
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
        let node = self.node();
        transact!(self, now, |transaction, now| {
            if let Some(node) = node {
                // A node that was frozen may have lost the profile.
                let elsewhere = statement!(
                    "SELECT 1 FROM harvestman.profile_lock WHERE team_id = $1 AND name = $2 AND node <> $3
                     FOR SHARE"
                )
                .bind_all(params![team, &*name, node])
                .fetch_optional(transaction)
                .await?;
                if elsewhere.is_some() {
                    return Ok(false);
                }
            }
            statement!(
                "INSERT INTO harvestman.profile (team_id, name, size_bytes, zstd, updated_at)
                 VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (team_id, name) DO UPDATE SET size_bytes = excluded.size_bytes,
                    zstd = excluded.zstd, updated_at = excluded.updated_at",
            )
            .bind_all(params![team, name, state.size_bytes, state.body, now])
            .execute(transaction)
            .await?;
            statement!(
                "DELETE FROM harvestman.profile WHERE team_id = $1 AND no IN (
                    SELECT no FROM harvestman.profile WHERE team_id = $1
                    ORDER BY updated_at DESC, no DESC OFFSET $2)",
                sqlite: "DELETE FROM profile WHERE rowid IN (SELECT rowid FROM profile WHERE team_id = ?1
                ORDER BY updated_at DESC, rowid DESC LIMIT -1 OFFSET ?2)",
            )
            .bind_all(params![team, limits::PROFILES_PER_TEAM])
            .execute(transaction)
            .await?;
            Ok(true)
        })
    }
}
