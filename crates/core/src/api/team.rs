//! Models of the usage, activity and limits of a team (docs/API.md sections 6.7 to 6.9 and 12).

use harvestman_derive::response;
use serde::{Deserialize, Serialize};

use crate::api::error::ApiError;
use crate::api::job::JobStatus;
use crate::api::problem::bad_field;
use crate::api::query::Query;
use crate::api::wire_enum::wire_enum;
use crate::billing::tokens;
use crate::ids::{JobId, KeyId};
use crate::limits::{DEFAULT_ACTIVITY_LIMIT, MAX_ACTIVITY_LIMIT};
use crate::month::Month;
use crate::paging::Cursor;
use crate::time::Timestamp;

wire_enum! {
    /// Kind of call in the activity list.
    Endpoint {
        /// `POST /v2/scrape`
        Scrape = "scrape",
        /// `POST /v2/parse`
        Parse = "parse",
        /// `POST /v2/crawl`
        Crawl = "crawl",
        /// `POST /v2/batch/scrape`
        BatchScrape = "batch_scrape",
        /// `POST /v2/search`
        Search = "search",
        /// `POST /v2/extract`
        Extract = "extract",
        /// Not offered here.
        Llmstxt = "llmstxt",
        /// Not offered here.
        DeepResearch = "deep_research",
        /// `POST /v2/map`
        Map = "map",
        /// `POST /v2/agent`
        Agent = "agent",
        /// `POST /v2/browser`
        Browser = "browser",
        /// `POST /v2/scrape/{id}/interact`
        Interact = "interact",
    }
}

/// Query parameters of `GET /v2/team/activity`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActivityQuery {
    /// Kind of calls to return.
    pub endpoint: Option<Endpoint>,
    /// Maximum number of entries.
    pub limit: u64,
    /// Entry after which the list continues.
    pub cursor: Option<Cursor>,
}

impl ActivityQuery {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        let query = Query::parse(query);
        Ok(Self {
            endpoint: query.word("endpoint")?,
            limit: query
                .integer("limit", 1..=MAX_ACTIVITY_LIMIT)?
                .unwrap_or(DEFAULT_ACTIVITY_LIMIT),
            cursor: query.text("cursor").map(Cursor::decode).transpose()?,
        })
    }
}

/// Query parameters of `GET /console/api/activity`: those of the team activity, and filters by key and
/// outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallsQuery {
    /// Parameters that the public API accepts too.
    pub activity: ActivityQuery,
    /// Key of the calls to return.
    pub key: Option<KeyId>,
    /// State or outcome of the calls to return.
    pub outcome: Option<JobStatus>,
}

impl CallsQuery {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let query = Query::parse(text);
        Ok(Self {
            activity: ActivityQuery::parse(text)?,
            key: query.text("key").map(key_id).transpose()?,
            outcome: query.word("outcome")?,
        })
    }
}

fn key_id(text: &str) -> Result<KeyId, ApiError> {
    text.parse()
        .map_err(|_| bad_field("key", "must be the id of a key"))
}

/// Version of the API.
pub const API_VERSION: &str = "v2";

/// Response of `GET /v2/team/activity`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Activity {
    /// Always true.
    pub success: bool,
    /// Calls of the last 24 hours, newest first.
    pub data: Vec<ActivityEntry>,
    /// Cursor for the next request; null if there are no older entries.
    pub cursor: Option<String>,
    /// Whether there are older entries.
    pub has_more: bool,
}

impl Activity {
    /// Creates a response with at most `limit` entries. `found` is in order and has one entry more if there
    /// are older ones.
    pub fn of(mut found: Vec<ActivityEntry>, limit: usize) -> Self {
        let has_more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| has_more);
        Self {
            success: true,
            cursor: last.map(|last| {
                Cursor {
                    time: last.created_at,
                    id: last.id.0,
                }
                .encode()
            }),
            has_more,
            data: found,
        }
    }
}

/// Call in the activity list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ActivityEntry {
    /// Id of the job.
    pub id: JobId,
    /// Kind of call.
    pub endpoint: Endpoint,
    /// Version of the API: `v2`.
    pub api_version: String,
    /// Time of the call.
    pub created_at: Timestamp,
    /// URL, query or first URL of the request; null with zero data retention.
    pub target: Option<String>,
    /// Who is accountable for the call, as in the request.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "auditMetadata")]
    pub audit_metadata: Option<AccountableUser>,
}

