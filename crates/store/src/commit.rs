//! What both engines share in the commit of a batch: its owner, its result, the job row, and the outcomes of URLs.

use std::collections::HashSet;

use harvestman_core::crawl::{AdmittedUrl, CommitResponse, JobEnd, JobState, PageError, Snapshot};
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::columns::{Columns, bad_column};
use crate::error::{CommitError, StoreError};
use crate::event::{Event, EventLog};
use crate::job::{AddPagesOutcome, JobKind, JobStatus};
use crate::lease::Lease;
use crate::limits;
use crate::prepared::{PreparedDocument, PreparedOutcome, PreparedUrl, json_text};
use crate::rows::{admitted_url, parse_status};
use crate::usage::UsageChange;
use crate::value::{Value, params};

/// Warning of a crawl that found more links than it may store.
pub(crate) const FRONTIER_FULL: &str = "The crawl found more links than it can store, and dropped some. Raise \
    `limit`, or narrow the crawl with `includePaths` or `excludePaths`.";

/// Result of the transaction.
pub(crate) enum CommitResult {
    Committed(Vec<AdmittedUrl>, JobState),
    Repeated,
    LeaseLost,
}

impl CommitResult {
    /// Returns the response for the batch with this number. `load` reads the response to a repeated commit.
    pub(crate) async fn response(
        self,
        number: u64,
        load: impl Future<Output = Result<(Snapshot, JobState), StoreError>>,
    ) -> Result<CommitResponse, CommitError> {
        match self {
            Self::Committed(admitted, state) => Ok(CommitResponse {
                number,
                admitted,
                state,
            }),
            Self::LeaseLost => Err(CommitError::LeaseLost),
            Self::Repeated => {
                tracing::info!("a commit was repeated: its response was lost");
                let (snapshot, state) = load.await?;
                Ok(CommitResponse {
                    number,
                    admitted: snapshot.open,
                    state,
                })
            }
        }
    }
}

/// The shard and its fencing token.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) job: JobId,
    pub(crate) shard: u32,
    pub(crate) epoch: u64,
}

impl Owner {
    pub(crate) fn of(lease: &Lease) -> Self {
        Self {
            job: lease.job,
            shard: lease.shard,
            epoch: lease.epoch,
        }
    }

    /// A batch scrape has one shard; the epoch does not matter where pages are added.
    pub(crate) fn of_batch(job: JobId) -> Self {
        let (shard, epoch) = (0, 0);
        Self { job, shard, epoch }
    }
}

/// A page to store under this number. Without a document, only the fact that there was one is stored.
pub(crate) struct NewPage {
    pub(crate) seq: u64,
    pub(crate) key: Option<[u8; 16]>,
    pub(crate) document: Option<PreparedDocument>,
    pub(crate) credits: u32,
}

/// What the outcomes of a batch add.
#[derive(Default)]
pub(crate) struct NewOutcomes {
    pub(crate) pages: Vec<NewPage>,
    /// Entries of the error list, with their numbers and URLs.
    pub(crate) errors: Vec<(u64, String, PageError)>,
}

/// The job row during a commit: read once, changed in memory, written once.
pub(crate) struct JobInCommit {
    pub(crate) account: Account,
    pub(crate) shard: u32,
    pub(crate) page_limit: u64,
    pub(crate) admitted: u64,
    completed: u64,
    failed: u64,
    credits: u64,
    pub(crate) url_count: u64,
    next_position: u64,
    error_count: u64,
    pub(crate) events: EventLog,
    warnings: Vec<String>,
    /// Credits and pages of this commit.
    pub(crate) used: UsageChange,
    /// Status, error and time of the end, if this commit ends the job.
    ended: Option<(JobStatus, Option<String>, Timestamp)>,
}

impl JobInCommit {
    pub(crate) fn read(row: &impl Columns, owner: Owner) -> Result<(Self, JobStatus), StoreError> {
        let status = parse_status(row)?;
        let job = Self {
            account: Account::read(row, owner.job)?,
            shard: owner.shard,
            page_limit: row.count("page_limit")?,
            admitted: row.count("admitted")?,
            completed: row.count("completed")?,
            failed: row.count("failed")?,
            credits: row.count("credits")?,
            url_count: row.count("url_count")?,
            next_position: row.count("next_position")?,
            error_count: row.count("error_count")?,
            events: EventLog::read(row)?,
            warnings: serde_json::from_str(&row.text("warnings")?).map_err(|_| bad_column("warnings"))?,
            used: UsageChange::default(),
            ended: None,
        };
        Ok((job, status))
    }

    /// Returns the values of the row: its id, then the columns in the order of both engines' statements. A job that did
    /// not end in this transaction is running.
    pub(crate) fn values(&self) -> Result<Vec<Value>, StoreError> {
        let (status, error, ended_at) = match &self.ended {
            None => (JobStatus::Scraping, None, None),
            Some((status, error, at)) => (*status, error.as_deref(), Some(*at)),
        };
        Ok(params![
            self.account.job,
            self.admitted,
            self.completed,
            self.failed,
            self.credits,
            self.url_count,
            self.next_position,
            self.error_count,
            self.events.count,
            self.events.last_at,
            json_text(&self.warnings)?,
            status.as_str(),
            error,
            ended_at,
            self.page_limit,
        ])
    }

