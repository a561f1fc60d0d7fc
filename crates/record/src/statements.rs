//! Where the time of a transaction goes: its statements, where a run was asked to time them.
//!
//! Only transactions that were completed inside the measurement interval count, with all that their attempts took.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, Stats};
use crate::latency_log::{Histograms, statement_tag};
use crate::plan::TransactionRule;

/// A part of a transaction: a statement, a flight of several, COMMIT or ROLLBACK. Exact sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartTime {
    /// How often it was sent.
    pub calls: u64,
    /// Its time in all calls, microseconds, each cut to whole ones.
    pub total_us: u64,
}

/// The time of one transaction type, as far as its statements were timed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatementTimes {
    /// Transactions whose statements were timed.
    pub transactions: u64,
    /// Their time with the database, microseconds.
    pub service_us: u64,
    /// Their parts, by name.
    pub parts: BTreeMap<Cow<'static, str>, PartTime>,
}

impl StatementTimes {
    /// Adds the sums of `other`.
    pub fn merge(&mut self, other: &StatementTimes) {
        self.transactions += other.transactions;
        self.service_us += other.service_us;
        for (name, theirs) in &other.parts {
            let mine = self.parts.entry(name.clone()).or_default();
            mine.calls += theirs.calls;
            mine.total_us += theirs.total_us;
        }
    }
}

