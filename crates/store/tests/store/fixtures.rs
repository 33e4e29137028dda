//! A data folder for one test, and short constructors for test data.

use std::collections::HashMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::page::{Document, Metadata};
use harvestman_core::crawl::{Batch, JobEnd, Offer, PageError, SettledOutcome, SettledUrl, Source};
use harvestman_core::host::HostKey;
use harvestman_core::ids::{JobId, MonitorId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;
use harvestman_store::{
    DatabaseUrl, JobKind, Lease, LeaseRoom, NewJob, NewMonitor, Store, StoreConfig, StoreError,
    WebhookEvents, new_id,
};
use tokio_postgres::NoTls;
use url::Url;

pub(crate) const LEASE_MS: u64 = 15_000;
pub(crate) const RETENTION_MS: u64 = 24 * 3_600_000;
/// 2026-01-31T09:05:00Z.
pub(crate) const NOW: Timestamp = Timestamp(1_769_850_300_000);

/// URL of the PostgreSQL server of the tests, without a database name; set by `cargo xtask test`.
const SERVER: &str = "HARVESTMAN_TEST_POSTGRES";

/// PgBouncer, likewise.
const POOLER: &str = "HARVESTMAN_TEST_PGBOUNCER";

/// Returns the room of a node that drives nothing.
pub(crate) fn room(limit: u32) -> LeaseRoom {
    LeaseRoom {
        limit,
        capacity: u64::MAX,
        driven: HashMap::new(),
    }
}

/// Leases every free shard.
pub(crate) async fn lease_all(store: &Store, now: Timestamp) -> Vec<Lease> {
    let mut leases = Vec::new();
    loop {
        let more = store.lease("node", now, LEASE_MS, &room(1000)).await.unwrap();
        if more.is_empty() {
            return leases;
        }
        leases.extend(more);
    }
}

/// Declares a test of each engine for a function of a [`TestFolder`]: `NAME::on_sqlite` and `NAME::on_postgresql`.
macro_rules! on_both_stores {
    ($test:ident: $folder:literal) => {
        mod $test {
            use crate::fixtures::TestFolder;

            #[tokio::test]
            async fn on_sqlite() {
                super::$test(TestFolder::new($folder)).await;
            }

            #[tokio::test]
            async fn on_postgresql() {
                super::$test(TestFolder::postgres($folder)).await;
            }
        }
    };
}
pub(crate) use on_both_stores;

/// The store of one test, deleted at its end: a data folder or a PostgreSQL database.
pub(crate) struct TestFolder {
    path: PathBuf,
    /// Name of the PostgreSQL database.
    database: Option<String>,
    pooler: Option<Pooler>,
}

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("harvestman-store-{}-{count}-{name}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        let _ = std::fs::remove_dir_all(&path);
        Self {
            path,
            database: None,
            pooler: None,
        }
    }

    /// Creates an empty PostgreSQL database.
    pub(crate) fn postgres(name: &str) -> Self {
        let mut folder = Self::new(name);
        let name = folder.path.file_name().unwrap().to_str().unwrap();
        let database = name.replace('-', "_");
        run_sql("postgres", &format!("DROP DATABASE IF EXISTS {database}"));
        run_sql(
            "postgres",
            &format!("CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8'"),
        );
        folder.database = Some(database);
        folder
    }

    /// Creates an empty PostgreSQL database that stores use through PgBouncer in transaction mode, which connects to
    /// `server`.
    pub(crate) fn pooled(name: &str, server: &str) -> Self {
        let mut folder = Self::postgres(name);
        folder.pooler = Some(Pooler::start(&folder.path, server));
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name of the PostgreSQL database.
    pub(crate) fn name(&self) -> &str {
        self.database.as_deref().unwrap()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("harvestman.db")
    }

    /// Returns whether a former server of this test cannot hold anything.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.database.is_none()
    }

    pub(crate) async fn try_open(&self) -> Result<Store, StoreError> {
        let Some(database) = &self.database else {
            return Store::open(&StoreConfig::new(&self.path)).await;
        };
        let url = match &self.pooler {
            Some(pooler) => pooler.url(database),
            None => database_url(database),
        };
        self.try_open_at(&url).await
    }

    /// Returns the configuration of this store.
    pub(crate) fn config(&self) -> StoreConfig {
        let database_url = self.database.as_deref().map(database_url);
        StoreConfig {
            database_url: database_url.as_deref().and_then(DatabaseUrl::parse),
            ..StoreConfig::new(&self.path)
        }
    }

    /// Opens the PostgreSQL database under another URL.
    pub(crate) async fn try_open_at(&self, url: &str) -> Result<Store, StoreError> {
        let mut config = StoreConfig::new(&self.path);
        config.database_url = DatabaseUrl::parse(url);
        let store = Store::open(&config).await?;
        self.use_test_times();
        Ok(store)
    }

    /// Makes the PostgreSQL database use the times of the tests, which are not the current one.
    pub(crate) fn use_test_times(&self) {
        run_sql(
            self.name(),
            "CREATE OR REPLACE FUNCTION harvestman.clock(node_time bigint) RETURNS bigint LANGUAGE sql STABLE
             AS 'SELECT node_time'",
        );
    }

    /// Opens the store; waits until a former server of the same test is gone.
    pub(crate) async fn open(&self) -> Store {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            match self.try_open().await {
                Ok(store) => return store,
                Err(StoreError::Locked(_)) if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                Err(error) => panic!("cannot open the store: {error}"),
            }
        }
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        self.pooler.take();
        let _ = std::fs::remove_dir_all(&self.path);
        if let Some(database) = &self.database
            && !std::thread::panicking()
        {
            run_sql("postgres", &format!("DROP DATABASE {database} WITH (FORCE)"));
        }
    }
}

