//! Rows that cannot be read: the job or check fails, and no other is affected.

use harvestman_core::api::monitor_response::CheckStatus;
use harvestman_core::ids::JobId;
use harvestman_store::{
    DeliveryQuery, EventSubject, JobKind, JobStatus, NewCheck, NewJob, SecretKind, StartOutcome, Store,
    StoreConfig, StoreError, new_id,
};

use crate::encryption::{Owner, open, refusal, stored, with_key};
use crate::faults::tamper;
use crate::fixtures::{
    LEASE_MS, NOW, TestFolder, crawl, crawl_with_events, create_monitor, later, lease_all, on_both_stores,
    run_sql,
};

/// Changes the database of a store and opens it again. `@` begins the name of a table.
async fn damage(folder: &TestFolder, store: Store, statements: &[&str]) -> Store {
    close_and_damage(folder, store, statements).await;
    folder.open().await
}

async fn close_and_damage(folder: &TestFolder, store: Store, statements: &[&str]) {
    store.close().await.unwrap();
    for statement in statements {
        match folder.is_exclusive() {
            true => tamper(folder, statement.replace('@', "").leak()).await,
            false => run_sql(folder.name(), &statement.replace('@', "harvestman.")),
        }
    }
}

/// Asserts that the job has failed, and that its receiver gets one event for that.
async fn assert_failed(store: &Store, job: &NewJob) {
    let row = store.job(job.team, job.id, NOW).await.unwrap().unwrap();
    assert_eq!(row.status, JobStatus::Failed);
    let error = row.error.unwrap();
    assert!(error.contains("damaged"), "{error}");
    store.pace_counts(job.id).await.unwrap();
    assert_eq!(lease_all(store, later(2 * LEASE_MS)).await, []);
    assert_eq!(events(store, job).await, ["crawl.started", "crawl.failed"]);
}

async fn events(store: &Store, job: &NewJob) -> Vec<String> {
    let all = DeliveryQuery {
        after: 0,
        state: None,
        limit: 10,
    };
    let log = store.delivery_log(job.team, job.id, &all).await.unwrap();
    log.deliveries.into_iter().map(|event| event.event).collect()
}

async fn a_job_with_a_damaged_row_fails_alone(folder: TestFolder) {
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    let (bad, good) = (crawl_with_events(team, 5), crawl(team, 5));
    for job in [&bad, &good] {
        store.create_crawl(job, None).await.unwrap();
    }
    let row = "UPDATE @job SET created_at = -1, warnings = '[' WHERE webhook_events > 0";
    let progress =
        "UPDATE @shard SET progress = '{' WHERE job_id = (SELECT id FROM @job WHERE webhook_events > 0)";
    let store = damage(&folder, store, &[row, progress]).await;
    let leases = lease_all(&store, NOW).await;
    assert_eq!(
        leases.iter().map(|lease| lease.job).collect::<Vec<_>>(),
        [good.id]
    );
    store.cancel(team, good.id, NOW).await.unwrap();
    assert_failed(&store, &bad).await;
    store.close().await.unwrap();
}

on_both_stores!(a_job_with_a_damaged_row_fails_alone: "damaged-row");

#[tokio::test]
async fn a_job_whose_request_is_not_utf8_fails_alone() {
    let folder = TestFolder::new("damaged-utf8");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    let job = crawl_with_events(team, 5);
    store.create_crawl(&job, None).await.unwrap();
    let store = damage(
        &folder,
        store,
        &["UPDATE @job SET request = CAST(x'7bff' AS TEXT)"],
    )
    .await;
    assert_eq!(lease_all(&store, NOW).await, []);
    assert_failed(&store, &job).await;
    store.close().await.unwrap();
}

async fn only_the_owner_fails_a_damaged_job(folder: TestFolder) {
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    let job = crawl_with_events(team, 5);
    store.create_crawl(&job, None).await.unwrap();
    let progress = "UPDATE @shard SET progress = '{'";
    let store = damage(&folder, store, &[progress]).await;
    let former = lease_all(&store, NOW).await.remove(0);
    let lease = lease_all(&store, later(LEASE_MS)).await.remove(0);
    let error = store.load(&lease).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreadable(_)), "{error:?}");
    assert!(!store.fail_damaged(&former, NOW).await.unwrap());
    assert!(store.fail_damaged(&lease, NOW).await.unwrap());
    assert!(!store.fail_damaged(&lease, NOW).await.unwrap());
    assert_failed(&store, &job).await;
    let started = store.due_event(job.id, NOW).await.unwrap().unwrap();
    let EventSubject::Job { error: Some(error) } = started.subject else {
        panic!("{started:?}");
    };
    assert!(error.contains("damaged"), "{error}");
    store.close().await.unwrap();
}

on_both_stores!(only_the_owner_fails_a_damaged_job: "damaged-owner");

