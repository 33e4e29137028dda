//! PostgreSQL databases that cannot be used, or do not respond.

use std::time::{Duration, Instant};

use harvestman_store::{DatabaseUrl, Store, StoreConfig};
use tokio_postgres::NoTls;

use crate::database_proxy::DatabaseProxy;
use crate::fixtures::{TestFolder, database_url, run_sql};

#[tokio::test]
async fn a_database_that_does_not_respond_is_reported_on_postgresql() {
    let folder = TestFolder::postgres("silent");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = StoreConfig::new(folder.path());
    config.database_url = DatabaseUrl::parse(&format!(
        "postgres://user@{}/database",
        listener.local_addr().unwrap()
    ));
    let opening = tokio::time::timeout(Duration::from_secs(120), Store::open(&config));
    let error = opening.await.unwrap().err().unwrap().to_string();
    assert!(error.contains("it does not respond"), "{error}");
}

#[tokio::test]
async fn a_silent_database_behind_a_pooler_is_noticed_on_postgresql() {
    let server = database_url("postgres");
    let proxy = DatabaseProxy::start(&server).await;
    let folder = TestFolder::pooled("silent-pooled", &proxy.url(&server));
    let store = folder.open().await;
    proxy.cut();
    let since = Instant::now();
    let error = store.has_keys().await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert!(
        since.elapsed() < Duration::from_secs(27),
        "before the time limit of the statement"
    );
    proxy.restore();
    while store.has_keys().await.is_err() {
        assert!(since.elapsed() < Duration::from_secs(60), "the database is back");
    }
}

#[tokio::test]
async fn a_statement_without_a_response_fails_and_is_cancelled_on_postgresql() {
    let folder = TestFolder::postgres("late");
    let store = folder.open().await;
    let (client, connection) = tokio_postgres::connect(&database_url(folder.name()), NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("BEGIN; LOCK TABLE harvestman.api_key")
        .await
        .unwrap();
    let error = tokio::time::timeout(Duration::from_secs(45), store.has_keys()).await;
    let error = error.expect("statements have a time limit").unwrap_err();
    assert!(error.is_transient(), "{error}");
    let waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'harvestman.api_key'::regclass";
    let since = Instant::now();
    while !client.query(waiting, &[]).await.unwrap().is_empty() {
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "the statement still runs"
        );
    }
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.has_keys().await, Ok(false));
}

#[tokio::test]
async fn an_unusable_database_is_reported_on_postgresql() {
    let folder = TestFolder::postgres("unusable");
    let open = async |url: &str| {
        let mut config = StoreConfig::new(folder.path());
        config.database_url = DatabaseUrl::parse(url);
        match Store::open(&config).await {
            Ok(_) => panic!("{url} must be refused"),
            Err(error) => error.to_string(),
        }
    };
    let error = open(&database_url("no_such_database")).await;
    assert!(
        error.contains("no_such_database") && error.contains("Create the database"),
        "{error}"
    );
    folder.open().await.close().await.unwrap();
    run_sql(
        folder.name(),
        "UPDATE harvestman.schema_version SET version = 99, oldest = 98",
    );
    let error = folder.try_open().await.err().unwrap().to_string();
    assert!(
        error.contains("version 99") && error.contains("start the newer server"),
        "{error}"
    );
    run_sql(folder.name(), "DROP TABLE harvestman.schema_version");
    let error = folder.try_open().await.err().unwrap().to_string();
    assert!(error.contains("another program"), "{error}");
}
