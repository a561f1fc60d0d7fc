//! The protobuf format of Prometheus, the one that has native histograms: messages of `io.prometheus.client`, each after
//! its length. Histograms have the classic buckets too; who reads them takes the kind that it is set to.

use prost::Message;

use super::{Exponential, Families, Family, Kind, SCHEMA, Sample, Times, Value};

/// What the messages are, as their content type.
pub const PROTOBUF_FORMAT: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// The messages, as far as they are written here: fields have the numbers of `metrics.proto`.
mod message {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct MetricFamily {
        #[prost(string, optional, tag = "1")]
        pub(super) name: Option<String>,
        #[prost(string, optional, tag = "2")]
        pub(super) help: Option<String>,
        #[prost(enumeration = "MetricType", optional, tag = "3")]
        pub(super) r#type: Option<i32>,
        #[prost(message, repeated, tag = "4")]
        pub(super) metric: Vec<Metric>,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
    pub(super) enum MetricType {
        Counter = 0,
        Gauge = 1,
        Histogram = 4,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Metric {
        #[prost(message, repeated, tag = "1")]
        pub(super) label: Vec<LabelPair>,
        #[prost(message, optional, tag = "2")]
        pub(super) gauge: Option<Number>,
        #[prost(message, optional, tag = "3")]
        pub(super) counter: Option<Number>,
        #[prost(message, optional, tag = "7")]
        pub(super) histogram: Option<Histogram>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct LabelPair {
        #[prost(string, optional, tag = "1")]
        pub(super) name: Option<String>,
        #[prost(string, optional, tag = "2")]
        pub(super) value: Option<String>,
    }

    /// Both `Gauge` and `Counter`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Number {
        #[prost(double, optional, tag = "1")]
        pub(super) value: Option<f64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Histogram {
        #[prost(uint64, optional, tag = "1")]
        pub(super) sample_count: Option<u64>,
        #[prost(double, optional, tag = "2")]
        pub(super) sample_sum: Option<f64>,
        #[prost(message, repeated, tag = "3")]
        pub(super) bucket: Vec<Bucket>,
        #[prost(sint32, optional, tag = "5")]
        pub(super) schema: Option<i32>,
        #[prost(double, optional, tag = "6")]
        pub(super) zero_threshold: Option<f64>,
        #[prost(uint64, optional, tag = "7")]
        pub(super) zero_count: Option<u64>,
        #[prost(message, repeated, tag = "12")]
        pub(super) positive_span: Vec<BucketSpan>,
        #[prost(sint64, repeated, tag = "13")]
        pub(super) positive_delta: Vec<i64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Bucket {
        #[prost(uint64, optional, tag = "1")]
        pub(super) cumulative_count: Option<u64>,
        #[prost(double, optional, tag = "2")]
        pub(super) upper_bound: Option<f64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct BucketSpan {
        #[prost(sint32, optional, tag = "1")]
        pub(super) offset: Option<i32>,
        #[prost(uint32, optional, tag = "2")]
        pub(super) length: Option<u32>,
    }
}

use message::{Bucket, BucketSpan, Histogram, LabelPair, Metric, MetricFamily, MetricType, Number};

impl Families {
    /// The families as messages, each after its length.
    #[must_use]
    pub fn protobuf(&self) -> Vec<u8> {
        self.iter().flat_map(|family| message_of(family).encode_length_delimited_to_vec()).collect()
    }
}

fn message_of(family: &Family) -> MetricFamily {
    let r#type = match family.kind {
        Kind::Gauge => MetricType::Gauge,
        Kind::Counter => MetricType::Counter,
        Kind::Histogram => MetricType::Histogram,
    };
    MetricFamily {
        name: Some(family.name.to_owned()),
        help: Some(family.help.to_owned()),
        r#type: Some(r#type.into()),
        metric: family.samples.iter().map(|sample| metric(sample, family.kind)).collect(),
    }
}

fn metric(sample: &Sample, kind: Kind) -> Metric {
    let label =
        |(name, value): &(&str, String)| LabelPair { name: Some((*name).to_owned()), value: Some(value.clone()) };
    let metric = Metric { label: sample.labels.iter().map(label).collect(), ..Metric::default() };
    match &sample.value {
        Value::Number(value) if kind == Kind::Counter => {
            Metric { counter: Some(Number { value: Some(*value) }), ..metric }
        }
        Value::Number(value) => Metric { gauge: Some(Number { value: Some(*value) }), ..metric },
        Value::Times(times) => Metric { histogram: Some(histogram(times)), ..metric },
    }
}

fn histogram(times: &Times) -> Histogram {
    let (first, counts) = times.exponential().counts();
    let (positive_span, positive_delta) = spans(first, counts);
    let bucket = |(edge, count)| Bucket { cumulative_count: Some(count), upper_bound: Some(edge) };
    Histogram {
        sample_count: Some(times.count()),
        sample_sum: Some(times.sum_seconds()),
        bucket: times.cumulative().map(bucket).collect(),
        schema: Some(SCHEMA),
        zero_threshold: Some(Exponential::ZERO_THRESHOLD),
        zero_count: Some(times.exponential().zero()),
        positive_span,
        positive_delta,
    }
}

/// A span more costs as much as some empty buckets.
const EMPTY_IN_A_SPAN: usize = 2;

/// Buckets that are not empty, in spans of neighbours, and how each count differs from the one before.
///
/// The first span's offset is the number of its first bucket; that of others is how many buckets are left out before
/// them. There is always a span, even of no bucket: by this it is known that the histogram is a native one.
fn spans(first: i32, counts: &[u64]) -> (Vec<BucketSpan>, Vec<i64>) {
    let mut spans = Vec::new();
    let mut deltas = Vec::new();
    let mut offset = first;
    let mut length = 0;
    let mut before = 0;
    let mut rest = counts;
    while let Some(count) = rest.first() {
        let empty = rest.iter().take_while(|count| **count == 0).count();
        if empty > EMPTY_IN_A_SPAN {
            spans.push(BucketSpan { offset: Some(offset), length: Some(length) });
            (offset, length) = (empty as i32, 0);
            rest = &rest[empty..];
            continue;
        }
        deltas.push(*count as i64 - before);
        (before, length) = (*count as i64, length + 1);
        rest = &rest[1..];
    }
    spans.push(BucketSpan { offset: Some(offset), length: Some(length) });
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The buckets that spans and differences stand for: number and count of those that are not empty.
    fn read(spans: &[BucketSpan], deltas: &[i64]) -> Vec<(i32, i64)> {
        let (mut at, mut count, mut deltas) = (0, 0, deltas.iter());
        let mut found = Vec::new();
        for span in spans {
            at += span.offset();
            for _ in 0..span.length() {
                count += deltas.next().expect("a difference for each bucket");
                found.push((at, count));
                at += 1;
            }
        }
        assert_eq!(deltas.next(), None);
        found.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn spans_leave_out_long_gaps_and_nothing_else() {
        let counts = [3, 0, 0, 5, 0, 0, 0, 0, 1, 1, 0, 7];
        let (spans, deltas) = spans(-9, &counts);
        assert_eq!(read(&spans, &deltas), [(-9, 3), (-6, 5), (-1, 1), (0, 1), (2, 7)]);
        assert_eq!(spans.len(), 2);
    }

    #[test]
    fn without_times_there_is_a_span_of_nothing() {
        assert_eq!(spans(0, &[]), (vec![BucketSpan { offset: Some(0), length: Some(0) }], Vec::new()));
    }
}
