//! Browser sessions and profiles.

use harvestman_core::ids::{ScrapeId, SessionId};
use harvestman_core::time::Timestamp;
use harvestman_store::{
    ActivityQuery, JobKind, NewJob, NewSession, NewSessionFile, OriginState, ScrapeResult, SessionEnd, Store,
};

use crate::fixtures::{NOW, document, later, new_job, scrape_id};

pub(crate) fn session(call: NewJob, scrape: Option<ScrapeId>) -> (SessionId, NewSession) {
    let id = SessionId(call.id.0);
    let session = NewSession {
        call,
        scrape,
        stream_web_view: true,
        expires_at: later(600_000),
    };
    (id, session)
}

pub(crate) async fn a_session_ends_once_and_is_charged_once(store: &Store) {
    let team = store.ensure_team("sessions").await.unwrap();
    let key = store.add_key(team, "laptop", [71; 32], NOW).await.unwrap();
    let scrape = scrape_id();
    let call = NewJob {
        key: Some(key),
        ..new_job(team, JobKind::Interact, 1)
    };
    let (id, new) = session(call, Some(scrape));
    store.begin_session(&new).await.unwrap();
    let row = store.session(id).await.unwrap().unwrap();
    assert_eq!((row.team, row.scrape, row.end), (team, Some(scrape), None));
    assert_eq!((row.created_at, row.last_activity_at), (NOW, NOW));
    assert_eq!(store.session_of(scrape).await.unwrap(), Some(row));
    assert_eq!(store.session_of(scrape_id()).await.unwrap(), None);
    let second = session(new_job(team, JobKind::Interact, 1), Some(scrape)).1;
    assert!(
        store.begin_session(&second).await.is_err(),
        "a scrape has at most one session"
    );

    let ends = (0..8).map(|n| store.end_session(id, later(50_000), later(61_000 + n)));
    let ends = futures_util::future::join_all(ends).await;
    let ended: Vec<_> = ends.into_iter().filter_map(Result::unwrap).collect();
    let [row] = ended.as_slice() else {
        panic!("{} ends", ended.len())
    };
    let end = row.end.unwrap();
    assert_eq!((end.credits, row.last_activity_at), (3, later(50_000)));
    assert_eq!(store.session(id).await.unwrap().as_ref(), Some(row));
    assert_eq!(store.ledger_total(team).await.unwrap(), 3);
    let usage = store.month_usage(team).await.unwrap();
    assert_eq!((usage.len(), usage[0].credits, usage[0].key), (1, 3, Some(key)));
    let query = ActivityQuery {
        now: later(1),
        endpoint: Some("interact".to_owned()),
        before: None,
        limit: 10,
    };
    let activity = store.activity(team, &query).await.unwrap();
    assert_eq!(activity.len(), 1);
    assert_eq!(activity[0].target.as_deref(), Some("http://site.test/"));
}

pub(crate) async fn a_session_ends_no_later_than_it_expires(store: &Store) {
    let team = store.ensure_team("late").await.unwrap();
    let (id, new) = session(new_job(team, JobKind::Browser, 1), None);
    store.begin_session(&new).await.unwrap();
    let row = store
        .end_session(id, NOW, later(9_999_999))
        .await
        .unwrap()
        .unwrap();
    let at = later(600_000);
    assert_eq!(row.end, Some(SessionEnd { at, credits: 20 }));
}

pub(crate) async fn the_last_use_of_a_session_is_updated(store: &Store) {
    let team = store.ensure_team("used").await.unwrap();
    let (id, new) = session(new_job(team, JobKind::Browser, 1), None);
    store.begin_session(&new).await.unwrap();
    for at in [later(29_000), later(1_000)] {
        store.touch_sessions(&[(id, at)]).await.unwrap();
        let row = store.session(id).await.unwrap().unwrap();
        assert_eq!(row.last_activity_at, later(29_000));
    }
    store.end_session(id, NOW, later(30_000)).await.unwrap();
    store.touch_sessions(&[(id, later(60_000))]).await.unwrap();
    let row = store.session(id).await.unwrap().unwrap();
    assert_eq!(
        row.last_activity_at,
        later(29_000),
        "an ended session is not updated"
    );
}

