//! Runs of extract and agent: each has one result, one price, one end.

use harvestman_core::ids::JobId;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use harvestman_store::{CancelOutcome, EventSubject, JobKind, JobStatus, NewJob, RunEnd, Store, new_id};

use super::chapters_of_crawls::{start, take, team};
use super::chapters_of_events::{deliver, take as lease_receivers};
use crate::fixtures::{LEASE_MS, NOW, RETENTION_MS, crawl_with_events, later, new_job};

fn completed(result: &str, credits: u32) -> RunEnd {
    RunEnd {
        error: None,
        result: Some(result.to_owned()),
        credits,
        event_data: Some(r#"{"answer":1}"#.to_owned()),
    }
}

pub(crate) async fn a_run_ends_once_with_its_result_and_price(store: &Store) {
    let owner = team(store).await;
    let job = NewJob {
        kind: JobKind::Extract,
        ..crawl_with_events(owner, 1)
    };
    let lost = start(store, &job).await;
    let lease = take(store, &job, LEASE_MS + 1).await;
    // The former owner cannot change anything.
    let before = store.credits_in_month(owner, Month::of(NOW)).await.unwrap();
    assert!(!store.finish_run(&lost, completed("{}", 3), NOW).await.unwrap());
    assert!(!store.add_action(&lost, "{}".to_owned(), NOW).await.unwrap());
    let running = store.run(owner, job.id, NOW).await.unwrap().unwrap();
    assert_eq!((running.status, running.result), (JobStatus::Scraping, None));
    assert!(
        store
            .finish_run(&lease, completed(r#"{"data":[1]}"#, 6), NOW)
            .await
            .unwrap()
    );
    assert!(!store.finish_run(&lease, completed("{}", 6), NOW).await.unwrap());
    let ended = store.run(owner, job.id, NOW).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.credits), (JobStatus::Completed, 6));
    assert_eq!(ended.result.as_deref(), Some(r#"{"data":[1]}"#));
    assert_eq!(ended.expires_at, Some(later(RETENTION_MS)));
    let spent = store.credits_in_month(owner, Month::of(NOW)).await.unwrap();
    assert_eq!(spent - before, 6);
    assert_eq!(store.run(owner, job.id, later(RETENTION_MS)).await.unwrap(), None);
    let stranger = store.ensure_team("stranger of runs").await.unwrap();
    assert_eq!(store.run(stranger, job.id, NOW).await.unwrap(), None);

    let owed = later(LEASE_MS + 2);
    lease_receivers(store, owed).await;
    let first = deliver(store, job.id, owed).await.unwrap();
    assert_eq!(first.event, "extract.started");
    let last = deliver(store, job.id, owed).await.unwrap();
    assert_eq!(last.event, "extract.completed");
    let expected = EventSubject::Run {
        data: r#"{"answer":1}"#.to_owned(),
        error: None,
    };
    assert_eq!(last.subject, expected);
    assert_eq!(deliver(store, job.id, owed).await, None);
}

pub(crate) async fn agents_are_listed_and_cancelled(store: &Store) {
    let owner = store.ensure_team("agents").await.unwrap();
    let agent = |ms: u64| NewJob {
        id: JobId(new_id()),
        kind: JobKind::Agent,
        created_at: later(ms),
        ..crawl_with_events(owner, 1)
    };
    let (first, second) = (agent(1), agent(2));
    let lease = start(store, &first).await;
    start(store, &second).await;
    start(store, &new_job(owner, JobKind::Extract, 1)).await;
    let ids = async |before: Option<Timestamp>, limit| -> Vec<JobId> {
        let runs = store.agents(owner, before, limit, NOW).await.unwrap();
        runs.into_iter().map(|run| run.id).collect()
    };
    assert_eq!(ids(None, 5).await, [second.id, first.id]);
    assert_eq!(ids(None, 1).await, [second.id]);
    assert_eq!(ids(Some(later(2)), 5).await, [first.id]);

    assert!(
        store
            .add_action(&lease, r#"{"action":"scrape"}"#.to_owned(), NOW)
            .await
            .unwrap()
    );
    assert_eq!(
        store.cancel(owner, first.id, NOW).await.unwrap(),
        CancelOutcome::Cancelled
    );
    assert!(!store.finish_run(&lease, completed("{}", 5), NOW).await.unwrap());
    let owed = later(LEASE_MS + 3);
    lease_receivers(store, owed).await;
    for expected in ["agent.started", "agent.action", "agent.cancelled"] {
        assert_eq!(deliver(store, first.id, owed).await.unwrap().event, expected);
    }
    let failed = RunEnd {
        error: Some("no result".to_owned()),
        ..RunEnd {
            result: None,
            ..completed("", 0)
        }
    };
    let lease = take(store, &second, LEASE_MS + 4).await;
    assert!(store.finish_run(&lease, failed, NOW).await.unwrap());
    let ended = store.run(owner, second.id, NOW).await.unwrap().unwrap();
    assert_eq!(
        (ended.status, ended.error.as_deref()),
        (JobStatus::Failed, Some("no result"))
    );
    while deliver(store, second.id, later(LEASE_MS + 5)).await.is_some() {}
}
