//! The commit, tested through the public interface.

use harvestman_core::crawl::{Batch, CommitResponse, JobEnd, JobState, Offer, Progress, Source};
use harvestman_core::ids::TeamId;
use harvestman_store::{
    CancelOutcome, ContinueOutcome, CreateOutcome, Idempotency, JobKind, JobRow, JobStatus, Lease, NewJob,
    Store,
};

use crate::fixtures::{
    LEASE_MS, NOW, RETENTION_MS, batch, crawl, dropped, ending, failed, key, later, lease_all, offer,
    offering, offers, page, page_with, room, settling, url,
};

pub(crate) async fn team(store: &Store) -> TeamId {
    store.ensure_team("crawls").await.unwrap()
}

/// Creates the job and leases its only shard.
pub(crate) async fn start(store: &Store, job: &NewJob) -> Lease {
    assert_eq!(
        store.create_crawl(job, None).await.unwrap(),
        CreateOutcome::Created
    );
    take(store, job, 0).await
}

/// Leases the job's shard `ms` after `NOW`; releases all others.
pub(crate) async fn take(store: &Store, job: &NewJob, ms: u64) -> Lease {
    let (mut mine, now) = (None, later(ms));
    assert!(store.due_work(now).await.unwrap().shards);
    let leases = lease_all(store, now).await;
    assert!(!store.due_work(now).await.unwrap().shards);
    for lease in leases {
        if lease.job == job.id {
            mine = Some(lease);
        } else {
            store.release(&lease).await.unwrap();
        }
    }
    mine.expect("the shard can be leased")
}

pub(crate) async fn commit(store: &Store, lease: &Lease, batch: &Batch) -> CommitResponse {
    store.commit(lease, batch, NOW, LEASE_MS).await.unwrap()
}

/// Commits the first batch of an owner, which offers these URLs.
pub(crate) async fn offer_first(store: &Store, lease: &Lease, paths: &[&str]) -> CommitResponse {
    let first = offering(1, offers(paths));
    commit(store, lease, &first).await
}

pub(crate) async fn row(store: &Store, job: &NewJob) -> JobRow {
    store.job(job.team, job.id, NOW).await.unwrap().unwrap()
}

fn paths(committed: &CommitResponse) -> Vec<&str> {
    committed
        .admitted
        .iter()
        .map(|admitted| admitted.url.path())
        .collect()
}

pub(crate) async fn an_idempotency_key_creates_one_job(store: &Store) {
    let team = team(store).await;
    let entry = Idempotency {
        key: "once".into(),
        body_hash: [1; 32],
    };
    let first = crawl(team, 10);
    assert_eq!(
        store.create_crawl(&first, Some(&entry)).await.unwrap(),
        CreateOutcome::Created
    );
    let second = crawl(team, 10);
    assert_eq!(
        store.create_crawl(&second, Some(&entry)).await.unwrap(),
        CreateOutcome::Repeated(first.id)
    );
    assert_eq!(store.job(team, second.id, NOW).await.unwrap(), None);
    let changed = Idempotency {
        body_hash: [2; 32],
        ..entry.clone()
    };
    assert_eq!(
        store.create_crawl(&second, Some(&changed)).await.unwrap(),
        CreateOutcome::KeyReused
    );
    let other_team = store.ensure_team("other").await.unwrap();
    let others = crawl(other_team, 10);
    assert_eq!(
        store.create_crawl(&others, Some(&entry)).await.unwrap(),
        CreateOutcome::Created
    );
    let next_day = NewJob {
        created_at: later(24 * 3_600_000),
        ..crawl(team, 10)
    };
    assert_eq!(
        store.create_crawl(&next_day, Some(&changed)).await.unwrap(),
        CreateOutcome::Created
    );
    for job in [&first, &others, &next_day] {
        assert_eq!(
            store.cancel(job.team, job.id, NOW).await.unwrap(),
            CancelOutcome::Cancelled(JobKind::Crawl)
        );
    }
}

