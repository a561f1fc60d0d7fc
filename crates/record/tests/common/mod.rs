//! A plan, and runs of it made up figure by figure.
#![allow(dead_code, reason = "each test binary uses its share")]

use record::labels::Labels;
use record::plan::{Plan, ScaleRule, SkipRule, TallyKind, TallyRule, TransactionRule};
use record::recorder::{Clock, Outcome, Phase, Recorder, Sample};
use record::run::{Ended, Reconciliation, RunRecord};
use record::timeline::Stage;
use record::verdict::{Finding, Verdict};
use record::{Histograms, Summary, TimelineRow, judge};

pub(crate) const NEW_ORDER: usize = 0;
pub(crate) const PAYMENT: usize = 1;
pub(crate) const DELIVERY: usize = 3;

/// Rollbacks, lines per order, remote lines.
pub(crate) const ROLLBACKS: usize = 0;
pub(crate) const LINES: usize = 1;
pub(crate) const REMOTE_LINES: usize = 2;

fn rule(name: &str, title: &str, share: Option<f64>, keying: f64, think: f64, limit: f64) -> TransactionRule {
    TransactionRule {
        name: name.into(),
        title: title.into(),
        headline: name == "new_order",
        minimum_share: share,
        share_clause: "5.2.3".into(),
        keying_seconds: keying,
        mean_think_seconds: think,
        waits_clause: "5.2.5.7".into(),
        response_limit_seconds: limit,
        response_clause: "5.2.5.3".into(),
        deferred_limit_seconds: (name == "delivery").then_some(80.0),
        deferred_clause: "2.7.2.2".into(),
    }
}

fn tally(name: &str, kind: TallyKind, low: f64, high: f64, expected: f64, sample: u64, variance: f64) -> TallyRule {
    TallyRule {
        name: name.into(),
        clause: "5.5.1.5".into(),
        kind,
        low,
        high,
        expected,
        sample_for_3_sigma: sample,
        variance_per_trial: variance,
    }
}

/// A plan to the standard, with this many warehouses and this long an interval.
pub(crate) fn plan(warehouses: u32, seconds: f64) -> Plan {
    use TallyKind::{Mean, Share};
    Plan {
        workload: "tpcc".into(),
        labels: Labels::tpcc(),
        warehouses,
        first_warehouse: 1,
        total_warehouses: warehouses,
        loaded_warehouses: warehouses,
        style: "batch".into(),
        isolation: "serializable".into(),
        mix: "deck".into(),
        ceiling_per_warehouse: 12.605,
        connections: 8,
        terminals: warehouses * 10,
        threads: 2,
        ramp_seconds: 60.0,
        duration_seconds: seconds,
        seed: 42,
        transactions: vec![
            rule("new_order", "New-Order", None, 18.0, 12.0, 5.0),
            rule("payment", "Payment", Some(0.43), 3.0, 12.0, 5.0),
            rule("order_status", "Order-Status", Some(0.04), 2.0, 10.0, 5.0),
            rule("delivery", "Delivery", Some(0.04), 2.0, 5.0, 5.0),
            rule("stock_level", "Stock-Level", Some(0.04), 2.0, 5.0, 20.0),
        ],
        tallies: vec![
            tally("rollbacks", Share, 0.009, 0.011, 0.01, 89_100, 0.0099),
            tally("lines per order", Mean, 9.5, 10.5, 10.0, 360, 10.0),
            tally("remote lines", Share, 0.0095, 0.0105, 0.01, 356_400, 0.0099),
        ],
        skips: Some(SkipRule { max_share: 0.01, max_count: 1, clause: "2.7.4.2".into() }),
        scale: ScaleRule {
            max_per_warehouse: 12.86,
            min_per_warehouse: 9.0,
            terminals_per_warehouse: 10,
            clause: "4.1.3".into(),
            terminals_clause: "4.2.2".into(),
        },
        standard_interval_seconds: 7200.0,
        interval_clause: "5.5.2.1".into(),
        steady_state_clause: "5.5.1.1".into(),
        percentile_clause: "5.2.5.6".into(),
        errors_clause: "2.3.6".into(),
        ..Plan::default()
    }
}

/// A record as it is read from a `run.json` of version 1, whose plan has no labels.
pub(crate) fn without_labels(record: &RunRecord) -> RunRecord {
    let mut document = serde_json::to_value(record).unwrap();
    document["plan"].as_object_mut().unwrap().remove("labels").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, document.to_string()).unwrap();
    record::folder::read_record(&path).unwrap()
}

/// A run as it came out of its recorders, for tests to bend and judge.
pub(crate) struct Run {
    pub(crate) record: RunRecord,
    pub(crate) histograms: Histograms,
    pub(crate) timeline: Vec<TimelineRow>,
}

impl Run {
    pub(crate) fn summary(&self) -> Summary {
        Summary::derive(&self.record, &self.histograms, &self.timeline)
    }

