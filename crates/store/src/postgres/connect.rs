//! Connections: the database URL, the checks before the first statement, and the pool.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use deadpool_postgres::{Connect, Manager, ManagerConfig, PoolError, RecyclingMethod, Runtime};
use futures_util::future::BoxFuture;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;
use crate::limits;
use crate::postgres::client::Client;
use crate::postgres::query::query;
use crate::postgres::rows::{Columns, describe, may_pass};

/// The oldest supported server, as in `server_version_num`.
const OLDEST_SERVER: u64 = 140_000;

/// The connections of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    connections: deadpool_postgres::Pool,
    connector: Connector,
    config: Arc<Config>,
}

/// Opens the connections of a pool.
#[derive(Clone)]
struct Connector {
    tls: MakeRustlsConnect,
    /// Ends all connections.
    end: Arc<Notify>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl Connect for Connector {
    fn connect(
        &self,
        config: &Config,
    ) -> BoxFuture<'_, Result<(tokio_postgres::Client, JoinHandle<()>), tokio_postgres::Error>> {
        let (config, Self { tls, end }) = (config.clone(), self.clone());
        Box::pin(async move {
            let (client, connection) = config.connect(tls).await?;
            let connection = async move {
                tokio::select! {
                    ended = connection => if let Err(error) = ended {
                        tracing::warn!(error = describe(&error), "a connection to the database has ended");
                    },
                    () = end.notified() => {}
                }
            };
            Ok((client, tokio::spawn(connection)))
        })
    }
}

impl Pool {
    /// Connects for the first time. Retries for [`limits::CONNECT_TIME`] while the server cannot be reached.
    ///
    /// # Errors
    /// [`StoreError::Setup`] with what to do, without the password.
    pub(crate) async fn connect(url: &str) -> Result<Self, StoreError> {
        let (config, tls) = parse(url)?;
        let server = server_name(&config);
        let deadline = Instant::now() + limits::CONNECT_TIME;
        loop {
            let connecting = config.connect(tls.clone());
            let text = match timeout(limits::CONNECTION_TIMEOUT * 2, connecting).await {
                Ok(Ok(_)) => break,
                Ok(Err(error)) => {
                    let text = describe(&error);
                    if !error.code().is_none_or(may_pass) {
                        return Err(StoreError::Setup(refusal(&error, &server, &text)));
                    }
                    text
                }
                Err(_) => "it does not respond".to_owned(),
            };
            if Instant::now() + limits::CONNECT_RETRY > deadline {
                let seconds = limits::CONNECT_TIME.as_secs();
                return Err(StoreError::Setup(format!(
                    "cannot connect to the database at {server} within {seconds} s: {text}. Check the URL of the \
                     database, and that PostgreSQL is running"
                )));
            }
            tracing::warn!(server, error = text, "cannot connect to the database; retrying");
            tokio::time::sleep(limits::CONNECT_RETRY).await;
        }
        let settings = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let connector = Connector {
            tls,
            end: Arc::default(),
        };
        let manager = Manager::from_connect(config.clone(), connector.clone(), settings);
        let connections = deadpool_postgres::Pool::builder(manager)
            .max_size(limits::POSTGRES_CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(limits::READER_TIMEOUT))
            .create_timeout(Some(limits::CONNECTION_TIMEOUT * 2))
            .build()
            .map_err(|error| StoreError::Setup(error.to_string()))?;
        let pool = Self {
            connections,
            connector,
            config: Arc::new(config),
        };
        let row = query(
            "SELECT current_setting('server_version_num')::bigint AS number,
                current_setting('server_version') AS name, current_setting('server_encoding') AS encoding",
        )
        .fetch_one(&pool.connection().await?)
        .await?;
        let (version, encoding) = (row.text("name")?, row.text("encoding")?);
        if row.count("number")? < OLDEST_SERVER {
            return Err(StoreError::Setup(format!(
                "the database at {server} is PostgreSQL {version}; version 14 or newer is needed"
            )));
        }
        if encoding != "UTF8" {
            return Err(StoreError::Setup(format!(
                "the database at {server} has the encoding {encoding}; create one with ENCODING 'UTF8'"
            )));
        }
        Ok(pool)
    }

    /// Returns a free connection. While the server cannot be reached, retries for a few seconds.
    pub(crate) async fn connection(&self) -> Result<Client, StoreError> {
        let deadline = Instant::now() + limits::RECONNECT_TIME;
        loop {
            match self.connections.get().await.map_err(StoreError::from) {
                Err(error) if error.is_transient() && Instant::now() < deadline => {
                    tokio::time::sleep(limits::RECONNECT_RETRY).await;
                }
                result => return Ok(Client::new(result?, self.connector.tls.clone())),
            }
        }
    }

