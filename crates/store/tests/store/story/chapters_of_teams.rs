//! Teams, keys, usage, activity.

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::day::Day;
use harvestman_core::ids::{JobId, KeyId, TeamId};
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use harvestman_store::{
    Activity, ActivityQuery, CallQuery, JobKind, JobStatus, KeyFingerprint, NewJob, RevokeOutcome,
    ScrapeResult, Store, TeamQueue,
};

use crate::fixtures::{NOW, document, later, new_job, offer, without_retention};

pub(crate) async fn keys_are_looked_up_by_hash(store: &Store) {
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

pub(crate) async fn a_revoked_key_is_rejected(store: &Store) {
    let team = store.ensure_team("keys").await.unwrap();
    let print = KeyFingerprint {
        hash: [4; 32],
        hint: "beef".to_owned(),
    };
    let key = store.add_key(team, "lost", print, NOW).await.unwrap();
    store.principal([4; 32]).await.unwrap().unwrap();
    // `last_used_at` is written in the background, before anything that is written later.
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
        "its last use has the time of the wall clock"
    );
    // The last use of a busy key is written once a minute.
    for _ in 0..5 {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        store.principal([4; 32]).await.unwrap().unwrap();
        store.ensure_team("keys").await.unwrap();
    }
    assert_eq!(listed().await, Some(row));

    let revoke = async |team, key| store.revoke_key(team, key, NOW).await.unwrap();
    let stranger = store.ensure_team("strangers").await.unwrap();
    assert_eq!(revoke(Some(stranger), key).await, RevokeOutcome::NotFound);
    assert_eq!(revoke(Some(team), key).await, RevokeOutcome::LastKey);
    let second = store.add_key(team, "second", [5; 32], NOW).await.unwrap();
    assert_eq!(revoke(Some(team), key).await, RevokeOutcome::Revoked);
    assert_eq!(revoke(None, key).await, RevokeOutcome::NotFound);
    assert_eq!(store.principal([4; 32]).await.unwrap(), None);
    assert_eq!(listed().await.unwrap().revoked_at, Some(NOW));
    assert_eq!(store.add_key(team, "found", [4; 32], NOW).await.unwrap(), key);
    assert_eq!(
        store.principal([4; 32]).await.unwrap(),
        None,
        "a revoked key stays revoked"
    );
    assert_eq!(revoke(Some(team), second).await, RevokeOutcome::LastKey);
    assert_eq!(revoke(None, second).await, RevokeOutcome::Revoked);
}

