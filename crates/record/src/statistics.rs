//! The statistics that rules are judged with: what chance can explain, and what it cannot.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

use crate::timeline::{self, Stage, TimelineRow};

/// One-sided chance of a deviation beyond four standard errors. Below it, chance is no explanation.
pub const FOUR_SIGMA: f64 = 3.167e-5;

/// Fewest stretches of the interval from which a spread or a trend is told.
pub const MIN_BINS: usize = 20;

/// Fewest headline transactions in a stretch, so that its rate is about normal.
pub const MIN_PER_BIN: f64 = 30.0;

/// Most stretches; more would only be noisier.
const MAX_BINS: usize = 240;

/// Chance of at least `hits` of `trials`, each a hit with chance `p`.
#[must_use]
pub fn binomial_at_least(hits: u64, trials: u64, p: f64) -> f64 {
    1.0 - binomial_below(hits, trials, p)
}

/// Chance of at most `hits` of `trials`, each a hit with chance `p`.
#[must_use]
pub fn binomial_at_most(hits: u64, trials: u64, p: f64) -> f64 {
    binomial_below(hits.saturating_add(1), trials, p)
}

/// Chance of fewer than `hits` of `trials`.
fn binomial_below(hits: u64, trials: u64, p: f64) -> f64 {
    let mean = trials as f64 * p;
    let variance = mean * (1.0 - p);
    if hits == 0 {
        return 0.0;
    }
    // The exact sum for the small and skewed; the normal, with its half-step correction, for the large.
    match Binomial::new(p, trials) {
        Ok(binomial) if variance < 1000.0 => binomial.cdf(hits - 1),
        _ => Normal::standard().cdf((hits as f64 - 0.5 - mean) / variance.sqrt()),
    }
}

/// Sample with which a `distance` from the expected value is four standard errors.
#[must_use]
pub fn needed_sample(variance_per_trial: f64, distance: f64) -> u64 {
    (16.0 * variance_per_trial / (distance * distance)).ceil() as u64
}

/// Headline rates, a minute, of equal stretches of the measurement interval, each long enough to be told
/// from its neighbours; empty where too little was completed.
#[must_use]
pub fn bins(rows: &[TimelineRow], headline: usize) -> Vec<f64> {
    let measured: Vec<(f64, f64)> = timeline::durations(rows)
        .zip(rows)
        .filter(|(_, row)| row.stage == Stage::Measured)
        .map(|(seconds, row)| (seconds, row.completed.get(headline).copied().unwrap_or(0) as f64))
        .collect();
    let total: f64 = measured.iter().map(|(_, count)| count).sum();
    if total < MIN_PER_BIN {
        return Vec::new();
    }
    let by_count = (MIN_PER_BIN * measured.len() as f64 / total).ceil() as usize;
    let rows_per_bin = by_count.max(measured.len().div_ceil(MAX_BINS)).max(1);
    measured
        .chunks_exact(rows_per_bin)
        .filter_map(|bin| {
            let seconds: f64 = bin.iter().map(|(seconds, _)| seconds).sum();
            let count: f64 = bin.iter().map(|(_, count)| count).sum();
            (seconds > 0.0).then(|| count * 60.0 / seconds)
        })
        .collect()
}

/// Half the width of the 95 % interval of the mean of at least two `values`, by Student's t.
#[must_use]
pub fn mean_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = StudentsT::new(0.0, 1.0, n - 1.0).map_or(1.96, |t| t.inverse_cdf(0.975));
    t * (variance / n).sqrt()
}

/// A straight line through the stretches of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change from the first stretch to the last, over the mean: -0.1 is a loss of a tenth.
    pub change: f64,
    /// Chance of so steep a line, up or down, in a series without a trend.
    pub chance: f64,
}

/// The least-squares line through `values`; `None` for fewer than three, or with a mean of zero.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    let n = values.len() as f64;
    if values.len() < 3 {
        return None;
    }
    let middle = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    if mean <= 0.0 {
        return None;
    }
    let deviations = || values.iter().enumerate().map(|(i, value)| (i as f64 - middle, value - mean));
    let xx: f64 = deviations().map(|(x, _)| x * x).sum();
    let slope = deviations().map(|(x, y)| x * y).sum::<f64>() / xx;
    let residual: f64 = deviations().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let error = (residual / (n - 2.0) / xx).sqrt();
    let chance = match StudentsT::new(0.0, 1.0, n - 2.0) {
        Ok(t) if error > 0.0 => 2.0 * t.cdf(-(slope / error).abs()),
        // A perfect line: certain if it rises or falls at all.
        _ if slope == 0.0 => 1.0,
        _ => 0.0,
    };
    Some(Trend { change: slope * (n - 1.0) / mean, chance })
}
/// A step in a series: where its level changes most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The first value of the later level.
    pub at: usize,
    /// The later level over the earlier one, less 1: -0.2 is a loss of a fifth.
    pub change: f64,
    /// Chance of so great a step anywhere in a series of one level, at most.
    pub chance: f64,
}

/// Fewest values on either side of a step.
const MIN_BESIDE: usize = 5;

/// The greatest step in `values`, by Student's t of what lies before and behind it; the number of places where it could
/// be is allowed for (Bonferroni). `None` for too few values.
#[must_use]
pub fn step(values: &[f64]) -> Option<Step> {
    let n = values.len();
    let moments = |part: &[f64]| {
        let count = part.len() as f64;
        let mean = part.iter().sum::<f64>() / count;
        (mean, part.iter().map(|value| (value - mean).powi(2)).sum::<f64>())
    };
    let t = StudentsT::new(0.0, 1.0, n as f64 - 2.0).ok()?;
    let places = MIN_BESIDE..(n + 1).checked_sub(MIN_BESIDE)?;
    let count = places.len() as f64;
    let at = |at: usize| {
        let (before, behind) = values.split_at(at);
        let ((earlier, squares), (later, more)) = (moments(before), moments(behind));
        let variance = (squares + more) / (n as f64 - 2.0);
        let error = (variance * (1.0 / before.len() as f64 + 1.0 / behind.len() as f64)).sqrt();
        let chance = match later - earlier {
            0.0 => 1.0,
            _ if error == 0.0 => 0.0,
            difference => 2.0 * t.cdf(-(difference / error).abs()),
        };
        Step { at, change: later / earlier - 1.0, chance: (chance * count).min(1.0) }
    };
    places.map(at).filter(|step| step.change.is_finite()).min_by(|a, b| a.chance.total_cmp(&b.chance))
}
