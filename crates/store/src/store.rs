//! [`Store`], the interface that the rest of the server uses. The engine that holds the data is chosen when
//! the store is opened; all engines behave the same.

use std::sync::Arc;

use harvestman_core::api::error::ApiError;
use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::crawl::{Batch, CommitResponse, Offer, ProcessingCounts, Snapshot};
use harvestman_core::ids::{JobId, KeyId, ScrapeId, SessionId, TeamId, WebhookId};
use harvestman_core::month::Month;
use harvestman_core::page_version::{PageVersion, VersionKey};
use harvestman_core::search::{Candidate, Query, Window};
use harvestman_core::time::Timestamp;

use crate::activity::{Activity, ActivityQuery, CallList, CallQuery};
use crate::cache::{CachedPage, KnownPage, NewCachedPage};
use crate::config::StoreConfig;
use crate::error::{CommitError, StoreError};
use crate::file::{NewFile, StoredFile};
use crate::job::{
    AddPagesOutcome, CancelOutcome, CreateOutcome, Idempotency, JobErrors, JobRow, Lease, NewJob,
};
use crate::outbox::{Attempt, AttemptEnd, DeliveryLog, DeliveryQuery, DueEvent};
use crate::page::{DocumentChunk, ScrapeResult, StoredScrape};
use crate::run::{RunEnd, RunRow};
use crate::session::{NewSession, ScrapeOrigin, SessionRow};
use crate::sqlite::Sqlite;
use crate::team::{KeyFingerprint, KeyRow, MonthUsage, Principal, RevokeOutcome, TeamQueue, TeamRow};

/// The durable state of the server. Cheap to clone. Methods that take a [`JobId`] without a team expect that
/// the caller has checked with [`Store::job`] that the team owns the job.
#[derive(Clone, Debug)]
pub struct Store {
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Sqlite(Arc<Sqlite>),
}

macro_rules! on_engine {
    ($store:expr, $engine:ident => $call:expr) => {
        match &$store.engine {
            Engine::Sqlite($engine) => $call,
        }
    };
}

impl Store {
    /// Opens the database in a data folder, and creates or upgrades it when needed. Afterwards, shards of a
    /// stopped server can be leased at once, and its browser sessions are ended at their last use.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`], [`StoreError::Damaged`] (the file is left untouched),
    /// [`StoreError::NewerSchema`], [`StoreError::ForeignFile`].
    pub async fn open(config: &StoreConfig) -> Result<Store, StoreError> {
        let sqlite = Sqlite::open(config).await?;
        Ok(Self {
            engine: Engine::Sqlite(Arc::new(sqlite)),
        })
    }

