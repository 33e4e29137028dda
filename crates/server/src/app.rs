//! Shared state of the request handlers. Cheap to clone; contains no rules of the API.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use harvestman_engine::Engine;
use harvestman_store::{Principal, Store};
use tokio_util::sync::CancellationToken;

use crate::auth::Principals;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::console::Console;
use crate::limits;
use crate::metrics::Metrics;
use crate::rate::RateLimit;
use crate::sign_in::SignIn;
use crate::upload_permits::UploadPermits;

/// Handle to the shared state.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// The components that an [`App`] is built from.
pub struct Parts {
    /// Settings.
    pub config: Config,
    /// Store of jobs, keys and pages.
    pub store: Store,
    /// Engine that runs the jobs.
    pub engine: Engine,
    /// Verifier of the one-time sign-in code of this start.
    pub sign_in: SignIn,
    /// Principal of every request in open mode; `None` in other modes.
    pub open_mode: Option<Principal>,
    /// SHA-256 of the operator token of this start; `None` refuses operator requests.
    pub operator: Option<[u8; 32]>,
    /// Passes requests on to other nodes; none on a server without a cluster secret.
    pub cluster: Option<Cluster>,
    /// Address that the listener is bound to.
    pub listening_on: SocketAddr,
    /// Files of the console.
    pub console: Console,
    /// Longest pause between two parts of a request body.
    pub body_silence: Duration,
}

struct Inner {
    parts: Parts,
    principals: Principals,
    metrics: Metrics,
    rate_limit: RateLimit,
    upload_permits: UploadPermits,
    stopping: CancellationToken,
}

impl Parts {
    /// Returns the parts with the embedded console and the default limits.
    pub fn new(
        config: Config,
        store: Store,
        engine: Engine,
        sign_in: SignIn,
        listening_on: SocketAddr,
    ) -> Parts {
        Parts {
            config,
            store,
            engine,
            sign_in,
            open_mode: None,
            operator: None,
            cluster: None,
            listening_on,
            console: Console::built(),
            body_silence: limits::BODY_SILENCE,
        }
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("listening_on", &self.0.parts.listening_on)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Creates the shared state.
    pub fn new(parts: Parts) -> App {
        App(Arc::new(Inner {
            rate_limit: RateLimit::default(),
            upload_permits: UploadPermits::default(),
            metrics: Metrics::new(&parts.engine),
            parts,
            principals: Principals::default(),
            stopping: CancellationToken::new(),
        }))
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.0.parts.config
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        &self.0.parts.store
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.0.parts.engine
    }

    /// Returns the counters behind `/metrics`.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Returns the token that is cancelled when the server begins to shut down.
    pub fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    pub(crate) fn sign_in(&self) -> &SignIn {
        &self.0.parts.sign_in
    }

    pub(crate) fn open_mode(&self) -> Option<&Principal> {
        self.0.parts.open_mode.as_ref()
    }

    pub(crate) fn operator(&self) -> Option<[u8; 32]> {
        self.0.parts.operator
    }

    pub(crate) fn cluster(&self) -> Option<&Cluster> {
        self.0.parts.cluster.as_ref()
    }

    pub(crate) fn principals(&self) -> &Principals {
        &self.0.principals
    }

    pub(crate) fn rate_limit(&self) -> &RateLimit {
        &self.0.rate_limit
    }

    pub(crate) fn upload_permits(&self) -> &UploadPermits {
        &self.0.upload_permits
    }

    pub(crate) fn console(&self) -> &Console {
        &self.0.parts.console
    }

    pub(crate) fn body_silence(&self) -> Duration {
        self.0.parts.body_silence
    }

    pub(crate) fn listening_on(&self) -> String {
        self.0.parts.listening_on.to_string()
    }
}
