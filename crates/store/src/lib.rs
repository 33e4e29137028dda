//! Persistence: jobs, pages, credits, keys and the webhook outbox, on embedded SQLite or on PostgreSQL. Start with
//! [`Store`].
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

#[cfg(all(feature = "no-fence", not(debug_assertions)))]
compile_error!("`no-fence` is for `cargo xtask faults`, never for a release");

mod account;
mod activity;
mod cache;
mod cell;
mod cipher;
mod clock;
mod columns;
mod commit;
mod config;
mod continuation;
mod copy;
mod encryption;
mod error;
mod event;
mod feedback;
mod file;
mod health;
mod idempotency;
mod job;
mod key_uses;
mod lease;
mod lifecycle;
mod limits;
mod monitor;
mod new_id;
mod opening;
mod operations;
mod outbox;
mod page;
mod postgres;
mod prepared;
mod rows;
mod run;
mod scrape;
mod secret_key;
mod secrets;
mod session;
mod session_file;
mod share;
mod signal;
mod sql;
mod sqlite;
mod store;
mod team;
mod upload;
mod usage;
mod value;

pub use activity::{Activity, ActivityQuery, Call, CallList, CallQuery, RunningJobs, TeamQueue};
pub use cache::{CachedPage, KnownPage, NewCachedPage, UnindexedPage};
pub use config::{DATABASE_FILE, DatabaseUrl, KEY_FILE, NodeReport, SecretKey, StoreConfig};
pub use copy::copy_to_postgres;
pub use encryption::{DiscardedSecrets, KeyState, SecretKind};
pub use error::{CommitError, StoreError};
pub use feedback::{FeedbackOutcome, FeedbackRow, NewFeedback};
pub use file::{NewFile, StoredFile};
pub use job::{
    AddPagesOutcome, CancelOutcome, ContinueOutcome, CreateOutcome, Idempotency, JobError, JobErrors,
    JobKind, JobRow, JobStatus, NewJob, WebhookEvents,
};
pub use lease::{DueWork, Lease, LeaseRoom};
pub use monitor::{
    CheckEnd, CheckLease, CheckPageChunk, CheckPortion, CheckRow, DueMonitor, MonitorRow, MonitorUpdate,
    NewCheck, NewCheckPage, NewMonitor, StartOutcome,
};
pub use new_id::new_id;
pub use outbox::{AttemptEnd, Delivery, DeliveryLog, DeliveryQuery, DueEvent, EventSubject};
pub use page::{DocumentChunk, PageFacts};
pub use postgres::{SharedLimits, postgres_versions};
pub use prepared::blocking;
pub use run::{AgentOutcome, RunEnd, RunEvent, RunRow, RunStep, ThreadPlace};
pub use scrape::{OriginState, ScrapeOrigin, ScrapeResult, StoredScrape};
pub use secrets::discarded_parts;
pub use session::{NewSession, SessionEnd, SessionRow};
pub use session_file::{NewSessionFile, SessionFileRow};
pub use share::{Demand, Holding, RateGrant};
pub use signal::{JobSignal, NodeRow};
pub use sqlite::backup::{backup, restore, schema_version};
pub use sqlite::folder::create_private;
pub(crate) use store::Engine;
pub use store::Store;
pub use team::{KeyFingerprint, KeyRow, Principal, RevokeOutcome, TeamRow};
pub use upload::{NewUpload, StoredUpload, UploadState, UploadUse};
pub use usage::{DayUsage, MonthUsage};
