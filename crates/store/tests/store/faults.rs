//! Tests of the files of the embedded database: two servers, crashes, damage, versions.

use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use harvestman_core::crawl::Batch;
use harvestman_core::ids::ScrapeId;
use harvestman_store::{JobKind, NewCheck, StoreError, StoredScrape};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::fixtures::{
    LEASE_MS, NOW, TestFolder, batch, crawl, create_monitor, found, later, lease_all, new_job, offering,
    offers, page, settling, without_retention,
};
use crate::story::chapters_of_sessions::session;

pub(crate) async fn tamper(folder: &TestFolder, sql: &'static str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(folder.database())
        .create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}

/// Returns names, lengths and hashes of the database's files; an empty log is ignored.
fn files(folder: &TestFolder) -> Vec<(String, usize, u64)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        if name.starts_with("harvestman.db") && !name.ends_with("-shm") && !bytes.is_empty() {
            let mut hasher = std::hash::DefaultHasher::new();
            bytes.hash(&mut hasher);
            files.push((name, bytes.len(), hasher.finish()));
        }
    }
    files.sort();
    files
}

/// Simulates a server crash: its tasks are dropped wherever they are.
fn crash_after(folder: &TestFolder, work: impl AsyncFnOnce(harvestman_store::Store)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { work(folder.open().await).await });
    runtime.shutdown_background();
}

#[tokio::test]
async fn a_second_server_refuses_to_start() {
    let folder = TestFolder::new("second");
    let store = folder.open().await;
    let Err(error) = folder.try_open().await else {
        panic!("the folder must be locked")
    };
    assert!(matches!(error, StoreError::Locked(_)));
    assert!(error.to_string().contains("another server uses the data folder"));
    store.close().await.unwrap();
    folder.try_open().await.unwrap().close().await.unwrap();
}

#[tokio::test]
async fn a_closed_store_returns_closed() {
    let folder = TestFolder::new("closed");
    let store = folder.open().await;
    store.close().await.unwrap();
    store.close().await.unwrap();
    assert_eq!(store.ensure_team("late").await, Err(StoreError::Closed));
    assert_eq!(store.has_keys().await, Err(StoreError::Closed));
    assert!(!folder.path().join("harvestman.running").exists(), "a clean stop");
}

#[test]
fn everything_acknowledged_survives_a_crash() {
    let folder = TestFolder::new("crash");
    let mut made = None;
    crash_after(&folder, async |store| {
        let team = store.ensure_team("team").await.unwrap();
        let (job, scrape) = (crawl(team, 5), new_job(team, JobKind::Scrape, 1));
        store.create_crawl(&job, None).await.unwrap();
        store.begin_scrape(&scrape, NOW).await.unwrap();
        let lease = lease_all(&store, NOW).await.remove(0);
        let first = offering(1, offers(&["/1"]));
        store.commit(&lease, &first, NOW, LEASE_MS).await.unwrap();
        let second = Batch {
            settled: vec![page("/1")],
            offers: found("/1", &["/2"]),
            ..batch(2)
        };
        store.commit(&lease, &second, NOW, LEASE_MS).await.unwrap();
        made = Some((job, scrape, lease));
    });
    let (job, scrape, old) = made.unwrap();
    assert!(
        folder.path().join("harvestman.running").exists(),
        "not a clean stop"
    );
    crash_after(&folder, async |store| {
        // The shard is free at once, without waiting for the dead server's lease to end.
        let lease = lease_all(&store, NOW).await.remove(0);
        assert_eq!((lease.job, lease.epoch), (job.id, old.epoch + 1));
        let snapshot = store.load(&lease).await.unwrap();
        assert_eq!(
            (snapshot.last_batch, snapshot.completed, snapshot.open.len()),
            (2, 1, 1)
        );
        assert_eq!(
            store
                .documents(job.id, 0, None, 1000)
                .await
                .unwrap()
                .documents
                .len(),
            1
        );
        assert_eq!(store.ledger_total(job.team).await.unwrap(), 1);
        let third = settling(3, vec![page("/2")]);
        store.commit(&lease, &third, NOW, LEASE_MS).await.unwrap();
        assert_eq!(store.found_on(job.id, 9).await.unwrap(), [None, Some(0)]);
        // Nobody works on the scrape any more, so it has failed.
        let now = harvestman_core::time::Timestamp(u64::from(u32::MAX));
        let stored = store
            .scrape(job.team, ScrapeId::from(scrape.id), now)
            .await
            .unwrap();
        let Some(StoredScrape::Failed { status: 500, body }) = stored else {
            panic!("{stored:?}")
        };
        assert!(body.contains("UNKNOWN_ERROR"), "{body}");
    });
}