/// Adds lists in the order of the plan; one that is empty stands for nothing timed.
pub(crate) fn merge_all(mine: &mut Vec<StatementTimes>, theirs: &[StatementTimes]) {
    if mine.is_empty() {
        *mine = theirs.to_vec();
    } else {
        mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

/// What one thread records of one transaction type's statements between two swaps.
#[derive(Debug, Clone, Default)]
pub struct StatementRecorder {
    times: StatementTimes,
    histograms: BTreeMap<Cow<'static, str>, Histogram<u32>>,
}

impl StatementRecorder {
    /// Records a completed transaction: its time with the database, and its parts with the time of each, microseconds.
    pub fn transaction(&mut self, service_us: u64, parts: impl Iterator<Item = (Cow<'static, str>, u64)>) {
        self.times.transactions += 1;
        self.times.service_us += service_us;
        for (name, us) in parts {
            match self.histograms.get_mut(&name) {
                Some(histogram) => histogram.record(us),
                None => self.histograms.entry(name.clone()).or_default().record(us),
            }
            let part = self.times.parts.entry(name).or_default();
            part.calls += 1;
            part.total_us += us;
        }
    }

    /// Adds everything that `other` recorded.
    pub fn merge(&mut self, other: &StatementRecorder) {
        self.times.merge(&other.times);
        for (name, theirs) in &other.histograms {
            self.histograms.entry(name.clone()).or_default().merge(theirs);
        }
    }

    /// Forgets everything recorded; the histograms' memory is kept.
    pub fn clear(&mut self) {
        self.times = StatementTimes::default();
        self.histograms.values_mut().for_each(Histogram::clear);
    }

    /// The sums.
    #[must_use]
    pub fn times(&self) -> &StatementTimes {
        &self.times
    }

    /// The histograms of the parts, by name; some may be empty.
    pub fn histograms(&self) -> impl Iterator<Item = (&str, &Histogram<u32>)> {
        self.histograms.iter().map(|(name, histogram)| (name.as_ref(), histogram))
    }
}

/// Where the time of one transaction type went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatementsSummary {
    /// Name of the transaction type in JSON: `new_order`.
    pub name: String,
    /// Its name for people: `New-Order`.
    pub title: String,
    /// Transactions whose statements were timed.
    pub transactions: u64,
    /// Their mean time with the database, milliseconds.
    pub service_mean: f64,
    /// The parts, that which took longest in all first.
    pub parts: Vec<PartSummary>,
    /// The share of that time that no part took: the client's own work, and pauses before another attempt.
    pub rest_share: f64,
    /// That time a transaction, milliseconds.
    pub rest_mean: f64,
}

/// A part of a transaction type's time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartSummary {
    /// The statement's name; of a flight those of its statements; or the verb.
    pub name: String,
    /// How often it was sent.
    pub calls: u64,
    /// The same, a transaction.
    pub calls_per_transaction: f64,
    /// Its time a call; the mean from the exact sum.
    pub time: Stats,
    /// Its share of the transactions' time with the database, as a fraction.
    pub share: f64,
}

impl StatementsSummary {
    /// Derives the figures of a transaction type.
    pub(crate) fn derive(rule: &TransactionRule, times: &StatementTimes, histograms: &Histograms) -> Self {
        let per = |sum: u64, of: u64| if of > 0 { sum as f64 / of as f64 } else { 0.0 };
        let part = |(name, part): (&Cow<'static, str>, &PartTime)| {
            let mut time = histograms.get(&statement_tag(&rule.name, name)).map(Histogram::stats).unwrap_or_default();
            time.mean = per(part.total_us, part.calls) / 1000.0;
            PartSummary {
                name: name.to_string(),
                calls: part.calls,
                calls_per_transaction: per(part.calls, times.transactions),
                time,
                share: per(part.total_us, times.service_us),
            }
        };
        let mut parts: Vec<PartSummary> = times.parts.iter().map(part).collect();
        parts.sort_by(|a, b| b.share.total_cmp(&a.share));
        let timed = times.parts.values().fold(0_u64, |sum, part| sum.saturating_add(part.total_us));
        let rest_us = times.service_us.saturating_sub(timed);
        StatementsSummary {
            name: rule.name.clone(),
            title: rule.title.clone(),
            transactions: times.transactions,
            service_mean: per(times.service_us, times.transactions) / 1000.0,
            parts,
            rest_share: per(rest_us, times.service_us),
            rest_mean: per(rest_us, times.transactions) / 1000.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transaction's time with the database, and its parts.
    type Timed = (u64, &'static [(&'static str, u64)]);

    fn recorded(transactions: &[Timed]) -> StatementRecorder {
        let mut recorder = StatementRecorder::default();
        for (service_us, parts) in transactions {
            recorder.transaction(*service_us, parts.iter().map(|(name, us)| (Cow::Borrowed(*name), *us)));
        }
        recorder
    }

    #[test]
    fn merging_is_as_if_one_had_recorded_all() {
        let first: &[Timed] = &[(100, &[("a", 30), ("a", 40), ("COMMIT", 20)])];
        let second: &[Timed] = &[(50, &[("a", 10), ("b", 39)]), (7, &[])];
        let mut merged = recorded(first);
        merged.merge(&recorded(second));
        let all = recorded(&[first, second].concat());
        assert_eq!(merged.times(), all.times());
        assert_eq!(merged.times().parts["a"], PartTime { calls: 3, total_us: 80 });
        let counts = |recorder: &StatementRecorder| -> Vec<(String, u64)> {
            recorder.histograms().map(|(name, histogram)| (name.to_owned(), histogram.count())).collect()
        };
        assert_eq!(counts(&merged), counts(&all));
        merged.clear();
        assert_eq!(merged.times(), &StatementTimes::default());
        assert!(merged.histograms().all(|(_, histogram)| histogram.is_empty()));
    }

    #[test]
    fn parts_and_rest_are_the_whole() {
        let recorder = recorded(&[(100, &[("a", 30), ("b", 45), ("COMMIT", 20)]), (60, &[("b", 60)])]);
        let rule = TransactionRule { name: "t".into(), title: "T".into(), ..Default::default() };
        let mut histograms = Histograms::default();
        for (name, _) in recorder.histograms() {
            let mut histogram = Histogram::<u64>::new();
            histogram.record(50);
            histograms.insert(&statement_tag("t", name), &histogram);
        }
        let summary = StatementsSummary::derive(&rule, recorder.times(), &histograms);
        let order: Vec<&str> = summary.parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(order, ["b", "a", "COMMIT"]);
        let b = &summary.parts[0];
        assert_eq!((b.calls, b.calls_per_transaction, b.time.mean, b.share), (2, 1.0, 0.0525, 105.0 / 160.0));
        assert_eq!((summary.service_mean, summary.rest_mean, summary.rest_share), (0.08, 0.0025, 5.0 / 160.0));

        let nothing = StatementsSummary::derive(&rule, &StatementTimes::default(), &histograms);
        assert!(nothing.parts.is_empty() && nothing.rest_share == 0.0 && nothing.service_mean == 0.0);
    }
}
