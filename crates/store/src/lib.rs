//! Persistence: jobs, pages, credits, keys and the webhook outbox, on embedded SQLite. Start with [`Store`].
//!
//! The store is the journal of every job and decides its shared state. A node leases a shard of a job,
//! decides in memory, and reports the results as [`Batch`](harvestman_core::crawl::Batch)es. Each batch is
//! committed once, in one transaction, or not at all. Only the store decides which URLs are admitted, which
//! number a page gets, and when a job has ended.
//!
//! Invariants, also after `kill -9` at any instant: a job never admits more URLs than its limit; pages are
//! numbered 1, 2, 3 ... without a gap; a page and its ledger entry are written together; no URL of a job is
//! stored twice; a former owner of a shard cannot change anything.
//!
//! This is the only crate that speaks SQL. It never fetches, never renders, and never stores an API key in
//! clear text.

mod activity;
mod cache;
mod config;
mod error;
mod file;
mod job;
mod limits;
mod new_id;
mod outbox;
mod page;
mod prepared;
mod run;
mod session;
mod sqlite;
mod store;
mod team;

pub use activity::{Activity, ActivityQuery, Call, CallList, CallQuery};
pub use cache::{CachedPage, KnownPage, NewCachedPage};
pub use config::{DATABASE_FILE, StoreConfig};
pub use error::{CommitError, RepeatedCommit, StoreError};
pub use file::{NewFile, StoredFile};
pub use job::{
    AddPagesOutcome, CancelOutcome, CreateOutcome, Idempotency, JobError, JobErrors, JobKind, JobRow,
    JobStatus, Lease, NewJob, WebhookEvents,
};
pub use new_id::new_id;
pub use outbox::{Attempt, AttemptEnd, Delivery, DeliveryLog, DeliveryQuery, DueEvent, EventSubject};
pub use page::{DocumentChunk, ScrapeResult, StoredScrape};
pub use run::{RunEnd, RunRow};
pub use session::{NewSession, OriginState, ScrapeOrigin, SessionEnd, SessionRow};
pub use store::Store;
pub use team::{KeyFingerprint, KeyRow, MonthUsage, Principal, RevokeOutcome, TeamQueue, TeamRow};
