//! When: the ramp, the measurement interval, and what lies outside.

use std::cell::Cell;
use std::time::{Duration, Instant};

use record::Phase;

/// The measurement interval of a run, as one shard sees it. It can only get shorter.
#[derive(Debug)]
pub(crate) struct Interval {
    pub(crate) run_start: Instant,
    pub(crate) start: Instant,
    end: Cell<Instant>,
}

impl Interval {
    pub(crate) fn new(run_start: Instant, ramp: Duration, duration: Duration) -> Self {
        let start = run_start + ramp;
        Self { run_start, start, end: Cell::new(start + duration) }
    }

    pub(crate) fn end(&self) -> Instant {
        self.end.get()
    }

    /// Ends the interval now, if it has not ended.
    pub(crate) fn end_early(&self, now: Instant) {
        self.end.set(self.end.get().min(now));
    }

    /// Only what lies entirely inside the interval is measured (5.4.2).
    pub(crate) fn phase(&self, from: Instant, to: Instant) -> Phase {
        if from >= self.start && to <= self.end.get() { Phase::Measured } else { Phase::Outside }
    }
}

/// Whole microseconds between two instants; 0 if they are the other way round.
pub(crate) fn us_between(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_micros()).unwrap_or(u64::MAX)
}
