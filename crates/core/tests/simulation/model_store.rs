//! An in-memory model of the store's commit: the semantics that every store must have, with their
//! invariants asserted on each call.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use harvestman_core::api::page::Document;
use harvestman_core::crawl::batch::{
    AdmittedUrl, Batch, CommitResponse, JobEnd, JobState, Offer, PageError, Progress, SettledOutcome,
    Snapshot, Source,
};
use harvestman_core::url_key::UrlKey;
use url::Url;

/// State of one known URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Spare,
    Open,
    Done,
    Failed,
    Dropped,
    Alias,
    Blocked,
}

#[derive(Clone, Debug)]
struct Row {
    offer: Option<Offer>,
    state: State,
}

/// A stored page.
#[derive(Clone, Debug)]
pub(crate) struct StoredPage {
    pub(crate) offer: Offer,
    pub(crate) document: Document,
}

/// The commit was rejected, because another owner has the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LeaseLost;

/// One job.
#[derive(Clone, Debug)]
pub(crate) struct ModelStore {
    pub(crate) limit: u64,
    epoch: u64,
    last_batch: u64,
    rows: HashMap<UrlKey, Row>,
    /// URLs in order of admission.
    admissions: Vec<UrlKey>,
    spare: VecDeque<UrlKey>,
    pub(crate) admitted: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) credits: u64,
    pub(crate) pages: Vec<StoredPage>,
    pub(crate) errors: Vec<(Url, PageError)>,
    pub(crate) robots_blocked: Vec<Url>,
    pub(crate) warnings: Vec<String>,
    progress: Progress,
    pub(crate) end: Option<JobEnd>,
    pub(crate) cancelled: bool,
}

