//! A stored run and what is known about it.

use harvestman_core::ids::{JobId, KeyId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$item_doc:meta])* $item:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$item_doc])* $item,)*
        }

        impl $name {
            /// The word as stored and on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$item => $word,)* }
            }

            /// Reads back what `as_str` gave.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$item),)* _ => None }
            }
        }
    };
}

words! {
    /// What a job does; also its `endpoint` in activity and ledger.
    JobKind {
        /// One page.
        Scrape = "scrape",
        /// Many pages by links.
        Crawl = "crawl",
        /// Given pages.
        BatchScrape = "batch_scrape",
        /// URLs only.
        Map = "map",
        /// Results of a web search.
        Search = "search",
        /// Data from pages by a model.
        Extract = "extract",
        /// Data from the web by a model.
        Agent = "agent",
        /// The live browser of a scraped page.
        Interact = "interact",
        /// A live browser of its own.
        Browser = "browser",
    }
}

words! {
    /// Where a job stands. All but `Scraping` are final.
    JobStatus {
        /// Running.
        Scraping = "scraping",
        /// Everything admitted is settled.
        Completed = "completed",
        /// Nothing could be done.
        Failed = "failed",
        /// Ended by the caller.
        Cancelled = "cancelled",
    }
}

/// Webhook events that a job owes its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WebhookEvents {
    /// The job began.
    pub started: bool,
    /// A page is there, or failed; an agent did something.
    pub page: bool,
    /// The job completed.
    pub completed: bool,
    /// The job failed.
    pub failed: bool,
    /// The caller ended it; only agents tell so.
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

/// A job to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewJob {
    /// Its id, version 7.
    pub id: JobId,
    /// Owner.
    pub team: TeamId,
    /// Key that asked; `None` in open mode.
    pub key: Option<KeyId>,
    /// What it does.
    pub kind: JobKind,
    /// Start URL, or what activity shows as target.
    pub url: String,
    /// The request as JSON text.
    pub request: String,
    /// Address of this server as the caller knows it, without a trailing slash.
    pub base: String,
    /// Pages at most.
    pub page_limit: u64,
    /// Subscribed webhook events; `None` without a webhook. Their receiver is `webhook` of the request.
    pub webhook: Option<WebhookEvents>,
    /// `origin` of the request.
    pub origin: Option<String>,
    /// `integration` of the request.
    pub integration: Option<String>,
    /// Activity shows no target, a single scrape keeps no document, a larger job none that was
    /// delivered.
    pub zero_data_retention: bool,
    /// How long results stay readable after the end.
    pub retention_ms: u64,
    /// Now.
    pub created_at: Timestamp,
}

/// An `x-idempotency-key` and the hash of the body it came with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Idempotency {
    /// The caller's key.
    pub key: String,
    /// SHA-256 of the request body.
    pub body_hash: [u8; 32],
}

/// Answer to the creation of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    /// The job is stored.
    Created,
    /// The same request came within 24 hours and made this job; nothing was stored.
    Same(JobId),
    /// The idempotency key came with another body; nothing was stored.
    Reused,
}

/// Answer to the adding of pages to a batch scrape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Added {
    /// So many pages were new, and are fetched.
    Pages(u64),
    /// The same request came within 24 hours and made or extended this job; nothing was stored.
    Same(JobId),
    /// The idempotency key came with another body; nothing was stored.
    Reused,
    /// The batch was cancelled and takes nothing more.
    Cancelled,
    /// The batch would have more pages than one may have.
    Full,
    /// Unknown, expired, another team's or no batch scrape.
    NotFound,
}

/// Answer to a cancel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancel {
    /// The job is cancelled, now or before.
    Cancelled,
    /// Completed or failed before.
    AlreadyEnded(JobStatus),
    /// Unknown, expired or another team's.
    NotFound,
}

/// The right to run a shard of a job until another owner takes it (a higher epoch).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// Its team.
    pub team: TeamId,
    /// Key that asked.
    pub key: Option<KeyId>,
    /// What the job does.
    pub kind: JobKind,
    /// Start URL.
    pub url: String,
    /// The request as JSON text.
    pub request: String,
    /// Address of this server as the caller knows it, without a trailing slash.
    pub base: String,
    /// Pages at most.
    pub page_limit: u64,
    /// Number of the shard within the job.
    pub shard: u32,
    /// Fence: grows with each owner.
    pub epoch: u64,
    /// When the lease ends unless renewed.
    pub until: Timestamp,
    /// When the job was made.
    pub created_at: Timestamp,
}

/// A job as its status is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobRow {
    /// Its id.
    pub id: JobId,
    /// Owner.
    pub team: TeamId,
    /// Key that asked.
    pub key: Option<KeyId>,
    /// What it does.
    pub kind: JobKind,
    /// Start URL.
    pub url: String,
    /// The request as JSON text.
    pub request: String,
    /// Where it stands.
    pub status: JobStatus,
    /// Pages at most.
    pub page_limit: u64,
    /// Places taken. Never above the limit.
    pub admitted: u64,
    /// Pages stored.
    pub completed: u64,
    /// Pages that could not be fetched.
    pub failed: u64,
    /// Credits used.
    pub credits: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// When its results go; `None` while it runs.
    pub expires_at: Option<Timestamp>,
    /// How long results stay readable after the end.
    pub retention_ms: u64,
    /// Sentences for the caller.
    pub warnings: Vec<String>,
    /// Its documents go once they are delivered.
    pub zero_data_retention: bool,
    /// Why it failed.
    pub error: Option<String>,
}

impl JobRow {
    /// `total` of the status answer: the pages of a batch scrape, the places that a crawl took so far.
    pub fn total(&self) -> u64 {
        match self.kind {
            JobKind::BatchScrape => self.page_limit,
            _ => self.admitted,
        }
    }

    /// `expiresAt` of the status answer: while the job runs, its retention from `now` on.
    pub fn expires(&self, now: Timestamp) -> Timestamp {
        self.expires_at
            .unwrap_or(Timestamp(now.0.saturating_add(self.retention_ms)))
    }
}

/// An entry of a job's error list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobEntry {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// When.
    pub at: Timestamp,
    /// The page.
    pub url: String,
    /// Machine code.
    pub code: String,
    /// Human sentence.
    pub message: String,
}

/// What went wrong in a job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobErrors {
    /// Pages without a document, in order.
    pub errors: Vec<JobEntry>,
    /// URLs refused by robots.txt, in order of discovery.
    pub robots_blocked: Vec<String>,
}
