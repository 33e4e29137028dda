//! A store of one crawl in memory, for an owner without a database. It applies each [`Batch`] as the store of the
//! server does and returns what the batch produced; it does not keep documents. Its serialized form is the stored
//! state of the crawl.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use url::Url;

use super::batch::{
    AdmittedUrl, Batch, CommitResponse, JobEnd, JobState, PageError, Progress, SettledOutcome, Snapshot,
    Source,
};
use crate::api::page::Document;
use crate::url_key::UrlKey;

/// The stored state of one crawl.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryStore {
    last_batch: u64,
    progress: Progress,
    /// Every URL of the crawl, fetched or not.
    seen: BTreeSet<UrlKey>,
    /// Admitted and not settled, in order of admission.
    open: BTreeMap<u64, OfferedUrl>,
    /// Offered beyond the limit.
    spare: VecDeque<OfferedUrl>,
    /// Number of URLs ever admitted.
    admissions: u64,
    admitted: u64,
    completed: u64,
    failed: u64,
    end: Option<JobEnd>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct OfferedUrl {
    key: UrlKey,
    url: Url,
    depth: u32,
    source: Source,
}

impl OfferedUrl {
    fn admitted(&self) -> AdmittedUrl {
        AdmittedUrl {
            key: self.key,
            url: self.url.clone(),
            depth: self.depth,
            source: self.source,
            attempts: 0,
        }
    }
}

/// What a commit produced.
#[derive(Clone, Debug)]
pub struct CommitResult {
    /// Response for the crawl.
    pub response: CommitResponse,
    /// Documents of completed pages, in order.
    pub documents: Vec<Document>,
    /// Pages that could not be fetched.
    pub errors: Vec<(Url, PageError)>,
    /// URLs blocked by robots.txt.
    pub robots_blocked: Vec<Url>,
    /// Warnings about the crawl.
    pub warnings: Vec<String>,
}

impl MemoryStore {
    /// Applies a batch. `limit` is the page limit of the crawl.
    pub fn commit(&mut self, batch: Batch, limit: u64) -> CommitResult {
        let mut committed = CommitResult {
            response: CommitResponse {
                number: batch.number,
                admitted: Vec::new(),
                state: JobState::Running,
            },
            documents: Vec::new(),
            errors: Vec::new(),
            robots_blocked: Vec::new(),
            warnings: batch.warnings,
        };
        self.last_batch = batch.number;
        self.progress = batch.progress;
        let settled: BTreeSet<UrlKey> = batch.settled.iter().map(|settled| settled.key).collect();
        self.open.retain(|_, open| !settled.contains(&open.key));
        for settled in batch.settled {
            let error = match settled.outcome {
                SettledOutcome::Page { document, .. } => {
                    self.completed += 1;
                    committed.documents.push(*document);
                    None
                }
                SettledOutcome::Failed(error) => {
                    self.failed += 1;
                    Some(error)
                }
                SettledOutcome::Dropped(error) => {
                    self.admitted = self.admitted.saturating_sub(1);
                    error
                }
            };
            committed.errors.extend(error.map(|error| (settled.url, error)));
        }
        self.seen.extend(batch.aliases);
        for (key, url) in batch.robots_blocked {
            self.seen.insert(key);
            committed.robots_blocked.push(url);
        }
        for offer in batch.offers {
            if self.seen.insert(offer.key) {
                self.spare.push_back(OfferedUrl {
                    key: offer.key,
                    url: offer.url,
                    depth: offer.depth,
                    source: offer.source,
                });
            }
        }
        while self.admitted < limit
            && let Some(url) = self.spare.pop_front()
        {
            self.admitted += 1;
            self.admissions += 1;
            committed.response.admitted.push(url.admitted());
            self.open.insert(self.admissions, url);
        }
        if let Some(end) = batch.end {
            if self.open.is_empty() {
                self.end = Some(end);
                committed.response.state = JobState::Ended;
            } else {
                // The owner believes that nothing is left: return everything that is.
                committed.response.admitted = self.open.values().map(OfferedUrl::admitted).collect();
            }
        }
        committed
    }

