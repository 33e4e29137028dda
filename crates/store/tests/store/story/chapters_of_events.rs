//! Owed webhook events.

use harvestman_core::crawl::{Batch, JobEnd};
use harvestman_core::time::Timestamp;
use harvestman_store::{Attempt, AttemptEnd, DueEvent, EventSubject, NewJob, Store, WebhookEvents};

use super::chapters_of_crawls::{commit, start, team};
use crate::place::{LEASE_MS, NOW, batch, crawl, crawl_with_events, failed, later, offers, page, url};

const HOLD_MS: u64 = 30_000;

fn attempt(at: Timestamp, status: Option<u16>) -> Attempt {
    Attempt {
        at,
        duration_ms: 12,
        status,
        error: status.is_none().then(|| "no connection".into()),
    }
}

async fn due(store: &Store, at: Timestamp, limit: u32) -> Vec<DueEvent> {
    store.due_events(at, HOLD_MS, limit).await.unwrap()
}

fn names(events: &[DueEvent]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

async fn deliver(store: &Store, event: &DueEvent) {
    assert!(
        store
            .finish_attempt(event, &attempt(NOW, Some(204)), AttemptEnd::Delivered)
            .await
            .unwrap()
    );
}

pub(crate) async fn events_are_owed_in_order(store: &Store) {
    assert_eq!(store.next_event_at(NOW).await.unwrap(), None);
    let job = crawl_with_events(team(store).await, 5);
    let lease = start(store, &job).await;
    assert_eq!(store.next_event_at(NOW).await.unwrap(), Some(NOW));
    commit(
        store,
        &lease,
        &Batch {
            offers: offers(&["/1", "/2"]),
            ..batch(1)
        },
    )
    .await;
    let last = Batch {
        settled: vec![page("/1"), failed("/2")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    // The clock may go back; the order of events does not.
    store
        .commit(&lease, &last, Timestamp(NOW.0 - 5000), LEASE_MS)
        .await
        .unwrap();

    assert!(due(store, Timestamp(NOW.0 - 1), 10).await.is_empty());
    let first = due(store, NOW, 1).await;
    assert_eq!(names(&first), ["crawl.started"]);
    assert_eq!(
        (first[0].job, first[0].event_no, first[0].attempts),
        (job.id, 1, 0)
    );
    assert_eq!(
        (first[0].subject.clone(), first[0].request.as_str()),
        (EventSubject::Job { error: None }, job.request.as_str())
    );
    assert!(
        due(store, NOW, 10).await.is_empty(),
        "the rest waits for the first attempt of `started`"
    );
    assert_eq!(store.next_event_at(NOW).await.unwrap(), Some(later(HOLD_MS)));
    deliver(store, &first[0]).await;
    let rest = due(store, NOW, 10).await;
    assert_eq!(names(&rest), ["crawl.page", "crawl.page", "crawl.completed"]);
    let EventSubject::Page(text) = &rest[0].subject else {
        panic!("a page event carries its document")
    };
    assert!(text.contains(r##""markdown":"# /1""##), "{text}");
    let EventSubject::PageFailed(entry) = &rest[1].subject else {
        panic!("a failed page carries its error")
    };
    assert_eq!(
        (entry.url.as_str(), entry.code.as_str()),
        (url("/2").as_str(), "SCRAPE_TIMEOUT")
    );
    let ids: std::collections::BTreeSet<_> =
        first.iter().chain(&rest).map(|event| event.webhook_id).collect();
    assert_eq!(ids.len(), 4);
    for event in &rest {
        deliver(store, event).await;
    }
    assert_eq!(store.next_event_at(NOW).await.unwrap(), None);
}

pub(crate) async fn an_attempt_is_retried_or_given_up(store: &Store) {
    let job = crawl_with_events(team(store).await, 5);
    let lease = start(store, &job).await;
    let end = JobEnd::Failed {
        error: "unreachable".into(),
    };
    commit(
        store,
        &lease,
        &Batch {
            end: Some(end),
            ..batch(1)
        },
    )
    .await;
    let events = due(store, NOW, 10).await;
    assert_eq!(names(&events), ["crawl.started", "crawl.failed"]);
    assert_eq!(
        events[1].subject,
        EventSubject::Job {
            error: Some("unreachable".into())
        }
    );
    let retry = AttemptEnd::RetryAt(later(60_000));
    assert!(
        store
            .finish_attempt(&events[0], &attempt(NOW, None), retry)
            .await
            .unwrap()
    );
    assert!(
        !store
            .finish_attempt(&events[0], &attempt(NOW, None), retry)
            .await
            .unwrap(),
        "only once"
    );
    deliver(store, &events[1]).await;
    assert!(due(store, later(59_999), 10).await.is_empty());

    let again = due(store, later(60_000), 10).await;
    assert_eq!((names(&again), again[0].attempts), (vec!["crawl.started"], 1));
    assert_eq!(
        again[0].webhook_id, events[0].webhook_id,
        "the same id on every attempt"
    );
    // A deliverer that dies keeps the event for the time of its hold only.
    assert!(due(store, later(60_000 + HOLD_MS - 1), 10).await.is_empty());
    let taken_over = due(store, later(60_000 + HOLD_MS), 10).await;
    assert_eq!(taken_over.len(), 1);
    let end = AttemptEnd::GivenUp;
    assert!(
        store
            .finish_attempt(&taken_over[0], &attempt(later(1), Some(500)), end)
            .await
            .unwrap()
    );
    assert_eq!(store.next_event_at(NOW).await.unwrap(), None);

    let log = store.deliveries(job.team, job.id).await.unwrap();
    let seen: Vec<_> = log
        .iter()
        .map(|d| (d.event.as_str(), d.number, d.attempt.status))
        .collect();
    assert_eq!(
        seen,
        [
            ("crawl.started", 1, None),
            ("crawl.started", 2, Some(500)),
            ("crawl.failed", 1, Some(204))
        ]
    );
    assert_eq!(log[0].attempt, attempt(NOW, None));
    let stranger = store.ensure_team("stranger").await.unwrap();
    assert!(store.deliveries(stranger, job.id).await.unwrap().is_empty());
}

pub(crate) async fn only_subscribed_events_are_owed(store: &Store) {
    let wanted = WebhookEvents {
        completed: true,
        ..WebhookEvents::default()
    };
    let job = NewJob {
        webhook: Some(wanted),
        ..crawl(team(store).await, 5)
    };
    let lease = start(store, &job).await;
    commit(
        store,
        &lease,
        &Batch {
            offers: offers(&["/1"]),
            ..batch(1)
        },
    )
    .await;
    let last = Batch {
        settled: vec![page("/1")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    commit(store, &lease, &last).await;
    let events = due(store, NOW, 10).await;
    assert_eq!(names(&events), ["crawl.completed"]);
    deliver(store, &events[0]).await;
}
