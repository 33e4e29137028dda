//! Pages of checks.

use harvestman_core::api::monitor_response::PageStatus;
use sqlx::sqlite::SqliteConnection;

use crate::error::StoreError;
use crate::monitor::NewCheckPage;
use crate::sql::CheckPlace;
use crate::sqlite::query::query;
use crate::value::params;

/// See [`Transaction::store_check_pages`](crate::sql::Transaction::store_check_pages).
pub(super) async fn store_pages(
    connection: &mut SqliteConnection,
    place: CheckPlace,
    pages: &[NewCheckPage],
) -> Result<(), StoreError> {
    for (no, page) in (place.after + 1..).zip(pages) {
        insert(connection, place, no, page).await?;
        remember(connection, place, page).await?;
    }
    Ok(())
}

async fn insert(
    connection: &mut SqliteConnection,
    place: CheckPlace,
    no: u64,
    page: &NewCheckPage,
) -> Result<(), StoreError> {
    query("INSERT INTO monitor_page (check_id, target, no, status, entry) VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind_all(params![
            place.check,
            place.target,
            no,
            page.status.as_str(),
            page.entry.clone()
        ])
        .run(connection)
        .await
}

/// Stores what the next check needs to know of a page; deletes a page that is gone.
async fn remember(
    connection: &mut SqliteConnection,
    place: CheckPlace,
    page: &NewCheckPage,
) -> Result<(), StoreError> {
    let CheckPlace {
        check,
        monitor,
        target,
        ..
    } = place;
    let key = page.key.to_bytes().to_vec();
    if page.status == PageStatus::Removed {
        query("DELETE FROM monitor_url WHERE monitor_id = ?1 AND target = ?2 AND url_key = ?3")
            .bind_all(params![monitor, target, key])
            .execute(connection)
            .await?;
        return Ok(());
    }
    query(
        "INSERT INTO monitor_url (monitor_id, target, url_key, url, scrape_id, check_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (monitor_id, target, url_key) DO UPDATE SET url = excluded.url,
            scrape_id = coalesce(excluded.scrape_id, scrape_id), check_id = excluded.check_id",
    )
    .bind_all(params![
        monitor,
        target,
        key,
        page.url.clone(),
        page.scrape,
        check
    ])
    .run(connection)
    .await
}
