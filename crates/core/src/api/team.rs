//! Usage, activity and limits of a team (contract sections 6.7 to 6.9 and 12).

use serde::{Deserialize, Serialize};

use crate::api::error::ApiError;
use crate::api::query::Query;
use crate::api::wire_enum::wire_enum;
use crate::billing::tokens;
use crate::limits::{DEFAULT_ACTIVITY_LIMIT, MAX_ACTIVITY_LIMIT};
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

/// Answer of `GET /v2/team/activity`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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

/// One call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActivityEntry {
    /// The job.
    pub id: String,
    /// Kind of call.
    pub endpoint: Endpoint,
    /// `v2`
    pub api_version: String,
    /// When.
    pub created_at: Timestamp,
    /// URL, query or first URL; null with zero data retention.
    pub target: Option<String>,
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
pub struct UsageHistory<P> {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Oldest first.
    #[serde(default = "Vec::new")]
    pub periods: Vec<P>,
}

/// Credits of a calendar month (UTC).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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
    pub fn new(start_date: Timestamp, end_date: Timestamp, api_key: Option<String>, credits: u64) -> Self {
        Self {
            start_date,
            end_date,
            api_key,
            total_credits: credits,
            credits_used: credits,
        }
    }
}

/// Tokens of a calendar month (UTC).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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

/// Answer of `GET /v2/team/queue-status`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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

/// Answer of `GET /v2/concurrency-check`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConcurrencyCheck {
    /// Always true.
    pub success: bool,
    /// In use.
    pub concurrency: u64,
    /// Team limit.
    pub max_concurrency: u64,
}