    /// Returns the number of admitted URLs without an outcome.
    pub(crate) fn open(&self) -> u64 {
        self.admitted.saturating_sub(self.completed + self.failed)
    }

    /// Returns how many rows may still be added. This stops sites that generate URLs without end, or that redirect
    /// all of them.
    pub(crate) fn rows_left(&self) -> u64 {
        self.page_limit
            .saturating_mul(limits::FRONTIER_PER_PAGE)
            .saturating_add(limits::FRONTIER_BASE)
            .saturating_sub(self.url_count)
    }

    pub(crate) fn take_positions(&mut self, count: u64) -> u64 {
        let first = self.next_position;
        self.next_position += count;
        first
    }

    /// Adds warnings, each text once.
    pub(crate) fn warn(&mut self, sentences: impl IntoIterator<Item = String>) {
        for sentence in sentences {
            if self.warnings.len() < limits::WARNINGS_PER_JOB && !self.warnings.contains(&sentence) {
                self.warnings.push(sentence);
            }
        }
    }

    pub(crate) fn event(&mut self, event: Event, now: Timestamp) {
        self.events.add(self.account.kind, event, None, now);
    }

    /// Counts the outcomes of open URLs, in order, and returns what they add.
    pub(crate) fn settle(
        &mut self,
        settled: Vec<PreparedUrl>,
        mut open: HashSet<[u8; 16]>,
        now: Timestamp,
    ) -> NewOutcomes {
        let mut new = NewOutcomes::default();
        for one in settled {
            if !open.remove(&one.key) {
                // A page is stored and charged at most once.
                let outcome = state_after(&one.outcome);
                tracing::error!(job.id = %self.account.job, outcome, "outcome ignored: the URL is not open");
                continue;
            }
            match one.outcome {
                PreparedOutcome::Page { document, credits } => {
                    self.completed += 1;
                    self.credits += u64::from(credits);
                    self.used.credits += u64::from(credits);
                    self.used.pages += 1;
                    new.pages.push(NewPage {
                        seq: self.completed,
                        key: Some(one.key),
                        document: Some(document),
                        credits,
                    });
                    self.event(Event::Page(self.completed), now);
                }
                PreparedOutcome::Failed(error) => {
                    self.failed += 1;
                    self.error_count += 1;
                    new.errors.push((self.error_count, one.url, error));
                    self.event(Event::PageFailed(self.error_count), now);
                }
                PreparedOutcome::Dropped(error) => {
                    self.admitted = self.admitted.saturating_sub(1);
                    if let Some(error) = error {
                        self.error_count += 1;
                        new.errors.push((self.error_count, one.url, error));
                    }
                }
            }
        }
        new
    }

    /// Ends the job and adds its last event. Completed and failed crawls and batch scrapes end only here.
    pub(crate) fn end(&mut self, end: JobEnd, now: Timestamp) {
        let (status, error, event) = match end {
            JobEnd::Completed => (JobStatus::Completed, None, Event::Completed),
            JobEnd::Failed { error } => (JobStatus::Failed, Some(error), Event::Failed),
        };
        self.ended = Some((status, error, now));
        self.event(event, now);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Returns why this number of pages cannot be added to the job of a team, if they cannot.
    pub(crate) fn refusal_of_pages(
        &self,
        status: JobStatus,
        team: TeamId,
        pages: u64,
    ) -> Option<AddPagesOutcome> {
        if self.account.team != team || self.account.kind != JobKind::BatchScrape {
            return Some(AddPagesOutcome::NotFound);
        }
        if status == JobStatus::Cancelled {
            return Some(AddPagesOutcome::Cancelled);
        }
        let is_full = self.url_count.saturating_add(pages) > limits::PAGES_PER_BATCH;
        is_full.then_some(AddPagesOutcome::Full)
    }
}

/// Returns the state of a URL with this outcome.
pub(crate) fn state_after(outcome: &PreparedOutcome) -> &'static str {
    match outcome {
        PreparedOutcome::Page { .. } => "done",
        PreparedOutcome::Failed(_) => "failed",
        PreparedOutcome::Dropped(_) => "dropped",
    }
}

/// Returns the URLs of rows with `position`, in order of discovery.
pub(crate) fn in_order(rows: &[impl Columns]) -> Result<Vec<AdmittedUrl>, StoreError> {
    let mut urls = Vec::with_capacity(rows.len());
    for row in rows {
        urls.push((row.count("position")?, admitted_url(row)?));
    }
    urls.sort_by_key(|(position, _)| *position);
    Ok(urls.into_iter().map(|(_, admitted)| admitted).collect())
}
