//! Where samples land: a plain, single-threaded recorder, one a driver thread.
//!
//! A recorder is swapped out once a second, merged with those of the other threads, written to the
//! run folder, cleared and swapped in again. Recording takes no lock and allocates nothing.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::gateway::GatewayRecorder;
use crate::histogram::Histogram;
use crate::plan::Plan;
use crate::statements::StatementRecorder;

/// Where in the run a sample lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Entirely inside the measurement interval (5.4.2).
    Measured,
    /// Ramp-up, straddling an edge of the interval, or drain.
    Outside,
}

impl Phase {
    /// Both phases, in the order of their storage.
    pub const ALL: [Phase; 2] = [Phase::Measured, Phase::Outside];
}

/// How a business transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Committed, and its answer was read.
    Committed,
    /// The designed rollback, which counts as completed (5.1.2).
    RolledBack,
    /// Not completed.
    Failed(Failure),
}

/// Why a business transaction was not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// A row that the profile needs is missing, or a statement touched the wrong number of rows.
    Integrity,
    /// Every permitted retry was used up.
    Exhausted,
    /// The connection was lost before COMMIT was sent: it did not commit.
    Connection,
    /// The connection was lost while COMMIT was under way: nobody knows.
    Unknown,
    /// Any other error of the database.
    Other,
}

/// One business transaction, as its terminal saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// From sending to the whole answer, waits for a connection and retries included, in microseconds.
    pub response_us: u64,
    /// The part of it spent with the database, in microseconds.
    pub service_us: u64,
    /// The part of it spent waiting for a connection, in microseconds.
    pub queue_us: u64,
    /// Attempts beyond the first.
    pub retries: u32,
    /// How it ended.
    pub outcome: Outcome,
}

/// What a histogram of a transaction times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// Response time of completed transactions, designed rollbacks included (5.2.5.3).
    Response,
    /// Time with the database.
    Service,
    /// Wait for a connection.
    Queue,
    /// Keying time as served.
    Keying,
    /// Think time as served.
    Think,
    /// Response time of transactions that failed.
    Failed,
    /// Deferred part: from being queued to completion (2.7.2).
    Deferred,
    /// Deferred part: time with the database.
    DeferredService,
    /// Deferred part: from being queued to holding a connection.
    DeferredQueue,
}

impl Clock {
    /// All clocks, in the order of their storage.
    pub const ALL: [Clock; 9] = [
        Clock::Response,
        Clock::Service,
        Clock::Queue,
        Clock::Keying,
        Clock::Think,
        Clock::Failed,
        Clock::Deferred,
        Clock::DeferredService,
        Clock::DeferredQueue,
    ];

    /// The name in a tag of the latency log: `new_order.response`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Clock::Response => "response",
            Clock::Service => "service",
            Clock::Queue => "queue",
            Clock::Keying => "keying",
            Clock::Think => "think",
            Clock::Failed => "failed",
            Clock::Deferred => "deferred",
            Clock::DeferredService => "deferred_service",
            Clock::DeferredQueue => "deferred_queue",
        }
    }
}

/// Transactions that were not completed, by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failures {
    /// See [`Failure::Integrity`].
    pub integrity: u64,
    /// See [`Failure::Exhausted`].
    pub exhausted: u64,
    /// Every lost connection: [`Failure::Connection`] and [`Failure::Unknown`].
    pub connection: u64,
    /// Those of them that are [`Failure::Unknown`].
    pub unknown: u64,
    /// See [`Failure::Other`].
    pub other: u64,
}

impl Failures {
    /// All causes together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.integrity + self.exhausted + self.connection + self.other
    }

    /// Counts one failure.
    pub fn record(&mut self, failure: Failure) {
        self.unknown += u64::from(failure == Failure::Unknown);
        *match failure {
            Failure::Integrity => &mut self.integrity,
            Failure::Exhausted => &mut self.exhausted,
            Failure::Connection | Failure::Unknown => &mut self.connection,
            Failure::Other => &mut self.other,
        } += 1;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Failures) {
        self.integrity += other.integrity;
        self.exhausted += other.exhausted;
        self.connection += other.connection;
        self.unknown += other.unknown;
        self.other += other.other;
    }
}

/// Counts of one transaction type in one phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Completed (5.1.2): committed, or rolled back by design.
    pub completed: u64,
    /// Those of them that rolled back by design.
    pub rolled_back: u64,
    /// Not completed, by cause.
    pub failures: Failures,
    /// Attempts beyond the first, over all transactions.
    pub retries: u64,
    /// Times longer than the histogram's ten minutes, over all its clocks.
    pub clipped: u64,
    /// The deferred part, where the transaction has one.
    pub deferred: DeferredCounts,
}

impl Counts {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Counts) {
        self.completed += other.completed;
        self.rolled_back += other.rolled_back;
        self.failures.merge(&other.failures);
        self.retries += other.retries;
        self.clipped += other.clipped;
        self.deferred.merge(&other.deferred);
    }
}

