//! The URLs that a job knows. Offers are stored in order of discovery, and the first are admitted while the limit
//! allows. Others are only recorded, so that they are never fetched.

use std::collections::HashSet;

use harvestman_core::crawl::{AdmittedUrl, Offer, Source};
use harvestman_core::ids::JobId;
use harvestman_core::url_key::UrlKey;
use tokio_postgres::Row;
use url::Url;
use uuid::Uuid;

use crate::commit::{FRONTIER_FULL, JobInCommit, in_order};
use crate::error::StoreError;
use crate::limits;
use crate::postgres::client::Client;
use crate::postgres::query::{Query, query};
use crate::postgres::rows::Columns;
use crate::prepared::{blocking, source_word};
use crate::value::params;

/// URLs, column by column.
#[derive(Debug, Default)]
pub(crate) struct UrlRows {
    keys: Vec<Uuid>,
    urls: Vec<String>,
    depths: Vec<u32>,
    sources: Vec<&'static str>,
    found_on: Vec<Option<Uuid>>,
}

impl UrlRows {
    /// Collects the URLs of offers, each only once.
    pub(crate) fn of_offers(offers: &[Offer]) -> Self {
        let mut rows = Self::default();
        let mut keys = HashSet::with_capacity(offers.len());
        for offer in offers.iter().filter(|offer| keys.insert(offer.key)) {
            let found_on = offer.found_on.map(|page| Uuid::from_bytes(page.to_bytes()));
            rows.push(offer.key, &offer.url, offer.depth, offer.source, found_on);
        }
        rows
    }

    pub(crate) fn of_blocked(blocked: &[(UrlKey, Url)]) -> Self {
        let mut rows = Self::default();
        for (key, url) in blocked {
            rows.push(*key, url, 0, Source::Link, None);
        }
        rows
    }

    fn push(&mut self, key: UrlKey, url: &Url, depth: u32, source: Source, found_on: Option<Uuid>) {
        self.keys.push(Uuid::from_bytes(key.to_bytes()));
        self.urls.push(url.as_str().to_owned());
        self.depths.push(depth);
        self.sources.push(source_word(source));
        self.found_on.push(found_on);
    }

    pub(crate) fn len(&self) -> u64 {
        self.keys.len() as u64
    }
}

/// Splits the pages of a batch scrape into lists, one per statement.
pub(crate) async fn page_rows(pages: Vec<Offer>) -> Result<Vec<UrlRows>, StoreError> {
    let work = move || {
        pages
            .chunks(limits::PAGES_PER_STATEMENT)
            .map(UrlRows::of_offers)
            .collect()
    };
    blocking(work).await
}

/// State of a URL that is new to the job.
#[derive(Clone, Copy)]
pub(super) enum NewUrl {
    /// It may be admitted.
    Spare,
    /// Blocked by robots.txt.
    Blocked,
}

/// Returns the statement that prevents spare redirect targets from being admitted.
pub(super) fn hide_aliases(job: JobId, aliases: &[Uuid]) -> Query {
    query(
        "UPDATE harvestman.job_url SET state = 'known'
         WHERE job_id = $1 AND state = 'spare' AND url_key = ANY ($2)",
    )
    .bind_all(params![job, aliases.to_vec()])
}

/// Returns the statement that records redirect targets that are new to the job.
pub(super) fn insert_aliases(job: JobId, shard: u32, first: u64, aliases: &[Uuid]) -> Query {
    query(
        "INSERT INTO harvestman.job_url (job_id, url_key, shard, state, position, depth, source)
         SELECT $1, new.key, $2, 'known', $3 + new.no - 1, 0, 'link'
         FROM unnest($4) WITH ORDINALITY AS new (key, no) ON CONFLICT DO NOTHING",
    )
    .bind_all(params![job, shard, first, aliases.to_vec()])
}

/// Returns the statement that marks known URLs as blocked by robots.txt: they are listed for the caller and never
/// admitted from now on.
pub(super) fn block(job: JobId, blocked: &UrlRows) -> Query {
    query(
        "UPDATE harvestman.job_url SET robots_blocked = true, url = coalesce(job_url.url, blocked.url),
            state = CASE state WHEN 'spare' THEN 'known' ELSE state END
         FROM unnest($2, $3) AS blocked (key, url) WHERE job_id = $1 AND url_key = blocked.key",
    )
    .bind_all(params![job, blocked.keys.clone(), blocked.urls.clone()])
}

