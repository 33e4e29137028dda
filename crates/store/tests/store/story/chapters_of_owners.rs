//! Repeated batches, former owners, new owners, cancellation.

use harvestman_core::crawl::{Batch, JobEnd, JobState, ProcessingCounts, Progress};
use harvestman_store::{CancelOutcome, CommitError, JobStatus, Store};

use super::chapters_of_crawls::{commit, offer_first, row, start, take, team};
use crate::fixtures::{
    LEASE_MS, NOW, batch, crawl, dropped, ending, failed, key, later, offering, offers, page, room, settling,
    url,
};

pub(crate) async fn a_repeated_batch_changes_nothing(store: &Store) {
    let job = crawl(team(store).await, 5);
    let lease = start(store, &job).await;
    let first = offering(1, offers(&["/1", "/2"]));
    commit(store, &lease, &first).await;
    let second = Batch {
        settled: vec![page("/1")],
        offers: offers(&["/3"]),
        ..batch(2)
    };
    commit(store, &lease, &second).await;
    let before = row(store, &job).await;
    let repeated = store.commit(&lease, &second, NOW, LEASE_MS).await.unwrap();
    assert_eq!((repeated.number, repeated.state), (2, JobState::Running));
    let open = repeated.admitted.iter().map(|open| open.url.path());
    assert_eq!(open.collect::<Vec<_>>(), ["/2", "/3"]);
    let snapshot = store.load(&lease).await.unwrap();
    assert_eq!((snapshot.open, snapshot.last_batch), (repeated.admitted, 2));
    assert_eq!(row(store, &job).await, before);
    // Neither an older number nor one too high is accepted.
    for number in [1, 4] {
        let refused = store.commit(&lease, &batch(number), NOW, LEASE_MS).await;
        assert_eq!(refused, Err(CommitError::LeaseLost));
    }
    let last = Batch {
        settled: vec![page("/2"), page("/3")],
        end: Some(JobEnd::Completed),
        ..batch(3)
    };
    commit(store, &lease, &last).await;
    let repeated = store.commit(&lease, &last, NOW, LEASE_MS).await.unwrap();
    assert_eq!(repeated.state, JobState::Ended);
}

pub(crate) async fn a_former_owner_changes_nothing(store: &Store) {
    let job = crawl(team(store).await, 5);
    let old = start(store, &job).await;
    commit(store, &old, &offering(1, offers(&["/1"]))).await;
    assert!(store.renew(&old, NOW, LEASE_MS).await.unwrap());
    assert!(
        store
            .lease("other", later(LEASE_MS - 1), LEASE_MS, &room(100))
            .await
            .unwrap()
            .is_empty()
    );
    let new = take(store, &job, LEASE_MS).await;
    assert_eq!(new.epoch, old.epoch + 1);
    let before = row(store, &job).await;
    let refused = store
        .commit(&old, &settling(2, vec![page("/1")]), NOW, LEASE_MS)
        .await;
    assert_eq!(refused, Err(CommitError::LeaseLost));
    assert!(!store.renew(&old, NOW, LEASE_MS).await.unwrap());
    store.release(&old).await.unwrap();
    assert!(store.renew(&new, NOW, LEASE_MS).await.unwrap());
    assert_eq!(row(store, &job).await, before);
    commit(
        store,
        &new,
        &Batch {
            settled: vec![page("/1")],
            end: Some(JobEnd::Completed),
            ..batch(2)
        },
    )
    .await;
    assert_eq!(row(store, &job).await.completed, 1);
}

pub(crate) async fn a_new_owner_loads_everything(store: &Store) {
    let job = crawl(team(store).await, 4);
    let lease = start(store, &job).await;
    let progress = Progress {
        seed_offered: true,
        sitemaps_done: false,
        root: Some(url("/docs/")),
        begun: [(key("/4"), 3)].into(),
        pace: ProcessingCounts {
            in_browser: 1,
            waited: 2,
            retried: 3,
        },
        inherited: 0,
    };
    let first = Batch {
        offers: offers(&["/1", "/2", "/3", "/4", "/5", "/6"]),
        aliases: vec![key("/alias")],
        robots_blocked: vec![(key("/private"), url("/private"))],
        ..batch(1)
    };
    commit(store, &lease, &first).await;
    let second = Batch {
        settled: vec![page("/1"), failed("/2"), dropped("/3")],
        progress: progress.clone(),
        ..batch(2)
    };
    commit(store, &lease, &second).await;
    store.release(&lease).await.unwrap();
    assert_eq!(store.pace_counts(job.id).await.unwrap(), progress.pace);
    let lease = take(store, &job, 0).await;
    let mut snapshot = store.load(&lease).await.unwrap();
    let after_release = Progress {
        begun: [].into(),
        ..progress.clone()
    };
    assert_eq!((snapshot.last_batch, &snapshot.progress), (2, &after_release));
    assert_eq!(
        snapshot
            .open
            .iter()
            .map(|open| open.url.path())
            .collect::<Vec<_>>(),
        ["/4", "/5"]
    );
    assert_eq!(
        (
            snapshot.admitted, snapshot.completed, snapshot.failed, snapshot.spare
        ),
        (4, 1, 1, 1)
    );
    let mut known = ["/1", "/2", "/3", "/4", "/5", "/6", "/alias", "/private"]
        .map(key)
        .to_vec();
    known.sort();
    snapshot.seen.sort();
    assert_eq!(snapshot.seen, known);
    store.cancel(job.team, job.id, NOW).await.unwrap();
}

pub(crate) async fn a_cancelled_job_does_not_change(store: &Store) {
    let job = crawl(team(store).await, 3);
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/1", "/2", "/3", "/4"]).await;
    commit(
        store,
        &lease,
        &Batch {
            settled: vec![page("/1")],
            progress: Progress {
                begun: [(key("/2"), 1)].into(),
                ..Progress::default()
            },
            ..batch(2)
        },
    )
    .await;
    let stranger = store.ensure_team("stranger").await.unwrap();
    assert_eq!(
        store.cancel(stranger, job.id, NOW).await.unwrap(),
        CancelOutcome::NotFound
    );
    assert_eq!(
        store.cancel(job.team, job.id, later(5)).await.unwrap(),
        CancelOutcome::Cancelled(job.kind)
    );
    assert_eq!(
        store.cancel(job.team, job.id, later(9)).await.unwrap(),
        CancelOutcome::AlreadyEnded(JobStatus::Cancelled)
    );
    let cancelled = row(store, &job).await;
    assert_eq!(
        (cancelled.status, cancelled.completed_at),
        (JobStatus::Cancelled, Some(later(5)))
    );
    // Pages in flight count as attempted; pages not begun do not.
    assert_eq!((cancelled.admitted, cancelled.completed), (2, 1));
    let late = Batch {
        settled: vec![page("/2")],
        offers: offers(&["/5"]),
        ..batch(3)
    };
    let response = commit(store, &lease, &late).await;
    assert_eq!((response.state, response.admitted.len()), (JobState::Ended, 0));
    assert_eq!(row(store, &job).await, cancelled);
    assert_eq!(
        store
            .documents(job.id, 0, None, 1 << 20)
            .await
            .unwrap()
            .documents
            .len(),
        1
    );

    let done = crawl(team(store).await, 3);
    let lease = start(store, &done).await;
    commit(store, &lease, &ending(1)).await;
    let response = store.cancel(done.team, done.id, NOW).await.unwrap();
    assert_eq!(response, CancelOutcome::AlreadyEnded(JobStatus::Completed));
}
