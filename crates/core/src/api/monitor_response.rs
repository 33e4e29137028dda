//! Responses of `/v2/monitor` (docs/API.md section 13).

use harvestman_derive::response;
use serde_json::{Map, Value};

use crate::api::wire_enum::wire_enum;
use crate::time::Timestamp;

wire_enum! {
    /// State of a monitor.
    MonitorStatus {
        /// The monitor runs.
        Active = "active",
        /// The monitor does not run.
        Paused = "paused",
        /// The monitor was deleted.
        Deleted = "deleted",
    }
}

/// Schedule of a monitor in its resolved form.
#[response(Eq, Default)]
pub struct MonitorSchedule {
    /// Cron expression with five fields.
    pub cron: String,
    /// IANA name of the time zone.
    pub timezone: String,
}

/// Monitor with its schedule and its targets.
#[response]
pub struct Monitor {
    /// Id of the monitor.
    pub id: String,
    /// Name of the monitor.
    pub name: String,
    /// State of the monitor.
    pub status: MonitorStatus,
    /// Schedule of the monitor.
    pub schedule: MonitorSchedule,
    /// Time of the next run.
    pub next_run_at: Option<Timestamp>,
    /// Time of the last run.
    pub last_run_at: Option<Timestamp>,
    /// Id of the running check.
    pub current_check_id: Option<String>,
    /// Targets of the monitor, each with an id.
    #[serde(default)]
    pub targets: Vec<Value>,
    /// Receiver of events, or null.
    #[serde(default)]
    #[nullable]
    pub webhook: Option<Value>,
    /// Notification settings as sent, or null.
    #[serde(default)]
    #[nullable]
    pub notification: Option<Value>,
    /// Retention of checks, days.
    #[serde(default)]
    pub retention_days: u64,
    /// Estimated credits per month.
    pub estimated_credits_per_month: Option<u64>,
    /// Page counts of the last check.
    pub last_check_summary: Option<CheckSummary>,
    /// Goal of the monitor: the changes that matter, in words.
    pub goal: Option<String>,
    /// Whether changes are judged by the goal.
    pub judge_enabled: Option<bool>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Page counts of a check.
#[response(Copy, Eq, Default)]
pub struct CheckSummary {
    /// Number of all pages.
    pub total_pages: u64,
    /// Number of unchanged pages.
    pub same: u64,
    /// Number of changed pages.
    pub changed: u64,
    /// Number of pages seen for the first time.
    pub new: u64,
    /// Number of removed pages.
    pub removed: u64,
    /// Number of pages that could not be fetched.
    pub error: u64,
}

wire_enum! {
    /// State of a check.
    CheckStatus {
        /// The check is waiting.
        Queued = "queued",
        /// The check is running.
        Running = "running",
        /// The check has completed.
        Completed = "completed",
        /// The check failed.
        Failed = "failed",
        /// The check was completed in part.
        Partial = "partial",
        /// The check was skipped because the previous one was still running.
        SkippedOverlap = "skipped_overlap",
        /// The check was skipped because no credits were left.
        SkippedNoCredits = "skipped_no_credits",
    }
}

wire_enum! {
    /// Trigger of a check.
    CheckTrigger {
        /// The schedule.
        Scheduled = "scheduled",
        /// A request of the caller.
        Manual = "manual",
    }
}

wire_enum! {
    /// State of the credits of a check.
    BillingStatus {
        /// The check costs nothing.
        NotApplicable = "not_applicable",
        /// The credits are reserved.
        Reserved = "reserved",
        /// The credits were charged.
        Confirmed = "confirmed",
        /// The reserved credits were released.
        Released = "released",
        /// The credits could not be charged.
        Failed = "failed",
    }
}

/// Response of `POST /v2/monitor/{id}/run`.
#[response]
pub struct CheckStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the check.
    pub id: String,
    /// The check.
    pub data: Check,
}

