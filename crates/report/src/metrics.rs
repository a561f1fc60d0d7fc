//! A run under way as metrics: names by the conventions of Prometheus, times in seconds.
//!
//! Counters count the whole run, ramp and drain included, as counters are to be looked at by their rate. What there is to
//! tell is one set of families; the ways to write them down are modules of their own.

mod exponential;
mod families;
pub mod otlp;
mod protobuf;
mod text;

pub use families::Families;
pub use protobuf::PROTOBUF_FORMAT;
pub use text::TEXT_FORMAT;

use exponential::{Exponential, SCHEMA};
use families::{Family, Kind, Sample, Value};
use record::plan::TransactionRule;
use record::recorder::{Clock, Counts, Failures, Phase};
use record::timeline::Stage;
use record::{Recorder, RunRecord, TimelineRow};

/// Upper edges of the buckets, microseconds.
const EDGES: [u64; 17] = [
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    20_000_000,
    40_000_000,
    80_000_000,
    160_000_000,
];

/// The clocks that are told: family, meaning, those of the terminal's part and of the deferred one.
const TIMES: [(&str, &str, Clock, Clock); 3] = [
    (
        "weighbridge_transaction_response_seconds",
        "From sending to the whole answer, waits and retries included",
        Clock::Response,
        Clock::Deferred,
    ),
    (
        "weighbridge_transaction_service_seconds",
        "The part of the response time with the database",
        Clock::Service,
        Clock::DeferredService,
    ),
    (
        "weighbridge_transaction_queue_seconds",
        "The part of the response time waiting for a connection",
        Clock::Queue,
        Clock::DeferredQueue,
    ),
];

/// A run, second by second.
#[derive(Debug, Default)]
pub struct Metrics {
    /// By clock, transaction and part.
    times: Vec<Times>,
    cpu_seconds: f64,
    elapsed_s: f64,
}

/// A histogram of one clock of one transaction: by a few edges that are easy to read, and finely by [`Exponential`] ones.
#[derive(Debug, Default, Clone)]
struct Times {
    /// Those not above each edge and above the one before; then those above all.
    counts: [u64; EDGES.len() + 1],
    exponential: Exponential,
    sum_us: f64,
}

/// The part of a transaction that a terminal waits for, and the one that is carried out later.
const PARTS: [&str; 2] = ["terminal", "deferred"];

impl Metrics {
    /// Takes in a second, and tells the run as it is then: `idle` connections are not in use.
    pub fn second(&mut self, row: &TimelineRow, recorder: &Recorder, record: &RunRecord, idle: u64) -> Families {
        let rules = &record.plan.transactions;
        self.times.resize(TIMES.len() * rules.len() * PARTS.len(), Times::default());
        let mut at = self.times.iter_mut();
        for (.., terminal, deferred) in TIMES {
            for index in 0..rules.len() {
                for clock in [terminal, deferred] {
                    let Some(times) = at.next() else { continue };
                    Phase::ALL.iter().for_each(|phase| times.add(recorder.histogram(index, *phase, clock)));
                }
            }
        }
        self.cpu_seconds += row.cpu_percent / 100.0 * (row.elapsed_s - self.elapsed_s).max(0.0);
        self.elapsed_s = row.elapsed_s;
        self.families(row, record, idle)
    }

    fn families(&self, row: &TimelineRow, record: &RunRecord, idle: u64) -> Families {
        let (plan, target) = (&record.plan, &record.target);
        let mut out = Families::default();
        let info = out.family("weighbridge_run_info", Kind::Gauge, "What is run, and on what; always 1");
        let facts = [
            ("workload", plan.workload.as_str()),
            ("database", &target.kind),
            ("version", &target.version),
            ("style", &plan.style),
            ("isolation", &plan.isolation),
            ("region", &plan.region),
        ];
        info.number(&facts, 1.0);
        let stages = out.family("weighbridge_run_stage", Kind::Gauge, "1 for where the run is, 0 for where it is not");
        for stage in [Stage::Ramp, Stage::Measured, Stage::Drain] {
            stages.number(&[("stage", stage.name())], f64::from(u8::from(row.stage == stage)));
        }
        let mut gauge = |name, help, value| out.family(name, Kind::Gauge, help).number(&[], value);
        gauge("weighbridge_run_elapsed_seconds", "Time since the start of the run", row.elapsed_s);
        // A workload of a file has none.
        if plan.warehouses > 0 {
            gauge("weighbridge_warehouses", "Warehouses that are driven", plan.warehouses.into());
        }
        gauge("weighbridge_terminals", "Terminals", plan.terminals.into());
        gauge("weighbridge_terminals_waiting", "Terminals that wait for a connection", row.waiting as f64);
        gauge("weighbridge_connections", "Connections of the pool", plan.connections.into());
        let in_use = u64::from(plan.connections).saturating_sub(idle);
        gauge("weighbridge_connections_in_use", "Connections at work, or being replaced", in_use as f64);
        gauge("weighbridge_deferred_queued", "Deliveries queued or being carried out", row.backlog as f64);
        gauge(
            "weighbridge_timer_lag_p99_seconds",
            "How late the tool's timer woke terminals in the last second, 99th percentile",
            row.lag_p99_ms / 1e3,
        );
        gauge("process_resident_memory_bytes", "Resident memory of this process", row.rss_bytes as f64);
        let help = "CPU time of this process since the start of the run";
        out.family("process_cpu_seconds_total", Kind::Counter, help).number(&[], self.cpu_seconds);
        self.counters(&mut out, record);
        self.histograms(&mut out, &plan.transactions);
        out
    }