    /// Finishes queued writes and closes the database. Later calls return [`StoreError::Closed`].
    pub async fn close(&self) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.close().await)
    }

    /// Checks that the database can be read and, after a failed write, written.
    pub async fn ping(&self) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.ping().await)
    }

    // Teams and keys

    /// Returns the team with this name; creates it when missing.
    pub async fn ensure_team(&self, name: &str) -> Result<TeamId, StoreError> {
        on_engine!(self, engine => engine.ensure_team(name).await)
    }

    /// Lists all teams, sorted by name.
    pub async fn teams(&self) -> Result<Vec<TeamRow>, StoreError> {
        on_engine!(self, engine => engine.teams().await)
    }

    /// Sets or removes the plan of a team. Returns `None` when there is no team with this name.
    pub async fn set_plan(&self, name: &str, plan: Option<&str>) -> Result<Option<TeamId>, StoreError> {
        on_engine!(self, engine => engine.set_plan(name, plan).await)
    }

    /// Returns the team's own webhook secret.
    pub async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> {
        on_engine!(self, engine => engine.webhook_secret(team).await)
    }

    /// Replaces the webhook secret of a team.
    pub async fn set_webhook_secret(&self, team: TeamId, secret: &str) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.set_webhook_secret(team, secret).await)
    }

    /// Stores the fingerprint of a key. A known hash keeps its id and stays revoked if it was; its team, name
    /// and hint are replaced.
    pub async fn add_key(
        &self,
        team: TeamId,
        name: &str,
        key: impl Into<KeyFingerprint>,
        now: Timestamp,
    ) -> Result<KeyId, StoreError> {
        on_engine!(self, engine => engine.add_key(team, name, key.into(), now).await)
    }

    /// Returns the owner of the key with this SHA-256. Updates its `last_used_at` at most once a minute.
    pub async fn principal(&self, key_hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
        on_engine!(self, engine => engine.principal(key_hash).await)
    }

    /// Returns whether there is a key that is not revoked.
    pub async fn has_keys(&self) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.has_keys().await)
    }

    /// Lists the keys of a team, or of all teams, oldest first, including revoked ones.
    pub async fn keys(&self, team: Option<TeamId>) -> Result<Vec<KeyRow>, StoreError> {
        on_engine!(self, engine => engine.keys(team).await)
    }

    /// Revokes a key permanently. With a team, only a key of that team, and never its last one.
    pub async fn revoke_key(
        &self,
        team: Option<TeamId>,
        key: KeyId,
        now: Timestamp,
    ) -> Result<RevokeOutcome, StoreError> {
        on_engine!(self, engine => engine.revoke_key(team, key, now).await)
    }

    // Jobs and their owners

    /// Creates a crawl, an extract or an agent: job, shard, activity entry, `started` event and idempotency
    /// entry, in one transaction.
    pub async fn create_crawl(
        &self,
        job: &NewJob,
        idempotency: Option<&Idempotency>,
    ) -> Result<CreateOutcome, StoreError> {
        on_engine!(self, engine => engine.create_job(job, Vec::new(), idempotency).await)
    }

    /// Creates a batch scrape with its pages, each of them once. Sets `page_limit` to the number of pages.
    pub async fn create_batch(
        &self,
        job: &NewJob,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
    ) -> Result<CreateOutcome, StoreError> {
        on_engine!(self, engine => engine.create_job(job, pages, idempotency).await)
    }

    /// Adds pages to a batch scrape of the team; pages that it already has are skipped. A running batch
    /// admits them with its next commit. An ended one runs again: it sends another `started` event and does
    /// not expire before its new end.
    pub async fn add_pages(
        &self,
        team: TeamId,
        job: JobId,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
        now: Timestamp,
    ) -> Result<AddPagesOutcome, StoreError> {
        on_engine!(self, engine => engine.add_pages(team, job, pages, idempotency, now).await)
    }

    /// Returns the result of an earlier request with this idempotency key; `None` when there was none.
    pub async fn find_earlier_request(
        &self,
        team: TeamId,
        idempotency: &Idempotency,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        on_engine!(self, engine => engine.find_earlier_request(team, idempotency, now).await)
    }

    /// Leases up to `limit` free shards of running jobs for `lease_ms`, oldest jobs first.
    pub async fn lease(
        &self,
        node: &str,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> Result<Vec<Lease>, StoreError> {
        on_engine!(self, engine => engine.lease(node, now, lease_ms, limit).await)
    }

    /// Extends a lease. False when another owner has the shard or the job has ended: drop the shard.
    pub async fn renew(&self, lease: &Lease, now: Timestamp, lease_ms: u64) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.renew(lease, now, lease_ms).await)
    }

    /// Reads the state that a new owner of a shard continues from.
    pub async fn load(&self, lease: &Lease) -> Result<Snapshot, StoreError> {
        on_engine!(self, engine => engine.load(lease).await)
    }

    /// Commits a batch and renews the lease; see [`Batch`] for its meaning. Batches of several jobs that wait
    /// at the same time share one transaction.
    pub async fn commit(
        &self,
        lease: &Lease,
        batch: &Batch,
        now: Timestamp,
        lease_ms: u64,
    ) -> Result<CommitResponse, CommitError> {
        on_engine!(self, engine => engine.commit(lease, batch, now, lease_ms).await)
    }

    /// Releases a shard, so that another owner can lease it at once.
    pub async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.release(lease).await)
    }

    /// Cancels a running job. Nothing is added to it afterwards.
    pub async fn cancel(
        &self,
        team: TeamId,
        job: JobId,
        now: Timestamp,
    ) -> Result<CancelOutcome, StoreError> {
        on_engine!(self, engine => engine.cancel(team, job, now).await)
    }

    // Reading jobs

    /// Returns a job of the team that has not expired.
    pub async fn job(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<Option<JobRow>, StoreError> {
        on_engine!(self, engine => engine.job(team, job, now).await)
    }

    /// Returns documents after the first `skip`, in order of completion: at most `limit`, and at most
    /// `max_bytes` of JSON text with separators, but always at least one.
    pub async fn documents(
        &self,
        job: JobId,
        skip: u64,
        limit: Option<u64>,
        max_bytes: usize,
    ) -> Result<DocumentChunk, StoreError> {
        on_engine!(self, engine => engine.documents(job, skip, limit, max_bytes).await)
    }

    /// Returns for each of the first `limit` pages, in order of completion, the index (from 0, in the same
    /// list) of the page with the first link to it. `None` when no link led there, or the linking page is not
    /// in the list. Empty with zero data retention.
    pub async fn found_on(&self, job: JobId, limit: u64) -> Result<Vec<Option<u32>>, StoreError> {
        on_engine!(self, engine => engine.found_on(job, limit).await)
    }

    /// Records that the documents after the first `skip`, up to and including number `upto`, reached their
    /// caller. With zero data retention, those that no pending webhook event needs are deleted.
    pub async fn delete_delivered(&self, job: JobId, skip: u64, upto: u64) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.delete_delivered(job, skip, upto).await)
    }

    /// Returns the errors of a job.
    pub async fn errors(&self, job: JobId) -> Result<JobErrors, StoreError> {
        on_engine!(self, engine => engine.errors(job).await)
    }

    /// Returns how many pages of a job used the browser, waited or were retried.
    pub async fn pace_counts(&self, job: JobId) -> Result<ProcessingCounts, StoreError> {
        on_engine!(self, engine => engine.pace_counts(job).await)
    }

    /// Lists the running crawls of a team, newest first.
    pub async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> {
        on_engine!(self, engine => engine.active(team).await)
    }

    /// Lists the jobs of a team that have not expired, newest first.
    pub async fn recent_jobs(
        &self,
        team: TeamId,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<JobRow>, StoreError> {
        on_engine!(self, engine => engine.recent_jobs(team, limit, now).await)
    }

    // Runs of extract and agent; `create_crawl` creates them

    /// Ends a run: result, ledger entry and event in one transaction. Returns false, and stores nothing, when
    /// another owner has the run or it has ended.
    pub async fn finish_run(&self, lease: &Lease, end: RunEnd, now: Timestamp) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.finish_run(lease, end, now).await)
    }

    /// Adds an event for an action of a run; `data` is JSON text. Returns false as [`Store::finish_run`]
    /// does.
    pub async fn add_action(&self, lease: &Lease, data: String, now: Timestamp) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.add_action(lease, data, now).await)
    }

    /// Returns an extract or agent of the team that has not expired, with its result.
    pub async fn run(&self, team: TeamId, id: JobId, now: Timestamp) -> Result<Option<RunRow>, StoreError> {
        on_engine!(self, engine => engine.run(team, id, now).await)
    }

    /// Lists the agents of the team that have not expired, newest first, without their results.
    pub async fn agents(
        &self,
        team: TeamId,
        before: Option<Timestamp>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<RunRow>, StoreError> {
        on_engine!(self, engine => engine.agents(team, before, limit, now).await)
    }

    // Single scrapes

    /// Creates a running scrape and its activity entry. The job id is the scrape id.
    pub async fn begin_scrape(&self, job: &NewJob) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.begin_scrape(job).await)
    }

    /// Ends a scrape with its document and ledger entry, or with its error. Only the first end counts.
    pub async fn finish_scrape(
        &self,
        job: JobId,
        result: ScrapeResult<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.finish_scrape(job, result, now).await)
    }

    /// Returns a scrape of the team, or a page of one of its jobs, by scrape id. `None` when it is unknown,
    /// expired, of another team, or without data retention.
    pub async fn scrape(
        &self,
        team: TeamId,
        id: ScrapeId,
        now: Timestamp,
    ) -> Result<Option<StoredScrape>, StoreError> {
        on_engine!(self, engine => engine.scrape(team, id, now).await)
    }

    /// Returns the last version of a page, for `changeTracking`.
    pub async fn page_version(
        &self,
        team: TeamId,
        key: &VersionKey,
    ) -> Result<Option<PageVersion>, StoreError> {
        on_engine!(self, engine => engine.page_version(team, key).await)
    }

    /// Stores files for callers.
    pub async fn store_files(&self, files: Vec<NewFile>) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.store_files(files).await)
    }

    /// Returns the file with this token, until it expires.
    pub async fn file(&self, token: &str, now: Timestamp) -> Result<Option<StoredFile>, StoreError> {
        on_engine!(self, engine => engine.file(token, now).await)
    }

    // The page cache

    /// Caches a response, replacing an older one; drops it if it is too large or there is no space.
    pub async fn cache_page(&self, page: NewCachedPage, body: impl AsRef<[u8]> + Send + 'static) {
        on_engine!(self, engine => engine.cache_page(page, body).await)
    }

    /// Returns a cached response whose age is in this range.
    pub async fn cached_page(
        &self,
        team: TeamId,
        key: CacheKey,
        ages: Ages,
        now: Timestamp,
    ) -> Result<Option<CachedPage>, StoreError> {
        on_engine!(self, engine => engine.cached_page(team, key, ages, now).await)
    }

    /// Lists pages of a site that the team has in the cache, earliest cached first.
    pub async fn known_pages(
        &self,
        team: TeamId,
        site: &str,
        limit: usize,
    ) -> Result<Vec<KnownPage>, StoreError> {
        on_engine!(self, engine => engine.known_pages(team, site, limit).await)
    }

    /// Searches the cached pages of the team: returns the `limit` pages from `window` whose words fit the
    /// query best, in no particular order.
    pub async fn search_pages(
        &self,
        team: TeamId,
        query: &Query,
        hosts: &[&str],
        window: &Window,
        limit: u32,
    ) -> Result<Vec<Candidate>, StoreError> {
        on_engine!(self, engine => engine.search_pages(team, query, hosts, window, limit).await)
    }

    /// Returns the cached response of a search result.
    pub async fn cached_page_by_id(&self, team: TeamId, id: i64) -> Result<Option<CachedPage>, StoreError> {
        on_engine!(self, engine => engine.cached_page_by_id(team, id).await)
    }

    // Requests without a job

    /// Records a request that is answered at once: its activity entry and, unless it is free, its ledger
    /// entry, from the fields of `call`. `end` is the price in credits, or the error.
    pub async fn record_call(
        &self,
        call: &NewJob,
        end: Result<u32, &ApiError>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.record_call(call, end, now).await)
    }

    // Browser sessions and profiles

    /// Returns what is needed to repeat a scrape or a page of any team. `None` when unknown or deleted.
    pub async fn scrape_origin(&self, id: ScrapeId) -> Result<Option<ScrapeOrigin>, StoreError> {
        on_engine!(self, engine => engine.scrape_origin(id).await)
    }

    /// Creates a live session and its activity entry.
    pub async fn begin_session(&self, session: &NewSession) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.begin_session(session).await)
    }

    /// Binds a live session to a scrape. Returns false when it continues another scrape or has ended.
    pub async fn bind_session(&self, id: SessionId, scrape: ScrapeId) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.bind_session(id, scrape).await)
    }

    /// Updates the last use of live sessions.
    pub async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.touch_sessions(uses).await)
    }

    /// Ends a session at `at`, or when its lifetime ends if that is earlier, and charges it in the same
    /// transaction. Only the first call ends it; later ones return `None`.
    pub async fn end_session(
        &self,
        id: SessionId,
        last_activity: Timestamp,
        at: Timestamp,
    ) -> Result<Option<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.end_session(id, last_activity, at).await)
    }

    /// Returns a session of any team; `None` from a day after its end.
    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.session(id).await)
    }

    /// Returns the session of any team that continues this scrape.
    pub async fn session_of(&self, scrape: ScrapeId) -> Result<Option<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.session_of(scrape).await)
    }

    /// Lists the sessions of a team that began within the last day, newest first. `live` selects those that
    /// are live or those that have ended.
    pub async fn sessions(
        &self,
        team: TeamId,
        live: Option<bool>,
        now: Timestamp,
    ) -> Result<Vec<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.sessions(team, live, now).await)
    }

    /// Returns the last saved state of a browser profile.
    pub async fn profile(&self, team: TeamId, name: &str) -> Result<Option<String>, StoreError> {
        on_engine!(self, engine => engine.profile(team, name).await)
    }

    /// Saves the state of a browser profile, replacing the older one.
    pub async fn save_profile(
        &self,
        team: TeamId,
        name: String,
        state: String,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.save_profile(team, name, state, now).await)
    }

    // Webhook events

    /// Leases up to `limit` jobs with a due event for `lease_ms`. No other call gets them in that time, so
    /// that the events of a job are attempted one at a time.
    pub async fn lease_receivers(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> Result<Vec<JobId>, StoreError> {
        on_engine!(self, engine => engine.lease_receivers(now, lease_ms, limit).await)
    }

    /// Releases a leased job early.
    pub async fn release_receiver(&self, job: JobId, now: Timestamp) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.release_receiver(job, now).await)
    }

    /// Returns when [`Store::lease_receivers`] will next have a job to lease, unless an attempt ends or an
    /// event happens earlier.
    pub async fn next_event_at(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        on_engine!(self, engine => engine.next_event_at(now).await)
    }

    /// Returns the event of a leased job that is due first. First attempts come in the order of events.
    pub async fn due_event(&self, job: JobId, now: Timestamp) -> Result<Option<DueEvent>, StoreError> {
        on_engine!(self, engine => engine.due_event(job, now).await)
    }

    /// Stores the result of an attempt in the delivery log, and extends the lease of the job to
    /// `lease_until`. Returns false, and stores nothing, when another deliverer has meanwhile finished or
    /// attempted the event.
    pub async fn finish_attempt(
        &self,
        event: &DueEvent,
        attempt: &Attempt,
        end: AttemptEnd,
        lease_until: Timestamp,
    ) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.finish_attempt(event, attempt, end, lease_until).await)
    }

    /// Makes an event due again, even if delivered or given up. Returns false when the team has no such
    /// event.
    pub async fn resend_event(
        &self,
        team: TeamId,
        job: JobId,
        event: WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.resend_event(team, job, event, now).await)
    }

    /// Returns the delivery log of a job of the team; empty for a job of another team.
    pub async fn delivery_log(
        &self,
        team: TeamId,
        job: JobId,
        page: &DeliveryQuery,
    ) -> Result<DeliveryLog, StoreError> {
        on_engine!(self, engine => engine.delivery_log(team, job, page).await)
    }

    // Usage and activity

    /// Returns the sum of all ledger entries of a team, in credits. Reads the whole ledger, to check the
    /// sums.
    pub async fn ledger_total(&self, team: TeamId) -> Result<u64, StoreError> {
        on_engine!(self, engine => engine.ledger_total(team).await)
    }

    /// Returns the credits that a team used in a month.
    pub async fn credits_in_month(&self, team: TeamId, month: Month) -> Result<u64, StoreError> {
        on_engine!(self, engine => engine.credits_in_month(team, month).await)
    }

    /// Returns the credits of a team per month and key, oldest month first.
    pub async fn month_usage(&self, team: TeamId) -> Result<Vec<MonthUsage>, StoreError> {
        on_engine!(self, engine => engine.month_usage(team).await)
    }

    /// Lists the activity of a team, newest first.
    pub async fn activity(&self, team: TeamId, query: &ActivityQuery) -> Result<Vec<Activity>, StoreError> {
        on_engine!(self, engine => engine.activity(team, query).await)
    }

    /// Lists the activity of a team with keys and outcomes, optionally filtered by them.
    pub async fn calls(&self, team: TeamId, query: &CallQuery) -> Result<CallList, StoreError> {
        on_engine!(self, engine => engine.calls(team, query).await)
    }

    /// Returns the pending pages of a team, and its last success.
    pub async fn queue(&self, team: TeamId) -> Result<TeamQueue, StoreError> {
        on_engine!(self, engine => engine.queue(team).await)
    }

    // Expiry

    /// Deletes what has expired at `now`, in a bounded number of small transactions. Returns the number of
    /// deleted jobs; call again until it is 0.
    pub async fn expire(&self, now: Timestamp) -> Result<u64, StoreError> {
        on_engine!(self, engine => engine.expire(now).await)
    }
}
