//! The export of spans, and what a request adds to its span: names and attributes of the semantic conventions for HTTP.

use axum::http::{HeaderMap, StatusCode};
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{SpanKind, Status};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{Collector, scope};

/// Name of the span of a request, as `tracing` has it.
const REQUEST: &str = "request";
const ROUTE: &str = "http.route";
const METHOD: &str = "http.request.method";

/// Sends batches of spans. The processor calls it in a thread of its own.
#[derive(Debug)]
pub(super) struct Exporter {
    pub(super) collector: Collector,
    pub(super) resource: Resource,
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let request = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(self.resource.clone()),
                scope_spans: vec![ScopeSpans {
                    scope: Some(scope()),
                    spans: batch
                        .into_iter()
                        .map(|span| Span::from(with_conventions(span)))
                        .collect(),
                    ..ScopeSpans::default()
                }],
                ..ResourceSpans::default()
            }],
        };
        let sent = self.collector.send("v1/traces", request.encode_to_vec()).await;
        sent.map_err(OTelSdkError::InternalFailure)
    }
}

/// Gives a span of the log the names of the semantic conventions.
fn with_conventions(mut span: SpanData) -> SpanData {
    for attribute in &mut span.attributes {
        match attribute.key.as_str() {
            "method" => attribute.key = METHOD.into(),
            "path" => attribute.key = "url.path".into(),
            "error.type" => span.status = Status::error(""),
            _ => {}
        }
    }
    if span.name == REQUEST {
        let text = |key: &str| {
            let mut found = span
                .attributes
                .iter()
                .filter(|attribute| attribute.key.as_str() == key);
            found.next().map(|attribute| attribute.value.to_string())
        };
        let method = text(METHOD).unwrap_or_else(|| "HTTP".to_owned());
        span.name = match text(ROUTE) {
            Some(route) => format!("{method} {route}").into(),
            None => method.into(),
        };
        span.span_kind = SpanKind::Server;
    }
    span
}

/// The span of a request while it is handled.
pub(crate) struct RequestSpan(tracing::Span);

impl RequestSpan {
    /// Makes the caller's span (`traceparent`, W3C Trace Context) the parent. `route` is the pattern of the path.
    pub(crate) fn begin(span: tracing::Span, headers: &HeaderMap, route: Option<String>) -> Self {
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers));
        let _ = span.set_parent(parent);
        if let Some(route) = route {
            span.set_attribute(ROUTE, route);
        }
        Self(span)
    }

    /// Records the response.
    pub(crate) fn end(self, status: StatusCode) {
        self.0
            .set_attribute("http.response.status_code", i64::from(status.as_u16()));
        if status.is_server_error() {
            self.0.set_status(Status::error(""));
        }
    }
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}
