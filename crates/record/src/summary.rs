//! The figures of a run, derived from its record.

use serde::{Deserialize, Serialize};

use crate::failover::{self, Outage};
use crate::folder::OpenedRun;
use crate::gateway::Moves;
use crate::histogram::{Histogram, Stats};
use crate::latency_log::{self, Histograms};
use crate::plan::{GatewayPlan, Plan, TallyRule, TransactionRule};
use crate::recorder::{Clock, Failures, Phase, Tally};
use crate::run::{GatewayRecord, RunRecord, TransactionCounts};
use crate::statements::StatementsSummary;
use crate::statistics;
use crate::timeline::TimelineRow;

/// What a run gave, inside its measurement interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Length of the measurement interval, seconds.
    pub measured_seconds: f64,
    /// Completed headline transactions a minute, designed rollbacks included (5.4.2).
    pub nopm: f64,
    /// The same without designed rollbacks, as other tools count.
    pub nopm_committed: f64,
    /// Where the rate would lie 95 times of 100, were the run repeated.
    pub nopm_interval: RateInterval,
    /// `nopm` truncated, never rounded (5.4.4); `None` for a run that leaves the standard.
    pub tpmc: Option<u64>,
    /// The exact rate over the largest that the driven warehouses may give (4.1.3), as a fraction;
    /// `None` for a run that leaves the standard. Never clamped.
    pub efficiency: Option<f64>,
    /// Completed transactions of all types a minute.
    pub total_per_minute: f64,
    /// One entry a transaction type, in the order of the plan.
    pub transactions: Vec<TransactionSummary>,
    /// One entry a tally, in the order of the plan.
    pub tallies: Vec<TallySummary>,
    /// One entry a gateway, in the order of the plan; empty where there is only one.
    pub gateways: Vec<GatewaySummary>,
    /// Where the time of each transaction type with the database went, in the order of the plan; empty where statements
    /// were not timed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementsSummary>,
    /// Transactions that were not completed, deferred parts included, by cause.
    pub failures: Failures,
    /// Trouble of the whole run, and what it cost.
    pub outages: Vec<Outage>,
    /// How late the tool's own timer woke its terminals.
    pub lag: Stats,
}

/// A 95 % interval of the headline rate, a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How it was found.
    pub method: RateMethod,
    /// Batches, for batch means.
    pub batches: u32,
}

/// How a rate's interval was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateMethod {
    /// From the spread of consecutive stretches of the interval.
    BatchMeans,
    /// From the count alone, too few for batches.
    #[default]
    Poisson,
}

/// One transaction type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TransactionSummary {
    /// Name in JSON: `new_order`.
    pub name: String,
    /// Name for people: `New-Order`.
    pub title: String,
    /// Completed, designed rollbacks included.
    pub count: u64,
    /// Share of all completed transactions, as a fraction.
    pub share: f64,
    /// Designed rollbacks.
    pub rolled_back: u64,
    /// Not completed.
    pub errors: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Response time.
    pub response: Stats,
    /// Time with the database.
    pub service: Stats,
    /// Wait for a connection.
    pub queue: Stats,
    /// Keying time as served.
    pub keying: Stats,
    /// Think time as served.
    pub think: Stats,
    /// Response time of those that failed.
    pub failed: Stats,
    /// The deferred part, where the transaction has one.
    pub deferred: Option<DeferredSummary>,
}

/// The deferred part of a queued transaction (Delivery, 2.7.2).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeferredSummary {
    /// Completed.
    pub completed: u64,
    /// Not completed, by cause.
    pub failures: Failures,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Completed ones that skipped at least one part.
    pub skipped: u64,
    /// Parts (districts) skipped.
    pub skipped_parts: u64,
    /// Completed later than the limit after being queued.
    pub late: u64,
    /// From being queued to completion.
    pub response: Stats,
    /// Time with the database.
    pub service: Stats,
    /// From being queued to holding a connection.
    pub queue: Stats,
}

/// One gateway of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GatewaySummary {
    /// What was planned for it.
    pub plan: GatewayPlan,
    /// Completed transactions of all types; a queued one counts where its deferred part was done.
    pub transactions: u64,
    /// Completed headline transactions (New-Orders).
    pub headline: u64,
    /// Not completed.
    pub errors: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// What became of its connections, in the whole run.
    pub moves: Moves,
    /// Response time of the headline transaction.
    pub response: Stats,
    /// Time with the database of the headline transaction.
    pub service: Stats,
}

/// One tally with its figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TallySummary {
    /// Name in the plan.
    pub name: String,
    /// Trials that hit, or the sum of their values.
    pub hits: u64,
    /// Trials.
    pub trials: u64,
    /// Hits per trial; `None` without a trial.
    pub figure: Option<f64>,
}

impl Summary {
    /// Derives the figures of a run that was read back.
    #[must_use]
    pub fn from_run(opened: &OpenedRun) -> Self {
        Self::derive(&opened.record, &opened.histograms, &opened.timeline)
    }

