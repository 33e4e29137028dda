//! Converts the text of `/metrics` to OTLP, with the same names and values: every counter and histogram is cumulative since
//! the start of the server.

use std::collections::BTreeMap;
use std::time::SystemTime;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::{attribute, nanoseconds, scope};

/// Builds the message from the OpenMetrics text.
pub(super) fn request(text: &str, resource: Resource, started: SystemTime) -> ExportMetricsServiceRequest {
    let times = (nanoseconds(started), nanoseconds(SystemTime::now()));
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope()),
                metrics: metrics(text, times),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

/// A sample of the text: its name, labels and value.
struct Sample<'a> {
    name: &'a str,
    labels: Vec<(&'a str, String)>,
    value: f64,
}

/// What the comments and samples of one metric say.
#[derive(Default)]
struct Family<'a> {
    name: &'a str,
    kind: &'a str,
    unit: &'a str,
    help: &'a str,
    samples: Vec<Sample<'a>>,
}

fn metrics(text: &str, times: (u64, u64)) -> Vec<Metric> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (Some(word), Some(name)) = (words.next(), words.next()) else {
                continue;
            };
            let rest = words.next().unwrap_or_default();
            if families.last().is_none_or(|family| family.name != name) {
                families.push(Family {
                    name,
                    ..Family::default()
                });
            }
            let Some(family) = families.last_mut() else {
                continue;
            };
            match word {
                "TYPE" => family.kind = rest,
                "UNIT" => family.unit = rest,
                "HELP" => family.help = rest,
                _ => {}
            }
        } else if let (Some(sample), Some(family)) = (sample(line), families.last_mut()) {
            family.samples.push(sample);
        }
    }
    let families = families.into_iter().filter(|family| !family.samples.is_empty());
    families.map(|family| metric(&family, times)).collect()
}

/// Parses `name{label="value",...} 1.5`.
fn sample(line: &str) -> Option<Sample<'_>> {
    let (head, value) = line.rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let Some((name, labels)) = head.split_once('{') else {
        return Some(Sample {
            name: head,
            labels: Vec::new(),
            value,
        });
    };
    let mut rest = labels.strip_suffix('}')?;
    let mut labels = Vec::new();
    while let Some((label, after)) = rest.split_once("=\"") {
        let (text, after) = read_quoted(after)?;
        labels.push((label, text));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    Some(Sample { name, labels, value })
}

/// Reads the text up to the closing quote, and returns what follows it.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

