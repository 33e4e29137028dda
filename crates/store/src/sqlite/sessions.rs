//! Browser sessions of an earlier process.

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::SessionId;

use crate::error::StoreError;
use crate::sql::sessions::end;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;

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