/// User who is accountable for a call.
#[response(Eq)]
pub struct AccountableUser {
    /// Name of the user in the caller's system.
    pub username: String,
}

/// Response of `GET /console/api/activity`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// Always true.
    pub success: bool,
    /// Calls of the last 24 hours, newest first. With a filter, a response may have fewer entries than
    /// requested even if there are more.
    pub data: Vec<Call>,
    /// Cursor for the next request; null if there are no older entries.
    pub cursor: Option<String>,
}

/// Call with its key and its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// Fields that the public API returns too.
    #[serde(flatten)]
    pub entry: ActivityEntry,
    /// Name of the key; null if the call had none.
    pub key: Option<String>,
    /// State or outcome; null if it is no longer known.
    pub outcome: Option<JobStatus>,
    /// Reason of the failure, in words.
    pub error: Option<String>,
    /// Time from the call to its end, or until now while it runs, ms; null when the end is not known.
    pub duration: Option<u64>,
    /// Credits that it used so far; null when they are no longer known.
    pub credits: Option<u64>,
}

/// Query parameters of the historical usage reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsageQuery {
    /// Whether the report has one entry per month and key.
    pub by_api_key: bool,
}

impl UsageQuery {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            by_api_key: Query::parse(query).bool("byApiKey")?.unwrap_or(false),
        })
    }
}

/// Response of a historical usage report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(
    feature = "openapi",
    derive(schemars::JsonSchema),
    schemars(rename = "{P}History")
)]
pub struct UsageHistory<P> {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Periods, oldest first.
    #[serde(default = "Vec::<P>::new")]
    pub periods: Vec<P>,
}

/// Credits used in a calendar month (UTC).
#[response(Eq, Default)]
pub struct CreditPeriod {
    /// Start of the month.
    pub start_date: Timestamp,
    /// End of the month.
    pub end_date: Timestamp,
    /// Name of the key; only with `byApiKey`.
    pub api_key: Option<String>,
    /// Credits used.
    pub total_credits: u64,
    /// Same number as `totalCredits`, under the name that typed clients require.
    pub credits_used: u64,
}

impl CreditPeriod {
    /// Creates the entry of a month.
    pub fn new(month: Month, api_key: Option<String>, credits: u64) -> Self {
        Self {
            start_date: month.start(),
            end_date: month.end(),
            api_key,
            total_credits: credits,
            credits_used: credits,
        }
    }
}

/// Name in reports for calls without a key, on a server that requires none.
pub const OPEN_MODE_KEY: &str = "open mode";

/// Credits that a key used in a month.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyUse {
    /// Month.
    pub month: Month,
    /// Name of the key, or [`OPEN_MODE_KEY`].
    pub api_key: String,
    /// Credits used.
    pub credits: u64,
}

impl UsageHistory<CreditPeriod> {
    /// Creates the report. If nothing was used in the current month, it gets an entry with 0 credits under
    /// the key of this request.
    pub fn of(mut used: Vec<KeyUse>, query: UsageQuery, current: Month, asking: &str) -> Self {
        if used.iter().all(|entry| entry.month != current) {
            used.push(KeyUse {
                month: current,
                api_key: asking.to_owned(),
                credits: 0,
            });
        }
        // The keys of a month keep their order.
        used.sort_by_key(|entry| entry.month);
        if !query.by_api_key {
            used.dedup_by(|entry, sum| {
                let same = entry.month == sum.month;
                sum.credits += if same { entry.credits } else { 0 };
                same
            });
        }
        let period = |entry: KeyUse| {
            let api_key = query.by_api_key.then_some(entry.api_key);
            CreditPeriod::new(entry.month, api_key, entry.credits)
        };
        Self {
            success: true,
            periods: used.into_iter().map(period).collect(),
        }
    }

    /// Converts the report to tokens.
    pub fn in_tokens(self) -> UsageHistory<TokenPeriod> {
        UsageHistory {
            success: self.success,
            periods: self.periods.into_iter().map(TokenPeriod::from).collect(),
        }
    }
}