pub(crate) async fn a_job_that_fails_to_insert_stores_nothing(store: &Store) {
    let team = team(store).await;
    let first = crawl(team, 10);
    assert_eq!(
        store.create_crawl(&first, None).await.unwrap(),
        CreateOutcome::Created
    );
    let entry = Idempotency {
        key: "of a refused job".into(),
        body_hash: [1; 32],
    };
    // The id is already used; everything written before that was detected is rolled back.
    assert!(store.create_crawl(&first, Some(&entry)).await.is_err());
    let second = crawl(team, 10);
    assert_eq!(
        store.create_crawl(&second, Some(&entry)).await.unwrap(),
        CreateOutcome::Created
    );
    for job in [&first, &second] {
        assert_eq!(
            store.cancel(team, job.id, NOW).await.unwrap(),
            CancelOutcome::Cancelled(JobKind::Crawl)
        );
    }
}

pub(crate) async fn a_crawl_runs_from_lease_to_end(store: &Store) {
    let team = team(store).await;
    let key = store.add_key(team, "a key", [3; 32], NOW).await.unwrap();
    let job = NewJob {
        key: Some(key),
        ..crawl(team, 10)
    };
    let before = store.ledger_total(team).await.unwrap();
    let lease = start(store, &job).await;
    assert_eq!(
        (lease.team, lease.key, lease.kind, lease.page_limit),
        (team, Some(key), job.kind, 10)
    );
    assert_eq!(
        (lease.request.as_str(), lease.shard, lease.epoch),
        (job.request.as_str(), 0, 1)
    );
    assert_eq!(store.load(&lease).await.unwrap(), Default::default());

    let response = offer_first(store, &lease, &["/", "/a"]).await;
    assert_eq!(
        (response.number, response.state, paths(&response)),
        (1, JobState::Running, vec!["/", "/a"])
    );
    assert_eq!(response.admitted[1].depth, 1);
    let second = Batch {
        settled: vec![page_with("/", "# start", 3), failed("/a")],
        warnings: vec!["said once".into(), "said once".into()],
        ..batch(2)
    };
    commit(store, &lease, &second).await;
    let running = row(store, &job).await;
    assert_eq!(running.status, JobStatus::Scraping);
    assert_eq!(
        (
            running.admitted, running.completed, running.failed, running.credits
        ),
        (2, 1, 1, 3)
    );
    assert_eq!(running.warnings, ["said once"]);
    assert_eq!(
        (running.completed_at, running.expires(NOW)),
        (None, later(RETENTION_MS))
    );

    let last = Batch {
        warnings: vec!["said once".into()],
        end: Some(JobEnd::Completed),
        ..batch(3)
    };
    let response = store.commit(&lease, &last, later(1000), LEASE_MS).await.unwrap();
    assert_eq!((response.state, response.admitted.len()), (JobState::Ended, 0));
    let ended = row(store, &job).await;
    assert_eq!(
        (ended.status, ended.completed_at),
        (JobStatus::Completed, Some(later(1000)))
    );
    assert_eq!(ended.expires_at, Some(later(1000 + RETENTION_MS)));
    assert_eq!(
        (ended.key, ended.url.as_str(), ended.warnings.len()),
        (Some(key), "http://site.test/", 1)
    );
    assert_eq!(store.ledger_total(team).await.unwrap(), before + 3);
    assert!(!store.renew(&lease, NOW, LEASE_MS).await.unwrap());
    assert!(
        store
            .lease("node", later(LEASE_MS * 100), 0, &room(1000))
            .await
            .unwrap()
            .iter()
            .all(|l| l.job != job.id)
    );
}

