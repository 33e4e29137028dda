//! Metrics of this process, across all teams, for Prometheus. They never contain teams, keys or URLs.

use std::time::Instant;

use harvestman_core::crawl::SlotKind;
use harvestman_store::{JobKind, JobStatus, RunningJobs};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Labels with their values; never derived from what a client or a site sends.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// Upper bounds of the buckets of durations, in seconds.
pub const DURATION_BUCKETS: [f64; 13] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];

/// Values of the metrics that are read rather than counted.
#[derive(Debug)]
pub(crate) struct Gauges {
    pub(crate) pages_in_flight: [(SlotKind, usize); 2],
    pub(crate) conversions_waiting: usize,
    pub(crate) browser_processes: usize,
    pub(crate) browser_sessions: usize,
    /// `None` if the store does not respond.
    pub(crate) running: Option<Vec<RunningJobs>>,
}

/// Declares the metrics: for each its type, how it is created, its help text and its unit, if any.
macro_rules! metrics {
    ($($name:ident: $type:ty = $new:expr, $help:literal $(in $unit:ident)?;)+) => {
        /// The metrics of an engine. Clones share the same values.
        #[derive(Clone, Debug)]
        pub(crate) struct Metrics {
            $($name: $type,)+
        }

        impl Default for Metrics {
            fn default() -> Self {
                Self { $($name: $new,)+ }
            }
        }

        impl Metrics {
            pub(crate) fn register(&self, registry: &mut Registry) {
                $(metrics!(@register registry, $name, $help, self.$name.clone() $(, $unit)?);)+
            }
        }
    };
    (@register $registry:ident, $name:ident, $help:literal, $metric:expr) => {
        $registry.register(stringify!($name), $help, $metric)
    };
    (@register $registry:ident, $name:ident, $help:literal, $metric:expr, $unit:ident) => {
        $registry.register_with_unit(stringify!($name), $help, Unit::$unit, $metric)
    };
}

metrics! {
    pages: Family<Labels<2>, Counter> = Family::default(), "Attempts to fetch a page, by method and outcome";
    pages_waited: Counter = Counter::default(), "Pages that waited for a slot";
    page_retries: Counter = Counter::default(), "Retries of pages of jobs";
    pages_in_flight: Family<Labels<1>, Gauge> = Family::default(), "Pages in flight, by the kind of slot they hold";
    pages_queued: Family<Labels<1>, Gauge> = Family::default(),
        "Pages of running jobs without an outcome, in flight or waiting, by kind of job";
    jobs_running: Family<Labels<1>, Gauge> = Family::default(), "Running jobs by kind";
    database_up: Gauge = Gauge::default(),
        "Whether the database has responded; without it, jobs_running and pages_queued have no values";
    jobs_ended: Family<Labels<2>, Counter> = Family::default(), "Jobs that ended, by kind and final state";
    conversions_waiting: Gauge = Gauge::default(), "Pages waiting for conversion";
    browser_processes: Gauge = Gauge::default(), "Browser processes, including spare ones";
    browser_sessions: Gauge = Gauge::default(), "Open browser sessions";
    cache_lookups: Family<Labels<1>, Counter> = Family::default(), "Lookups in the page cache by result";
    webhook_deliveries: Family<Labels<1>, Counter> = Family::default(),
        "Attempts to deliver a webhook event by outcome";
    fetch_duration: Family<Labels<1>, Histogram, fn() -> Histogram> = Family::new_with_constructor(durations),
        "Time to fetch a page from its site, by method" in Seconds;
    conversion_duration: Histogram = durations(),
        "Time to convert a page, without the wait for a processor core" in Seconds;
}

fn durations() -> Histogram {
    Histogram::new(DURATION_BUCKETS)
}

impl Metrics {
    /// Counts an attempt at a page.
    pub(crate) fn count_page(&self, kind: SlotKind, completed: bool, waited: bool) {
        let outcome = if completed { "completed" } else { "failed" };
        self.pages
            .get_or_create(&[("via", via(kind)), ("outcome", outcome)])
            .inc();
        if waited {
            self.pages_waited.inc();
        }
    }

    /// Counts a retry of a page.
    pub(crate) fn count_retry(&self) {
        self.page_retries.inc();
    }

    /// Counts a job that ended in this process.
    pub(crate) fn count_job_end(&self, kind: JobKind, status: JobStatus) {
        self.jobs_ended
            .get_or_create(&[("kind", kind.as_str()), ("state", status.as_str())])
            .inc();
    }

    /// Counts a lookup in the page cache.
    pub(crate) fn count_cache_lookup(&self, found: bool) {
        let result = if found { "hit" } else { "miss" };
        self.cache_lookups.get_or_create(&[("result", result)]).inc();
    }

    /// Counts an attempt to deliver a webhook event.
    pub(crate) fn count_delivery(&self, outcome: &'static str) {
        self.webhook_deliveries
            .get_or_create(&[("outcome", outcome)])
            .inc();
    }

    /// Runs a fetch and measures its duration.
    pub(crate) async fn time_fetch<T>(&self, kind: SlotKind, fetch: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let result = fetch.await;
        self.fetch_duration
            .get_or_create(&[("via", via(kind))])
            .observe(started.elapsed().as_secs_f64());
        result
    }

    /// Runs a conversion and measures its duration.
    pub(crate) fn time_conversion<T>(&self, convert: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = convert();
        self.conversion_duration.observe(started.elapsed().as_secs_f64());
        result
    }

    /// Sets the metrics that are read rather than counted.
    pub(crate) fn set_gauges(&self, gauges: &Gauges) {
        for (kind, pages) in gauges.pages_in_flight {
            self.pages_in_flight
                .get_or_create(&[("via", via(kind))])
                .set(pages as i64);
        }
        self.conversions_waiting.set(gauges.conversions_waiting as i64);
        self.browser_processes.set(gauges.browser_processes as i64);
        self.browser_sessions.set(gauges.browser_sessions as i64);
        self.database_up.set(gauges.running.is_some().into());
        self.jobs_running.clear();
        self.pages_queued.clear();
        for jobs in gauges.running.iter().flatten() {
            let labels = [("kind", jobs.kind.as_str())];
            self.jobs_running.get_or_create(&labels).set(jobs.count as i64);
            self.pages_queued
                .get_or_create(&labels)
                .set(jobs.pending_pages as i64);
        }
    }
}

fn via(kind: SlotKind) -> &'static str {
    match kind {
        SlotKind::Plain => "http",
        SlotKind::Browser => "browser",
    }
}