impl ModelStore {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit,
            epoch: 0,
            last_batch: 0,
            rows: HashMap::new(),
            admissions: Vec::new(),
            spare: VecDeque::new(),
            admitted: 0,
            completed: 0,
            failed: 0,
            credits: 0,
            pages: Vec::new(),
            errors: Vec::new(),
            robots_blocked: Vec::new(),
            warnings: Vec::new(),
            progress: Progress::default(),
            end: None,
            cancelled: false,
        }
    }

    /// Returns the store of a crawl that continues this one.
    pub(crate) fn continued(&self) -> Self {
        let mut store = Self::new(self.limit);
        let is_seed = |row: &Row| {
            row.offer
                .as_ref()
                .is_some_and(|offer| offer.source == Source::Seed)
        };
        let waits = |row: &Row| matches!(row.state, State::Spare | State::Open | State::Failed);
        let seed_waits = self.rows.values().any(|row| is_seed(row) && waits(row));
        for (key, row) in &self.rows {
            if !waits(row) {
                let state = State::Alias;
                store.rows.insert(*key, Row { offer: None, state });
            }
        }
        for key in self.admissions.iter().chain(&self.spare) {
            let row = &self.rows[key];
            if waits(row) && !is_seed(row) {
                store.keep(row.offer.as_ref().expect("waiting URLs were offered"));
            }
        }
        let inherited = u64::try_from(store.rows.len()).unwrap();
        store.progress = self.progress.clone().continued(!seed_waits, inherited);
        store
    }

    /// Adds pages to a batch scrape and raises its limit; an ended job runs again. Returns how many are new.
    pub(crate) fn add(&mut self, offers: &[Offer]) -> u64 {
        let known = self.rows.len();
        for offer in offers {
            self.keep(offer);
        }
        let new = u64::try_from(self.rows.len() - known).unwrap();
        self.limit += new;
        if new > 0 {
            self.end = None;
        }
        new
    }

    fn keep(&mut self, offer: &Offer) {
        if let Entry::Vacant(place) = self.rows.entry(offer.key) {
            place.insert(Row {
                offer: Some(offer.clone()),
                state: State::Spare,
            });
            self.spare.push_back(offer.key);
        }
    }

    /// Transfers the shard to a new owner. Returns its epoch and snapshot.
    pub(crate) fn lease(&mut self) -> (u64, Snapshot) {
        self.epoch += 1;
        let open = self.open().map(|key| self.admitted_row(key)).collect();
        let snapshot = Snapshot {
            last_batch: self.last_batch,
            progress: self.progress.clone(),
            seen: self.rows.keys().copied().collect(),
            open,
            admitted: self.admitted,
            completed: self.completed,
            failed: self.failed,
            spare: u64::try_from(self.spare.len()).unwrap(),
        };
        (self.epoch, snapshot)
    }

    fn open(&self) -> impl Iterator<Item = UrlKey> {
        let keys = self.admissions.iter().copied();
        keys.filter(|key| self.rows[key].state == State::Open)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some() || self.cancelled
    }

    pub(crate) fn state(&self, key: UrlKey) -> Option<State> {
        self.rows.get(&key).map(|row| row.state)
    }

    pub(crate) fn known(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn found_on(&self, key: UrlKey) -> Option<UrlKey> {
        self.rows.get(&key)?.offer.as_ref()?.found_on
    }

    pub(crate) fn url(&self, key: UrlKey) -> Option<&Url> {
        self.rows.get(&key)?.offer.as_ref().map(|offer| &offer.url)
    }

    pub(crate) fn commit(&mut self, epoch: u64, batch: &Batch) -> Result<CommitResponse, LeaseLost> {
        if epoch != self.epoch {
            return Err(LeaseLost);
        }
        let is_repeated = batch.number == self.last_batch;
        let mut admitted = Vec::new();
        if is_repeated {
            admitted.extend(self.open());
        } else {
            assert_eq!(
                batch.number,
                self.last_batch + 1,
                "batches are numbered without gaps"
            );
            self.last_batch = batch.number;
            if !self.has_ended() {
                self.apply(batch, &mut admitted);
            }
        }
        let state = if self.has_ended() {
            JobState::Ended
        } else {
            JobState::Running
        };
        let admitted = admitted.into_iter().map(|key| self.admitted_row(key)).collect();
        self.check();
        Ok(CommitResponse {
            number: batch.number,
            admitted,
            state,
        })
    }

    fn apply(&mut self, batch: &Batch, admitted: &mut Vec<UrlKey>) {
        for settled in &batch.settled {
            let row = self
                .rows
                .get_mut(&settled.key)
                .expect("settled URLs were offered");
            assert_eq!(
                row.state,
                State::Open,
                "settled once, after admission: {}",
                settled.url
            );
            match &settled.outcome {
                SettledOutcome::Page { document, credits } => {
                    row.state = State::Done;
                    self.completed += 1;
                    self.credits += u64::from(*credits);
                    self.pages.push(StoredPage {
                        offer: row.offer.clone().expect("open URLs were offered"),
                        document: (**document).clone(),
                    });
                }
                SettledOutcome::Failed(error) => {
                    row.state = State::Failed;
                    self.failed += 1;
                    self.errors.push((settled.url.clone(), error.clone()));
                }
                SettledOutcome::Dropped(error) => {
                    row.state = State::Dropped;
                    self.admitted -= 1;
                    self.errors
                        .extend(error.clone().map(|error| (settled.url.clone(), error)));
                }
            }
        }
        for alias in &batch.aliases {
            self.rows.entry(*alias).or_insert(Row {
                offer: None,
                state: State::Alias,
            });
        }
        for (key, url) in &batch.robots_blocked {
            self.robots_blocked.push(url.clone());
            self.rows.entry(*key).or_insert(Row {
                offer: None,
                state: State::Blocked,
            });
        }
        for offer in &batch.offers {
            assert_eq!(offer.found_on.is_some(), offer.source == Source::Link);
            let page = offer.found_on.map(|page| self.rows[&page].state);
            assert!(
                matches!(page, None | Some(State::Open | State::Done)),
                "a link must be found on a page of the job: {}",
                offer.url
            );
            self.keep(offer);
        }
        while self.admitted < self.limit
            && let Some(key) = self.spare.pop_front()
        {
            self.admitted += 1;
            self.rows.get_mut(&key).expect("spare URLs are known").state = State::Open;
            self.admissions.push(key);
            admitted.push(key);
        }
        for warning in &batch.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
        self.progress = batch.progress.clone();
        if batch.end.is_some() && !self.rows.values().any(|row| row.state == State::Open) {
            self.end = batch.end.clone();
        }
    }

    fn admitted_row(&self, key: UrlKey) -> AdmittedUrl {
        let offer = self.rows[&key].offer.clone().expect("admitted URLs were offered");
        AdmittedUrl {
            key,
            url: offer.url,
            depth: offer.depth,
            source: offer.source,
            attempts: 0,
        }
    }

    fn check(&self) {
        let count =
            |state| u64::try_from(self.rows.values().filter(|row| row.state == state).count()).unwrap();
        assert!(
            self.admitted <= self.limit,
            "admitted {} of {}",
            self.admitted,
            self.limit
        );
        assert!(self.completed + self.failed <= self.admitted);
        assert_eq!(count(State::Done), self.completed);
        assert_eq!(count(State::Failed), self.failed);
        assert_eq!(count(State::Open) + self.completed + self.failed, self.admitted);
        assert_eq!(u64::try_from(self.pages.len()).unwrap(), self.completed);
        let credits: u32 = self
            .pages
            .iter()
            .filter_map(|page| page.document.metadata.credits_used)
            .sum();
        assert_eq!(
            u64::from(credits),
            self.credits,
            "credits equal the sum over pages"
        );
    }
}