    /// Derives the figures from the record, its histograms and its seconds.
    #[must_use]
    pub fn derive(run: &RunRecord, histograms: &Histograms, timeline: &[TimelineRow]) -> Self {
        let plan = &run.plan;
        let total: u64 = run.counts.iter().map(|counts| counts.measured.completed).sum();
        let headline = plan.headline().and_then(|index| run.counts.get(index)).cloned().unwrap_or_default().measured;
        let nopm = per_minute(headline.completed, run.measured_seconds);
        let base = plan.scale.max_per_warehouse * f64::from(plan.warehouses);
        let standard = plan.is_standard();
        let transaction = |(rule, counts)| summarize(rule, counts, histograms, total);
        let headline_name = plan.headline().map(|index| plan.transactions[index].name.as_str()).unwrap_or_default();
        let gateway = |(index, (planned, record))| through(index + 1, planned, record, headline_name, histograms);
        let tally = |(rule, tally): (&TallyRule, &Tally)| TallySummary {
            name: rule.name.clone(),
            hits: tally.hits,
            trials: tally.trials,
            figure: tally.figure(),
        };
        Summary {
            measured_seconds: run.measured_seconds,
            nopm,
            nopm_committed: per_minute(
                headline.completed - headline.rolled_back.min(headline.completed),
                run.measured_seconds,
            ),
            nopm_interval: interval(plan, headline.completed, run.measured_seconds, timeline),
            tpmc: standard.then_some(nopm as u64),
            efficiency: (standard && base > 0.0).then(|| nopm / base),
            total_per_minute: per_minute(total, run.measured_seconds),
            transactions: plan.transactions.iter().zip(&run.counts).map(transaction).collect(),
            tallies: plan.tallies.iter().zip(&run.tallies).map(tally).collect(),
            gateways: plan.gateways.iter().zip(&run.gateways).enumerate().map(gateway).collect(),
            statements: plan
                .transactions
                .iter()
                .zip(&run.statements)
                .map(|(rule, times)| StatementsSummary::derive(rule, times, histograms))
                .collect(),
            failures: failures(&run.counts),
            outages: failover::outages(run, timeline),
            lag: histograms.get(&latency_log::lag_tag(Phase::Measured)).map(Histogram::stats).unwrap_or_default(),
        }
    }

    /// The headline transaction of `plan`.
    #[must_use]
    pub fn headline(&self, plan: &Plan) -> Option<&TransactionSummary> {
        plan.headline().and_then(|index| self.transactions.get(index))
    }
}

/// A rate a minute; 0 for an interval without length.
fn per_minute(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 * 60.0 / seconds } else { 0.0 }
}

fn summarize(
    rule: &TransactionRule,
    counts: &TransactionCounts,
    histograms: &Histograms,
    total: u64,
) -> TransactionSummary {
    let measured = &counts.measured;
    let stats = |clock| histograms.stats(&rule.name, Phase::Measured, clock);
    let deferred = rule.deferred_limit_seconds.map(|limit| DeferredSummary {
        completed: measured.deferred.completed,
        failures: measured.deferred.failures,
        retries: measured.deferred.retries,
        skipped: measured.deferred.skipped,
        skipped_parts: measured.deferred.skipped_parts,
        late: histograms
            .get(&latency_log::tag(&rule.name, Phase::Measured, Clock::Deferred))
            .map_or(0, |histogram| histogram.count_at_least((limit * 1e6) as u64 + 1)),
        response: stats(Clock::Deferred),
        service: stats(Clock::DeferredService),
        queue: stats(Clock::DeferredQueue),
    });
    TransactionSummary {
        name: rule.name.clone(),
        title: rule.title.clone(),
        count: measured.completed,
        share: if total > 0 { measured.completed as f64 / total as f64 } else { 0.0 },
        rolled_back: measured.rolled_back,
        errors: measured.failures.total(),
        retries: measured.retries,
        response: stats(Clock::Response),
        service: stats(Clock::Service),
        queue: stats(Clock::Queue),
        keying: stats(Clock::Keying),
        think: stats(Clock::Think),
        failed: stats(Clock::Failed),
        deferred,
    }
}

fn through(
    number: usize,
    planned: &GatewayPlan,
    record: &GatewayRecord,
    headline: &str,
    histograms: &Histograms,
) -> GatewaySummary {
    let measured = &record.measured;
    let stats = |clock| {
        let tag = latency_log::gateway_tag(number, headline, Phase::Measured, clock);
        histograms.get(&tag).map(Histogram::stats).unwrap_or_default()
    };
    GatewaySummary {
        plan: planned.clone(),
        transactions: measured.completed,
        headline: measured.headline,
        errors: measured.failures.total(),
        retries: measured.retries,
        moves: record.moves,
        response: stats(Clock::Response),
        service: stats(Clock::Service),
    }
}

/// What was not completed inside the interval.
fn failures(counts: &[TransactionCounts]) -> Failures {
    let mut failures = Failures::default();
    for counts in counts {
        failures.merge(&counts.measured.failures);
        failures.merge(&counts.measured.deferred.failures);
    }
    failures
}

/// Batch means where there are batches enough, else what the count alone tells.
fn interval(plan: &Plan, count: u64, seconds: f64, timeline: &[TimelineRow]) -> RateInterval {
    let batches = plan.headline().map(|index| statistics::bins(timeline, index)).unwrap_or_default();
    if batches.len() >= statistics::MIN_BINS {
        // Around the exact rate: the batches leave out what does not fill the last of them.
        let rate = per_minute(count, seconds);
        let error = statistics::mean_error(&batches);
        let low = (rate - error).max(0.0);
        return RateInterval { low, high: rate + error, method: RateMethod::BatchMeans, batches: batches.len() as u32 };
    }
    // The square root of a Poisson count has a standard deviation of one half.
    let edge = |sign: f64| ((count as f64).sqrt() + sign * 1.96 / 2.0).max(0.0).powi(2);
    let rate = |edge: f64| if seconds > 0.0 { edge * 60.0 / seconds } else { 0.0 };
    RateInterval { low: rate(edge(-1.0)), high: rate(edge(1.0)), method: RateMethod::Poisson, batches: 0 }
}
