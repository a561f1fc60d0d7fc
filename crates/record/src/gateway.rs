//! What went through each gateway of a cluster; recorded only where there are several.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::recorder::{Clock, Failures, Outcome, Phase, Sample};

/// The clocks that are kept per gateway, of the headline transaction alone.
pub const CLOCKS: [Clock; 2] = [Clock::Response, Clock::Service];

/// Transactions of one gateway in one phase. A queued transaction counts where its deferred part was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GatewayCounts {
    /// Completed, of all types.
    pub completed: u64,
    /// Those of the headline type (New-Order).
    pub headline: u64,
    /// Not completed, by cause.
    pub failures: Failures,
    /// Attempts beyond the first.
    pub retries: u64,
}

impl GatewayCounts {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &GatewayCounts) {
        self.completed += other.completed;
        self.headline += other.headline;
        self.failures.merge(&other.failures);
        self.retries += other.retries;
    }
}

/// What became of the connections of one gateway, in the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Moves {
    /// Connections through it that broke.
    pub lost: u64,
    /// Those of them that were replaced by one through another gateway.
    pub failovers_from: u64,
    /// Connections lost elsewhere that were replaced by one through it.
    pub failovers_to: u64,
    /// Its own connections that came back to it.
    pub returned: u64,
}

impl Moves {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Moves) {
        self.lost += other.lost;
        self.failovers_from += other.failovers_from;
        self.failovers_to += other.failovers_to;
        self.returned += other.returned;
    }
}

/// What one thread records of one gateway between two swaps.
#[derive(Debug, Clone, Default)]
pub struct GatewayRecorder {
    counts: [GatewayCounts; Phase::ALL.len()],
    histograms: [[Histogram<u32>; CLOCKS.len()]; Phase::ALL.len()],
    /// What became of its connections.
    pub moves: Moves,
}

impl GatewayRecorder {
    /// Records a transaction that went through it.
    #[inline]
    pub fn transaction(&mut self, headline: bool, phase: Phase, sample: &Sample) {
        let counts = &mut self.counts[phase as usize];
        counts.retries += u64::from(sample.retries);
        if let Outcome::Failed(failure) = sample.outcome {
            counts.failures.record(failure);
            return;
        }
        counts.completed += 1;
        if headline {
            counts.headline += 1;
            let [response, service] = &mut self.histograms[phase as usize];
            response.record(sample.response_us);
            service.record(sample.service_us);
        }
    }

    /// Adds everything that `other` recorded.
    pub fn merge(&mut self, other: &GatewayRecorder) {
        self.moves.merge(&other.moves);
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| mine.merge(theirs));
        let theirs = other.histograms.iter().flatten();
        self.histograms.iter_mut().flatten().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// Forgets everything recorded; the memory is kept.
    pub fn clear(&mut self) {
        self.moves = Moves::default();
        self.counts = Default::default();
        self.histograms.iter_mut().flatten().for_each(Histogram::clear);
    }

    /// Its counts in a phase.
    #[must_use]
    pub fn counts(&self, phase: Phase) -> &GatewayCounts {
        &self.counts[phase as usize]
    }

    /// Its histograms in a phase, in the order of [`CLOCKS`].
    #[must_use]
    pub fn histograms(&self, phase: Phase) -> &[Histogram<u32>; CLOCKS.len()] {
        &self.histograms[phase as usize]
    }
}
