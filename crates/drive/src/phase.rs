//! When: the ramp, the measurement interval, and what lies outside.

use std::cell::Cell;
use std::time::{Duration, Instant};

use record::Phase;

/// The measurement interval of a run, as one driver thread sees it. It can only get shorter.
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

    /// A transaction is measured if it lies entirely inside the interval.
    pub(crate) fn phase(&self, from: Instant, to: Instant) -> Phase {
        if from >= self.start && to <= self.end.get() { Phase::Measured } else { Phase::Outside }
    }
}

/// Whole microseconds between two instants; 0 if they are the other way round.
pub(crate) fn us_between(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_entirely_inside_is_measured() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let interval = Interval::new(start, Duration::from_secs(10), Duration::from_secs(60));
        assert_eq!(interval.phase(at(10), at(70)), Phase::Measured);
        assert_eq!(interval.phase(at(9), at(11)), Phase::Outside, "begun in the ramp");
        assert_eq!(interval.phase(at(69), at(71)), Phase::Outside, "ended after the interval");
        interval.end_early(at(30));
        assert_eq!(interval.phase(at(29), at(31)), Phase::Outside, "the interval has become shorter");
        interval.end_early(at(50));
        assert_eq!(interval.end(), at(30), "and never longer");
    }

    #[test]
    fn time_does_not_run_backwards() {
        let now = Instant::now();
        assert_eq!(us_between(now + Duration::from_millis(2), now), 0);
        assert_eq!(us_between(now, now + Duration::from_millis(2)), 2000);
    }
}
