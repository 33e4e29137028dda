//! Traces and metrics for an OpenTelemetry collector: OTLP over HTTP with protobuf bodies. Nothing of this exists unless
//! the setting names an endpoint, and a collector that is down costs at most the memory of a bounded queue.
//!
//! [`spans`] exports the spans of `tracing`, [`metrics`] what `/metrics` shows.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use harvestman_fetch::{FetchRequest, Fetcher};
use opentelemetry::trace::TracerProvider;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider};
use prost::Message;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::registry::LookupSpan;
use url::Url;
use uuid::Uuid;

use crate::app::App;
use crate::config::CollectorHeaders;
use crate::limits;

mod metrics;
mod spans;

pub(crate) use spans::RequestSpan;

/// The connection to a collector, and the provider of tracers.
#[derive(Debug)]
pub(crate) struct Telemetry {
    collector: Collector,
    provider: SdkTracerProvider,
    started: SystemTime,
}

impl Telemetry {
    /// Prepares the export to the collector at this base URL, with these headers. Must be called in the runtime of the
    /// server.
    pub(crate) fn new(endpoint: &Url, headers: &CollectorHeaders, fetcher: Fetcher) -> Self {
        let collector = Collector {
            endpoint: endpoint.clone(),
            headers: headers.clone(),
            fetcher,
            runtime: Handle::current(),
            is_reachable: Arc::new(AtomicBool::new(true)),
        };
        let exporter = spans::Exporter {
            collector: collector.clone(),
            resource: resource(),
        };
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(limits::SPANS_WAITING)
            .with_max_export_batch_size(limits::SPANS_PER_EXPORT)
            .with_scheduled_delay(limits::SPAN_EXPORT_INTERVAL)
            .build();
        let processor = BatchSpanProcessor::builder(exporter)
            .with_batch_config(config)
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .build();
        Self {
            collector,
            provider,
            started: SystemTime::now(),
        }
    }

    /// Returns the layer that collects the spans of this program. Events stay in the log.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let tracer: SdkTracer = self.provider.tracer("harvestman");
        let is_own_span =
            filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("harvestman"));
        tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false)
            .with_filter(is_own_span.with_max_level_hint(LevelFilter::DEBUG))
    }

    /// Exports while the server is serving, and then what is left, for a bounded time.
    pub(crate) async fn export_during<T>(self, app: &App, serving: impl Future<Output = T>) -> T {
        let result = tokio::select! {
            result = serving => result,
            never = self.send_metrics_regularly(app) => match never {},
        };
        let _ = timeout(limits::TELEMETRY_STOP_TIME, self.send_metrics(app)).await;
        let provider = self.provider;
        let flush = move || provider.shutdown_with_timeout(limits::TELEMETRY_STOP_TIME);
        if !matches!(tokio::task::spawn_blocking(flush).await, Ok(Ok(()))) {
            tracing::debug!("the last spans were not sent");
        }
        result
    }

    async fn send_metrics_regularly(&self, app: &App) -> Infallible {
        loop {
            tokio::time::sleep(limits::METRICS_EXPORT_INTERVAL).await;
            self.send_metrics(app).await;
        }
    }

    async fn send_metrics(&self, app: &App) {
        app.engine().refresh_metrics().await;
        let request = metrics::request(&app.metrics().text(), resource(), self.started);
        let _ = self.collector.send("v1/metrics", request.encode_to_vec()).await;
    }
}

/// Sends to one collector, and logs when it becomes unreachable and reachable.
#[derive(Clone)]
pub(crate) struct Collector {
    endpoint: Url,
    headers: CollectorHeaders,
    fetcher: Fetcher,
    runtime: Handle,
    is_reachable: Arc<AtomicBool>,
}

impl Collector {
    /// Posts a message to a path below the endpoint. May be called outside of the runtime.
    async fn send(&self, path: &str, body: Vec<u8>) -> Result<(), String> {
        let mut url = self.endpoint.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        let own = ("Content-Type".to_owned(), "application/x-protobuf".to_owned());
        let request = FetchRequest {
            headers: self.headers.iter().chain([own]).collect(),
            max_body_bytes: limits::COLLECTOR_RESPONSE_BYTES,
            truncate: true,
            ..FetchRequest::post_json(
                url,
                Bytes::from(body),
                Instant::now() + limits::TELEMETRY_SEND_TIME,
            )
        };
        let fetcher = self.fetcher.clone();
        let sending = self.runtime.spawn(async move { fetcher.fetch(request).await });
        let sent = match sending.await {
            Ok(Ok(response)) if (200..300).contains(&response.status) => Ok(()),
            Ok(Ok(response)) => Err(format!("it returned status {}", response.status)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the server stops".to_owned()),
        };
        let was_reachable = self.is_reachable.swap(sent.is_ok(), Ordering::Relaxed);
        match &sent {
            Ok(()) if !was_reachable => tracing::info!("traces and metrics are exported again"),
            Err(error) if was_reachable => {
                tracing::warn!(%error, "cannot export traces and metrics; trying again without further notice");
            }
            _ => {}
        }
        sent
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Collector").field(&self.endpoint.as_str()).finish()
    }
}

/// Identifies this process.
fn resource() -> Resource {
    static INSTANCE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| Uuid::now_v7().to_string());
    let attributes = [
        ("service.name", "harvestman"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", INSTANCE.as_str()),
    ];
    Resource {
        attributes: attributes.map(|(key, value)| attribute(key, value)).into(),
        ..Resource::default()
    }
}

fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(Value::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "harvestman".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since_1970: Duration = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}
