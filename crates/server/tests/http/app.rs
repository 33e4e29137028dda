//! A complete server for tests, with helpers for requests.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::request::Builder;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use harvestman_browser::Blocker;
use harvestman_core::api::crawl::EnabledOptions;
use harvestman_core::interact::TokenKey;
use harvestman_engine::{Engine, EngineConfig, Proxies};
use harvestman_fetch::{FetchConfig, Fetcher};
use harvestman_server::app::{App, Parts};
use harvestman_server::config::{Config, Values};
use harvestman_server::console::Console;
use harvestman_server::listen::{self, ConnectionLimits, Peer};
use harvestman_server::sign_in::SignIn;
use harvestman_server::{bootstrap, keys, router};
use harvestman_store::{Store, StoreConfig};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use uuid::Uuid;

/// A running server. Its data folder is removed on drop.
pub(crate) struct TestApp {
    pub(crate) app: App,
    pub(crate) router: Router,
    /// A valid key of the team `default`.
    pub(crate) key: String,
    /// The sign-in code of this start.
    pub(crate) code: String,
    folder: PathBuf,
}

/// A response with its complete body.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl TestResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts that this is an error response in the format of docs/API.md.
    pub(crate) fn is_error(&self, status: u16, code: &str) -> &Self {
        let json = self.json();
        assert_eq!(
            (self.status.as_u16(), json["code"].as_str()),
            (status, Some(code)),
            "{json}"
        );
        assert_eq!(json["success"], false);
        assert!(
            json["error"].as_str().is_some_and(|error| !error.is_empty()),
            "{json}"
        );
        self
    }
}

impl TestApp {
    pub(crate) async fn start() -> TestApp {
        TestApp::with(&[]).await
    }

    /// Starts a server with settings given as environment variables.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> TestApp {
        TestApp::in_folder(TestApp::new_folder(), settings).await
    }

    /// Returns the path of a data folder that does not exist yet.
    pub(crate) fn new_folder() -> PathBuf {
        std::env::temp_dir().join(format!("harvestman-server-{}", Uuid::now_v7()))
    }

    /// Starts a server on a data folder.
    pub(crate) async fn in_folder(folder: PathBuf, settings: &[(&str, &str)]) -> TestApp {
        let environment = |name: &str| match name {
            "HARVESTMAN_DATA_DIR" => Some(folder.display().to_string()),
            _ => settings
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned()),
        };
        let config = Config::parse(&Values::gather(|_| None, environment, None).unwrap()).unwrap();
        let store = Store::open(&StoreConfig::new(&config.data_dir)).await.unwrap();
        let access = bootstrap::access(&config, &store, harvestman_engine::now())
            .await
            .unwrap();
        let fetcher = Fetcher::new(FetchConfig {
            allow_private_hosts: config.allow_private_hosts.clone(),
            dns_servers: config.dns_servers.clone(),
            ..FetchConfig::default()
        })
        .unwrap();
        let engine = Engine::start(
            EngineConfig {
                retention: Duration::from_secs(24 * 60 * 60),
                robots_agent: "Harvestman".to_owned(),
                plans: bootstrap::plans(&config, &store).await.unwrap(),
                llm: None,
                search: None,
                proxies: Proxies::default(),
                blocker: Blocker::default(),
                enabled: EnabledOptions {
                    ignore_robots: config.allow_ignore_robots,
                    zero_data_retention: config.allow_zero_data_retention,
                },
                cores: 2,
                browser_pages: 2,
                node_pages: None,
                webhook_secret: None,
                webhook_retries: Vec::new(),
                webhook_signature_aliases: Vec::new(),
                file_reader: "no-reader".into(),
                token_key: TokenKey::new("test"),
                recognizer: None,
            },
            store.clone(),
            fetcher,
            None,
        );
        let (sign_in, code) = SignIn::new(Duration::from_secs(60)).unwrap();
        let mut parts = Parts::new(config, store, engine, sign_in, "127.0.0.1:3002".parse().unwrap());
        parts.open_mode = access.open_mode;
        parts.console = Console::of(file);
        parts.body_silence = Duration::from_millis(200);
        let app = App::new(parts);
        let router = router::router(app.clone());
        TestApp {
            app,
            router,
            key: access.new_key.unwrap_or_default(),
            code,
            folder,
        }
    }

    /// Creates a key of another team.
    pub(crate) async fn other_key(&self, team: &str) -> String {
        let key = keys::new_key().unwrap();
        let team = self.app.store().ensure_team(team).await.unwrap();
        self.app
            .store()
            .add_key(team, "other", keys::fingerprint(&key), harvestman_engine::now())
            .await
            .unwrap();
        key
    }

    /// Builds a request with the valid key.
    pub(crate) fn request(&self, method: Method, path: &str) -> Builder {
        self.request_as(&self.key, method, path)
    }

    /// Builds a request with this key.
    pub(crate) fn request_as(&self, key: &str, method: Method, path: &str) -> Builder {
        self.anonymous(method, path)
            .header("authorization", format!("Bearer {key}"))
    }

    /// Builds a request without a key.
    pub(crate) fn anonymous(&self, method: Method, path: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "hm.test:3002")
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.send(self.request(Method::GET, path), "").await
    }

    pub(crate) async fn get_as(&self, key: &str, path: &str) -> TestResponse {
        self.send(self.request_as(key, Method::GET, path), "").await
    }

    pub(crate) async fn delete(&self, path: &str) -> TestResponse {
        self.send(self.request(Method::DELETE, path), "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> TestResponse {
        self.send(self.request(Method::POST, path), body.to_string())
            .await
    }

    /// Sends a request from this machine, unless it names another peer.
    pub(crate) async fn send(&self, request: Builder, body: impl Into<Body>) -> TestResponse {
        let mut request = request.body(body.into()).unwrap();
        request
            .extensions_mut()
            .get_or_insert_with(|| Peer("127.0.0.1:50000".parse().unwrap()));
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        TestResponse {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        }
    }

    /// Listens on a local port until the token is cancelled.
    pub(crate) async fn listen(&self, limits: ConnectionLimits) -> (SocketAddr, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(listen::serve(
            listener,
            self.app.clone(),
            self.router.clone(),
            limits,
            stop.clone(),
        ));
        (address, stop)
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns the console's files in tests.
fn file(path: &str) -> Option<Cow<'static, [u8]>> {
    let bytes: &'static [u8] = match path {
        "index.html" => b"<!doctype html><script>start()</script><style>b{}</style>",
        "web-0123456789abcdef.js" => b"plain script",
        "web-0123456789abcdef.js.br" => b"brotli bytes",
        "web-0123456789abcdef.js.gz" => b"gzip bytes",
        "favicon.svg" => b"<svg/>",
        _ => return None,
    };
    Some(Cow::Borrowed(bytes))
}
