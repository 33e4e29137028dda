//! What happens to a fetched page: a retry, a document, an error, or a URL that no longer counts. Every
//! admitted URL is settled exactly once.

use std::time::Duration;

use url::Url;
use uuid::Uuid;

use crate::api::error::ErrorCode;
use crate::crawl::batch::{PageError, Settled, SettledOutcome, Source};
use crate::crawl::changes::{Change, Outcome};
use crate::crawl::hosts::Access;
use crate::crawl::limits::{BACKOFF_FIRST_MS, RETRY_AFTER_MAX_MS};
use crate::crawl::{Crawl, FetchFailure, FetchedPage, PageOutcome, warnings};
use crate::frontier::Entry;
use crate::host::HostKey;
use crate::ids::ScrapeId;
use crate::politeness::{backoff_ms, is_transient_status};
use crate::scope::Verdict;
use crate::time::Timestamp;
use crate::url_key::UrlKey;

/// Links of pages with this status or above are ignored.
const FIRST_ERROR_STATUS: u16 = 400;

impl Outcome {
    pub(super) fn new(settled: Settled) -> Self {
        Self {
            settled,
            alias: None,
            blocked: None,
            root: None,
        }
    }
}

/// A page that counts.
#[derive(Clone, Debug)]
pub(super) struct Found {
    entry: Entry,
    page: Box<FetchedPage>,
    landed: Url,
    alias: Option<UrlKey>,
    root: Option<Url>,
}

impl Found {
    pub(super) fn is_seed(&self) -> bool {
        self.entry.source == Source::Seed
    }
}

/// Where a page's redirects ended.
enum Landing {
    /// At the URL that was requested, after normalization.
    Same,
    /// At a page that was not known; it is known from now on.
    Alias(UrlKey),
    /// At a known page: this one does not count.
    Known,
    /// At a page out of scope, with the reason.
    OutOfScope(&'static str),
    /// At a page that robots.txt disallows.
    Refused(UrlKey),
    /// On a host whose robots.txt has not been read yet.
    Unknown(HostKey),
}

impl Crawl {
    /// Processes the result of a page task. Ignores late and repeated results.
    pub(super) fn page_fetched(&mut self, now: Timestamp, key: UrlKey, outcome: PageOutcome) {
        let Some(entry) = self.running.remove(&key) else {
            return;
        };
        let (of_job, of_host) = self.end_render(key);
        if of_job {
            self.pace.end();
        }
        if of_host {
            self.frontier.ended(&entry.host, now);
        }
        match outcome {
            PageOutcome::Page(page) => {
                if is_transient_status(page.status) {
                    if let Some(wait) = quiet_ms(&page) {
                        self.frontier
                            .pause(&entry.host, now + Duration::from_millis(wait), now);
                    }
                    if let Some(wait) = backoff_ms(entry.tries + 1, page.retry_after_ms) {
                        self.try_again(entry, now + Duration::from_millis(wait));
                        return;
                    }
                }
                self.accept(now, entry, page);
            }
            PageOutcome::Failed(failure) => match backoff_ms(entry.tries + 1, None) {
                Some(wait) if failure.transient => self.try_again(entry, now + Duration::from_millis(wait)),
                _ => self.fail(entry.key, entry.url, entry.source, failure),
            },
        }
    }

    fn try_again(&mut self, mut entry: Entry, at: Timestamp) {
        entry.tries += 1;
        self.changes.pace().retried += 1;
        self.frontier.retry(entry, at);
    }

    /// Settles an admitted URL as failed.
    pub(super) fn fail(&mut self, key: UrlKey, url: Url, source: Source, failure: FetchFailure) {
        if source == Source::Seed {
            self.failure = Some(warnings::seed_unreachable(&url, &failure.message));
        }
        let error = PageError {
            id: failure.id,
            code: failure.code,
            message: failure.message,
        };
        let outcome = SettledOutcome::Failed(error);
        self.settle(source, Outcome::new(Settled { key, url, outcome }));
    }

