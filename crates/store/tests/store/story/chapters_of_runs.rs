//! Runs of extract and agent: each has one result, one price, one end.

use harvestman_core::ids::JobId;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use harvestman_store::{
    AgentOutcome, CancelOutcome, CreateOutcome, EventSubject, Idempotency, JobKind, JobStatus, Lease, NewJob,
    RunEnd, RunEvent, RunStep, Store, ThreadPlace, new_id,
};

use super::chapters_of_crawls::{start, take, team};
use super::chapters_of_events::{deliver, take as lease_receivers};
use crate::fixtures::{LEASE_MS, NOW, RETENTION_MS, crawl_with_events, later, new_job, without_retention};

fn completed(result: &str, credits: u32) -> RunEnd {
    RunEnd {
        error: None,
        result: Some(result.to_owned()),
        credits,
        event_data: Some(r#"{"answer":1}"#.to_owned()),
    }
}

fn idempotency(key: &str) -> Idempotency {
    Idempotency {
        key: key.to_owned(),
        body_hash: [1; 32],
    }
}

async fn add_step(store: &Store, lease: &Lease, step: RunStep) {
    assert!(store.add_run_step(lease, step, NOW).await.unwrap());
}

fn action(data: &str) -> RunStep {
    RunStep {
        action: Some(data.to_owned()),
        ..RunStep::default()
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
    assert!(!store.add_run_step(&lost, action("{}"), NOW).await.unwrap());
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

    add_step(store, &lease, action(r#"{"action":"scrape"}"#)).await;
    assert_eq!(
        store.cancel(owner, first.id, NOW).await.unwrap(),
        CancelOutcome::Cancelled(first.kind)
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

pub(crate) async fn the_progress_of_a_run_is_kept_until_its_result(store: &Store) {
    let owner = store.ensure_team("progress of runs").await.unwrap();
    let agent = |ms: u64| NewJob {
        id: JobId(new_id()),
        kind: JobKind::Agent,
        created_at: later(ms),
        ..new_job(owner, JobKind::Agent, 1)
    };
    let (first, second) = (agent(1), agent(2));
    let step = |number: u64, result: &str| RunStep {
        events: vec![RunEvent {
            number,
            event: format!(r#"{{"number":{number}}}"#),
            snapshot: (number == 2).then(|| "the page".to_owned()),
        }],
        result: Some(result.to_owned()),
        action: None,
    };
    let lost = start(store, &first).await;
    let lease = take(store, &first, LEASE_MS + 1).await;
    assert!(!store.add_run_step(&lost, step(2, "{}"), NOW).await.unwrap());
    add_step(store, &lease, step(2, r#"{"partial":1}"#)).await;
    // A repeated step, whose response was lost, changes nothing.
    add_step(store, &lease, step(2, r#"{"partial":1}"#)).await;
    let none = RunStep {
        result: None,
        ..step(3, "")
    };
    add_step(store, &lease, none).await;
    let events = [r#"{"number":2}"#, r#"{"number":3}"#];
    assert_eq!(store.run_events(first.id).await.unwrap(), events);
    let snapshot = async |number| store.run_snapshot(first.id, number).await.unwrap();
    assert_eq!(snapshot(2).await.as_deref(), Some("the page"));
    assert_eq!((snapshot(3).await, snapshot(9).await), (None, None));
    let result = async |job: &NewJob| store.run(owner, job.id, NOW).await.unwrap().unwrap().result;
    assert_eq!(result(&first).await.as_deref(), Some(r#"{"partial":1}"#));
    assert!(
        store
            .finish_run(&lease, completed(r#"{"data":1}"#, 1), NOW)
            .await
            .unwrap()
    );
    assert_eq!(result(&first).await.as_deref(), Some(r#"{"data":1}"#));
    assert_eq!(store.run_events(first.id).await.unwrap(), events);

    // A cancelled run keeps what it found.
    start(store, &second).await;
    let lease = take(store, &second, LEASE_MS + 1).await;
    store
        .add_run_step(&lease, step(2, r#"{"partial":2}"#), NOW)
        .await
        .unwrap();
    store.cancel(owner, second.id, NOW).await.unwrap();
    assert!(!store.add_run_step(&lease, step(4, "{}"), NOW).await.unwrap());
    assert_eq!(result(&second).await.as_deref(), Some(r#"{"partial":2}"#));

    // So does a run that fails without a result.
    let third = agent(3);
    start(store, &third).await;
    let lease = take(store, &third, LEASE_MS + 1).await;
    store
        .add_run_step(&lease, step(2, r#"{"partial":3}"#), NOW)
        .await
        .unwrap();
    let failed = RunEnd {
        error: Some("the server stopped too often".to_owned()),
        result: None,
        ..completed("", 0)
    };
    assert!(store.finish_run(&lease, failed, NOW).await.unwrap());
    assert_eq!(result(&third).await.as_deref(), Some(r#"{"partial":3}"#));
}

pub(crate) async fn a_thread_has_one_run_at_a_time(store: &Store) {
    let owner = store.ensure_team("threads").await.unwrap();
    let stranger = store.ensure_team("stranger of threads").await.unwrap();
    let agent = |team| NewJob {
        id: JobId(new_id()),
        kind: JobKind::Agent,
        ..new_job(team, JobKind::Agent, 1)
    };
    let first = agent(owner);
    let thread = first.id.0;
    let key = idempotency("thread");
    let create = async |job: &NewJob, thread, key: Option<&Idempotency>| {
        store.create_agent(job, thread, key).await.unwrap()
    };
    let created = AgentOutcome::Job(CreateOutcome::Created);
    assert_eq!(
        create(&agent(owner), Some(thread), None).await,
        AgentOutcome::NoThread
    );
    assert_eq!(create(&first, None, None).await, created);
    assert_eq!(
        create(&agent(owner), Some(thread), None).await,
        AgentOutcome::ThreadBusy
    );
    assert_eq!(
        create(&agent(stranger), Some(thread), None).await,
        AgentOutcome::NoThread
    );
    store.cancel(owner, first.id, NOW).await.unwrap();

    // Of two runs that continue a thread at once, one is created.
    let (second, other) = (agent(owner), agent(owner));
    let both = tokio::join!(
        create(&second, Some(thread), Some(&key)),
        create(&other, Some(thread), None)
    );
    assert!(
        matches!(
            both,
            (AgentOutcome::Job(_), AgentOutcome::ThreadBusy)
                | (AgentOutcome::ThreadBusy, AgentOutcome::Job(_))
        ),
        "{both:?}"
    );
    let running = if both.0 == created { second.id } else { other.id };
    store.cancel(owner, running, NOW).await.unwrap();
    let third = agent(owner);
    let again = idempotency("thread again");
    assert_eq!(create(&third, Some(thread), Some(&again)).await, created);
    // A repeated request does not wait for the run that it started.
    let repeated = AgentOutcome::Job(CreateOutcome::Repeated(third.id));
    assert_eq!(create(&agent(owner), Some(thread), Some(&again)).await, repeated);
    store.cancel(owner, third.id, NOW).await.unwrap();

    let runs = store.thread(owner, thread, NOW).await.unwrap();
    let places: Vec<_> = runs.iter().map(|run| (run.id, run.thread.unwrap())).collect();
    let place = |turn| ThreadPlace { thread, turn };
    assert_eq!(
        places,
        [(first.id, place(1)), (running, place(2)), (third.id, place(3))]
    );
    assert_eq!(store.thread(stranger, thread, NOW).await.unwrap(), []);
    // The thread expires with its runs.
    assert_eq!(
        store.thread(owner, thread, later(RETENTION_MS)).await.unwrap(),
        []
    );

    // A run without stored data has no thread.
    let forgotten = without_retention(agent(owner));
    assert_eq!(create(&forgotten, None, None).await, created);
    assert_eq!(
        store.run(owner, forgotten.id, NOW).await.unwrap().unwrap().thread,
        None
    );
    store.cancel(owner, forgotten.id, NOW).await.unwrap();
}
