//! The start of browser sessions, with their activity entry, and their uses.

use harvestman_core::ids::SessionId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::postgres::Postgres;
use crate::sql::activity::insert_activity;

use crate::postgres::query::query;
use crate::session::{NewSession, SessionRecords};
use crate::value::params;

impl SessionRecords for Postgres {
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
}
