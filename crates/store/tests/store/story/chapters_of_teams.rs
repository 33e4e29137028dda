//! Teams, keys, usage, activity.

use harvestman_core::ids::JobId;
use harvestman_store::{Activity, ActivityQuery, JobKind, KeyPrint, NewJob, Revoked, ScrapeResult, Store};

use crate::place::{NOW, document, later, new_job};

pub(crate) async fn a_key_is_found_by_its_hash(store: &Store) {
    assert!(!store.has_keys().await.unwrap());
    let team = store.ensure_team("first").await.unwrap();
    assert_eq!(store.ensure_team("first").await.unwrap(), team);
    let other = store.ensure_team("second").await.unwrap();
    assert_ne!(team, other);

    let key = store.add_key(team, "laptop", [7; 32], NOW).await.unwrap();
    assert_eq!(store.add_key(team, "desk", [7; 32], NOW).await.unwrap(), key);
    assert!(store.has_keys().await.unwrap());
    let principal = store.principal([7; 32]).await.unwrap().unwrap();
    assert_eq!((principal.team, principal.key), (team, Some(key)));
    assert_eq!(
        (principal.team_name.as_str(), principal.key_name.as_str()),
        ("first", "desk")
    );
    assert_eq!(store.principal([8; 32]).await.unwrap(), None);
    store.ping().await.unwrap();
}

pub(crate) async fn a_revoked_key_opens_nothing(store: &Store) {
    let team = store.ensure_team("keys").await.unwrap();
    let print = KeyPrint {
        hash: [4; 32],
        hint: "beef".to_owned(),
    };
    let key = store.add_key(team, "lost", print, NOW).await.unwrap();
    store.principal([4; 32]).await.unwrap().unwrap();
    // The use is written behind the caller's back, before anything that is written later.
    store.ensure_team("keys").await.unwrap();
    let listed = async || {
        store
            .keys(Some(team))
            .await
            .unwrap()
            .into_iter()
            .find(|row| row.id == key)
    };
    let row = listed().await.unwrap();
    assert_eq!(
        (row.team, row.team_name.as_str(), row.name.as_str()),
        (team, "keys", "lost")
    );
    assert_eq!((row.created_at, row.hint.as_str()), (NOW, "beef"));
    assert!(
        row.last_used_at.is_some_and(|at| at > NOW),
        "its use was noted by the wall clock"
    );

    let revoke = async |team, key| store.revoke_key(team, key, NOW).await.unwrap();
    let stranger = store.ensure_team("strangers").await.unwrap();
    assert_eq!(revoke(Some(stranger), key).await, Revoked::NotFound);
    assert_eq!(revoke(Some(team), key).await, Revoked::Last);
    let second = store.add_key(team, "second", [5; 32], NOW).await.unwrap();
    assert_eq!(revoke(Some(team), key).await, Revoked::Revoked);
    assert_eq!(revoke(None, key).await, Revoked::NotFound);
    assert_eq!(store.principal([4; 32]).await.unwrap(), None);
    assert_eq!(listed().await.unwrap().revoked_at, Some(NOW));
    assert_eq!(store.add_key(team, "found", [4; 32], NOW).await.unwrap(), key);
    assert_eq!(
        store.principal([4; 32]).await.unwrap(),
        None,
        "revoked is for good"
    );
    assert_eq!(revoke(Some(team), second).await, Revoked::Last);
    assert_eq!(revoke(None, second).await, Revoked::Revoked);
}

pub(crate) async fn a_team_has_a_plan_and_a_secret_of_its_own(store: &Store) {
    let team = store.ensure_team("planned").await.unwrap();
    store.add_key(team, "one", [41; 32], NOW).await.unwrap();
    let listed = async || {
        let teams = store.teams().await.unwrap();
        let row = teams.into_iter().find(|row| row.id == team).unwrap();
        (row.name, row.plan, row.keys)
    };
    assert_eq!(listed().await, ("planned".to_owned(), None, 1));
    assert_eq!(
        store.set_plan("planned", Some("small")).await.unwrap(),
        Some(team)
    );
    assert_eq!(listed().await.1.as_deref(), Some("small"));
    assert_eq!(store.set_plan("planned", None).await.unwrap(), Some(team));
    assert_eq!(listed().await.1, None);
    assert_eq!(store.set_plan("nobody", Some("small")).await.unwrap(), None);

    assert_eq!(store.webhook_secret(team).await.unwrap(), None);
    for secret in ["first", "second"] {
        store.set_webhook_secret(team, secret).await.unwrap();
        assert_eq!(store.webhook_secret(team).await.unwrap().as_deref(), Some(secret));
    }
    let other = store.ensure_team("unplanned").await.unwrap();
    assert_eq!(store.webhook_secret(other).await.unwrap(), None);
}