fn metric(family: &Family<'_>, times: (u64, u64)) -> Metric {
    let cumulative = AggregationTemporality::Cumulative as i32;
    let numbers = || {
        family
            .samples
            .iter()
            .map(|sample| number(sample, times))
            .collect()
    };
    let data = match family.kind {
        "counter" => Data::Sum(Sum {
            data_points: numbers(),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        "histogram" => Data::Histogram(Histogram {
            data_points: histograms(&family.samples, times),
            aggregation_temporality: cumulative,
        }),
        _ => Data::Gauge(Gauge {
            data_points: numbers(),
        }),
    };
    // A counter has the suffix `_total` and an info `_info`, which the comments leave out.
    let name = match family.kind {
        "histogram" => family.name,
        _ => family.samples[0].name,
    };
    Metric {
        name: name.to_owned(),
        description: family.help.trim_end_matches('.').to_owned(),
        unit: match family.unit {
            "seconds" => "s",
            other => other,
        }
        .to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn attributes<'a>(labels: impl Iterator<Item = &'a (&'a str, String)>) -> Vec<KeyValue> {
    labels.map(|(name, value)| attribute(name, value)).collect()
}

fn number(sample: &Sample<'_>, (started, now): (u64, u64)) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(sample.labels.iter()),
        start_time_unix_nano: started,
        time_unix_nano: now,
        value: Some(match sample.value.fract() == 0.0 && sample.value.abs() < 9e15 {
            true => Value::AsInt(sample.value as i64),
            false => Value::AsDouble(sample.value),
        }),
        ..NumberDataPoint::default()
    }
}

/// Collects the buckets of each set of labels. Those of the text include the smaller ones, those of OTLP do not.
fn histograms(samples: &[Sample<'_>], (started, now): (u64, u64)) -> Vec<HistogramDataPoint> {
    let mut points: BTreeMap<String, HistogramDataPoint> = BTreeMap::new();
    let mut below: BTreeMap<String, u64> = BTreeMap::new();
    for sample in samples {
        let labels = || sample.labels.iter().filter(|(name, _)| *name != "le");
        let key = format!("{:?}", labels().collect::<Vec<_>>());
        let point = points.entry(key.clone()).or_insert_with(|| HistogramDataPoint {
            attributes: attributes(labels()),
            start_time_unix_nano: started,
            time_unix_nano: now,
            ..HistogramDataPoint::default()
        });
        if sample.name.ends_with("_sum") {
            point.sum = Some(sample.value);
        } else if sample.name.ends_with("_count") {
            point.count = sample.value as u64;
        } else if let Some((_, bound)) = sample.labels.iter().find(|(name, _)| *name == "le") {
            let cumulative = sample.value as u64;
            let below = below.entry(key).or_default();
            point.bucket_counts.push(cumulative.saturating_sub(*below));
            *below = cumulative;
            if let Some(bound) = bound.parse::<f64>().ok().filter(|bound| bound.is_finite()) {
                point.explicit_bounds.push(bound);
            }
        }
    }
    points.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# HELP harvestman_build Version of the server.
# TYPE harvestman_build info
harvestman_build_info{version=\"0.1.0\"} 1
# HELP harvestman_pages Attempts.
# TYPE harvestman_pages counter
harvestman_pages_total{via=\"http\",outcome=\"completed\"} 7
harvestman_pages_total{via=\"http\",outcome=\"a \\\"b\\\"\"} 2
# HELP harvestman_viewers Viewers.
# TYPE harvestman_viewers gauge
harvestman_viewers 0
# HELP harvestman_empty Nothing yet.
# TYPE harvestman_empty counter
# HELP harvestman_wait_seconds Time.
# TYPE harvestman_wait_seconds histogram
# UNIT harvestman_wait_seconds seconds
harvestman_wait_seconds_sum{via=\"http\"} 1.5
harvestman_wait_seconds_count{via=\"http\"} 3
harvestman_wait_seconds_bucket{le=\"0.1\",via=\"http\"} 1
harvestman_wait_seconds_bucket{le=\"1.0\",via=\"http\"} 3
harvestman_wait_seconds_bucket{le=\"+Inf\",via=\"http\"} 3
# EOF
";

    #[test]
    fn every_kind_keeps_its_name_and_values() {
        let metrics = metrics(TEXT, (1, 2));
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "harvestman_build_info", "harvestman_pages_total", "harvestman_viewers",
                "harvestman_wait_seconds"
            ]
        );
        let Some(Data::Sum(pages)) = &metrics[1].data else {
            panic!("{:?}", metrics[1])
        };
        assert!(pages.is_monotonic && pages.aggregation_temporality == 2);
        assert_eq!(pages.data_points[0].value, Some(Value::AsInt(7)));
        assert_eq!(
            pages.data_points[1].attributes[1],
            attribute("outcome", "a \"b\"")
        );
        let Some(Data::Histogram(wait)) = &metrics[3].data else {
            panic!("{:?}", metrics[3])
        };
        let point = &wait.data_points[0];
        assert_eq!((point.count, point.sum), (3, Some(1.5)));
        assert_eq!(point.bucket_counts, [1, 2, 0]);
        assert_eq!(point.explicit_bounds, [0.1, 1.0]);
        assert_eq!(point.attributes, [attribute("via", "http")]);
        assert_eq!(metrics[3].unit, "s");
    }
}
