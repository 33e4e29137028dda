//! Stores a completed scrape in one query.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::day::Day;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::NewJob;
use crate::prepared::ScrapeEnd;
use crate::sql::scrapes::{begin, finish};
use crate::sqlite::query::query;
use crate::value::params;

/// What [`begin`] and [`finish`] store of a completed scrape, as one query: each query costs a round trip to the
/// thread of the connection. Parameters are named, because numbers with gaps are bound wrongly in later statements.
const RECORD_COMPLETED: &str = "
    INSERT INTO job (id, team_id, key_id, kind, url, request, status, page_limit, admitted, completed, credits,
        zero_data_retention, retention_ms, created_at, base, completed_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, 'completed', $7, 1, 1, $8, 0, $9, $10, $11, $12, $12 + $9);
    INSERT INTO activity (job_id, team_id, key_id, endpoint, target, origin, integration, created_at, username)
    VALUES ($1, $2, $3, $4, nullif($5, ''), $13, $14, $10, $15);
    INSERT INTO body (zstd) VALUES ($16);
    INSERT INTO page (job_id, seq, scrape_id, status_code, size_bytes, body_id, took_ms, at)
    VALUES ($1, 1, $1, $17, $18, last_insert_rowid(), $19, $12);
    INSERT INTO ledger (job_id, seq, reason, team_id, key_id, endpoint, credits, at)
    VALUES ($1, 1, 'page', $2, $3, $4, $8, $12);
    INSERT INTO month_usage (team_id, month, key_id, credits)
    SELECT $2, $20, coalesce($3, x''), $8 WHERE $8 > 0
    ON CONFLICT (team_id, month, key_id) DO UPDATE SET credits = credits + excluded.credits;
    INSERT INTO day_usage (team_id, day, key_id, credits, pages) VALUES ($2, $21, coalesce($3, x''), $8, 1)
    ON CONFLICT (team_id, day, key_id) DO UPDATE SET credits = credits + excluded.credits, pages = pages + 1";

/// See [`Transaction::record_scrape`](crate::sql::Transaction::record_scrape).
pub(crate) async fn record(
    connection: &mut SqliteConnection,
    job: NewJob,
    end: ScrapeEnd,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (document, credits) = match end {
        ScrapeEnd::Document { document, credits }
            if document.version.is_none() && job.webhook.is_none() && !job.zero_data_retention =>
        {
            (document, credits)
        }
        end => {
            begin(connection, &job, None).await?;
            return finish(connection, job.id, end, now).await;
        }
    };
    query(RECORD_COMPLETED)
        .bind_all(params![
            job.id,
            job.team,
            job.key,
            job.kind.as_str(),
            job.url,
            job.request,
            job.page_limit,
            credits,
            job.retention_ms,
            job.created_at,
            job.base,
            now,
            job.origin,
            job.integration,
            job.username,
            document.body,
            document.status_code,
            document.size_bytes,
            document.took_ms,
            Month::of(now).to_string(),
            Day::of(now).to_string(),
        ])
        .run(connection)
        .await
}

#[cfg(test)]
mod tests {
    use harvestman_core::ids::{JobId, TeamId};
    use sqlx::{AssertSqlSafe, query_scalar};
    use uuid::Uuid;

    use super::*;
    use crate::job::JobKind;
    use crate::prepared::PreparedDocument;
    use crate::sqlite::test_database;

    const NOW: Timestamp = Timestamp(1_769_850_300_000);
    const TABLES: [&str; 7] = [
        "job", "activity", "body", "page", "ledger", "month_usage", "day_usage",
    ];

    /// Returns the rows of a database that has only this scrape, as SQL literals.
    async fn rows_of(job: &NewJob, credits: u32, in_one_query: bool) -> Vec<String> {
        let mut connection = test_database::empty().await;
        query("INSERT INTO team (id, name, created_at) VALUES (?1, 'team', 0)")
            .bind(job.team)
            .execute(&mut connection)
            .await
            .unwrap();
        let document = PreparedDocument {
            scrape_id: None,
            status_code: Some(200),
            took_ms: Some(3),
            size_bytes: 9,
            body: vec![1, 2, 3],
            version: None,
        };
        let end = ScrapeEnd::Document { document, credits };
        if in_one_query {
            record(&mut connection, job.clone(), end, NOW).await.unwrap();
        } else {
            begin(&mut connection, job, None).await.unwrap();
            finish(&mut connection, job.id, end, NOW).await.unwrap();
        }
        let mut rows = Vec::new();
        for table in TABLES {
            let names =
                format!("SELECT group_concat('quote(' || name || ')') FROM pragma_table_info('{table}')");
            let columns: String = query_scalar(AssertSqlSafe(names))
                .fetch_one(&mut connection)
                .await
                .unwrap();
            let select = format!("SELECT '{table}' || json_array({columns}) FROM {table}");
            let found = query_scalar::<_, String>(AssertSqlSafe(select)).fetch_all(&mut connection);
            rows.extend(found.await.unwrap());
        }
        rows
    }

    #[tokio::test]
    async fn one_query_stores_what_the_steps_of_a_scrape_store() {
        let job = |url: &str| NewJob {
            id: JobId(Uuid::from_u128(1)),
            team: TeamId(Uuid::from_u128(2)),
            key: None,
            kind: JobKind::Scrape,
            url: url.to_owned(),
            request: "{\"timeout\":1}".to_owned(),
            base: "http://harvestman.test".to_owned(),
            page_limit: 1,
            webhook: None,
            origin: Some("test".to_owned()),
            integration: None,
            username: Some("user".to_owned()),
            zero_data_retention: false,
            retention_ms: 1_000,
            created_at: Timestamp(NOW.0 - 5),
        };
        for (url, credits, stored) in [("http://site.test/", 2, 7), ("", 0, 6)] {
            let rows = rows_of(&job(url), credits, true).await;
            assert_eq!(rows.len(), stored, "{rows:?}");
            assert_eq!(rows, rows_of(&job(url), credits, false).await);
        }
    }
}
