//! Answers of `/v2/monitor` (docs/API.md section 13).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::wire_enum::wire_enum;
use crate::time::Timestamp;

wire_enum! {
    /// State of a monitor.
    MonitorStatus {
        /// Runs.
        Active = "active",
        /// Does not run.
        Paused = "paused",
        /// Is gone.
        Deleted = "deleted",
    }
}

/// When a monitor runs, resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScheduleAnswer {
    /// Five fields.
    pub cron: String,
    /// Time zone by name.
    pub timezone: String,
}

/// A monitor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Monitor {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its state.
    pub status: MonitorStatus,
    /// When it runs.
    pub schedule: ScheduleAnswer,
    /// When it runs next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_run_at: Option<Timestamp>,
    /// When it ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Timestamp>,
    /// The running check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_check_id: Option<String>,
    /// What it looks at, each with an id.
    #[serde(default)]
    pub targets: Vec<Value>,
    /// Where events go, or null.
    #[serde(default)]
    pub webhook: Option<Value>,
    /// As sent, or null.
    #[serde(default)]
    pub notification: Option<Value>,
    /// How long checks are kept, days.
    #[serde(default)]
    pub retention_days: u64,
    /// What it will cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_credits_per_month: Option<u64>,
    /// Figures of the last check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_check_summary: Option<CheckSummary>,
    /// What the caller cares about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Changes are judged by the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_enabled: Option<bool>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Timestamp,
}

/// Figures of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckSummary {
    /// All pages.
    pub total_pages: u64,
    /// As before.
    pub same: u64,
    /// Different.
    pub changed: u64,
    /// Seen for the first time.
    pub new: u64,
    /// Gone.
    pub removed: u64,
    /// Could not be fetched.
    pub error: u64,
}

wire_enum! {
    /// State of a check.
    CheckStatus {
        /// Waits.
        Queued = "queued",
        /// Runs.
        Running = "running",
        /// Done.
        Completed = "completed",
        /// Could not be done.
        Failed = "failed",
        /// Done in part.
        Partial = "partial",
        /// The one before still ran.
        SkippedOverlap = "skipped_overlap",
        /// No credits were left.
        SkippedNoCredits = "skipped_no_credits",
    }
}

wire_enum! {
    /// Why a check runs.
    CheckTrigger {
        /// It was time.
        Scheduled = "scheduled",
        /// A caller asked.
        Manual = "manual",
    }
}

wire_enum! {
    /// What became of a check's credits.
    BillingStatus {
        /// Nothing to pay.
        NotApplicable = "not_applicable",
        /// Put aside.
        Reserved = "reserved",
        /// Paid.
        Confirmed = "confirmed",
        /// Given back.
        Released = "released",
        /// Could not be paid.
        Failed = "failed",
    }
}

/// One run of a monitor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its id.
    pub id: String,
    /// Its monitor.
    pub monitor_id: String,
    /// Its state.
    pub status: CheckStatus,
    /// Why it runs.
    pub trigger: CheckTrigger,
    /// When it should begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<Timestamp>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// What it will cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_credits: Option<u64>,
    /// What was put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_credits: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual_credits: Option<u64>,
    /// What became of its credits.
    pub billing_status: BillingStatus,
    /// Figures.
    #[serde(default)]
    pub summary: CheckSummary,
    /// Figures by target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_results: Option<Value>,
    /// What became of the notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_status: Option<Value>,
    /// Why it could not be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Timestamp,
}

/// A check with its pages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CheckPages {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Address of the rest, or null.
    #[serde(default)]
    pub next: Option<String>,
    /// The check.
    pub data: CheckWithPages,
}

/// See [`CheckPages`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CheckWithPages {
    /// The check.
    #[serde(flatten)]
    pub check: Check,
    /// Its pages.
    #[serde(default)]
    pub pages: Vec<CheckPage>,
}

wire_enum! {
    /// What became of a page since the last check.
    PageStatus {
        /// As before.
        Same = "same",
        /// Seen for the first time.
        New = "new",
        /// Different.
        Changed = "changed",
        /// Gone.
        Removed = "removed",
        /// Could not be fetched.
        Error = "error",
    }
}

/// A page of a check.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckPage {
    /// Its id.
    pub id: String,
    /// Its target.
    pub target_id: String,
    /// Address.
    pub url: String,
    /// What became of it.
    pub status: PageStatus,
    /// The scrape before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_scrape_id: Option<String>,
    /// The scrape of this check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_scrape_id: Option<String>,
    /// HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// Why it could not be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Facts about the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// `{text?, json?}`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Value>,
    /// `{json}`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Value>,
    /// Whether the change matters for the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgment: Option<Judgment>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Whether a change matters for the goal of a monitor.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Judgment {
    /// It does.
    pub meaningful: bool,
    /// How sure that is.
    pub confidence: Value,
    /// Why.
    pub reason: String,
    /// The changes that matter.
    pub meaningful_changes: Vec<MeaningfulChange>,
}

/// One change that matters.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeaningfulChange {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// The old text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The new text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Why it matters.
    pub reason: String,
}
