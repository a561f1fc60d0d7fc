//! HDR histograms of microseconds with one fixed set of bounds, so that any two can be merged.

use hdrhistogram::{Counter, Histogram as Hdr};
use serde::{Deserialize, Serialize};

/// Longest time that is told apart, in microseconds: ten minutes. Longer ones are counted as
/// this and in [`Histogram::clipped`].
pub const MAX_US: u64 = 600_000_000;

/// Significant decimal digits kept of every value: 0.1 %.
pub(crate) const DIGITS: u8 = 3;

/// A histogram of times in microseconds, from 1 µs to [`MAX_US`], to three significant digits.
///
/// `u32` counts serve the seconds of a run, `u64` counts its totals.
#[derive(Debug, Clone)]
pub struct Histogram<C: Counter> {
    hdr: Hdr<C>,
    clipped: u64,
}

impl<C: Counter> Default for Histogram<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Counter> Histogram<C> {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        let hdr = Hdr::new_with_bounds(1, MAX_US, DIGITS).expect("the constant bounds are valid");
        Histogram { hdr, clipped: 0 }
    }

    /// Records one time, in microseconds.
    #[inline]
    pub fn record(&mut self, us: u64) {
        self.clipped += u64::from(us > MAX_US);
        self.hdr.saturating_record(us);
    }

    /// Number of recorded times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.hdr.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hdr.is_empty()
    }

    /// How many of the recorded times were longer than [`MAX_US`].
    #[must_use]
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// Number of recorded times of at least `us`, counted by whole buckets: those whose upper edge reaches `us`.
    #[must_use]
    pub fn count_at_least(&self, us: u64) -> u64 {
        self.hdr.count_between(us, self.hdr.high())
    }

    /// The smallest time that at least this share of the times does not exceed, in microseconds.
    #[must_use]
    pub fn quantile_us(&self, share: f64) -> u64 {
        self.hdr.value_at_quantile(share)
    }

    /// Adds the times of `other`.
    pub fn merge(&mut self, other: &Histogram<C>) {
        self.clipped += other.clipped;
        if !other.is_empty() {
            self.hdr.add(&other.hdr).expect("all histograms have the same bounds");
        }
    }

    /// Forgets everything recorded; the memory is kept.
    pub fn clear(&mut self) {
        if !self.hdr.is_empty() {
            self.hdr.reset();
        }
        self.clipped = 0;
    }

    /// Count, mean, extremes and percentiles, in milliseconds.
    #[must_use]
    pub fn stats(&self) -> Stats {
        if self.is_empty() {
            return Stats::default();
        }
        let ms = |us: u64| us as f64 / 1000.0;
        let quantile = |q: f64| ms(self.hdr.value_at_quantile(q));
        Stats {
            count: self.count(),
            mean: self.hdr.mean() / 1000.0,
            min: ms(self.hdr.min()),
            p50: quantile(0.50),
            p90: quantile(0.90),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: ms(self.hdr.max()),
        }
    }

    /// The buckets that hold something, as (upper edge in microseconds, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.hdr.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()))
    }

    /// The underlying histogram, for the interval log.
    pub(crate) fn hdr(&self) -> &Hdr<C> {
        &self.hdr
    }
}

impl Histogram<u64> {
    /// Adds the times of one second to a total.
    pub fn merge_interval(&mut self, interval: &Histogram<u32>) {
        self.clipped += interval.clipped;
        self.merge_hdr(&interval.hdr);
    }

    /// Adds a time, in microseconds, that was recorded so often.
    pub(crate) fn record_many(&mut self, us: u64, count: u64) {
        self.hdr.saturating_record_n(us, count);
    }

    /// Adds a histogram of any bounds, such as one that was read from an interval log.
    pub(crate) fn merge_hdr<C: Counter>(&mut self, other: &Hdr<C>) {
        for bucket in other.iter_recorded() {
            self.hdr.saturating_record_n(bucket.value_iterated_to(), bucket.count_since_last_iteration());
        }
    }
}

/// Count, mean, extremes and percentiles of a histogram, in milliseconds; all zero when `count` is 0.
///
/// Percentiles are by nearest rank (5.6.1): the smallest value that at least this share of the times
/// does not exceed, taken as the upper edge of its bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Number of times.
    pub count: u64,
    /// Arithmetic mean, ms.
    pub mean: f64,
    /// Smallest, ms (lower edge of its bucket).
    pub min: f64,
    /// Median, ms.
    pub p50: f64,
    /// 90th percentile, ms.
    pub p90: f64,
    /// 95th percentile, ms.
    pub p95: f64,
    /// 99th percentile, ms.
    pub p99: f64,
    /// 99.9th percentile, ms.
    pub p999: f64,
    /// Largest, ms (upper edge of its bucket).
    pub max: f64,
}
