//! Runs of extract and agent: jobs with one result instead of pages.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::event::Event;
use crate::job::{CreateOutcome, Idempotency, JobKind, JobStatus, NewJob};
use crate::lease::Lease;
use crate::limits;
use crate::operations::operations;

/// A stored run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunRow {
    /// Job id.
    pub id: JobId,
    /// `Extract` or `Agent`.
    pub kind: JobKind,
    /// Job status.
    pub status: JobStatus,
    /// The request as JSON text.
    pub request: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Credits charged.
    pub credits: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// When it expires; `None` while it is running.
    pub expires_at: Option<Timestamp>,
    /// Its data is deleted once the result has been delivered.
    pub zero_data_retention: bool,
    /// `origin` of the request, while its activity entry is stored.
    pub origin: Option<String>,
    /// `integration` of the request, likewise.
    pub integration: Option<String>,
    /// Its place in a thread of agents.
    pub thread: Option<ThreadPlace>,
    /// The result as JSON text; before the end and after a cancellation, the last one of [`RunStep::result`]. `None` in
    /// lists.
    pub result: Option<String>,
}

/// The place of an agent in its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadPlace {
    /// Id of the thread: that of its first run.
    pub thread: Uuid,
    /// Number of the run in the thread, from 1.
    pub turn: u64,
}

impl ThreadPlace {
    /// Returns the place of the first run of a thread; `None` with zero data retention.
    pub(crate) fn first(job: &NewJob) -> Option<Self> {
        (!job.zero_data_retention).then_some(Self {
            thread: job.id.0,
            turn: 1,
        })
    }

    /// Returns the place after `runs` runs, of which `stored` have not expired and `running` have not ended.
    pub(crate) fn next(thread: Uuid, runs: u64, stored: u64, running: u64) -> Result<Self, AgentOutcome> {
        match (stored, running) {
            (0, _) => Err(AgentOutcome::NoThread),
            (_, 1..) => Err(AgentOutcome::ThreadBusy),
            _ if runs >= limits::THREAD_RUNS => Err(AgentOutcome::ThreadFull(limits::THREAD_RUNS)),
            _ => Ok(Self {
                thread,
                turn: runs + 1,
            }),
        }
    }

    pub(crate) fn of(thread: Option<Uuid>, turn: Option<u64>) -> Option<Self> {
        let (thread, turn) = thread.zip(turn)?;
        Some(Self { thread, turn })
    }
}

/// Result of creating an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentOutcome {
    /// The result of creating its job.
    Job(CreateOutcome),
    /// The team has no such thread, or all of its runs have expired.
    NoThread,
    /// A run of the thread is in progress.
    ThreadBusy,
    /// The thread has the maximum number of runs.
    ThreadFull(u64),
}

impl AgentOutcome {
    pub(crate) const CREATED: Self = Self::Job(CreateOutcome::Created);
}

/// What a run did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunStep {
    /// Events of the trace.
    pub events: Vec<RunEvent>,
    /// The result so far, as JSON text; `None` to keep the previous one.
    pub result: Option<String>,
    /// `data` of a webhook event for an action, as JSON text.
    pub action: Option<String>,
}

/// Event of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunEvent {
    /// Number of the event in its run.
    pub number: u64,
    /// The event as JSON text.
    pub event: String,
    /// Content that the event refers to.
    pub snapshot: Option<String>,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunEnd {
    /// Why it failed; `None` when it completed.
    pub error: Option<String>,
    /// The result as JSON text.
    pub result: Option<String>,
    /// Credits, charged in the same transaction.
    pub credits: u32,
    /// `data` of the final webhook event, as JSON text.
    pub event_data: Option<String>,
}

impl RunEnd {
    /// Returns the status of the job, the number of completed pages, and the event.
    pub(crate) fn outcome(&self) -> (JobStatus, u32, Event) {
        match self.error {
            Some(_) => (JobStatus::Failed, 0, Event::Failed),
            None => (JobStatus::Completed, 1, Event::Completed),
        }
    }
}

operations! {
    /// Runs of extract and agent; [`Store::create_crawl`](crate::Store::create_crawl) creates extracts.
    trait Runs {
        /// Creates an agent like [`Store::create_crawl`](crate::Store::create_crawl), as the next run of a thread of the
        /// team, or as the first run of its own thread. With zero data retention it has no thread.
        async fn create_agent(
            &self,
            #[seal_request &] job: &NewJob,
            thread: Option<Uuid>,
            idempotency: Option<&Idempotency>,
        ) -> Result<AgentOutcome, StoreError>;

        /// Ends a run: result, ledger entry and event in one transaction. Returns false, and stores nothing, when
        /// another owner has the run or it has ended.
        async fn finish_run(&self, lease: &Lease, end: RunEnd, now: Timestamp) -> Result<bool, StoreError>;

        /// Stores what a run did. Returns false, and stores nothing, as [`Store::finish_run`](crate::Store::finish_run)
        /// does.
        async fn add_run_step(&self, lease: &Lease, step: RunStep, now: Timestamp) -> Result<bool, StoreError>;

        /// Returns the events of a run's trace in order, as JSON texts.
        async fn run_events(&self, job: JobId) -> Result<Vec<String>, StoreError>;

        /// Returns the content that an event refers to.
        async fn run_snapshot(&self, job: JobId, number: u64) -> Result<Option<String>, StoreError>;

        /// Returns an extract or agent of the team that has not expired, with its result.
        async fn run(&self, team: TeamId, id: JobId, now: Timestamp) -> Result<Option<RunRow>, StoreError>
            => open_requests;

        /// Lists the runs of a thread of the team that have not expired, oldest first, without their results.
        async fn thread(&self, team: TeamId, thread: Uuid, now: Timestamp) -> Result<Vec<RunRow>, StoreError>
            => open_requests;

        /// Lists the agents of the team that have not expired, newest first, without their results.
        async fn agents(
            &self,
            team: TeamId,
            before: Option<Timestamp>,
            limit: u32,
            now: Timestamp,
        ) -> Result<Vec<RunRow>, StoreError> => open_requests;
    }
}
