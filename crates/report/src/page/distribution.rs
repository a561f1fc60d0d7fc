//! Frequency distributions: how many transactions took how long (5.6.1, 5.6.3).

use record::{Histogram, Histograms};

use super::axis::Axis;
use super::chart::{Chart, Mark, Series, Shape, Size, Values};
use super::words::{count, grouped, ms};

/// Equal intervals of a distribution at most; the standard asks for 20 at least. Times that differ by fewer
/// microseconds, as counted, have fewer.
const INTERVALS: u64 = 40;

/// How far a distribution is drawn, in 90th percentiles of a response time and in means of a think time.
const REACH: f64 = 4.0;

/// A histogram, counted into equal intervals from 0.
struct Distribution {
    /// Width of an interval, whole microseconds, as times are counted in these.
    width_us: u64,
    /// How many lie in each: above its beginning, and up to its end.
    counts: Vec<u64>,
    /// How many lie beyond the last.
    beyond: u64,
}

impl Distribution {
    fn from_histogram(histogram: &Histogram<u64>, reach_ms: f64) -> Self {
        let reach_us = ((reach_ms * 1000.0).round() as u64).max(1);
        let width_us = reach_us.div_ceil(INTERVALS);
        let counts = vec![0; reach_us.div_ceil(width_us) as usize];
        let mut distribution = Distribution { width_us, counts, beyond: 0 };
        for (us, number) in histogram.buckets() {
            match distribution.counts.get_mut((us.div_ceil(width_us) as usize).saturating_sub(1)) {
                Some(count) => *count += number,
                None => distribution.beyond += number,
            }
        }
        distribution
    }

    /// Bars, and values with their intervals' names, in a unit of so many microseconds.
    fn drawn(&self, unit_us: f64, unit: &str) -> (Vec<(f64, f64, f64)>, Values) {
        let edge = |interval: usize| (interval as u64 * self.width_us) as f64 / unit_us;
        let bars = self.counts.iter().enumerate().map(|(i, number)| (edge(i), edge(i + 1), *number as f64)).collect();
        let decimals = (2.0 - edge(1).log10().floor()).clamp(0.0, 6.0) as usize;
        let name = |i: usize| format!("{} to {} {unit}", grouped(edge(i), decimals), grouped(edge(i + 1), decimals));
        let values = Values {
            x: (0..self.counts.len()).map(|i| f64::midpoint(edge(i), edge(i + 1))).collect(),
            names: (0..self.counts.len()).map(name).collect(),
            columns: vec![("transactions".into(), self.counts.iter().map(|number| *number as f64).collect())],
        };
        (bars, values)
    }

    /// The end of the last interval, microseconds.
    fn end_us(&self) -> f64 {
        (self.counts.len() as u64 * self.width_us) as f64
    }

    fn most(&self) -> f64 {
        self.counts.iter().copied().max().unwrap_or(0) as f64
    }
}

/// The distribution of a response time, with mean, 90th percentile and maximum; none without any. `allowed` says, behind
/// what nine in ten were within, what they are to be.
pub(super) fn response(
    histograms: &Histograms,
    tag: &str,
    title: &str,
    allowed: &str,
    colour: String,
) -> Option<Chart> {
    let histogram = histograms.get(tag)?;
    let stats = histogram.stats();
    let distribution = Distribution::from_histogram(histogram, stats.p90 * REACH);
    // Whole figures read best: seconds for what takes seconds.
    let (unit_us, unit) = if stats.p90 * REACH >= 10_000.0 { (1e6, "s") } else { (1e3, "ms") };
    let (bars, values) = distribution.drawn(unit_us, unit);
    let in_unit = |ms: f64| ms * 1000.0 / unit_us;
    let reach = distribution.end_us() / unit_us;
    let mut marks = vec![
        Mark::At(in_unit(stats.mean), format!("mean {}", ms(1, in_unit(stats.mean)))),
        Mark::At(in_unit(stats.p90), format!("90\u{a0}% within {}", ms(1, in_unit(stats.p90)))),
    ];
    if in_unit(stats.max) <= reach {
        marks.push(Mark::At(in_unit(stats.max), format!("slowest {}", ms(1, in_unit(stats.max)))));
    }
    let beyond = match distribution.beyond {
        0 => String::new(),
        number => {
            format!(" {} took longer than the picture shows, the slowest {} ms.", count(number), ms(1, stats.max))
        }
    };
    Some(Chart {
        id: format!("distribution-{}", tag.replace('.', "-")),
        title: title.to_owned(),
        says: format!(
            "How many took how long. Nine in ten were within {} ms{allowed}.{beyond}",
            ms(stats.count, stats.p90),
        ),
        summary: format!("{} completed, mean {} ms.", count(stats.count), ms(stats.count, stats.mean)),
        x: Axis::exact(format!("response time, {unit}"), reach),
        y: Axis::linear("transactions", distribution.most()),
        zones: Vec::new(),
        series: vec![Series { name: String::new(), colour, shape: Shape::Bars(bars) }],
        marks,
        values,
        size: Size::Half,
    })
}

