//! What a crawl commits to the store, and the store's response. A [`Batch`] is the only thing that
//! changes the stored state of a job: it is committed in one transaction, once, or not at all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::api::error::ErrorCode;
use crate::api::page::Document;
use crate::host::HostKey;
use crate::ids::ScrapeId;
use crate::url_key::UrlKey;

/// How a URL became known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The URL the crawl starts from.
    Seed,
    /// An entry of a sitemap; depth 0.
    Sitemap,
    /// A link on a fetched page.
    Link,
    /// A URL listed in a batch scrape request.
    Given,
    /// A URL listed in a batch scrape request without a scheme, so `https` is a guess.
    Guessed,
}

impl Source {
    /// Returns whether the caller listed this page: it then gets a result wherever it redirects to.
    pub fn is_given(self) -> bool {
        match self {
            Source::Given | Source::Guessed => true,
            Source::Seed | Source::Sitemap | Source::Link => false,
        }
    }
}

/// A URL that is new to this owner and in scope, or that the caller listed. The store admits it, keeps
/// it as spare when the limit is reached, or already knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Normalized identity.
    pub key: UrlKey,
    /// Absolute URL as found, without fragment.
    pub url: Url,
    /// Host of `url`.
    pub host: HostKey,
    /// Discovery depth: 0 for the seed and sitemap entries.
    pub depth: u32,
    /// How it was found.
    pub source: Source,
    /// The page with the first link to it; `None` if no link led to it.
    pub found_on: Option<UrlKey>,
}

/// A URL that the store admitted: it counts against `limit` and must be fetched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdmittedUrl {
    /// Identity, as offered.
    pub key: UrlKey,
    /// URL, as offered.
    pub url: Url,
    /// Discovery depth, as offered.
    pub depth: u32,
    /// How it was found, as offered.
    pub source: Source,
    /// Number of owners that were lost while they fetched it; 0 for a new URL.
    pub attempts: u32,
}

/// The final outcome of one admitted URL. Each admitted URL gets exactly one.
#[derive(Clone, Debug)]
pub struct SettledUrl {
    /// Identity, as admitted.
    pub key: UrlKey,
    /// URL, as admitted.
    pub url: Url,
    /// The result.
    pub outcome: SettledOutcome,
}

/// See [`SettledUrl`].
#[derive(Clone, Debug)]
pub enum SettledOutcome {
    /// A page document for the caller: counts as completed and is charged.
    Page {
        /// The document as the caller receives it.
        document: Box<Document>,
        /// Credits of this page (0 or more).
        credits: u32,
    },
    /// Could not be fetched: listed in errors, free, still counts against `limit`.
    Failed(PageError),
    /// Does not count (redirected to a known page or out of scope, or blocked by robots.txt): a spare URL
    /// is admitted instead. With an error it is also listed in errors.
    Dropped(Option<PageError>),
}

/// An entry of `GET /v2/crawl/{id}/errors`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageError {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// Machine code, for example `SCRAPE_TIMEOUT` or `OUT_OF_SCOPE`.
    pub code: ErrorCode,
    /// Message for the user.
    pub message: String,
}

/// How a job ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnd {
    /// Everything admitted is settled.
    Completed,
    /// The start page was unreachable and there was no other seed.
    Failed {
        /// Message for the status response.
        error: String,
    },
}

/// Progress of an owner, stored with the shard so that the next owner can continue.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// The seed was offered, or rejected by scope or robots.txt.
    pub seed_offered: bool,
    /// Every sitemap was read, or there is none; until then a restart reads them again.
    pub sitemaps_done: bool,
    /// Scope root after a redirect of the seed (docs/API.md section 5 rule 12).
    pub root: Option<Url>,
    /// URLs in flight, each with the number of owners that started to fetch it. A lost owner was
    /// working on these.
    #[serde(default)]
    pub begun: BTreeMap<UrlKey, u32>,
    /// How the job's pages were processed so far.
    #[serde(default)]
    pub pace: ProcessingCounts,
    /// URLs known from the crawl that this one continues. They do not count towards the limit of known URLs.
    #[serde(default)]
    pub inherited: u64,
}

impl Progress {
    /// Returns the progress for a crawl that continues one with this progress. The new crawl knows `inherited` URLs
    /// from the old one: those that were fetched are not fetched again, and the others wait as spare. The start page
    /// and the sitemaps are read again only if the start page could not be fetched.
    pub fn continued(self, seed_fetched: bool, inherited: u64) -> Progress {
        let start = if seed_fetched {
            Progress {
                begun: BTreeMap::new(),
                pace: ProcessingCounts::default(),
                ..self
            }
        } else {
            Progress::default()
        };
        Progress { inherited, ..start }
    }
}

/// How the pages of a job were processed; every attempt counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessingCounts {
    /// Pages opened in the browser.
    pub in_browser: u64,
    /// Pages that waited for a slot of the team or of the browser.
    pub waited: u64,
    /// Retries.
    pub retried: u64,
}

/// Changes of one job since the last commit, in the order they happened.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// 1 for the first batch of a shard, then consecutive. The store recognizes a repeat and rejects
    /// any other number.
    pub number: u64,
    /// Outcomes of admitted URLs.
    pub settled: Vec<SettledUrl>,
    /// New URLs in order of discovery.
    pub offers: Vec<Offer>,
    /// Final URLs of redirects: known from now on, never fetched, never counted.
    pub aliases: Vec<UrlKey>,
    /// URLs blocked by robots.txt, listed for the caller and known from now on.
    pub robots_blocked: Vec<(UrlKey, Url)>,
    /// Messages for `warning` in the status response; each is sent once.
    pub warnings: Vec<String>,
    /// Progress after this batch.
    pub progress: Progress,
    /// Set when the crawl finds nothing left to do. The store decides: if spare URLs can be admitted
    /// because others do not count, it admits those instead and the job continues.
    pub end: Option<JobEnd>,
}

impl Batch {
    /// Returns the credits of its pages.
    pub fn credits(&self) -> u64 {
        let credits = self.settled.iter().map(|settled| match settled.outcome {
            SettledOutcome::Page { credits, .. } => u64::from(credits),
            SettledOutcome::Failed(_) | SettledOutcome::Dropped(_) => 0,
        });
        credits.sum()
    }
}

/// The store's response to a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitResponse {
    /// Number of the batch.
    pub number: u64,
    /// URLs that may be fetched from now on, in order. After a repeated commit, whose first response was lost, every URL
    /// that the store does not know to be settled.
    pub admitted: Vec<AdmittedUrl>,
    /// Whether the job continues.
    pub state: JobState,
}

/// Whether a job continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobState {
    /// There is more to do.
    Running,
    /// Completed, failed, cancelled or expired: the owner stops and drops the shard.
    Ended,
}

/// The state that the owner of a shard loads when it takes over.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// Number of the last committed batch; 0 for a new job.
    pub last_batch: u64,
    /// Progress of the previous owner.
    pub progress: Progress,
    /// Every URL key of the job: open, settled, spare, alias and blocked ones.
    pub seen: Vec<UrlKey>,
    /// Admitted and not settled, in order of admission.
    pub open: Vec<AdmittedUrl>,
    /// URLs that count against the page limit so far.
    pub admitted: u64,
    /// Pages stored so far.
    pub completed: u64,
    /// URLs settled as failed so far.
    pub failed: u64,
    /// URLs kept as spare.
    pub spare: u64,
}
