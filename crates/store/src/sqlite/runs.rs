//! Runs of extract and agent. Only the owner ends one, with result, ledger entry and event in one
//! transaction.

use sqlx::query;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::{JobKind, JobStatus, WebhookEvents};
use crate::lease::Lease;
use crate::run::{RunEnd, RunRow, Runs};
use crate::sqlite::Sqlite;
use crate::sqlite::commit::{NewPage, insert_pages};
use crate::sqlite::credits::Account;
use crate::sqlite::events::{Event, EventLog, save_log};
use crate::sqlite::jobs::{parse_kind, stop_shards};
use crate::sqlite::pages::decompress_texts;
use crate::sqlite::prepared::{PreparedDocument, compress};
use crate::sqlite::rows::{Columns, bad_column, blob, int};

/// Number of the page that holds the result of a run.
const RESULT: u64 = 1;

macro_rules! select_runs {
    ($rest:literal) => {
        concat!(
            "SELECT job.id, kind, status, request, error, credits, job.created_at, expires_at, zero_data_retention,
                origin, integration
             FROM job LEFT JOIN activity ON activity.job_id = job.id ",
            $rest
        )
    };
}

impl Runs for Sqlite {
    async fn finish_run(&self, lease: &Lease, end: RunEnd, now: Timestamp) -> Result<bool, StoreError> {
        let body = compress(end.result.clone().into_iter().collect()).await?.pop();
        let document = body.map(|body| PreparedDocument {
            scrape_id: None,
            status_code: None,
            took_ms: None,
            size_bytes: body.size_bytes,
            body: body.body,
            version: None,
        });
        let account = Account {
            job: lease.job,
            team: lease.team,
            key: lease.key,
            kind: lease.kind,
        };
        let (shard, epoch) = (lease.shard, lease.epoch);
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    if !owns(connection, account.job, shard, epoch).await? {
                        return Ok(false);
                    }
                    let (status, done, event) = match &end.error {
                        Some(_) => (JobStatus::Failed, 0, Event::Failed),
                        None => (JobStatus::Completed, 1, Event::Completed),
                    };
                    let row = query(
                        "UPDATE job SET status = ?2, admitted = 1, completed = ?3, failed = 1 - ?3, credits = ?4, error = ?5,
                            completed_at = ?6, expires_at = ?6 + retention_ms
                         WHERE id = ?1 AND status = 'scraping'
                         RETURNING webhook_events, event_count, last_event_at",
                    )
                    .bind(blob(account.job.0))
                    .bind(status.as_str())
                    .bind(done)
                    .bind(end.credits)
                    .bind(end.error)
                    .bind(int(now.0))
                    .fetch_optional(&mut *connection)
                    .await?;
                    let Some(row) = row else { return Ok(false) };
                    stop_shards(connection, account.job).await?;
                    let page = NewPage {
                        seq: RESULT,
                        key: None,
                        document,
                        credits: end.credits,
                    };
                    insert_pages(connection, &account, vec![page], now).await?;
                    let of = (account.job, account.kind);
                    add_run_event(connection, of, &row, event, end.event_data, now).await?;
                    account.add_to_month(connection, u64::from(end.credits), now).await?;
                    Ok(true)
                })
            })
            .await
    }

    async fn add_action(&self, lease: &Lease, data: String, now: Timestamp) -> Result<bool, StoreError> {
        let (job, kind, shard, epoch) = (lease.job, lease.kind, lease.shard, lease.epoch);
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    if !owns(connection, job, shard, epoch).await? {
                        return Ok(false);
                    }
                    let row =
                        query("SELECT webhook_events, event_count, last_event_at FROM job WHERE id = ?1")
                            .bind(blob(job.0))
                            .fetch_one(&mut *connection)
                            .await?;
                    add_run_event(connection, (job, kind), &row, Event::Action, Some(data), now).await?;
                    Ok(true)
                })
            })
            .await
    }

    async fn run(&self, team: TeamId, id: JobId, now: Timestamp) -> Result<Option<RunRow>, StoreError> {
        let mut transaction = self.readers.begin().await?;
        let row = query(select_runs!(
            "WHERE job.id = ?1 AND job.team_id = ?2 AND kind IN ('extract', 'agent')
                AND (expires_at IS NULL OR expires_at > ?3)"
        ))
        .bind(blob(id.0))
        .bind(blob(team.0))
        .bind(int(now.0))
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let body = query(
            "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id WHERE job_id = ?1 AND seq = ?2",
        )
        .bind(blob(id.0))
        .bind(int(RESULT))
        .fetch_all(&mut *transaction)
        .await?;
        let mut run = run_row(&row)?;
        run.result = decompress_texts(body).await?.pop();
        Ok(Some(run))
    }

    async fn agents(
        &self,
        team: TeamId,
        before: Option<Timestamp>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<RunRow>, StoreError> {
        let rows = query(select_runs!(
            "WHERE job.team_id = ?1 AND kind = 'agent' AND (?2 IS NULL OR job.created_at < ?2)
                AND (expires_at IS NULL OR expires_at > ?3)
             ORDER BY job.created_at DESC, job.id DESC LIMIT ?4"
        ))
        .bind(blob(team.0))
        .bind(before.map(|before| int(before.0)))
        .bind(int(now.0))
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(run_row).collect()
    }
}

/// Returns whether this lease is still valid.
async fn owns(
    connection: &mut SqliteConnection,
    job: JobId,
    shard: u32,
    epoch: u64,
) -> Result<bool, StoreError> {
    let row = query("SELECT 1 FROM shard WHERE job_id = ?1 AND no = ?2 AND epoch = ?3 AND active = 1")
        .bind(blob(job.0))
        .bind(shard)
        .bind(int(epoch))
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}

/// Adds an event of a run if its receiver subscribed to it. `row` has the subscriptions and the event log of
/// the job.
pub(crate) async fn add_run_event(
    connection: &mut SqliteConnection,
    (job, kind): (JobId, JobKind),
    row: &SqliteRow,
    event: Event,
    data: Option<String>,
    now: Timestamp,
) -> Result<(), StoreError> {
    if !event.is_subscribed(WebhookEvents::from_bits(int(row.count("webhook_events")?))) {
        return Ok(());
    }
    let mut log = EventLog {
        count: row.count("event_count")?,
        last_at: row.count("last_event_at")?,
    };
    log.add_with_data(connection, job, kind, event, data, now).await?;
    save_log(connection, job, log).await
}

fn run_row(row: &SqliteRow) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: JobId(row.id("id")?),
        kind: parse_kind(&row.text("kind")?)?,
        status: JobStatus::parse(&row.text("status")?).ok_or_else(|| bad_column("status"))?,
        request: row.text("request")?,
        error: row.maybe_text("error")?,
        credits: row.count("credits")?,
        created_at: row.time("created_at")?,
        expires_at: row.maybe_time("expires_at")?,
        zero_data_retention: row.count("zero_data_retention")? != 0,
        origin: row.maybe_text("origin")?,
        integration: row.maybe_text("integration")?,
        result: None,
    })
}
