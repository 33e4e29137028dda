//! Webhook events and their delivery.

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::crawl::{Batch, JobEnd};
use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;
use harvestman_store::{
    AttemptEnd, DeliveryLog, DeliveryQuery, DueEvent, EventSubject, NewJob, Store, WebhookEvents,
};

use super::chapters_of_crawls::{commit, offer_first, start, team};
use crate::fixtures::{LEASE_MS, NOW, batch, crawl_with_events, ending, failed, later, page, url};

const HOLD_MS: u64 = 30_000;

pub(crate) fn attempt(at: Timestamp, status: Option<u16>) -> DeliveryAttempt {
    DeliveryAttempt {
        at,
        duration_ms: 12,
        status,
        error: status.is_none().then(|| "no connection".into()),
    }
}

pub(crate) async fn take(store: &Store, at: Timestamp) -> Vec<JobId> {
    let leased = store.lease_receivers(at, HOLD_MS, 10, &[]).await.unwrap();
    leased.into_iter().map(|(job, _)| job).collect()
}

async fn finish(
    store: &Store,
    event: &DueEvent,
    at: Timestamp,
    status: Option<u16>,
    end: AttemptEnd,
) -> bool {
    let attempt = attempt(at, status);
    store
        .finish_attempt(event, &attempt, end, Timestamp(at.0 + HOLD_MS))
        .await
        .unwrap()
}

/// Delivers the next event of a leased job.
pub(crate) async fn deliver(store: &Store, job: JobId, at: Timestamp) -> Option<DueEvent> {
    let event = store.due_event(job, at).await.unwrap()?;
    assert!(finish(store, &event, at, Some(204), AttemptEnd::Delivered).await);
    Some(event)
}

async fn log(
    store: &Store,
    job: &NewJob,
    after: u64,
    state: Option<DeliveryState>,
    limit: u32,
) -> DeliveryLog {
    let query = DeliveryQuery { after, state, limit };
    store.delivery_log(job.team, job.id, &query).await.unwrap()
}

