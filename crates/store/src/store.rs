//! The store as the rest of the server sees it. Which engine holds the data is decided at opening;
//! every engine answers the same questions in the same words.

use std::sync::Arc;

use harvestman_core::api::error::ApiError;
use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::crawl::{Batch, Committed, Offer, PaceCounts, Snapshot};
use harvestman_core::ids::{JobId, KeyId, ScrapeId, SessionId, TeamId, WebhookId};
use harvestman_core::month::Month;
use harvestman_core::page_version::{PageVersion, VersionKey};
use harvestman_core::search::{Candidate, Query, Window};
use harvestman_core::time::Timestamp;

use crate::activity::{Activity, ActivityQuery, CallQuery, Calls};
use crate::cache::{CachedPage, KnownPage, NewCachedPage};
use crate::config::StoreConfig;
use crate::error::{CommitError, StoreError};
use crate::file::{NewFile, StoredFile};
use crate::job::{Added, Cancel, Created, Idempotency, JobErrors, JobRow, Lease, NewJob};
use crate::outbox::{Attempt, AttemptEnd, DeliveryLog, DeliveryQuery, DueEvent};
use crate::page::{DocumentChunk, ScrapeResult, StoredScrape};
use crate::run::{RunEnd, RunRow};
use crate::session::{NewSession, ScrapeOrigin, SessionRow};
use crate::sqlite::Sqlite;
use crate::team::{KeyPrint, KeyRow, MonthUsage, Principal, Queue, Revoked, TeamRow};

