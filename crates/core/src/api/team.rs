//! Usage, activity and limits of a team (docs/API.md sections 6.7 to 6.9 and 12).

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

/// Query of `GET /v2/team/activity`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActivityQuery {
    /// Only calls of this kind.
    pub endpoint: Option<Endpoint>,
    /// Entries, at most.
    pub limit: u64,
    /// Go on after this entry.
    pub cursor: Option<Cursor>,
}

impl ActivityQuery {
    /// Reads a query string. Errors: 400.
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

/// Query of `GET /console/api/activity`: that of the activity, of a key and with an outcome alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallsQuery {
    /// What the public API takes too.
    pub activity: ActivityQuery,
    /// Only calls with this key.
    pub key: Option<KeyId>,
    /// Only calls that stand or ended so.
    pub outcome: Option<JobStatus>,
}

impl CallsQuery {
    /// Reads a query string. Errors: 400.
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

/// The version of the API that calls are made in.
pub const API_VERSION: &str = "v2";

/// Answer of `GET /v2/team/activity`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Activity {
    /// Always true.
    pub success: bool,
    /// Newest first, last 24 hours.
    pub data: Vec<ActivityEntry>,
    /// For the next call; null without more.
    pub cursor: Option<String>,
    /// Whether there are older entries.
    pub has_more: bool,
}

impl Activity {
    /// The answer of at most `limit` entries; `found` has one more if there are more, and is in order.
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

/// One call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ActivityEntry {
    /// The job.
    pub id: JobId,
    /// Kind of call.
    pub endpoint: Endpoint,
    /// Version of the API: `v2`.
    pub api_version: String,
    /// When.
    pub created_at: Timestamp,
    /// URL, query or first URL; null with zero data retention.
    pub target: Option<String>,
}

/// Answer of `GET /console/api/activity`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// Always true.
    pub success: bool,
    /// Newest first, last 24 hours; with a filter there may be fewer than asked for, also when there are more.
    pub data: Vec<Call>,
    /// For the next call; null without more.
    pub cursor: Option<String>,
}

/// One call, with who made it and what became of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// What the public API tells too.
    #[serde(flatten)]
    pub entry: ActivityEntry,
    /// Name of its key; null without one.
    pub key: Option<String>,
    /// How it stands or ended; null where that is not known any more.
    pub outcome: Option<JobStatus>,
    /// Why it failed, in words.
    pub error: Option<String>,
}

/// Query of the historical usage reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsageQuery {
    /// One entry per month and key.
    pub by_api_key: bool,
}

impl UsageQuery {
    /// Reads a query string. Errors: 400.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            by_api_key: Query::parse(query).bool("byApiKey")?.unwrap_or(false),
        })
    }
}

/// Answer of a historical usage report.
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
    /// Oldest first.
    #[serde(default = "Vec::<P>::new")]
    pub periods: Vec<P>,
}

/// Credits of a calendar month (UTC).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CreditPeriod {
    /// Its first moment.
    pub start_date: Timestamp,
    /// Its end.
    pub end_date: Timestamp,
    /// Name of the key; only with `byApiKey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Credits.
    pub total_credits: u64,
    /// The same number, under the name that typed clients require.
    pub credits_used: u64,
}

impl CreditPeriod {
    /// A month with its credits.
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

/// What reports name in the place of a key where none is asked for.
pub const OPEN_MODE_KEY: &str = "open mode";

/// What a key used in a month, as it is added up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyUse {
    /// The month.
    pub month: Month,
    /// Name of the key, or [`OPEN_MODE_KEY`].
    pub api_key: String,
    /// Credits.
    pub credits: u64,
}

impl UsageHistory<CreditPeriod> {
    /// The report of what was used. The current month is there also without use: then as a month of the key
    /// that asks.
    pub fn of(mut used: Vec<KeyUse>, query: UsageQuery, current: Month, asking: &str) -> Self {
        if used.iter().all(|entry| entry.month != current) {
            used.push(KeyUse {
                month: current,
                api_key: asking.to_owned(),
                credits: 0,
            });
        }
        // Keys of a month stay in their order.
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

    /// The same report in tokens.
    pub fn in_tokens(self) -> UsageHistory<TokenPeriod> {
        UsageHistory {
            success: self.success,
            periods: self.periods.into_iter().map(TokenPeriod::from).collect(),
        }
    }
}

/// Tokens of a calendar month (UTC).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TokenPeriod {
    /// Its first moment.
    pub start_date: Timestamp,
    /// Its end.
    pub end_date: Timestamp,
    /// Name of the key; only with `byApiKey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Tokens.
    pub total_tokens: u64,
    /// The same number, under the name that typed clients require.
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

/// An answer that holds its figures in `data`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(
    feature = "openapi",
    derive(schemars::JsonSchema),
    schemars(rename = "{T}Answer")
)]
pub struct Data<T> {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The figures.
    pub data: T,
}

impl<T> Data<T> {
    /// The answer for some figures.
    pub fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

/// What a team without a budget has.
pub const UNLIMITED_CREDITS: u64 = 1_000_000_000;

/// Figures of `GET /v2/team/credit-usage`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CreditUsage {
    /// Left in this month.
    pub remaining_credits: u64,
    /// Of a whole month.
    pub plan_credits: u64,
    /// Beginning of the month.
    pub billing_period_start: Timestamp,
    /// End of the month.
    pub billing_period_end: Timestamp,
}

/// Figures of `GET /v2/team/token-usage`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Left in this month.
    pub remaining_tokens: u64,
    /// Of a whole month.
    pub plan_tokens: u64,
    /// Beginning of the month.
    pub billing_period_start: Timestamp,
    /// End of the month.
    pub billing_period_end: Timestamp,
}

impl CreditUsage {
    /// What is left of a budget for the month; without one nothing is ever used up.
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

/// Answer of `GET /v2/team/queue-status`. What is counted are pages: those are what a team has slots for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct QueueStatus {
    /// Always true.
    pub success: bool,
    /// All of them.
    pub jobs_in_queue: u64,
    /// Running.
    pub active_jobs_in_queue: u64,
    /// Waiting.
    pub waiting_jobs_in_queue: u64,
    /// Team limit.
    pub max_concurrency: u64,
    /// Time of the last success; null without one.
    pub most_recent_success: Option<Timestamp>,
}

impl QueueStatus {
    /// The answer for pages that are not settled, of which some are in work.
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

/// Answer of `GET /v2/concurrency-check`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ConcurrencyCheck {
    /// Always true.
    pub success: bool,
    /// In use.
    pub concurrency: u64,
    /// Team limit.
    pub max_concurrency: u64,
}