/// Counts of the deferred part of a queued transaction (Delivery, 2.7.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeferredCounts {
    /// Completed.
    pub completed: u64,
    /// Not completed, by cause.
    pub failures: Failures,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Completed ones that skipped at least one part (2.7.4.2).
    pub skipped: u64,
    /// Parts (districts) skipped, over all transactions.
    pub skipped_parts: u64,
}

impl DeferredCounts {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &DeferredCounts) {
        self.completed += other.completed;
        self.failures.merge(&other.failures);
        self.retries += other.retries;
        self.skipped += other.skipped;
        self.skipped_parts += other.skipped_parts;
    }
}

/// A share or a mean being counted: hits of trials, or a sum over trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Trials that hit, or the sum of their values.
    pub hits: u64,
    /// Trials.
    pub trials: u64,
}

impl Tally {
    /// Hits per trial; `None` without a trial.
    #[must_use]
    pub fn figure(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.hits as f64 / self.trials as f64)
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Tally) {
        self.hits += other.hits;
        self.trials += other.trials;
    }
}

/// What one thread records between two swaps.
#[derive(Debug, Clone)]
pub struct Recorder {
    phases: [PhaseRecord; 2],
    headline: Option<usize>,
    /// Empty where there is only one.
    gateways: Vec<GatewayRecorder>,
    /// By transaction type; empty where statements are not timed.
    statements: Vec<StatementRecorder>,
}

/// One phase of a recorder.
#[derive(Debug, Clone)]
struct PhaseRecord {
    transactions: Vec<TransactionRecord>,
    tallies: Vec<Tally>,
    lag: Histogram<u32>,
}

/// One transaction type in one phase.
#[derive(Debug, Clone, Default)]
struct TransactionRecord {
    counts: Counts,
    histograms: [Histogram<u32>; Clock::ALL.len()],
}

impl TransactionRecord {
    #[inline]
    fn time(&mut self, clock: Clock, us: u64) {
        self.counts.clipped += u64::from(us > crate::histogram::MAX_US);
        self.histograms[clock as usize].record(us);
    }
}

