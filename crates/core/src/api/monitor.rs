//! Requests of `/v2/monitor` (docs/API.md section 13). Responses are in [`crate::api::monitor_response`].

use std::ops::RangeInclusive;

use harvestman_derive::{Request, TaggedUnion};
use serde_json::{Map, Value};

use crate::api::body::{Node, ToNode};
use crate::api::caller::Caller;
use crate::api::crawl::CrawlOptions;
use crate::api::error::ApiError;
use crate::api::fields::{Field, FieldType, Fields, Schema, Slot, WireEnum, wire};
use crate::api::options::ScrapeOptions;
use crate::api::query::Query;
use crate::api::search::{HOSTS, read_exclude_domains, read_include_domains};
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_MONITOR_LIMIT, MAX_BATCH_URLS, MAX_MONITOR_LIMIT, MAX_MONITOR_TARGETS, MAX_SEARCH_QUERY_CHARS,
    MAX_SHORT_TEXT_CHARS,
};
use crate::webhook::Family;

/// Maximum characters of the name of a monitor.
const MAX_NAME_CHARS: usize = 256;
/// Maximum characters of a goal.
const MAX_GOAL_CHARS: usize = 2000;
/// Maximum retention, days.
const MAX_RETENTION_DAYS: u64 = 365;
/// Default retention, days.
const DEFAULT_RETENTION_DAYS: u64 = 30;
/// Maximum queries of a search target.
const MAX_QUERIES: usize = 12;
/// Maximum results per query of a search target.
const MAX_RESULTS: u64 = 50;
/// Default number of results per query.
const DEFAULT_RESULTS: u64 = 10;

/// Schedule of a monitor: exactly one of `cron` and `text`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
#[request(check = Self::check)]
pub struct Schedule {
    /// Cron expression with five fields; checks must be at least five minutes apart.
    #[field(bounds = 1..=MAX_NAME_CHARS, label = "Cron", example = r#""0 9 * * 1""#)]
    pub cron: Option<String>,
    /// The schedule in words: `every 30 minutes`, `hourly`, `daily at 9:00`.
    #[field(bounds = 1..=MAX_NAME_CHARS, label = "Schedule", example = r#""daily at 9:00""#)]
    pub text: Option<String>,
    /// Time zone by its IANA name. Default: UTC.
    #[field(bounds = 1..=MAX_NAME_CHARS, label = "Time zone", example = r#""Europe/Berlin""#)]
    pub timezone: Option<String>,
}

impl Schedule {
    fn check(&mut self, fields: &mut Fields) {
        if fields.has_read("cron") == fields.has_read("text") {
            fields.fail_here("needs exactly one of `cron` and `text`");
        }
        if self
            .cron
            .as_ref()
            .is_some_and(|cron| cron.split_whitespace().count() != 5)
        {
            fields.fail("cron", "must have five fields, such as `0 9 * * 1`");
        }
    }
}

wire_enum! {
    /// Time range of the results of a search target.
    SearchWindow {
        /// Last five minutes.
        Minutes5 = "5m",
        /// Last 15 minutes.
        Minutes15 = "15m",
        /// Last hour.
        Hour = "1h",
        /// Last six hours.
        Hours6 = "6h",
        /// Last 24 hours.
        Day = "24h",
        /// Last seven days.
        Week = "7d",
    }
}

/// Pages that a monitor checks.
#[derive(Clone, PartialEq, Debug, TaggedUnion)]
#[tagged(kind = TargetKind, hint = "`scrape`, `crawl` or `search`", before = read_id)]
pub enum Target {
    /// List of pages.
    Scrape {
        /// URLs of the pages.
        #[field(required = "an array of URLs", bounds = (1..=MAX_BATCH_URLS, ()))]
        urls: Vec<TargetUrl>,
        /// How each page is fetched.
        #[field(read = ScrapeOptions::read_inner)]
        scrape_options: Option<Box<ScrapeOptions>>,
    },
    /// Pages of a site.
    Crawl {
        /// URL where the crawl starts.
        #[field(required)]
        url: TargetUrl,
        /// Options of the crawl.
        crawl_options: Option<CrawlOptions>,
        /// How each page is fetched.
        #[field(read = ScrapeOptions::read_inner)]
        scrape_options: Option<Box<ScrapeOptions>>,
    },
    /// Results of searches.
    Search {
        /// Search queries.
        #[field(
            required = "an array of search queries",
            bounds = (1..=MAX_QUERIES, 1..=MAX_SEARCH_QUERY_CHARS)
        )]
        queries: Vec<String>,
        /// Age of the results.
        #[field(default = SearchWindow::Day)]
        search_window: SearchWindow,
        /// Results per query.
        #[field(default = DEFAULT_RESULTS, bounds = 1..=MAX_RESULTS)]
        max_results: u64,
        /// Return only results from these hosts.
        #[field(bounds = HOSTS, read = read_include_domains)]
        include_domains: Vec<String>,
        /// Leave out results from these hosts.
        #[field(bounds = HOSTS, read = read_exclude_domains)]
        exclude_domains: Vec<String>,
    },
}

