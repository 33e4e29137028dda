//! Jobs: what is stored when one is created, leased, read or cancelled.

use harvestman_core::crawl::Offer;
use harvestman_core::ids::{JobId, KeyId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::operations::operations;
use crate::value::{Value, params};

pub use harvestman_core::api::job::{JobKind, JobStatus};

/// Webhook events to which the receiver of a job subscribed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WebhookEvents {
    /// The job started.
    pub started: bool,
    /// A page was stored or failed, or an agent took an action.
    pub page: bool,
    /// The job completed.
    pub completed: bool,
    /// The job failed.
    pub failed: bool,
    /// The job was cancelled; only agents send this event.
    pub cancelled: bool,
}

impl WebhookEvents {
    /// Every event.
    pub const ALL: Self = Self {
        started: true,
        page: true,
        completed: true,
        failed: true,
        cancelled: true,
    };

    pub(crate) fn to_bits(self) -> i64 {
        i64::from(self.started)
            | i64::from(self.page) << 1
            | i64::from(self.completed) << 2
            | i64::from(self.failed) << 3
            | i64::from(self.cancelled) << 4
    }

    pub(crate) fn from_bits(bits: i64) -> Self {
        Self {
            started: bits & 1 != 0,
            page: bits & 2 != 0,
            completed: bits & 4 != 0,
            failed: bits & 8 != 0,
            cancelled: bits & 16 != 0,
        }
    }
}

/// A job to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewJob {
    /// Job id, a version 7 UUID.
    pub id: JobId,
    /// The team that owns it.
    pub team: TeamId,
    /// API key of the request; `None` in open mode.
    pub key: Option<KeyId>,
    /// Kind.
    pub kind: JobKind,
    /// Start URL, or the target shown in the activity list.
    pub url: String,
    /// The request as JSON text.
    pub request: String,
    /// Base URL of this server as the client reached it, without a trailing slash.
    pub base: String,
    /// Maximum number of pages.
    pub page_limit: u64,
    /// Subscribed webhook events; `None` without a webhook. The receiver is `webhook` of the request.
    pub webhook: Option<WebhookEvents>,
    /// `origin` of the request.
    pub origin: Option<String>,
    /// `integration` of the request.
    pub integration: Option<String>,
    /// `auditMetadata.username` of the request.
    pub username: Option<String>,
    /// Zero data retention: activity shows no target, a single scrape stores no document, and a larger job
    /// deletes each document once it is delivered.
    pub zero_data_retention: bool,
    /// How long results stay readable after the end.
    pub retention_ms: u64,
    /// Time of the request.
    pub created_at: Timestamp,
}

impl NewJob {
    /// Returns the job as created by the database's clock, which shows `now` when the clock of the node that created it
    /// shows `node_now`.
    pub(crate) fn by_database_clock(self, node_now: Timestamp, now: Timestamp) -> Self {
        let age = node_now.millis_since(self.created_at);
        Self {
            created_at: Timestamp(now.0.saturating_sub(age)),
            ..self
        }
    }

    /// Returns the values of the job row, in the order of both engines' statements. `admitted` is 1 for a single scrape,
    /// which has only its own page.
    pub(crate) fn values(&self, admitted: u32) -> Vec<Value> {
        params![
            self.id,
            self.team,
            self.key,
            self.kind.as_str(),
            &self.url,
            &self.request,
            self.page_limit,
            admitted,
            self.webhook.unwrap_or_default().to_bits(),
            i64::from(self.zero_data_retention),
            self.retention_ms,
            self.created_at,
            &self.base,
        ]
    }
}

/// An `x-idempotency-key` and the hash of the body sent with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Idempotency {
    /// The caller's key.
    pub key: String,
    /// SHA-256 of the request body.
    pub body_hash: [u8; 32],
}

/// Result of creating a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CreateOutcome {
    /// The job was created.
    Created,
    /// An identical request within the last 24 hours created this job; nothing was stored.
    Repeated(JobId),
    /// The idempotency key was used with another body; nothing was stored.
    KeyReused,
}

/// Result of adding pages to a batch scrape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddPagesOutcome {
    /// Number of pages that were new and will be fetched.
    Added(u64),
    /// An identical request within the last 24 hours created or extended this job; nothing was stored.
    Repeated(JobId),
    /// The idempotency key was used with another body; nothing was stored.
    KeyReused,
    /// The batch was cancelled; nothing can be added.
    Cancelled,
    /// The batch would exceed the maximum number of pages.
    Full,
    /// Unknown, expired, of another team, or not a batch scrape.
    NotFound,
}

