//! Monitors and their checks, as they are stored. A check is claimed by one conditional update, worked on under a
//! lease with an epoch, and ends once.

use harvestman_core::api::monitor_response::{CheckStatus, CheckSummary, MonitorStatus, PageStatus};
use harvestman_core::ids::{JobId, KeyId, MonitorId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;

use crate::error::StoreError;
use crate::job::NewJob;
use crate::operations::operations;

/// A monitor to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMonitor {
    /// Id of the monitor, a version 7 UUID.
    pub id: MonitorId,
    /// The team that owns it.
    pub team: TeamId,
    /// The key that creates it.
    pub key: Option<KeyId>,
    /// The request as JSON text.
    pub request: String,
    /// Base URL of this server as the client reached it.
    pub base: String,
    /// When its first check is due.
    pub next_run_at: Timestamp,
    /// Time of the request.
    pub created_at: Timestamp,
}

/// A stored monitor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MonitorRow {
    /// Id of the monitor.
    pub id: MonitorId,
    /// The team that owns it.
    pub team: TeamId,
    /// The key that created it.
    pub key: Option<KeyId>,
    /// State.
    pub status: MonitorStatus,
    /// The request as JSON text.
    pub request: String,
    /// Base URL of this server.
    pub base: String,
    /// When its next check is due; `None` while it is paused.
    pub next_run_at: Option<Timestamp>,
    /// When its last check started.
    pub last_run_at: Option<Timestamp>,
    /// The check that has not ended.
    pub check: Option<JobId>,
    /// Page counts of the last check that ended.
    pub last_summary: Option<CheckSummary>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A monitor whose next check is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueMonitor {
    /// Id of the monitor.
    pub id: MonitorId,
    /// The team that owns it.
    pub team: TeamId,
    /// When the check is due.
    pub due: Timestamp,
}

/// A change of a monitor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MonitorUpdate {
    /// `updated_at` of the row that the change is made from; the update fails if it differs.
    pub seen: Timestamp,
    /// The new request as JSON text.
    pub request: String,
    /// When the next check is due; `None` pauses the monitor.
    pub next_run_at: Option<Timestamp>,
    /// Targets that have changed: what is known of their pages is deleted.
    pub changed_targets: Vec<u32>,
    /// Time of the change.
    pub now: Timestamp,
}

/// A check to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCheck {
    /// The monitor.
    pub monitor: MonitorId,
    /// Job of the check: its request is that of the monitor, and its id that of the check.
    pub job: NewJob,
    /// `next_run_at` of the monitor as it was read, and its new value. `None` for a check that a caller requests.
    pub due: Option<(Timestamp, Option<Timestamp>)>,
    /// Ids of the jobs that fetch its pages, by target.
    pub jobs: Vec<JobId>,
}

/// Result of starting a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartOutcome {
    /// The check is stored and will run.
    Started,
    /// The previous check has not ended. A due check is stored as skipped.
    Overlap,
    /// The check is no longer due, or the monitor is gone. Nothing was stored.
    Stale,
}

/// A stored check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckRow {
    /// Id of the check.
    pub id: JobId,
    /// The monitor.
    pub monitor: MonitorId,
    /// State.
    pub status: CheckStatus,
    /// When it was due; `None` if a caller requested it.
    pub scheduled_for: Option<Timestamp>,
    /// When work on it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Page counts; while it runs, those so far.
    pub summary: CheckSummary,
    /// Figures by target as JSON text.
    pub target_results: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// Credits charged, with those of its jobs.
    pub credits: u64,
    /// The monitor's request at its start, as JSON text.
    pub request: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A check that this node works on. The owner of a lower epoch cannot change anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckLease {
    /// Id of the check.
    pub check: JobId,
    /// The monitor.
    pub monitor: MonitorId,
    /// The team that owns it.
    pub team: TeamId,
    /// The key that its usage is attributed to.
    pub key: Option<KeyId>,
    /// Number of the lease.
    pub epoch: u64,
    /// Whether the jobs that fetch its pages were created.
    pub running: bool,
    /// The monitor's request at its start, as JSON text.
    pub request: String,
    /// Base URL of this server.
    pub base: String,
    /// How long the check is kept, in milliseconds.
    pub retention_ms: u64,
    /// Ids of the jobs that fetch its pages, by target.
    pub jobs: Vec<JobId>,
}

/// A compared page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCheckPage {
    /// State.
    pub status: PageStatus,
    /// The entry as JSON text.
    pub entry: String,
    /// Identity of its URL, by which the next check recognizes the page unless it was removed.
    pub key: UrlKey,
    /// Its URL.
    pub url: String,
    /// Its scrape.
    pub scrape: Option<ScrapeId>,
}

/// Pages of a target to add to a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckPortion {
    /// Index of the target.
    pub target: u32,
    /// Number of its pages that are stored already.
    pub after: u64,
    /// The pages.
    pub pages: Vec<NewCheckPage>,
    /// Credits that the pages cost.
    pub credits: u32,
    /// Figures by target so far as JSON text: another node continues with them.
    pub target_results: String,
}

/// How a check ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckEnd {
    /// Final state.
    pub status: CheckStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// Figures by target as JSON text.
    pub target_results: Option<String>,
    /// Credits beyond those charged with its pages, charged in the same transaction.
    pub credits: u32,
    /// Credits that its jobs were charged.
    pub job_credits: u64,
    /// Targets that have changed since its start: what it found of their pages is deleted.
    pub changed_targets: Vec<u32>,
}

