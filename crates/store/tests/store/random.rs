//! Commits random batches for two jobs at once, with crashes, lost replies and former owners, and checks the
//! invariants after every step. A failing run prints its seed; `check(seed, folder)` repeats it.

use std::collections::{BTreeMap, BTreeSet};

use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::page::Document;
use harvestman_core::crawl::{
    AdmittedUrl, Batch, CommitResponse, JobEnd, JobState, SettledOutcome, SettledUrl, Snapshot,
};
use harvestman_core::day::Day;
use harvestman_core::ids::TeamId;
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;
use harvestman_store::{CancelOutcome, CommitError, DeliveryQuery, JobStatus, Lease, NewJob, Store};
use tokio::runtime::Runtime;

use crate::fixtures::{
    LEASE_MS, NOW, TestFolder, batch, crawl_with_events, document, key, offer, offering, page_error, room,
    settled, url,
};

const URLS: u64 = 90;
const STEPS: u32 = 60;

/// A small random number generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// An owner as the engine implements it: it knows what the store returned, and nothing else.
struct Owner {
    lease: Lease,
    seen: BTreeSet<UrlKey>,
    open: BTreeMap<UrlKey, AdmittedUrl>,
    last_batch: u64,
    ended: bool,
}

impl Owner {
    fn of(lease: Lease, snapshot: Snapshot, state: JobState) -> Self {
        let mut owner = Self {
            lease,
            seen: BTreeSet::new(),
            open: BTreeMap::new(),
            last_batch: 0,
            ended: state == JobState::Ended,
        };
        owner.restore(snapshot);
        owner
    }

    fn restore(&mut self, snapshot: Snapshot) {
        assert_eq!(
            snapshot.open.len() as u64,
            snapshot.admitted - snapshot.completed - snapshot.failed
        );
        self.last_batch = snapshot.last_batch;
        self.seen = snapshot.seen.iter().copied().collect();
        assert_eq!(self.seen.len(), snapshot.seen.len(), "no URL is stored twice");
        self.open = snapshot.open.into_iter().map(|open| (open.key, open)).collect();
    }

    fn batch(&self, random: &mut Random) -> Batch {
        let mut batch = batch(self.last_batch + 1);
        for open in self.open.values() {
            if random.chance(40) {
                batch.settled.push(outcome(open, random));
            }
        }
        for _ in 0..random.below(8) {
            let path = format!("/{}", random.below(URLS));
            if !self.seen.contains(&key(&path)) && !batch.offers.iter().any(|o| o.key == key(&path)) {
                batch.offers.push(offer(&path));
            }
        }
        if random.chance(20) {
            batch.aliases.push(key(&format!("/{}", random.below(URLS))));
        }
        if random.chance(20) {
            let path = format!("/{}", random.below(URLS));
            batch.robots_blocked.push((key(&path), url(&path)));
        }
        if batch.settled.len() == self.open.len() && batch.offers.is_empty() && random.chance(30) {
            batch.end = Some(JobEnd::Completed);
        }
        batch
    }

    fn take(&mut self, batch: &Batch, response: CommitResponse) {
        assert_eq!(response.number, batch.number);
        self.last_batch = batch.number;
        self.ended = response.state == JobState::Ended;
        for settled in &batch.settled {
            self.open.remove(&settled.key);
        }
        self.seen.extend(batch.offers.iter().map(|offer| offer.key));
        self.seen.extend(&batch.aliases);
        self.seen.extend(batch.robots_blocked.iter().map(|(key, _)| *key));
        if batch.end.is_some() {
            assert!(self.open.is_empty());
        }
        for admitted in response.admitted {
            assert!(
                self.seen.contains(&admitted.key),
                "only offered URLs are admitted"
            );
            assert!(
                self.open.insert(admitted.key, admitted).is_none(),
                "no URL is admitted twice"
            );
        }
    }
}

fn outcome(open: &AdmittedUrl, random: &mut Random) -> SettledUrl {
    let path = open.url.path().to_owned();
    let outcome = match random.below(10) {
        0 => SettledOutcome::Failed(page_error(ErrorCode::ScrapeTimeout)),
        1 => SettledOutcome::Dropped(None),
        2 => SettledOutcome::Dropped(Some(page_error(ErrorCode::OutOfScope))),
        _ => SettledOutcome::Page {
            document: Box::new(document(&path, &"text ".repeat(random.below(50) as usize))),
            credits: random.below(4) as u32,
        },
    };
    settled(&path, outcome)
}

