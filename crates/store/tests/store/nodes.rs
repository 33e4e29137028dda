//! Several nodes on one PostgreSQL database: what each gets, what a dead one leaves, and rules under races.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use harvestman_core::api::error::ErrorCode;
use harvestman_core::crawl::{Batch, JobEnd, JobState};
use harvestman_core::ids::ScrapeId;
use harvestman_core::time::Timestamp;
use harvestman_store::{
    AttemptEnd, CancelOutcome, CreateOutcome, DatabaseUrl, Demand, Idempotency, JobKind, JobStatus, Lease,
    NewJob, RevokeOutcome, Store, StoreConfig, StoredScrape, postgres_versions,
};

use crate::fixtures::{
    LEASE_MS, NOW, RETENTION_MS, TestFolder, batch, crawl, crawl_with_events, database_url, failed, later,
    lease_all, new_job, offer, offering, offers, page, page_error, page_with, room, run_sql, settled,
};

use crate::story::chapters_of_events::attempt;
use crate::story::chapters_of_sessions::session;

/// Opens stores of `count` nodes on one database.
async fn nodes(folder: &TestFolder, count: usize) -> Vec<Store> {
    let mut stores = Vec::new();
    for _ in 0..count {
        stores.push(folder.open().await);
    }
    stores
}

/// Leases one free shard.
async fn lease_one(store: &Store) -> Lease {
    let mut leases = store.lease("", NOW, LEASE_MS, &room(1)).await.unwrap();
    leases.pop().unwrap()
}

#[tokio::test]
async fn nodes_share_running_jobs_on_postgresql() {
    let folder = TestFolder::postgres("share");
    let stores = nodes(&folder, 2).await;
    let team = stores[0].ensure_team("team").await.unwrap();
    for _ in 0..3 {
        stores[0].create_crawl(&crawl(team, 5), None).await.unwrap();
    }
    let first = stores[0].lease("", NOW, LEASE_MS, &room(10)).await.unwrap();
    let second = stores[1].lease("", NOW, LEASE_MS, &room(10)).await.unwrap();
    assert_eq!((first.len(), second.len()), (2, 1), "half of three, rounded up");
    assert!(first.iter().all(|lease| lease.job != second[0].job));

    // A shard that no node leases in time goes to a node that already has its share.
    stores[0].create_crawl(&crawl(team, 5), None).await.unwrap();
    stores[0].release(&second[0]).await.unwrap();
    let soon = stores[0]
        .lease("", later(1_000), LEASE_MS, &room(10))
        .await
        .unwrap();
    assert_eq!(soon, [], "other nodes may take them first");
    let free = stores[0]
        .lease("", later(2_000), LEASE_MS, &room(10))
        .await
        .unwrap();
    assert_eq!(free.len(), 2);

    // A profile has one writer, until its node frees it or leaves.
    let (owner, other) = (crawl(team, 1).id, crawl(team, 1).id);
    assert!(stores[0].lock_profile(team, "shop", owner).await.unwrap());
    assert!(stores[0].lock_profile(team, "shop", owner).await.unwrap());
    assert!(!stores[1].lock_profile(team, "shop", other).await.unwrap());
    stores[1].unlock_profile(team, "shop").await.unwrap();
    assert!(
        !stores[1].lock_profile(team, "shop", other).await.unwrap(),
        "of another node"
    );
    let next = crawl(team, 1).id;
    assert!(
        stores[0].lock_profile(team, "shop", next).await.unwrap(),
        "of this node"
    );
    let save = |at: usize, state: &str| {
        let saving = stores[at].save_profile(team, "shop".to_owned(), state.to_owned(), NOW);
        async { saving.await.unwrap() }
    };
    assert!(save(0, "first").await && !save(1, "second").await);
    assert_eq!(
        stores[1].profile(team, "shop").await.unwrap().as_deref(),
        Some("first")
    );
    stores[0].unlock_profile(team, "shop").await.unwrap();
    assert!(save(1, "second").await);
    assert!(stores[1].lock_profile(team, "shop", other).await.unwrap());
    // A job takes its profile along to another node, and the former node does not free it.
    assert!(stores[0].lock_profile(team, "shop", other).await.unwrap());
    stores[1].unlock_profile(team, "shop").await.unwrap();
    assert!(!stores[1].lock_profile(team, "shop", owner).await.unwrap());
    stores[0].close().await.unwrap();
    assert!(stores[1].lock_profile(team, "shop", other).await.unwrap());
    stores[1].close().await.unwrap();
}

