//! Monitors, their checks, and feedback.

use harvestman_core::api::monitor_response::{CheckStatus, MonitorStatus, PageStatus};
use harvestman_core::ids::{JobId, MonitorId, TeamId};
use harvestman_core::url_key::UrlKey;
use harvestman_store::{
    CheckEnd, CheckLease, CheckPortion, DueMonitor, FeedbackOutcome, JobKind, JobStatus, MonitorUpdate,
    NewCheck, NewCheckPage, NewFeedback, NewJob, NewMonitor, StartOutcome, Store, WebhookEvents, new_id,
};

use crate::fixtures::{NOW, create_monitor, later, new_job};

const REQUEST: &str = r#"{"webhook":"http://hook.test/"}"#;

async fn monitor(store: &Store, team: TeamId) -> MonitorId {
    create_monitor(store, team, REQUEST).await
}

fn check(team: TeamId, monitor: MonitorId, due: bool) -> NewCheck {
    NewCheck {
        monitor,
        job: NewJob {
            request: REQUEST.to_owned(),
            page_limit: 0,
            webhook: Some(WebhookEvents::ALL),
            ..new_job(team, JobKind::Monitor, 0)
        },
        due: due.then(|| (later(1000), Some(later(2000)))),
        jobs: vec![JobId(new_id())],
    }
}

async fn are_due(store: &Store, at: u64) -> bool {
    store.due_work(later(at)).await.unwrap().checks
}

async fn lease(store: &Store, at: u64) -> CheckLease {
    let mut leases = store.lease_checks(later(at), 500, 10).await.unwrap();
    assert_eq!(leases.len(), 1);
    leases.remove(0)
}