/// State of the run of one seed.
struct Run {
    folder: TestFolder,
    runtime: Runtime,
    store: Store,
    random: Random,
    now: Timestamp,
    team: TeamId,
    jobs: Vec<NewJob>,
    owners: Vec<Owner>,
    former: Vec<(Lease, u64)>,
    /// Documents read so far, by job; they never change.
    documents: Vec<Vec<String>>,
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

impl Run {
    fn new(seed: u64, folder: TestFolder) -> Self {
        let runtime = runtime();
        let mut random = Random(seed);
        let (store, team, jobs) = runtime.block_on(async {
            let store = folder.open().await;
            let team = store.ensure_team("team").await.unwrap();
            let jobs = vec![
                crawl_with_events(team, 1 + random.below(30)),
                crawl_with_events(team, 1 + random.below(5)),
            ];
            for job in &jobs {
                store.create_crawl(job, None).await.unwrap();
            }
            (store, team, jobs)
        });
        let documents = vec![Vec::new(); jobs.len()];
        let mut run = Self {
            folder,
            runtime,
            store,
            random,
            now: NOW,
            team,
            jobs,
            owners: Vec::new(),
            former: Vec::new(),
            documents,
        };
        run.take_over();
        run
    }

    /// Creates new owners for every shard that can be leased.
    fn take_over(&mut self) {
        let leases = self
            .runtime
            .block_on(self.store.lease("node", self.now, LEASE_MS, &room(10)))
            .unwrap();
        for lease in leases {
            let snapshot = self.runtime.block_on(self.store.load(&lease)).unwrap();
            if let Some(at) = self.owners.iter().position(|owner| owner.lease.job == lease.job) {
                let old = self.owners.remove(at);
                assert!(lease.epoch > old.lease.epoch);
                self.former.push((old.lease, old.last_batch));
            }
            self.owners.push(Owner::of(lease, snapshot, JobState::Running));
        }
        self.owners.sort_by_key(|owner| owner.lease.job);
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..70 => self.commit(),
            70..80 => self.crash_in_commit(),
            80..88 => self.lose_leases(),
            88..98 => self.former_owner_commits(),
            _ if self.random.chance(20) => self.cancel(),
            _ => self.commit(),
        }
        self.check();
    }

    /// Commits for both owners at the same time, so that their batches share a transaction.
    fn commit(&mut self) {
        let mut batches = Vec::new();
        for owner in &self.owners {
            if !owner.ended {
                batches.push((owner.lease.clone(), owner.batch(&mut self.random)));
            }
        }
        let (store, now) = (self.store.clone(), self.now);
        let responses = self.runtime.block_on(async {
            let mut tasks = Vec::new();
            for (lease, batch) in batches {
                let store = store.clone();
                tasks.push(tokio::spawn(async move {
                    let response = store.commit(&lease, &batch, now, LEASE_MS).await;
                    (lease, batch, response)
                }));
            }
            let mut responses = Vec::new();
            for task in tasks {
                responses.push(task.await.unwrap());
            }
            responses
        });
        for (lease, batch, response) in responses {
            let lost = self.random.chance(15);
            let owner = self.owners.iter_mut().find(|owner| owner.lease == lease).unwrap();
            if lost {
                // The reply is lost: the same batch is sent again.
                let again = self
                    .runtime
                    .block_on(commit_again(&self.store, &lease, &batch, now));
                let (state, snapshot) = again;
                owner.restore(snapshot);
                owner.ended = state == JobState::Ended;
            } else {
                owner.take(&batch, response.unwrap());
            }
        }
    }

    /// Crashes somewhere during a commit, and restarts.
    fn crash_in_commit(&mut self) {
        let owner = self.random.below(self.owners.len() as u64) as usize;
        let owner = &self.owners[owner];
        if !owner.ended {
            let (store, lease, now) = (self.store.clone(), owner.lease.clone(), self.now);
            let batch = owner.batch(&mut self.random);
            self.runtime
                .spawn(async move { store.commit(&lease, &batch, now, LEASE_MS).await.map(|_| ()) });
        }
        std::thread::sleep(std::time::Duration::from_micros(self.random.below(3000)));
        std::mem::replace(&mut self.runtime, runtime()).shutdown_background();
        self.store = self.runtime.block_on(self.folder.open());
        if self.folder.is_exclusive() {
            self.take_over();
        } else {
            self.wait_for_leases();
        }
        // The snapshot shows whether the commit of the dead process succeeded.
        let ended: Vec<_> = self
            .jobs
            .iter()
            .filter(|job| self.status(job) != JobStatus::Scraping)
            .collect();
        for job in ended {
            let job = job.id;
            self.owners
                .iter_mut()
                .filter(|owner| owner.lease.job == job)
                .for_each(|owner| owner.ended = true);
        }
    }