fn demand(subject: &str, in_use: u64, wanted: u64, waits: bool) -> Demand {
    Demand {
        subject: subject.to_owned(),
        in_use,
        wanted,
        limit: 8,
        budget_of: None,
        waits,
    }
}

#[tokio::test]
async fn limits_hold_over_all_nodes_on_postgresql() {
    let folder = TestFolder::postgres("limits");
    let stores = nodes(&folder, 2).await;
    let shared = [0, 1].map(|node: usize| stores[node].shared_limits().unwrap());
    let borrow = async |node: usize, demands: &[Demand]| -> Vec<u64> {
        let holdings = shared[node].borrow(demands).await.unwrap();
        holdings.iter().map(|holding| holding.held).collect()
    };
    // One node gets everything that no other node wants, and gives back what it does not use when another does.
    assert_eq!(
        borrow(0, &[demand("pages", 0, 8, true), demand("a", 0, 3, true)]).await,
        [8, 3]
    );
    assert_eq!(borrow(1, &[demand("pages", 0, 8, true)]).await, [0]);
    assert_eq!(
        shared[0].awaited(&["pages".into(), "a".into()]).await.unwrap(),
        ["pages"]
    );
    assert_eq!(borrow(0, &[demand("pages", 5, 8, true)]).await, [5]);
    assert_eq!(borrow(1, &[demand("pages", 0, 8, true)]).await, [3]);
    assert_eq!(borrow(0, &[demand("pages", 1, 8, true)]).await, [4]);
    assert_eq!(borrow(1, &[demand("pages", 3, 8, true)]).await, [4]);
    // A demand that does not wait gets what is free, and does not count as awaited.
    assert_eq!(borrow(0, &[demand("sessions", 0, 7, false)]).await, [7]);
    assert_eq!(borrow(1, &[demand("sessions", 0, 2, false)]).await, [1]);
    assert_eq!(shared[0].awaited(&["sessions".into()]).await.unwrap(), [""; 0]);
    // Concurrent calls never get more than the limit.
    let races = (0..24).map(|number| {
        let node = number % 2;
        let shared = &shared[node];
        async move { shared.borrow(&[demand("race", 0, 6, false)]).await.unwrap()[0].held }
    });
    futures_util::future::join_all(races).await;
    let held = [
        borrow(0, &[demand("race", 0, 6, false)]).await[0],
        borrow(1, &[demand("race", 0, 6, false)]).await[0],
    ];
    assert!(held.iter().sum::<u64>() <= 8, "{held:?}");

    let granted = async |node: usize, wanted| {
        let grant = shared[node]
            .take_requests("team".into(), 10, wanted)
            .await
            .unwrap();
        assert!(grant.valid_for <= Duration::from_secs(60));
        grant.requests
    };
    assert_eq!(
        [granted(0, 4).await, granted(1, 4).await, granted(0, 4).await],
        [4, 4, 2]
    );
    assert_eq!(granted(1, 1).await, 0);
    // The clock of the database has been set back.
    run_sql(
        folder.name(),
        "UPDATE harvestman.rate_window SET since = since + 3600000",
    );
    assert_eq!(granted(1, 1).await, 1);

    let delay = Duration::from_secs(5);
    let wait = async |node: usize, host: &str| shared[node].reserve_start(host.into(), delay).await.unwrap();
    assert_eq!(wait(0, "http://a.test").await, Duration::ZERO);
    assert_eq!(wait(0, "http://b.test").await, Duration::ZERO);
    let second = wait(1, "http://a.test").await;
    assert!(second > delay / 2 && second < delay * 2, "{second:?}");
    assert!(wait(0, "http://a.test").await > second);
    shared[0]
        .pause_host("http://b.test".into(), delay * 4)
        .await
        .unwrap();
    assert!(wait(1, "http://b.test").await > delay * 3);
    let paused = shared[1].paused_hosts().await.unwrap();
    assert_eq!(paused.len(), 1);
    assert!(
        paused[0].0 == "http://b.test" && paused[0].1 > delay * 3,
        "{paused:?}"
    );
    // The clock of the database has been set back.
    run_sql(
        folder.name(),
        "UPDATE harvestman.host SET next_at = next_at + 3600000, paused_until = paused_until + 3600000,
            set_at = set_at + 3600000",
    );
    assert_eq!(shared[1].paused_hosts().await.unwrap(), []);
    for host in ["http://a.test", "http://b.test"] {
        assert_eq!(wait(0, host).await, Duration::ZERO);
        let second = wait(1, host).await;
        assert!(second > delay / 2 && second < delay * 2, "{second:?}");
    }

    // What a node held is free once it has ended.
    stores[0].close().await.unwrap();
    assert_eq!(borrow(1, &[demand("pages", 4, 8, true)]).await, [8]);
    stores[1].close().await.unwrap();
}