/// A target, and the JSON that the client sent for it, which responses return.
#[derive(Clone, PartialEq, Debug)]
pub struct MonitorTarget {
    /// What is checked.
    pub target: Target,
    given: Map<String, Value>,
}

impl MonitorTarget {
    /// Returns the id that the client gave the target.
    pub fn id(&self) -> Option<&str> {
        self.given.get("id")?.as_str().filter(|id| !id.is_empty())
    }
}

impl ToNode for MonitorTarget {
    fn to_node(&self) -> Node {
        self.given.to_node()
    }
}

impl FieldType for MonitorTarget {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        let mut schema = Target::schema(());
        if let Schema::OneOf(kinds) = &mut schema {
            for kind in kinds {
                if let Schema::Object(_, fields) = kind {
                    fields.push(Field::new(
                        "id",
                        "Id of the target. Default: `target-1` and so on.",
                        String::schema(ID),
                    ));
                }
            }
        }
        schema
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let mut given = slot.json().clone();
        remove_absent(&mut given);
        let target = Target::from_slot(slot, ())?;
        match given {
            Value::Object(given) => Some(Self { target, given }),
            _ => None,
        }
    }

    fn placeholder() -> Self {
        Self {
            target: Target::placeholder(),
            given: Map::new(),
        }
    }
}

/// Bounds of the id of a target.
const ID: RangeInclusive<usize> = 0..=MAX_SHORT_TEXT_CHARS;

fn read_id(fields: &mut Fields) -> Option<()> {
    fields.value::<String>("id", ID);
    Some(())
}

/// Removes what counts as absent: nulls, and fields whose names begin with `__`.
fn remove_absent(value: &mut Value) {
    /// Fields with objects of the client's own.
    const OWN: [&str; 2] = ["headers", "schema"];
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| !value.is_null() && !name.starts_with("__"));
            let fields = fields
                .iter_mut()
                .filter(|(name, _)| !OWN.contains(&name.as_str()));
            fields.for_each(|(_, value)| remove_absent(value));
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove_absent),
        _ => {}
    }
}

wire_enum! {
    /// State that a caller can give a monitor.
    MonitorSwitch {
        /// The monitor runs.
        Active = "active",
        /// The monitor does not run.
        Paused = "paused",
    }
}

/// Body of `POST /v2/monitor`.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct MonitorRequest {
    /// Name of the monitor.
    #[field(required, bounds = 1..=MAX_NAME_CHARS, label = "Name", example = r#""Prices""#)]
    pub name: String,
    /// When the monitor runs: an object with `cron` or `text`.
    #[field(
        required = "an object with `cron` or `text`",
        label = "Schedule",
        example = r#"{"text":"hourly"}"#
    )]
    pub schedule: Schedule,
    /// What the monitor checks.
    #[field(
        required = "an array of targets",
        bounds = TARGETS,
        label = "Targets",
        example = r#"[{"type":"scrape","urls":["https://example.com"]}]"#
    )]
    pub targets: Vec<MonitorTarget>,
    /// Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`.
    #[field(bounds = Family::Monitor, label = "Webhook", example = r#""https://example.com/hook""#)]
    pub webhook: Option<WebhookSpec>,
    /// Notification settings, stored as sent.
    pub notification: Option<Map<String, Value>>,
    /// How long checks are kept.
    #[field(
        bounds = 1..=MAX_RETENTION_DAYS,
        default = DEFAULT_RETENTION_DAYS,
        label = "Retention",
        unit = "days",
        example = "30"
    )]
    pub retention_days: u64,
    /// The changes that matter, in words.
    #[field(bounds = 0..=MAX_GOAL_CHARS, label = "Goal", example = r#""The price falls""#)]
    pub goal: Option<String>,
    /// Judge changes by the goal.
    #[field(label = "Judge changes")]
    pub judge_enabled: Option<bool>,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