    fn counters(&self, out: &mut Families, record: &RunRecord) {
        let rules = &record.plan.transactions;
        let all: Vec<Counts> = record
            .counts
            .iter()
            .map(|counts| {
                let mut all = counts.measured;
                all.merge(&counts.outside);
                all
            })
            .collect();
        let mut counter = |name, help, of: fn(&Counts) -> [u64; 2]| {
            let family = out.family(name, Kind::Counter, help);
            for (rule, counts) in rules.iter().zip(&all) {
                for (part, value) in parts(rule).zip(of(counts)) {
                    family.number(&[("transaction", &rule.name), ("part", part)], value as f64);
                }
            }
        };
        counter("weighbridge_transactions_total", "Completed transactions, rolled back by design included", |counts| {
            [counts.completed, counts.deferred.completed]
        });
        counter("weighbridge_transactions_rolled_back_total", "Those of them rolled back by design", |counts| {
            [counts.rolled_back, 0]
        });
        counter("weighbridge_transaction_retries_total", "Attempts beyond the first", |counts| {
            [counts.retries, counts.deferred.retries]
        });
        let help = "Transactions that were not completed, by cause";
        let errors = out.family("weighbridge_transaction_errors_total", Kind::Counter, help);
        for (rule, counts) in rules.iter().zip(&all) {
            for (part, failures) in parts(rule).zip([counts.failures, counts.deferred.failures]) {
                for (cause, value) in causes(&failures) {
                    let labels = [("transaction", rule.name.as_str()), ("part", part), ("cause", cause)];
                    errors.number(&labels, value as f64);
                }
            }
        }
    }

    fn histograms(&self, out: &mut Families, rules: &[TransactionRule]) {
        let mut at = self.times.iter();
        for (name, help, ..) in TIMES {
            let family = out.family(name, Kind::Histogram, help);
            for rule in rules {
                for (times, part) in at.by_ref().take(PARTS.len()).zip(PARTS) {
                    if parts(rule).any(|known| known == part) {
                        family.times(&[("transaction", &rule.name), ("part", part)], times.clone());
                    }
                }
            }
        }
    }
}

/// The parts that a transaction has.
fn parts(rule: &TransactionRule) -> impl Iterator<Item = &'static str> {
    PARTS.into_iter().take(if rule.deferred_limit_seconds.is_some() { 2 } else { 1 })
}

fn causes(failures: &Failures) -> [(&'static str, u64); 4] {
    [
        ("integrity", failures.integrity),
        ("exhausted", failures.exhausted),
        ("connection", failures.connection),
        ("other", failures.other),
    ]
}

impl Times {
    fn add(&mut self, second: &record::Histogram<u32>) {
        for (us, count) in second.buckets() {
            self.counts[EDGES.partition_point(|edge| *edge < us)] += count;
            self.exponential.add(us, count);
            self.sum_us += us as f64 * count as f64;
        }
    }

    /// The classic buckets: upper edge in seconds, the last one infinite, and how many times are not above it.
    fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let edges = EDGES.iter().map(|us| *us as f64 / 1e6).chain([f64::INFINITY]);
        edges.zip(self.counts).scan(0, |below, (edge, count)| {
            *below += count;
            Some((edge, *below))
        })
    }

    /// The same times by edges that grow evenly.
    fn exponential(&self) -> &Exponential {
        &self.exponential
    }

    /// How many there are.
    fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All of them together, seconds.
    fn sum_seconds(&self) -> f64 {
        self.sum_us / 1e6
    }
}
