//! Teams, their plans and their webhook secrets.

use harvestman_core::ids::TeamId;

pub(crate) use crate::clock::clock;
use crate::error::StoreError;
use crate::new_id::new_id;
use crate::rows::team_row;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::team::{TeamRow, Teams};
use crate::value::params;

impl Teams for Sqlite {
    async fn ensure_team(&self, name: &str) -> Result<TeamId, StoreError> {
        let name = name.to_owned();
        let now = clock();
        let id = new_id();
        self.write(move |connection| {
                Box::pin(async move {
                    query("INSERT INTO team (id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING")
                        .bind_all(params![id, name.clone(), now])
                        .execute(&mut *connection)
                        .await?;
                    let row = query("SELECT id FROM team WHERE name = ?1").bind(name).fetch_one(connection).await?;
                    Ok(TeamId(row.id("id")?))
                })
            })
            .await
    }

    async fn teams(&self) -> Result<Vec<TeamRow>, StoreError> {
        query(
            "SELECT id, name, plan, created_at, (SELECT count(*) FROM api_key
                WHERE team_id = team.id AND revoked_at IS NULL) AS keys FROM team ORDER BY name",
        )
        .read_all(&self.readers, team_row)
        .await
    }

    async fn set_plan(&self, name: &str, plan: Option<&str>) -> Result<Option<TeamId>, StoreError> {
        let (name, plan) = (name.to_owned(), plan.map(str::to_owned));
        self.write(move |connection| {
            Box::pin(async move {
                let row = query("UPDATE team SET plan = ?2 WHERE name = ?1 RETURNING id")
                    .bind_all(params![name, plan])
                    .fetch_optional(connection)
                    .await?;
                row.map(|row| row.id("id").map(TeamId)).transpose()
            })
        })
        .await
    }

    async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> {
        let row = query("SELECT webhook_secret FROM team WHERE id = ?1")
            .bind(team)
            .fetch_optional(&self.readers)
            .await?;
        row.map_or(Ok(None), |row| row.maybe_text("webhook_secret"))
    }

    async fn set_webhook_secret(&self, team: TeamId, secret: &str) -> Result<(), StoreError> {
        query("UPDATE team SET webhook_secret = ?2 WHERE id = ?1")
            .bind_all(params![team, secret])
            .write(&self.writer)
            .await?;
        Ok(())
    }
}