#[test]
fn a_dead_node_loses_what_it_held_on_postgresql() {
    let folder = TestFolder::postgres("dead");
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let dead = runtime();
    let (team, scrape, (id, live)) = dead.block_on(async {
        let store = folder.open().await;
        let team = store.ensure_team("team").await.unwrap();
        let scrape = new_job(team, JobKind::Scrape, 1);
        store.begin_scrape(&scrape, NOW).await.unwrap();
        let live = session(new_job(team, JobKind::Browser, 1), None);
        store.begin_session(&live.1).await.unwrap();
        store.touch_sessions(&[(live.0, later(29_000))]).await.unwrap();
        assert!(store.lock_profile(team, "shop", scrape.id).await.unwrap());
        (team, scrape, live)
    });
    dead.shutdown_background();
    // As if its last report were long ago.
    run_sql(folder.name(), "UPDATE harvestman.node SET seen_at = 0");
    runtime().block_on(async {
        let store = folder.open().await;
        let since = Instant::now();
        let ended = loop {
            match store.scrape(team, ScrapeId::from(scrape.id), NOW).await.unwrap() {
                Some(StoredScrape::Running) if since.elapsed() < Duration::from_secs(60) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                ended => break ended,
            }
        };
        // Cleanup uses the real time and not that of the test, so the scrape may have expired.
        assert!(!matches!(ended, Some(StoredScrape::Running)), "{ended:?}");
        let end = store.session(id).await.unwrap().unwrap().end.unwrap();
        assert_eq!((end.at, end.credits), (later(29_000), 1));
        assert_eq!(store.ledger_total(live.call.team).await.unwrap(), 1);
        assert!(store.lock_profile(team, "shop", live.call.id).await.unwrap());
        store.close().await.unwrap();
    });
}

/// Fails unless the statement's result is true.
fn assert_sql(folder: &TestFolder, condition: &str) {
    let check = format!("DO $$ BEGIN ASSERT ({condition}), $text${condition}$text$; END $$");
    run_sql(folder.name(), &check);
}