/// The distribution of a think time, with its mean and what an exponential distribution of that mean would give.
pub(super) fn think(histograms: &Histograms, tag: &str, title: &str, colour: String) -> Option<Chart> {
    let histogram = histograms.get(tag)?;
    let stats = histogram.stats();
    let distribution = Distribution::from_histogram(histogram, stats.mean * REACH);
    let (bars, mut values) = distribution.drawn(1e6, "s");
    let mean = stats.mean / 1000.0;
    let width = distribution.width_us as f64 / 1e6;
    let expected: Vec<f64> = (0..distribution.counts.len())
        .map(|i| {
            let above = |edge: usize| (-(edge as f64) * width / mean).exp();
            stats.count as f64 * (above(i) - above(i + 1))
        })
        .collect();
    let curve = values.x.iter().copied().zip(expected.iter().copied()).collect();
    let most = expected.iter().copied().fold(distribution.most(), f64::max);
    values.columns.push(("expected".into(), expected));
    Some(Chart {
        id: "think-times".into(),
        title: format!("{title} think time"),
        says: format!(
            "How long the terminals paused after a {title}, as served, and what the standard's exponential distribution of the same mean \
             would give. {} pauses were longer than the picture shows.",
            count(distribution.beyond)
        ),
        summary: format!(
            "{} pauses, mean {} s, longest {} s.",
            count(stats.count),
            grouped(mean, 3),
            grouped(stats.max / 1000.0, 1)
        ),
        x: Axis::exact("think time, s", distribution.end_us() / 1e6),
        y: Axis::linear("pauses", most),
        zones: Vec::new(),
        series: vec![
            Series { name: "served".into(), colour, shape: Shape::Bars(bars) },
            Series { name: "exponential".into(), colour: "ink dashed".into(), shape: Shape::Line(curve) },
        ],
        marks: vec![Mark::At(mean, format!("mean {} s", grouped(mean, 2)))],
        values,
        size: Size::Wide,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_one_interval_or_beyond() {
        let mut histogram = Histogram::<u64>::new();
        [1, 100, 101, 2_000, 4_000, 4_001, 90_000].into_iter().for_each(|us| histogram.record(us));
        let distribution = Distribution::from_histogram(&histogram, 4.0);
        assert_eq!((distribution.width_us, distribution.counts.len()), (100, 40));
        // Above 2,047 us the buckets are wider than a microsecond, so 4,000 us counts as up to 4,001.
        assert_eq!((distribution.counts[0], distribution.counts[1], distribution.counts[19]), (2, 1, 1));
        assert_eq!(distribution.beyond, 3);
        assert_eq!(distribution.counts.iter().sum::<u64>() + distribution.beyond, histogram.count());
    }

    #[test]
    fn no_interval_is_finer_than_the_clock() {
        let mut histogram = Histogram::<u64>::new();
        [1, 2, 3, 3, 16, 17].into_iter().for_each(|us| histogram.record(us));
        let distribution = Distribution::from_histogram(&histogram, 0.016);
        assert_eq!((distribution.width_us, distribution.counts.len(), distribution.beyond), (1, 16, 1));
        assert_eq!(distribution.counts[..4], [1, 1, 2, 0]);
    }
}