pub(crate) async fn admission_never_exceeds_the_limit(store: &Store) {
    let job = crawl(team(store).await, 2);
    let lease = start(store, &job).await;
    let response = offer_first(store, &lease, &["/1", "/2", "/3"]).await;
    assert_eq!(paths(&response), ["/1", "/2"]);
    let second = Batch {
        settled: vec![page("/1"), failed("/2")],
        offers: offers(&["/4"]),
        ..batch(2)
    };
    assert!(commit(store, &lease, &second).await.admitted.is_empty());
    let end = commit(store, &lease, &ending(3)).await;
    assert_eq!(end.state, JobState::Ended);
    assert_eq!(row(store, &job).await.admitted, 2);
}

pub(crate) async fn a_dropped_page_is_replaced_by_the_next_spare(store: &Store) {
    let job = crawl(team(store).await, 2);
    let lease = start(store, &job).await;
    let found = offers(&["/1", "/2", "/3", "/4", "/5"]);
    commit(store, &lease, &offering(1, found)).await;
    // One URL is dropped: the earliest spare replaces it, not the newest offer.
    let second = Batch {
        settled: vec![dropped("/1")],
        offers: offers(&["/6"]),
        ..batch(2)
    };
    assert_eq!(paths(&commit(store, &lease, &second).await), ["/3"]);
    let third = settling(3, vec![dropped("/2"), dropped("/3")]);
    assert_eq!(paths(&commit(store, &lease, &third).await), ["/4", "/5"]);
    assert_eq!(store.load(&lease).await.unwrap().spare, 1);
    let fourth = Batch {
        settled: vec![page("/4"), page("/5")],
        end: Some(JobEnd::Completed),
        ..batch(4)
    };
    assert_eq!(commit(store, &lease, &fourth).await.state, JobState::Ended);
    assert_eq!(
        (row(store, &job).await.admitted, row(store, &job).await.completed),
        (2, 2)
    );
}

pub(crate) async fn a_known_url_is_never_admitted(store: &Store) {
    let job = crawl(team(store).await, 1);
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/1", "/target", "/private", "/2"]).await;
    let second = Batch {
        settled: vec![dropped("/1")],
        offers: offers(&["/1", "/elsewhere"]),
        aliases: vec![key("/target"), key("/elsewhere")],
        robots_blocked: vec![
            (key("/private"), url("/private")),
            (key("/secret"), url("/secret")),
        ],
        ..batch(2)
    };
    assert_eq!(paths(&commit(store, &lease, &second).await), ["/2"]);
    let third = Batch {
        settled: vec![dropped("/2")],
        offers: offers(&["/secret", "/target", "/elsewhere", "/1", "/2", "/private"]),
        robots_blocked: vec![(key("/2"), url("/2"))],
        end: Some(JobEnd::Completed),
        ..batch(3)
    };
    let response = commit(store, &lease, &third).await;
    assert_eq!((response.admitted.len(), response.state), (0, JobState::Ended));
    let blocked = store.errors(job.id).await.unwrap().robots_blocked;
    assert_eq!(
        blocked,
        ["/private", "/2", "/secret"].map(|path| url(path).to_string())
    );
}