fn portion(target: u32, after: u64, pages: Vec<NewCheckPage>, credits: u32) -> CheckPortion {
    CheckPortion {
        target,
        after,
        pages,
        credits,
        target_results: format!(r#"["{target}"]"#),
    }
}

async fn add(store: &Store, owner: &CheckLease, portion: CheckPortion) {
    assert!(store.add_check_pages(owner, portion, NOW).await.unwrap());
}

fn page(number: u8, status: PageStatus) -> NewCheckPage {
    NewCheckPage {
        status,
        entry: format!(r#"{{"page":{number}}}"#),
        key: UrlKey::from_bytes([number; 16]),
        url: format!("http://site.test/{number}"),
        scrape: None,
    }
}

fn end(credits: u32) -> CheckEnd {
    CheckEnd {
        status: CheckStatus::Completed,
        error: None,
        target_results: Some("[]".to_owned()),
        credits,
        job_credits: 2,
        changed_targets: Vec::new(),
    }
}

pub(crate) async fn monitors_are_limited_changed_and_listed_per_team(store: &Store) {
    let team = store.ensure_team("watchers").await.unwrap();
    let stranger = store.ensure_team("strangers").await.unwrap();
    let id = monitor(store, team).await;
    let second = NewMonitor {
        id: MonitorId(new_id()),
        team,
        key: None,
        request: REQUEST.to_owned(),
        base: String::new(),
        next_run_at: later(9000),
        created_at: NOW,
    };
    assert!(!store.create_monitor(&second, 1).await.unwrap());
    assert_eq!(store.monitor(stranger, id).await.unwrap(), None);
    let row = store.monitor(team, id).await.unwrap().unwrap();
    assert_eq!(
        (row.status, row.next_run_at),
        (MonitorStatus::Active, Some(later(1000)))
    );
    assert_eq!(
        store.monitors(team, None, 10, 0).await.unwrap(),
        std::slice::from_ref(&row)
    );
    assert_eq!(store.monitors(team, None, 10, 1).await.unwrap(), []);

    let update = MonitorUpdate {
        seen: row.updated_at,
        request: "{}".to_owned(),
        next_run_at: None,
        changed_targets: vec![0],
        now: later(5),
    };
    assert!(!store.update_monitor(stranger, id, update.clone()).await.unwrap());
    assert!(store.update_monitor(team, id, update.clone()).await.unwrap());
    assert!(
        !store.update_monitor(team, id, update).await.unwrap(),
        "the row was changed meanwhile"
    );
    let row = store.monitor(team, id).await.unwrap().unwrap();
    assert_eq!((row.status, row.request.as_str()), (MonitorStatus::Paused, "{}"));
    assert_eq!(store.due_monitors(later(9_999_999), 10).await.unwrap(), []);
    assert_eq!(store.delete_monitor(stranger, id, NOW).await.unwrap(), None);
    assert_eq!(store.delete_monitor(team, id, NOW).await.unwrap(), Some(vec![]));
    assert_eq!(store.delete_monitor(team, id, NOW).await.unwrap(), None);
    assert_eq!(store.monitors(team, None, 10, 0).await.unwrap(), []);
}

pub(crate) async fn a_due_check_starts_and_ends_once(store: &Store) {
    let team = store.ensure_team("checkers").await.unwrap();
    let id = monitor(store, team).await;
    assert_eq!(store.due_monitors(later(999), 10).await.unwrap(), []);
    assert!(!are_due(store, 999).await);
    let due = store.due_monitors(later(1000), 10).await.unwrap();
    assert_eq!(
        due,
        [DueMonitor {
            id,
            team,
            due: later(1000)
        }]
    );
    assert!(are_due(store, 1000).await);
    let checks: Vec<NewCheck> = (0..8).map(|_| check(team, id, true)).collect();
    let starts = futures_util::future::join_all(checks.iter().map(|check| store.start_check(check))).await;
    let started = starts
        .iter()
        .filter(|start| **start == Ok(StartOutcome::Started))
        .count();
    assert_eq!(started, 1, "{starts:?}");
    assert_eq!(
        store.start_check(&check(team, id, false)).await,
        Ok(StartOutcome::Overlap)
    );
    let row = store.monitor(team, id).await.unwrap().unwrap();
    assert_eq!(row.next_run_at, Some(later(2000)));

    // A former owner changes nothing.
    let former = lease(store, 0).await;
    assert_eq!(store.lease_checks(later(400), 500, 10).await.unwrap(), []);
    assert!(!are_due(store, 400).await && are_due(store, 500).await);
    let owner = lease(store, 500).await;
    assert_eq!((owner.check, owner.epoch), (former.check, former.epoch + 1));
    assert!(!store.renew_check(&former, NOW, 500).await.unwrap());
    assert!(!store.begin_check(&former, NOW).await.unwrap());
    assert!(
        !store
            .add_check_pages(&former, portion(0, 0, vec![page(1, PageStatus::New)], 1), NOW)
            .await
            .unwrap()
    );
    assert_eq!(store.finish_check(&former, end(1), NOW).await.unwrap(), None);

    // Pages are added once, in order.
    assert!(store.begin_check(&owner, NOW).await.unwrap());
    let pages = vec![page(1, PageStatus::New), page(2, PageStatus::Changed)];
    add(store, &owner, portion(0, 0, pages.clone(), 3)).await;
    assert!(
        !store
            .add_check_pages(&owner, portion(0, 0, pages, 3), NOW)
            .await
            .unwrap(),
        "a repeat"
    );
    assert_eq!(store.compared_pages(owner.check, 0).await.unwrap(), 2);
    let next = vec![page(3, PageStatus::New)];
    add(store, &owner, portion(1, 0, next, 2)).await;
    assert_eq!(
        store.ledger_total(team).await.unwrap(),
        5,
        "charged before the end"
    );
    let running = store.check(id, owner.check, NOW).await.unwrap().unwrap();
    assert_eq!(running.target_results.as_deref(), Some(r#"["1"]"#));
    let keys = [1, 2, 3].map(|number| UrlKey::from_bytes([number; 16]));
    assert_eq!(store.target_pages(id, 0, &keys).await.unwrap().len(), 2);
    assert_eq!(store.target_pages(id, 2, &keys).await.unwrap(), []);
    assert_eq!(store.missing_urls(&owner, 0, 10).await.unwrap(), []);

    let summary = store
        .finish_check(&owner, end(4), later(700))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((summary.total_pages, summary.new, summary.changed), (3, 2, 1));
    assert_eq!(
        store.finish_check(&owner, end(4), later(700)).await.unwrap(),
        None
    );
    assert_eq!(store.ledger_total(team).await.unwrap(), 9);
    let row = store.monitor(team, id).await.unwrap().unwrap();
    assert_eq!((row.check, row.last_summary), (None, Some(summary)));
    let ended = store.check(id, owner.check, later(701)).await.unwrap().unwrap();
    assert_eq!(
        (ended.status, ended.credits, ended.summary),
        (CheckStatus::Completed, 11, summary)
    );
    assert_eq!(
        store
            .checks(id, Some(CheckStatus::Failed), 10, 0, later(701))
            .await
            .unwrap(),
        []
    );
    let changed = store
        .check_pages(owner.check, Some(PageStatus::Changed), 0, 10, 1000)
        .await
        .unwrap();
    assert_eq!(
        (changed.entries, changed.more),
        (vec![r#"{"page":2}"#.to_owned()], false)
    );
    let first = store.check_pages(owner.check, None, 0, 10, 1).await.unwrap();
    assert_eq!((first.entries.len(), first.more), (1, true));
    let events = store.due_event(owner.check, later(9000)).await.unwrap().unwrap();
    assert_eq!(events.event, "monitor.page");
    // The next chapter removes it with its events.
    assert_eq!(store.delete_monitor(team, id, NOW).await.unwrap(), Some(vec![]));
}

pub(crate) async fn checks_do_not_wait_for_a_clock_that_was_set_back(store: &Store) {
    let team = store.ensure_team("clocks").await.unwrap();
    let id = monitor(store, team).await;
    let ahead = NewCheck {
        job: NewJob {
            created_at: later(3_600_000),
            ..new_job(team, JobKind::Monitor, 0)
        },
        due: Some((later(1000), Some(later(3_601_000)))),
        ..check(team, id, true)
    };
    assert_eq!(store.start_check(&ahead).await, Ok(StartOutcome::Started));
    assert_eq!(store.due_monitors(NOW, 10).await.unwrap(), []);
    store.expire(NOW).await.unwrap();
    assert_eq!(
        store.due_monitors(NOW, 10).await.unwrap(),
        [DueMonitor { id, team, due: NOW }]
    );
    store.delete_monitor(team, id, NOW).await.unwrap();
}

pub(crate) async fn a_check_knows_the_pages_that_are_missing(store: &Store) {
    let team = store.ensure_team("missing").await.unwrap();
    let id = monitor(store, team).await;
    let mut checks = Vec::new();
    for numbers in [vec![1, 2], vec![1]] {
        store.start_check(&check(team, id, false)).await.unwrap();
        let owner = lease(store, 0).await;
        let pages = numbers
            .iter()
            .map(|number| page(*number, PageStatus::New))
            .collect();
        add(store, &owner, portion(0, 0, pages, 0)).await;
        let missing = store.missing_urls(&owner, 0, 10).await.unwrap();
        for (_, url, _) in &missing {
            assert_eq!(url, "http://site.test/2");
            let removed = vec![page(2, PageStatus::Removed)];
            add(store, &owner, portion(0, 1, removed, 0)).await;
        }
        assert_eq!(store.missing_urls(&owner, 0, 10).await.unwrap(), []);
        checks.push(missing.len());
        store.finish_check(&owner, end(0), NOW).await.unwrap();
    }
    assert_eq!(checks, [0, 1]);
    // A check of a target that was changed meanwhile leaves nothing that the next one could miss.
    store.start_check(&check(team, id, false)).await.unwrap();
    let owner = lease(store, 0).await;
    let pages = vec![page(3, PageStatus::New)];
    add(store, &owner, portion(0, 0, pages, 0)).await;
    let changed = CheckEnd {
        changed_targets: vec![0],
        ..end(0)
    };
    store.finish_check(&owner, changed, NOW).await.unwrap();
    assert_eq!(store.missing_urls(&owner, 0, 10).await.unwrap(), []);
    let keys = [1, 3].map(|number| UrlKey::from_bytes([number; 16]));
    assert_eq!(store.target_pages(id, 0, &keys).await.unwrap(), []);
    // A monitor that is deleted takes its check with it, and the jobs of this check.
    store.start_check(&check(team, id, false)).await.unwrap();
    let owner = lease(store, 0).await;
    let crawl = NewJob {
        id: owner.jobs[0],
        ..new_job(team, JobKind::Crawl, 10)
    };
    store.create_crawl(&crawl, None).await.unwrap();
    let cancelled = store.delete_monitor(team, id, NOW).await.unwrap();
    assert_eq!(cancelled, Some(vec![crawl.id]));
    let row = store.job(team, crawl.id, NOW).await.unwrap().unwrap();
    assert_eq!(row.status, JobStatus::Cancelled);
    assert!(!store.renew_check(&owner, NOW, 500).await.unwrap());
    assert_eq!(
        store.start_check(&check(team, id, false)).await,
        Ok(StartOutcome::Stale)
    );
    store.expire(later(1)).await.unwrap();
    assert_eq!(store.checks(id, None, 10, 0, NOW).await.unwrap(), []);
}

pub(crate) async fn feedback_is_stored_once_per_request(store: &Store) {
    let team = store.ensure_team("raters").await.unwrap();
    let call = new_job(team, JobKind::Map, 1);
    store.record_call(&call, Ok(1), NOW).await.unwrap();
    let feedback = |job| NewFeedback {
        id: new_id(),
        team,
        job,
        endpoint: "map".to_owned(),
        rating: "good".to_owned(),
        body: "{}".to_owned(),
        at: later(3),
    };
    let first = feedback(call.id);
    assert_eq!(store.add_feedback(&first).await.unwrap(), FeedbackOutcome::Stored);
    let again = store.add_feedback(&feedback(call.id)).await.unwrap();
    assert_eq!(again, FeedbackOutcome::Repeated(first.id));
    let unknown = store.add_feedback(&feedback(JobId(new_id()))).await.unwrap();
    assert_eq!(unknown, FeedbackOutcome::UnknownJob);
    let listed = store.feedback(10).await.unwrap();
    assert_eq!(
        (listed[0].team_name.as_str(), &listed[0].feedback),
        ("raters", &first)
    );
}