/// Bounds of the number of targets of a monitor.
const TARGETS: (RangeInclusive<usize>, ()) = (1..=MAX_MONITOR_TARGETS, ());

/// Body of `PATCH /v2/monitor/{id}`. Absent fields keep their values; of `Option<Option<_>>` the inner `None` removes
/// the value.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct MonitorChange {
    /// New name.
    #[field(bounds = 1..=MAX_NAME_CHARS, label = "Name")]
    pub name: Option<String>,
    /// New schedule: an object with `cron` or `text`.
    #[field(label = "Schedule", example = r#"{"text":"hourly"}"#)]
    pub schedule: Option<Schedule>,
    /// New targets.
    #[field(bounds = TARGETS, label = "Targets")]
    pub targets: Option<Vec<MonitorTarget>>,
    /// New receiver of events; null removes it.
    #[field(bounds = Family::Monitor, label = "Webhook")]
    pub webhook: Option<Option<WebhookSpec>>,
    /// New notification settings; null removes them.
    pub notification: Option<Option<Map<String, Value>>>,
    /// How long checks are kept.
    #[field(bounds = 1..=MAX_RETENTION_DAYS, label = "Retention", unit = "days")]
    pub retention_days: Option<u64>,
    /// The changes that matter, in words; null removes the goal.
    #[field(bounds = 0..=MAX_GOAL_CHARS, label = "Goal")]
    pub goal: Option<Option<String>>,
    /// Judge changes by the goal.
    #[field(label = "Judge changes")]
    pub judge_enabled: Option<bool>,
    /// Run or pause the monitor.
    #[field(label = "Status")]
    pub status: Option<MonitorSwitch>,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

impl MonitorChange {
    /// Returns the request with the changed fields.
    pub fn apply(self, mut request: MonitorRequest) -> MonitorRequest {
        let Self {
            name,
            schedule,
            targets,
            webhook,
            notification,
            retention_days,
            goal,
            judge_enabled,
            status: _,
            caller: _,
        } = self;
        request.name = name.unwrap_or(request.name);
        request.schedule = schedule.unwrap_or(request.schedule);
        request.targets = targets.unwrap_or(request.targets);
        request.webhook = webhook.unwrap_or(request.webhook);
        request.notification = notification.unwrap_or(request.notification);
        request.retention_days = retention_days.unwrap_or(request.retention_days);
        request.goal = goal.unwrap_or(request.goal);
        request.judge_enabled = judge_enabled.or(request.judge_enabled);
        request
    }
}

impl MonitorRequest {
    /// Returns the goal that changes are judged against; `None` if it is empty or `judgeEnabled` is false.
    pub fn judged_goal(&self) -> Option<&str> {
        let goal = self.goal.as_deref().map(str::trim);
        goal.filter(|goal| !goal.is_empty() && self.judge_enabled != Some(false))
    }
}

wire!(Schedule, MonitorRequest, MonitorChange);

/// Query parameters of `GET /v2/monitor`, `GET /v2/monitor/{id}/checks` (`S` is the status of a check) and
/// `GET /v2/monitor/{id}/checks/{checkId}` (`S` is the status of a page).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListQuery<S> {
    /// Maximum number of entries.
    pub limit: u64,
    /// Number of entries to leave out.
    pub offset: u64,
    /// Only entries in this state.
    pub status: Option<S>,
}

impl<S: WireEnum> ListQuery<S> {
    /// Parses a query string; `offset` is the name of the parameter with the number of entries to skip.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str, offset: &str) -> Result<Self, ApiError> {
        let query = Query::parse(query);
        Ok(Self {
            limit: query
                .integer("limit", 1..=MAX_MONITOR_LIMIT)?
                .unwrap_or(DEFAULT_MONITOR_LIMIT),
            offset: query.integer(offset, 0..=Slot::UNBOUNDED)?.unwrap_or(0),
            status: query.word("status")?,
        })
    }
}