/// The durable state of everything. Cheap to clone.
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
    /// Opens the database of a data folder, making or upgrading it when needed. Refuses when
    /// another server uses the folder, when the file is damaged (it is left untouched), newer, or
    /// not ours. After this, shards of a stopped server can be leased at once, and its browser
    /// sessions have ended when they were last used.
    pub async fn open(config: &StoreConfig) -> Result<Store, StoreError> {
        let sqlite = Sqlite::open(config).await?;
        Ok(Self {
            engine: Engine::Sqlite(Arc::new(sqlite)),
        })
    }

    /// Finishes what is queued and closes the database. Afterwards every call answers
    /// [`StoreError::Closed`].
    pub async fn close(&self) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.close().await)
    }

    /// Whether the database reads and writes.
    pub async fn ping(&self) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.ping().await)
    }

    // Teams and keys

    /// The team of this name, made when missing.
    pub async fn ensure_team(&self, name: &str) -> Result<TeamId, StoreError> {
        on_engine!(self, engine => engine.ensure_team(name).await)
    }

    /// Every team, by name.
    pub async fn teams(&self) -> Result<Vec<TeamRow>, StoreError> {
        on_engine!(self, engine => engine.teams().await)
    }

    /// Gives a team a plan, or takes it away; the team, unless there is none of this name.
    pub async fn set_plan(&self, name: &str, plan: Option<&str>) -> Result<Option<TeamId>, StoreError> {
        on_engine!(self, engine => engine.set_plan(name, plan).await)
    }

    /// The team's own secret for webhooks.
    pub async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> {
        on_engine!(self, engine => engine.webhook_secret(team).await)
    }

    /// Gives a team another secret for webhooks.
    pub async fn set_webhook_secret(&self, team: TeamId, secret: &str) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.set_webhook_secret(team, secret).await)
    }

    /// Stores what is kept of a key. The same hash again keeps its id, and stays revoked if it was; it
    /// takes the given team and name.
    pub async fn add_key(
        &self,
        team: TeamId,
        name: &str,
        key: impl Into<KeyPrint>,
        now: Timestamp,
    ) -> Result<KeyId, StoreError> {
        on_engine!(self, engine => engine.add_key(team, name, key.into(), now).await)
    }

    /// Who owns the key of this SHA-256. Notes the use of the key, at most once a minute.
    pub async fn principal(&self, key_hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
        on_engine!(self, engine => engine.principal(key_hash).await)
    }

    /// Whether any key is good.
    pub async fn has_keys(&self) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.has_keys().await)
    }

    /// Every key of a team, or of all, with the revoked ones; oldest first.
    pub async fn keys(&self, team: Option<TeamId>) -> Result<Vec<KeyRow>, StoreError> {
        on_engine!(self, engine => engine.keys(team).await)
    }

    /// Takes a key back for good. With a team only a key of that team, and not its last one.
    pub async fn revoke_key(
        &self,
        team: Option<TeamId>,
        key: KeyId,
        now: Timestamp,
    ) -> Result<Revoked, StoreError> {
        on_engine!(self, engine => engine.revoke_key(team, key, now).await)
    }

    // Jobs and their owners

    /// Stores a job with its shard, its activity entry, its `started` event and its idempotency
    /// entry, in one transaction.
    pub async fn create_crawl(
        &self,
        job: &NewJob,
        idempotency: Option<&Idempotency>,
    ) -> Result<Created, StoreError> {
        on_engine!(self, engine => engine.create_job(job, Vec::new(), idempotency).await)
    }

    /// The same for a batch scrape and its pages, each of them once. Its `page_limit` becomes their
    /// number.
    pub async fn create_batch(
        &self,
        job: &NewJob,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
    ) -> Result<Created, StoreError> {
        on_engine!(self, engine => engine.create_job(job, pages, idempotency).await)
    }

    /// Adds pages to a batch scrape of the team; those that it has are left out. One that runs admits
    /// them with its next commit. One that had ended runs again, owes another `started` event, and no
    /// longer expires until it ends.
    pub async fn add_pages(
        &self,
        team: TeamId,
        job: JobId,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
        now: Timestamp,
    ) -> Result<Added, StoreError> {
        on_engine!(self, engine => engine.add_pages(team, job, pages, idempotency, now).await)
    }

    /// The answer that a request with this idempotency key had before; [`Created::Reused`] when it was another
    /// request, none when there was none.
    pub async fn earlier_answer(
        &self,
        team: TeamId,
        idempotency: &Idempotency,
        now: Timestamp,
    ) -> Result<Option<Created>, StoreError> {
        on_engine!(self, engine => engine.earlier_answer(team, idempotency, now).await)
    }

    /// Takes up to `limit` free shards of running jobs, oldest jobs first, for `lease_ms`.
    pub async fn lease(
        &self,
        node: &str,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> Result<Vec<Lease>, StoreError> {
        on_engine!(self, engine => engine.lease(node, now, lease_ms, limit).await)
    }

    /// Extends a lease. False when another owner has the shard or the job has ended: drop the
    /// shard.
    pub async fn renew(&self, lease: &Lease, now: Timestamp, lease_ms: u64) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.renew(lease, now, lease_ms).await)
    }

    /// What a new owner needs to go on.
    pub async fn load(&self, lease: &Lease) -> Result<Snapshot, StoreError> {
        on_engine!(self, engine => engine.load(lease).await)
    }

    /// Commits a batch, together with the batches of other jobs that wait at the same time; also
    /// renews the lease. See [`Batch`] for what it means.
    pub async fn commit(
        &self,
        lease: &Lease,
        batch: &Batch,
        now: Timestamp,
        lease_ms: u64,
    ) -> Result<Committed, CommitError> {
        on_engine!(self, engine => engine.commit(lease, batch, now, lease_ms).await)
    }

    /// Gives a shard back, so that another owner can take it at once.
    pub async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.release(lease).await)
    }

    /// Ends a running job. Nothing is added to it afterwards.
    pub async fn cancel(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<Cancel, StoreError> {
        on_engine!(self, engine => engine.cancel(team, job, now).await)
    }

    // Reading jobs

    /// A job of the team that has not expired.
    pub async fn job(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<Option<JobRow>, StoreError> {
        on_engine!(self, engine => engine.job(team, job, now).await)
    }

    /// Documents after the first `skip`, in order of completion: at most `limit`, at most
    /// `max_bytes` of JSON text with separators, but a single larger one alone. The caller has
    /// asked [`Store::job`] for the job before, with the team.
    pub async fn documents(
        &self,
        job: JobId,
        skip: u64,
        limit: Option<u64>,
        max_bytes: usize,
    ) -> Result<DocumentChunk, StoreError> {
        on_engine!(self, engine => engine.documents(job, skip, limit, max_bytes).await)
    }

    /// For each of the first `limit` pages, in order of completion, on which of them the first link to it was, as its
    /// place from 0; none where no link led, or from another page. Empty without data retention. The caller has asked
    /// [`Store::job`] before, with the team.
    pub async fn found_on(&self, job: JobId, limit: u64) -> Result<Vec<Option<u32>>, StoreError> {
        on_engine!(self, engine => engine.found_on(job, limit).await)
    }

    /// The documents after the first `skip`, up to and with number `upto`, reached their caller: of a
    /// job without data retention they are deleted, but for those that a webhook still waits for.
    pub async fn forget_told(&self, job: JobId, skip: u64, upto: u64) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.forget_told(job, skip, upto).await)
    }

    /// What went wrong in a job. The caller has asked [`Store::job`] before, with the team.
    pub async fn errors(&self, job: JobId) -> Result<JobErrors, StoreError> {
        on_engine!(self, engine => engine.errors(job).await)
    }

    /// What the pages of a job took. The caller has asked [`Store::job`] before, with the team.
    pub async fn pace_counts(&self, job: JobId) -> Result<PaceCounts, StoreError> {
        on_engine!(self, engine => engine.pace_counts(job).await)
    }

    /// Running crawls of a team, newest first.
    pub async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> {
        on_engine!(self, engine => engine.active(team).await)
    }

    /// Jobs of a team that are not expired, newest first.
    pub async fn recent_jobs(
        &self,
        team: TeamId,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<JobRow>, StoreError> {
        on_engine!(self, engine => engine.recent_jobs(team, limit, now).await)
    }

    // Runs of extract and agent, which are made like crawls

    /// Ends a run: result, ledger entry and event in one transaction. False when another owner has it or it has
    /// ended: nothing was stored.
    pub async fn finish_run(&self, lease: &Lease, end: RunEnd, now: Timestamp) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.finish_run(lease, end, now).await)
    }

    /// Owes the receiver of a run the event of an action; `told` is JSON text. False as for [`Store::finish_run`].
    pub async fn note_action(&self, lease: &Lease, told: String, now: Timestamp) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.note_action(lease, told, now).await)
    }

    /// An extract or agent of the team that has not expired, with its result.
    pub async fn run(&self, team: TeamId, id: JobId, now: Timestamp) -> Result<Option<RunRow>, StoreError> {
        on_engine!(self, engine => engine.run(team, id, now).await)
    }

    /// Agents of the team that have not expired, newest first, without their results.
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

    /// Stores a running scrape and its activity entry. Its job id is its scrape id.
    pub async fn begin_scrape(&self, job: &NewJob) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.begin_scrape(job).await)
    }

    /// Stores the end of a scrape: document and ledger entry, or the error answer. Only the first
    /// end of a scrape counts.
    pub async fn finish_scrape(
        &self,
        job: JobId,
        result: ScrapeResult<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.finish_scrape(job, result, now).await)
    }

    /// A scrape of the team, or a page of one of its jobs, by scrape id. `None` when unknown,
    /// expired, another team's, or without retention.
    pub async fn scrape(
        &self,
        team: TeamId,
        id: ScrapeId,
        now: Timestamp,
    ) -> Result<Option<StoredScrape>, StoreError> {
        on_engine!(self, engine => engine.scrape(team, id, now).await)
    }

    /// The last version of a page, as `changeTracking` has seen it.
    pub async fn page_version(
        &self,
        team: TeamId,
        key: &VersionKey,
    ) -> Result<Option<PageVersion>, StoreError> {
        on_engine!(self, engine => engine.page_version(team, key).await)
    }

    /// Stores files made for callers.
    pub async fn keep_files(&self, files: Vec<NewFile>) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.keep_files(files).await)
    }

    /// The file that this token opens, until it expires.
    pub async fn file(&self, token: &str, now: Timestamp) -> Result<Option<StoredFile>, StoreError> {
        on_engine!(self, engine => engine.file(token, now).await)
    }

    // The page cache

    /// Keeps a fetched answer in the place of an older one. Whatever is asked afterwards finds it,
    /// unless it is too large or there is no room: then it is left out.
    pub async fn cache_page(&self, page: NewCachedPage, body: impl AsRef<[u8]> + Send + 'static) {
        on_engine!(self, engine => engine.cache_page(page, body).await)
    }

    /// The kept answer of one of these ages.
    pub async fn cached_page(
        &self,
        team: TeamId,
        key: CacheKey,
        ages: Ages,
        now: Timestamp,
    ) -> Result<Option<CachedPage>, StoreError> {
        on_engine!(self, engine => engine.cached_page(team, key, ages, now).await)
    }

    /// Pages of a site that the team has kept, first met first.
    pub async fn known_pages(
        &self,
        team: TeamId,
        site: &str,
        limit: usize,
    ) -> Result<Vec<KnownPage>, StoreError> {
        on_engine!(self, engine => engine.known_pages(team, site, limit).await)
    }

    /// Kept pages of the team that have words of a query and are from `window`: those with the best fitting words,
    /// in no order.
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

    /// The kept answer behind a page that was found.
    pub async fn found_page(&self, team: TeamId, id: i64) -> Result<Option<CachedPage>, StoreError> {
        on_engine!(self, engine => engine.found_page(team, id).await)
    }

    // Calls without a job

    /// Stores the activity entry and, unless it is free, the ledger entry of a call that is answered at once and
    /// keeps nothing else: its price, or why it failed. Of `call` only what these entries show is used.
    pub async fn record_call(
        &self,
        call: &NewJob,
        end: Result<u32, &ApiError>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.record_call(call, end, now).await)
    }

    // Browser sessions and profiles

    /// Where a scrape or a page of a job came from, whichever team's. `None` when unknown or deleted.
    pub async fn scrape_origin(&self, id: ScrapeId) -> Result<Option<ScrapeOrigin>, StoreError> {
        on_engine!(self, engine => engine.scrape_origin(id).await)
    }

    /// Stores a living session and its activity entry.
    pub async fn begin_session(&self, session: &NewSession) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.begin_session(session).await)
    }

    /// Makes a living session the one that continues this scrape. False when it continues another or has ended.
    pub async fn bind_session(&self, id: SessionId, scrape: ScrapeId) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.bind_session(id, scrape).await)
    }

    /// Notes when living sessions were last used.
    pub async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.touch_sessions(uses).await)
    }

    /// Ends a session at `at`, but no later than it may live, and charges it in the same transaction. Only the first
    /// end counts; `None` for any other.
    pub async fn end_session(
        &self,
        id: SessionId,
        last_activity: Timestamp,
        at: Timestamp,
    ) -> Result<Option<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.end_session(id, last_activity, at).await)
    }

    /// A session, whichever team's; `None` a day after its end.
    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.session(id).await)
    }

    /// The session that continues this scrape, whichever team's.
    pub async fn session_of(&self, scrape: ScrapeId) -> Result<Option<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.session_of(scrape).await)
    }

    /// Sessions of a team that began within the last day, newest first; only those that live or have ended if
    /// `live` says so.
    pub async fn sessions(
        &self,
        team: TeamId,
        live: Option<bool>,
        now: Timestamp,
    ) -> Result<Vec<SessionRow>, StoreError> {
        on_engine!(self, engine => engine.sessions(team, live, now).await)
    }

    /// The state of a browser profile, as it was last kept.
    pub async fn profile(&self, team: TeamId, name: &str) -> Result<Option<String>, StoreError> {
        on_engine!(self, engine => engine.profile(team, name).await)
    }

    /// Keeps the state of a browser profile in the place of an older one.
    pub async fn keep_profile(
        &self,
        team: TeamId,
        name: String,
        state: String,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.keep_profile(team, name, state, now).await)
    }

    // Webhook events

    /// Takes up to `limit` jobs with an event that is due, for `lease_ms`: no other call gets them meanwhile, so that
    /// the events of a job are attempted one by one.
    pub async fn take_receivers(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> Result<Vec<JobId>, StoreError> {
        on_engine!(self, engine => engine.take_receivers(now, lease_ms, limit).await)
    }

    /// Gives a taken job back before its time.
    pub async fn give_back_receiver(&self, job: JobId, now: Timestamp) -> Result<(), StoreError> {
        on_engine!(self, engine => engine.give_back_receiver(job, now).await)
    }

    /// When [`Store::take_receivers`] has something to hand out next, unless an attempt ends or an event happens
    /// before.
    pub async fn next_event_at(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        on_engine!(self, engine => engine.next_event_at(now).await)
    }

    /// The event of a taken job that is due first; first attempts come in the order of events.
    pub async fn due_event(&self, job: JobId, now: Timestamp) -> Result<Option<DueEvent>, StoreError> {
        on_engine!(self, engine => engine.due_event(job, now).await)
    }

    /// Stores what an attempt met, with an entry in the delivery log, and keeps the job until `lease_until`. False
    /// when the event was settled or attempted by another deliverer meanwhile; nothing is stored then.
    pub async fn finish_attempt(
        &self,
        event: &DueEvent,
        attempt: &Attempt,
        end: AttemptEnd,
        lease_until: Timestamp,
    ) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.finish_attempt(event, attempt, end, lease_until).await)
    }

    /// Makes an event due once more, also one that was delivered or given up. False when the team has no such event.
    pub async fn resend_event(
        &self,
        team: TeamId,
        job: JobId,
        event: WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        on_engine!(self, engine => engine.resend_event(team, job, event, now).await)
    }

    /// The delivery log of a job of the team; empty for a job of another one.
    pub async fn delivery_log(
        &self,
        team: TeamId,
        job: JobId,
        page: &DeliveryQuery,
    ) -> Result<DeliveryLog, StoreError> {
        on_engine!(self, engine => engine.delivery_log(team, job, page).await)
    }

    // Usage and activity

    /// Sum of all ledger entries of a team, in credits. Reads the whole ledger: to check what is added up.
    pub async fn ledger_total(&self, team: TeamId) -> Result<u64, StoreError> {
        on_engine!(self, engine => engine.ledger_total(team).await)
    }

    /// Credits of a team in a month.
    pub async fn credits_in_month(&self, team: TeamId, month: Month) -> Result<u64, StoreError> {
        on_engine!(self, engine => engine.credits_in_month(team, month).await)
    }

    /// Credits of a team per month and key, oldest month first.
    pub async fn month_usage(&self, team: TeamId) -> Result<Vec<MonthUsage>, StoreError> {
        on_engine!(self, engine => engine.month_usage(team).await)
    }

    /// Activity of a team, newest first.
    pub async fn activity(&self, team: TeamId, query: &ActivityQuery) -> Result<Vec<Activity>, StoreError> {
        on_engine!(self, engine => engine.activity(team, query).await)
    }

    /// The same with keys and outcomes, also filtered by these.
    pub async fn calls(&self, team: TeamId, query: &CallQuery) -> Result<Calls, StoreError> {
        on_engine!(self, engine => engine.calls(team, query).await)
    }

    /// What a team has to do.
    pub async fn queue(&self, team: TeamId) -> Result<Queue, StoreError> {
        on_engine!(self, engine => engine.queue(team).await)
    }

    // Expiry

    /// Deletes what has expired at `now`, in small transactions and a bounded number of them.
    /// Answers the number of jobs that are gone; call it again while it is not 0.
    pub async fn expire(&self, now: Timestamp) -> Result<u64, StoreError> {
        on_engine!(self, engine => engine.expire(now).await)
    }
}
