//! Pages of checks, written together.

use std::collections::BTreeMap;

use harvestman_core::api::monitor_response::PageStatus;
use uuid::Uuid;

use crate::error::StoreError;
use crate::monitor::NewCheckPage;
use crate::postgres::client::Client;
use crate::postgres::query::query;
use crate::sql::CheckPlace;
use crate::value::params;

/// See [`Transaction::store_check_pages`](crate::sql::Transaction::store_check_pages).
pub(super) async fn store_pages(
    client: &Client,
    place: CheckPlace,
    pages: &[NewCheckPage],
) -> Result<(), StoreError> {
    insert(client, place, pages).await?;
    remember(client, place, pages).await
}

async fn insert(client: &Client, place: CheckPlace, pages: &[NewCheckPage]) -> Result<(), StoreError> {
    query(
        "INSERT INTO harvestman.monitor_page (check_id, target, no, status, entry)
         SELECT $1, $2, $3 + new.no, new.status, new.entry
         FROM unnest($4, $5) WITH ORDINALITY AS new (status, entry, no)",
    )
    .bind_all(params![
        place.check,
        place.target,
        place.after,
        pages.iter().map(|page| page.status.as_str()).collect::<Vec<_>>(),
        pages.iter().map(|page| page.entry.clone()).collect::<Vec<_>>(),
    ])
    .run(client)
    .await
}

/// Stores what the next check needs to know of pages; deletes pages that are gone. Of several pages with the same
/// URL, the last one counts.
async fn remember(client: &Client, place: CheckPlace, pages: &[NewCheckPage]) -> Result<(), StoreError> {
    let CheckPlace {
        check,
        monitor,
        target,
        ..
    } = place;
    let by_key: BTreeMap<Uuid, &NewCheckPage> = pages
        .iter()
        .map(|page| (Uuid::from_bytes(page.key.to_bytes()), page))
        .collect();
    let (gone, seen): (Vec<_>, Vec<_>) = by_key
        .into_iter()
        .partition(|(_, page)| page.status == PageStatus::Removed);
    query("DELETE FROM harvestman.monitor_url WHERE monitor_id = $1 AND target = $2 AND url_key = ANY ($3)")
        .bind_all(params![
            monitor,
            target,
            gone.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        ])
        .execute_if(!gone.is_empty(), client)
        .await?;
    query(
        "INSERT INTO harvestman.monitor_url AS old (monitor_id, target, check_id, url_key, url, scrape_id)
         SELECT $1, $2, $3, new.key, new.url, new.scrape FROM unnest($4, $5, $6) AS new (key, url, scrape)
         ON CONFLICT (monitor_id, target, url_key) DO UPDATE SET url = excluded.url,
            scrape_id = coalesce(excluded.scrape_id, old.scrape_id), check_id = excluded.check_id",
    )
    .bind_all(params![
        monitor,
        target,
        check,
        seen.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        seen.iter().map(|(_, page)| page.url.clone()).collect::<Vec<_>>(),
        seen.iter()
            .map(|(_, page)| page.scrape.map(|scrape| scrape.0))
            .collect::<Vec<_>>(),
    ])
    .execute_if(!seen.is_empty(), client)
    .await?;
    Ok(())
}
