//! Metrics of this process in the Prometheus text format. They never contain teams, keys or URLs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use harvestman_engine::PageMetrics;

/// Counters since the start, and current gauges.
#[derive(Debug)]
pub struct Metrics {
    started: Instant,
    responses: Mutex<BTreeMap<u16, u64>>,
    connections_open: AtomicI64,
    connections_refused: AtomicU64,
    viewers: AtomicI64,
    inputs_refused: AtomicU64,
}

/// Counts a viewer of a live view until it is dropped.
pub(crate) struct CountedViewer<'a>(&'a AtomicI64);

impl Drop for CountedViewer<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            responses: Mutex::default(),
            connections_open: AtomicI64::new(0),
            connections_refused: AtomicU64::new(0),
            viewers: AtomicI64::new(0),
            inputs_refused: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// Counts a response.
    pub(crate) fn count_response(&self, status: StatusCode) {
        let mut responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        *responses.entry(status.as_u16()).or_default() += 1;
    }

    /// Counts a connection that opened (1) or closed (-1).
    pub(crate) fn change_connections(&self, change: i64) {
        self.connections_open.fetch_add(change, Ordering::Relaxed);
    }

    /// Counts a connection that was refused because too many are open.
    pub(crate) fn count_refused_connection(&self) {
        self.connections_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a viewer of a session.
    pub(crate) fn count_viewer(&self) -> CountedViewer<'_> {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        CountedViewer(&self.viewers)
    }

    /// Counts an input from a read-only viewer.
    pub(crate) fn count_refused_input(&self) {
        self.inputs_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Renders all metrics, including the engine's page metrics.
    pub(crate) fn text(&self, pages: &PageMetrics) -> String {
        let mut text = String::new();
        metric(&mut text, "harvestman_info", "gauge", "Version of the server.");
        let _ = writeln!(
            text,
            "harvestman_info{{version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        );
        metric(
            &mut text,
            "harvestman_uptime_seconds",
            "gauge",
            "Seconds since the start.",
        );
        let _ = writeln!(
            text,
            "harvestman_uptime_seconds {}",
            self.started.elapsed().as_secs()
        );
        metric(
            &mut text,
            "harvestman_http_requests_total",
            "counter",
            "Completed requests by status.",
        );
        for (status, count) in &*self.responses.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(
                text,
                "harvestman_http_requests_total{{status=\"{status}\"}} {count}"
            );
        }
        metric(
            &mut text,
            "harvestman_http_connections",
            "gauge",
            "Open connections.",
        );
        let _ = writeln!(
            text,
            "harvestman_http_connections {}",
            self.connections_open.load(Ordering::Relaxed)
        );
        metric(
            &mut text,
            "harvestman_http_connections_refused_total",
            "counter",
            "Connections refused above the limit.",
        );
        let refused = self.connections_refused.load(Ordering::Relaxed);
        let _ = writeln!(text, "harvestman_http_connections_refused_total {refused}");
        metric(
            &mut text,
            "harvestman_live_viewers",
            "gauge",
            "Viewers of browser sessions.",
        );
        let viewers = self.viewers.load(Ordering::Relaxed);
        let _ = writeln!(text, "harvestman_live_viewers {viewers}");
        metric(
            &mut text,
            "harvestman_live_inputs_refused_total",
            "counter",
            "Inputs refused on read-only live views.",
        );
        let refused = self.inputs_refused.load(Ordering::Relaxed);
        let _ = writeln!(text, "harvestman_live_inputs_refused_total {refused}");
        write_pages(&mut text, pages);
        text
    }
}

fn write_pages(text: &mut String, pages: &PageMetrics) {
    let name = "harvestman_pages_total";
    metric(
        text,
        name,
        "counter",
        "Pages processed, by the way they were fetched.",
    );
    let _ = writeln!(text, "{name}{{via=\"http\"}} {}", pages.plain_total);
    let _ = writeln!(text, "{name}{{via=\"browser\"}} {}", pages.browser_total);
    let name = "harvestman_pages_in_flight";
    metric(
        text,
        name,
        "gauge",
        "Pages in flight, by the kind of slot they hold.",
    );
    let _ = writeln!(text, "{name}{{via=\"http\"}} {}", pages.plain_in_flight);
    let _ = writeln!(text, "{name}{{via=\"browser\"}} {}", pages.browser_in_flight);
    for (name, kind, help, value) in [
        (
            "harvestman_pages_waited_total",
            "counter",
            "Pages that waited for a slot.",
            pages.waited_total,
        ),
        (
            "harvestman_page_retries_total",
            "counter",
            "Attempts after the first for pages of jobs.",
            pages.retried_total,
        ),
        (
            "harvestman_conversions_waiting",
            "gauge",
            "Pages waiting for conversion.",
            pages.waiting_for_conversion,
        ),
    ] {
        metric(text, name, kind, help);
        let _ = writeln!(text, "{name} {value}");
    }
}

fn metric(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