#[test]
fn a_session_of_a_killed_server_ends_at_its_last_use() {
    let folder = TestFolder::new("lost-session");
    crash_after(&folder, async |store| {
        let team = store.ensure_team("lost").await.unwrap();
        let (id, new) = session(new_job(team, JobKind::Browser, 1), None);
        store.begin_session(&new).await.unwrap();
        store.touch_sessions(&[(id, later(29_000))]).await.unwrap();
    });
    for _ in 0..2 {
        crash_after(&folder, async |store| {
            let team = store.ensure_team("lost").await.unwrap();
            let rows = store.sessions(team, Some(false), NOW).await.unwrap();
            let [row] = rows.as_slice() else {
                panic!("{rows:?}")
            };
            let end = row.end.unwrap();
            assert_eq!((end.at, end.credits), (later(29_000), 1));
            assert_eq!(store.ledger_total(team).await.unwrap(), 1);
            assert_eq!(store.end_session(row.id, NOW, later(60_000)).await.unwrap(), None);
        });
    }
}

#[test]
fn a_check_of_a_killed_server_is_free_at_once() {
    let folder = TestFolder::new("lost-check");
    crash_after(&folder, async |store| {
        let team = store.ensure_team("team").await.unwrap();
        let monitor = create_monitor(&store, team, "{}").await;
        let check = NewCheck {
            monitor,
            job: new_job(team, JobKind::Monitor, 0),
            due: None,
            jobs: Vec::new(),
        };
        store.start_check(&check).await.unwrap();
        assert_eq!(store.lease_checks(NOW, LEASE_MS, 1).await.unwrap().len(), 1);
    });
    crash_after(&folder, async |store| {
        assert_eq!(store.lease_checks(NOW, LEASE_MS, 1).await.unwrap().len(), 1);
    });
}

/// Opens a folder that must be refused and stay as it is. Returns the error.
async fn refusal(folder: &TestFolder) -> StoreError {
    let before = files(folder);
    let Err(error) = folder.try_open().await else {
        panic!("the folder must be refused")
    };
    assert_eq!(files(folder), before);
    error
}

