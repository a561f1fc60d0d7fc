//! A run under way as Prometheus reads it: its text format 0.0.4, names by its conventions, times in seconds.
//!
//! Counters count the whole run, ramp and drain included, as counters are to be looked at by their rate.

use std::fmt::Write;

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

/// The clocks that are told: name, meaning, those of the terminal's part and of the deferred one.
const TIMES: [(&str, &str, Clock, Clock); 3] = [
    ("response", "From sending to the whole answer, waits and retries included", Clock::Response, Clock::Deferred),
    ("service", "The part of the response time with the database", Clock::Service, Clock::DeferredService),
    ("queue", "The part of the response time waiting for a connection", Clock::Queue, Clock::DeferredQueue),
];

/// A run, second by second.
#[derive(Debug, Default)]
pub struct Metrics {
    /// By clock, transaction and part.
    times: Vec<Times>,
    cpu_seconds: f64,
    elapsed_s: f64,
}

/// A histogram of one clock of one transaction.
#[derive(Debug, Default, Clone)]
struct Times {
    /// Those not above each edge and above the one before; then those above all.
    counts: [u64; EDGES.len() + 1],
    sum_us: f64,
}

/// The part of a transaction that a terminal waits for, and the one that is carried out later.
const PARTS: [&str; 2] = ["terminal", "deferred"];

impl Metrics {
    /// Takes in a second, and tells the run as it is then: `idle` connections are not in use.
    pub fn second(&mut self, row: &TimelineRow, recorder: &Recorder, record: &RunRecord, idle: u64) -> String {
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
        self.text(row, record, idle)
    }

    fn text(&self, row: &TimelineRow, record: &RunRecord, idle: u64) -> String {
        let (plan, target) = (&record.plan, &record.target);
        let mut out = Text::default();
        out.family("run_info", "gauge", "What is run, and on what; always 1");
        let facts = [
            ("workload", plan.workload.as_str()),
            ("database", &target.kind),
            ("version", &target.version),
            ("style", &plan.style),
            ("isolation", &plan.isolation),
            ("region", &plan.region),
        ];
        out.sample("run_info", &facts, 1.0);
        out.family("run_stage", "gauge", "1 for where the run is, 0 for where it is not");
        for stage in [Stage::Ramp, Stage::Measured, Stage::Drain] {
            out.sample("run_stage", &[("stage", stage.name())], f64::from(u8::from(row.stage == stage)));
        }
        out.one("run_elapsed_seconds", "gauge", "Time since the start of the run", row.elapsed_s);
        out.one("warehouses", "gauge", "Warehouses that are driven", plan.warehouses.into());
        out.one("terminals", "gauge", "Terminals", plan.terminals.into());
        out.one("terminals_waiting", "gauge", "Terminals that wait for a connection", row.waiting as f64);
        out.one("connections", "gauge", "Connections of the pool", plan.connections.into());
        let in_use = u64::from(plan.connections).saturating_sub(idle);
        out.one("connections_in_use", "gauge", "Connections at work, or being replaced", in_use as f64);
        out.one("deferred_queued", "gauge", "Deliveries queued or being carried out", row.backlog as f64);
        out.one(
            "timer_lag_p99_seconds",
            "gauge",
            "How late the tool's timer woke terminals in the last second, 99th percentile",
            row.lag_p99_ms / 1e3,
        );
        self.counters(&mut out, record);
        self.histograms(&mut out, &plan.transactions);
        out.bare(
            "process_cpu_seconds_total",
            "counter",
            "CPU time of this process since the start of the run",
            self.cpu_seconds,
        );
        out.bare("process_resident_memory_bytes", "gauge", "Resident memory of this process", row.rss_bytes as f64);
        out.0
    }

    fn counters(&self, out: &mut Text, record: &RunRecord) {
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
        let mut counter = |name: &str, help: &str, of: fn(&Counts) -> [u64; 2]| {
            out.family(name, "counter", help);
            for (rule, counts) in rules.iter().zip(&all) {
                for (part, value) in parts(rule).zip(of(counts)) {
                    out.sample(name, &[("transaction", &rule.name), ("part", part)], value as f64);
                }
            }
        };
        counter("transactions_total", "Completed transactions, rolled back by design included", |counts| {
            [counts.completed, counts.deferred.completed]
        });
        counter("transactions_rolled_back_total", "Those of them rolled back by design", |counts| {
            [counts.rolled_back, 0]
        });
        counter("transaction_retries_total", "Attempts beyond the first", |counts| {
            [counts.retries, counts.deferred.retries]
        });
        out.family("transaction_errors_total", "counter", "Transactions that were not completed, by cause");
        for (rule, counts) in rules.iter().zip(&all) {
            for (part, failures) in parts(rule).zip([counts.failures, counts.deferred.failures]) {
                for (cause, value) in causes(&failures) {
                    let labels = [("transaction", rule.name.as_str()), ("part", part), ("cause", cause)];
                    out.sample("transaction_errors_total", &labels, value as f64);
                }
            }
        }
    }

    fn histograms(&self, out: &mut Text, rules: &[TransactionRule]) {
        let mut at = self.times.iter();
        for (name, help, ..) in TIMES {
            let name = format!("transaction_{name}_seconds");
            out.family(&name, "histogram", help);
            for rule in rules {
                for (times, part) in at.by_ref().take(PARTS.len()).zip(PARTS) {
                    if parts(rule).any(|known| known == part) {
                        times.tell(out, &name, &[("transaction", &rule.name), ("part", part)]);
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
            self.sum_us += us as f64 * count as f64;
        }
    }

    fn tell(&self, out: &mut Text, name: &str, labels: &[(&str, &str)]) {
        let mut below = 0;
        let edges = EDGES.iter().map(|us| (*us as f64 / 1e6).to_string()).chain(["+Inf".to_owned()]);
        let bucket = format!("{name}_bucket");
        for (edge, count) in edges.zip(self.counts) {
            below += count;
            out.sample(&bucket, &[labels, &[("le", &edge)]].concat(), below as f64);
        }
        out.sample(&format!("{name}_sum"), labels, self.sum_us / 1e6);
        out.sample(&format!("{name}_count"), labels, below as f64);
    }
}

/// The text in the making.
#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP weighbridge_{name} {help}\n# TYPE weighbridge_{name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let escaped = |value: &str| value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "weighbridge_{name}{labels} {value}");
    }

    /// A family of one value.
    fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    /// One whose name every program shares.
    fn bare(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
    }
}
