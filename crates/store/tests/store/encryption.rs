//! Which values of the database are encrypted, with which key, and what happens when the key is another one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use harvestman_core::api::monitor_response::{CheckStatus, MonitorStatus};
use harvestman_core::ids::{MonitorId, TeamId};
use harvestman_store::{
    DiscardedSecrets, JobKind, JobStatus, KEY_FILE, MonitorUpdate, NewCheck, NewJob, NodeReport, SecretKey,
    SecretKind, StartOutcome, Store, StoreConfig, StoreError, WebhookEvents,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row};
use tokio_postgres::NoTls;

use crate::fixtures::{
    NOW, TestFolder, crawl, create_monitor, database_url, later, lease_all, new_job, on_both_stores, run_sql,
};

const REQUEST: &str = r#"{"actions":[{"text":"hush-typed","type":"write"}],"headers":{"Authorization":"hush-header"},"url":"http://site.test/","webhook":{"headers":{"X-Token":"hush-hook"},"url":"http://receiver.test/hush-url"}}"#;
const WEBHOOK: &str = r#"{"headers":{"X-Token":"hush-hook"},"url":"http://receiver.test/hush-url"}"#;
const PROFILE: &str = r#"{"cookies":[{"name":"session","value":"hush-cookie"}]}"#;

fn key(text: &str) -> Option<SecretKey> {
    Some(SecretKey::parse(text).unwrap())
}

pub(crate) fn with_key(folder: &TestFolder, text: &str) -> StoreConfig {
    StoreConfig {
        secret_key: key(text),
        ..folder.config()
    }
}

pub(crate) async fn open(config: &StoreConfig) -> Store {
    Store::open(config).await.unwrap()
}

/// Makes the database use the times of the tests, which are not the current one.
fn with_test_times(folder: &TestFolder, store: Store) -> Store {
    if !folder.is_exclusive() {
        folder.use_test_times();
    }
    store
}

pub(crate) async fn refusal(config: &StoreConfig) -> String {
    let error = Store::open(config).await.err().unwrap();
    assert!(matches!(error, StoreError::Setup(_)), "{error:?}");
    error.to_string()
}

/// A team with a secret of each kind.
pub(crate) struct Owner {
    pub(crate) team: TeamId,
    job: NewJob,
    monitor: MonitorId,
}

impl Owner {
    pub(crate) async fn create(store: &Store) -> Self {
        let team = store.ensure_team("team").await.unwrap();
        store.set_webhook_secret(team, "hush-secret").await.unwrap();
        store
            .save_profile(team, "shop".to_owned(), PROFILE.to_owned(), NOW)
            .await
            .unwrap();
        let job = NewJob {
            request: REQUEST.to_owned(),
            webhook: Some(WebhookEvents::ALL),
            ..crawl(team, 5)
        };
        store.create_crawl(&job, None).await.unwrap();
        let monitor = create_monitor(store, team, "{}").await;
        let seen = store.monitor(team, monitor).await.unwrap().unwrap().updated_at;
        let update = MonitorUpdate {
            seen,
            request: REQUEST.to_owned(),
            next_run_at: Some(later(1000)),
            changed_targets: Vec::new(),
            now: NOW,
        };
        assert!(store.update_monitor(team, monitor, update).await.unwrap());
        Self { team, job, monitor }
    }

    async fn assert_readable(&self, store: &Store) {
        let Self { team, job, monitor } = self;
        let secret = store.webhook_secret(*team).await.unwrap();
        assert_eq!(secret.as_deref(), Some("hush-secret"));
        let profile = store.profile(*team, "shop").await.unwrap();
        assert_eq!(profile.as_deref(), Some(PROFILE));
        assert_eq!(
            store.job(*team, job.id, NOW).await.unwrap().unwrap().request,
            REQUEST
        );
        assert_eq!(
            store.recent_jobs(*team, None, 9, NOW).await.unwrap()[0].request,
            REQUEST
        );
        assert_eq!(store.active(*team).await.unwrap()[0].request, REQUEST);
        let leases = lease_all(store, NOW).await;
        let lease = leases.iter().find(|lease| lease.job == job.id).unwrap();
        assert_eq!(lease.request, REQUEST);
        for lease in &leases {
            store.release(lease).await.unwrap();
        }
        let event = store.due_event(job.id, NOW).await.unwrap().unwrap();
        assert_eq!(event.webhook, WEBHOOK);
        let row = store.monitor(*team, *monitor).await.unwrap().unwrap();
        assert_eq!(row.request, REQUEST);
        assert_eq!(
            store.monitors(*team, None, 9, 0).await.unwrap()[0].request,
            REQUEST
        );
    }
}

