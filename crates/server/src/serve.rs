//! `harvestman serve`: starts the store, fetcher, engine and HTTP server, prints where they listen, and stops them in
//! order.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use harvestman_browser::Blocker;
use harvestman_core::api::crawl::EnabledOptions;
use harvestman_core::cluster::ClusterSecret;
use harvestman_core::interact::TokenKey;
use harvestman_engine::{
    BrowserPages, BrowserSettings, Engine, EngineConfig, Llm, LlmConfig, Plans, Proxies, RecognizerConfig,
    Search,
};
use harvestman_fetch::{AllowList, FetchConfig, Fetcher};
use harvestman_store::{Store, StoreError};
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::app::{App, Parts};
use crate::cluster::Cluster;
use crate::config::{Config, Program, cores};
use crate::listen::{self, ConnectionLimits};
use crate::operator::endpoint::OperatorEndpoint;
use crate::router::router;
use crate::sign_in::SignIn;
use crate::telemetry::Telemetry;
use crate::{bootstrap, consent, disk, driver, keys, limits, signals};

/// Product token for robots.txt and the first word of our `User-Agent`.
const AGENT: &str = "Harvestman";

/// Runs the server until a signal, then shuts down within the drain time and [`limits::STOP_TIME`].
pub(crate) async fn serve(config: Config, telemetry: Option<Telemetry>) -> anyhow::Result<()> {
    let signals = signals::Signals::listen().context("cannot install signal handlers")?;
    let listener = retry_while_held(
        || TcpListener::bind(config.listen),
        |error| error.kind() == io::ErrorKind::AddrInUse,
    )
    .await
    .with_context(|| {
        format!(
            "cannot listen on {}; is another server running there?",
            config.listen
        )
    })?;
    let listening_on = listener.local_addr()?;
    descriptors::raise();

    let started = start(config, Some(listening_on)).await?;
    let mut parts = started.parts;
    log_settings(&parts.config);
    parts.operator = Some(OperatorEndpoint::publish(&parts.config.data_dir, listening_on)?);
    let app = App::new(parts);
    print_banner(&app, listening_on, started.new_key.as_deref(), &started.code)?;
    let serving = run(app.clone(), listener, signals);
    match telemetry {
        Some(telemetry) => telemetry.export_during(&app, serving).await,
        None => serving.await,
    }
}

/// Logs what the server uses of this machine, and how long it keeps data. `harvestman doctor` shows more.
fn log_settings(config: &Config) {
    let folder = config.data_dir.display();
    tracing::info!(path = %folder, free = disk::free_space(&config.data_dir), "data folder");
    let programs = [
        (
            "Chromium",
            config.chromium.path(harvestman_browser::find_chromium),
        ),
        ("Node.js", config.node_program()),
        ("Python", config.python_program()),
        ("tesseract", config.tesseract_program()),
    ];
    for (name, path) in programs {
        match path {
            Some(path) => tracing::info!(path = %path.display(), "{name}"),
            None => tracing::info!("{name}: none"),
        }
    }
    let (hours, cache_mib) = (config.result_retention.as_secs() / 3600, config.cache_bytes >> 20);
    tracing::info!(result_retention_hours = hours, cache_mib, "retention");
}

/// A started engine and the secrets that the start created.
pub(crate) struct StartedEngine {
    pub(crate) parts: Parts,
    /// The first key, if this start created it.
    new_key: Option<String>,
    /// Sign-in code of the console.
    code: String,
}

