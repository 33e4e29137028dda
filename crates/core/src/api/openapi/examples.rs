//! Example values of the document, and lists of errors that several operations share.

use serde_json::{Value, json};

use crate::api::TargetUrl;
use crate::api::agent::{AgentEntry, AgentEntryOptions, AgentSettings, AgentStatus, Agents};
use crate::api::browser::{BrowserCreated, BrowserSession, BrowserSessions, SessionStatus};
use crate::api::crawl::{ActiveCrawl, ActiveCrawls, CrawlRequest, SitemapMode};
use crate::api::error::ErrorCode;
use crate::api::interact::{ExecuteResponse, SessionEnded};
use crate::api::job::{JobErrorEntry, JobErrors, JobProgress, JobStatus};
use crate::api::map::{MapLink, MapResponse};
use crate::api::page::{Document, Metadata};
use crate::api::params_preview::{CrawlParams, ParamsPreview};
use crate::api::search_response::{SearchResponse, SearchResults, WebResult};
use crate::api::support::{DocsResponse, Evidence, ModelUsage};
use crate::api::team::{
    API_VERSION, Activity, ActivityEntry, CreditPeriod, CreditUsage, Endpoint, KeyUse, QueueStatus,
    UsageHistory, UsageQuery,
};
use crate::ids::{JobId, TeamId};
use crate::month::Month;
use crate::time::Timestamp;

/// Errors of fetching a page.
pub(super) const TARGET_ERRORS: &[ErrorCode] = &[
    ErrorCode::DnsResolution,
    ErrorCode::ActionsNotSupported,
    ErrorCode::UnsupportedFile,
    ErrorCode::InsufficientCredits,
    ErrorCode::Forbidden,
    ErrorCode::UnsafeTarget,
    ErrorCode::NoCachedData,
    ErrorCode::LockdownCacheMiss,
    ErrorCode::ScrapeTimeout,
    ErrorCode::ProfileBusy,
    ErrorCode::ConcurrencyLimited,
    ErrorCode::SiteError,
    ErrorCode::SslError,
    ErrorCode::AllEnginesFailed,
    ErrorCode::ActionError,
    ErrorCode::PdfError,
    ErrorCode::NotConfigured,
];

/// Errors of starting a job.
pub(super) const JOB_ERRORS: &[ErrorCode] = &[
    ErrorCode::ActionsNotSupported,
    ErrorCode::InsufficientCredits,
    ErrorCode::Forbidden,
    ErrorCode::UnsafeTarget,
    ErrorCode::Conflict,
    ErrorCode::NotConfigured,
];

/// Errors of opening a browser session, and of running code or a prompt in it.
pub(super) const SESSION_ERRORS: &[ErrorCode] = &[
    ErrorCode::InsufficientCredits,
    ErrorCode::Forbidden,
    ErrorCode::ProfileBusy,
    ErrorCode::ConcurrencyLimited,
    ErrorCode::BrowserError,
    ErrorCode::NotConfigured,
];

pub(super) const TIME: Timestamp = Timestamp(1_769_850_300_000);
const LATER: Timestamp = Timestamp(1_769_936_700_000);
const MONTH: (Timestamp, Timestamp) = (Timestamp(1_767_225_600_000), Timestamp(1_769_904_000_000));

pub(super) fn later() -> Timestamp {
    LATER
}

pub(super) fn id() -> JobId {
    JobId(uuid::Uuid::from_u128(0x018f_2f9e_0000_7000_8000_0000_0000_0001))
}

fn url() -> String {
    "https://example.com/".to_owned()
}

fn on_server(path: &str) -> String {
    format!("http://localhost:3002{path}")
}

pub(super) fn status_url(prefix: &str) -> String {
    on_server(&format!("/v2/{prefix}/{}", id()))
}

pub(super) fn document() -> Document {
    Document {
        markdown: Some("# Example Domain\n".to_owned()),
        links: Some(vec!["https://www.iana.org/domains/example".to_owned()]),
        metadata: Metadata {
            title: Some("Example Domain".to_owned()),
            language: Some("en".to_owned()),
            source_url: Some("https://example.com".to_owned()),
            url: Some(url()),
            status_code: Some(200),
            scrape_id: Some(id().into()),
            content_type: Some("text/html".to_owned()),
            credits_used: Some(1),
            proxy_used: Some("basic".to_owned()),
            scrape_engine: Some("http".to_owned()),
            scrape_engine_reason: Some("content".to_owned()),
            cache_state: Some("miss".to_owned()),
            ..Metadata::default()
        },
        ..Document::default()
    }
}

pub(super) fn progress() -> JobProgress {
    JobProgress {
        success: true,
        status: JobStatus::Completed,
        total: 1,
        completed: 1,
        credits_used: 1,
        expires_at: Some(LATER),
        created_at: Some(TIME),
        completed_at: Some(TIME),
        duration: Some(1.5),
        next: None,
        warning: None,
        error: None,
        data: vec![document()],
    }
}

pub(super) fn job_errors() -> JobErrors {
    let entry = JobErrorEntry {
        id: id().into(),
        timestamp: TIME,
        url: url(),
        code: ErrorCode::ScrapeTimeout,
        error: "The page did not respond within 60000 ms.".to_owned(),
    };
    JobErrors::new(vec![entry], vec!["https://example.com/private".to_owned()])
}

