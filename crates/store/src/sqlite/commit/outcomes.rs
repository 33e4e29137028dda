//! Outcomes of admitted URLs: pages with their ledger entries, errors, and dropped URLs, which no longer
//! count towards the limit.

use std::collections::{BTreeMap, HashSet};

use sqlx::QueryBuilder;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::commit::{JobInCommit, NewPage, state_after};
use crate::error::StoreError;
use crate::limits;
use crate::sqlite::credits::charge_pages;
use crate::sqlite::prepared::{PreparedUrl, json_text};
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::versions;
use crate::value::params;

/// `IN` instead of `UPDATE FROM`: a join with the list would scan every URL of the job.
pub(super) const CLOSE_URLS: &str = "UPDATE job_url SET state = ?3
    WHERE job_id = ?1 AND url_key IN (SELECT unhex(value) FROM json_each(?2)) AND state = 'open'
    RETURNING url_key";

/// Stores the outcomes of open URLs, in order.
pub(super) async fn settle(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
    settled: Vec<PreparedUrl>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let open = close(job, connection, &settled).await?;
    let new = job.settle(settled, open, now);
    for (no, url, error) in new.errors {
        query(
            "INSERT INTO job_error (job_id, no, scrape_id, at, url, code, message)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .bind_all(params![
            job.account.job,
            no,
            error.id,
            now,
            url,
            error.code.as_str(),
            error.message,
        ])
        .execute(&mut *connection)
        .await?;
    }
    insert_pages(connection, &job.account, new.pages, now).await
}

/// Marks the URLs of these outcomes. Returns the keys of those that were open.
async fn close(
    job: &JobInCommit,
    connection: &mut SqliteConnection,
    settled: &[PreparedUrl],
) -> Result<HashSet<[u8; 16]>, StoreError> {
    let mut keys: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for one in settled {
        keys.entry(state_after(&one.outcome)).or_default().push(one.key);
    }
    let mut open = HashSet::new();
    for (state, keys) in keys {
        let rows = query(CLOSE_URLS)
            .bind_all(params![job.account.job, keys, state])
            .fetch_all(&mut *connection)
            .await?;
        for row in rows {
            open.insert(row.url_key("url_key")?.to_bytes());
        }
    }
    Ok(open)
}

/// Stores pages with their bodies and ledger entries.
pub(crate) async fn insert_pages(
    connection: &mut SqliteConnection,
    account: &Account,
    pages: Vec<NewPage>,
    now: Timestamp,
) -> Result<(), StoreError> {
    if pages.is_empty() {
        return Ok(());
    }
    let charges: Vec<_> = pages.iter().map(|page| (page.seq, page.credits)).collect();
    // This is the only writer, so no other insert can take the next ids.
    let mut last_body: i64 = query("SELECT coalesce(max(id), 0) FROM body")
        .fetch_scalar(&mut *connection)
        .await?;
    let (mut rows, mut bodies) = (Vec::with_capacity(pages.len()), Vec::with_capacity(pages.len()));
    for page in pages {
        let key = page.key.map(hex::encode);
        rows.push(match page.document {
            None => (page.seq, key, None, None, 0, None, None),
            Some(document) => {
                last_body += 1;
                bodies.push((last_body, document.body));
                let scrape = document.scrape_id.map(hex::encode);
                let size = document.size_bytes;
                if let Some(version) = document.version {
                    versions::upsert(connection, account.job, version, now).await?;
                }
                let took = document.took_ms;
                (
                    page.seq,
                    key,
                    scrape,
                    document.status_code,
                    size,
                    Some(last_body),
                    took,
                )
            }
        });
    }
    while !bodies.is_empty() {
        let rest = bodies.split_off(bodies.len().min(limits::BODIES_PER_STATEMENT));
        QueryBuilder::new("INSERT INTO body (id, zstd) ")
            .push_values(bodies, |mut row, (id, body)| {
                row.push_bind(id).push_bind(body);
            })
            .build()
            .execute(&mut *connection)
            .await?;
        bodies = rest;
    }
    query(
        "INSERT INTO page (job_id, seq, url_key, scrape_id, status_code, size_bytes, body_id, took_ms, at)
         SELECT ?1, value ->> 0, unhex(value ->> 1), unhex(value ->> 2), value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, ?3
         FROM json_each(?2) ORDER BY key",
    )
    .bind_all(params![account.job, json_text(&rows)?, now])
    .execute(&mut *connection)
    .await?;
    charge_pages(connection, account, &charges, now).await
}
