//! Metrics as OpenTelemetry's protocol (OTLP) has them: one message of all that there is to tell, counted from the start
//! of the run.
//!
//! Names are those of Prometheus without the unit and the suffix of a counter, which have fields of their own here: a
//! Prometheus that takes in OTLP puts them back.

use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;

use super::{Exponential, Families, Family, Kind, SCHEMA, Sample, Times, Value};

/// The messages, as far as they are written here: fields have the names and numbers of OTLP 1.
#[allow(missing_docs, reason = "they are those of OTLP's own definition")]
pub mod message {
    use prost::{Enumeration, Message, Oneof};

    #[derive(Clone, PartialEq, Message)]
    pub struct ExportMetricsServiceRequest {
        #[prost(message, repeated, tag = "1")]
        pub resource_metrics: Vec<ResourceMetrics>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct ExportMetricsServiceResponse {
        #[prost(message, optional, tag = "1")]
        pub partial_success: Option<PartialSuccess>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct PartialSuccess {
        #[prost(int64, tag = "1")]
        pub rejected_data_points: i64,
        #[prost(string, tag = "2")]
        pub error_message: String,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct ResourceMetrics {
        #[prost(message, optional, tag = "1")]
        pub resource: Option<Resource>,
        #[prost(message, repeated, tag = "2")]
        pub scope_metrics: Vec<ScopeMetrics>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct Resource {
        #[prost(message, repeated, tag = "1")]
        pub attributes: Vec<KeyValue>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct KeyValue {
        #[prost(string, tag = "1")]
        pub key: String,
        #[prost(message, optional, tag = "2")]
        pub value: Option<AnyValue>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct AnyValue {
        #[prost(string, optional, tag = "1")]
        pub string_value: Option<String>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct ScopeMetrics {
        #[prost(message, optional, tag = "1")]
        pub scope: Option<InstrumentationScope>,
        #[prost(message, repeated, tag = "2")]
        pub metrics: Vec<Metric>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct InstrumentationScope {
        #[prost(string, tag = "1")]
        pub name: String,
        #[prost(string, tag = "2")]
        pub version: String,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct Metric {
        #[prost(string, tag = "1")]
        pub name: String,
        #[prost(string, tag = "2")]
        pub description: String,
        #[prost(string, tag = "3")]
        pub unit: String,
        #[prost(oneof = "Data", tags = "5, 7, 10")]
        pub data: Option<Data>,
    }

    #[derive(Clone, PartialEq, Oneof)]
    pub enum Data {
        #[prost(message, tag = "5")]
        Gauge(Gauge),
        #[prost(message, tag = "7")]
        Sum(Sum),
        #[prost(message, tag = "10")]
        ExponentialHistogram(ExponentialHistogram),
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct Gauge {
        #[prost(message, repeated, tag = "1")]
        pub data_points: Vec<NumberDataPoint>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct Sum {
        #[prost(message, repeated, tag = "1")]
        pub data_points: Vec<NumberDataPoint>,
        #[prost(enumeration = "AggregationTemporality", tag = "2")]
        pub aggregation_temporality: i32,
        #[prost(bool, tag = "3")]
        pub is_monotonic: bool,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct ExponentialHistogram {
        #[prost(message, repeated, tag = "1")]
        pub data_points: Vec<ExponentialHistogramDataPoint>,
        #[prost(enumeration = "AggregationTemporality", tag = "2")]
        pub aggregation_temporality: i32,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
    pub enum AggregationTemporality {
        Unspecified = 0,
        Cumulative = 2,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct NumberDataPoint {
        #[prost(fixed64, tag = "2")]
        pub start_time_unix_nano: u64,
        #[prost(fixed64, tag = "3")]
        pub time_unix_nano: u64,
        #[prost(double, optional, tag = "4")]
        pub as_double: Option<f64>,
        #[prost(message, repeated, tag = "7")]
        pub attributes: Vec<KeyValue>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct ExponentialHistogramDataPoint {
        #[prost(message, repeated, tag = "1")]
        pub attributes: Vec<KeyValue>,
        #[prost(fixed64, tag = "2")]
        pub start_time_unix_nano: u64,
        #[prost(fixed64, tag = "3")]
        pub time_unix_nano: u64,
        #[prost(fixed64, tag = "4")]
        pub count: u64,
        #[prost(double, optional, tag = "5")]
        pub sum: Option<f64>,
        #[prost(sint32, tag = "6")]
        pub scale: i32,
        #[prost(fixed64, tag = "7")]
        pub zero_count: u64,
        #[prost(message, optional, tag = "8")]
        pub positive: Option<Buckets>,
        #[prost(double, tag = "14")]
        pub zero_threshold: f64,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct Buckets {
        #[prost(sint32, tag = "1")]
        pub offset: i32,
        #[prost(uint64, repeated, tag = "2")]
        pub bucket_counts: Vec<u64>,
    }
}

use message::{
    AggregationTemporality, AnyValue, Buckets, Data, ExponentialHistogram, ExponentialHistogramDataPoint,
    ExportMetricsServiceRequest, Gauge, InstrumentationScope, KeyValue, Metric, NumberDataPoint, Resource,
    ResourceMetrics, ScopeMetrics, Sum,
};

/// Between which moments counters count.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
}

impl Families {
    /// The families as a request to export them: of what they are, and counted between which moments.
    #[must_use]
    pub fn otlp(&self, resource: &[(&str, String)], start: SystemTime, end: SystemTime) -> Vec<u8> {
        let nanos = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let span = Span { start: nanos(start), end: nanos(end) };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let metrics = ScopeMetrics {
            scope: Some(InstrumentationScope { name: "weighbridge".to_owned(), version }),
            metrics: self.iter().map(|family| metric(family, span)).collect(),
        };
        let resource = Resource { attributes: attributes(resource) };
        let all = ResourceMetrics { resource: Some(resource), scope_metrics: vec![metrics] };
        ExportMetricsServiceRequest { resource_metrics: vec![all] }.encode_to_vec()
    }
}

fn metric(family: &Family, span: Span) -> Metric {
    let (name, unit) = name_and_unit(family.name);
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    let numbers = || family.samples.iter().filter_map(|sample| number(sample, span)).collect();
    let data = match family.kind {
        Kind::Gauge => Data::Gauge(Gauge { data_points: numbers() }),
        Kind::Counter => Data::Sum(Sum { data_points: numbers(), aggregation_temporality, is_monotonic: true }),
        Kind::Histogram => {
            let data_points = family.samples.iter().filter_map(|sample| histogram(sample, span)).collect();
            Data::ExponentialHistogram(ExponentialHistogram { data_points, aggregation_temporality })
        }
    };
    Metric { name, description: family.help.to_owned(), unit: unit.to_owned(), data: Some(data) }
}

/// The name with its first word as a namespace, and the unit that it ended in.
fn name_and_unit(name: &str) -> (String, &'static str) {
    let name = name.strip_suffix("_total").unwrap_or(name);
    let units = [("_seconds", "s"), ("_bytes", "By")];
    let found = units.into_iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, unit)));
    let (name, unit) = found.unwrap_or((name, ""));
    (name.replacen('_', ".", 1), unit)
}

fn number(sample: &Sample, span: Span) -> Option<NumberDataPoint> {
    let Value::Number(value) = sample.value else { return None };
    Some(NumberDataPoint {
        start_time_unix_nano: span.start,
        time_unix_nano: span.end,
        as_double: Some(value),
        attributes: attributes(&sample.labels),
    })
}

fn histogram(sample: &Sample, span: Span) -> Option<ExponentialHistogramDataPoint> {
    let Value::Times(times) = &sample.value else { return None };
    Some(ExponentialHistogramDataPoint {
        attributes: attributes(&sample.labels),
        start_time_unix_nano: span.start,
        time_unix_nano: span.end,
        count: times.count(),
        sum: Some(times.sum_seconds()),
        scale: SCHEMA,
        zero_count: times.exponential().zero(),
        positive: Some(buckets(times)),
        zero_threshold: Exponential::ZERO_THRESHOLD,
    })
}

/// A bucket is numbered by its lower edge here.
fn buckets(times: &Times) -> Buckets {
    let (first, counts) = times.exponential().counts();
    Buckets { offset: first - 1, bucket_counts: counts.to_vec() }
}

fn attributes(of: &[(&str, String)]) -> Vec<KeyValue> {
    let attribute = |(name, value): &(&str, String)| KeyValue {
        key: (*name).to_owned(),
        value: Some(AnyValue { string_value: Some(value.clone()) }),
    };
    of.iter().map(attribute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_suffixes_have_fields_of_their_own() {
        let found = ["weighbridge_transaction_response_seconds", "process_cpu_seconds_total", "weighbridge_warehouses"];
        let expected =
            [("weighbridge.transaction_response", "s"), ("process.cpu", "s"), ("weighbridge.warehouses", "")];
        assert_eq!(found.map(name_and_unit), expected.map(|(name, unit)| (name.to_owned(), unit)));
    }

    #[test]
    fn times_lie_in_the_buckets_that_their_numbers_say() {
        let mut times = Times::default();
        // Powers of two, each the upper edge of its bucket; and less than a microsecond.
        for (us, count) in [(0, 1), (500_000, 1), (1_000_000, 2), (2_000_000, 1)] {
            times.exponential.add(us, count);
        }
        let sample = Sample { labels: Vec::new(), value: Value::Times(times) };
        let point = histogram(&sample, Span { start: 1, end: 2 }).unwrap_or_default();
        assert_eq!((point.zero_count, point.scale), (1, 4));
        let Buckets { offset, bucket_counts } = point.positive.unwrap_or_default();
        // By OTLP's definition number i holds what is above base^i and not above base^(i+1), with base = 2^(2^-scale).
        let base = 2f64.powf(2f64.powi(-point.scale));
        let full = bucket_counts.iter().zip(offset..).filter(|(count, _)| **count > 0);
        let found: Vec<(i32, f64, u64)> = full.map(|(count, i)| (i, base.powi(i + 1), *count)).collect();
        assert_eq!(found.iter().map(|(i, _, count)| (*i, *count)).collect::<Vec<_>>(), [(-17, 1), (-1, 2), (15, 1)]);
        for ((_, edge, _), seconds) in found.iter().zip([0.5, 1.0, 2.0]) {
            assert!((edge / seconds - 1.0).abs() < 1e-9, "{edge} for {seconds}");
        }
    }
}
