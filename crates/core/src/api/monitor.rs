//! Requests of `/v2/monitor` (docs/API.md section 13). Responses are in [`crate::api::monitor_answer`].

use std::ops::RangeInclusive;

use harvestman_derive::Request;
use serde_json::{Map, Value};

use crate::api::body::{Body, Node, ToNode};
use crate::api::caller::Caller;
use crate::api::crawl::CrawlRequest;
use crate::api::fields::{Field, FieldType, Fields, Schema, Slot, Wire, wire};
use crate::api::options::ScrapeOptions;
use crate::api::search::read_host;
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    MAX_BATCH_URLS, MAX_LIST_ITEMS, MAX_MONITOR_TARGETS, MAX_SEARCH_QUERY_CHARS, MAX_SHORT_TEXT_CHARS,
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
    /// Five fields of cron, at least five minutes apart.
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
    fn check(&mut self, f: &mut Fields) {
        if f.has_read("cron") == f.has_read("text") {
            f.fail_here("needs exactly one of `cron` and `text`");
        }
        if self
            .cron
            .as_ref()
            .is_some_and(|cron| cron.split_whitespace().count() != 5)
        {
            f.fail("cron", "must have five fields, such as `0 9 * * 1`");
        }
    }
}

wire_enum! {
    /// Kind of a monitor target.
    TargetKind {
        /// List of pages.
        Scrape = "scrape",
        /// Pages of a site.
        Crawl = "crawl",
        /// Results of searches.
        Search = "search",
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
#[derive(Clone, PartialEq, Debug)]
pub enum Target {
    /// List of pages.
    Scrape {
        /// URLs of the pages, at least one.
        urls: Vec<TargetUrl>,
        /// Scrape options of each page.
        scrape_options: Box<ScrapeOptions>,
    },
    /// Pages of a site.
    Crawl(Box<CrawlRequest>),
    /// Results of searches.
    Search {
        /// Search queries, 1 to 12.
        queries: Vec<String>,
        /// Time range of the results.
        window: SearchWindow,
        /// Maximum results per query.
        max_results: u64,
        /// Only results of these hosts are checked.
        include_domains: Vec<String>,
        /// Results of these hosts are left out.
        exclude_domains: Vec<String>,
    },
}

impl Target {
    fn read_fields(f: &mut Fields) -> Option<Self> {
        // Clients that edit a monitor send the id back.
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
                let urls = f.value::<Vec<TargetUrl>>("urls", (1..=MAX_BATCH_URLS, ()));
                if urls.is_none() && f.is_clean() {
                    f.fail("urls", "is required: give an array of URLs");
                }
                Target::Scrape {
                    urls: urls.unwrap_or_default(),
                    scrape_options: Box::new(ScrapeOptions::read_inner(f).unwrap_or_default()),
                }
            }
            TargetKind::Crawl => {
                let url = f.value::<TargetUrl>("url", ());
                let url = f.required("url", url, TargetUrl::HINT);
                let options = f.opt_object("crawlOptions", |f| CrawlRequest::read_options(f, url.clone()));
                let mut request = options.unwrap_or_else(|| CrawlRequest::new(url));
                if let Some(options) = ScrapeOptions::read_inner(f) {
                    request.scrape_options = options;
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
                body.differs(
                    "scrapeOptions",
                    scrape_options.as_ref(),
                    &ScrapeOptions::default(),
                );
            }
            Target::Crawl(request) => {
                body.put("type", &TargetKind::Crawl);
                body.put("url", &request.url);
                let options = request.options_body();
                if !options.is_empty() {
                    body.put("crawlOptions", &options);
                }
                body.differs(
                    "scrapeOptions",
                    &request.scrape_options,
                    &ScrapeOptions::default(),
                );
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
    pub targets: Vec<Target>,
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
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

/// Bounds of the number of targets of a monitor.
const TARGETS: (RangeInclusive<usize>, ()) = (1..=MAX_MONITOR_TARGETS, ());

/// Body of `PATCH /v2/monitor/{id}`. Absent fields keep their values.
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
    pub targets: Option<Vec<Target>>,
    /// New receiver of events.
    #[field(bounds = Family::Monitor, label = "Webhook")]
    pub webhook: Option<WebhookSpec>,
    /// New notification settings.
    pub notification: Option<Map<String, Value>>,
    /// How long checks are kept.
    #[field(bounds = 1..=MAX_RETENTION_DAYS, label = "Retention", unit = "days")]
    pub retention_days: Option<u64>,
    /// The changes that matter, in words.
    #[field(bounds = 0..=MAX_GOAL_CHARS, label = "Goal")]
    pub goal: Option<String>,
    /// Judge changes by the goal.
    #[field(label = "Judge changes")]
    pub judge_enabled: Option<bool>,
    /// Run or pause the monitor.
    #[field(label = "Status")]
    pub status: Option<MonitorSwitch>,
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(Schedule, MonitorRequest, MonitorChange);

impl FieldType for Target {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        let required = |name, help, schema| Field {
            required: true,
            ..Field::new(name, help, schema)
        };
        let options = || {
            Field::new(
                "scrapeOptions",
                "How each page is fetched.",
                ScrapeOptions::schema(()),
            )
        };
        let hosts = || Vec::<String>::schema((0..=MAX_LIST_ITEMS, 1..=MAX_SHORT_TEXT_CHARS));
        let crawl = CrawlRequest::fields();
        let crawl = crawl
            .into_iter()
            .filter(|field| !["url", "scrapeOptions"].contains(&field.name));
        let queries = Vec::<String>::schema((1..=MAX_QUERIES, 1..=MAX_SEARCH_QUERY_CHARS));
        Schema::OneOf(vec![
            Schema::tagged(
                "ScrapeTarget",
                "scrape",
                vec![
                    required(
                        "urls",
                        "URLs of the pages.",
                        Vec::<TargetUrl>::schema((1..=MAX_BATCH_URLS, ())),
                    ),
                    options(),
                ],
            ),
            Schema::tagged(
                "CrawlTarget",
                "crawl",
                vec![
                    required("url", "URL where the crawl starts.", TargetUrl::schema(())),
                    Field::new(
                        "crawlOptions",
                        "Options of the crawl.",
                        Schema::Object("CrawlOptions", crawl.collect()),
                    ),
                    options(),
                ],
            ),
            Schema::tagged(
                "SearchTarget",
                "search",
                vec![
                    required("queries", "Search queries.", queries),
                    Field {
                        default: Some(SearchWindow::Day.to_node()),
                        ..Field::new("searchWindow", "Age of the results.", SearchWindow::schema(()))
                    },
                    Field {
                        default: Some(DEFAULT_RESULTS.to_node()),
                        ..Field::new(
                            "maxResults",
                            "Results per query.",
                            Schema::Integer(1..=MAX_RESULTS),
                        )
                    },
                    Field::new("includeDomains", "Only results of these hosts.", hosts()),
                    Field::new("excludeDomains", "No results of these hosts.", hosts()),
                ],
            ),
        ])
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        slot.object(Self::read_fields).flatten()
    }

    fn placeholder() -> Self {
        Target::Scrape {
            urls: Vec::new(),
            scrape_options: Box::default(),
        }
    }
}