/// One run of a monitor.
#[response]
pub struct Check {
    /// Id of the check.
    pub id: String,
    /// Id of the monitor.
    pub monitor_id: String,
    /// State of the check.
    pub status: CheckStatus,
    /// Trigger of the check.
    pub trigger: CheckTrigger,
    /// Scheduled start time.
    pub scheduled_for: Option<Timestamp>,
    /// Actual start time.
    pub started_at: Option<Timestamp>,
    /// End time.
    pub finished_at: Option<Timestamp>,
    /// Estimated credits.
    pub estimated_credits: Option<u64>,
    /// Reserved credits.
    pub reserved_credits: Option<u64>,
    /// Credits that the check used.
    pub actual_credits: Option<u64>,
    /// State of the check's credits.
    pub billing_status: BillingStatus,
    /// Page counts of the check.
    #[serde(default)]
    pub summary: CheckSummary,
    /// Jobs and figures by target.
    pub target_results: Option<Vec<TargetResult>>,
    /// State of the notification.
    pub notification_status: Option<Value>,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Jobs and figures of one target of a check.
#[response(Default)]
pub struct TargetResult {
    /// Id of the target.
    pub target_id: String,
    /// Kind of the target: `scrape`, `crawl` or `search`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Ids of the batch scrapes that fetched the pages.
    pub expected_jobs: Option<Vec<String>>,
    /// Id of the crawl.
    pub crawl_id: Option<String>,
    /// Whether every search returned results or none.
    pub search_completed: Option<bool>,
    /// Number of pages or results.
    pub result_count: u64,
    /// Number of changes that matter for the goal.
    pub matches: Option<u64>,
    /// Whether some changes were judged by rules because the model gave no answer.
    pub judge_degraded: Option<bool>,
    /// Why the model gave no answer.
    pub degraded_reason: Option<String>,
    /// Number of judged changes.
    pub results_judged: Option<u64>,
    /// Credits of the searches.
    pub search_credits: Option<u64>,
    /// Credits of the judgments.
    pub judge_credits: Option<u64>,
    /// Why the target was not checked completely.
    pub error: Option<String>,
}

/// A check with its pages.
#[response]
pub struct CheckPages {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// URL of the remaining pages, or null.
    #[serde(default)]
    #[nullable]
    pub next: Option<String>,
    /// The check with its pages.
    pub data: CheckWithPages,
}

/// Check with its pages; see [`CheckPages`].
#[response]
pub struct CheckWithPages {
    /// The check itself.
    #[serde(flatten)]
    pub check: Check,
    /// Pages of the check.
    #[serde(default)]
    pub pages: Vec<CheckPage>,
}

wire_enum! {
    /// State of a page compared with the last check.
    PageStatus {
        /// The page is unchanged.
        Same = "same",
        /// The page was seen for the first time.
        New = "new",
        /// The page has changed.
        Changed = "changed",
        /// The page was removed.
        Removed = "removed",
        /// The page could not be fetched.
        Error = "error",
    }
}

/// Page of a check.
#[response]
pub struct CheckPage {
    /// Id of the page.
    pub id: String,
    /// Id of the target.
    pub target_id: String,
    /// URL of the page.
    pub url: String,
    /// State of the page.
    pub status: PageStatus,
    /// Id of the previous scrape.
    pub previous_scrape_id: Option<String>,
    /// Id of the scrape of this check.
    pub current_scrape_id: Option<String>,
    /// HTTP status of the page.
    pub status_code: Option<u16>,
    /// Reason why the page could not be fetched.
    pub error: Option<String>,
    /// Metadata of the page.
    pub metadata: Option<Map<String, Value>>,
    /// Difference to the previous scrape: `{text?, json?}`.
    pub diff: Option<Value>,
    /// Extracted data: `{json}`.
    pub snapshot: Option<Value>,
    /// Judgment of the change by the goal.
    pub judgment: Option<Judgment>,
    /// Creation time.
    pub created_at: Timestamp,
}

wire_enum! {
    /// How sure a judgment is.
    #[derive(Default)]
    Confidence {
        /// The model decided, or a number moved as the goal says.
        High = "high",
        /// Changed lines share words with the goal.
        Medium = "medium",
        /// Only lines around the change do.
        #[default]
        Low = "low",
    }
}

/// Judgment whether a change matters for the goal of a monitor.
#[response(Default)]
pub struct Judgment {
    /// Whether the change matters.
    pub meaningful: bool,
    /// Confidence of the judgment.
    pub confidence: Confidence,
    /// Reason of the judgment.
    pub reason: String,
    /// Changes that matter.
    pub meaningful_changes: Vec<MeaningfulChange>,
    /// Paths of the fields that changed, if extracted data is compared. Some clients require the list.
    pub fields: Vec<String>,
}

/// Change that matters.
#[response(Default)]
pub struct MeaningfulChange {
    /// Kind of the change.
    #[serde(rename = "type")]
    pub kind: String,
    /// Old text.
    pub before: Option<String>,
    /// New text.
    pub after: Option<String>,
    /// Reason why the change matters.
    pub reason: String,
}