pub(crate) async fn sessions_are_listed_newest_first_for_a_day(store: &Store) {
    let team = store.ensure_team("listed").await.unwrap();
    let mut ids = Vec::new();
    for minute in 0..3 {
        let call = NewJob {
            created_at: later(minute * 60_000),
            ..new_job(team, JobKind::Browser, 1)
        };
        let (id, new) = session(call, None);
        store.begin_session(&new).await.unwrap();
        ids.push(id);
    }
    store
        .end_session(ids[1], later(70_000), later(80_000))
        .await
        .unwrap();
    let listed = async |live, now| -> Vec<SessionId> {
        let rows = store.sessions(team, live, now).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(listed(None, later(0)).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(listed(Some(true), later(0)).await, [ids[2], ids[0]]);
    assert_eq!(listed(Some(false), later(0)).await, [ids[1]]);
    let day = 24 * 3_600_000;
    assert_eq!(listed(None, later(day)).await, [ids[2], ids[1]]);
    let other = store.ensure_team("other lists").await.unwrap();
    assert_eq!(store.sessions(other, None, NOW).await.unwrap(), []);
    for id in ids {
        store
            .end_session(id, later(120_000), later(120_000))
            .await
            .unwrap();
    }
    let gone: Timestamp = later(day + 600_000);
    store.expire(gone).await.unwrap();
    assert_eq!(store.sessions(team, None, NOW).await.unwrap(), []);
}

pub(crate) async fn a_session_continues_at_most_one_scrape(store: &Store) {
    let team = store.ensure_team("bound").await.unwrap();
    let (id, new) = session(new_job(team, JobKind::Browser, 1), None);
    store.begin_session(&new).await.unwrap();
    let scrape = scrape_id();
    assert!(store.bind_session(id, scrape).await.unwrap());
    assert!(!store.bind_session(id, scrape_id()).await.unwrap());
    assert_eq!(
        store.session_of(scrape).await.unwrap().map(|row| row.id),
        Some(id)
    );
    let (ended, new) = session(new_job(team, JobKind::Browser, 1), None);
    store.begin_session(&new).await.unwrap();
    store.end_session(ended, NOW, NOW).await.unwrap();
    assert!(!store.bind_session(ended, scrape_id()).await.unwrap());
    store.end_session(id, NOW, NOW).await.unwrap();
}

pub(crate) async fn the_origin_of_a_scrape_is_returned(store: &Store) {
    let team = store.ensure_team("origins").await.unwrap();
    let job = new_job(team, JobKind::Scrape, 1);
    store.begin_scrape(&job, NOW).await.unwrap();
    let of = async |id| store.scrape_origin(id).await.unwrap();
    let origin = of(job.id.into()).await.unwrap();
    assert_eq!(
        (origin.team, origin.kind, origin.state),
        (team, JobKind::Scrape, OriginState::Running)
    );
    assert_eq!((origin.request, origin.expires_at), (job.request.clone(), None));
    let document = &document("/page", "text");
    let result = ScrapeResult::Document { document, credits: 1 };
    store.finish_scrape(job.id, result, NOW).await.unwrap();
    let origin = of(job.id.into()).await.unwrap();
    assert_eq!(
        (origin.url.as_str(), origin.state),
        ("http://site.test/", OriginState::Ended)
    );
    assert_eq!(origin.expires_at, Some(later(job.retention_ms)));
    assert!(!origin.zero_data_retention);
    assert_eq!(of(scrape_id()).await, None);
}

pub(crate) async fn the_last_saved_profile_is_returned(store: &Store) {
    let team = store.ensure_team("profiles").await.unwrap();
    let other = store.ensure_team("other profiles").await.unwrap();
    assert_eq!(store.profile(team, "shop").await.unwrap(), None);
    for state in ["first", "second"] {
        store
            .save_profile(team, "shop".to_owned(), state.to_owned(), NOW)
            .await
            .unwrap();
    }
    assert_eq!(
        store.profile(team, "shop").await.unwrap().as_deref(),
        Some("second")
    );
    assert_eq!(store.profile(team, "Shop").await.unwrap(), None);
    assert_eq!(store.profile(other, "shop").await.unwrap(), None);
}

pub(crate) async fn files_are_deleted_with_their_session(store: &Store) {
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    let team = store.ensure_team("session files").await.unwrap();
    let (id, new) = session(new_job(team, JobKind::Browser, 1), None);
    store.begin_session(&new).await.unwrap();
    let file = |token: &str, content: Result<Vec<u8>, String>| NewSessionFile {
        session: id,
        is_upload: content.is_err(),
        name: format!("{token}.txt"),
        content_type: "text/plain".to_owned(),
        url: Some("http://site.test/".to_owned()),
        size: 5,
        content,
        token: token.to_owned(),
        created_at: NOW,
    };
    store
        .add_session_file(file("kept", Ok(b"heron".to_vec())))
        .await
        .unwrap();
    let cancelled = file("cancelled", Err("too large".to_owned()));
    store.add_session_file(cancelled).await.unwrap();
    let files = store.session_files(id).await.unwrap();
    let listed: Vec<_> = files
        .iter()
        .map(|file| {
            (
                file.no,
                file.is_upload,
                file.token.as_deref(),
                file.error.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        listed,
        [(1, false, Some("kept"), None), (2, true, None, Some("too large"))]
    );
    assert_eq!(store.file("kept", NOW).await.unwrap().unwrap().bytes, b"heron");
    assert_eq!(store.file("cancelled", NOW).await.unwrap(), None);

    // Content is kept for as long as the session is listed, whenever the session ends.
    let is_kept = async |ms| store.file("kept", later(ms)).await.unwrap().is_some();
    assert!(is_kept(600_000 + DAY_MS - 1).await && !is_kept(600_000 + DAY_MS).await);
    assert!(store.extend_session(id, later(900_000)).await.unwrap());
    assert!(is_kept(900_000 + DAY_MS - 1).await && !is_kept(900_000 + DAY_MS).await);
    let ended = store.end_session(id, NOW, later(700_000)).await.unwrap().unwrap();
    assert_eq!(ended.end.unwrap().at, later(700_000));
    assert!(is_kept(700_000 + DAY_MS - 1).await && !is_kept(700_000 + DAY_MS).await);
    assert!(!store.extend_session(id, later(900_000)).await.unwrap());
    assert_eq!(store.session_files(id).await.unwrap().len(), 2);
    store.expire(later(700_000 + DAY_MS)).await.unwrap();
    assert_eq!(store.session_files(id).await.unwrap(), vec![]);
    assert_eq!(store.file("kept", NOW).await.unwrap(), None);
}