    /// Processes a page after its last attempt, whatever its status.
    pub(super) fn accept(&mut self, now: Timestamp, entry: Entry, page: Box<FetchedPage>) {
        // The caller listed this page: it counts wherever it leads, and its links are not followed.
        if entry.source.is_given() {
            let outcome = SettledOutcome::Page {
                document: page.document,
                credits: page.credits,
            };
            return self.settle(entry.source, Outcome::new(entry.settled(outcome)));
        }
        let mut landed = page.final_url.clone();
        landed.set_fragment(None);
        let moved = landed != entry.url;
        let root =
            (moved && entry.source == Source::Seed && self.scope.rebase(&landed)).then(|| landed.clone());
        let landing = if moved {
            self.landing(&entry, &landed)
        } else {
            Landing::Same
        };
        let alias = match landing {
            Landing::Same => None,
            Landing::Alias(key) => {
                self.known.insert(key);
                Some(key)
            }
            Landing::Known => {
                let outcome = entry.settled(SettledOutcome::Dropped(None));
                return self.settle(
                    entry.source,
                    Outcome {
                        root,
                        ..Outcome::new(outcome)
                    },
                );
            }
            Landing::OutOfScope(reason) => {
                let error = PageError {
                    id: page.document.metadata.scrape_id.unwrap_or(ScrapeId(Uuid::nil())),
                    code: ErrorCode::OutOfScope,
                    message: format!("The page redirects to {landed}. {reason}"),
                };
                if entry.source == Source::Seed {
                    let warning = warnings::seed_left(&entry.url, &landed);
                    self.changes.push(Change::Warning(warning));
                }
                let outcome = entry.settled(SettledOutcome::Dropped(Some(error)));
                return self.settle(
                    entry.source,
                    Outcome {
                        root,
                        ..Outcome::new(outcome)
                    },
                );
            }
            Landing::Refused(key) => {
                self.known.insert(key);
                self.counts.robots_blocked += 1;
                self.warn_once(warnings::ROBOTS);
                let outcome = Outcome {
                    blocked: Some((key, landed)),
                    root,
                    ..Outcome::new(entry.settled(SettledOutcome::Dropped(None)))
                };
                return self.settle(entry.source, outcome);
            }
            Landing::Unknown(host) => {
                self.hosts.want(&host, now);
                self.held_pages += 1;
                return self.held.entry(host).or_default().push((entry, page));
            }
        };
        let found = Found {
            entry,
            page,
            landed,
            alias,
            root,
        };
        match self.hold_seed(now, found) {
            Some(found) => self.keep(found),
            None => self.seed_settled(),
        }
    }

    /// Discovers the links of a page that counts, and settles it.
    pub(super) fn keep(&mut self, found: Found) {
        let Found {
            entry,
            page,
            landed,
            alias,
            root,
        } = found;
        if page.status < FIRST_ERROR_STATUS && self.scope.follows_links(&landed, entry.depth()) {
            for link in page.links {
                self.discover(link, Some(&entry));
            }
        }
        let outcome = SettledOutcome::Page {
            document: page.document,
            credits: page.credits,
        };
        let outcome = Outcome {
            alias,
            root,
            ..Outcome::new(entry.settled(outcome))
        };
        self.settle(entry.source, outcome);
    }

    fn landing(&self, entry: &Entry, landed: &Url) -> Landing {
        if let Verdict::Reject(reason) = self.scope.judge_page(landed, entry.depth()) {
            return Landing::OutOfScope(reason.sentence());
        }
        let key = self.key_of(landed);
        if key != entry.key && self.known.contains(&key) {
            return Landing::Known;
        }
        match self.hosts.access(landed) {
            Access::Unknown => Landing::Unknown(HostKey::of(landed)),
            Access::Refused | Access::Faulty => Landing::Refused(key),
            Access::Allowed if key == entry.key => Landing::Same,
            Access::Allowed => Landing::Alias(key),
        }
    }

    /// Settles an admitted URL. Nothing else does.
    pub(super) fn settle(&mut self, source: Source, outcome: Outcome) {
        self.open.remove(&outcome.settled.key);
        if self.suspects.remove(&outcome.settled.key) && self.suspects.is_empty() {
            self.pace.one_at_a_time(false);
        }
        match &outcome.settled.outcome {
            SettledOutcome::Page { credits, .. } => {
                self.counts.completed += 1;
                self.counts.credits += u64::from(*credits);
            }
            SettledOutcome::Failed(_) => self.counts.failed += 1,
            SettledOutcome::Dropped(_) => self.counts.admitted -= 1,
        }
        self.changes.push(Change::Settled(Box::new(outcome)));
        if source == Source::Seed {
            self.seed_settled();
        }
    }
}

/// Returns how long the whole host is left alone after this response, in ms.
fn quiet_ms(page: &FetchedPage) -> Option<u64> {
    match (page.status, page.retry_after_ms) {
        (429 | 503, Some(wait)) => Some(wait.min(RETRY_AFTER_MAX_MS)),
        (429, None) => Some(BACKOFF_FIRST_MS),
        _ => None,
    }
}

impl Entry {
    fn settled(&self, outcome: SettledOutcome) -> Settled {
        Settled {
            key: self.key,
            url: self.url.clone(),
            outcome,
        }
    }
}