#[tokio::test]
async fn a_damaged_file_is_reported_and_left_untouched() {
    let folder = TestFolder::new("damaged");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    for _ in 0..200 {
        store
            .begin_scrape(&new_job(team, JobKind::Scrape, 1), NOW)
            .await
            .unwrap();
    }
    store.close().await.unwrap();
    let mut bytes = std::fs::read(folder.database()).unwrap();
    let (from, to) = (bytes.len() / 2, bytes.len() / 2 + 8192);
    bytes[from..to].fill(0xA5);
    std::fs::write(folder.database(), &bytes).unwrap();
    // State after a crash.
    std::fs::write(folder.path().join("harvestman.running"), b"").unwrap();
    for _ in 0..2 {
        let error = refusal(&folder).await;
        assert!(matches!(error, StoreError::Damaged(_)), "{error}");
        assert!(error.to_string().contains("harvestman.db"), "{error}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_to_files_that_were_removed_or_replaced() {
    let folder = TestFolder::new("removed");
    let store = folder.open().await;
    for name in ["harvestman.db", "harvestman.db-wal"] {
        let (path, away) = (folder.path().join(name), folder.path().join("away"));
        std::fs::rename(&path, &away).unwrap();
        for _ in 0..2 {
            let error = store.ensure_team(name).await.unwrap_err();
            assert!(error.is_transient(), "{error:?}");
            assert!(
                error.to_string().contains(&format!("{name} was removed")),
                "{error}"
            );
            std::fs::copy(&away, &path).unwrap();
        }
        std::fs::rename(&away, &path).unwrap();
        store.ensure_team(name).await.unwrap();
    }
    std::fs::remove_file(folder.database()).unwrap();
    let error = store.close().await.unwrap_err();
    assert!(error.to_string().contains("was removed"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_left_untouched() {
    let folder = TestFolder::new("garbage");
    std::fs::create_dir_all(folder.path()).unwrap();
    std::fs::write(folder.database(), "not a database at all, ".repeat(500)).unwrap();
    let error = refusal(&folder).await;
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
}

#[tokio::test]
async fn a_newer_file_is_refused() {
    let folder = TestFolder::new("newer");
    folder.open().await.close().await.unwrap();
    tamper(&folder, "PRAGMA user_version = 99").await;
    let error = refusal(&folder).await;
    assert!(
        matches!(error, StoreError::NewerSchema { found: 99, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("start the newer server"), "{error}");
}

#[tokio::test]
async fn a_file_of_another_program_is_refused() {
    let folder = TestFolder::new("foreign");
    std::fs::create_dir_all(folder.path()).unwrap();
    tamper(&folder, "CREATE TABLE recipes (name TEXT)").await;
    let error = refusal(&folder).await;
    assert!(matches!(error, StoreError::ForeignFile(_)), "{error}");
}

#[tokio::test]
async fn writes_do_not_wait_for_a_reader_that_prevents_a_checkpoint() {
    let folder = TestFolder::new("reader");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    let job = without_retention(crawl(team, 1));
    store.create_crawl(&job, None).await.unwrap();
    let lease = lease_all(&store, NOW).await.remove(0);
    let first = offering(1, offers(&["/1"]));
    store.commit(&lease, &first, NOW, LEASE_MS).await.unwrap();
    let second = settling(2, vec![page("/1")]);
    store.commit(&lease, &second, NOW, LEASE_MS).await.unwrap();

    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.database());
    let mut reader = options.connect().await.unwrap();
    reader.execute("BEGIN").await.unwrap();
    reader.fetch_one("SELECT count(*) FROM job").await.unwrap();
    let since = Instant::now();
    store.delete_delivered(job.id, 0, 1).await.unwrap();
    for number in 0..5 {
        store.ensure_team(&format!("team {number}")).await.unwrap();
    }
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    let log = folder.path().join("harvestman.db-wal");
    let log_bytes = || std::fs::metadata(&log).unwrap().len();
    assert!(log_bytes() > 0);

    // Although nothing is written any more.
    reader.close().await.unwrap();
    let since = Instant::now();
    while log_bytes() > 0 {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", log_bytes());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_failed_write_does_not_affect_others() {
    let folder = TestFolder::new("refused");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    let first = new_job(team, JobKind::Scrape, 1);
    store.begin_scrape(&first, NOW).await.unwrap();
    let mut tasks = Vec::new();
    for n in 0..50 {
        let store = store.clone();
        // Every fifth job has an id that is already used.
        let job = if n % 5 == 0 {
            first.clone()
        } else {
            new_job(team, JobKind::Scrape, 1)
        };
        tasks.push(tokio::spawn(async move {
            let stored = store.begin_scrape(&job, NOW).await;
            assert_eq!(stored.is_ok(), n % 5 != 0, "{stored:?}");
            assert!(store.job(team, job.id, NOW).await.unwrap().is_some());
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    store.close().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn other_users_cannot_read_any_file() {
    use std::fs::{Permissions, read_dir, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let folder = TestFolder::new("private");
    std::fs::create_dir_all(folder.path()).unwrap();
    set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    for _ in 0..2 {
        let store = folder.open().await;
        store.ensure_team("team").await.unwrap();
        let mut names = Vec::new();
        for entry in read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            assert_eq!(
                entry.metadata().unwrap().permissions().mode() & 0o777,
                0o600,
                "{name}"
            );
            names.push(name);
        }
        assert!(names.iter().any(|name| name == "harvestman.db-wal"), "{names:?}");
        store.close().await.unwrap();
        // Written by an older version.
        set_permissions(folder.database(), Permissions::from_mode(0o644)).unwrap();
    }
}
