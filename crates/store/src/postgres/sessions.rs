//! Browser sessions: created with their activity entry, ended and charged in one transaction, exactly once.

use harvestman_core::billing;
use harvestman_core::ids::{JobId, ScrapeId, SessionId, TeamId};
use harvestman_core::time::Timestamp;
use tokio_postgres::{Client, Row};

use crate::account::Account;
use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::activity::insert_activity;
use crate::postgres::credits::charge_once;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::rows;
use crate::session::{NewSession, SessionRow, Sessions};
use crate::sql::session_files::keep_as_long_as_session;
use crate::value::params;

impl Sessions for Postgres {
    async fn begin_session(&self, session: &NewSession) -> Result<(), StoreError> {
        let (session, node) = (session.clone(), self.node);
        self.write(session.call.created_at, move |transaction, _| {
            Box::pin(async move {
                let call = &session.call;
                query(
                    "INSERT INTO harvestman.session (id, team_id, key_id, kind, scrape_id, stream_web_view,
                        created_at, last_activity_at, expires_at, node)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)",
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
        })
        .await
    }

    async fn bind_session(&self, id: SessionId, scrape: ScrapeId) -> Result<bool, StoreError> {
        self.write(Timestamp(0), move |transaction, _| {
            Box::pin(async move {
                let bound = query(
                    "UPDATE harvestman.session SET scrape_id = $2
                     WHERE id = $1 AND scrape_id IS NULL AND ended_at IS NULL",
                )
                .bind_all(params![id, scrape])
                .execute(transaction)
                .await?;
                Ok(bound == 1)
            })
        })
        .await
    }

    async fn extend_session(&self, id: SessionId, expires_at: Timestamp) -> Result<bool, StoreError> {
        self.write(Timestamp(0), move |transaction, _| {
            Box::pin(async move {
                let extended =
                    query("UPDATE harvestman.session SET expires_at = $2 WHERE id = $1 AND ended_at IS NULL")
                        .bind_all(params![id, expires_at])
                        .execute(transaction)
                        .await?;
                keep_as_long_as_session(transaction, id).await?;
                Ok(extended == 1)
            })
        })
        .await
    }

    async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
        let (ids, times): (Vec<_>, Vec<_>) = uses.iter().map(|(id, at)| (id.0, at.0)).unzip();
        self.write(Timestamp(0), move |transaction, _| {
            Box::pin(async move {
                query(
                    "UPDATE harvestman.session SET last_activity_at = greatest(last_activity_at, used.at)
                     FROM unnest($1, $2) AS used (id, at) WHERE session.id = used.id AND ended_at IS NULL",
                )
                .bind_all(params![ids, times])
                .run(transaction)
                .await
            })
        })
        .await
    }

    async fn end_session(
        &self,
        id: SessionId,
        last_activity: Timestamp,
        at: Timestamp,
    ) -> Result<Option<SessionRow>, StoreError> {
        self.write(at, move |transaction, _| {
            Box::pin(end(transaction, id, Some((last_activity, at))))
        })
        .await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        query("SELECT * FROM harvestman.session WHERE id = $1")
            .bind(id)
            .read_optional(&*self.pool.connection().await?, session_row)
            .await
    }

    async fn session_of(&self, scrape: ScrapeId) -> Result<Option<SessionRow>, StoreError> {
        query("SELECT * FROM harvestman.session WHERE scrape_id = $1")
            .bind(scrape)
            .read_optional(&*self.pool.connection().await?, session_row)
            .await
    }

    async fn sessions(
        &self,
        team: TeamId,
        live: Option<bool>,
        now: Timestamp,
    ) -> Result<Vec<SessionRow>, StoreError> {
        query(
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
        .read_all(&*self.pool.connection().await?, session_row)
        .await
    }
}

/// Ends a session and charges it. Returns `None` when it had already ended. Without `at`, it ends at its last use.
pub(crate) async fn end(
    client: &Client,
    id: SessionId,
    at: Option<(Timestamp, Timestamp)>,
) -> Result<Option<SessionRow>, StoreError> {
    let (last_activity, at) = at.unzip();
    let row = query(
        "UPDATE harvestman.session SET last_activity_at = greatest(last_activity_at, coalesce($2, 0)),
            ended_at = greatest(created_at, least(expires_at, coalesce($3, last_activity_at)))
         WHERE id = $1 AND ended_at IS NULL RETURNING *",
    )
    .bind_all(params![id, last_activity, at])
    .fetch_optional(client)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let account = Account::read(&row, JobId::from(id))?;
    let mut session = session_row(&row)?;
    if let Some(end) = &mut session.end {
        end.credits = billing::browser_session(session.created_at, end.at);
        query("UPDATE harvestman.session SET credits = $2 WHERE id = $1")
            .bind_all(params![id, end.credits])
            .execute(client)
            .await?;
        charge_once(client, &account, "session", end.credits, end.at).await?;
    }
    keep_as_long_as_session(&mut &*client, id).await?;
    Ok(Some(session))
}

/// Deletes some sessions that ended too long ago to be listed. Returns how many.
pub(super) async fn delete_old(client: &Client, now: Timestamp) -> Result<u64, StoreError> {
    query(
        "DELETE FROM harvestman.session WHERE id IN
            (SELECT id FROM harvestman.session WHERE ended_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
    )
    .bind_all(params![
        now.0.saturating_sub(limits::ACTIVITY_MS),
        limits::EXPIRY_ROWS
    ])
    .execute(client)
    .await
}

fn session_row(row: &Row) -> Result<SessionRow, StoreError> {
    Ok(SessionRow {
        node: row.maybe_id("node")?,
        ..rows::session_row(row)?
    })
}
