//! Tests of the size limit of the page cache.

use harvestman_core::cache::Ages;
use harvestman_store::{Store, StoreConfig};

use crate::fixtures::{TestFolder, later};
use crate::story::chapters_of_cache::{body, cached_response};

const ANY: Ages = Ages {
    min_ms: 0,
    max_ms: u64::MAX,
};
const CACHE_BYTES: u64 = 300_000;

/// Returns incompressible bytes.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[tokio::test]
async fn the_oldest_responses_are_evicted_and_too_large_ones_not_cached() {
    let folder = TestFolder::new("cache");
    let config = StoreConfig {
        cache_bytes: CACHE_BYTES,
        ..StoreConfig::new(folder.path())
    };
    let store = Store::open(&config).await.unwrap();
    let team = store.ensure_team("caching").await.unwrap();
    let path = |number: u64| format!("/{number}");
    for number in 0..100 {
        let page = cached_response(team, &path(number), later(number));
        store.cache_page(page, noise(10_000, number)).await;
    }
    store
        .cache_page(cached_response(team, "/large", later(200)), noise(400_000, 0))
        .await;
    store.ping().await.unwrap();
    let mut kept = Vec::new();
    for number in 0..100 {
        if let Some(bytes) = body(&store, team, &path(number), ANY, later(300)).await {
            assert_eq!(bytes, noise(10_000, number));
            kept.push(number);
        }
    }
    let count = kept.len() as u64;
    assert!(count > 10 && count * 10_000 <= CACHE_BYTES, "{count}");
    assert_eq!(
        kept,
        (100 - count..100).collect::<Vec<_>>(),
        "the newest are kept"
    );
    assert_eq!(body(&store, team, "/large", ANY, later(300)).await, None);

    // A replaced body counts once.
    for time in 300..400 {
        let page = cached_response(team, &path(99), later(time));
        store.cache_page(page, noise(10_000, time)).await;
    }
    store.ping().await.unwrap();
    let first = 100 - count;
    assert!(body(&store, team, &path(first), ANY, later(400)).await.is_some());
    assert_eq!(
        body(&store, team, &path(99), ANY, later(400)).await,
        Some(noise(10_000, 399))
    );
    store.close().await.unwrap();
}
