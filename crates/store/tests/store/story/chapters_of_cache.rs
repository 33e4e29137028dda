//! Responses cached for later requests.

use futures_util::future::join_all;
use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::ids::TeamId;
use harvestman_core::limits::{LOCKDOWN_MAX_AGE_MS, SITEMAP_CACHE_MS};
use harvestman_core::time::Timestamp;
use harvestman_store::{CachedPage, NewCachedPage, Store};

use crate::fixtures::{NOW, later, url};

const ANY: Ages = Ages {
    min_ms: 0,
    max_ms: u64::MAX,
};

pub(crate) fn cache_key(path: &str) -> CacheKey {
    CacheKey::of_site_file(&url(path), true)
}

pub(crate) fn cached_response(team: TeamId, path: &str, fetched_at: Timestamp) -> NewCachedPage {
    NewCachedPage {
        team,
        key: cache_key(path),
        site: Some("site.test".to_owned()),
        url: url(path).into(),
        title: Some(format!("Title of {path}")),
        description: None,
        status: 200,
        content_type: Some("text/html".to_owned()),
        fetched_at,
        text: None,
    }
}

/// Returns the body under this key, if there is a response in this age range.
pub(crate) async fn body(
    store: &Store,
    team: TeamId,
    path: &str,
    ages: Ages,
    now: Timestamp,
) -> Option<Vec<u8>> {
    let found = store.cached_page(team, cache_key(path), ages, now).await.unwrap();
    found.map(|page| page.body)
}

pub(crate) async fn the_newest_response_is_cached_per_team(store: &Store) {
    let team = store.ensure_team("caching").await.unwrap();
    let stranger = store.ensure_team("caching elsewhere").await.unwrap();
    assert_eq!(body(store, team, "/a", ANY, NOW).await, None);
    store
        .cache_page(cached_response(team, "/a", NOW), b"first".to_vec())
        .await;
    store.ping().await.unwrap();
    let found = store.cached_page(team, cache_key("/a"), ANY, NOW).await.unwrap();
    let kept = CachedPage {
        url: url("/a").into(),
        status: 200,
        content_type: Some("text/html".to_owned()),
        fetched_at: NOW,
        body: b"first".to_vec(),
    };
    assert_eq!(found, Some(kept));
    assert_eq!(body(store, stranger, "/a", ANY, NOW).await, None);
    assert_eq!(body(store, team, "/b", ANY, NOW).await, None);

    let ages = |min_ms, max_ms| Ages { min_ms, max_ms };
    for (wanted, there) in [
        (ages(0, 99), false),
        (ages(0, 100), true),
        (ages(100, 100), true),
        (ages(101, 200), false),
    ] {
        let found = body(store, team, "/a", wanted, later(100)).await;
        assert_eq!(found.is_some(), there, "{wanted:?}");
    }

    store
        .cache_page(cached_response(team, "/a", later(5)), b"second".to_vec())
        .await;
    store
        .cache_page(cached_response(team, "/a", later(4)), b"late".to_vec())
        .await;
    store
        .cache_page(cached_response(team, "/empty", NOW), Vec::new())
        .await;
    store.ping().await.unwrap();
    assert_eq!(
        body(store, team, "/a", ANY, later(9)).await,
        Some(b"second".to_vec())
    );
    assert_eq!(body(store, team, "/empty", ANY, NOW).await, Some(Vec::new()));
}

pub(crate) async fn a_response_that_the_database_refuses_takes_no_other_along(store: &Store) {
    let team = store.ensure_team("refused").await.unwrap();
    let paths: Vec<String> = (0..40).map(|number| format!("/{number}")).collect();
    // PostgreSQL cannot index a text of this length that does not compress.
    let site = (0..20_000_u32).map(|index| char::from(33 + (index.wrapping_mul(2_654_435_769) >> 26) as u8));
    let refused = NewCachedPage {
        site: Some(site.collect()),
        ..cached_response(team, "/refused", NOW)
    };
    let pages = paths.iter().map(|path| cached_response(team, path, NOW));
    join_all(
        pages
            .chain([refused])
            .map(|page| store.cache_page(page, b"kept".to_vec())),
    )
    .await;
    store.ping().await.unwrap();
    for path in &paths {
        assert_eq!(
            body(store, team, path, ANY, NOW).await,
            Some(b"kept".to_vec()),
            "{path}"
        );
    }
}

pub(crate) async fn known_pages_are_listed_by_site(store: &Store) {
    let team = store.ensure_team("knowing").await.unwrap();
    let sitemap = NewCachedPage {
        site: None,
        ..cached_response(team, "/sitemap.xml", NOW)
    };
    let foreign = NewCachedPage {
        site: Some("other.test".to_owned()),
        ..cached_response(team, "/c", NOW)
    };
    for page in [
        cached_response(team, "/a", NOW),
        sitemap,
        foreign,
        cached_response(team, "/b", NOW),
    ] {
        store.cache_page(page, b"body".to_vec()).await;
    }
    store.ping().await.unwrap();
    let known = store.known_pages(team, "site.test", 10).await.unwrap();
    let titles: Vec<_> = known.iter().map(|page| page.title.clone().unwrap()).collect();
    assert_eq!(titles, ["Title of /a", "Title of /b"]);
    assert_eq!(known[0].url, url("/a").as_str());
    assert_eq!(store.known_pages(team, "site.test", 1).await.unwrap().len(), 1);
}

pub(crate) async fn responses_expire_when_too_old_for_any_request(store: &Store) {
    let team = store.ensure_team("forgetting").await.unwrap();
    let sitemap = NewCachedPage {
        site: None,
        ..cached_response(team, "/sitemap.xml", NOW)
    };
    store.cache_page(sitemap, b"body".to_vec()).await;
    store
        .cache_page(cached_response(team, "/a", NOW), b"body".to_vec())
        .await;
    for (now, sitemap, page) in [
        (later(SITEMAP_CACHE_MS), true, true),
        (later(SITEMAP_CACHE_MS + 1), false, true),
        (later(LOCKDOWN_MAX_AGE_MS), false, true),
        (later(LOCKDOWN_MAX_AGE_MS + 1), false, false),
    ] {
        while store.expire(now).await.unwrap() > 0 {}
        assert_eq!(
            body(store, team, "/sitemap.xml", ANY, now).await.is_some(),
            sitemap
        );
        assert_eq!(body(store, team, "/a", ANY, now).await.is_some(), page);
    }
}
