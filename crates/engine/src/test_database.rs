//! PostgreSQL databases for the tests of this crate.

use std::time::{Duration, Instant};

use harvestman_store::{DatabaseUrl, Store, StoreConfig};
use tokio_postgres::{Client, NoTls};

/// URL of the PostgreSQL server of the tests, without a database name; set by `cargo xtask test`.
const SERVER: &str = "HARVESTMAN_TEST_POSTGRES";

/// Creates a database and returns its URL.
pub(crate) async fn create(name: &str) -> String {
    let server = std::env::var(SERVER)
        .unwrap_or_else(|_| panic!("{SERVER} is not set: run `cargo xtask test`, which starts PostgreSQL"));
    let database = format!("harvestman_{}_{name}", std::process::id());
    let creation = format!("CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8'");
    let client = connect(&format!("{server}/postgres")).await;
    client.batch_execute(&creation).await.unwrap();
    format!("{server}/{database}")
}

/// Opens the store of another node.
pub(crate) async fn open(url: &str) -> Store {
    let mut config = StoreConfig::new("");
    config.database_url = DatabaseUrl::parse(url);
    Store::open(&config).await.unwrap()
}

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Waits until the condition, an SQL expression, is true.
pub(crate) async fn wait_until(client: &Client, condition: &str) {
    let since = Instant::now();
    let query = format!("SELECT {condition}");
    while !client.query_one(&query, &[]).await.unwrap().get::<_, bool>(0) {
        assert!(since.elapsed() < Duration::from_secs(20), "{condition}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