#[tokio::test]
async fn rows_of_jobs_are_in_partitions_that_are_dropped_when_empty_on_postgresql() {
    const TODAY: &str = "to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')";
    let folder = TestFolder::postgres("partitions");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    assert_sql(&folder, "(SELECT count(*) = 15 FROM harvestman.day_partition)");
    let job = crawl_with_events(team, 5);
    store.create_crawl(&job, None).await.unwrap();
    let lease = store.lease("", NOW, LEASE_MS, &room(10)).await.unwrap().remove(0);
    let first = offering(1, offers(&["/a", "/b"]));
    store.commit(&lease, &first, NOW, LEASE_MS).await.unwrap();
    let last = Batch {
        settled: vec![page("/a"), failed("/b")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    store.commit(&lease, &last, NOW, LEASE_MS).await.unwrap();
    for parent in ["job_url", "page", "job_error", "outbox"] {
        assert_sql(
            &folder,
            &format!(
                "(SELECT bool_and(tableoid = ('harvestman.{parent}_' || {TODAY})::regclass)
                FROM harvestman.{parent} WHERE job_id = '{}')",
                job.id
            ),
        );
    }

    // The day is over, and the job is deleted.
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let over = Timestamp(u64::try_from(since_1970.as_millis()).unwrap() + 3 * RETENTION_MS);
    while store.expire(over).await.unwrap() > 0 {}
    assert_sql(
        &folder,
        &format!("to_regclass('harvestman.page_' || {TODAY}) IS NULL"),
    );
    assert_sql(
        &folder,
        "(SELECT count(DISTINCT day) >= 3 AND count(*) % 5 = 0 FROM harvestman.day_partition)",
    );
    // A job of a day without a partition.
    let late = crawl(team, 5);
    store.create_crawl(&late, None).await.unwrap();
    let lease = lease_all(&store, over).await.remove(0);
    let first = offering(1, offers(&["/a"]));
    store.commit(&lease, &first, over, LEASE_MS).await.unwrap();
    assert_sql(&folder, "(SELECT count(*) > 0 FROM harvestman.job_url_default)");
    store.close().await.unwrap();
}

#[tokio::test]
async fn rules_hold_when_nodes_race_on_postgresql() {
    let folder = TestFolder::postgres("race");
    let stores = nodes(&folder, 8).await;
    let team = stores[0].ensure_team("team").await.unwrap();

    let entry = Idempotency {
        key: "once".into(),
        body_hash: [1; 32],
    };
    let creating = stores.iter().map(|store| {
        let (store, entry, job) = (store.clone(), entry.clone(), crawl(team, 5));
        tokio::spawn(async move { (job.id, store.create_crawl(&job, Some(&entry)).await.unwrap()) })
    });
    let mut created = Vec::new();
    let mut repeated = Vec::new();
    for task in creating.collect::<Vec<_>>() {
        match task.await.unwrap() {
            (id, CreateOutcome::Created) => created.push(id),
            (_, CreateOutcome::Repeated(id)) => repeated.push(id),
            (_, CreateOutcome::KeyReused) => panic!("the body is the same"),
        }
    }
    assert_eq!((created.len(), repeated.len()), (1, 7));
    assert!(repeated.iter().all(|id| *id == created[0]));

    let mut keys = Vec::new();
    for number in 0..8 {
        keys.push(stores[0].add_key(team, "key", [number; 32], NOW).await.unwrap());
    }
    let revoking: Vec<_> = stores
        .iter()
        .zip(&keys)
        .map(|(store, key)| {
            let (store, key) = (store.clone(), *key);
            tokio::spawn(async move { store.revoke_key(Some(team), key, NOW).await.unwrap() })
        })
        .collect();
    let mut kept = 0;
    for task in revoking {
        kept += u32::from(task.await.unwrap() == RevokeOutcome::LastKey);
    }
    assert_eq!(kept, 1, "the last key of a team stays");

    let scrape = ScrapeId::from(new_job(team, JobKind::Scrape, 1).id);
    let mut sessions = Vec::new();
    for store in &stores {
        let (id, new) = session(new_job(team, JobKind::Browser, 1), None);
        store.begin_session(&new).await.unwrap();
        sessions.push(id);
    }
    let binding: Vec<_> = stores
        .iter()
        .zip(&sessions)
        .map(|(store, id)| {
            let (store, id) = (store.clone(), *id);
            tokio::spawn(async move { store.bind_session(id, scrape).await })
        })
        .collect();
    let mut bound = 0;
    for task in binding {
        bound += u32::from(task.await.unwrap() == Ok(true));
    }
    assert_eq!(bound, 1, "a scrape has one session");
    for store in stores {
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn cancelling_and_committing_race_on_postgresql() {
    let folder = TestFolder::postgres("cancel");
    let stores = nodes(&folder, 2).await;
    let team = stores[0].ensure_team("team").await.unwrap();
    for _ in 0..10 {
        let job = crawl_with_events(team, 5);
        stores[0].create_crawl(&job, None).await.unwrap();
        let lease = lease_one(&stores[0]).await;
        let mut first = batch(1);
        first.offers = offers(&["/1"]);
        stores[0].commit(&lease, &first, NOW, LEASE_MS).await.unwrap();
        let mut last = batch(2);
        last.settled = vec![page_with("/1", "text", 2)];
        last.end = Some(JobEnd::Completed);
        let (committed, cancelled) = tokio::join!(
            stores[0].commit(&lease, &last, NOW, LEASE_MS),
            stores[1].cancel(team, job.id, NOW)
        );
        assert_eq!(committed.unwrap().state, JobState::Ended);
        let row = stores[1].job(team, job.id, NOW).await.unwrap().unwrap();
        match cancelled.unwrap() {
            CancelOutcome::Cancelled(_) => assert_eq!((row.status, row.completed), (JobStatus::Cancelled, 0)),
            outcome => {
                assert_eq!(outcome, CancelOutcome::AlreadyEnded(JobStatus::Completed));
                assert_eq!((row.completed, row.credits), (1, 2));
            }
        }
        let signals = stores[1].job_signals(&[job.id]).await.unwrap();
        assert_eq!(
            (signals[0].status, signals[0].settled),
            (row.status, row.completed)
        );
    }
    for store in stores {
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_schema_that_the_user_owns_is_enough_on_postgresql() {
    let folder = TestFolder::postgres("owner");
    let user = folder.name();
    run_sql(user, &format!("DROP ROLE IF EXISTS {user}; CREATE ROLE {user}"));
    let url = format!("{}?options=-c%20role%3D{user}", database_url(user));
    let url = DatabaseUrl::parse(&url).unwrap();
    let error = postgres_versions(&url).await.unwrap_err().to_string();
    assert!(error.contains("grant CREATE"), "{error}");

    run_sql(user, &format!("CREATE SCHEMA harvestman AUTHORIZATION {user}"));
    assert_eq!(postgres_versions(&url).await.unwrap().1, None);
    let config = StoreConfig {
        database_url: Some(url.clone()),
        node: None,
        ..StoreConfig::new(folder.path())
    };
    Store::open(&config).await.unwrap().close().await.unwrap();
    assert!(postgres_versions(&url).await.unwrap().1.is_some());
}

#[tokio::test]
async fn an_event_added_during_an_attempt_is_due_on_postgresql() {
    let folder = TestFolder::postgres("due");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    let job = crawl_with_events(team, 5);
    store.create_crawl(&job, None).await.unwrap();
    assert_eq!(
        store.lease_receivers(NOW, LEASE_MS, 1, &[]).await.unwrap(),
        [(job.id, team)]
    );
    let event = store.due_event(job.id, NOW).await.unwrap().unwrap();

    let (client, connection) = tokio_postgres::connect(&database_url(folder.name()), tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let added = later(1_000);
    client
        .batch_execute(&format!(
            "BEGIN;
             INSERT INTO harvestman.outbox (job_id, event_no, webhook_id, event, created_at, next_attempt_at)
             VALUES ('{job}', 99, gen_random_uuid(), 'crawl.completed', {at}, {at});
             UPDATE harvestman.receiver SET due_at = least(due_at, {at}) WHERE job_id = '{job}'",
            job = job.id,
            at = added.0
        ))
        .await
        .unwrap();
    let finishing = tokio::spawn({
        let (store, event) = (store.clone(), event.clone());
        async move {
            let (attempt, end) = (attempt(NOW, Some(204)), AttemptEnd::Delivered);
            store.finish_attempt(&event, &attempt, end, NOW).await
        }
    });
    let since = Instant::now();
    let waiting = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0";
    while client.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        assert!(
            since.elapsed() < Duration::from_secs(4),
            "the attempt does not wait"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    client.batch_execute("COMMIT").await.unwrap();
    assert!(finishing.await.unwrap().unwrap());
    assert_eq!(store.next_event_at(NOW).await.unwrap(), Some(added));
    assert_eq!(
        store.lease_receivers(added, LEASE_MS, 1, &[]).await.unwrap(),
        [(job.id, team)]
    );
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_new_large_job_is_deleted_without_statistics_about_it_on_postgresql() {
    let folder = TestFolder::postgres("statistics");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    for urls in [5, 10_000] {
        let job = crawl(team, 1);
        store.create_crawl(&job, None).await.unwrap();
        let lease = lease_one(&store).await;
        let first = offering(1, (0..urls).map(|no| offer(&format!("/{no}"))).collect());
        store.commit(&lease, &first, NOW, LEASE_MS).await.unwrap();
        if urls == 5 {
            run_sql(folder.name(), "ANALYZE harvestman.job_url");
        } else {
            store.cancel(team, job.id, NOW).await.unwrap();
        }
    }
    store.expire(NOW).await.unwrap();
    assert_eq!(store.expire(later(RETENTION_MS)).await, Ok(1));
}

#[tokio::test]
async fn text_that_postgresql_cannot_store_is_replaced_on_postgresql() {
    let folder = TestFolder::postgres("nul");
    let store = folder.open().await;
    let team = store.ensure_team("te\0am").await.unwrap();
    let job = NewJob {
        url: "http://site.test/\0".to_owned(),
        origin: Some("\0".to_owned()),
        ..crawl(team, 5)
    };
    store.create_crawl(&job, None).await.unwrap();
    let lease = lease_one(&store).await;
    let mut first = batch(1);
    first.offers = offers(&["/1", "/2"]);
    store.commit(&lease, &first, NOW, LEASE_MS).await.unwrap();
    let mut second = batch(2);
    let mut error = page_error(ErrorCode::ScrapeTimeout);
    error.message = "a\0b".to_owned();
    second.settled = vec![
        page_with("/1", &"wo\0rd ".repeat(1_000_000), 1),
        settled("/2", harvestman_core::crawl::SettledOutcome::Failed(error)),
    ];
    second.warnings = vec!["\0".to_owned()];
    store.commit(&lease, &second, NOW, LEASE_MS).await.unwrap();
    let chunk = store.documents(job.id, 0, None, usize::MAX).await.unwrap();
    assert!(
        chunk.documents[0].contains("wo\\u0000rd"),
        "documents are stored as they are"
    );
    let errors = store.errors(job.id).await.unwrap();
    assert_eq!(errors.errors[0].message, "a\u{FFFD}b");
    assert_eq!(store.teams().await.unwrap()[0].name, "te\u{FFFD}am");
    store.close().await.unwrap();
}