pub(super) fn active_crawls() -> ActiveCrawls {
    let team = TeamId(uuid::Uuid::from_u128(0x018f_2f9e_0000_7000_8000_0000_0000_0002));
    let request = CrawlRequest::new(target());
    let mut crawl = ActiveCrawl::new(id(), team, TIME, &request);
    let shown = ["limit", "sitemap", "maxDiscoveryDepth", "crawlEntireDomain"];
    crawl.options.retain(|name, _| shown.contains(&name.as_str()));
    ActiveCrawls {
        success: true,
        crawls: vec![crawl],
    }
}

fn target() -> TargetUrl {
    TargetUrl::parse("https://example.com").expect("the example is a URL")
}

pub(super) fn params_preview() -> ParamsPreview {
    ParamsPreview {
        success: true,
        data: CrawlParams {
            url: "https://example.com".to_owned(),
            include_paths: Some(vec!["^/blog/".to_owned()]),
            sitemap: Some(SitemapMode::Include),
            limit: Some(100),
            ..CrawlParams::default()
        },
        warning: None,
    }
}

pub(super) fn map() -> MapResponse {
    MapResponse {
        success: true,
        id: Some(id()),
        links: vec![MapLink {
            url: url(),
            title: Some("Example Domain".to_owned()),
            description: None,
        }],
        warning: None,
    }
}

pub(super) fn search() -> SearchResponse {
    SearchResponse {
        success: true,
        id: Some(id()),
        credits_used: 2,
        data: SearchResults {
            web: Some(vec![WebResult {
                url: url(),
                title: "Example Domain".to_owned(),
                description: "This domain is for use in documentation examples.".to_owned(),
                position: Some(1),
                ..WebResult::default()
            }]),
            ..SearchResults::default()
        },
        warning: None,
    }
}

pub(super) fn extracted() -> Value {
    json!({ "name": "Example Inc." })
}

pub(super) fn agents() -> Agents {
    Agents {
        success: true,
        agents: vec![AgentEntry {
            id: id(),
            created_at: TIME,
            target_hint: "https://example.com".to_owned(),
            origin: Some("api".to_owned()),
            integration: None,
            settings: AgentSettings::default(),
            status: AgentStatus::Completed,
            error: None,
            options: AgentEntryOptions {
                prompt: "Find the founders of Example Inc.".to_owned(),
                ..AgentEntryOptions::default()
            },
            thread_id: Some(id().0),
            thread_turn: Some(1),
        }],
        next: None,
    }
}

const VIEW: &str = "/live/5f0c2d7a";

pub(super) fn browser_created() -> BrowserCreated {
    BrowserCreated {
        success: true,
        id: id().to_string(),
        cdp_url: "ws://localhost:3002/cdp/9b1e4c3d".to_owned(),
        live_view_url: on_server(VIEW),
        interactive_live_view_url: on_server("/live/7d3a90e2"),
        expires_at: LATER,
    }
}

pub(super) fn browser_sessions() -> BrowserSessions {
    let created = browser_created();
    BrowserSessions {
        success: true,
        sessions: vec![BrowserSession {
            id: created.id,
            status: SessionStatus::Active,
            cdp_url: created.cdp_url,
            live_view_url: created.live_view_url,
            interactive_live_view_url: created.interactive_live_view_url,
            stream_web_view: true,
            created_at: TIME,
            last_activity: TIME,
        }],
    }
}

pub(super) fn executed() -> ExecuteResponse {
    let created = browser_created();
    ExecuteResponse {
        success: true,
        live_view_url: Some(created.live_view_url),
        interactive_live_view_url: Some(created.interactive_live_view_url),
        cdp_url: Some(created.cdp_url),
        session_id: Some(created.id),
        output: None,
        stdout: Some(String::new()),
        stderr: Some(String::new()),
        result: Some("Example Domain".to_owned()),
        exit_code: Some(0),
        killed: Some(false),
        error: None,
        files: Vec::new(),
    }
}

pub(super) fn session_ended() -> SessionEnded {
    SessionEnded {
        success: true,
        session_duration_ms: 42_000,
        credits_billed: 2,
        error: None,
    }
}

pub(super) fn docs() -> DocsResponse {
    DocsResponse {
        success: true,
        request_id: id().to_string(),
        answer: "Set `limit`: a crawl fetches at most that many pages.".to_owned(),
        evidence: vec![Evidence {
            path_or_url: on_server("/docs/crawl"),
            reason: "Crawl".to_owned(),
        }],
        usage: ModelUsage::default(),
        duration_ms: 3,
    }
}

pub(super) fn activity() -> Activity {
    Activity {
        success: true,
        data: vec![ActivityEntry {
            id: id(),
            endpoint: Endpoint::Scrape,
            api_version: API_VERSION.to_owned(),
            created_at: TIME,
            target: Some("https://example.com".to_owned()),
            audit_metadata: None,
        }],
        cursor: None,
        has_more: false,
    }
}

pub(super) fn credit_usage() -> CreditUsage {
    CreditUsage {
        remaining_credits: 9_880,
        plan_credits: 10_000,
        billing_period_start: MONTH.0,
        billing_period_end: MONTH.1,
    }
}

pub(super) fn credit_history() -> UsageHistory<CreditPeriod> {
    let month = Month::of(TIME);
    let used = KeyUse {
        month,
        api_key: "ci".to_owned(),
        credits: 120,
    };
    UsageHistory::of(vec![used], UsageQuery::default(), month, "ci")
}

pub(super) fn queue_status() -> QueueStatus {
    QueueStatus::of(12, 4, 64, Some(TIME))
}
