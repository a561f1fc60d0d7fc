//! Times of statements repeated, and two of them held against each other.
//!
//! Nothing is assumed of how times are spread: the middle is the median, and its interval is that of the order
//! statistics. Two sides are run in pairs, the order within a pair drawn each time; under "no difference" each pair is
//! then a fair coin whatever the times before it were, so neither drift nor autocorrelation makes a difference.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::query_plan::Plan;
use crate::run::{Target, Tool};

/// Chance of calling equals different.
const ALPHA: f64 = 0.05;

/// Where the 95 % interval of a median lies among `n` sorted values, both ends included; `None` for fewer than six, which
/// can't have one.
#[must_use]
pub fn median_places(n: usize) -> Option<(usize, usize)> {
    median_places_but(ALPHA, n)
}

/// As [`median_places`], of the interval that misses the median with this chance at most.
pub(crate) fn median_places_but(chance: f64, n: usize) -> Option<(usize, usize)> {
    let coin = Binomial::new(0.5, n as u64).ok()?;
    let below = (0..n / 2).take_while(|k| 2.0 * coin.cdf(*k as u64) <= chance).count();
    (below > 0).then(|| (below - 1, n - below))
}

/// The median of sorted values; `None` for none.
#[must_use]
pub fn median(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some((sorted[n / 2 - 1] + sorted[n / 2]) / 2.0),
    }
}

/// The median of values in any order; 0 for none.
#[must_use]
pub fn median_of(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(&sorted).unwrap_or_default()
}

/// The value below which a share of sorted values lies, by the nearest rank; `None` for none.
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

/// Times of one thing repeated, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// The first execution (of the first session), which prepares, plans and fills caches; not among the others.
    pub first_ms: Option<f64>,
    /// Executions behind the first.
    pub count: usize,
    /// Their mean.
    pub mean_ms: f64,
    /// Their median.
    pub median_ms: f64,
    /// The median's 95 % interval; `None` for fewer than six.
    pub interval_ms: Option<[f64; 2]>,
    /// The least.
    pub min_ms: f64,
    /// Nine of ten took at most this.
    pub p90_ms: f64,
    /// 95 % took at most this.
    pub p95_ms: f64,
    /// 99 % took at most this.
    pub p99_ms: f64,
    /// The greatest.
    pub max_ms: f64,
    /// Of all, the first included.
    pub sum_ms: f64,
    /// Each, in their order, session by session, the first included.
    pub times_ms: Vec<f64>,
}

impl Timing {
    /// Of times in their order, session by session; the first of each is set apart if there are others.
    #[must_use]
    pub fn from_sessions(sessions: Vec<Vec<f64>>) -> Self {
        Self::with_first(true, sessions)
    }

    /// Of times none of which is a first.
    #[must_use]
    pub fn from_warm_sessions(sessions: Vec<Vec<f64>>) -> Self {
        Self::with_first(false, sessions)
    }

    fn with_first(apart: bool, sessions: Vec<Vec<f64>>) -> Self {
        let behind = |times: &Vec<f64>| usize::from(apart && times.len() > 1);
        let apart = sessions.iter().any(|times| behind(times) > 0);
        let mut sorted: Vec<f64> = sessions.iter().flat_map(|times| times[behind(times)..].iter().copied()).collect();
        sorted.sort_by(f64::total_cmp);
        let times_ms: Vec<f64> = sessions.concat();
        let at = |share| quantile(&sorted, share).unwrap_or_default();
        Self {
            first_ms: times_ms.first().copied().filter(|_| apart),
            count: sorted.len(),
            mean_ms: sorted.iter().sum::<f64>() / (sorted.len().max(1)) as f64,
            median_ms: median(&sorted).unwrap_or_default(),
            interval_ms: median_places(sorted.len()).map(|(low, high)| [sorted[low], sorted[high]]),
            min_ms: at(0.0),
            p90_ms: at(0.9),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            max_ms: at(1.0),
            sum_ms: times_ms.iter().sum(),
            times_ms,
        }
    }
}

/// How one side's times are to the other's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    /// The base's time over the other's: 2 is twice as fast. The median of the pairs.
    pub factor: f64,
    /// Its 95 % interval; `None` for fewer than six pairs.
    pub interval: Option<[f64; 2]>,
    /// Chance that equals differ so often in one direction (sign test, two-sided).
    pub chance: f64,
    /// Pairs.
    pub pairs: usize,
}

impl Speedup {
    /// Of pairs of times, the base's first; `None` for none.
    #[must_use]
    pub fn from_pairs(pairs: &[(f64, f64)]) -> Option<Self> {
        let usable = pairs.iter().filter(|(base, other)| *base > 0.0 && *other > 0.0);
        let mut factors: Vec<f64> = usable.map(|(base, other)| base / other).collect();
        factors.sort_by(f64::total_cmp);
        let faster = factors.iter().filter(|factor| **factor > 1.0).count() as u64;
        let slower = factors.iter().filter(|factor| **factor < 1.0).count() as u64;
        let chance = match Binomial::new(0.5, faster + slower) {
            Ok(coin) if faster + slower > 0 => (2.0 * coin.cdf(faster.min(slower))).min(1.0),
            _ => 1.0,
        };
        Some(Self {
            factor: median(&factors)?,
            interval: median_places(factors.len()).map(|(low, high)| [factors[low], factors[high]]),
            chance,
            pairs: factors.len(),
        })
    }

