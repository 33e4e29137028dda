//! What happened since the last commit, in order, and how it is cut into batches. One commit is
//! out at a time; an outcome never leaves before the offers of its page, so that a crash between
//! two batches loses nothing: the page is fetched again and its offers are known already.

use std::collections::VecDeque;

use url::Url;

use crate::api::page::Document;
use crate::crawl::batch::{Batch, JobEnd, Offer, PaceCounts, Progress, Settled, SettledOutcome};
use crate::crawl::limits::{
    BACKLOG_MAX_BYTES, BACKLOG_MAX_PAGES, BATCH_MAX_BYTES, BATCH_MAX_OFFERS, BATCH_MAX_SETTLED, CHANGES_KEPT,
};
use crate::url_key::UrlKey;

/// One change; what must be stored together is one.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A URL to admit.
    Offer(Offer),
    /// A URL refused by robots.txt before it was offered.
    Blocked(UrlKey, Url),
    /// An outcome.
    Settled(Box<Outcome>),
    /// A sentence for the caller.
    Warning(String),
    /// The fetch of a URL began; so many owners have begun it.
    Begun(UrlKey, u32),
    /// The page waits: an owner that is lost meanwhile was not lost over it.
    SetAside(UrlKey),
    /// The seed was offered or refused.
    SeedOffered,
    /// The sitemaps were read.
    SitemapsDone,
    /// The scope root moved before any page was fetched.
    Root(Url),
}

/// An outcome with what belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) settled: Settled,
    /// Final URL of a redirect.
    pub(super) alias: Option<UrlKey>,
    /// The URL that robots.txt refused.
    pub(super) blocked: Option<(UrlKey, Url)>,
    /// Scope root after a redirect of the seed.
    pub(super) root: Option<Url>,
}

impl Outcome {
    fn bytes(&self) -> usize {
        match &self.settled.outcome {
            SettledOutcome::Page { document, .. } => document_bytes(document),
            SettledOutcome::Failed(_) | SettledOutcome::Dropped(_) => 0,
        }
    }
}

/// The changes of one owner that are not committed.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    queue: VecDeque<Change>,
    pages: usize,
    bytes: usize,
    /// Number of the last batch that left.
    number: u64,
    /// It is not answered yet.
    outstanding: bool,
    /// Where the owner stood after the last batch that left.
    progress: Progress,
}

impl Changes {
    pub(super) fn new(last_batch: u64, progress: Progress) -> Self {
        Self {
            queue: VecDeque::new(),
            pages: 0,
            bytes: 0,
            number: last_batch,
            outstanding: false,
            progress,
        }
    }

    pub(super) fn push(&mut self, change: Change) {
        if let Change::Settled(outcome) = &change {
            self.pages += 1;
            self.bytes += outcome.bytes();
        }
        self.queue.push_back(change);
    }

    /// What the pages took so far; goes with the next batch.
    pub(super) fn pace(&mut self) -> &mut PaceCounts {
        &mut self.progress.pace
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// A batch is out and not answered.
    pub(super) fn is_outstanding(&self) -> bool {
        self.outstanding
    }

    /// So much waits for a commit that no further page shall be fetched.
    pub(super) fn is_full(&self) -> bool {
        self.pages >= BACKLOG_MAX_PAGES || self.bytes >= BACKLOG_MAX_BYTES
    }

    /// Whether this answer belongs to the batch that is out; from then on the next may leave.
    pub(super) fn answered(&mut self, number: u64) -> bool {
        let expected = self.outstanding && number == self.number;
        if expected {
            self.outstanding = false;
        }
        expected
    }

    /// Cuts the next batch off. `end` is asked for when the batch takes the last change and
    /// offers nothing.
    pub(super) fn next_batch(&mut self, end: impl FnOnce() -> Option<JobEnd>) -> Batch {
        let mut batch = Batch {
            number: self.number + 1,
            ..Batch::default()
        };
        let mut bytes = 0;
        while let Some(change) = self.queue.pop_front() {
            let full = match &change {
                Change::Settled(outcome) => {
                    let more = outcome.bytes();
                    batch.settled.len() >= BATCH_MAX_SETTLED
                        || (bytes > 0 && bytes + more > BATCH_MAX_BYTES)
                        || {
                            bytes += more;
                            false
                        }
                }
                Change::Offer(_) | Change::Blocked(..) => {
                    batch.offers.len() + batch.robots_blocked.len() >= BATCH_MAX_OFFERS
                }
                Change::Warning(_)
                | Change::Begun(..)
                | Change::SetAside(_)
                | Change::SeedOffered
                | Change::SitemapsDone
                | Change::Root(_) => false,
            };
            if full {
                self.queue.push_front(change);
                break;
            }
            self.take(change, &mut batch);
        }
        batch.progress = self.progress.clone();
        if self.queue.is_empty() {
            self.queue.shrink_to(CHANGES_KEPT);
        }
        if self.queue.is_empty() && batch.offers.is_empty() {
            batch.end = end();
        }
        self.number += 1;
        self.outstanding = true;
        batch
    }

    fn take(&mut self, change: Change, batch: &mut Batch) {
        match change {
            Change::Offer(offer) => batch.offers.push(offer),
            Change::Blocked(key, url) => batch.robots_blocked.push((key, url)),
            Change::Settled(outcome) => {
                self.pages -= 1;
                self.bytes -= outcome.bytes();
                batch.aliases.extend(outcome.alias);
                batch.robots_blocked.extend(outcome.blocked);
                if outcome.root.is_some() {
                    self.progress.root = outcome.root;
                }
                self.progress.begun.remove(&outcome.settled.key);
                batch.settled.push(outcome.settled);
            }
            Change::Warning(text) => batch.warnings.push(text),
            Change::Begun(key, owners) => drop(self.progress.begun.insert(key, owners)),
            Change::SetAside(key) => drop(self.progress.begun.remove(&key)),
            Change::SeedOffered => self.progress.seed_offered = true,
            Change::SitemapsDone => self.progress.sitemaps_done = true,
            Change::Root(url) => self.progress.root = Some(url),
        }
    }
}

/// About how much text a document holds.
fn document_bytes(document: &Document) -> usize {
    let text = |part: &Option<String>| part.as_ref().map_or(0, String::len);
    let list = |part: &Option<Vec<String>>| {
        part.as_ref()
            .map_or(0, |list| list.iter().map(|item| item.len() + 4).sum::<usize>())
    };
    1024 + text(&document.markdown)
        + text(&document.html)
        + text(&document.raw_html)
        + text(&document.screenshot)
        + text(&document.summary)
        + list(&document.links)
        + list(&document.images)
        + document
            .pages
            .as_ref()
            .map_or(0, |pages| pages.iter().map(|page| page.markdown.len()).sum())
}
