//! Browser sessions: created with their activity entry, ended and charged in one transaction, exactly once.

use harvestman_core::billing;
use harvestman_core::ids::{JobId, ScrapeId, SessionId, TeamId};
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::error::StoreError;
use crate::limits;
use crate::rows::session_row;
use crate::session::{NewSession, SessionRow, Sessions};
use crate::sql::activity::insert_activity;
use crate::sql::session_files::keep_as_long_as_session;
use crate::sql::{Connection, Database, Transaction, statement, transact};
use crate::value::params;

impl<D: Database> Sessions for D {
    async fn begin_session(&self, session: &NewSession) -> Result<(), StoreError> {
        let (session, node) = (session.clone(), self.node());
        transact!(self, session.call.created_at, |transaction, _| {
            let call = &session.call;
            statement!(
                    "INSERT INTO harvestman.session (id, team_id, key_id, kind, scrape_id, stream_web_view,
                    created_at, last_activity_at, expires_at, node)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)",
                    sqlite: "INSERT INTO session (id, team_id, key_id, kind, scrape_id, stream_web_view, created_at,
                    last_activity_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)",
                )
                .bind_all(params![
                    call.id,
                    call.team,
                    call.key,
                    call.kind.as_str(),
                    session.scrape,
                    session.stream_web_view,
                    call.created_at,
                    session.expires_at,
                    node,
                ])
                .execute(transaction)
                .await?;
            insert_activity(transaction, call, None).await
        })
    }

    async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
        let (ids, times): (Vec<_>, Vec<_>) = uses.iter().map(|(id, at)| (id.0, at.0)).unzip();
        statement!(
                    "UPDATE harvestman.session SET last_activity_at = greatest(last_activity_at, used.at)
                     FROM unnest($1, $2) AS used (id, at) WHERE session.id = used.id AND ended_at IS NULL",
sqlite: "UPDATE session SET last_activity_at = max(last_activity_at, ?2 ->> used.key) FROM json_each(?1) AS used
             WHERE session.id = unhex(used.value) AND ended_at IS NULL",
        )
        .bind_all(params![ids, times])
        .write(self)
        .await
        .map(drop)
    }

    async fn bind_session(&self, id: SessionId, scrape: ScrapeId) -> Result<bool, StoreError> {
        transact!(self, |transaction| {
            let bound = statement!(
                "UPDATE harvestman.session SET scrape_id = $2
                 WHERE id = $1 AND scrape_id IS NULL AND ended_at IS NULL",
            )
            .bind_all(params![id, scrape])
            .execute(transaction)
            .await?;
            Ok(bound == 1)
        })
    }

    async fn extend_session(&self, id: SessionId, expires_at: Timestamp) -> Result<bool, StoreError> {
        transact!(self, |transaction| {
            let extended = statement!(
                "UPDATE harvestman.session SET expires_at = $2 WHERE id = $1 AND ended_at IS NULL"
            )
            .bind_all(params![id, expires_at])
            .execute(transaction)
            .await?;
            keep_as_long_as_session(transaction, id).await?;
            Ok(extended == 1)
        })
    }

    async fn end_session(
        &self,
        id: SessionId,
        last_activity: Timestamp,
        at: Timestamp,
    ) -> Result<Option<SessionRow>, StoreError> {
        transact!(self, at, |transaction, _| {
            end(transaction, id, Some((last_activity, at))).await
        })
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        statement!("SELECT * FROM harvestman.session WHERE id = $1")
            .bind(id)
            .read_optional(&mut self.reader().await?, session_row)
            .await
    }

    async fn session_of(&self, scrape: ScrapeId) -> Result<Option<SessionRow>, StoreError> {
        statement!("SELECT * FROM harvestman.session WHERE scrape_id = $1")
            .bind(scrape)
            .read_optional(&mut self.reader().await?, session_row)
            .await
    }

    async fn sessions(
        &self,
        team: TeamId,
        live: Option<bool>,
        now: Timestamp,
    ) -> Result<Vec<SessionRow>, StoreError> {
        statement!(
            "SELECT * FROM harvestman.session WHERE team_id = $1 AND created_at > harvestman.clock($2) - $3
                AND ($4 IS NULL OR (ended_at IS NULL) = $4)
             ORDER BY created_at DESC, id DESC LIMIT $5",
        )
        .bind_all(params![
            team,
            now,
            limits::ACTIVITY_MS,
            live,
            limits::SESSIONS_LISTED
        ])
        .read_all(&mut self.reader().await?, session_row)
        .await
    }
}

/// Ends a session and charges it. Returns `None` when it had already ended. Without `at`, it ends at its last use.
pub(crate) async fn end(
    connection: &mut impl Transaction,
    id: SessionId,
    at: Option<(Timestamp, Timestamp)>,
) -> Result<Option<SessionRow>, StoreError> {
    let (last_activity, at) = at.unzip();
    let row = statement!(
        "UPDATE harvestman.session SET last_activity_at = greatest(last_activity_at, coalesce($2, 0)),
            ended_at = greatest(created_at, least(expires_at, coalesce($3, last_activity_at)))
         WHERE id = $1 AND ended_at IS NULL RETURNING *",
    )
    .bind_all(params![id, last_activity, at])
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let account = Account::read(&row, JobId::from(id))?;
    let mut session = session_row(&row)?;
    if let Some(end) = &mut session.end {
        end.credits = billing::browser_session(session.created_at, end.at);
        statement!("UPDATE harvestman.session SET credits = $2 WHERE id = $1")
            .bind_all(params![id, end.credits])
            .execute(connection)
            .await?;
        let credits = u32::try_from(end.credits).unwrap_or(u32::MAX);
        connection
            .charge(&account, "session", (0, credits), end.at)
            .await?;
    }
    keep_as_long_as_session(connection, id).await?;
    Ok(Some(session))
}

/// Deletes some sessions that ended too long ago to be listed. Returns how many.
pub(crate) async fn delete_old(connection: &mut impl Connection, now: Timestamp) -> Result<u64, StoreError> {
    statement!(
        "DELETE FROM harvestman.session WHERE id IN
            (SELECT id FROM harvestman.session WHERE ended_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
    )
    .bind_all(params![
        now.0.saturating_sub(limits::ACTIVITY_MS),
        limits::EXPIRY_ROWS
    ])
    .execute(connection)
    .await
}