    /// Takes over on a database that the dead process may still be connected to: until its leases end, and until the
    /// server has noticed that it is gone.
    fn wait_for_leases(&mut self) {
        let epochs = |owners: &[Owner]| owners.iter().map(|owner| owner.lease.epoch).collect::<Vec<_>>();
        let running = |owners: &[Owner]| owners.iter().filter(|owner| !owner.ended).count();
        let (before, mut taken) = (epochs(&self.owners), 0);
        while taken < running(&self.owners) {
            self.lose_leases();
            let ended: Vec<_> = self
                .jobs
                .iter()
                .filter(|job| self.status(job) != JobStatus::Scraping)
                .map(|job| job.id)
                .collect();
            for owner in &mut self.owners {
                owner.ended |= ended.contains(&owner.lease.job);
            }
            let now = epochs(&self.owners);
            let changed = before.iter().zip(&now).zip(&self.owners);
            taken = changed
                .filter(|((old, new), owner)| old < new && !owner.ended)
                .count();
        }
    }

    fn lose_leases(&mut self) {
        self.now = Timestamp(self.now.0 + LEASE_MS * 2);
        self.take_over();
    }

    fn former_owner_commits(&mut self) {
        if self.former.is_empty() {
            return;
        }
        let at = self.random.below(self.former.len() as u64) as usize;
        let (lease, last_batch) = self.former[at].clone();
        let path = format!("/{}", self.random.below(URLS));
        let late = offering(last_batch + self.random.below(3), vec![offer(&path)]);
        let response = self
            .runtime
            .block_on(self.store.commit(&lease, &late, self.now, LEASE_MS));
        assert_eq!(response, Err(CommitError::LeaseLost));
    }

    fn cancel(&mut self) {
        let at = self.random.below(self.jobs.len() as u64) as usize;
        let before = self.status(&self.jobs[at]);
        let response = self
            .runtime
            .block_on(self.store.cancel(self.team, self.jobs[at].id, self.now))
            .unwrap();
        match before {
            JobStatus::Scraping => assert!(matches!(response, CancelOutcome::Cancelled(_))),
            ended => assert_eq!(response, CancelOutcome::AlreadyEnded(ended)),
        }
        // The owner learns of it at its next commit.
        if let Some(owner) = self
            .owners
            .iter_mut()
            .find(|owner| owner.lease.job == self.jobs[at].id)
            && !owner.ended
        {
            let batch = owner.batch(&mut self.random);
            let response = self.store.commit(&owner.lease, &batch, self.now, LEASE_MS);
            let response = self.runtime.block_on(response).unwrap();
            assert_eq!((response.state, response.admitted.len()), (JobState::Ended, 0));
            owner.ended = true;
        }
    }

    fn status(&self, job: &NewJob) -> JobStatus {
        self.runtime
            .block_on(self.store.job(self.team, job.id, self.now))
            .unwrap()
            .unwrap()
            .status
    }

