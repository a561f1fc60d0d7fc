//! Keying times, think times and response-time limits (5.2.3, 5.2.5).

use crate::input::Kind;
use crate::rng::Stream;

/// 90 % of deferred deliveries must complete within this time of being queued (2.7.2.2).
pub const DEFERRED_DELIVERY_LIMIT_SECONDS: f64 = 80.0;

/// The line of one transaction type in the table of 5.2.5.7, and its share of the mix (5.2.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Keying time: constant, at least this many seconds (5.2.5.2).
    pub keying_seconds: f64,
    /// Think time: exponential, with at least this mean in seconds (5.2.5.4).
    pub mean_think_seconds: f64,
    /// At least 90 % of response times must be below this many seconds (5.2.5.3).
    pub response_limit_seconds: f64,
    /// The least share of all transactions, 0 to 1; none for New-Order, which is the metric
    /// (5.2.3).
    pub minimum_share: Option<f64>,
}

/// By [`Kind::index`].
const TABLE: [Timing; 5] = [
    timing(18.0, 12.0, 5.0, None),
    timing(3.0, 12.0, 5.0, Some(0.43)),
    timing(2.0, 10.0, 5.0, Some(0.04)),
    timing(2.0, 5.0, 5.0, Some(0.04)),
    timing(2.0, 5.0, 20.0, Some(0.04)),
];

const fn timing(
    keying_seconds: f64,
    mean_think_seconds: f64,
    response_limit_seconds: f64,
    minimum_share: Option<f64>,
) -> Timing {
    Timing { keying_seconds, mean_think_seconds, response_limit_seconds, minimum_share }
}

impl Kind {
    /// The times and limits of the transaction (5.2.3, 5.2.5.7).
    #[inline]
    pub const fn timing(self) -> Timing {
        TABLE[self.index()]
    }
}

impl Timing {
    /// Keying time in microseconds; a pacing `factor` of 1 keeps the standard's.
    pub fn keying_us(&self, factor: f64) -> u64 {
        microseconds(self.keying_seconds * factor)
    }

    /// Keying and mean think time together: the cycle of a terminal less the response time.
    pub const fn wait_seconds(&self) -> f64 {
        self.keying_seconds + self.mean_think_seconds
    }
}

/// Think times are cut at this many means (5.2.5.4).
const CUT: f64 = 10.0;

/// The mean of the exponential, in units of the wanted mean, that makes up for the cut: the
/// solution of `STRETCH * (1 - exp(-CUT / STRETCH)) = 1`, slightly above `1 / (1 - exp(-10))`.
const STRETCH: f64 = 1.000_045_422_618_467;

/// A think time in microseconds (5.2.5.4): exponential, cut at ten means, with the expectation
/// `mean_seconds`, because the measured average may not be below the minimum (9.2.6.13).
pub fn think_time_us(rng: &mut Stream, mean_seconds: f64) -> u64 {
    let means = -rng.unit().ln() * STRETCH;
    microseconds(means.min(CUT) * mean_seconds)
}

/// What is left, in microseconds, of a think time met at a random moment. Its density is
/// proportional to the probability that a think time is longer.
pub(crate) fn residual_think_us(rng: &mut Stream, mean_seconds: f64) -> u64 {
    let reachable = 1.0 - (-CUT / STRETCH).exp();
    let means = -(1.0 - rng.unit() * reachable).ln() * STRETCH;
    microseconds(means * mean_seconds)
}

/// Rounded up, so that no wait is shorter than asked for. Never negative.
pub(crate) fn microseconds(seconds: f64) -> u64 {
    (seconds * 1e6).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretch_makes_up_for_the_cut() {
        let expectation = STRETCH * (1.0 - (-CUT / STRETCH).exp());
        assert!((expectation - 1.0).abs() < 1e-15, "{expectation}");
    }

    /// The mean rest of a wait that is met at random is E[T^2] / 2 E[T]; of an exponential that
    /// is nearly its mean.
    #[test]
    fn residual_think_time() {
        let mut rng = Stream::for_terminal(1, 1);
        let draws: Vec<u64> = (0..1_000_000).map(|_| residual_think_us(&mut rng, 10.0)).collect();
        let mean = draws.iter().sum::<u64>() as f64 / draws.len() as f64;
        assert!((mean / 10e6 - 0.9995).abs() < 0.004, "{mean}");
        assert!(draws.iter().all(|&us| us <= 100_000_001));
    }
}
