//! The uncommitted changes of a job, in order, and how they are split into batches. One commit is
//! outstanding at a time. An outcome is never committed before the offers of its page, so a crash
//! between two batches loses nothing: the page is fetched again and its offers are already known.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use url::Url;

use crate::api::page::Document;
use crate::crawl::batch::{Batch, JobEnd, Offer, ProcessingCounts, Progress, SettledOutcome, SettledUrl};
use crate::crawl::limits::{
    BACKLOG_MAX_BYTES, BACKLOG_MAX_PAGES, BATCH_MAX_BYTES, BATCH_MAX_OFFERS, BATCH_MAX_SETTLED, CHANGES_KEPT,
    FEW_PAGES, GATHER_FEW_MS, GATHER_MS,
};
use crate::url_key::UrlKey;

/// One change. Data that must be stored together is in one change.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A URL to admit.
    Offer(Offer),
    /// A URL that robots.txt blocked before it was offered.
    Blocked(UrlKey, Url),
    /// The outcome of an admitted URL.
    Settled(Box<Outcome>),
    /// A message for the user.
    Warning(String),
    /// A fetch started; the number counts the owners that started one for this URL.
    FetchStarted(UrlKey, u32),
    /// The page waits for the browser: an owner lost in the meantime was not lost because of it.
    RenderQueued(UrlKey),
    /// The seed was offered or rejected.
    SeedOffered,
    /// The sitemaps were read.
    SitemapsDone,
    /// The scope root moved before any page was fetched.
    Root(Url),
}

/// An outcome with the changes that must be stored with it.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) settled: SettledUrl,
    /// Final URL of a redirect.
    pub(super) alias: Option<UrlKey>,
    /// The URL that robots.txt blocked.
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

/// The uncommitted changes of one owner.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    queue: VecDeque<Change>,
    pages: usize,
    bytes: usize,
    /// Number of the last batch handed out.
    number: u64,
    /// Whether that batch awaits its response.
    outstanding: bool,
    /// Progress after the last batch handed out.
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

    /// Returns the processing counters, which are stored with the next batch.
    pub(super) fn processing(&mut self) -> &mut ProcessingCounts {
        &mut self.progress.pace
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the URLs that are settled here, but not yet in the store.
    pub(super) fn settled_keys(&self) -> HashSet<UrlKey> {
        let key = |change: &Change| match change {
            Change::Settled(outcome) => Some(outcome.settled.key),
            _ => None,
        };
        self.queue.iter().filter_map(key).collect()
    }

    /// Returns whether a URL is settled here.
    pub(super) fn has_settled(&self, key: UrlKey) -> bool {
        let is_settled =
            |change: &Change| matches!(change, Change::Settled(outcome) if outcome.settled.key == key);
        self.queue.iter().rev().any(is_settled)
    }

    /// Returns whether a batch awaits its response.
    pub(super) fn is_outstanding(&self) -> bool {
        self.outstanding
    }

    /// Returns whether the backlog is so large that no further page may start.
    pub(super) fn is_full(&self) -> bool {
        self.pages >= BACKLOG_MAX_PAGES || self.bytes >= BACKLOG_MAX_BYTES
    }

    /// Returns how long changes are gathered into one batch.
    pub(super) fn gathering_time(&self) -> Duration {
        let is_little = self.pages < FEW_PAGES && self.bytes < BATCH_MAX_BYTES;
        Duration::from_millis(match is_little {
            true => GATHER_FEW_MS,
            false => GATHER_MS,
        })
    }

    /// Records the response to the outstanding batch, so that the next can be sent. Returns whether
    /// `number` is that batch.
    pub(super) fn acknowledge(&mut self, number: u64) -> bool {
        let expected = self.outstanding && number == self.number;
        if expected {
            self.outstanding = false;
        }
        expected
    }

    /// Cuts the next batch. Calls `end` when the batch takes the last change and offers nothing.
    pub(super) fn next_batch(&mut self, end: impl FnOnce() -> Option<JobEnd>) -> Batch {
        let mut batch = Batch {
            number: self.number + 1,
            ..Batch::default()
        };
        let backlog_bytes = self.bytes;
        while let Some(change) = self.queue.pop_front() {
            let full = match &change {
                Change::Settled(outcome) => {
                    let bytes = backlog_bytes - self.bytes;
                    batch.settled.len() >= BATCH_MAX_SETTLED
                        || (bytes > 0 && bytes + outcome.bytes() > BATCH_MAX_BYTES)
                }
                Change::Offer(_) | Change::Blocked(..) => {
                    batch.offers.len() + batch.robots_blocked.len() >= BATCH_MAX_OFFERS
                }
                Change::Warning(_)
                | Change::FetchStarted(..)
                | Change::RenderQueued(_)
                | Change::SeedOffered
                | Change::SitemapsDone
                | Change::Root(_) => false,
            };
            if full {
                self.queue.push_front(change);
                break;
            }
            self.apply(change, &mut batch);
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

    fn apply(&mut self, change: Change, batch: &mut Batch) {
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
            Change::FetchStarted(key, owners) => drop(self.progress.begun.insert(key, owners)),
            Change::RenderQueued(key) => drop(self.progress.begun.remove(&key)),
            Change::SeedOffered => self.progress.seed_offered = true,
            Change::SitemapsDone => self.progress.sitemaps_done = true,
            Change::Root(url) => self.progress.root = Some(url),
        }
    }
}

/// Estimates the size of a document's text in bytes.
pub fn document_bytes(document: &Document) -> usize {
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
