//! Requests of `/v2/monitor` (contract section 13). Answers are in [`crate::api::monitor_answer`].

use serde_json::{Map, Value};

use crate::api::body::{Body, Node, ToNode};
use crate::api::caller::Caller;
use crate::api::crawl::CrawlRequest;
use crate::api::fields::{Fields, Slot, Wire, wire};
use crate::api::options::ScrapeOptions;
use crate::api::search::read_host;
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    MAX_BATCH_URLS, MAX_LIST_ITEMS, MAX_MONITOR_TARGETS, MAX_SEARCH_QUERY_CHARS, MAX_SHORT_TEXT_CHARS,
};
use crate::webhook::Family;

/// Characters of a monitor's name.
const MAX_NAME_CHARS: usize = 256;
/// Characters of a goal.
const MAX_GOAL_CHARS: usize = 2000;
/// Longest retention, days.
const MAX_RETENTION_DAYS: u64 = 365;
/// Retention unless given, days.
const DEFAULT_RETENTION_DAYS: u64 = 30;
/// Queries of a search target.
const MAX_QUERIES: usize = 12;
/// Results per query of a search target.
const MAX_RESULTS: u64 = 50;
/// Results per query unless given.
const DEFAULT_RESULTS: u64 = 10;

/// When a monitor runs: exactly one of the two ways to say it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The moments.
    pub when: When,
    /// Time zone by name; absent: UTC.
    pub timezone: Option<String>,
}

/// See [`Schedule`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum When {
    /// Five fields, at least five minutes apart.
    Cron(String),
    /// `every 30 minutes`, `hourly`, `daily at 9:00`.
    Text(String),
}

impl Wire for Schedule {
    fn read(f: &mut Fields) -> Self {
        if f.has("cron") == f.has("text") {
            f.fail_here("needs exactly one of `cron` and `text`");
        }
        let cron = f.opt_string("cron", 1..=MAX_NAME_CHARS);
        if cron
            .as_ref()
            .is_some_and(|cron| cron.split_whitespace().count() != 5)
        {
            f.fail("cron", "must have five fields, such as `0 9 * * 1`");
        }
        let text = f.opt_string("text", 1..=MAX_NAME_CHARS);
        let when = match (cron, text) {
            (None, Some(text)) => When::Text(text),
            (cron, _) => When::Cron(cron.unwrap_or_default()),
        };
        Self {
            when,
            timezone: f.opt_string("timezone", 1..=MAX_NAME_CHARS),
        }
    }

    fn write(&self, body: &mut Body) {
        match &self.when {
            When::Cron(cron) => body.put("cron", cron),
            When::Text(text) => body.put("text", text),
        }
        body.some("timezone", &self.timezone);
    }
}

wire_enum! {
    /// Kind of a target.
    TargetKind {
        /// Given pages.
        Scrape = "scrape",
        /// A site.
        Crawl = "crawl",
        /// Results of searches.
        Search = "search",
    }
}

wire_enum! {
    /// How far back a search target looks.
    SearchWindow {
        /// Five minutes.
        Minutes5 = "5m",
        /// A quarter of an hour.
        Minutes15 = "15m",
        /// An hour.
        Hour = "1h",
        /// Six hours.
        Hours6 = "6h",
        /// A day.
        Day = "24h",
        /// A week.
        Week = "7d",
    }
}

/// What a monitor looks at.
#[derive(Clone, PartialEq, Debug)]
pub enum Target {
    /// Given pages.
    Scrape {
        /// The pages, at least one.
        urls: Vec<TargetUrl>,
        /// How each is fetched.
        scrape_options: Box<ScrapeOptions>,
    },
    /// A site.
    Crawl(Box<CrawlRequest>),
    /// Results of searches.
    Search {
        /// 1 to 12.
        queries: Vec<String>,
        /// How far back.
        window: SearchWindow,
        /// Results per query.
        max_results: u64,
        /// Only these hosts.
        include_domains: Vec<String>,
        /// Not these hosts.
        exclude_domains: Vec<String>,
    },
}