impl Recorder {
    /// An empty recorder of the plan's transaction types, tallies and gateways, in its order.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let phase = || PhaseRecord {
            transactions: plan.transactions.iter().map(|_| TransactionRecord::default()).collect(),
            tallies: vec![Tally::default(); plan.tallies.len()],
            lag: Histogram::new(),
        };
        let gateways = plan.gateways.iter().map(|_| GatewayRecorder::default()).collect();
        let timed = plan.transactions.iter().filter(|_| plan.statements);
        let statements = timed.map(|_| StatementRecorder::default()).collect();
        Recorder { phases: [phase(), phase()], headline: plan.headline(), gateways, statements }
    }

    #[inline]
    fn slot(&mut self, index: usize, phase: Phase) -> &mut TransactionRecord {
        &mut self.phases[phase as usize].transactions[index]
    }

    /// Records a business transaction of type `index`.
    #[inline]
    pub fn transaction(&mut self, index: usize, phase: Phase, sample: &Sample) {
        let slot = self.slot(index, phase);
        slot.counts.retries += u64::from(sample.retries);
        match sample.outcome {
            Outcome::Failed(failure) => {
                slot.counts.failures.record(failure);
                slot.time(Clock::Failed, sample.response_us);
                return;
            }
            Outcome::RolledBack => slot.counts.rolled_back += 1,
            Outcome::Committed => {}
        }
        slot.counts.completed += 1;
        slot.time(Clock::Response, sample.response_us);
        slot.time(Clock::Service, sample.service_us);
        slot.time(Clock::Queue, sample.queue_us);
    }

    /// Records the deferred part of a queued transaction of type `index` (Delivery, 2.7.2); its
    /// `response_us` runs from being queued.
    pub fn deferred(&mut self, index: usize, phase: Phase, sample: &Sample) {
        let slot = self.slot(index, phase);
        slot.counts.deferred.retries += u64::from(sample.retries);
        if let Outcome::Failed(failure) = sample.outcome {
            slot.counts.deferred.failures.record(failure);
            return;
        }
        slot.counts.deferred.completed += 1;
        slot.time(Clock::Deferred, sample.response_us);
        slot.time(Clock::DeferredService, sample.service_us);
        slot.time(Clock::DeferredQueue, sample.queue_us);
    }

    /// Records that a business transaction of type `index` went through a gateway, if there are several.
    #[inline]
    pub fn through(&mut self, gateway: usize, index: usize, phase: Phase, sample: &Sample) {
        let headline = self.headline == Some(index);
        if let Some(gateway) = self.gateways.get_mut(gateway) {
            gateway.transaction(headline, phase, sample);
        }
    }

    /// Records where the time of a business transaction of type `index` went, if it was completed inside the interval:
    /// its parts with the time of each, microseconds.
    pub fn statements(
        &mut self,
        index: usize,
        phase: Phase,
        sample: &Sample,
        parts: impl Iterator<Item = (Cow<'static, str>, u64)>,
    ) {
        let counts = phase == Phase::Measured && !matches!(sample.outcome, Outcome::Failed(_));
        if let Some(recorder) = self.statements.get_mut(index).filter(|_| counts) {
            recorder.transaction(sample.service_us, parts);
        }
    }

    /// Records that a connection through a gateway broke.
    pub fn connection_lost(&mut self, gateway: usize) {
        if let Some(gateway) = self.gateways.get_mut(gateway) {
            gateway.moves.lost += 1;
        }
    }

    /// Records that a connection lost at one gateway was replaced by one through another.
    pub fn failover(&mut self, from: usize, to: usize) {
        if let Ok([from, to]) = self.gateways.get_disjoint_mut([from, to]) {
            from.moves.failovers_from += 1;
            to.moves.failovers_to += 1;
        }
    }

    /// Records that a connection came back to its own gateway.
    pub fn returned(&mut self, gateway: usize) {
        if let Some(gateway) = self.gateways.get_mut(gateway) {
            gateway.moves.returned += 1;
        }
    }

    /// Counts a completed deferred transaction that skipped `parts` (districts); 0 counts nothing.
    pub fn skipped(&mut self, index: usize, phase: Phase, parts: u32) {
        let deferred = &mut self.slot(index, phase).counts.deferred;
        deferred.skipped += u64::from(parts > 0);
        deferred.skipped_parts += u64::from(parts);
    }

    /// Records a keying time as served, in microseconds.
    #[inline]
    pub fn keying(&mut self, index: usize, phase: Phase, us: u64) {
        self.slot(index, phase).time(Clock::Keying, us);
    }

    /// Records a think time as served, in microseconds.
    #[inline]
    pub fn think(&mut self, index: usize, phase: Phase, us: u64) {
        self.slot(index, phase).time(Clock::Think, us);
    }

    /// Records how late the tool's own timer woke a terminal, in microseconds.
    #[inline]
    pub fn lag(&mut self, phase: Phase, us: u64) {
        self.phases[phase as usize].lag.record(us);
    }

    /// Adds to tally `index`: hits of trials, or a sum over trials.
    #[inline]
    pub fn tally(&mut self, index: usize, phase: Phase, hits: u64, trials: u64) {
        let tally = &mut self.phases[phase as usize].tallies[index];
        tally.hits += hits;
        tally.trials += trials;
    }

    /// Adds everything that `other` recorded; both were made for the same plan.
    pub fn merge(&mut self, other: &Recorder) {
        self.gateways.iter_mut().zip(&other.gateways).for_each(|(mine, theirs)| mine.merge(theirs));
        self.statements.iter_mut().zip(&other.statements).for_each(|(mine, theirs)| mine.merge(theirs));
        for (mine, theirs) in self.phases.iter_mut().zip(&other.phases) {
            mine.lag.merge(&theirs.lag);
            for (mine, theirs) in mine.tallies.iter_mut().zip(&theirs.tallies) {
                mine.merge(theirs);
            }
            for (mine, theirs) in mine.transactions.iter_mut().zip(&theirs.transactions) {
                mine.counts.merge(&theirs.counts);
                for (mine, theirs) in mine.histograms.iter_mut().zip(&theirs.histograms) {
                    mine.merge(theirs);
                }
            }
        }
    }

    /// Forgets everything recorded; the memory is kept.
    pub fn clear(&mut self) {
        self.gateways.iter_mut().for_each(GatewayRecorder::clear);
        self.statements.iter_mut().for_each(StatementRecorder::clear);
        for phase in &mut self.phases {
            phase.lag.clear();
            phase.tallies.fill(Tally::default());
            for transaction in &mut phase.transactions {
                transaction.counts = Counts::default();
                transaction.histograms.iter_mut().for_each(Histogram::clear);
            }
        }
    }

    /// Number of transaction types.
    #[must_use]
    pub fn transactions(&self) -> usize {
        self.phases[0].transactions.len()
    }

    /// Counts of transaction type `index`.
    #[must_use]
    pub fn counts(&self, index: usize, phase: Phase) -> &Counts {
        &self.phases[phase as usize].transactions[index].counts
    }

    /// Tallies of a phase, in the order of the plan.
    #[must_use]
    pub fn tallies(&self, phase: Phase) -> &[Tally] {
        &self.phases[phase as usize].tallies
    }

    /// A histogram of transaction type `index`.
    #[must_use]
    pub fn histogram(&self, index: usize, phase: Phase, clock: Clock) -> &Histogram<u32> {
        &self.phases[phase as usize].transactions[index].histograms[clock as usize]
    }

    /// The histogram of the tool's own lag.
    #[must_use]
    pub fn lag_histogram(&self, phase: Phase) -> &Histogram<u32> {
        &self.phases[phase as usize].lag
    }

    /// The statements of each transaction type, in the order of the plan; empty where they are not timed.
    #[must_use]
    pub fn statement_recorders(&self) -> &[StatementRecorder] {
        &self.statements
    }

    /// What went through each gateway, in the order of the plan; empty where there is only one.
    #[must_use]
    pub fn gateways(&self) -> &[GatewayRecorder] {
        &self.gateways
    }
}