/// Result of cancelling a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CancelOutcome {
    /// A job of this kind was cancelled.
    Cancelled(JobKind),
    /// The job had already ended, perhaps cancelled.
    AlreadyEnded(JobStatus),
    /// Unknown, expired or of another team.
    NotFound,
}

/// Result of continuing a crawl.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContinueOutcome {
    /// The job was created. This many known URLs wait to be fetched.
    Created(u64),
    /// The earlier crawl left no URL.
    NothingLeft,
    /// The earlier crawl knows this many URLs, more than a job can start with.
    TooManyUrls(u64),
}

/// A stored job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobRow {
    /// Job id.
    pub id: JobId,
    /// The team that owns it.
    pub team: TeamId,
    /// API key of the request; `None` in open mode.
    pub key: Option<KeyId>,
    /// Kind.
    pub kind: JobKind,
    /// Start URL.
    pub url: String,
    /// The request as JSON text.
    pub request: String,
    /// Status.
    pub status: JobStatus,
    /// Maximum number of pages.
    pub page_limit: u64,
    /// Admitted URLs; never more than `page_limit`.
    pub admitted: u64,
    /// Number of stored pages.
    pub completed: u64,
    /// Number of pages that could not be fetched.
    pub failed: u64,
    /// Credits used.
    pub credits: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// When its results are deleted; `None` while it runs.
    pub expires_at: Option<Timestamp>,
    /// How long results stay readable after the end.
    pub retention_ms: u64,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// Its documents are deleted once they are delivered.
    pub zero_data_retention: bool,
    /// Why it failed.
    pub error: Option<String>,
}

impl JobRow {
    /// Returns `total` of the status response: the number of pages of a batch scrape, or of URLs that a crawl
    /// has admitted so far.
    pub fn total(&self) -> u64 {
        match self.kind {
            JobKind::BatchScrape => self.page_limit,
            _ => self.admitted,
        }
    }

    /// Returns `expiresAt` of the status response. While the job runs that is `now` plus its retention.
    pub fn expires(&self, now: Timestamp) -> Timestamp {
        self.expires_at
            .unwrap_or(Timestamp(now.0.saturating_add(self.retention_ms)))
    }
}

/// An entry of a job's error list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobError {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// Time of the failure.
    pub at: Timestamp,
    /// The page.
    pub url: String,
    /// Machine code.
    pub code: String,
    /// Message for people.
    pub message: String,
}

/// The errors of a job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobErrors {
    /// Pages that could not be fetched, in order.
    pub errors: Vec<JobError>,
    /// URLs blocked by robots.txt, in order of discovery.
    pub robots_blocked: Vec<String>,
}

operations! {
    /// Requests that create jobs or add to them.
    trait NewJobs {
        /// Creates a batch scrape with its pages, each only once, and sets `page_limit` to their number. Creates job,
        /// shard, activity entry, `started` event and idempotency entry in one transaction.
        async fn create_batch(
            &self,
            #[seal_request &] job: &NewJob,
            pages: Vec<Offer>,
            idempotency: Option<&Idempotency>,
        ) -> Result<CreateOutcome, StoreError>;

        /// Adds pages to a batch scrape of the team; pages that it already has are skipped. A running batch
        /// admits them with its next commit. An ended one runs again: it sends another `started` event and does
        /// not expire before its new end.
        async fn add_pages(
            &self,
            team: TeamId,
            job: JobId,
            pages: Vec<Offer>,
            idempotency: Option<&Idempotency>,
            now: Timestamp,
        ) -> Result<AddPagesOutcome, StoreError>;
    }
}

operations! {
    /// Jobs: looked up and cancelled.
    trait Jobs {
        /// Returns the result of an earlier request with this idempotency key; `None` when there was none.
        async fn find_earlier_request(
            &self,
            team: TeamId,
            idempotency: &Idempotency,
            now: Timestamp,
        ) -> Result<Option<CreateOutcome>, StoreError>;

        /// Cancels a running job. Nothing is added to it afterwards.
        async fn cancel(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<CancelOutcome, StoreError>;

        /// Returns a job of the team that has not expired.
        async fn job(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<Option<JobRow>, StoreError>
            => open_requests;

        /// Lists the running crawls of a team, newest first.
        async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> => open_requests;

        /// Lists the jobs of a team that have not expired, newest first. With `search`, only those whose URL contains
        /// it, ignoring ASCII case.
        async fn recent_jobs(
            &self,
            team: TeamId,
            search: Option<&str>,
            limit: u32,
            now: Timestamp,
        ) -> Result<Vec<JobRow>, StoreError> => open_requests;
    }
}