    /// Whether chance does not explain the difference.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.interval.is_some_and(|[low, high]| low > 1.0 || high < 1.0) && self.chance < ALPHA
    }

    /// In words: `4.5 times as fast (3.9 to 5.1)`, `no difference that chance does not explain`.
    #[must_use]
    pub fn words(&self) -> String {
        let Some([low, high]) = self.interval else {
            return format!(
                "{} times as fast by {} pairs, too few to tell from chance",
                figure(self.factor),
                self.pairs
            );
        };
        match (self.is_significant(), self.factor >= 1.0) {
            (false, _) => format!(
                "no difference that chance does not explain ({} times, 95 % interval {} to {})",
                figure(self.factor),
                figure(low),
                figure(high)
            ),
            (true, true) => format!("{} times as fast ({} to {})", figure(self.factor), figure(low), figure(high)),
            (true, false) => {
                format!("{} times as slow ({} to {})", figure(1.0 / self.factor), figure(1.0 / high), figure(1.0 / low))
            }
        }
    }
}

/// Three digits.
#[must_use]
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A statement repeated at one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timed {
    /// Its statement, as it was given.
    pub statement: String,
    /// The gateway, or what else sets this side apart.
    pub place: String,
    /// Its times.
    pub timing: Timing,
    /// Rows that its last execution returned or changed.
    pub rows: u64,
    /// Its plan before the repetitions.
    pub plan_before: Option<Plan>,
    /// And after them.
    pub plan_after: Option<Plan>,
}

/// Statements repeated, and perhaps compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeResult {
    /// What measured.
    pub tool: Tool,
    /// The database.
    pub target: Target,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// `prepared` or `simple`.
    pub protocol: String,
    /// `none`, `commit` or `rollback`.
    pub transaction: String,
    /// Sessions that repeat each statement side by side.
    pub concurrency: usize,
    /// Rounds before the first that counts.
    pub warmup: usize,
    /// How often all began anew in new sessions: where both sides can't share theirs, a pair is of their medians in one
    /// sitting.
    pub sittings: usize,
    /// The seed of the values and of the order within a pair.
    pub seed: u64,
    /// The statements, and those of the other side behind them.
    pub statements: Vec<Timed>,
    /// The other side's speed over the first one's, if there are two.
    pub comparison: Option<Speedup>,
    /// What kept it from its end, if something did.
    pub interrupted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_median_is_the_books() {
        // Conover, Practical Nonparametric Statistics: order statistics of a 95 % interval.
        let cases = [(5, None), (6, Some((0, 5))), (10, Some((1, 8))), (20, Some((5, 14))), (100, Some((39, 60)))];
        for (n, places) in cases {
            assert_eq!(median_places(n), places, "{n}");
        }
    }

    #[test]
    fn the_first_is_apart() {
        let timing = Timing::from_sessions(vec![vec![90.0, 3.0, 1.0, 2.0, 4.0, 5.0, 6.0]]);
        assert_eq!((timing.first_ms, timing.count, timing.median_ms), (Some(90.0), 6, 3.5));
        assert_eq!((timing.interval_ms, timing.min_ms, timing.max_ms), (Some([1.0, 6.0]), 1.0, 6.0));
        assert_eq!((timing.sum_ms, timing.p90_ms), (111.0, 6.0));
        let one = Timing::from_sessions(vec![vec![7.0]]);
        assert_eq!((one.first_ms, one.count, one.median_ms, one.interval_ms), (None, 1, 7.0, None));
        assert_eq!(Timing::from_sessions(Vec::new()).count, 0);
    }

    #[test]
    fn a_sign_test_of_equals_is_wrong_one_time_in_twenty_however_times_hang_together() {
        // A walk: each time hangs on the one before, and the level drifts.
        let mut state = 7_u64;
        let mut coin = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        let (runs, mut alarms) = (2000, 0);
        for _ in 0..runs {
            let mut level = 1.0_f64;
            let pairs: Vec<(f64, f64)> = (0..20)
                .map(|_| {
                    let mut next = || {
                        level = 0.3 + 0.7 * level + coin() * 0.5;
                        level
                    };
                    let (first, second) = (next(), next());
                    if coin() < 0.5 { (first, second) } else { (second, first) }
                })
                .collect();
            alarms += usize::from(Speedup::from_pairs(&pairs).is_some_and(|speedup| speedup.is_significant()));
        }
        assert!(alarms * 100 <= runs * 6, "{alarms} of {runs}");
    }

    #[test]
    fn a_difference_is_told_in_correct_words() {
        let pairs: Vec<(f64, f64)> = (0..20).map(|n| (4.0 + 0.01 * f64::from(n), 2.0)).collect();
        let speedup = Speedup::from_pairs(&pairs).unwrap();
        assert!(speedup.is_significant() && speedup.words().starts_with("2.05 times as fast"), "{}", speedup.words());
        let slower: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        assert!(Speedup::from_pairs(&slower).unwrap().words().starts_with("2.05 times as slow"));
        let few = Speedup::from_pairs(&pairs[..3]).unwrap();
        assert!(!few.is_significant() && few.words().contains("too few"), "{}", few.words());
        assert!(Speedup::from_pairs(&[]).is_none());
    }
}
