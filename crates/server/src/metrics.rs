//! Metrics of this process for Prometheus: HTTP metrics and the engine's metrics. They never contain teams, keys or
//! URLs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use harvestman_engine::{DURATION_BUCKETS, Engine};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

/// A label and its value.
type Label<V> = [(&'static str, V); 1];

/// Counters since the start, and current gauges.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Label<u16>, Counter>,
    request_duration: Family<Label<String>, Histogram, fn() -> Histogram>,
    connections: Gauge,
    connections_refused: Counter,
    viewers: Gauge,
    inputs_refused: Counter,
}

/// Counts a viewer of a live view until it is dropped.
pub(crate) struct CountedViewer<'a>(&'a Gauge);

impl Drop for CountedViewer<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Creates the metrics of a server that starts now.
    pub(crate) fn new(engine: &Engine) -> Self {
        let mut registry = Registry::with_prefix("harvestman");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the server", version);
        let started: Gauge = Gauge::default();
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        started.set(since_1970.as_secs() as i64);
        let help = "Start of the server, in seconds since 1970";
        registry.register_with_unit("start_time", help, Unit::Seconds, started);
        let request_duration: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(DURATION_BUCKETS));
        let help = "Time to the head of the response, by route";
        let shared = request_duration.clone();
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, shared);
        engine.register_metrics(&mut registry);
        let to = &mut registry;
        Self {
            request_duration,
            requests: register(to, "http_requests", "Completed requests by status"),
            connections: register(to, "http_connections", "Open connections"),
            connections_refused: register(
                to,
                "http_connections_refused",
                "Connections refused above the limit",
            ),
            viewers: register(to, "live_viewers", "Viewers of browser sessions"),
            inputs_refused: register(
                to,
                "live_inputs_refused",
                "Inputs refused on read-only live views",
            ),
            registry,
        }
    }

    /// Counts a response; `route` is the pattern of its path.
    pub(crate) fn count_response(&self, status: StatusCode, route: String, duration: Duration) {
        self.requests.get_or_create(&[("status", status.as_u16())]).inc();
        // Some parsers of the format take a brace for the end of the labels.
        let route = route.replace('{', ":").replace('}', "");
        self.request_duration
            .get_or_create(&[("route", route)])
            .observe(duration.as_secs_f64());
    }

    /// Counts a connection that opened (1) or closed (-1).
    pub(crate) fn change_connections(&self, change: i64) {
        self.connections.inc_by(change);
    }

    /// Counts a connection that was refused because too many are open.
    pub(crate) fn count_refused_connection(&self) {
        self.connections_refused.inc();
    }

    /// Counts a viewer of a session.
    pub(crate) fn count_viewer(&self) -> CountedViewer<'_> {
        self.viewers.inc();
        CountedViewer(&self.viewers)
    }

    /// Counts an input from a read-only viewer.
    pub(crate) fn count_refused_input(&self) {
        self.inputs_refused.inc();
    }

    /// Returns all metrics in the OpenMetrics text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string never fails");
        text
    }
}

/// Registers a new metric and returns it.
fn register<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}
