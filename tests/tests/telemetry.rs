//! Traces and metrics as a collector receives them.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::time::Instant;

use harvestman_tests::receiver::{Delivery, Reply};
use harvestman_tests::server::KEY;
use harvestman_tests::{Page, Receiver, Site, TestServer};
use http::Method;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message;
use serde_json::json;

fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match &found.value {
        Some(AnyValue {
            value: Some(Value::StringValue(text)),
        }) => Some(text.clone()),
        Some(AnyValue {
            value: Some(Value::IntValue(number)),
        }) => Some(number.to_string()),
        other => panic!("{key} is {other:?}"),
    }
}

fn assert_names_the_server(resource: Option<&Resource>) {
    let attributes = &resource.unwrap().attributes;
    assert_eq!(
        attribute(attributes, "service.name").as_deref(),
        Some("harvestman")
    );
    for key in ["service.version", "service.instance.id"] {
        assert!(attribute(attributes, key).is_some(), "{key}");
    }
}

fn of_path<'d>(deliveries: &'d [Delivery], path: &str) -> impl Iterator<Item = &'d Delivery> {
    deliveries.iter().filter(move |delivery| delivery.path == path)
}

fn spans(deliveries: &[Delivery]) -> Vec<Span> {
    let mut spans = Vec::new();
    for delivery in of_path(deliveries, "/hook/v1/traces") {
        assert_eq!(delivery.header("content-type"), "application/x-protobuf");
        let export = ExportTraceServiceRequest::decode(delivery.body.clone()).unwrap();
        for part in export.resource_spans {
            assert_names_the_server(part.resource.as_ref());
            spans.extend(part.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    spans
}

/// Returns the metrics of the last export.
fn metrics(deliveries: &[Delivery]) -> Vec<Metric> {
    let last = of_path(deliveries, "/hook/v1/metrics").last().unwrap();
    let export = ExportMetricsServiceRequest::decode(last.body.clone()).unwrap();
    let parts = export.resource_metrics.into_iter();
    let scopes = parts.flat_map(|part| {
        assert_names_the_server(part.resource.as_ref());
        part.scope_metrics
    });
    scopes.flat_map(|scope| scope.metrics).collect()
}

#[tokio::test]
async fn requests_and_pages_are_traced_and_the_metrics_exported() {
    let collector = Receiver::start().await;
    let site = Site::new()
        .page("/", Page::links("Home", &["/a?token=s3cret"]))
        .page(
            "/a?token=s3cret",
            Page::html("<title>A</title><p>Text of the page"),
        )
        .serve()
        .await;
    let settings = [
        ("HARVESTMAN_OTLP_ENDPOINT", collector.url()),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "api-key=k%2Cs3cret, X-Scope = a=b".to_owned(),
        ),
        ("HARVESTMAN_ALLOW_ZERO_DATA_RETENTION", "1".to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut server = TestServer::start_with(&settings).await;
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let body = json!({ "url": site.url("/"), "maxAge": 0 }).to_string();
    let key = format!("Bearer {KEY}");
    let headers = [("traceparent", parent.as_str()), ("authorization", &key)];
    let scraped = server.send(Method::POST, "/v2/scrape", &headers, body).await;
    assert_eq!(scraped.status, 200);
    let missing = json!({ "url": "http://127.0.0.1:9/gone" });
    server.post("/v2/scrape", &missing).await;
    let unkept = json!({ "url": site.url("/unkept"), "zeroDataRetention": true });
    server.post("/v2/scrape", &unkept).await.ok();
    let crawl = json!({ "url": site.url("/"), "sitemap": "skip" });
    server.wait(&server.crawl(&crawl).await).await;
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    let mut runs = Vec::new();
    for (kind, url) in [
        ("extract", site.url("/")),
        ("agent", site.url("/")),
        ("extract", "http://127.0.0.1:9/gone".to_owned()),
    ] {
        let request = json!({ "urls": [url], "prompt": "hush the title", "schema": schema });
        let started = server.post(&format!("/v2/{kind}"), &request).await.ok();
        let id = started["id"].as_str().unwrap().to_owned();
        server.wait_for_end(&format!("/v2/{kind}/{id}")).await;
        runs.push((kind, id));
    }
    server.terminate().await;

    let deliveries = collector.deliveries();
    let spans = spans(&deliveries);
    let scrape = spans
        .iter()
        .find(|span| span.name == "POST /v2/scrape")
        .unwrap_or_else(|| panic!("{spans:#?}"));
    assert_eq!(scrape.kind(), SpanKind::Server);
    assert_eq!(hex::encode(&scrape.trace_id), trace);
    assert_eq!(hex::encode(&scrape.parent_span_id), "b7ad6b7169203331");
    for (key, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/v2/scrape"),
        ("url.path", "/v2/scrape"),
        ("http.response.status_code", "200"),
    ] {
        assert_eq!(attribute(&scrape.attributes, key).as_deref(), Some(value));
    }
    let pages: Vec<&Span> = spans.iter().filter(|span| span.name == "page").collect();
    let paths: BTreeSet<_> = pages
        .iter()
        .filter_map(|page| attribute(&page.attributes, "url.path"))
        .collect();
    assert_eq!(paths, BTreeSet::from(["/", "/a", "/gone"].map(str::to_owned)));
    for page in &pages {
        let failed = attribute(&page.attributes, "error.type").is_some();
        assert_eq!(
            page.status
                .as_ref()
                .is_some_and(|status| status.code() == StatusCode::Error),
            failed
        );
        assert_eq!(
            failed,
            attribute(&page.attributes, "url.path").as_deref() == Some("/gone")
        );
    }
    let scraped = pages
        .iter()
        .find(|page| page.trace_id == scrape.trace_id)
        .unwrap();
    assert_eq!(
        attribute(&scraped.attributes, "http.response.status_code").as_deref(),
        Some("200")
    );
    let crawl = spans.iter().find(|span| span.name == "crawl").unwrap();
    let crawled = pages.iter().filter(|page| page.trace_id == crawl.trace_id);
    assert_eq!(crawled.count(), 2);
    for (at, (kind, id)) in runs.iter().enumerate() {
        let has_id = |span: &&Span| attribute(&span.attributes, "job.id").as_ref() == Some(id);
        let run = spans.iter().find(has_id).unwrap();
        assert_eq!(run.name, *kind);
        let pages = pages.iter().filter(|page| page.trace_id == run.trace_id);
        assert!(pages.clone().all(|page| page.parent_span_id == run.span_id));
        assert_eq!(pages.count(), 1, "{run:?}");
        let failed = attribute(&run.attributes, "error.type").is_some();
        assert_eq!(failed, at == 2, "{run:?}");
    }
    let text = format!("{spans:?}");
    for hidden in ["s3cret", "unkept", "hush"] {
        assert!(!text.contains(hidden), "{text}");
    }
    for delivery in &deliveries {
        assert_eq!(delivery.header("api-key"), "k,s3cret");
        assert_eq!(delivery.header("x-scope"), "a=b");
    }
    assert!(!server.log().contains("s3cret"), "{}", server.log());

    let metrics = metrics(&deliveries);
    let named = |name: &str| {
        let found = metrics.iter().find(|metric| metric.name == name);
        found.unwrap_or_else(|| panic!("no {name} in {metrics:#?}"))
    };
    let Some(Data::Sum(pages)) = &named("harvestman_pages_total").data else {
        panic!("not a counter");
    };
    assert!(pages.is_monotonic && !pages.data_points.is_empty());
    let Some(Data::Histogram(_)) = &named("harvestman_fetch_duration_seconds").data else {
        panic!("not a histogram");
    };
}

#[tokio::test]
async fn a_collector_that_fails_or_hangs_neither_slows_nor_stops_the_server() {
    let site = Site::new().page("/", Page::links("Home", &[])).serve().await;
    for reply in [|| Reply::Status(503), || Reply::Held] {
        let collector = Receiver::replying(move |_| reply()).await;
        let mut server = TestServer::start_with(&[("HARVESTMAN_OTLP_ENDPOINT", &collector.url())]).await;
        for _ in 0..20 {
            let request = json!({ "url": site.url("/"), "maxAge": 0, "timeout": 5000 });
            server.post("/v2/scrape", &request).await.ok();
        }
        let stopping = Instant::now();
        assert!(server.terminate().await.success());
        assert!(stopping.elapsed().as_secs() < 30, "{:?}", stopping.elapsed());
        let warnings = server.log().matches("cannot export traces and metrics").count();
        assert!(warnings <= 1, "{}", server.log());
    }
}

#[tokio::test]
async fn an_endpoint_that_is_no_url_is_rejected() {
    for endpoint in [
        "collector",
        "grpc://127.0.0.1:4317",
        "http://user:word@127.0.0.1:4318",
    ] {
        let started = TestServer::try_start_with(&[("HARVESTMAN_OTLP_ENDPOINT", endpoint)]).await;
        let Err(error) = started else { panic!("{endpoint}") };
        let text = format!("{error:#}");
        assert!(text.contains("HARVESTMAN_OTLP_ENDPOINT"), "{text}");
        assert!(!text.contains("word@"), "{text}");
    }
}

#[tokio::test]
async fn headers_for_the_collector_that_are_malformed_are_rejected() {
    for (headers, why) in [
        ("hush", "entry 1 has no `=`"),
        ("a=hush,", "entry 2 has no `=`"),
        ("a b=hush", "no valid header name"),
        (
            "a=hush,b=100%",
            "entry 2 has a `%` without two hexadecimal digits",
        ),
        ("a=hush%ff", "not UTF-8"),
        ("a=hush%0a", "not allowed in a header"),
        ("Content-Type=hush", "the server sets itself"),
    ] {
        let started = TestServer::try_start_with(&[("OTEL_EXPORTER_OTLP_HEADERS", headers)]).await;
        let Err(error) = started else { panic!("{headers}") };
        let text = format!("{error:#}");
        assert!(
            text.contains("OTEL_EXPORTER_OTLP_HEADERS") && text.contains(why),
            "{text}"
        );
        assert!(!text.contains("hush"), "{text}");
    }
}
