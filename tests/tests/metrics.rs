//! The metrics of a server after some work, read with a parser of the text format of Prometheus.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use harvestman_tests::{Page, Receiver, Site, TestServer};
use prometheus_parse::{HistogramCount, Sample, Scrape, Value};
use serde_json::json;

struct Metrics(Vec<Sample>);

impl Metrics {
    async fn of(server: &TestServer) -> Metrics {
        let response = server.get("/metrics").await;
        assert_eq!(response.status, 200);
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        assert!(text.ends_with("# EOF\n"), "{text}");
        Metrics(
            Scrape::parse(text.lines().map(|line| Ok(line.to_owned())))
                .unwrap()
                .samples,
        )
    }

    fn sample(&self, name: &str, labels: &[(&str, &str)]) -> &Sample {
        let fits = |sample: &&Sample| {
            sample.metric == name
                && labels
                    .iter()
                    .all(|(label, value)| sample.labels.get(label) == Some(value))
        };
        let found = self.0.iter().find(fits);
        found.unwrap_or_else(|| panic!("no {name} with {labels:?} in {:#?}", self.0))
    }

    fn number(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        match self.sample(name, labels).value {
            Value::Counter(number) | Value::Gauge(number) | Value::Untyped(number) => number,
            ref other => panic!("{name} is {other:?}"),
        }
    }

    /// Returns the number of observations, and checks that the buckets are cumulative.
    fn observations(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let Value::Histogram(buckets) = &self.sample(name, labels).value else {
            panic!("{name} is not a histogram");
        };
        assert!(
            buckets.is_sorted_by(|a: &HistogramCount, b| a.less_than < b.less_than && a.count <= b.count)
        );
        let last = buckets.last().unwrap();
        assert_eq!(last.less_than, f64::INFINITY);
        assert_eq!(last.count, self.number(&format!("{name}_count"), labels));
        assert!(self.number(&format!("{name}_sum"), labels) >= 0.0);
        last.count
    }
}

#[tokio::test]
async fn a_crawl_is_counted_in_every_metric_that_it_concerns() {
    let receiver = Receiver::start().await;
    let site = Site::new()
        .page("/", Page::links("Start", &["/a", "/loop"]))
        .page("/a", Page::links("A", &[]))
        .page("/loop", Page::redirect(302, "/loop"))
        .serve()
        .await;
    let server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip", "webhook": receiver.url() }))
        .await;
    server.wait(&id).await;
    for _ in 0..2 {
        let request = json!({ "url": site.url("/a"), "maxAge": 3_600_000 });
        server.post("/v2/scrape", &request).await.ok();
    }
    server.get("/v2/nowhere").await;

    let metrics = Metrics::of(&server).await;
    let completed = [("via", "http"), ("outcome", "completed")];
    assert_eq!(metrics.number("harvestman_pages_total", &completed), 4.0);
    let failed = [("via", "http"), ("outcome", "failed")];
    assert!(metrics.number("harvestman_pages_total", &failed) >= 1.0);
    let ended = |kind| {
        metrics.number(
            "harvestman_jobs_ended_total",
            &[("kind", kind), ("state", "completed")],
        )
    };
    assert_eq!((ended("crawl"), ended("scrape")), (1.0, 2.0));
    for via in ["http", "browser"] {
        assert_eq!(metrics.number("harvestman_pages_in_flight", &[("via", via)]), 0.0);
    }
    assert_eq!(metrics.number("harvestman_browser_processes", &[]), 0.0);
    assert_eq!(metrics.number("harvestman_browser_sessions", &[]), 0.0);
    assert!(metrics.number("harvestman_cache_lookups_total", &[("result", "hit")]) >= 1.0);
    let delivered = [("outcome", "delivered")];
    assert!(metrics.number("harvestman_webhook_deliveries_total", &delivered) >= 1.0);
    assert!(metrics.observations("harvestman_fetch_duration_seconds", &[("via", "http")]) >= 3.0);
    assert!(metrics.observations("harvestman_conversion_duration_seconds", &[]) >= 4.0);
    let route = |route| metrics.observations("harvestman_http_request_duration_seconds", &[("route", route)]);
    assert_eq!(
        (route("/v2/crawl"), route("/v2/scrape"), route("unmatched")),
        (1.0, 2.0, 1.0)
    );
    assert!(route("/v2/crawl/:id") >= 1.0);
    assert!(metrics.number("harvestman_http_requests_total", &[("status", "200")]) >= 4.0);
    assert!(metrics.number("harvestman_start_time_seconds", &[]) > 1_700_000_000.0);
    metrics.sample("harvestman_build_info", &[("version", env!("CARGO_PKG_VERSION"))]);
    for sample in &metrics.0 {
        let values = format!("{:?}", sample.labels);
        assert!(!values.contains("127.0.0.1") && !values.contains(&id), "{values}");
    }
}

#[tokio::test]
async fn a_running_job_and_its_pages_are_counted_until_it_is_cancelled() {
    let site = Site::new()
        .page("/", Page::links("Start", &["/a"]).delay(Duration::from_secs(60)))
        .serve()
        .await;
    let server = TestServer::start().await;
    let urls = [site.url("/"), site.url("/2")];
    let batch = server.batch(&json!({ "urls": urls, "maxConcurrency": 1 })).await;
    site.wait_for_requests(1).await;
    let running = [("kind", "batch_scrape")];
    let metrics = Metrics::of(&server).await;
    assert_eq!(metrics.number("harvestman_jobs_running", &running), 1.0);
    assert_eq!(metrics.number("harvestman_pages_queued", &running), 2.0);
    server.delete(&batch).await.ok();
    for _ in 0..400 {
        let ended = Metrics::of(&server).await;
        let is_cancelled = |sample: &Sample| {
            sample.metric == "harvestman_jobs_ended_total" && sample.labels.get("state") == Some("cancelled")
        };
        let is_running = |sample: &Sample| sample.metric == "harvestman_jobs_running";
        if ended.0.iter().any(is_cancelled) && !ended.0.iter().any(is_running) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the cancelled job is not counted:\n{}", server.log());
}