/// PgBouncer in front of the PostgreSQL server of the tests.
pub(crate) struct Pooler {
    child: Child,
    port: u16,
}

impl Pooler {
    fn start(folder: &Path, server: &str) -> Self {
        let program = std::env::var_os(POOLER).unwrap_or_else(|| {
            panic!("{POOLER} is not set: run `cargo xtask test`, which installs PgBouncer")
        });
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .unwrap()
            .port();
        std::fs::create_dir_all(folder).unwrap();
        let (server, user): (Url, _) = (server.parse().unwrap(), "postgres");
        let (users, settings) = (folder.join("users.txt"), folder.join("pgbouncer.ini"));
        std::fs::write(&users, format!("\"{user}\" \"\"\n")).unwrap();
        std::fs::write(
            &settings,
            format!(
                "[databases]\n* = host={} port={} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {}\n\
                 pool_mode = transaction\ndefault_pool_size = 4\nserver_reset_query =\n",
                server.host_str().unwrap(),
                server.port().unwrap(),
                users.display()
            ),
        )
        .unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        // PgBouncer does not run as root.
        let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
        let mut command = match is_root {
            false => Command::new(program),
            true => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid", user, "--regid", user, "--clear-groups"])
                    .arg(program);
                command
            }
        };
        let child = command
            .arg("--quiet")
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, port }
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn database_url(database: &str) -> String {
    let server = std::env::var(SERVER)
        .unwrap_or_else(|_| panic!("{SERVER} is not set: run `cargo xtask test`, which starts PostgreSQL"));
    format!("{server}/{database}")
}

/// Runs a statement on a connection of its own, in a thread of its own, because tests call it in and out of a runtime.
pub(crate) fn run_sql(database: &str, sql: &str) {
    let (url, sql) = (database_url(database), sql.to_owned());
    let running = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&sql).await.unwrap();
        });
    });
    running.join().unwrap();
}

pub(crate) fn later(ms: u64) -> Timestamp {
    Timestamp(NOW.0 + ms)
}

pub(crate) fn url(path: &str) -> Url {
    Url::parse("http://site.test/").unwrap().join(path).unwrap()
}

/// Returns a key that differs for different paths. Not the real normal form, which the core tests.
pub(crate) fn key(path: &str) -> UrlKey {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in url(path).as_str().bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    UrlKey(hash)
}

pub(crate) fn offer(path: &str) -> Offer {
    Offer {
        key: key(path),
        url: url(path),
        host: HostKey::of(&url(path)),
        depth: 1,
        source: Source::Link,
        found_on: None,
    }
}

