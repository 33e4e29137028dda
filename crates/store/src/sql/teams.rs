//! Teams, their plans and their webhook secrets.

use harvestman_core::ids::TeamId;

use crate::clock::clock;
use crate::columns::Columns;
use crate::error::StoreError;
use crate::new_id::new_id;
use crate::rows::team_row;
use crate::sql::{Database, statement, transact};
use crate::team::{TeamRow, Teams};
use crate::value::params;

impl<D: Database> Teams for D {
    async fn ensure_team(&self, name: &str) -> Result<TeamId, StoreError> {
        let name = name.to_owned();
        transact!(self, clock(), |transaction, now| {
            statement!(
                "INSERT INTO harvestman.team (id, name, created_at) VALUES ($1, $2, $3)
                 ON CONFLICT (name) DO NOTHING",
            )
            .bind_all(params![new_id(), name.clone(), now])
            .execute(transaction)
            .await?;
            let row = statement!("SELECT id FROM harvestman.team WHERE name = $1")
                .bind(name)
                .fetch_one(transaction)
                .await?;
            row.id("id").map(TeamId)
        })
    }

    async fn teams(&self) -> Result<Vec<TeamRow>, StoreError> {
        statement!(
            "SELECT id, name, plan, created_at, (SELECT count(*) FROM harvestman.api_key
                WHERE team_id = team.id AND revoked_at IS NULL) AS keys
             FROM harvestman.team ORDER BY name COLLATE \"C\"",
        )
        .read_all(&mut self.reader().await?, team_row)
        .await
    }

    async fn set_plan(&self, name: &str, plan: Option<&str>) -> Result<Option<TeamId>, StoreError> {
        let (name, plan) = (name.to_owned(), plan.map(str::to_owned));
        transact!(self, |transaction| {
            let row = statement!("UPDATE harvestman.team SET plan = $2 WHERE name = $1 RETURNING id")
                .bind_all(params![name, plan])
                .fetch_optional(transaction)
                .await?;
            row.map(|row| row.id("id").map(TeamId)).transpose()
        })
    }

    async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> {
        let row = statement!("SELECT webhook_secret FROM harvestman.team WHERE id = $1")
            .bind(team)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        row.map_or(Ok(None), |row| row.maybe_text("webhook_secret"))
    }

    async fn set_webhook_secret(&self, team: TeamId, secret: &str) -> Result<(), StoreError> {
        statement!("UPDATE harvestman.team SET webhook_secret = $2 WHERE id = $1")
            .bind_all(params![team, secret])
            .write(self)
            .await
            .map(drop)
    }
}
