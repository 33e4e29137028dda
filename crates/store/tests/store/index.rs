//! Tests of the texts that wait for the full-text index of the embedded database.

use std::time::{Duration, Instant};

use harvestman_core::search::{PageText, Window};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use crate::faults::tamper;
use crate::fixtures::{NOW, TestFolder, later};
use crate::story::chapters_of_cache::cached_response;
use crate::story::chapters_of_search::{cache_page, found};

async fn count(folder: &TestFolder, table: &'static str) -> i64 {
    let options = SqliteConnectOptions::new()
        .filename(folder.database())
        .read_only(true);
    let mut connection = options.connect().await.unwrap();
    let query = format!("SELECT count(*) FROM {table}");
    sqlx::query_scalar(sqlx::AssertSqlSafe(query))
        .fetch_one(&mut connection)
        .await
        .unwrap()
}

#[tokio::test]
async fn texts_are_indexed_when_no_page_is_cached_for_a_while() {
    let folder = TestFolder::new("pause");
    let store = folder.open().await;
    let team = store.ensure_team("searching").await.unwrap();
    cache_page(&store, team, "/herons", "Herons wade.", NOW).await;
    cache_page(&store, team, "/ducks", "Ducks dive.", NOW).await;
    let started = Instant::now();
    while count(&folder, "page_text_waiting").await > 0 || count(&folder, "page_text_hash").await < 2 {
        assert!(started.elapsed() < Duration::from_secs(30), "not indexed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_server_that_stops_indexes_all_texts() {
    let folder = TestFolder::new("stop");
    let store = folder.open().await;
    let team = store.ensure_team("searching").await.unwrap();
    cache_page(&store, team, "/herons", "Herons wade.", NOW).await;
    store.close().await.unwrap();
    assert_eq!(count(&folder, "page_text_waiting").await, 0);
    let store = folder.open().await;
    assert_eq!(
        found(&store, team, "wade", &[], &Window::default()).await,
        ["/herons"]
    );
    store.close().await.unwrap();
}

#[tokio::test]
async fn long_texts_do_not_wait_in_any_number() {
    let folder = TestFolder::new("many");
    let store = folder.open().await;
    let team = store.ensure_team("searching").await.unwrap();
    let text = "Herons wade. ".repeat(7_000);
    for number in 0..110 {
        cache_page(
            &store,
            team,
            &format!("/{number}"),
            &format!("{text} n{number}"),
            later(number),
        )
        .await;
    }
    // 8 MiB of 10 MB may wait.
    assert!(count(&folder, "page_text_hash").await > 5);
    for number in [0, 50, 109] {
        let path = format!("/{number}");
        assert_eq!(
            found(&store, team, &format!("n{number}"), &[], &Window::default()).await,
            [path]
        );
    }
    assert_eq!(count(&folder, "page_text_hash").await, 110);
    store.close().await.unwrap();
}

#[tokio::test]
async fn texts_that_were_lost_in_a_crash_are_indexed_again() {
    let folder = TestFolder::new("lost");
    let store = folder.open().await;
    let team = store.ensure_team("searching").await.unwrap();
    for (path, text) in [
        ("/herons", "Herons wade."),
        ("/ducks", "Ducks dive."),
        ("/geese", "Geese fly."),
    ] {
        cache_page(&store, team, path, text, NOW).await;
    }
    store
        .cache_page(cached_response(team, "/untold", NOW), b"?".to_vec())
        .await;
    store.close().await.unwrap();
    tamper(
        &folder,
        "INSERT INTO page_text_waiting SELECT id, 1 FROM cached_page WHERE url LIKE '%/ducks' OR url LIKE '%/geese'",
    )
    .await;
    tamper(&folder, "DELETE FROM page_text; DELETE FROM page_text_hash").await;

    let store = folder.open().await;
    let any = Window::default();
    assert_eq!(found(&store, team, "dive", &[], &any).await, [""; 0]);
    let pages = store.unindexed_pages(10).await.unwrap();
    assert_eq!(pages.len(), 2);
    assert_eq!(store.unindexed_pages(1).await.unwrap(), pages[..1]);
    // One of them is cached again first, with other words.
    cache_page(&store, team, "/geese", "Swans fly.", later(1)).await;
    for page in pages {
        let text = String::from_utf8(page.page.body).unwrap();
        let text = PageText::of(&page.page.url.parse().unwrap(), None, None, &text);
        store.index_page(page.id, page.team, text).await.unwrap();
    }
    assert_eq!(store.unindexed_pages(10).await.unwrap(), []);
    assert_eq!(found(&store, team, "dive", &[], &any).await, ["/ducks"]);
    assert_eq!(
        found(&store, team, "geese", &[], &any).await,
        ["/geese"],
        "its path"
    );
    assert_eq!(found(&store, team, "swans", &[], &any).await, ["/geese"]);
    assert_eq!(count(&folder, "page_text_waiting").await, 0);
    store.close().await.unwrap();
}