async fn a_check_with_a_damaged_row_fails_alone(folder: TestFolder) {
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    let mut checks = Vec::new();
    for name in ["bad", "good"] {
        let check = NewCheck {
            monitor: create_monitor(&store, team, "{}").await,
            job: NewJob {
                kind: JobKind::Monitor,
                url: name.to_owned(),
                ..crawl_with_events(team, 0)
            },
            due: None,
            jobs: vec![JobId(new_id())],
        };
        assert_eq!(store.start_check(&check).await, Ok(StartOutcome::Started));
        checks.push(check);
    }
    let jobs = "UPDATE @monitor_check SET jobs = '[' WHERE id = (SELECT id FROM @job WHERE url = 'bad')";
    let store = damage(&folder, store, &[jobs]).await;
    let leases = store.lease_checks(NOW, LEASE_MS, 10).await.unwrap();
    let ids: Vec<JobId> = leases.iter().map(|lease| lease.check).collect();
    assert_eq!(ids, [checks[1].job.id]);
    let bad = &checks[0];
    let row = store.check(bad.monitor, bad.job.id, NOW).await.unwrap().unwrap();
    assert_eq!(row.status, CheckStatus::Failed);
    assert!(row.error.unwrap().contains("damaged"));
    let job = store.job(team, bad.job.id, NOW).await.unwrap().unwrap();
    assert_eq!(job.status, JobStatus::Failed);
    assert_eq!(events(&store, &bad.job).await, ["monitor.check.completed"]);
    let event = store.due_event(bad.job.id, NOW).await.unwrap().unwrap();
    let EventSubject::Run { data, .. } = event.subject else {
        panic!("{:?}", event.subject)
    };
    assert!(
        data.contains(r#""status":"failed""#) && data.contains("damaged"),
        "{data}"
    );
    let next = NewCheck {
        job: NewJob {
            id: JobId(new_id()),
            ..bad.job.clone()
        },
        ..bad.clone()
    };
    assert_eq!(store.start_check(&next).await, Ok(StartOutcome::Started));
    store.close().await.unwrap();
}

on_both_stores!(a_check_with_a_damaged_row_fails_alone: "damaged-check");

async fn a_monitor_with_a_damaged_row_does_not_hold_up_others(folder: TestFolder) {
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    create_monitor(&store, team, "{}").await;
    let summary = "UPDATE @monitor SET last_summary = '['";
    let store = damage(&folder, store, &[summary]).await;
    let good = create_monitor(&store, team, "{}").await;
    let due = store.due_monitors(later(1000), 10).await.unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = due.into_iter().partition(|monitor| monitor.id == good);
    let error = store.monitor(team, bad[0].id).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreadable(_)), "{error:?}");
    assert!(store.monitor(team, good[0].id).await.unwrap().is_some());
    store.postpone_monitor(bad[0], later(1000), 500).await.unwrap();
    assert_eq!(store.due_monitors(later(1499), 10).await.unwrap(), good);
    store.postpone_monitor(bad[0], later(1000), 900).await.unwrap();
    let due = store.due_monitors(later(1500), 10).await.unwrap();
    assert_eq!(due.len(), 2, "only a due check is postponed");
    store.close().await.unwrap();
}

on_both_stores!(a_monitor_with_a_damaged_row_does_not_hold_up_others: "damaged-monitor");

async fn a_damaged_secret_is_named_when_the_key_changes(folder: TestFolder) {
    let first = with_key(&folder, "the first secret key");
    let store = open(&first).await;
    let owner = Owner::create(&store).await;
    let secret = "UPDATE @team SET webhook_secret = substr(webhook_secret, 1, 40) || 'AAAA'";
    close_and_damage(&folder, store, &[secret]).await;
    let change = StoreConfig {
        earlier_keys: first.secret_key.into_iter().collect(),
        ..with_key(&folder, "the second secret key")
    };
    let error = refusal(&change).await;
    for part in [
        &format!("webhook secret of team {}", owner.team),
        "discard-secrets",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let discarded = Store::discard_lost_secrets(&change).await.unwrap();
    assert_eq!(discarded.values, [(SecretKind::WebhookSecret, 1)].into());
    open(&change).await.close().await.unwrap();
}

on_both_stores!(a_damaged_secret_is_named_when_the_key_changes: "damaged-secret");

async fn requests_of_other_keys_and_versions_are_readable_elsewhere(folder: TestFolder) {
    let store = open(&with_key(&folder, "the first secret key")).await;
    Owner::create(&store).await;
    let stored = stored(&folder).await;
    let sealed = stored.lines().find(|line| line.starts_with('{')).unwrap();
    let other_key = sealed.replace("sealed:1:", "sealed:1:0123456789abcdef:");
    let damaged = sealed.replace("\",\"url\"", "AAAA\",\"url\"");
    assert_ne!(damaged, sealed);
    let is_shared = !folder.is_exclusive();
    for (request, expected) in [
        (sealed, is_shared),
        (r#"{"url":"http://site.test/","new":true}"#, is_shared),
        (&*other_key, true),
        (&*damaged, false),
        (r#"{"url":"#, false),
    ] {
        assert_eq!(store.may_be_readable_elsewhere(request), expected, "{request}");
    }
    store.close().await.unwrap();
}

on_both_stores!(requests_of_other_keys_and_versions_are_readable_elsewhere: "elsewhere");