impl Target {
    fn from_slot(slot: Slot<'_>) -> Option<Self> {
        slot.object(Self::read).flatten()
    }

    fn read(f: &mut Fields) -> Option<Self> {
        // Sent back by clients that edit a monitor.
        f.opt_string("id", 0..=MAX_SHORT_TEXT_CHARS);
        let Some(kind) = f.slot("type") else {
            f.fail("type", "is required: give `scrape`, `crawl` or `search`");
            return None;
        };
        let Some(kind) = kind.word() else {
            f.ignore_rest();
            return None;
        };
        Some(match kind {
            TargetKind::Scrape => {
                let urls = f.opt_array("urls", 1..=MAX_BATCH_URLS, |slot| slot.url());
                if urls.is_none() && f.is_clean() {
                    f.fail("urls", "is required: give an array of addresses");
                }
                Target::Scrape {
                    urls: urls.unwrap_or_default(),
                    scrape_options: Box::new(ScrapeOptions::read_inner(f).0),
                }
            }
            TargetKind::Crawl => {
                let url = f.url("url");
                let options = f.opt_object("crawlOptions", |f| CrawlRequest::read_options(f, url.clone()));
                let mut request = options.unwrap_or_else(|| CrawlRequest::new(url));
                if f.has("scrapeOptions") {
                    request.scrape_options = ScrapeOptions::read_inner(f).0;
                } else {
                    ScrapeOptions::read_inner(f);
                }
                Target::Crawl(Box::new(request))
            }
            TargetKind::Search => Target::Search {
                queries: read_queries(f),
                window: f.word("searchWindow", SearchWindow::Day),
                max_results: f.integer("maxResults", 1..=MAX_RESULTS, DEFAULT_RESULTS),
                include_domains: f.array("includeDomains", 0..=MAX_LIST_ITEMS, read_host),
                exclude_domains: f.array("excludeDomains", 0..=MAX_LIST_ITEMS, read_host),
            },
        })
    }
}

fn read_queries(f: &mut Fields) -> Vec<String> {
    let queries = f.opt_array("queries", 1..=MAX_QUERIES, |slot| {
        slot.string(1..=MAX_SEARCH_QUERY_CHARS)
    });
    if queries.is_none() && f.is_clean() {
        f.fail("queries", "is required: give an array of search queries");
    }
    queries.unwrap_or_default()
}

impl ToNode for Target {
    fn to_node(&self) -> Node {
        let mut body = Body::default();
        match self {
            Target::Scrape { urls, scrape_options } => {
                body.put("type", &TargetKind::Scrape);
                body.put("urls", urls);
                scrape_options.write_inner(&mut body);
            }
            Target::Crawl(request) => {
                body.put("type", &TargetKind::Crawl);
                body.put("url", &request.url);
                let options = request.options_body();
                if !options.is_empty() {
                    body.put("crawlOptions", &options);
                }
                request.scrape_options.write_inner(&mut body);
            }
            Target::Search {
                queries,
                window,
                max_results,
                include_domains,
                exclude_domains,
            } => {
                body.put("type", &TargetKind::Search);
                body.put("queries", queries);
                body.differs("searchWindow", window, &SearchWindow::Day);
                body.differs("maxResults", max_results, &DEFAULT_RESULTS);
                body.filled("includeDomains", include_domains);
                body.filled("excludeDomains", exclude_domains);
            }
        }
        Node::Object(body)
    }
}

wire_enum! {
    /// What a caller can set a monitor to.
    MonitorSwitch {
        /// Runs.
        Active = "active",
        /// Does not run.
        Paused = "paused",
    }
}

/// Body of `POST /v2/monitor`.
#[derive(Clone, PartialEq, Debug)]
pub struct MonitorRequest {
    /// At most 256 characters.
    pub name: String,
    /// When it runs.
    pub schedule: Schedule,
    /// 1 to 50.
    pub targets: Vec<Target>,
    /// Where events go.
    pub webhook: Option<WebhookSpec>,
    /// As sent.
    pub notification: Option<Map<String, Value>>,
    /// How long checks are kept, days.
    pub retention_days: u64,
    /// What the caller cares about, in words.
    pub goal: Option<String>,
    /// Judge changes by the goal.
    pub judge_enabled: Option<bool>,
    /// Who sent it.
    pub caller: Caller,
}

