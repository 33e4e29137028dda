//! What a crawl asks to be stored, and what the store answers. A [`Batch`] is the only thing that
//! changes the stored state of a job: it is committed in one transaction, once, or not at all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::api::error::ErrorCode;
use crate::api::page::Document;
use crate::host::HostKey;
use crate::ids::ScrapeId;
use crate::url_key::UrlKey;

/// How a URL came to be known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The URL the crawl starts from.
    Seed,
    /// An entry of a sitemap; depth 0.
    Sitemap,
    /// A link on a fetched page.
    Link,
    /// An address that a batch scrape was given.
    Given,
    /// The same, given without a scheme: `https` is a guess.
    Guessed,
}

impl Source {
    /// Whether the caller asked for this very page: it is answered for whatever it leads to.
    pub fn is_given(self) -> bool {
        match self {
            Source::Given | Source::Guessed => true,
            Source::Seed | Source::Sitemap | Source::Link => false,
        }
    }
}

/// A URL in scope and not seen before by this owner, or given by the caller. The store admits it,
/// keeps it as spare when the limit is reached, or knows it already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Identity after normalisation.
    pub key: UrlKey,
    /// The address as found, absolute, without fragment.
    pub url: Url,
    /// Politeness unit of `url`.
    pub host: HostKey,
    /// Discovery depth: 0 for the seed and sitemap entries.
    pub depth: u32,
    /// How it was found.
    pub source: Source,
    /// The page with the first link to it; none for a URL that no link led to.
    pub found_on: Option<UrlKey>,
}

/// One URL that the store admitted: it counts against `limit` and shall be fetched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Admitted {
    /// Identity, as offered.
    pub key: UrlKey,
    /// Address, as offered.
    pub url: Url,
    /// Discovery depth, as offered.
    pub depth: u32,
    /// How it was found, as offered.
    pub source: Source,
    /// Owners that were lost while they fetched it (0 for a new one).
    pub attempts: u32,
}

/// What became of one admitted URL. Each admitted URL gets exactly one settled outcome.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Identity, as admitted.
    pub key: UrlKey,
    /// Address, as admitted.
    pub url: Url,
    /// The result.
    pub outcome: SettledOutcome,
}

/// See [`Settled`].
#[derive(Clone, Debug)]
pub enum SettledOutcome {
    /// A page document for the caller: counts as completed, is charged `credits`.
    Page {
        /// The document as the caller receives it.
        document: Box<Document>,
        /// Credits of this page (0 or more).
        credits: u32,
    },
    /// Could not be fetched at all: listed in errors, costs nothing, keeps its place.
    Failed(PageError),
    /// Turned out not to count (redirect to a known page or out of scope, refused by robots.txt):
    /// its place goes to the next offer. With an error it is listed in errors too.
    Dropped(Option<PageError>),
}

/// An entry of `GET /v2/crawl/{id}/errors`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageError {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// Machine code, for example `SCRAPE_TIMEOUT` or `OUT_OF_SCOPE`.
    pub code: ErrorCode,
    /// Human sentence.
    pub message: String,
}

/// How a job ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobEnd {
    /// Everything admitted is settled.
    Completed,
    /// Nothing could be done: the start page was unreachable and there was no other seed.
    Failed {
        /// Human sentence for the status answer.
        error: String,
    },
}

/// Where an owner stands, stored with the shard so that the next one goes on there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// The seed was offered (or refused by scope or robots.txt).
    pub seed_offered: bool,
    /// Every sitemap was read (or there is none); until then a restart reads them again.
    pub sitemaps_done: bool,
    /// Scope root after a redirect of the seed (contract section 5 rule 12).
    pub root: Option<Url>,
    /// URLs whose fetch began and has no outcome yet, each with the number of owners that began
    /// it: what a lost owner was working on.
    #[serde(default)]
    pub begun: BTreeMap<UrlKey, u32>,
    /// What its pages took so far.
    #[serde(default)]
    pub pace: PaceCounts,
}

/// What the pages of a job took beside one fetch each; attempts of a page count each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PaceCounts {
    /// Opened in the browser.
    pub in_browser: u64,
    /// Waited for a slot, of the team or of the browser.
    pub waited: u64,
    /// Tried again.
    pub retried: u64,
}

/// Changes of one job since the last commit, in the order they happened.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// 1 for the first of a shard, then one more each; the store refuses anything else and
    /// recognises a repeat.
    pub number: u64,
    /// Outcomes of admitted URLs.
    pub settled: Vec<Settled>,
    /// New URLs in order of discovery.
    pub offers: Vec<Offer>,
    /// Final URLs of redirects: known from now on, never fetched, never counted.
    pub aliases: Vec<UrlKey>,
    /// URLs refused by robots.txt, listed for the caller; known from now on.
    pub robots_blocked: Vec<(UrlKey, Url)>,
    /// Sentences for `warning` in the status answer; each is said once.
    pub warnings: Vec<String>,
    /// Seeding state after this batch.
    pub progress: Progress,
    /// Set when the crawl believes that nothing is left to do. The store confirms: with spare
    /// URLs promoted by a place given back it admits those instead and the job goes on.
    pub end: Option<JobEnd>,
}

/// The store's answer to a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Committed {
    /// Number of the batch.
    pub number: u64,
    /// URLs that may be fetched from now on, in order.
    pub admitted: Vec<Admitted>,
    /// Whether the job goes on.
    pub state: JobState,
}

/// Whether a job goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobState {
    /// More to do.
    Running,
    /// Completed, failed, cancelled or expired: the owner stops and drops the shard.
    Ended,
}

/// What the owner of a shard loads when it takes over.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// Number of the last committed batch; 0 for a new job.
    pub last_batch: u64,
    /// Seeding state.
    pub progress: Progress,
    /// Every URL key of the job: open, settled, spare, alias and refused ones.
    pub seen: Vec<UrlKey>,
    /// Admitted and not settled, in order of admission.
    pub open: Vec<Admitted>,
    /// Places taken so far.
    pub admitted: u64,
    /// Pages stored so far.
    pub completed: u64,
    /// URLs settled as failed so far.
    pub failed: u64,
    /// URLs kept as spare.
    pub spare: u64,
}