pub(crate) async fn a_job_does_not_end_while_urls_are_open(store: &Store) {
    let job = crawl(team(store).await, 1);
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/1", "/2"]).await;
    let early = Batch {
        settled: vec![dropped("/1")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    let response = commit(store, &lease, &early).await;
    assert_eq!(
        (paths(&response), response.state),
        (vec!["/2"], JobState::Running)
    );
    // Even when nothing new is admitted, the owner learns what is open.
    let again = commit(store, &lease, &ending(3)).await;
    assert_eq!((paths(&again), again.state), (vec!["/2"], JobState::Running));
    let last = Batch {
        settled: vec![page("/2")],
        end: Some(JobEnd::Completed),
        ..batch(4)
    };
    assert_eq!(commit(store, &lease, &last).await.state, JobState::Ended);
}

pub(crate) async fn a_page_of_a_url_that_is_not_open_is_ignored(store: &Store) {
    let job = crawl(team(store).await, 5);
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/1", "/2"]).await;
    let twice = settling(2, vec![page("/1"), page("/1"), page("/never offered")]);
    commit(store, &lease, &twice).await;
    commit(store, &lease, &settling(3, vec![failed("/1"), dropped("/1")])).await;
    let row = row(store, &job).await;
    assert_eq!(
        (row.admitted, row.completed, row.failed, row.credits),
        (2, 1, 0, 1)
    );
    store.cancel(job.team, job.id, NOW).await.unwrap();
}

pub(crate) async fn the_frontier_is_bounded(store: &Store) {
    let job = crawl(team(store).await, 1);
    let lease = start(store, &job).await;
    // 20 times the limit plus 10 000.
    let most = 10_020;
    let many: Vec<String> = (0..most + 30).map(|n| format!("/trap/{n}")).collect();
    let first = offering(1, many.iter().map(|path| offer(path)).collect());
    assert_eq!(commit(store, &lease, &first).await.admitted.len(), 1);
    assert_eq!(row(store, &job).await.warnings.len(), 1);
    let snapshot = store.load(&lease).await.unwrap();
    assert_eq!(snapshot.spare, most - 1);
    let in_order = |mut keys: Vec<_>| {
        keys.sort_unstable();
        keys
    };
    let kept = many.iter().take(10_020).map(|path| key(path)).collect();
    assert!(
        in_order(snapshot.seen) == in_order(kept),
        "every key is loaded exactly once"
    );
    let second = offering(2, offers(&["/one more", "/trap/7"]));
    commit(store, &lease, &second).await;
    assert_eq!(store.load(&lease).await.unwrap().seen.len() as u64, most);
    // A dropped page is still replaced by the next spare.
    let third = settling(3, vec![dropped("/trap/0")]);
    assert_eq!(paths(&commit(store, &lease, &third).await), ["/trap/1"]);
    store.cancel(job.team, job.id, NOW).await.unwrap();
    store.expire(NOW).await.unwrap();
    let left = store.load(&lease).await.unwrap();
    assert_eq!(
        (left.spare, left.seen.len() as u64),
        (most - 2, most),
        "spare URLs are kept for a crawl that continues this one"
    );
}

pub(crate) async fn the_first_spare_urls_of_an_ended_crawl_are_kept(store: &Store) {
    let job = crawl(team(store).await, 2_500);
    let lease = start(store, &job).await;
    let offers = (0..52_600).map(|n| offer(&format!("/many/{n}"))).collect();
    commit(store, &lease, &offering(1, offers)).await;
    assert_eq!(store.load(&lease).await.unwrap().spare, 50_100);
    store.cancel(job.team, job.id, NOW).await.unwrap();
    store.expire(NOW).await.unwrap();
    let left = store.load(&lease).await.unwrap();
    assert_eq!((left.spare, left.open.len()), (50_000, 2_500));
    assert!(left.seen.contains(&key("/many/52499")) && !left.seen.contains(&key("/many/52500")));
}

pub(crate) async fn a_crawl_is_continued_with_the_urls_that_it_left(store: &Store) {
    let job = crawl(team(store).await, 4);
    let lease = start(store, &job).await;
    let first = Batch {
        offers: offers(&["/1", "/2", "/3", "/4", "/5", "/6"]),
        aliases: vec![key("/alias")],
        robots_blocked: vec![(key("/private"), url("/private"))],
        ..batch(1)
    };
    commit(store, &lease, &first).await;
    let root = Some(url("/docs/"));
    let second = Batch {
        settled: vec![page("/1"), failed("/2"), dropped("/3")],
        progress: Progress {
            seed_offered: true,
            sitemaps_done: true,
            root: root.clone(),
            begun: [(key("/4"), 1)].into(),
            ..Progress::default()
        },
        ..batch(2)
    };
    commit(store, &lease, &second).await;
    store.cancel(job.team, job.id, NOW).await.unwrap();
    store.expire(NOW).await.unwrap();
    assert_eq!(store.urls_left(job.id).await.unwrap(), 4);

    let next = crawl(job.team, 3);
    let created = store.continue_crawl(&next, job.id).await.unwrap();
    assert_eq!(created, ContinueOutcome::Created(4));
    let lease = take(store, &next, 0).await;
    let snapshot = store.load(&lease).await.unwrap();
    assert_eq!(
        (snapshot.seen.len(), snapshot.spare, snapshot.open.len()),
        (8, 4, 0)
    );
    let expected = Progress {
        seed_offered: true,
        sitemaps_done: true,
        root,
        inherited: 8,
        ..Progress::default()
    };
    assert_eq!(snapshot.progress, expected);
    let known = offering(1, offers(&["/1", "/3", "/alias", "/private", "/7"]));
    let admitted = commit(store, &lease, &known).await;
    assert_eq!(paths(&admitted), ["/2", "/4", "/5"], "in order of discovery");
    assert!(store.errors(next.id).await.unwrap().robots_blocked.is_empty());
    let last = Batch {
        settled: vec![page("/2"), page("/4"), page("/5")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    assert_eq!(commit(store, &lease, &last).await.state, JobState::Ended);
    let row = row(store, &next).await;
    assert_eq!(
        (row.completed, row.credits, row.status),
        (3, 3, JobStatus::Completed)
    );

    let rest = crawl(job.team, 10);
    let created = store.continue_crawl(&rest, next.id).await.unwrap();
    assert_eq!(created, ContinueOutcome::Created(2));
    let lease = take(store, &rest, 0).await;
    assert_eq!(paths(&commit(store, &lease, &batch(1)).await), ["/6", "/7"]);
    let last = Batch {
        settled: vec![page("/6"), page("/7")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    commit(store, &lease, &last).await;
    assert_eq!(store.urls_left(rest.id).await.unwrap(), 0);
    let none = crawl(job.team, 10);
    let refused = store.continue_crawl(&none, rest.id).await.unwrap();
    assert_eq!(refused, ContinueOutcome::NothingLeft);
    assert_eq!(store.job(none.team, none.id, NOW).await.unwrap(), None);
}

pub(crate) async fn a_crawl_whose_start_page_failed_is_continued_from_there(store: &Store) {
    let job = crawl(team(store).await, 4);
    let lease = start(store, &job).await;
    let seed = Offer {
        source: Source::Seed,
        ..offer("/")
    };
    let first = offering(1, vec![seed, offer("/map")]);
    commit(store, &lease, &first).await;
    let second = Batch {
        settled: vec![failed("/"), page("/map")],
        end: Some(JobEnd::Completed),
        progress: Progress {
            seed_offered: true,
            sitemaps_done: true,
            ..Progress::default()
        },
        ..batch(2)
    };
    commit(store, &lease, &second).await;
    let next = crawl(job.team, 3);
    let created = store.continue_crawl(&next, job.id).await.unwrap();
    assert_eq!(created, ContinueOutcome::Created(1));
    let lease = take(store, &next, 0).await;
    let snapshot = store.load(&lease).await.unwrap();
    assert_eq!(snapshot.seen, [key("/map")]);
    let expected = Progress {
        inherited: 1,
        ..Progress::default()
    };
    assert_eq!(snapshot.progress, expected);
    store.cancel(next.team, next.id, NOW).await.unwrap();
}

pub(crate) async fn a_failed_crawl_stores_its_error(store: &Store) {
    let job = crawl(team(store).await, 3);
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/"]).await;
    let end = JobEnd::Failed {
        error: "the start page cannot be reached".into(),
    };
    let last = Batch {
        settled: vec![failed("/")],
        end: Some(end),
        ..batch(2)
    };
    assert_eq!(commit(store, &lease, &last).await.state, JobState::Ended);
    let row = row(store, &job).await;
    assert_eq!(row.status, JobStatus::Failed);
    assert_eq!(row.error.as_deref(), Some("the start page cannot be reached"));
    assert_eq!((row.admitted, row.failed), (1, 1));
}
