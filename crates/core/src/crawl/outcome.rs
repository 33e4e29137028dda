//! What happens to a fetched page: a retry, a document, an error, or a URL that no longer counts. Every
//! admitted URL is settled exactly once.

use std::time::Duration;

use url::Url;
use uuid::Uuid;

use crate::api::error::ErrorCode;
use crate::crawl::batch::{PageError, SettledOutcome, SettledUrl, Source};
use crate::crawl::changes::{Change, Outcome, document_bytes};
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
    pub(super) fn new(settled: SettledUrl) -> Self {
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
pub(super) struct AcceptedPage {
    entry: Entry,
    page: Box<FetchedPage>,
    final_url: Url,
    alias: Option<UrlKey>,
    root: Option<Url>,
}

impl AcceptedPage {
    pub(super) fn is_seed(&self) -> bool {
        self.entry.source == Source::Seed
    }
}

/// Where a page's redirects ended.
enum RedirectTarget {
    /// At the URL that was requested, after normalization.
    Same,
    /// At a page that was not known; it is known from now on.
    Alias(UrlKey),
    /// At a known page: this one does not count.
    Known,
    /// At a page out of scope, with the reason.
    OutOfScope(&'static str),
    /// At a page that robots.txt disallows.
    Disallowed(UrlKey),
    /// On a host whose robots.txt has not been read yet.
    Unknown(HostKey),
}

impl Crawl {
    /// Processes the result of a page task. Ignores late and repeated results.
    pub(super) fn page_fetched(&mut self, now: Timestamp, key: UrlKey, outcome: PageOutcome) {
        let Some(entry) = self.running.remove(&key) else {
            return;
        };
        let (of_job, of_host) = self.finish_render(key);
        if of_job {
            self.pace.end();
        }
        if of_host {
            self.frontier.finish(&entry.host, now);
        }
        match outcome {
            PageOutcome::Page(page) => {
                if is_transient_status(page.status) {
                    if let Some(wait) = host_pause_ms(&page) {
                        self.frontier
                            .pause(&entry.host, now + Duration::from_millis(wait), now);
                    }
                    if let Some(wait) = backoff_ms(entry.failed_attempts + 1, page.retry_after_ms) {
                        self.schedule_retry(entry, now + Duration::from_millis(wait));
                        return;
                    }
                }
                self.accept(now, entry, page);
            }
            PageOutcome::Failed(failure) => match backoff_ms(entry.failed_attempts + 1, None) {
                Some(wait) if failure.transient => {
                    self.schedule_retry(entry, now + Duration::from_millis(wait))
                }
                _ => self.fail(entry.key, entry.url, entry.source, failure),
            },
        }
    }

    fn schedule_retry(&mut self, mut entry: Entry, at: Timestamp) {
        entry.failed_attempts += 1;
        self.changes.processing().retried += 1;
        self.frontier.retry(entry, at);
    }

    /// Settles an admitted URL as failed.
    pub(super) fn fail(&mut self, key: UrlKey, url: Url, source: Source, failure: FetchFailure) {
        if source == Source::Seed {
            self.failure = Some(warnings::seed_unreachable(&url, &failure.message));
        }
        if failure.code == ErrorCode::InsufficientCredits {
            self.warn_once(warnings::CREDITS);
        }
        let error = PageError {
            id: failure.id,
            code: failure.code,
            message: failure.message,
        };
        let outcome = SettledOutcome::Failed(error);
        self.settle(source, Outcome::new(SettledUrl { key, url, outcome }));
    }

    /// Processes a page after its last attempt, whatever its status.
    pub(super) fn accept(&mut self, now: Timestamp, entry: Entry, page: Box<FetchedPage>) {
        // The caller listed this page: it counts wherever it leads, and its links are not followed.
        if entry.source.is_given() {
            let outcome = SettledOutcome::Page {
                document: page.document,
                credits: page.credits,
            };
            return self.settle(entry.source, Outcome::new(entry.to_settled(outcome)));
        }
        let mut final_url = page.final_url.clone();
        final_url.set_fragment(None);
        let moved = final_url != entry.url;
        let root =
            (moved && entry.source == Source::Seed && self.rebase(&final_url)).then(|| final_url.clone());
        let landing = if moved {
            self.redirect_target(&entry, &final_url)
        } else {
            RedirectTarget::Same
        };
        let alias = match landing {
            RedirectTarget::Same => None,
            RedirectTarget::Alias(key) => {
                self.known.insert(key);
                Some(key)
            }
            RedirectTarget::Known => return self.drop_redirect(&entry, root, None, None),
            RedirectTarget::OutOfScope(reason) => {
                let error = PageError {
                    id: page.document.metadata.scrape_id.unwrap_or(ScrapeId(Uuid::nil())),
                    code: ErrorCode::OutOfScope,
                    message: format!("The page redirects to {final_url}. {reason}"),
                };
                if entry.source == Source::Seed {
                    let warning = warnings::seed_redirected(&entry.url, &final_url);
                    self.changes.push(Change::Warning(warning));
                }
                return self.drop_redirect(&entry, root, Some(error), None);
            }
            RedirectTarget::Disallowed(key) => {
                self.known.insert(key);
                self.counts.robots_blocked += 1;
                self.warn_once(warnings::ROBOTS);
                return self.drop_redirect(&entry, root, None, Some((key, final_url)));
            }
            RedirectTarget::Unknown(host) => {
                self.hosts.request(&host, now);
                self.awaiting_robots_pages += 1;
                self.awaiting_robots_bytes += document_bytes(&page.document);
                return self.awaiting_robots.entry(host).or_default().push((entry, page));
            }
        };
        let accepted = AcceptedPage {
            entry,
            page,
            final_url,
            alias,
            root,
        };
        match self.hold_seed(now, accepted) {
            Some(accepted) => self.record_page(accepted),
            None => self.seed_settled(),
        }
    }

    /// Discovers the links of a page that counts, and settles it.
    pub(super) fn record_page(&mut self, accepted: AcceptedPage) {
        let AcceptedPage {
            entry,
            page,
            final_url,
            alias,
            root,
        } = accepted;
        if page.status < FIRST_ERROR_STATUS && self.scope.follows_links(&final_url, entry.depth()) {
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
            ..Outcome::new(entry.to_settled(outcome))
        };
        self.settle(entry.source, outcome);
    }

    /// Settles a page that does not count because of where it redirects. `blocked` is a target that robots.txt
    /// disallows.
    fn drop_redirect(
        &mut self,
        entry: &Entry,
        root: Option<Url>,
        error: Option<PageError>,
        blocked: Option<(UrlKey, Url)>,
    ) {
        let outcome = Outcome {
            root,
            blocked,
            ..Outcome::new(entry.to_settled(SettledOutcome::Dropped(error)))
        };
        self.settle(entry.source, outcome);
    }

    fn redirect_target(&self, entry: &Entry, final_url: &Url) -> RedirectTarget {
        if let Verdict::Reject(reason) = self.scope.judge_page(final_url, entry.depth()) {
            return RedirectTarget::OutOfScope(reason.sentence());
        }
        let key = self.key_of(final_url);
        if key != entry.key && self.known.contains(&key) {
            return RedirectTarget::Known;
        }
        match self.hosts.access(final_url) {
            Access::Unknown => RedirectTarget::Unknown(HostKey::of(final_url)),
            Access::Disallowed | Access::HostUnreachable => RedirectTarget::Disallowed(key),
            Access::Allowed if key == entry.key => RedirectTarget::Same,
            Access::Allowed => RedirectTarget::Alias(key),
        }
    }

    /// Settles an admitted URL. Nothing else does.
    pub(super) fn settle(&mut self, source: Source, outcome: Outcome) {
        self.open.remove(&outcome.settled.key);
        if self.suspects.remove(&outcome.settled.key) && self.suspects.is_empty() {
            self.pace.set_one_at_a_time(false);
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
fn host_pause_ms(page: &FetchedPage) -> Option<u64> {
    match (page.status, page.retry_after_ms) {
        (429 | 503, Some(wait)) => Some(wait.min(RETRY_AFTER_MAX_MS)),
        (429, None) => Some(BACKOFF_FIRST_MS),
        _ => None,
    }
}

impl Entry {
    fn to_settled(&self, outcome: SettledOutcome) -> SettledUrl {
        SettledUrl {
            key: self.key,
            url: self.url.clone(),
            outcome,
        }
    }
}
