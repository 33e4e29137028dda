//! PostgreSQL databases for tests, on the server that `cargo xtask test` starts.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::NoTls;

/// Variable with the URL of the server, without a database name.
const SERVER: &str = "HARVESTMAN_TEST_POSTGRES";

/// An empty database for one test. It stays until the server of the tests is deleted.
pub struct TestDatabase {
    url: String,
}

impl TestDatabase {
    /// Creates a database.
    pub async fn create() -> TestDatabase {
        let server = std::env::var(SERVER).unwrap_or_else(|_| {
            panic!("{SERVER} is not set: run `cargo xtask test`, which starts PostgreSQL")
        });
        let (client, connection) = tokio_postgres::connect(&format!("{server}/postgres"), NoTls)
            .await
            .expect("the PostgreSQL server of the tests runs");
        tokio::spawn(connection);
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("harvestman_test_{}_{count}", std::process::id());
        client
            .batch_execute(&format!(
                "CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"
            ))
            .await
            .expect("the database can be created");
        let url = format!("{server}/{name}");
        TestDatabase { url }
    }

    /// Returns its URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}
