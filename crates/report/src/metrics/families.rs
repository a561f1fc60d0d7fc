//! What there is to tell at a moment, whichever way it is written down.

use super::Times;

/// The metrics of a moment.
#[derive(Debug, Default)]
pub struct Families(Vec<Family>);

/// Samples of one meaning.
#[derive(Debug)]
pub(super) struct Family {
    /// By the conventions of Prometheus: with the unit, and `_total` after that of a counter.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) kind: Kind,
    /// What it means, in a sentence.
    pub(super) help: &'static str,
    /// What differs by its labels.
    pub(super) samples: Vec<Sample>,
}

/// How a family's values are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What goes up and down.
    Gauge,
    /// What only grows.
    Counter,
    /// Times, each of which is counted in the bucket it falls in.
    Histogram,
}

/// A value, and what it is of.
#[derive(Debug)]
pub(super) struct Sample {
    /// Name and value of each label.
    pub(super) labels: Vec<(&'static str, String)>,
    /// What it is: times in a histogram, a number elsewhere.
    pub(super) value: Value,
}

/// The value of a sample.
#[derive(Debug)]
pub(super) enum Value {
    /// Of a gauge or a counter.
    Number(f64),
    /// Of a histogram.
    Times(Times),
}

impl Families {
    /// All of them, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Family> {
        self.0.iter()
    }

    /// Begins another one.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &'static str) -> &mut Family {
        let at = self.0.len();
        self.0.push(Family { name, kind, help, samples: Vec::new() });
        &mut self.0[at]
    }
}

impl Family {
    /// Adds a number.
    pub(super) fn number(&mut self, labels: &[(&'static str, &str)], value: f64) {
        self.add(labels, Value::Number(value));
    }

    /// Adds times.
    pub(super) fn times(&mut self, labels: &[(&'static str, &str)], times: Times) {
        self.add(labels, Value::Times(times));
    }

    fn add(&mut self, labels: &[(&'static str, &str)], value: Value) {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.samples.push(Sample { labels, value });
    }
}
