//! Persistence: jobs, pages, credits, keys and owed webhooks, durable on embedded SQLite.
//!
//! The store is journal, judge and hand-over of every job. A node leases a shard of a job, decides
//! in memory, and writes what happened as [`Batch`](harvestman_core::crawl::Batch)es: each is
//! committed in one transaction, once, or not at all. The store alone decides which URLs are
//! admitted, which number a page gets and when a job has ended.
//!
//! Invariants, kept under `kill -9` at any instant: a job never has more places taken than its
//! limit; pages are numbered 1, 2, 3 ... without a gap; a page and its ledger entry are written
//! together; no URL of a job is stored twice; a former owner of a shard changes nothing.
//!
//! This crate is the only one that speaks SQL. It never fetches, never renders, and never keeps a
//! key in the clear.

mod activity;
mod cache;
mod config;
mod error;
mod file;
mod fresh_id;
mod job;
mod limits;
mod outbox;
mod page;
mod prepared;
mod run;
mod session;
mod sqlite;
mod store;
mod team;

pub use activity::{Activity, ActivityQuery, Call, CallQuery, Calls};
pub use cache::{CachedPage, KnownPage, NewCachedPage};
pub use config::{DATABASE_FILE, StoreConfig};
pub use error::{CommitError, Repeated, StoreError};
pub use file::{NewFile, StoredFile};
pub use fresh_id::fresh_id;
pub use job::{
    Added, Cancel, Created, Idempotency, JobEntry, JobErrors, JobKind, JobRow, JobStatus, Lease, NewJob,
    WebhookEvents,
};
pub use outbox::{Attempt, AttemptEnd, Delivery, DeliveryLog, DeliveryQuery, DueEvent, EventSubject};
pub use page::{DocumentChunk, ScrapeResult, StoredScrape};
pub use run::{RunEnd, RunRow};
pub use session::{NewSession, OriginState, ScrapeOrigin, SessionEnd, SessionRow};
pub use store::Store;
pub use team::{KeyPrint, KeyRow, MonthUsage, Principal, Queue, Revoked, TeamRow};