/// Returns the statement that inserts URLs that are new to the job, at most `room`.
pub(super) fn insert(job: JobId, shard: u32, first: u64, list: &UrlRows, new: NewUrl, room: u64) -> Query {
    let (state, robots_blocked) = match new {
        NewUrl::Spare => ("spare", false),
        NewUrl::Blocked => ("known", true),
    };
    query(
        "INSERT INTO harvestman.job_url (job_id, url_key, shard, state, position, depth, source, robots_blocked,
            url, found_on)
         SELECT $1, new.key, $2, $3, $4 + new.no - 1, new.depth, new.source, $5, new.url, new.found_on
         FROM unnest($6, $7, $8, $9, $10) WITH ORDINALITY AS new (key, url, depth, source, found_on, no)
         WHERE NOT EXISTS (SELECT 1 FROM harvestman.job_url WHERE job_id = $1 AND url_key = new.key)
         ORDER BY new.no LIMIT $11
         ON CONFLICT DO NOTHING",
    )
    .bind_all(params![
        job,
        shard,
        state,
        first,
        robots_blocked,
        list.keys.clone(),
        list.urls.clone(),
        list.depths.clone(),
        list.sources.clone(),
        list.found_on.clone(),
        room,
    ])
}

/// Returns the statement that admits at most `free` URLs, earliest discovered first: spare ones, then offers that are
/// new to the job, of which it inserts at most `room`. Each row has the number of inserted offers and an admitted
/// URL; if no URL is admitted, there is one row without URL. An offer that is admitted is stored as open, which saves
/// an update that would not be HOT.
pub(super) fn admit(job: JobId, free: u64, shard: u32, first: u64, offers: &UrlRows, room: u64) -> Query {
    query(
        "WITH spare AS (UPDATE harvestman.job_url SET state = 'open'
            FROM (SELECT url_key AS key FROM harvestman.job_url WHERE job_id = $1 AND waiting
                ORDER BY position LIMIT $2) AS next
            WHERE job_id = $1 AND url_key = next.key
            RETURNING url_key, url, depth, source, position),
         offered AS (INSERT INTO harvestman.job_url (job_id, url_key, shard, state, position, depth, source, url,
                found_on)
            SELECT $1, new.key, $3,
                CASE WHEN row_number() OVER (ORDER BY new.no) <= $2 - (SELECT count(*) FROM spare)
                    THEN 'open' ELSE 'spare' END,
                $4 + new.no - 1, new.depth, new.source, new.url, new.found_on
            FROM unnest($5, $6, $7, $8, $9) WITH ORDINALITY AS new (key, url, depth, source, found_on, no)
            WHERE NOT EXISTS (SELECT 1 FROM harvestman.job_url WHERE job_id = $1 AND url_key = new.key)
            ORDER BY new.no LIMIT $10
            ON CONFLICT DO NOTHING
            RETURNING url_key, url, depth, source, position, state)
         SELECT (SELECT count(*) FROM offered) AS added, admitted.*
         FROM (SELECT) AS one LEFT JOIN
            (SELECT * FROM spare UNION ALL
            SELECT url_key, url, depth, source, position FROM offered WHERE state = 'open') AS admitted ON true",
    )
    .bind_all(params![
        job,
        free,
        shard,
        first,
        offers.keys.clone(),
        offers.urls.clone(),
        offers.depths.clone(),
        offers.sources.clone(),
        offers.found_on.clone(),
        room,
    ])
}

/// Adds a warning if a URL of the list was dropped.
pub(super) async fn warn_if_left_out(
    job: &mut JobInCommit,
    client: &Client,
    list: &UrlRows,
) -> Result<(), StoreError> {
    let left_out = query(
        "SELECT 1 FROM unnest($2) AS offered (key) WHERE NOT EXISTS
            (SELECT 1 FROM harvestman.job_url WHERE job_id = $1 AND url_key = offered.key) LIMIT 1",
    )
    .bind_all(params![job.account.job, list.keys.clone()])
    .fetch_optional(client)
    .await?;
    if left_out.is_some() {
        job.warn([FRONTIER_FULL.to_owned()]);
    }
    Ok(())
}

/// Returns every open URL of the job, in order of discovery.
pub(super) async fn open_urls(job: &JobInCommit, client: &Client) -> Result<Vec<AdmittedUrl>, StoreError> {
    let rows = query(
        "SELECT url_key, url, depth, source, position FROM harvestman.job_url
         WHERE job_id = $1 AND state = 'open'",
    )
    .bind(job.account.job)
    .fetch_all(client)
    .await?;
    in_order(&rows)
}

/// Reads the rows of [`admit`]: the number of inserted offers, and the admitted URLs in order of discovery.
pub(super) fn admitted(rows: &[Row]) -> Result<(u64, Vec<AdmittedUrl>), StoreError> {
    let Some(first) = rows.first() else {
        return Ok((0, Vec::new()));
    };
    let admitted = match first.maybe_id("url_key")? {
        Some(_) => in_order(rows)?,
        None => Vec::new(),
    };
    Ok((first.count("added")?, admitted))
}