/// Tokens used in a calendar month (UTC).
#[response(Eq, Default)]
pub struct TokenPeriod {
    /// Start of the month.
    pub start_date: Timestamp,
    /// End of the month.
    pub end_date: Timestamp,
    /// Name of the key; only with `byApiKey`.
    pub api_key: Option<String>,
    /// Tokens used.
    pub total_tokens: u64,
    /// Same number as `totalTokens`, under the name that typed clients require.
    pub tokens_used: u64,
}

impl From<CreditPeriod> for TokenPeriod {
    fn from(period: CreditPeriod) -> Self {
        let used = tokens(period.total_credits);
        Self {
            start_date: period.start_date,
            end_date: period.end_date,
            api_key: period.api_key,
            total_tokens: used,
            tokens_used: used,
        }
    }
}

/// Response with its figures in `data`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(
    feature = "openapi",
    derive(schemars::JsonSchema),
    schemars(rename = "{T}Response")
)]
pub struct Data<T> {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Figures of the response.
    pub data: T,
}

impl<T> Data<T> {
    /// Creates the response with these figures.
    pub fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

/// Reported credits of a team without a budget.
pub const UNLIMITED_CREDITS: u64 = 1_000_000_000;

/// Figures of `GET /v2/team/credit-usage`.
#[response(Eq, Default)]
pub struct CreditUsage {
    /// Credits left in this month.
    pub remaining_credits: u64,
    /// Credits of a whole month.
    pub plan_credits: u64,
    /// Start of the month.
    pub billing_period_start: Timestamp,
    /// End of the month.
    pub billing_period_end: Timestamp,
}

/// Figures of `GET /v2/team/token-usage`.
#[response(Eq, Default)]
pub struct TokenUsage {
    /// Tokens left in this month.
    pub remaining_tokens: u64,
    /// Tokens of a whole month.
    pub plan_tokens: u64,
    /// Start of the month.
    pub billing_period_start: Timestamp,
    /// End of the month.
    pub billing_period_end: Timestamp,
}

impl CreditUsage {
    /// Returns the usage of a month. Without a budget, the credits never decrease.
    pub fn of(month: Month, budget: Option<u64>, used: u64) -> Self {
        Self {
            remaining_credits: budget.map_or(UNLIMITED_CREDITS, |budget| budget.saturating_sub(used)),
            plan_credits: budget.unwrap_or(UNLIMITED_CREDITS),
            billing_period_start: month.start(),
            billing_period_end: month.end(),
        }
    }
}

impl From<CreditUsage> for TokenUsage {
    fn from(usage: CreditUsage) -> Self {
        Self {
            remaining_tokens: tokens(usage.remaining_credits),
            plan_tokens: tokens(usage.plan_credits),
            billing_period_start: usage.billing_period_start,
            billing_period_end: usage.billing_period_end,
        }
    }
}

/// Response of `GET /v2/team/queue-status`. The counts are pages, because the concurrency limit of a team
/// applies to pages.
#[response(Eq, Default)]
pub struct QueueStatus {
    /// Always true.
    pub success: bool,
    /// Number of waiting and running pages.
    pub jobs_in_queue: u64,
    /// Number of running pages.
    pub active_jobs_in_queue: u64,
    /// Number of waiting pages.
    pub waiting_jobs_in_queue: u64,
    /// Maximum number of concurrent pages of the team.
    pub max_concurrency: u64,
    /// Time of the last success; null if there was none.
    #[nullable]
    pub most_recent_success: Option<Timestamp>,
}

impl QueueStatus {
    /// Creates the response from the number of unfinished pages and of those in progress.
    pub fn of(
        unsettled: u64,
        in_work: u64,
        max_concurrency: u64,
        most_recent_success: Option<Timestamp>,
    ) -> Self {
        let waiting = unsettled.saturating_sub(in_work);
        Self {
            success: true,
            jobs_in_queue: in_work + waiting,
            active_jobs_in_queue: in_work,
            waiting_jobs_in_queue: waiting,
            max_concurrency,
            most_recent_success,
        }
    }
}

/// Response of `GET /v2/concurrency-check`.
#[response(Copy, Eq, Default)]
pub struct ConcurrencyCheck {
    /// Always true.
    pub success: bool,
    /// Number of pages in progress.
    pub concurrency: u64,
    /// Maximum number of concurrent pages of the team.
    pub max_concurrency: u64,
}
