//! Searches over cached pages.

use harvestman_core::ids::TeamId;
use harvestman_core::limits::LOCKDOWN_MAX_AGE_MS;
use harvestman_core::search::{PageText, Query, Window};
use harvestman_core::time::Timestamp;
use harvestman_store::{NewCachedPage, Store};

use super::chapters_of_cache::cached_response;
use crate::fixtures::{NOW, later, url};

/// Caches a page with this Markdown.
pub(crate) async fn cache_page(
    store: &Store,
    team: TeamId,
    path: &str,
    markdown: &str,
    fetched_at: Timestamp,
) {
    let page = NewCachedPage {
        text: Some(PageText::of(
            &url(path),
            Some(&format!("Title of {path}")),
            None,
            markdown,
        )),
        ..cached_response(team, path, fetched_at)
    };
    store.cache_page(page, markdown.as_bytes().to_vec()).await;
    store.ping().await.unwrap();
}

/// Returns the paths of the pages that a query finds, best first.
pub(crate) async fn found(
    store: &Store,
    team: TeamId,
    query: &str,
    hosts: &[&str],
    window: &Window,
) -> Vec<String> {
    let mut found = store
        .search_pages(team, &Query::of(query), hosts, window, 10)
        .await
        .unwrap();
    found.sort_by(|one, next| next.score.total_cmp(&one.score));
    found.iter().map(|page| page.url.path().to_owned()).collect()
}

pub(crate) async fn cached_pages_are_searched_by_their_team_only(store: &Store) {
    let team = store.ensure_team("searching").await.unwrap();
    let stranger = store.ensure_team("searching elsewhere").await.unwrap();
    let any = Window::default();
    cache_page(
        store,
        team,
        "/herons",
        "# Herons\n\nA heron stands in shallow water, waiting for fish.",
        NOW,
    )
    .await;
    cache_page(
        store,
        team,
        "/ducks",
        "Ducks swim on water. Some ducks dive, a heron does not.",
        later(50),
    )
    .await;
    cache_page(store, stranger, "/secret", "A heron of another team.", NOW).await;

    assert_eq!(
        found(store, team, "standing herons", &[], &any).await,
        ["/herons", "/ducks"]
    );
    assert_eq!(found(store, stranger, "herons", &[], &any).await, ["/secret"]);
    assert_eq!(
        found(store, team, "\"shallow water\"", &[], &any).await,
        ["/herons"]
    );
    assert_eq!(found(store, team, "water -dive", &[], &any).await, ["/herons"]);
    assert_eq!(found(store, team, "intitle:ducks", &[], &any).await, ["/ducks"]);
    assert_eq!(
        found(store, team, "inurl:herons water", &[], &any).await,
        ["/herons"]
    );
    assert_eq!(found(store, team, "bread", &[], &any).await, [""; 0]);
    assert_eq!(found(store, team, "water", &["site.test"], &any).await.len(), 2);
    assert_eq!(found(store, team, "water", &["b.test"], &any).await, [""; 0]);
    let late = Window {
        from: Some(later(20)),
        ..Window::default()
    };
    assert_eq!(found(store, team, "water", &[], &late).await, ["/ducks"]);

    let query = Query::of("herons stand");
    let pages = store.search_pages(team, &query, &[], &any, 10).await.unwrap();
    let herons = pages.iter().find(|page| page.url.path() == "/herons").unwrap();
    let ducks = pages.iter().find(|page| page.url.path() == "/ducks").unwrap();
    assert!(herons.has_all && !ducks.has_all);
    let kept = store.cached_page_by_id(team, herons.id).await.unwrap().unwrap();
    assert!(kept.body.starts_with(b"# Herons"));
    assert_eq!(store.cached_page_by_id(stranger, herons.id).await.unwrap(), None);

    // A newer response is found only by its own words; one without text keeps the indexed text.
    cache_page(store, team, "/ducks", "Geese now.", later(60)).await;
    store
        .cache_page(cached_response(team, "/ducks", later(70)), b"?".to_vec())
        .await;
    store.ping().await.unwrap();
    assert_eq!(found(store, team, "dive", &[], &any).await, [""; 0]);
    assert_eq!(found(store, team, "geese", &[], &any).await, ["/ducks"]);
    // The same words again, and then the first words once more.
    cache_page(store, team, "/ducks", "Geese now.", later(80)).await;
    assert_eq!(found(store, team, "geese", &[], &any).await, ["/ducks"]);
    cache_page(store, team, "/ducks", "Ducks dive.", later(90)).await;
    assert_eq!(found(store, team, "dive", &[], &any).await, ["/ducks"]);
    assert_eq!(found(store, team, "geese", &[], &any).await, [""; 0]);
    // Other words, and then the first words before anyone searches.
    cache_page(store, team, "/ducks", "Swans now.", later(91)).await;
    cache_page(store, team, "/ducks", "Ducks dive.", later(92)).await;
    assert_eq!(found(store, team, "dive", &[], &any).await, ["/ducks"]);
    assert_eq!(found(store, team, "swans", &[], &any).await, [""; 0]);
}

pub(crate) async fn query_text_is_never_an_operator(store: &Store) {
    let team = store.ensure_team("searching").await.unwrap();
    for query in [
        "\"",
        "\"\"",
        "NEAR(",
        "a AND",
        "team : x",
        "* OR 1",
        "'); DROP TABLE cached_page; --",
        "(((",
        "^herons",
        "body:herons",
        "{team} : t",
        "\u{0}",
        "-",
        "site:",
        "ä\u{301}",
        "herons*",
        "a\"b\"c",
    ] {
        let query = Query::of(query);
        let result = store
            .search_pages(team, &query, &["a\"b", "*"], &Window::default(), 10)
            .await;
        assert!(result.is_ok(), "{query:?}: {result:?}");
        let result = store
            .search_pages(team, &query, &[], &Window::default(), 10)
            .await;
        assert!(result.is_ok(), "{query:?}: {result:?}");
    }
}

pub(crate) async fn expired_responses_are_not_found(store: &Store) {
    let team = store.ensure_team("searching").await.unwrap();
    let any = Window::default();
    assert_eq!(found(store, team, "herons", &[], &any).await, ["/herons"]);
    while store.expire(later(LOCKDOWN_MAX_AGE_MS + 1_000)).await.unwrap() > 0 {}
    assert_eq!(found(store, team, "herons", &[], &any).await, [""; 0]);
}