const VALUES: &str = "SELECT webhook_secret AS value FROM @team UNION ALL SELECT request FROM @job
    UNION ALL SELECT request FROM @monitor UNION ALL SELECT webhook FROM @receiver UNION ALL SELECT id FROM @secret_key";
const PROFILES: &str = "SELECT size_bytes, zstd FROM @profile";

/// Returns everything that may be encrypted as it is in the database, and the id of the key.
pub(crate) async fn stored(folder: &TestFolder) -> String {
    let mut values = Vec::new();
    let profile = |size: i64, bytes: &[u8]| {
        String::from_utf8(zstd::bulk::decompress(bytes, usize::try_from(size).unwrap()).unwrap()).unwrap()
    };
    if folder.is_exclusive() {
        let options = SqliteConnectOptions::new()
            .filename(folder.database())
            .read_only(true);
        let mut connection = options.connect().await.unwrap();
        let sql = VALUES.replace('@', "");
        for row in sqlx::query(sqlx::AssertSqlSafe(sql))
            .fetch_all(&mut connection)
            .await
            .unwrap()
        {
            values.push(row.get::<Option<String>, _>("value").unwrap_or_default());
        }
        let sql = PROFILES.replace('@', "");
        for row in sqlx::query(sqlx::AssertSqlSafe(sql))
            .fetch_all(&mut connection)
            .await
            .unwrap()
        {
            values.push(profile(row.get("size_bytes"), row.get("zstd")));
        }
        connection.close().await.unwrap();
    } else {
        let (client, connection) = tokio_postgres::connect(&database_url(folder.name()), NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        for row in client
            .query(&VALUES.replace('@', "harvestman."), &[])
            .await
            .unwrap()
        {
            values.push(row.get::<_, Option<String>>("value").unwrap_or_default());
        }
        for row in client
            .query(&PROFILES.replace('@', "harvestman."), &[])
            .await
            .unwrap()
        {
            values.push(profile(row.get("size_bytes"), row.get("zstd")));
        }
    }
    values.join("\n")
}

/// Asserts that the database has the secrets of one [`Owner`], all encrypted with one key, and returns its id.
async fn assert_sealed(folder: &TestFolder) -> String {
    let stored = stored(folder).await;
    assert!(!stored.contains("hush"), "{stored}");
    let mut ids: Vec<&str> = stored
        .split("sealed:1:")
        .skip(1)
        .map(|value| &value[..16])
        .collect();
    // A team's secret, the webhook of a receiver, a profile, and three parts of each request.
    assert_eq!(ids.len(), 9, "{stored}");
    ids.dedup();
    assert!(
        ids.len() == 1 && stored.lines().any(|line| line == ids[0]),
        "{stored}"
    );
    ids[0].to_owned()
}

/// Returns how many values are stored as they are.
async fn in_clear(folder: &TestFolder) -> usize {
    stored(folder).await.matches("hush").count()
}

async fn secrets_are_encrypted_and_encrypted_again(folder: TestFolder) {
    let first = with_key(&folder, "the first secret key");
    let store = with_test_times(&folder, open(&first).await);
    let owner = Owner::create(&store).await;
    let id = assert_sealed(&folder).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    let store = open(&first).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert_eq!(assert_sealed(&folder).await, id, "the same key changes nothing");

    let before = stored(&folder).await;
    let second = with_key(&folder, "the second secret key");
    let error = refusal(&second).await;
    for part in [
        "HARVESTMAN_SECRET_KEY",
        "HARVESTMAN_PREVIOUS_SECRET_KEY",
        KEY_FILE,
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!error.contains("the second secret key"), "{error}");
    assert_eq!(stored(&folder).await, before, "nothing was changed");
    let store = open(&first).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();

    let change = StoreConfig {
        earlier_keys: key("the first secret key").into_iter().collect(),
        ..second.clone()
    };
    let store = open(&change).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert_ne!(assert_sealed(&folder).await, id);
    let store = open(&second).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert!(refusal(&first).await.contains("HARVESTMAN_SECRET_KEY"));
}

on_both_stores!(secrets_are_encrypted_and_encrypted_again: "seal");

async fn secrets_whose_key_is_lost_are_discarded(folder: TestFolder) {
    let lost = with_key(&folder, "the lost secret key");
    let store = with_test_times(&folder, open(&lost).await);
    let Owner { team, job, monitor } = Owner::create(&store).await;
    let other = new_job(team, JobKind::Crawl, 5);
    store.create_crawl(&other, None).await.unwrap();
    let check = NewCheck {
        monitor,
        job: NewJob {
            request: REQUEST.to_owned(),
            webhook: Some(WebhookEvents::ALL),
            ..new_job(team, JobKind::Monitor, 0)
        },
        due: None,
        jobs: vec![other.id],
    };
    assert_eq!(store.start_check(&check).await, Ok(StartOutcome::Started));
    store.close().await.unwrap();

    let config = with_key(&folder, "the next secret key");
    assert!(refusal(&config).await.contains("discard-secrets"));
    let discarded = Store::discard_lost_secrets(&config).await.unwrap();
    let values = [
        (SecretKind::WebhookSecret, 1),
        (SecretKind::JobRequest, 2),
        (SecretKind::MonitorRequest, 1),
        (SecretKind::Receiver, 2),
        (SecretKind::Profile, 1),
    ];
    let expected = DiscardedSecrets {
        values: values.into(),
        failed_jobs: 2,
        paused_monitors: 1,
    };
    assert_eq!(discarded, expected);
    assert!(!stored(&folder).await.contains("sealed:"));
    let again = Store::discard_lost_secrets(&config).await.unwrap();
    assert_eq!(again, DiscardedSecrets::default());

    let store = open(&config).await;
    assert_eq!(store.webhook_secret(team).await.unwrap(), None);
    assert_eq!(store.profile(team, "shop").await.unwrap(), None);
    assert_eq!(store.due_event(job.id, NOW).await.unwrap(), None);
    let failed = store.job(team, job.id, NOW).await.unwrap().unwrap();
    assert_eq!(failed.status, JobStatus::Failed);
    assert!(failed.error.unwrap().contains("key that is lost"));
    assert!(!failed.request.contains("hush") && failed.request.contains(r#""headers":null"#));
    assert_eq!(
        lease_all(&store, NOW).await,
        [],
        "the job of the failed check is cancelled"
    );
    let ended = store.check(monitor, check.job.id, NOW).await.unwrap().unwrap();
    assert_eq!(ended.status, CheckStatus::Failed);
    assert!(ended.error.unwrap().contains("key that is lost"));
    let row = store.monitor(team, monitor).await.unwrap().unwrap();
    assert_eq!(
        (row.status, row.next_run_at, row.check),
        (MonitorStatus::Paused, None, None)
    );
    store.close().await.unwrap();
}

on_both_stores!(secrets_whose_key_is_lost_are_discarded: "lost-key");

#[tokio::test]
async fn the_key_file_is_created_once_and_private() {
    let folder = TestFolder::new("key-file");
    let path = folder.path().join(KEY_FILE);
    let store = folder.open().await;
    let owner = Owner::create(&store).await;
    store.close().await.unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.trim_end().len(), 64, "32 bytes in hexadecimal digits");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let id = assert_sealed(&folder).await;

    // Others lose their access, and the key stays.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let store = folder.open().await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    // Its content is the value of the setting, on any machine.
    fs::remove_file(&path).unwrap();
    let missing = refusal(&folder.config()).await;
    assert!(missing.contains(&path.display().to_string()), "{missing}");
    assert!(!path.exists(), "no other key takes its place");
    let store = open(&with_key(&folder, text.trim_end())).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert!(!path.exists(), "the setting needs no file");
    assert_eq!(assert_sealed(&folder).await, id);

    // A key in the settings replaces that of the file, which decrypts once more.
    fs::write(&path, &text).unwrap();
    let store = open(&with_key(&folder, "a key in the settings")).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert_ne!(assert_sealed(&folder).await, id);
}

#[tokio::test]
async fn an_unusable_key_file_is_reported() {
    let folder = TestFolder::new("bad-key-file");
    folder.open().await.close().await.unwrap();
    let path = folder.path().join(KEY_FILE);
    fs::write(&path, "too short\n").unwrap();
    let error = refusal(&folder.config()).await;
    assert!(
        error.contains("fewer than 16 characters") && error.contains(KEY_FILE),
        "{error}"
    );
    fs::write(&path, [0xff; 40]).unwrap();
    assert!(
        refusal(&folder.config())
            .await
            .contains("cannot use the key file")
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(
        refusal(&folder.config())
            .await
            .contains("cannot use the key file")
    );
    assert!(
        refusal(&with_key(&folder, "a key in the settings"))
            .await
            .contains(KEY_FILE)
    );
    fs::remove_dir(&path).unwrap();
    folder.open().await.close().await.unwrap();
}

#[tokio::test]
async fn another_key_is_accepted_while_nothing_is_encrypted() {
    let folder = TestFolder::new("empty");
    let store = folder.open().await;
    let team = store.ensure_team("team").await.unwrap();
    store.create_crawl(&crawl(team, 5), None).await.unwrap();
    store.close().await.unwrap();
    // As when a copy of the database is restored into another data folder.
    fs::remove_file(folder.path().join(KEY_FILE)).unwrap();
    let store = folder.open().await;
    let owner = Owner::create(&store).await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert!(folder.path().join(KEY_FILE).exists());
}

#[tokio::test]
async fn values_from_before_encryption_are_encrypted_at_start() {
    let folder = TestFolder::new("plain");
    let store = folder.open().await;
    let owner = Owner::create(&store).await;
    store.close().await.unwrap();
    for sql in [
        "DELETE FROM secret_key",
        "UPDATE team SET webhook_secret = 'hush-secret'",
        r#"UPDATE receiver SET webhook = '{"headers":{"X-Token":"hush-hook"},"url":"http://receiver.test/hush-url"}'"#,
    ] {
        crate::faults::tamper(&folder, sql).await;
    }
    let options = SqliteConnectOptions::new().filename(folder.database());
    let mut connection = options.connect().await.unwrap();
    for table in ["job", "monitor"] {
        let sql = format!("UPDATE {table} SET request = ?1");
        sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(REQUEST)
            .execute(&mut connection)
            .await
            .unwrap();
    }
    let bytes = zstd::bulk::compress(PROFILE.as_bytes(), 1).unwrap();
    sqlx::query("UPDATE profile SET size_bytes = ?1, zstd = ?2")
        .bind(i64::try_from(PROFILE.len()).unwrap())
        .bind(bytes)
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    assert_eq!(in_clear(&folder).await, 12);
    let store = folder.open().await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert_sealed(&folder).await;
    // Nothing of them is left in the files.
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(
            !bytes.windows(5).any(|bytes| bytes == b"hush-"),
            "{}",
            path.display()
        );
    }
}

#[tokio::test]
async fn a_damaged_value_fails_alone() {
    let folder = TestFolder::new("damaged-value");
    let store = folder.open().await;
    let owner = Owner::create(&store).await;
    let team = store.ensure_team("team").await.unwrap();
    let other = new_job(team, JobKind::Crawl, 5);
    store.create_crawl(&other, None).await.unwrap();
    store.close().await.unwrap();
    crate::faults::tamper(
        &folder,
        "UPDATE team SET webhook_secret = substr(webhook_secret, 1, length(webhook_secret) - 3)",
    )
    .await;
    crate::faults::tamper(
        &folder,
        "UPDATE job SET request = replace(request, 'sealed:1:', 'sealed:1:0')
         WHERE request LIKE '%sealed%'",
    )
    .await;
    let store = folder.open().await;
    let error = store.webhook_secret(owner.team).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreadable(_)), "{error:?}");
    let leases = lease_all(&store, NOW).await;
    let ids: Vec<_> = leases.iter().map(|lease| lease.job).collect();
    assert!(ids.contains(&owner.job.id) && ids.contains(&other.id), "{ids:?}");
    store.close().await.unwrap();
}

