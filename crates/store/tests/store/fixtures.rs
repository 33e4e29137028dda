//! A data folder for one test, and short constructors for test data.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::page::{Document, Metadata};
use harvestman_core::crawl::{Batch, Offer, PageError, SettledOutcome, SettledUrl, Source};
use harvestman_core::host::HostKey;
use harvestman_core::ids::{JobId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;
use harvestman_store::{JobKind, NewJob, Store, StoreConfig, StoreError, WebhookEvents, new_id};
use url::Url;

pub(crate) const LEASE_MS: u64 = 15_000;
pub(crate) const RETENTION_MS: u64 = 24 * 3_600_000;
/// 2026-01-31T09:05:00Z.
pub(crate) const NOW: Timestamp = Timestamp(1_769_850_300_000);

/// A data folder that is deleted at the end of the test.
pub(crate) struct TestFolder {
    path: PathBuf,
}

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("harvestman-store-{}-{count}-{name}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        let _ = std::fs::remove_dir_all(&path);
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("harvestman.db")
    }

    pub(crate) async fn try_open(&self) -> Result<Store, StoreError> {
        Store::open(&StoreConfig::new(&self.path)).await
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
        let _ = std::fs::remove_dir_all(&self.path);
    }
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
            document: Box::new(document(path, markdown)),
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

pub(crate) fn crawl(team: TeamId, page_limit: u64) -> NewJob {
    new_job(team, JobKind::Crawl, page_limit)
}

pub(crate) fn crawl_with_events(team: TeamId, page_limit: u64) -> NewJob {
    NewJob {
        request: r#"{"url":"http://site.test/","webhook":"http://receiver.test/"}"#.into(),
        webhook: Some(WebhookEvents::ALL),
        ..crawl(team, page_limit)
    }
}