/// Opens the store and starts the engine. `listening_on` is none for a server that only this process uses.
pub(crate) async fn start(config: Config, listening_on: Option<SocketAddr>) -> anyhow::Result<StartedEngine> {
    let mut store_config = config.store();
    store_config.node = Some(config.node_report());
    if store_config.database_url.is_some() {
        // With the embedded database, the store creates the folder.
        std::fs::create_dir_all(&config.data_dir)
            .with_context(|| format!("cannot create {}", config.data_dir.display()))?;
    }
    let store = retry_while_held(
        || Store::open(&store_config),
        |error| matches!(error, StoreError::Locked(_)),
    )
    .await
    .context("cannot open the store")?;
    let access = bootstrap::access(&config, &store, harvestman_engine::now()).await?;
    let plans = bootstrap::plans(&config, &store).await?;
    let fetcher = Fetcher::new(fetch_config(&config, listening_on)).context("cannot start the fetcher")?;
    let mut node_modules = vec![config.data_dir.join(limits::NODE_MODULES_FOLDER)];
    if listening_on.is_some() {
        let driver = driver::unpack(&config.data_dir).context("cannot unpack the driver for Node.js")?;
        node_modules.splice(..0, driver);
    }
    let proxies = Proxies::new(config.proxies.clone());
    let blocker = blocker(&config)?;
    let browser = browser(&config, &fetcher, node_modules, proxies.clone(), blocker.clone()).await?;
    let cluster = config
        .cluster_secret
        .clone()
        .map(|secret| cluster(&config, secret));
    let cluster = cluster.transpose()?;
    let engine = Engine::start(
        engine_config(&config, plans, proxies, blocker)?,
        store.clone(),
        fetcher,
        browser,
    );
    let (sign_in, code) =
        SignIn::new(limits::SIGN_IN_TIME).context("cannot create a sign-in code: no random bytes")?;
    let address = listening_on.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    let mut parts = Parts::new(config, store, engine, sign_in, address);
    parts.open_mode = access.open_mode;
    parts.cluster = cluster;
    Ok(StartedEngine {
        parts,
        new_key: access.new_key,
        code,
    })
}

/// Retries to acquire a resource that a server killed a moment ago may still hold: its address and its data folder are
/// only free once the system has removed its process.
async fn retry_while_held<T, E, F>(acquire: impl Fn() -> F, is_held: impl Fn(&E) -> bool) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let deadline = Instant::now() + limits::START_RETRY_TIME;
    loop {
        match acquire().await {
            Err(error) if is_held(&error) && Instant::now() < deadline => {
                tokio::time::sleep(limits::START_RETRY_DELAY).await;
            }
            result => return result,
        }
    }
}

async fn run(app: App, listener: TcpListener, mut signals: signals::Signals) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    let mut server = tokio::spawn(listen::serve(
        listener,
        app.clone(),
        router(app.clone()),
        ConnectionLimits::default(),
        stop.clone(),
    ));
    tokio::select! {
        name = signals.next() => tracing::info!(signal = name, "shutting down; signal again to stop at once"),
        ended = &mut server => {
            ended.context("the listener failed")?;
            anyhow::bail!("the listener ended unexpectedly");
        }
    }
    let drain = app.config().drain;
    let deadline = Instant::now() + drain + limits::STOP_TIME;
    app.stopping().cancel();
    app.engine().hand_over();
    OperatorEndpoint::remove(&app.config().data_dir);
    stop.cancel();
    let graceful = async {
        // Responses in progress come first; those that wait for the engine are aborted by its shutdown.
        let drained = timeout(drain, &mut server).await.is_ok();
        app.engine().shutdown().await;
        if !drained {
            let _ = timeout_at(deadline, &mut server).await;
        }
        app.store().close().await
    };
    tokio::select! {
        closed = timeout_at(deadline, graceful) => match closed {
            Ok(closed) => closed.context("cannot close the store")?,
            Err(_) => tracing::warn!("shutdown took too long; the store recovers at the next start"),
        },
        name = signals.next() => tracing::warn!(signal = name, "stopping at once"),
    }
    server.abort();
    Ok(())
}

/// Reads the operator's filter lists.
fn blocker(config: &Config) -> anyhow::Result<Blocker> {
    let read = |path: &PathBuf| {
        let failed = || format!("block_lists: cannot read {}", path.display());
        let size = std::fs::metadata(path).with_context(failed)?.len();
        let most = limits::BLOCK_LIST_BYTES;
        anyhow::ensure!(
            size <= most,
            "block_lists: {} has {size} bytes; the maximum is {most}",
            path.display()
        );
        std::fs::read_to_string(path).with_context(failed)
    };
    let lists = config
        .block_lists
        .iter()
        .map(read)
        .collect::<anyhow::Result<_>>()?;
    let script = consent::script().context("cannot read the answers to consent banners")?;
    Ok(Blocker::new(lists, script))
}

