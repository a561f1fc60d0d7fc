//! Times in buckets whose edges grow evenly, as the native histograms of Prometheus and the exponential ones of
//! OpenTelemetry have them.

/// How fine the buckets are: 2^`SCHEMA` to a doubling, so that an edge is 4.4 % above the one before. OpenTelemetry calls
/// it the scale.
pub(super) const SCHEMA: i32 = 4;

/// Counts of times. Bucket `i` holds those above 2^((i-1)/2^[`SCHEMA`]) seconds and not above 2^(i/2^[`SCHEMA`]); those that
/// take less than a microsecond are recorded as 0, and are kept apart.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Exponential {
    zero: u64,
    /// Of the first bucket, if there is any.
    first: i32,
    /// Of that bucket and all that follow; neither the first nor the last is empty.
    counts: Vec<u64>,
}

impl Exponential {
    /// No time above it is counted as 0, and none below is another, seconds: the last edge below a microsecond.
    pub(super) const ZERO_THRESHOLD: f64 = 1.0 / (1 << 20) as f64;

    /// Adds times of so many microseconds.
    pub(super) fn add(&mut self, us: u64, count: u64) {
        if us == 0 {
            self.zero += count;
            return;
        }
        let index = index(us);
        if self.counts.is_empty() {
            self.first = index;
        }
        if index < self.first {
            let more = (self.first - index) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = index;
        }
        let at = (index - self.first) as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += count;
    }

    /// How many times are counted as 0.
    pub(super) fn zero(&self) -> u64 {
        self.zero
    }

    /// Number of the first bucket, and the counts from there on; empty ones may be between.
    pub(super) fn counts(&self) -> (i32, &[u64]) {
        (self.first, &self.counts)
    }
}

/// Upper edge of a bucket, seconds.
fn upper(index: i32) -> f64 {
    (f64::from(index) / f64::from(1 << SCHEMA)).exp2()
}

/// Number of the bucket of a time that is not 0.
fn index(us: u64) -> i32 {
    let seconds = us as f64 / 1e6;
    let index = (seconds.log2() * f64::from(1 << SCHEMA)).ceil() as i32;
    // Logarithm and power may each miss by the last bit; the edge is what counts.
    match seconds {
        s if s > upper(index) => index + 1,
        s if s <= upper(index - 1) => index - 1,
        _ => index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_belongs_to_the_bucket_below_it() {
        let per_doubling = 1 << SCHEMA;
        assert_eq!((index(1_000_000), index(1_000_001)), (0, 1));
        assert_eq!((index(2_000_000), index(2_000_001)), (per_doubling, per_doubling + 1));
        // 2^-6 s.
        assert_eq!((index(15_625), index(15_626)), (-6 * per_doubling, -6 * per_doubling + 1));
        assert!(upper(index(1) - 1) >= Exponential::ZERO_THRESHOLD && Exponential::ZERO_THRESHOLD < 1e-6);
    }

    #[test]
    fn every_time_lies_in_its_bucket() {
        let times = (0..30_000).map(|i| 1 + i).chain((0..2_000).map(|i| (1.01_f64.powi(i)) as u64 + 1));
        for us in times.take_while(|us| *us <= record::histogram::MAX_US) {
            let (index, seconds) = (index(us), us as f64 / 1e6);
            assert!(upper(index - 1) < seconds && seconds <= upper(index), "{us} in {index}");
        }
    }

    #[test]
    fn what_is_recorded_is_counted_in_the_bucket_of_its_time_or_next_to_it_by_the_record_s_precision() {
        let mut recorded = record::Histogram::<u32>::new();
        let mut times: Vec<u64> = (0..3_000_u64).map(|i| (i * i * i * 7919) % 600_000_000).collect();
        times.extend([0, 0, 0, 1, 600_000_000]);
        times.iter().for_each(|us| recorded.record(*us));
        let mut found = Exponential::default();
        recorded.buckets().for_each(|(us, count)| found.add(us, count));
        let (first, counts) = found.counts();
        assert_eq!(found.zero() + counts.iter().sum::<u64>(), times.len() as u64);
        assert!(counts.first().is_some_and(|count| *count > 0) && counts.last().is_some_and(|count| *count > 0));
        assert_eq!(found.zero(), times.iter().filter(|us| **us == 0).count() as u64);
        // Below each edge lie those times that surely do, and none that surely don't: three digits are kept.
        for at in 0..counts.len() {
            let edge = upper(first + at as i32) * 1e6;
            let below = found.zero() + counts[..=at].iter().sum::<u64>();
            let surely = |factor: f64| times.iter().filter(|us| **us as f64 <= edge * factor).count() as u64;
            assert!((surely(0.999)..=surely(1.001)).contains(&below), "{below} below {edge}");
        }
    }
}
