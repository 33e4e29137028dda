//! Outcomes of admitted URLs: pages with their ledger entries, errors, and dropped URLs, which no longer count towards
//! the limit.

use std::collections::HashMap;

use harvestman_core::crawl::PageError;
use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use super::PreparedBatch;
use crate::account::Account;
use crate::commit::{NewPage, state_after};
use crate::error::StoreError;
use crate::postgres::client::Client;
use crate::postgres::credits::charge;
use crate::postgres::query::{Query, query};
use crate::prepared::PreparedVersion;
use crate::value::params;

/// Pages to insert.
pub(crate) struct PageRows(Vec<NewPage>, HashMap<(Uuid, String), PreparedVersion>);

impl PageRows {
    pub(crate) fn of(mut pages: Vec<NewPage>) -> Self {
        let documents = pages.iter_mut().filter_map(|page| page.document.as_mut());
        // The last version of a page counts; one statement cannot write a row twice.
        let versions = documents
            .filter_map(|document| document.version.take())
            .map(|version| {
                let key = Uuid::from_bytes(version.key.url.to_bytes());
                ((key, version.key.tag.clone()), version)
            })
            .collect();
        Self(pages, versions)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number and price of each page; each page gets a ledger entry, also for 0 credits.
    pub(super) fn charges(&self) -> Vec<(u64, u32)> {
        self.0.iter().map(|page| (page.seq, page.credits)).collect()
    }

    /// Returns the statement that stores the versions of tracked pages, and whether there are any. Never stores one
    /// with zero data retention.
    pub(super) fn versions(&self, job: JobId, now: Timestamp) -> (Query, bool) {
        let mut versions: Vec<_> = self.1.iter().collect();
        // In key order, as all transactions lock rows.
        versions.sort_by_key(|(key, _)| *key);
        let statement = query(
            "INSERT INTO harvestman.page_version (team_id, url_key, tag, at, status_code, size_bytes, zstd, data)
             SELECT team_id, new.key, new.tag, $2, new.status, new.size, new.zstd, new.data
             FROM harvestman.job, unnest($3, $4, $5, $6, $7, $8) AS new (key, tag, status, size, zstd, data)
             WHERE job.id = $1 AND zero_data_retention = 0
             ON CONFLICT (team_id, url_key, tag) DO UPDATE SET at = excluded.at, status_code = excluded.status_code,
                size_bytes = excluded.size_bytes, zstd = excluded.zstd, data = excluded.data",
        )
        .bind_all(params![
            job,
            now,
            versions.iter().map(|((key, _), _)| *key).collect::<Vec<_>>(),
            versions.iter().map(|((_, tag), _)| tag.clone()).collect::<Vec<_>>(),
            versions.iter().map(|(_, version)| version.status_code).collect::<Vec<_>>(),
            versions.iter().map(|(_, version)| version.size_bytes).collect::<Vec<_>>(),
            versions.iter().map(|(_, version)| Some(version.body.clone())).collect::<Vec<_>>(),
            versions.iter().map(|(_, version)| version.data.clone()).collect::<Vec<_>>(),
        ]);
        (statement, !versions.is_empty())
    }

    /// Returns the statement that inserts the pages with their documents.
    pub(super) fn insert(self, job: JobId, now: Timestamp) -> Query {
        let count = self.0.len();
        let (mut numbers, mut keys) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut scrapes, mut statuses) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut sizes, mut bodies) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut durations = Vec::with_capacity(count);
        for page in self.0 {
            numbers.push(page.seq);
            keys.push(page.key);
            scrapes.push(page.document.as_ref().and_then(|document| document.scrape_id));
            statuses.push(page.document.as_ref().and_then(|document| document.status_code));
            durations.push(page.document.as_ref().and_then(|document| document.took_ms));
            sizes.push(page.document.as_ref().map_or(0, |document| document.size_bytes));
            bodies.push(page.document.map(|document| document.body));
        }
        query(
            "INSERT INTO harvestman.page (job_id, seq, url_key, scrape_id, status_code, size_bytes, at, zstd, took_ms)
             SELECT $1, new.seq, new.key, new.scrape, new.status, new.size, $2, new.zstd, new.took
             FROM unnest($3, $4, $5, $6, $7, $8, $9) AS new (seq, key, scrape, status, size, zstd, took)",
        )
        .bind_all(params![
            job,
            now,
            numbers,
            keys,
            scrapes,
            statuses,
            sizes,
            bodies,
            durations,
        ])
    }

    /// Stores the pages with versions and ledger entries, outside a commit.
    pub(crate) async fn store(
        self,
        client: &Client,
        account: &Account,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (versions, wanted) = self.versions(account.job, now);
        versions.execute_if(wanted, client).await?;
        let charges = self.charges();
        self.insert(account.job, now).execute(client).await?;
        charge(account, "page", &charges, now).run(client).await
    }
}

/// Returns the statement that inserts entries of the error list.
pub(super) fn insert_errors(job: JobId, errors: &[(u64, String, PageError)], now: Timestamp) -> Query {
    query(
        "INSERT INTO harvestman.job_error (job_id, no, scrape_id, at, url, code, message)
         SELECT $1, new.no, new.scrape, $2, new.url, new.code, new.message
         FROM unnest($3, $4, $5, $6, $7) AS new (no, scrape, url, code, message)",
    )
    .bind_all(params![
        job,
        now,
        errors.iter().map(|(no, ..)| *no).collect::<Vec<_>>(),
        errors.iter().map(|(.., error)| error.id).collect::<Vec<_>>(),
        errors.iter().map(|(_, url, _)| url).collect::<Vec<_>>(),
        errors
            .iter()
            .map(|(.., error)| error.code.as_str())
            .collect::<Vec<_>>(),
        errors
            .iter()
            .map(|(.., error)| &error.message)
            .collect::<Vec<_>>(),
    ])
}

/// Returns the statement that marks the URLs of the outcomes, unless the job has ended, and returns the keys of those
/// that were open. If the fence does not pass, the transaction is rolled back, and with it these changes.
pub(super) fn closing(job: JobId, batch: &PreparedBatch) -> Query {
    let (keys, states): (Vec<_>, Vec<_>) = batch
        .settled
        .iter()
        .map(|one| (one.key, state_after(&one.outcome)))
        .unzip();
    query(
        "UPDATE harvestman.job_url SET state = settled.state FROM unnest($2, $3) AS settled (key, state)
         WHERE job_id = $1 AND url_key = settled.key AND job_url.state = 'open'
            AND EXISTS (SELECT 1 FROM harvestman.job WHERE id = $1 AND status = 'scraping')
         RETURNING url_key",
    )
    .bind_all(params![job, keys, states])
}