/// Starts the browser behind its proxy; returns none if no browser is configured. `node_modules`: folders that may
/// contain the driver for Node.js.
async fn browser(
    config: &Config,
    fetcher: &Fetcher,
    node_modules: Vec<PathBuf>,
    proxies: Proxies,
    blocker: Blocker,
) -> anyhow::Result<Option<BrowserPages>> {
    let Some(program) = config.chromium.path(harvestman_browser::find_chromium) else {
        match config.chromium {
            Program::Off => tracing::info!("the browser is switched off: requests that need it are refused"),
            _ => tracing::info!("no browser is installed: requests that need one are refused"),
        }
        return Ok(None);
    };
    let settings = BrowserSettings {
        program,
        folder: config.data_dir.join(limits::BROWSER_FOLDER),
        agent: format!("{AGENT}/{}", env!("CARGO_PKG_VERSION")),
        pages: config.max_browser_pages,
        init: std::env::current_exe().context("cannot find the path of this program")?,
        node: config.node_program(),
        node_modules,
        python: config.python_program(),
        unsandboxed_code: config.unsandboxed_code,
        proxies,
        blocker,
        files: config.session_files,
    };
    BrowserPages::start(fetcher.clone(), settings)
        .await
        .context("cannot start the proxy of the browser")
        .map(Some)
}

fn fetch_config(config: &Config, listening_on: Option<SocketAddr>) -> FetchConfig {
    FetchConfig {
        allow_private_hosts: config.allow_private_hosts.clone(),
        dns_servers: config.dns_servers.clone(),
        listen: listening_on,
        ..FetchConfig::default()
    }
}

fn engine_config(
    config: &Config,
    plans: Plans,
    proxies: Proxies,
    blocker: Blocker,
) -> anyhow::Result<EngineConfig> {
    Ok(EngineConfig {
        robots_agent: AGENT.to_owned(),
        plans,
        llm: config
            .llm
            .as_ref()
            .map(|llm| language_model(config, llm))
            .transpose()?,
        search: match &config.search {
            Some(search) => Some(Search::new(service_fetcher(config, &search.url)?, search.clone())),
            None => None,
        },
        proxies,
        blocker,
        retention: config.result_retention,
        enabled: EnabledOptions {
            ignore_robots: config.allow_ignore_robots,
            zero_data_retention: config.allow_zero_data_retention,
        },
        cores: cores(),
        browser_pages: config.max_browser_pages,
        node_pages: config.node_pages,
        webhook_secret: config.webhook_secret.clone(),
        webhook_retries: config.webhook_retries.clone(),
        webhook_signature_aliases: config.webhook_signature_aliases.clone(),
        file_reader: own_program(),
        token_key: token_key(config)?,
        recognizer: config.tesseract_program().map(|tesseract| RecognizerConfig {
            launcher: own_program(),
            tesseract,
            languages: config.ocr_languages.clone(),
        }),
    })
}

/// Returns the key for session tokens: the cluster's key, else a new one for this start.
fn token_key(config: &Config) -> anyhow::Result<TokenKey> {
    match &config.cluster_secret {
        Some(secret) => Ok(secret.token_key()),
        None => keys::random_hex::<32>()
            .map(TokenKey::new)
            .context("cannot create the key of session tokens: no random bytes"),
    }
}

/// Creates the forwarder of requests to other nodes. The operator of each node sets its URL.
fn cluster(config: &Config, secret: ClusterSecret) -> anyhow::Result<Cluster> {
    let fetcher = Fetcher::new(FetchConfig {
        allow_private_hosts: AllowList::parse("*").map_err(anyhow::Error::msg)?,
        dns_servers: config.dns_servers.clone(),
        ..FetchConfig::default()
    });
    Ok(Cluster::new(
        secret,
        fetcher.context("cannot connect to other nodes")?,
    ))
}

fn language_model(config: &Config, llm: &LlmConfig) -> anyhow::Result<Llm> {
    let fetcher = service_fetcher(config, &llm.base_url);
    Ok(Llm::new(
        fetcher.context("cannot use the language model")?,
        llm.clone(),
    ))
}