/// Returns offers of links found on a page.
pub(crate) fn found(page: &str, paths: &[&str]) -> Vec<Offer> {
    let find = |path: &&str| Offer {
        found_on: Some(key(page)),
        ..offer(path)
    };
    paths.iter().map(find).collect()
}

pub(crate) fn offers(paths: &[&str]) -> Vec<Offer> {
    paths.iter().map(|path| offer(path)).collect()
}

pub(crate) fn scrape_id() -> ScrapeId {
    ScrapeId(new_id())
}

pub(crate) fn document(path: &str, markdown: &str) -> Document {
    Document {
        markdown: Some(markdown.to_owned()),
        metadata: Metadata {
            source_url: Some(url(path).into()),
            status_code: Some(200),
            scrape_id: Some(scrape_id()),
            ..Metadata::default()
        },
        ..Document::default()
    }
}

pub(crate) fn settled(path: &str, outcome: SettledOutcome) -> SettledUrl {
    SettledUrl {
        key: key(path),
        url: url(path),
        outcome,
    }
}

pub(crate) fn page(path: &str) -> SettledUrl {
    page_with(path, &format!("# {path}"), 1)
}

pub(crate) fn page_with(path: &str, markdown: &str, credits: u32) -> SettledUrl {
    settled(
        path,
        SettledOutcome::Page {
            document: Box::new(Document {
                took_ms: Some(250),
                ..document(path, markdown)
            }),
            credits,
        },
    )
}

pub(crate) fn page_error(code: ErrorCode) -> PageError {
    PageError {
        id: scrape_id(),
        code,
        message: format!("about {}", code.as_str()),
    }
}

pub(crate) fn failed(path: &str) -> SettledUrl {
    settled(path, SettledOutcome::Failed(page_error(ErrorCode::ScrapeTimeout)))
}

pub(crate) fn dropped(path: &str) -> SettledUrl {
    settled(path, SettledOutcome::Dropped(None))
}

pub(crate) fn batch(number: u64) -> Batch {
    Batch {
        number,
        ..Batch::default()
    }
}

/// Returns a batch with outcomes.
pub(crate) fn settling(number: u64, settled: Vec<SettledUrl>) -> Batch {
    Batch {
        settled,
        ..batch(number)
    }
}

/// Returns a batch with URLs that were found.
pub(crate) fn offering(number: u64, offers: Vec<Offer>) -> Batch {
    Batch {
        offers,
        ..batch(number)
    }
}

/// Returns a batch that ends the job.
pub(crate) fn ending(number: u64) -> Batch {
    Batch {
        end: Some(JobEnd::Completed),
        ..batch(number)
    }
}

pub(crate) fn new_job(team: TeamId, kind: JobKind, page_limit: u64) -> NewJob {
    NewJob {
        id: JobId(new_id()),
        team,
        key: None,
        kind,
        url: "http://site.test/".into(),
        request: r#"{"url":"http://site.test/"}"#.into(),
        base: "http://harvestman.test".into(),
        page_limit,
        webhook: None,
        origin: None,
        integration: None,
        username: None,
        zero_data_retention: false,
        retention_ms: RETENTION_MS,
        created_at: NOW,
    }
}

/// Creates a monitor whose first check is due a second after [`NOW`].
pub(crate) async fn create_monitor(store: &Store, team: TeamId, request: &str) -> MonitorId {
    let monitor = NewMonitor {
        id: MonitorId(new_id()),
        team,
        key: None,
        request: request.to_owned(),
        base: String::new(),
        next_run_at: later(1000),
        created_at: NOW,
    };
    assert!(store.create_monitor(&monitor, 10).await.unwrap());
    monitor.id
}

pub(crate) fn crawl(team: TeamId, page_limit: u64) -> NewJob {
    new_job(team, JobKind::Crawl, page_limit)
}

/// Returns the job with zero data retention.
pub(crate) fn without_retention(job: NewJob) -> NewJob {
    NewJob {
        zero_data_retention: true,
        ..job
    }
}

pub(crate) fn crawl_with_events(team: TeamId, page_limit: u64) -> NewJob {
    NewJob {
        request: r#"{"url":"http://site.test/","webhook":"http://receiver.test/"}"#.into(),
        webhook: Some(WebhookEvents::ALL),
        ..crawl(team, page_limit)
    }
}