/// One page of a check's pages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckPageChunk {
    /// JSON text of each entry.
    pub entries: Vec<String>,
    /// Whether more follow.
    pub more: bool,
}

operations! {
    /// Monitors.
    trait Monitors {
        /// Creates an active monitor. Returns false, and stores nothing, if the team has `limit` monitors.
        async fn create_monitor(
            &self,
            #[seal_request &] monitor: &NewMonitor,
            limit: u64,
        ) -> Result<bool, StoreError>;

        /// Lists monitors of a team, newest first; with `status` only those in this state.
        async fn monitors(
            &self,
            team: TeamId,
            status: Option<MonitorStatus>,
            limit: u64,
            offset: u64,
        ) -> Result<Vec<MonitorRow>, StoreError> => open_requests;

        /// Returns a monitor of the team that is not deleted.
        async fn monitor(&self, team: TeamId, id: MonitorId) -> Result<Option<MonitorRow>, StoreError>
            => open_requests;

        /// Changes a monitor. Returns false, and stores nothing, if it was changed or deleted meanwhile.
        async fn update_monitor(
            &self,
            team: TeamId,
            id: MonitorId,
            #[seal_owned] update: MonitorUpdate,
        ) -> Result<bool, StoreError>;

        /// Deletes a monitor, ends its check and cancels the jobs that fetch its pages. Its stored data is deleted
        /// together with other expired data. Returns the cancelled jobs; `None` if the team has no such monitor.
        async fn delete_monitor(
            &self,
            team: TeamId,
            id: MonitorId,
            now: Timestamp,
        ) -> Result<Option<Vec<JobId>>, StoreError>;

        /// Lists active monitors whose next check is due, longest overdue first.
        async fn due_monitors(&self, now: Timestamp, limit: u64) -> Result<Vec<DueMonitor>, StoreError>;

        /// Postpones the check of a due monitor by so many milliseconds from now. Does nothing if the monitor was
        /// changed or deleted meanwhile.
        async fn postpone_monitor(
            &self,
            monitor: DueMonitor,
            now: Timestamp,
            delay_ms: u64,
        ) -> Result<(), StoreError>;
    }
}

operations! {
    /// Checks of monitors.
    trait Checks {
        /// Starts a check, or stores that it was skipped. For each due time only the first call does either.
        async fn start_check(&self, #[seal_request &] check: &NewCheck) -> Result<StartOutcome, StoreError>;

        /// Leases up to `limit` checks that no node works on.
        async fn lease_checks(
            &self,
            now: Timestamp,
            lease_ms: u64,
            limit: u64,
        ) -> Result<Vec<CheckLease>, StoreError> => open_requests;

        /// Extends a lease, or ends it if `lease_ms` is 0. Returns false if it is lost.
        async fn renew_check(&self, lease: &CheckLease, now: Timestamp, lease_ms: u64) -> Result<bool, StoreError>;

        /// Records that the jobs of a check exist. Returns false if the lease is lost.
        async fn begin_check(&self, lease: &CheckLease, now: Timestamp) -> Result<bool, StoreError>;

        /// Returns the number of stored pages of a target.
        async fn compared_pages(&self, check: JobId, target: u32) -> Result<u64, StoreError>;

        /// Returns which of these pages the target is known to have, each with its last scrape.
        async fn target_pages(
            &self,
            monitor: MonitorId,
            target: u32,
            pages: &[UrlKey],
        ) -> Result<Vec<(UrlKey, Option<ScrapeId>)>, StoreError>;

        /// Adds pages with their events, stores the figures so far, and charges the credits. Returns false, and stores
        /// nothing, if the lease is lost or the number of stored pages is not `after`.
        async fn add_check_pages(
            &self,
            lease: &CheckLease,
            portion: CheckPortion,
            now: Timestamp,
        ) -> Result<bool, StoreError>;

        /// Returns URLs that the target is known to have, but that this check has not seen.
        async fn missing_urls(
            &self,
            lease: &CheckLease,
            target: u32,
            limit: u64,
        ) -> Result<Vec<(UrlKey, String, Option<ScrapeId>)>, StoreError>;

        /// Ends a check: state, summary, ledger entry and event in one transaction. Returns the summary; `None`,
        /// with nothing stored, if the lease is lost.
        async fn finish_check(
            &self,
            lease: &CheckLease,
            end: CheckEnd,
            now: Timestamp,
        ) -> Result<Option<CheckSummary>, StoreError>;

        /// Lists checks of a monitor that have not expired, newest first.
        async fn checks(
            &self,
            monitor: MonitorId,
            status: Option<CheckStatus>,
            limit: u64,
            offset: u64,
            now: Timestamp,
        ) -> Result<Vec<CheckRow>, StoreError> => open_requests;

        /// Returns a check of a monitor that has not expired.
        async fn check(
            &self,
            monitor: MonitorId,
            check: JobId,
            now: Timestamp,
        ) -> Result<Option<CheckRow>, StoreError> => open_requests;

        /// Returns pages of a check, at most `max_bytes` of JSON text but always one.
        async fn check_pages(
            &self,
            check: JobId,
            status: Option<PageStatus>,
            skip: u64,
            limit: u64,
            max_bytes: usize,
        ) -> Result<CheckPageChunk, StoreError>;
    }
}