pub(crate) async fn usage_is_added_up_by_month_and_key(store: &Store) {
    let team = store.ensure_team("usage").await.unwrap();
    let key = store.add_key(team, "with a key", [9; 32], NOW).await.unwrap();
    // NOW is the last day of January 2026, 09:05.
    let february = later(15 * 3_600_000);
    for (key, at, credits) in [
        (None, NOW, 1),
        (Some(key), NOW, 2),
        (Some(key), NOW, 3),
        (None, february, 5),
    ] {
        let job = NewJob {
            key,
            created_at: at,
            ..new_job(team, JobKind::Scrape, 1)
        };
        store.begin_scrape(&job).await.unwrap();
        let document = &document("/usage", "text");
        store
            .finish_scrape(job.id, ScrapeResult::Document { document, credits }, at)
            .await
            .unwrap();
    }
    assert_eq!(store.ledger_total(team).await.unwrap(), 11);
    assert_eq!(store.credits_in_period(team, NOW, february).await.unwrap(), 6);
    assert_eq!(
        store
            .credits_in_period(team, february, later(u64::from(u32::MAX)))
            .await
            .unwrap(),
        5
    );
    let months: Vec<_> = store
        .month_usage(team)
        .await
        .unwrap()
        .into_iter()
        .map(|usage| (usage.month, usage.key, usage.key_name, usage.credits))
        .collect();
    assert_eq!(
        months,
        [
            ("2026-01".to_owned(), None, None, 1),
            ("2026-01".to_owned(), Some(key), Some("with a key".to_owned()), 5),
            ("2026-02".to_owned(), None, None, 5),
        ]
    );
}

pub(crate) async fn activity_is_read_newest_first_in_pages(store: &Store) {
    let team = store.ensure_team("activity").await.unwrap();
    let mut made: Vec<JobId> = Vec::new();
    for minute in 0..5 {
        let kind = if minute == 2 {
            JobKind::Crawl
        } else {
            JobKind::Scrape
        };
        let job = NewJob {
            origin: Some("a test".into()),
            created_at: later(minute / 2 * 60_000),
            ..new_job(team, kind, 1)
        };
        store.begin_scrape(&job).await.unwrap();
        made.push(job.id);
    }
    let query = |before: Option<&Activity>, endpoint: Option<&str>, hours: u64| ActivityQuery {
        now: later(hours * 3_600_000),
        endpoint: endpoint.map(str::to_owned),
        before: before.map(|entry| (entry.created_at, entry.id)),
        limit: 2,
    };
    let mut walked = Vec::new();
    let mut last: Option<Activity> = None;
    loop {
        let read = store
            .activity(team, &query(last.as_ref(), None, 1))
            .await
            .unwrap();
        let Some(end) = read.last() else { break };
        last = Some(end.clone());
        walked.extend(read);
    }
    let ids: Vec<JobId> = walked.iter().map(|entry| entry.id).collect();
    for pair in walked.windows(2) {
        assert!((pair[0].created_at, pair[0].id) > (pair[1].created_at, pair[1].id));
    }
    assert_eq!(ids.len(), 5);
    assert!(made.iter().all(|id| ids.contains(id)));
    assert_eq!(walked[0].target.as_deref(), Some("http://site.test/"));
    assert_eq!(walked[0].origin.as_deref(), Some("a test"));
    let crawls = store
        .activity(team, &query(None, Some("crawl"), 1))
        .await
        .unwrap();
    assert_eq!(crawls.iter().map(|entry| entry.id).collect::<Vec<_>>(), [made[2]]);
    assert!(
        store
            .activity(team, &query(None, None, 25))
            .await
            .unwrap()
            .is_empty()
    );
}

pub(crate) async fn a_call_without_a_job_leaves_its_price_and_activity(store: &Store) {
    let team = store.ensure_team("calls").await.unwrap();
    let (dear, free) = (new_job(team, JobKind::Map, 0), new_job(team, JobKind::Map, 0));
    store.record_call(&dear, 3, NOW).await.unwrap();
    store.record_call(&free, 0, NOW).await.unwrap();
    assert_eq!(store.ledger_total(team).await.unwrap(), 3);
    assert_eq!(store.month_usage(team).await.unwrap()[0].credits, 3);
    let query = ActivityQuery {
        now: NOW,
        endpoint: Some("map".to_owned()),
        before: None,
        limit: 10,
    };
    let mut noted: Vec<JobId> = Vec::new();
    for entry in store.activity(team, &query).await.unwrap() {
        noted.push(entry.id);
    }
    noted.sort();
    let mut made = [dear.id, free.id];
    made.sort();
    assert_eq!(noted, made);
    assert!(store.job(team, dear.id, NOW).await.unwrap().is_none());
}