    /// Returns how the crawl ended; `None` while there is more to do.
    pub fn end(&self) -> Option<&JobEnd> {
        self.end.as_ref()
    }

    /// Returns the state for [`Crawl::restore`](super::Crawl::restore). Pages that were in flight are fetched again.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            last_batch: self.last_batch,
            progress: Progress {
                // The owner stopped; it did not crash on one of these pages.
                begun: BTreeMap::new(),
                ..self.progress.clone()
            },
            seen: self.seen.iter().copied().collect(),
            open: self.open.values().map(OfferedUrl::admitted).collect(),
            admitted: self.admitted,
            completed: self.completed,
            failed: self.failed,
            spare: u64::try_from(self.spare.len()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawl::{Offer, SettledUrl};
    use crate::host::HostKey;
    use crate::url_key::Identity;

    fn offer(path: &str) -> Offer {
        let url = Url::parse("https://example.com/").unwrap().join(path).unwrap();
        Offer {
            key: UrlKey::of(&url, Identity::default()),
            host: HostKey::of(&url),
            url,
            depth: 0,
            source: Source::Sitemap,
            found_on: None,
        }
    }

    fn settle(offer: &Offer, outcome: SettledOutcome) -> SettledUrl {
        SettledUrl {
            key: offer.key,
            url: offer.url.clone(),
            outcome,
        }
    }

    fn paths(committed: &CommitResult) -> Vec<&str> {
        committed
            .response
            .admitted
            .iter()
            .map(|url| url.url.path())
            .collect()
    }

    #[test]
    fn the_limit_holds_and_a_dropped_page_gives_its_place_to_a_spare_url() {
        let mut store = MemoryStore::default();
        let offers: Vec<Offer> = ["a", "b", "a", "c"].into_iter().map(offer).collect();
        let first = store.commit(
            Batch {
                number: 1,
                offers: offers.clone(),
                ..Batch::default()
            },
            2,
        );
        assert_eq!(paths(&first), ["/a", "/b"]);
        let page = SettledOutcome::Page {
            document: Box::default(),
            credits: 1,
        };
        let second = store.commit(
            Batch {
                number: 2,
                settled: vec![
                    settle(&offers[0], SettledOutcome::Dropped(None)),
                    settle(&offers[1], page),
                ],
                end: Some(JobEnd::Completed),
                ..Batch::default()
            },
            2,
        );
        assert_eq!((paths(&second), second.documents.len()), (vec!["/c"], 1));
        assert_eq!((second.response.state, store.end()), (JobState::Running, None));
    }

    #[test]
    fn a_serialized_state_restores_what_is_open() {
        let mut store = MemoryStore::default();
        let offers: Vec<Offer> = ["a", "b"].into_iter().map(offer).collect();
        store.commit(
            Batch {
                number: 1,
                offers: offers.clone(),
                progress: Progress {
                    begun: [(offers[0].key, 1)].into(),
                    ..Progress::default()
                },
                ..Batch::default()
            },
            1,
        );
        let text = serde_json::to_string(&store).unwrap();
        let restored: MemoryStore = serde_json::from_str(&text).unwrap();
        assert_eq!(restored, store);
        let snapshot = restored.snapshot();
        assert_eq!(
            (snapshot.open.len(), snapshot.spare, snapshot.seen.len()),
            (1, 1, 2)
        );
        assert!(snapshot.progress.begun.is_empty());
        let mut restored = restored;
        let end = restored.commit(
            Batch {
                number: 2,
                settled: vec![settle(&offers[0], SettledOutcome::Dropped(None))],
                end: Some(JobEnd::Completed),
                ..Batch::default()
            },
            0,
        );
        assert_eq!(end.response.state, JobState::Ended);
        assert_eq!(restored.end(), Some(&JobEnd::Completed));
    }
}