/// Creates a fetcher for a service that the operator has configured. It may reach this one private host and no other.
pub(crate) fn service_fetcher(config: &Config, url: &Url) -> anyhow::Result<Fetcher> {
    let port = url.port_or_known_default().unwrap_or_default();
    let host = format!("{}:{port}", url.host_str().unwrap_or_default());
    let fetcher = Fetcher::new(FetchConfig {
        allow_private_hosts: AllowList::parse(&host).map_err(anyhow::Error::msg)?,
        dns_servers: config.dns_servers.clone(),
        ..FetchConfig::default()
    });
    fetcher.with_context(|| format!("cannot create a fetcher for {host}"))
}

/// Returns the path of this program, even if its file was replaced while it runs.
fn own_program() -> PathBuf {
    let running = Path::new("/proc/self/exe");
    match running.exists() {
        true => running.to_owned(),
        false => std::env::current_exe().unwrap_or_else(|_| PathBuf::from("harvestman")),
    }
}

/// Prints the address, the first key and the console link to stdout, one per line. Scripts parse these lines.
fn print_banner(app: &App, listening_on: SocketAddr, new_key: Option<&str>, code: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "Harvestman {} listening on http://{listening_on}",
        env!("CARGO_PKG_VERSION")
    )?;
    if let Some(key) = new_key {
        writeln!(out, "API key: {key}")?;
        writeln!(
            out,
            "  (shown once; it belongs to the team \"{}\")",
            bootstrap::TEAM
        )?;
    }
    if app.open_mode().is_some() {
        writeln!(out, "Open mode: no API key required")?;
    }
    let base = match &app.config().public_url {
        Some(url) => url.clone(),
        None => format!("http://{}", browser_host(listening_on)),
    };
    writeln!(out, "Console: {base}/console/#start={code}")?;
    out.flush()
}

/// Returns the host and port to open in a browser on this machine.
fn browser_host(listening_on: SocketAddr) -> String {
    match listening_on.ip() {
        IpAddr::V4(ip) if ip.is_loopback() || ip.is_unspecified() => {
            format!("localhost:{}", listening_on.port())
        }
        IpAddr::V6(ip) if ip.is_unspecified() => format!("localhost:{}", listening_on.port()),
        _ => listening_on.to_string(),
    }
}

/// File descriptors for as many connections as the limits allow.
mod descriptors {
    /// Raises the soft limit of open files to the hard limit. A failure is fine: fewer connections fit then, and the
    /// accept loop waits.
    #[cfg(unix)]
    pub(super) fn raise() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        if let Err(error) = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: maximum,
                maximum,
            },
        ) {
            tracing::debug!(%error, ?current, "cannot raise the limit of open files");
        }
    }

    /// Does nothing: other systems have no such limit.
    #[cfg(not(unix))]
    pub(super) fn raise() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_start_waits_for_the_address_of_a_stopping_server() {
        let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = held.local_addr().unwrap();
        tokio::spawn(async move {
            tokio::time::sleep(limits::START_RETRY_DELAY * 4).await;
            drop(held);
        });
        let bind = || TcpListener::bind(address);
        let in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        assert!(bind().await.is_err_and(|error| in_use(&error)));
        assert!(retry_while_held(bind, in_use).await.is_ok());
    }

    #[tokio::test]
    async fn a_start_waits_for_a_bounded_time_and_only_for_held_resources() {
        for (error, retries) in [("held", true), ("denied", false)] {
            let started = Instant::now();
            let acquire = || std::future::ready(Err::<(), _>(error));
            assert_eq!(
                retry_while_held(acquire, |error| *error == "held").await,
                Err(error)
            );
            assert_eq!(started.elapsed() >= limits::START_RETRY_TIME, retries);
        }
    }

    #[test]
    fn the_console_link_opens_in_a_browser_on_this_machine() {
        for (address, expected) in [
            ("127.0.0.1:3002", "localhost:3002"),
            ("0.0.0.0:80", "localhost:80"),
            ("[::]:80", "localhost:80"),
            ("192.168.1.4:80", "192.168.1.4:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(browser_host(address.parse().unwrap()), expected);
        }
    }
}