fn node(settings: &[(&str, &str)]) -> Option<NodeReport> {
    let settings = settings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Some(NodeReport {
        url: None,
        settings: settings.collect(),
    })
}

#[tokio::test]
async fn nodes_encrypt_with_one_key_on_postgresql() {
    let folder = TestFolder::postgres("one-key");
    // Without a key, the database has secrets as they are, and no file is created that other nodes do not have.
    let plain = with_test_times(&folder, open(&folder.config()).await);
    let owner = Owner::create(&plain).await;
    assert!(in_clear(&folder).await > 0 && !folder.path().join(KEY_FILE).exists());
    let cluster = StoreConfig {
        cluster_key: key("derived from a secret"),
        ..folder.config()
    };
    assert!(refusal(&cluster).await.contains("`secret_key` differs"));
    plain.close().await.unwrap();

    // Nodes that start at the same time agree on the key.
    let (first, second) = tokio::join!(open(&cluster), open(&cluster));
    assert_sealed(&folder).await;
    owner.assert_readable(&second).await;
    assert!(refusal(&folder.config()).await.contains("`secret_key` differs"));
    let other = with_key(&folder, "a key in the settings");
    assert!(refusal(&other).await.contains("`secret_key` differs"));
    first.close().await.unwrap();
    second.close().await.unwrap();

    // A node without the key does not start, and a key in the settings takes the place of the cluster's.
    let error = refusal(&folder.config()).await;
    assert!(error.contains("HARVESTMAN_SECRET_KEY"), "{error}");
    let store = open(&StoreConfig {
        cluster_key: key("derived from a secret"),
        ..other.clone()
    })
    .await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    let store = open(&other).await;
    owner.assert_readable(&store).await;

    // A server of a version without encryption would read nothing of it.
    store.close().await.unwrap();
    run_sql(
        folder.name(),
        "INSERT INTO harvestman.node (id, started_at, seen_at, settings)
         VALUES (gen_random_uuid(), 0, 99999999999999, '{\"max_sessions\":\"4\"}')",
    );
    let config = StoreConfig {
        node: node(&[("max_sessions", "4")]),
        ..other
    };
    let error = refusal(&config).await;
    assert!(error.contains("earlier version"), "{error}");
}

#[tokio::test]
async fn a_copy_on_postgresql_needs_the_key_of_the_folder() {
    let folder = TestFolder::new("moved");
    let store = folder.open().await;
    let owner = Owner::create(&store).await;
    store.close().await.unwrap();
    let target = TestFolder::postgres("moved");
    let url = target.config().database_url.unwrap();
    harvestman_store::copy_to_postgres(folder.path(), &url)
        .await
        .unwrap();
    assert!(refusal(&target.config()).await.contains("HARVESTMAN_SECRET_KEY"));
    let text = fs::read_to_string(folder.path().join(KEY_FILE)).unwrap();
    let store = open(&with_key(&target, text.trim_end())).await;
    let store = with_test_times(&target, store);
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
    assert_sealed(&target).await;
    // The server that keeps the folder as its data folder finds the key there.
    let store = open(&StoreConfig {
        data_dir: folder.path().to_owned(),
        ..target.config()
    })
    .await;
    owner.assert_readable(&store).await;
    store.close().await.unwrap();
}