pub(crate) async fn teams_have_their_own_plan_and_webhook_secret(store: &Store) {
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

/// Stores a scrape with this price that ended at this time.
async fn charge(store: &Store, team: TeamId, key: Option<KeyId>, credits: u32, at: &str) {
    let at: Timestamp = serde_json::from_value(at.into()).unwrap();
    let job = NewJob {
        key,
        // The time of the end counts.
        created_at: Timestamp(at.0 - 1),
        ..new_job(team, JobKind::Scrape, 1)
    };
    store.begin_scrape(&job, NOW).await.unwrap();
    let document = &document("/usage", "text");
    store
        .finish_scrape(job.id, ScrapeResult::Document { document, credits }, at)
        .await
        .unwrap();
}

pub(crate) async fn usage_is_summed_by_month_and_key(store: &Store) {
    let team = store.ensure_team("usage").await.unwrap();
    let desk = store.add_key(team, "desk", [9; 32], NOW).await.unwrap();
    let lost = store.add_key(team, "lost", [10; 32], NOW).await.unwrap();
    let other = store.ensure_team("usage of others").await.unwrap();
    let (desk, lost) = (Some(desk), Some(lost));
    for (key, credits, at) in [
        (desk, 1, "2027-12-31T23:59:59.999Z"),
        (desk, 2, "2028-01-01T00:00:00.000Z"),
        (lost, 3, "2028-01-31T23:59:59.999Z"),
        (desk, 4, "2028-02-01T00:00:00.000Z"),
        (lost, 5, "2028-02-29T00:00:00.000Z"),
        (lost, 6, "2028-02-29T23:59:59.999Z"),
        (None, 7, "2028-03-01T00:00:00.000Z"),
        (lost, 8, "2028-03-31T12:00:00.000Z"),
        (desk, 9, "2028-03-31T23:59:59.999Z"),
        // A free page is in the ledger, but not in the monthly sums.
        (None, 0, "2028-04-30T23:59:59.999Z"),
    ] {
        charge(store, team, key, credits, at).await;
    }
    charge(store, other, None, 100, "2028-02-01T00:00:00.000Z").await;
    let revoked = store.revoke_key(Some(team), lost.unwrap(), NOW).await.unwrap();
    assert_eq!(revoked, RevokeOutcome::Revoked);

    let since = Day::parse("2028-02-29").unwrap();
    let days = store.day_usage(team, since).await.unwrap();
    let days: Vec<String> = days
        .iter()
        .map(|day| {
            let name = day.key_name.as_deref().unwrap_or("-");
            format!("{} {name} {} {}", day.day, day.credits, day.pages)
        })
        .collect();
    assert_eq!(
        days,
        [
            "2028-02-29 lost 11 2", "2028-03-01 - 7 1", "2028-03-31 desk 9 1", "2028-03-31 lost 8 1",
            "2028-04-30 - 0 1",
        ]
    );
    let usage = store.month_usage(team).await.unwrap();
    let lines: Vec<String> = usage
        .iter()
        .map(|usage| {
            let name = usage.key_name.as_deref().unwrap_or("-");
            let named = [("-", None), ("desk", desk), ("lost", lost)];
            assert!(named.contains(&(name, usage.key)), "{usage:?}");
            format!("{} {name} {}", usage.month, usage.credits)
        })
        .collect();
    let expected = [
        "2027-12 desk 1", "2028-01 desk 2", "2028-01 lost 3", "2028-02 desk 4", "2028-02 lost 11",
        "2028-03 - 7", "2028-03 desk 9", "2028-03 lost 8",
    ];
    assert_eq!(lines, expected, "a revoked key keeps its name");
    assert_eq!(store.ledger_total(team).await.unwrap(), 45);
    for (month, credits) in [
        ("2027-12", 1),
        ("2028-01", 5),
        ("2028-02", 15),
        ("2028-03", 24),
        ("2028-04", 0),
    ] {
        let month = Month::parse(month).unwrap();
        assert_eq!(
            store.credits_in_month(team, month).await.unwrap(),
            credits,
            "{month}"
        );
    }
}

pub(crate) async fn activity_is_paged_newest_first(store: &Store) {
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
        store.begin_scrape(&job, job.created_at).await.unwrap();
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

pub(crate) async fn activity_pages_have_no_gaps_or_duplicates_while_it_grows(store: &Store) {
    let team = store.ensure_team("busy").await.unwrap();
    let mut made = Vec::new();
    let note = async |made: &mut Vec<(Timestamp, JobId, JobKind)>, created_at| {
        let kind = [JobKind::Map, JobKind::Search][made.len() % 2];
        let call = NewJob {
            created_at,
            ..new_job(team, kind, 0)
        };
        store.record_call(&call, Ok(0), created_at).await.unwrap();
        made.push((created_at, call.id, kind));
    };
    for number in 0..150 {
        // Five at the same time, ordered by id.
        note(&mut made, Timestamp(NOW.0 - 1_000 * (number / 5))).await;
    }
    for kind in [None, Some(JobKind::Map), Some(JobKind::Search)] {
        let mut expected = made.clone();
        expected.retain(|(.., of)| kind.is_none_or(|kind| *of == kind));
        expected.sort_by_key(|(at, id, _)| std::cmp::Reverse((*at, *id)));
        let mut query = ActivityQuery {
            now: later(3_600_000),
            endpoint: kind.map(|kind| kind.as_str().to_owned()),
            before: None,
            limit: 7,
        };
        let mut walked = Vec::new();
        loop {
            let page = store.activity(team, &query).await.unwrap();
            walked.extend(page.iter().map(|entry| (entry.created_at, entry.id)));
            let Some(last) = page.last() else { break };
            query.before = Some((last.created_at, last.id));
            let newer = later(made.len() as u64);
            note(&mut made, newer).await;
        }
        let expected: Vec<_> = expected.into_iter().map(|(at, id, _)| (at, id)).collect();
        assert_eq!(walked, expected, "{kind:?}");
    }
    assert!(made.len() > 180, "entries were added while the list was read");
}

pub(crate) async fn the_queue_counts_pages_without_an_outcome(store: &Store) {
    let team = store.ensure_team("queue").await.unwrap();
    let empty = TeamQueue {
        pending_pages: 0,
        last_success: None,
    };
    assert_eq!(store.queue(team).await.unwrap(), empty);
    let scrapes = [1, 2, 3].map(|_| new_job(team, JobKind::Scrape, 1));
    for scrape in &scrapes {
        store.begin_scrape(scrape, NOW).await.unwrap();
    }
    let pages = vec![offer("/a"), offer("/b"), offer("/c"), offer("/d")];
    let batch = new_job(team, JobKind::BatchScrape, 4);
    store.create_batch(&batch, pages, None).await.unwrap();
    let crawl = new_job(team, JobKind::Crawl, 100);
    store.create_crawl(&crawl, None).await.unwrap();
    let pending = async || store.queue(team).await.unwrap().pending_pages;
    assert_eq!(
        pending().await,
        3 + 4 + 1,
        "a crawl that has not begun counts as one page"
    );

    let document = &document("/queue", "text");
    for (scrape, at) in scrapes.iter().zip([50, 90]) {
        let result = ScrapeResult::Document { document, credits: 1 };
        store.finish_scrape(scrape.id, result, later(at)).await.unwrap();
    }
    let failure = ApiError::new(ErrorCode::ScrapeTimeout, "too slow");
    let failed = ScrapeResult::Failed(&failure);
    store
        .finish_scrape(scrapes[2].id, failed, later(95))
        .await
        .unwrap();
    store.cancel(team, crawl.id, later(99)).await.unwrap();
    let queue = TeamQueue {
        pending_pages: 4,
        last_success: Some(later(90)),
    };
    assert_eq!(store.queue(team).await.unwrap(), queue);
    store.cancel(team, batch.id, later(99)).await.unwrap();
    assert_eq!(pending().await, 0);
}

pub(crate) async fn a_request_without_a_job_is_charged_and_listed(store: &Store) {
    let team = store.ensure_team("calls").await.unwrap();
    let [dear, free, lost, hidden] = [(); 4].map(|()| new_job(team, JobKind::Map, 0));
    let hidden = without_retention(hidden);
    let error = ApiError::new(ErrorCode::ScrapeTimeout, "too slow");
    store.record_call(&dear, Ok(3), NOW).await.unwrap();
    store.record_call(&free, Ok(0), NOW).await.unwrap();
    store.record_call(&lost, Err(&error), NOW).await.unwrap();
    store.record_call(&hidden, Err(&error), NOW).await.unwrap();
    assert_eq!(store.ledger_total(team).await.unwrap(), 3);
    assert_eq!(store.month_usage(team).await.unwrap()[0].credits, 3);
    let query = ActivityQuery {
        now: NOW,
        endpoint: Some("map".to_owned()),
        before: None,
        limit: 10,
    };
    let query = CallQuery {
        activity: query,
        key: None,
        status: None,
    };
    let mut noted: Vec<_> = store
        .calls(team, &query)
        .await
        .unwrap()
        .calls
        .into_iter()
        .map(|call| (call.activity.id, call.status, call.error))
        .collect();
    noted.sort_by_key(|(id, ..)| *id);
    let mut made = [
        (dear.id, Some(JobStatus::Completed), None),
        (free.id, Some(JobStatus::Completed), None),
        (lost.id, Some(JobStatus::Failed), Some("too slow".to_owned())),
        (hidden.id, Some(JobStatus::Failed), None),
    ];
    made.sort_by_key(|(id, ..)| *id);
    assert_eq!(noted, made);
    assert!(store.job(team, dear.id, NOW).await.unwrap().is_none());
}
