//! The crawl as a state machine: it decides, the shell does. It never fetches, stores, waits or
//! looks at a clock.
//!
//! The shell hands in what happened ([`Crawl::handle`]) and asks what to do next
//! ([`Crawl::poll`]). A task starts only after the batch that admitted its URL is committed.

pub mod batch;
pub mod limits;

pub use batch::{
    Admitted, Batch, Committed, JobEnd, JobState, Offer, PageError, Progress, Settled, SettledOutcome,
    Snapshot, Source,
};

use url::Url;

use crate::api::error::ErrorCode;
use crate::api::page::Document;
use crate::host::HostKey;
use crate::ids::ScrapeId;
use crate::robots::Robots;
use crate::sitemap::Sitemap;
use crate::url_key::UrlKey;

/// What the operator and the team allow a crawl, beside its own request.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    /// Product token matched against robots.txt groups, unless the request names one.
    pub robots_agent: String,
    /// Pages of this job in flight at once, at most (the team limit).
    pub max_concurrency: u32,
}

/// One URL to fetch and render with the job's scrape options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageTask {
    /// Identity.
    pub key: UrlKey,
    /// Address to fetch.
    pub url: Url,
    /// Discovery depth.
    pub depth: u32,
    /// 1 for the first attempt.
    pub attempt: u32,
}

/// What happened outside.
#[derive(Debug)]
pub enum Input {
    /// Answer to [`Output::FetchRobots`].
    RobotsFetched {
        /// Host that was asked.
        host: HostKey,
        /// What came back.
        robots: RobotsOutcome,
    },
    /// Answer to [`Output::FetchSitemap`]; `None` when it could not be fetched or read.
    SitemapFetched {
        /// Address that was asked.
        url: Url,
        /// Parsed file.
        sitemap: Option<Sitemap>,
    },
    /// Answer to [`Output::FetchPage`].
    PageFetched {
        /// Identity of the task.
        key: UrlKey,
        /// What came back.
        outcome: PageOutcome,
    },
    /// Answer to [`Output::Commit`].
    Committed(Committed),
}

/// A robots.txt after RFC 9309 section 2.3.1.
#[derive(Clone, Debug)]
pub enum RobotsOutcome {
    /// 2xx: the parsed rules.
    Found(Robots),
    /// 4xx: everything is allowed.
    Missing,
    /// 5xx, timeout or no connection: asked again up to 3 times, then everything is refused.
    Unreachable,
}

/// Result of one page task.
#[derive(Clone, Debug)]
pub enum PageOutcome {
    /// The target answered, with whatever status.
    Page(Box<FetchedPage>),
    /// No answer that could be used.
    Failed(FetchFailure),
}

/// A fetched and rendered page.
#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// URL after redirects.
    pub final_url: Url,
    /// HTTP status.
    pub status: u16,
    /// Every link of the page that a crawl may follow, absolute, document order.
    pub links: Vec<Url>,
    /// Rendered document; `metadata.scrape_id` is set.
    pub document: Box<Document>,
    /// Credits of this page.
    pub credits: u32,
    /// `Retry-After` of the response, in ms.
    pub retry_after_ms: Option<u64>,
}

/// Why a page could not be fetched.
#[derive(Clone, Debug)]
pub struct FetchFailure {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// Machine code.
    pub code: ErrorCode,
    /// Human sentence.
    pub message: String,
    /// Whether another attempt may help (timeout, reset, refused connection; not DNS, TLS, unsafe).
    pub passing: bool,
}

/// What the shell shall do.
#[derive(Debug)]
pub enum Output {
    /// Fetch a robots.txt and answer with [`Input::RobotsFetched`].
    FetchRobots {
        /// Whose.
        host: HostKey,
        /// Address.
        url: Url,
    },
    /// Fetch a sitemap and answer with [`Input::SitemapFetched`].
    FetchSitemap {
        /// Address.
        url: Url,
    },
    /// Fetch and render a page and answer with [`Input::PageFetched`].
    FetchPage(PageTask),
    /// Commit in one transaction and answer with [`Input::Committed`]. At most one is out at a time.
    Commit(Batch),
    /// The job ended (by itself or from outside): nothing more will be asked for.
    Finish,
}