pub(crate) async fn events_are_delivered_in_order(store: &Store) {
    assert_eq!(store.next_event_at(NOW).await.unwrap(), None);
    let job = crawl_with_events(team(store).await, 5);
    let lease = start(store, &job).await;
    assert_eq!(store.next_event_at(NOW).await.unwrap(), Some(NOW));
    assert!(store.due_work(NOW).await.unwrap().events);
    offer_first(store, &lease, &["/1", "/2"]).await;
    let last = Batch {
        settled: vec![page("/1"), failed("/2")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    // The clock may go back; the order of events must not change.
    store
        .commit(&lease, &last, Timestamp(NOW.0 - 5000), LEASE_MS)
        .await
        .unwrap();

    assert!(take(store, Timestamp(NOW.0 - 1)).await.is_empty());
    assert_eq!(take(store, NOW).await, [job.id]);
    assert!(
        take(store, NOW).await.is_empty(),
        "a leased job is not leased again"
    );
    assert!(!store.due_work(NOW).await.unwrap().events);
    assert_eq!(store.next_event_at(NOW).await.unwrap(), Some(later(HOLD_MS)));
    let mut events = Vec::new();
    while let Some(event) = deliver(store, job.id, NOW).await {
        events.push(event);
    }
    let names: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(
        names,
        ["crawl.started", "crawl.page", "crawl.page", "crawl.completed"]
    );
    assert_eq!(
        (events[0].job, events[0].event_no, events[0].attempts),
        (job.id, 1, 0)
    );
    assert_eq!(
        (events[0].subject.clone(), events[0].webhook.as_str()),
        (EventSubject::Job { error: None }, r#""http://receiver.test/""#)
    );
    let EventSubject::Page(text) = &events[1].subject else {
        panic!("a page event must have its document")
    };
    assert!(text.contains(r##""markdown":"# /1""##), "{text}");
    let EventSubject::PageFailed(entry) = &events[2].subject else {
        panic!("the event of a failed page must have its error")
    };
    assert_eq!(
        (entry.url.as_str(), entry.code.as_str()),
        (url("/2").as_str(), "SCRAPE_TIMEOUT")
    );
    let ids: std::collections::BTreeSet<_> = events.iter().map(|event| event.webhook_id).collect();
    assert_eq!(ids.len(), 4);
    store.release_receiver(job.id, NOW).await.unwrap();
    assert_eq!(store.next_event_at(NOW).await.unwrap(), None);
}

pub(crate) async fn events_do_not_wait_for_a_clock_that_was_set_back(store: &Store) {
    let job = crawl_with_events(team(store).await, 5);
    let lease = start(store, &job).await;
    let ahead = later(3_600_000);
    let last = ending(1);
    store.commit(&lease, &last, ahead, LEASE_MS).await.unwrap();
    assert_eq!(take(store, NOW).await, [job.id]);
    deliver(store, job.id, NOW).await.unwrap();
    assert_eq!(deliver(store, job.id, NOW).await, None);
    store.release_receiver(job.id, ahead).await.unwrap();
    assert!(take(store, NOW).await.is_empty());
    store.expire(NOW).await.unwrap();
    assert_eq!(take(store, NOW).await, [job.id]);
    let event = deliver(store, job.id, NOW).await.unwrap();
    assert_eq!(event.event, "crawl.completed");
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
    assert_eq!(take(store, NOW).await, [job.id]);
    let started = store.due_event(job.id, NOW).await.unwrap().unwrap();
    let retry = AttemptEnd::RetryAt(later(60_000));
    assert!(finish(store, &started, NOW, None, retry).await);
    assert!(!finish(store, &started, NOW, None, retry).await, "only once");
    let failed = deliver(store, job.id, NOW).await.unwrap();
    assert_eq!(failed.event, "crawl.failed");
    assert_eq!(
        failed.subject,
        EventSubject::Job {
            error: Some("unreachable".into())
        }
    );
    assert_eq!(store.due_event(job.id, later(59_999)).await.unwrap(), None);
    store.release_receiver(job.id, NOW).await.unwrap();
    assert!(take(store, later(59_999)).await.is_empty());
    let waiting = log(store, &job, 0, Some(DeliveryState::Pending), 10).await;
    assert_eq!(waiting.deliveries.len(), 1);
    assert_eq!(waiting.deliveries[0].next_attempt_at, Some(later(60_000)));

    assert_eq!(take(store, later(60_000)).await, [job.id]);
    let again = store.due_event(job.id, later(60_000)).await.unwrap().unwrap();
    assert_eq!((again.event.as_str(), again.attempts), ("crawl.started", 1));
    assert_eq!(
        again.webhook_id, started.webhook_id,
        "every attempt has the same id"
    );
    // A deliverer that dies keeps the job only for the time of its lease.
    assert!(take(store, later(60_000 + HOLD_MS - 1)).await.is_empty());
    assert_eq!(take(store, later(60_000 + HOLD_MS)).await, [job.id]);
    assert!(finish(store, &again, later(1), Some(500), AttemptEnd::GivenUp).await);
    assert_eq!(store.next_event_at(NOW).await.unwrap(), None);

    let whole = log(store, &job, 0, None, 10).await;
    assert_eq!((whole.pending, whole.delivered, whole.given_up), (0, 1, 1));
    let seen: Vec<_> = whole
        .deliveries
        .iter()
        .map(|delivery| {
            let statuses: Vec<_> = delivery.attempts.iter().map(|attempt| attempt.status).collect();
            (delivery.event.as_str(), delivery.state, statuses)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("crawl.started", DeliveryState::GivenUp, vec![None, Some(500)]),
            ("crawl.failed", DeliveryState::Delivered, vec![Some(204)])
        ]
    );
    assert_eq!(whole.deliveries[0].attempts[0], attempt(NOW, None));
    assert_eq!(whole.deliveries[0].next_attempt_at, None);
    let first = log(store, &job, 0, None, 1).await;
    assert_eq!(first.deliveries, whole.deliveries[..1]);
    assert_eq!(
        log(store, &job, 1, None, 10).await.deliveries,
        whole.deliveries[1..]
    );
    let given_up = log(store, &job, 0, Some(DeliveryState::GivenUp), 10).await;
    assert_eq!(given_up.deliveries, whole.deliveries[..1]);
    let stranger = NewJob {
        team: store.ensure_team("stranger").await.unwrap(),
        ..job.clone()
    };
    let event = whole.deliveries[0].webhook_id;
    assert!(
        !store
            .resend_event(stranger.team, job.id, event, NOW)
            .await
            .unwrap()
    );
    assert!(store.resend_event(job.team, job.id, event, NOW).await.unwrap());
    assert_eq!(take(store, later(90_001 + HOLD_MS)).await, [job.id]);
    let once_more = deliver(store, job.id, later(90_001 + HOLD_MS)).await.unwrap();
    assert_eq!((once_more.webhook_id, once_more.attempts), (event, 2));
    let strange = log(store, &stranger, 0, None, 10).await;
    assert_eq!((strange.deliveries.len(), strange.delivered), (0, 0));
}

pub(crate) async fn only_subscribed_events_are_stored(store: &Store) {
    let wanted = WebhookEvents {
        completed: true,
        ..WebhookEvents::default()
    };
    let job = NewJob {
        webhook: Some(wanted),
        ..crawl_with_events(team(store).await, 5)
    };
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/1"]).await;
    let last = Batch {
        settled: vec![page("/1")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    commit(store, &lease, &last).await;
    assert_eq!(take(store, NOW).await, [job.id]);
    assert_eq!(
        deliver(store, job.id, NOW).await.unwrap().event,
        "crawl.completed"
    );
    assert_eq!(deliver(store, job.id, NOW).await, None);
}

pub(crate) async fn receivers_take_turns(store: &Store) {
    let team = team(store).await;
    let jobs = [0, 1, 2].map(|_| crawl_with_events(team, 5));
    for job in &jobs {
        start(store, job).await;
    }
    let mut turns: Vec<JobId> = Vec::new();
    for minute in 0..6_u64 {
        let at = later(minute * 60_000);
        let others = store.lease_receivers(at, HOLD_MS, 1, &[team]).await.unwrap();
        assert_eq!(others, [], "of other teams");
        let taken = store.lease_receivers(at, HOLD_MS, 1, &[]).await.unwrap();
        assert_eq!(taken[0].1, team);
        turns.push(taken[0].0);
        // Its event stays pending.
        store
            .release_receiver(taken[0].0, later(minute * 60_000 + 1))
            .await
            .unwrap();
    }
    let first: std::collections::BTreeSet<_> = turns[..3].iter().collect();
    assert_eq!(
        first.len(),
        3,
        "no receiver gets a second turn before all had one"
    );
    assert_eq!(turns[..3], turns[3..]);
    for job in &jobs {
        deliver(store, job.id, later(HOLD_MS)).await.unwrap();
    }
}
