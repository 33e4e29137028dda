//! The URLs that a job knows. Offers are stored in order of discovery, and the first are admitted while the
//! limit allows. Others are only recorded, so that they are never fetched.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::crawl::AdmittedUrl;

use crate::commit::{FRONTIER_FULL, JobInCommit, in_order};
use crate::error::StoreError;
use crate::sqlite::prepared::UrlList;
use crate::sqlite::query::query;
use crate::value::params;

/// As with [`CLOSE_URLS`](super::outcomes::CLOSE_URLS), only the named URLs are searched.
pub(super) const BLOCK_URLS: &str =
    "UPDATE job_url SET robots_blocked = 1, state = iif(state = 'spare', 'known', state),
        url = coalesce(url, (SELECT value ->> 1 FROM json_each(?2) WHERE unhex(value ->> 0) = url_key))
    WHERE job_id = ?1 AND url_key IN (SELECT unhex(value ->> 0) FROM json_each(?2))";

/// State of a URL that is new to the job.
#[derive(Clone, Copy)]
enum NewUrl {
    /// It may be admitted.
    Spare,
    /// Blocked by robots.txt.
    Blocked,
}

/// Records redirect targets: a spare one is never admitted, an unknown one becomes known.
pub(super) async fn record_aliases(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
    aliases: &UrlList,
) -> Result<(), StoreError> {
    if aliases.len == 0 {
        return Ok(());
    }
    let first = job.take_positions(aliases.len);
    query(
        "UPDATE job_url SET state = 'known' WHERE job_id = ?1 AND state = 'spare'
            AND url_key IN (SELECT unhex(value ->> 0) FROM json_each(?2))",
    )
    .bind_all(params![job.account.job, aliases.json.clone()])
    .execute(&mut *connection)
    .await?;
    let added = query(
        "INSERT INTO job_url (job_id, url_key, shard, state, position, depth, source)
         SELECT ?1, unhex(value ->> 0), ?3, 'known', ?4 + key, 0, 'link' FROM json_each(?2)
         WHERE true ON CONFLICT DO NOTHING",
    )
    .bind_all(params![job.account.job, aliases.json.clone(), job.shard, first])
    .execute(connection)
    .await?;
    job.url_count += added;
    Ok(())
}

/// Records URLs blocked by robots.txt: they are listed for the caller and never admitted from now on.
pub(super) async fn record_robots_blocked(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
    blocked: &UrlList,
) -> Result<(), StoreError> {
    if blocked.len == 0 {
        return Ok(());
    }
    query(BLOCK_URLS)
        .bind_all(params![job.account.job, blocked.json.clone()])
        .execute(&mut *connection)
        .await?;
    insert_new(job, connection, blocked, NewUrl::Blocked).await
}

/// Stores new URLs as spare, in order, after those that already wait.
pub(super) async fn offer(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
    offers: &UrlList,
) -> Result<(), StoreError> {
    insert_new(job, connection, offers, NewUrl::Spare).await
}

/// Inserts URLs that are new to the job, up to [`JobInCommit::rows_left`].
async fn insert_new(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
    list: &UrlList,
    new: NewUrl,
) -> Result<(), StoreError> {
    if list.len == 0 {
        return Ok(());
    }
    let first = job.take_positions(list.len);
    let (state, robots_blocked) = match new {
        NewUrl::Spare => ("spare", false),
        NewUrl::Blocked => ("known", true),
    };
    let added = query(
        "INSERT INTO job_url (job_id, url_key, shard, state, position, depth, source, robots_blocked,
            url, host_key, found_on)
         SELECT ?1, unhex(value ->> 0), ?3, ?6, ?4 + key, value ->> 3, value ->> 4, ?7, value ->> 1,
            value ->> 2, substr(?8, value ->> 5, 16)
         FROM json_each(?2)
         WHERE NOT EXISTS (SELECT 1 FROM job_url WHERE job_id = ?1 AND url_key = unhex(value ->> 0))
         ORDER BY key LIMIT ?5
         ON CONFLICT DO NOTHING",
    )
    .bind_all(params![
        job.account.job,
        list.json.clone(),
        job.shard,
        first,
        job.rows_left(),
        state,
        robots_blocked,
        list.pages.clone(),
    ])
    .execute(&mut *connection)
    .await?;
    job.url_count += added;
    warn_if_left_out(job, connection, list).await
}

/// Adds a warning if the frontier is full and a URL of the list was dropped.
async fn warn_if_left_out(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
    list: &UrlList,
) -> Result<(), StoreError> {
    if job.rows_left() > 0 {
        return Ok(());
    }
    let left_out: bool = query(
        "SELECT EXISTS (SELECT 1 FROM json_each(?2) WHERE NOT EXISTS
            (SELECT 1 FROM job_url WHERE job_id = ?1 AND url_key = unhex(value ->> 0)))",
    )
    .bind_all(params![job.account.job, list.json.clone()])
    .fetch_scalar(connection)
    .await?;
    if left_out {
        job.warn([FRONTIER_FULL.to_owned()]);
    }
    Ok(())
}

/// Admits as many spare URLs as the limit allows, earliest discovered first.
pub(super) async fn admit(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
) -> Result<Vec<AdmittedUrl>, StoreError> {
    let free = job.page_limit.saturating_sub(job.admitted);
    if free == 0 {
        return Ok(Vec::new());
    }
    let rows = query(
        "UPDATE job_url SET state = 'open' WHERE job_id = ?1 AND url_key IN (
            SELECT url_key FROM job_url WHERE job_id = ?1 AND state = 'spare' ORDER BY position LIMIT ?2)
         RETURNING url_key, url, depth, source, position",
    )
    .bind_all(params![job.account.job, free])
    .fetch_all(connection)
    .await?;
    job.admitted += rows.len() as u64;
    in_order(&rows)
}

/// Returns every open URL of the job, in order of discovery.
pub(super) async fn open_urls(
    job: &JobInCommit,
    connection: &mut SqliteConnection,
) -> Result<Vec<AdmittedUrl>, StoreError> {
    let rows = query(
        "SELECT url_key, url, depth, source, position FROM job_url WHERE job_id = ?1 AND state = 'open'",
    )
    .bind(job.account.job)
    .fetch_all(connection)
    .await?;
    in_order(&rows)
}