    fn check(&mut self) {
        let (mut credits, mut pages) = (0, 0);
        for (job, known) in self.jobs.iter().zip(&mut self.documents) {
            let row = self
                .runtime
                .block_on(self.store.job(self.team, job.id, self.now))
                .unwrap()
                .unwrap();
            assert!(row.admitted <= row.page_limit, "admitted <= limit");
            assert!(row.completed + row.failed <= row.admitted);
            let chunk = self
                .runtime
                .block_on(self.store.documents(job.id, 0, None, usize::MAX))
                .unwrap();
            assert_eq!(chunk.documents.len() as u64, row.completed, "pages = completed");
            assert_eq!(chunk.next_skip, row.completed, "numbers without a gap");
            assert_eq!(
                &chunk.documents[..known.len()],
                &known[..],
                "a document never moves"
            );
            let sources: BTreeSet<Option<String>> = chunk
                .documents
                .iter()
                .map(|text| {
                    serde_json::from_str::<Document>(text)
                        .unwrap()
                        .metadata
                        .source_url
                })
                .collect();
            assert_eq!(sources.len(), chunk.documents.len(), "no URL twice");
            if row.status != JobStatus::Scraping {
                assert_eq!(
                    row.completed + row.failed,
                    row.admitted,
                    "every attempted page has an outcome"
                );
                assert!(row.completed_at.is_some());
            }
            credits += row.credits;
            pages += row.completed;
            *known = chunk.documents;
        }
        let charged = self.runtime.block_on(self.store.ledger_total(self.team)).unwrap();
        assert_eq!(charged, credits, "the ledger equals the credits of the jobs");
        let months = self.runtime.block_on(self.store.month_usage(self.team)).unwrap();
        assert_eq!(months.iter().map(|usage| usage.credits).sum::<u64>(), credits);
        let days = self.store.day_usage(self.team, Day::parse("2000-01-01").unwrap());
        let days = self.runtime.block_on(days).unwrap();
        assert_eq!(days.iter().map(|usage| usage.credits).sum::<u64>(), credits);
        assert_eq!(days.iter().map(|usage| usage.pages).sum::<u64>(), pages);
    }

    /// Runs without further faults: every job that was not cancelled must end.
    fn finish(mut self) {
        for _ in 0..2000 {
            if self.owners.iter().all(|owner| owner.ended) {
                break;
            }
            for owner in &mut self.owners {
                if owner.ended {
                    continue;
                }
                let mut last = batch(owner.last_batch + 1);
                last.settled = owner
                    .open
                    .values()
                    .map(|open| outcome(open, &mut self.random))
                    .collect();
                last.end = Some(JobEnd::Completed);
                let response = self.store.commit(&owner.lease, &last, self.now, LEASE_MS);
                let response = self.runtime.block_on(response).unwrap();
                owner.take(&last, response);
            }
        }
        self.check();
        for job in &self.jobs {
            assert_ne!(self.status(job), JobStatus::Scraping, "every job ends");
            self.check_events(job);
        }
        self.runtime.block_on(self.store.close()).unwrap();
    }

    /// Expects one event for the start, one for each page and each failure, and the end as the last.
    fn check_events(&self, job: &NewJob) {
        let row = self
            .runtime
            .block_on(self.store.job(self.team, job.id, self.now))
            .unwrap()
            .unwrap();
        let query = DeliveryQuery {
            after: 0,
            state: None,
            limit: 1000,
        };
        let log = self
            .runtime
            .block_on(self.store.delivery_log(self.team, job.id, &query))
            .unwrap();
        let names: Vec<&str> = log
            .deliveries
            .iter()
            .map(|delivery| delivery.event.as_str())
            .collect();
        let pages = names.iter().filter(|name| **name == "crawl.page").count() as u64;
        assert_eq!(pages, row.completed + row.failed);
        assert_eq!(names.first(), Some(&"crawl.started"));
        let ended = u64::from(row.status == JobStatus::Completed);
        assert_eq!(
            names.iter().filter(|name| **name == "crawl.completed").count() as u64,
            ended
        );
        assert_eq!(names.last() == Some(&"crawl.completed"), ended == 1);
        assert_eq!(log.pending, names.len() as u64);
    }
}

async fn commit_again(store: &Store, lease: &Lease, batch: &Batch, now: Timestamp) -> (JobState, Snapshot) {
    let repeated = store.commit(lease, batch, now, LEASE_MS).await.unwrap();
    let snapshot = store.load(lease).await.unwrap();
    assert_eq!(
        (repeated.number, &repeated.admitted),
        (batch.number, &snapshot.open)
    );
    (repeated.state, snapshot)
}

fn check(seed: u64, folder: TestFolder) {
    eprintln!("seed {seed}");
    let mut run = Run::new(seed, folder);
    for _ in 0..STEPS {
        run.step();
    }
    run.finish();
}

#[test]
fn invariants_hold_under_random_faults() {
    for seed in 0..25 {
        check(seed, TestFolder::new("random"));
    }
}

#[test]
fn invariants_hold_under_random_faults_on_postgresql() {
    for seed in 0..6 {
        check(seed, TestFolder::postgres("random"));
    }
}
