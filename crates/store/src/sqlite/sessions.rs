//! The start of browser sessions, with their activity entry, and their uses.

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::SessionId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::session::{NewSession, SessionRecords};
use crate::sql::sessions::end;
use crate::sqlite::Sqlite;

use crate::sql::activity::insert_activity;
use crate::sqlite::prepared::json_text;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::value::params;

impl SessionRecords for Sqlite {
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
}

/// Ends the sessions that a killed server left live, each at its last use.
pub(super) async fn end_all_live(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let live = query("SELECT id FROM session WHERE ended_at IS NULL")
        .fetch_all(&mut *connection)
        .await?;
    for row in live {
        let mut transaction = connection.begin().await?;
        end(&mut *transaction, SessionId(row.id("id")?), None).await?;
        transaction.commit().await?;
    }
    Ok(())
}
