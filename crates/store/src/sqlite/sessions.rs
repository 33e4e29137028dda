//! Browser sessions: created with their activity entry, ended and charged in one transaction, exactly once.

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::billing;
use harvestman_core::ids::{JobId, ScrapeId, SessionId, TeamId};
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::error::StoreError;
use crate::limits;
use crate::rows::session_row;
use crate::session::{NewSession, SessionRow, Sessions};
use crate::sql::session_files::keep_as_long_as_session;
use crate::sqlite::Sqlite;
use crate::sqlite::credits::charge_session;
use crate::sqlite::jobs::insert_activity;
use crate::sqlite::prepared::json_text;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::value::params;

impl Sessions for Sqlite {
    async fn begin_session(&self, session: &NewSession) -> Result<(), StoreError> {
        let session = session.clone();
        self.write(move |connection| {
            Box::pin(async move {
                let call = &session.call;
                query(
                    "INSERT INTO session (id, team_id, key_id, kind, scrape_id, stream_web_view, created_at,
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
                ])
                .execute(&mut *connection)
                .await?;
                insert_activity(connection, call, None).await
            })
        })
        .await
    }

    async fn bind_session(&self, id: SessionId, scrape: ScrapeId) -> Result<bool, StoreError> {
        let bound = query(
            "UPDATE session SET scrape_id = ?2
             WHERE id = ?1 AND scrape_id IS NULL AND ended_at IS NULL",
        )
        .bind_all(params![id, scrape])
        .write(&self.writer)
        .await?;
        Ok(bound == 1)
    }

    async fn extend_session(&self, id: SessionId, expires_at: Timestamp) -> Result<bool, StoreError> {
        self.write(move |connection| {
            Box::pin(async move {
                let extended = query("UPDATE session SET expires_at = ?2 WHERE id = ?1 AND ended_at IS NULL")
                    .bind_all(params![id, expires_at])
                    .execute(&mut *connection)
                    .await?;
                keep_as_long_as_session(connection, id).await?;
                Ok(extended == 1)
            })
        })
        .await
    }

    async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
        let uses = uses.iter().map(|(id, at)| (id.0.simple().to_string(), at.0));
        let uses = json_text(&uses.collect::<Vec<_>>())?;
        query(
            "UPDATE session SET last_activity_at = max(last_activity_at, used.value ->> 1)
             FROM json_each(?1) AS used
             WHERE session.id = unhex(used.value ->> 0) AND ended_at IS NULL",
        )
        .bind(uses)
        .write(&self.writer)
        .await?;
        Ok(())
    }

    async fn end_session(
        &self,
        id: SessionId,
        last_activity: Timestamp,
        at: Timestamp,
    ) -> Result<Option<SessionRow>, StoreError> {
        self.write(move |connection| Box::pin(end(connection, id, Some((last_activity, at)))))
            .await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        query("SELECT * FROM session WHERE id = ?1")
            .bind(id)
            .read_optional(&self.readers, session_row)
            .await
    }

    async fn session_of(&self, scrape: ScrapeId) -> Result<Option<SessionRow>, StoreError> {
        query("SELECT * FROM session WHERE scrape_id = ?1")
            .bind(scrape)
            .read_optional(&self.readers, session_row)
            .await
    }

    async fn sessions(
        &self,
        team: TeamId,
        live: Option<bool>,
        now: Timestamp,
    ) -> Result<Vec<SessionRow>, StoreError> {
        query(
            "SELECT * FROM session WHERE team_id = ?1 AND created_at > ?2
                AND (?3 IS NULL OR (ended_at IS NULL) = ?3)
             ORDER BY created_at DESC, id DESC LIMIT ?4",
        )
        .bind_all(params![
            team,
            now.0.saturating_sub(limits::ACTIVITY_MS),
            live,
            limits::SESSIONS_LISTED,
        ])
        .read_all(&self.readers, session_row)
        .await
    }
}

/// Ends a session and charges it. Returns `None` when it had already ended. Without `at`, it ends at its last
/// use.
async fn end(
    connection: &mut SqliteConnection,
    id: SessionId,
    at: Option<(Timestamp, Timestamp)>,
) -> Result<Option<SessionRow>, StoreError> {
    let (last_activity, at) = at.unzip();
    let row = query(
        "UPDATE session SET last_activity_at = max(last_activity_at, coalesce(?2, 0)),
            ended_at = max(created_at, min(expires_at, coalesce(?3, last_activity_at)))
         WHERE id = ?1 AND ended_at IS NULL RETURNING *",
    )
    .bind_all(params![id, last_activity, at])
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let account = Account::read(&row, JobId::from(id))?;
    let mut session = session_row(&row)?;
    if let Some(end) = &mut session.end {
        end.credits = billing::browser_session(session.created_at, end.at);
        query("UPDATE session SET credits = ?2 WHERE id = ?1")
            .bind_all(params![id, end.credits])
            .execute(&mut *connection)
            .await?;
        charge_session(&mut *connection, &account, end.credits, end.at).await?;
    }
    keep_as_long_as_session(connection, id).await?;
    Ok(Some(session))
}

/// Ends the sessions that a killed server left live, each at its last use.
pub(super) async fn end_all_live(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let live = query("SELECT id FROM session WHERE ended_at IS NULL")
        .fetch_all(&mut *connection)
        .await?;
    for row in live {
        let mut transaction = connection.begin().await?;
        end(&mut transaction, SessionId(row.id("id")?), None).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// Deletes some sessions that ended too long ago to be listed. Returns how many.
pub(super) async fn delete_old(connection: &mut SqliteConnection, now: Timestamp) -> Result<u64, StoreError> {
    query("DELETE FROM session WHERE id IN (SELECT id FROM session WHERE ended_at <= ?1 LIMIT ?2)")
        .bind_all(params![
            now.0.saturating_sub(limits::ACTIVITY_MS),
            limits::EXPIRY_ROWS
        ])
        .execute(connection)
        .await
}