    pub(crate) fn verdict(&self) -> Verdict {
        judge(&self.record, &self.summary(), &self.timeline)
    }

    /// The finding whose rule starts so.
    pub(crate) fn finding(&self, rule: &str) -> Finding {
        let found = self.verdict().findings.into_iter().find(|finding| finding.rule.starts_with(rule));
        found.unwrap_or_else(|| panic!("no rule starts with `{rule}`"))
    }

    /// Adds what `fill` records.
    pub(crate) fn add(&mut self, fill: impl FnOnce(&mut Recorder)) {
        let mut recorder = empty(&self.record.plan);
        fill(&mut recorder);
        self.record.add(&recorder);
        self.histograms.add(&recorder, &self.record.plan);
    }

    /// Forgets the times of a clock, so that others can be put there.
    pub(crate) fn without(mut self, transaction: usize, clock: Clock) -> Self {
        let tag = record::latency_log::tag(&self.record.plan.transactions[transaction].name, Phase::Measured, clock);
        let mut kept = Histograms::default();
        for (other, histogram) in self.histograms.iter().filter(|(other, _)| *other != tag) {
            kept.insert(other, histogram);
        }
        self.histograms = kept;
        self
    }
}

pub(crate) fn empty(plan: &Plan) -> Recorder {
    Recorder::new(plan)
}

/// A completed transaction that took so long, half a millisecond of it waiting for a connection.
pub(crate) fn sample(response_ms: u64) -> Sample {
    let response_us = response_ms * 1000;
    Sample { response_us, service_us: response_us, queue_us: 500, retries: 0, outcome: Outcome::Committed }
}

/// A faultless run to the standard with a rate of 12 a minute per warehouse.
pub(crate) fn good(warehouses: u32, seconds: f64) -> Run {
    let plan = plan(warehouses, seconds);
    let mut run = Run { record: RunRecord::new(plan), histograms: Histograms::default(), timeline: Vec::new() };
    let orders = (12.0 * f64::from(warehouses) * seconds / 60.0).round() as u64;
    let counts = [orders, orders, orders / 10, orders / 10, orders / 10];
    run.add(|recorder| {
        for (index, count) in counts.into_iter().enumerate() {
            for i in 0..count {
                fill_one(recorder, index, i);
            }
        }
        let rolled_back = (orders as f64 / 100.0).round() as u64;
        recorder.tally(ROLLBACKS, Phase::Measured, rolled_back, orders);
        recorder.tally(LINES, Phase::Measured, orders * 10, orders);
        recorder.tally(REMOTE_LINES, Phase::Measured, (orders as f64 / 10.0).round() as u64, orders * 10);
    });
    run.record.measured_seconds = seconds;
    run.record.ended = Ended::Completed;
    run.record.reconciliation = Some(Reconciliation { passed: true, ..Reconciliation::default() });
    run.record.tare.cpu_seconds = seconds * 0.2;
    run.record.tare.cpu_share_of_threads = 0.1;
    run.timeline = timeline(&vec![orders as f64 / seconds; seconds as usize]);
    run
}

/// One transaction with its waits; every hundredth New-Order rolls back.
fn fill_one(recorder: &mut Recorder, index: usize, i: u64) {
    const KEYING_S: [u64; 5] = [18, 3, 2, 2, 2];
    const THINK_S: [u64; 5] = [12, 12, 10, 5, 5];
    let rolled_back = index == NEW_ORDER && i % 100 == 50;
    let outcome = if rolled_back { Outcome::RolledBack } else { Outcome::Committed };
    recorder.transaction(index, Phase::Measured, &Sample { outcome, ..sample(10 + i % 40) });
    recorder.keying(index, Phase::Measured, KEYING_S[index] * 1_000_000 + 1_500);
    // Steps of the golden ratio spread any number of quantiles of the exponential distribution evenly.
    let quantile = ((i as f64 + 0.5) * 0.618_033_988_75).fract();
    recorder.think(index, Phase::Measured, (-(1.0 - quantile).ln() * THINK_S[index] as f64 * 1.01e6) as u64);
    recorder.lag(Phase::Measured, 300);
    if index == DELIVERY {
        recorder.deferred(index, Phase::Measured, &sample(200));
    }
}

/// Measured seconds with these New-Orders in each, rounded so that none is lost.
pub(crate) fn timeline(rates: &[f64]) -> Vec<TimelineRow> {
    let (mut exact, mut given) = (0.0, 0);
    let row = |(second, rate): (usize, &f64)| {
        exact += rate;
        let orders = exact as u64 - given;
        given = exact as u64;
        TimelineRow {
            elapsed_s: (second + 1) as f64,
            stage: Stage::Measured,
            completed: vec![orders, orders, 0, 0, 0],
            ..TimelineRow::default()
        }
    };
    rates.iter().enumerate().map(row).collect()
}

/// Random numbers that are the same every time (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number in [0, 1).
    pub(crate) fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