impl Wire for MonitorRequest {
    fn read(f: &mut Fields) -> Self {
        let name = f.string("name", 1..=MAX_NAME_CHARS);
        let change = MonitorChange::read_rest(f);
        for (missing, field, what) in [
            (
                change.schedule.is_none(),
                "schedule",
                "an object with `cron` or `text`",
            ),
            (change.targets.is_none(), "targets", "an array of targets"),
        ] {
            if missing && f.is_clean() {
                f.fail(field, format!("is required: give {what}"));
            }
        }
        Self {
            name,
            schedule: change.schedule.unwrap_or(Schedule {
                when: When::Cron(String::new()),
                timezone: None,
            }),
            targets: change.targets.unwrap_or_default(),
            webhook: change.webhook,
            notification: change.notification,
            retention_days: change.retention_days.unwrap_or(DEFAULT_RETENTION_DAYS),
            goal: change.goal,
            judge_enabled: change.judge_enabled,
            caller: change.caller,
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("name", &self.name);
        body.put("schedule", &self.schedule);
        body.put("targets", &self.targets);
        body.some("webhook", &self.webhook);
        body.some("notification", &self.notification);
        body.differs("retentionDays", &self.retention_days, &DEFAULT_RETENTION_DAYS);
        body.some("goal", &self.goal);
        body.some("judgeEnabled", &self.judge_enabled);
        self.caller.write(body);
    }
}

/// Body of `PATCH /v2/monitor/{id}`: what is absent stays as it is.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MonitorChange {
    /// New name.
    pub name: Option<String>,
    /// New schedule.
    pub schedule: Option<Schedule>,
    /// New targets.
    pub targets: Option<Vec<Target>>,
    /// New receiver of events.
    pub webhook: Option<WebhookSpec>,
    /// New notification.
    pub notification: Option<Map<String, Value>>,
    /// New retention, days.
    pub retention_days: Option<u64>,
    /// New goal.
    pub goal: Option<String>,
    /// Judge changes by the goal.
    pub judge_enabled: Option<bool>,
    /// Run or pause.
    pub status: Option<MonitorSwitch>,
    /// Who sent it.
    pub caller: Caller,
}

impl MonitorChange {
    /// Everything but `name` and `status`.
    fn read_rest(f: &mut Fields) -> Self {
        Self {
            name: None,
            schedule: f.opt_object("schedule", Schedule::read),
            targets: f.opt_array("targets", 1..=MAX_MONITOR_TARGETS, Target::from_slot),
            webhook: WebhookSpec::read(f, Family::Monitor),
            notification: f.opt_map("notification"),
            retention_days: f.opt_integer("retentionDays", 1..=MAX_RETENTION_DAYS),
            goal: f.opt_string("goal", 0..=MAX_GOAL_CHARS),
            judge_enabled: f.opt_bool("judgeEnabled"),
            status: None,
            caller: Caller::read(f),
        }
    }
}

impl Wire for MonitorChange {
    fn read(f: &mut Fields) -> Self {
        let name = f.opt_string("name", 1..=MAX_NAME_CHARS);
        let status = f.opt_word("status");
        Self {
            name,
            status,
            ..Self::read_rest(f)
        }
    }

    fn write(&self, body: &mut Body) {
        body.some("name", &self.name);
        body.some("schedule", &self.schedule);
        body.some("targets", &self.targets);
        body.some("webhook", &self.webhook);
        body.some("notification", &self.notification);
        body.some("retentionDays", &self.retention_days);
        body.some("goal", &self.goal);
        body.some("judgeEnabled", &self.judge_enabled);
        body.some("status", &self.status);
        self.caller.write(body);
    }
}

wire!(Schedule, MonitorRequest, MonitorChange);