    /// Returns whether the server accepts a connection and does not respond on it. A pooler accepts connections even if
    /// its server does not respond.
    pub(crate) async fn is_silent(&self) -> bool {
        let responding = async {
            let (client, _) = self.connector.connect(&self.config).await?;
            client.batch_execute("SELECT 1").await
        };
        timeout(limits::CONNECTION_TIMEOUT, responding).await.is_err()
    }

    /// Ends all connections. Statements that wait for a response fail as if the server had closed them.
    pub(crate) fn end_connections(&self) {
        self.connector.end.notify_waiters();
    }

    pub(crate) fn close(&self) {
        self.connections.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.connections.is_closed()
    }
}

/// A connection that many callers use at once, for statements that are transactions of their own. They are sent without
/// waiting for earlier responses, so that a distant database responds to all within one round trip. The connection is
/// returned to the pool when nobody uses it.
#[derive(Debug, Default)]
pub(crate) struct SharedConnection(Mutex<Weak<Client>>);

impl SharedConnection {
    /// Returns the connection; takes one from `pool` if there is none.
    pub(crate) async fn of(&self, pool: &Pool) -> Result<Arc<Client>, StoreError> {
        let mut current = self.0.lock().await;
        if let Some(connection) = current.upgrade().filter(|connection| !connection.is_closed()) {
            return Ok(connection);
        }
        let connection = Arc::new(pool.connection().await?);
        *current = Arc::downgrade(&connection);
        Ok(connection)
    }
}

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Closed => Self::Closed,
            PoolError::Timeout(_) => Self::Transient("no free database connection".to_owned()),
            error => Self::Database(error.to_string()),
        }
    }
}

/// Parses a URL in the format of libpq, with `sslmode=verify-full` and `sslrootcert`. TLS always verifies the
/// certificate.
fn parse(url: &str) -> Result<(Config, MakeRustlsConnect), StoreError> {
    let (base, options) = url.split_once('?').unwrap_or((url, ""));
    let (mut kept, mut root) = (Vec::new(), None);
    for option in options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("sslrootcert", path)) => root = Some(path.to_owned()),
            Some(("sslmode", "verify-full" | "verify-ca")) => kept.push("sslmode=require".to_owned()),
            _ => kept.push(option.to_owned()),
        }
    }
    let mut config: Config =
        format!("{base}?{}", kept.join("&"))
            .parse()
            .map_err(|error: tokio_postgres::Error| {
                StoreError::Setup(format!(
                    "the URL of the database is not a PostgreSQL URL: {}",
                    describe(&error)
                ))
            })?;
    if config.get_application_name().is_none() {
        config.application_name("harvestman");
    }
    config
        .connect_timeout(limits::CONNECTION_TIMEOUT)
        .tcp_user_timeout(limits::CONNECTION_TIMEOUT * 2)
        .keepalives_idle(limits::CONNECTION_TIMEOUT);
    Ok((config, tls(root.as_deref().map(Path::new))?))
}

fn tls(root: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let mut roots = RootCertStore::empty();
    match root {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let unreadable = |error: String| {
                StoreError::Setup(format!("cannot read `sslrootcert` {}: {error}", path.display()))
            };
            let certificates =
                CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
                roots
                    .add(certificate)
                    .map_err(|error| unreadable(error.to_string()))?;
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Setup(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Returns hosts and database, for messages.
fn server_name(config: &Config) -> String {
    let ports = config.get_ports();
    let host = |(index, host): (usize, &Host)| {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        }
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    format!("{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

fn refusal(error: &tokio_postgres::Error, server: &str, text: &str) -> String {
    let advice = match error.code().map(tokio_postgres::error::SqlState::code) {
        Some("28P01" | "28000") => "Check user and password in the URL of the database",
        Some("3D000") => "Create the database, with ENCODING 'UTF8'",
        Some("42501") => "Grant the user the right to connect",
        _ => "Check the URL of the database",
    };
    format!("the database at {server} refused the connection: {text}. {advice}")
}

/// Pause before the next attempt to do background work that failed.
pub(crate) const BACKGROUND_RETRY: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_libpq_are_parsed() {
        let (config, _) = parse("postgres://u:secret@one:5433,two/db?sslmode=verify-full").unwrap();
        assert_eq!(server_name(&config), "one:5433,two:5432/db");
        assert_eq!(config.get_application_name(), Some("harvestman"));
        let error = parse("postgres://u:secret@host:port/db")
            .map(drop)
            .unwrap_err()
            .to_string();
        assert!(
            !error.contains("secret") && error.contains("URL of the database"),
            "{error}"
        );
        let error = parse("postgres://u@host/db?sslrootcert=/nowhere.pem")
            .map(drop)
            .unwrap_err();
        assert!(error.to_string().contains("/nowhere.pem"), "{error}");
    }
}
