//! The seconds of a run, thinned out to as many time_buckets as a picture can show.
//!
//! Counts are added and rates derived from the sums. Of times and loads the worst second stands for the bucket, since
//! percentiles can't be averaged; so no extreme is lost.

use record::TimelineRow;
use record::statistics::{MIN_BINS, MIN_PER_BIN};
use record::timeline::{self, Stage};

/// TimeBuckets that a run is cut into about; the standard asks for 240 at least (5.6.4).
const WANTED: usize = 480;
/// Seconds that a bucket has at most (5.6.4), as long as there aren't too many of them.
const MAX_BUCKET_SECONDS: usize = 30;
/// TimeBuckets that a page has room for.
const MAX_BUCKETS: usize = 2_000;
/// Shorter parts of a second, as at the end of a run, have no rate worth showing, seconds.
const MIN_LAST_SECOND: f64 = 0.5;

/// The whole run, bucket by bucket.
#[derive(Debug, Clone, Default)]
pub(super) struct TimeBuckets {
    /// Rows of the time line, of about a second, in a bucket.
    pub(super) rows: usize,
    /// The time_buckets, in order; none lies across an edge of the measurement interval.
    pub(super) list: Vec<TimeBucket>,
}

/// A part of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct TimeBucket {
    /// Its beginning, seconds since the start of the run.
    pub(super) from: f64,
    /// Its end.
    pub(super) to: f64,
    /// Where in the run.
    pub(super) stage: Stage,
    /// Completed per transaction type.
    pub(super) completed: Vec<u64>,
    /// Transactions that failed.
    pub(super) errors: u64,
    /// Retries.
    pub(super) retries: u64,
    /// Lowest and highest rate of the headline transaction in a second of it, a minute.
    pub(super) extremes: (f64, f64),
    /// Headline response time in the worst second: 50th, 90th, 99th percentile, maximum, ms; no number: none completed.
    pub(super) response_ms: [f64; 4],
    /// Wait for a connection, 99th percentile in the worst second, ms.
    pub(super) queue_p99_ms: f64,
    /// The tool's lag, 99th percentile in the worst second, ms.
    pub(super) lag_p99_ms: f64,
    /// CPU of the tool in its busiest second, percent of a core.
    pub(super) cpu_percent: f64,
    /// Most resident memory of the tool, bytes.
    pub(super) rss_bytes: u64,
    /// Most terminals waiting for a connection.
    pub(super) waiting: u64,
    /// Most deferred work queued.
    pub(super) backlog: u64,
}

impl TimeBuckets {
    /// Cuts a run into time_buckets.
    pub(super) fn from_rows(rows: &[TimelineRow], headline: usize) -> Self {
        let per_stretch = per_stretch(rows, headline);
        let mut list: Vec<TimeBucket> = Vec::new();
        let mut filled = per_stretch;
        let mut from = 0.0;
        for (row, seconds) in rows.iter().zip(timeline::durations(rows)) {
            if filled == per_stretch || list.last().is_none_or(|bucket| bucket.stage != row.stage) {
                list.push(TimeBucket::starting(from, row));
                filled = 0;
            }
            if let Some(bucket) = list.last_mut() {
                bucket.add(row, seconds, headline);
            }
            filled += 1;
            from = row.elapsed_s;
        }
        TimeBuckets { rows: per_stretch, list }
    }

    /// The end of the run, seconds since its start.
    pub(super) fn end(&self) -> f64 {
        self.list.last().map_or(0.0, |bucket| bucket.to)
    }

    /// Beginning and end of the measurement interval, if it began.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let mut measured = self.list.iter().filter(|bucket| bucket.stage == Stage::Measured);
        let first = measured.next()?;
        Some((first.from, measured.next_back().unwrap_or(first).to))
    }

    /// What stands for the time_buckets, in words, where they are longer than a second.
    pub(super) fn note(&self, what: &str) -> String {
        if self.rows > 1 { format!(" Each point stands for {} seconds: {what}.", self.rows) } else { String::new() }
    }
}

impl TimeBucket {
    fn starting(from: f64, row: &TimelineRow) -> Self {
        TimeBucket {
            from,
            to: from,
            stage: row.stage,
            completed: vec![0; row.completed.len()],
            extremes: (f64::NAN, f64::NAN),
            response_ms: [f64::NAN; 4],
            ..TimeBucket::default()
        }
    }

    fn add(&mut self, row: &TimelineRow, seconds: f64, headline: usize) {
        self.to = row.elapsed_s;
        self.completed.iter_mut().zip(&row.completed).for_each(|(mine, theirs)| *mine += theirs);
        self.errors += row.errors;
        self.retries += row.retries;
        let done = done(&row.completed, headline);
        if seconds >= MIN_LAST_SECOND {
            // The least and the greatest of a number and none is the number.
            let rate = done as f64 * 60.0 / seconds;
            self.extremes = (self.extremes.0.min(rate), self.extremes.1.max(rate));
        }
        if done > 0 {
            let times = [row.p50_ms, row.p90_ms, row.p99_ms, row.max_ms];
            self.response_ms.iter_mut().zip(times).for_each(|(mine, time)| *mine = mine.max(time));
        }
        self.queue_p99_ms = self.queue_p99_ms.max(row.queue_p99_ms);
        self.lag_p99_ms = self.lag_p99_ms.max(row.lag_p99_ms);
        self.cpu_percent = self.cpu_percent.max(row.cpu_percent);
        self.rss_bytes = self.rss_bytes.max(row.rss_bytes);
        self.waiting = self.waiting.max(row.waiting);
        self.backlog = self.backlog.max(row.backlog);
    }

    /// Completed of a transaction type.
    pub(super) fn done(&self, index: usize) -> u64 {
        done(&self.completed, index)
    }

    /// Its middle.
    pub(super) fn middle(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    /// `count` a minute; no number where it is too short to tell.
    pub(super) fn per_minute(&self, count: u64) -> f64 {
        let seconds = self.to - self.from;
        if seconds >= MIN_LAST_SECOND { count as f64 * 60.0 / seconds } else { f64::NAN }
    }
}

/// Rows in a bucket: as few as make about as many time_buckets as are wanted, and as hold enough to have a rate.
fn per_stretch(rows: &[TimelineRow], headline: usize) -> usize {
    let completed: u64 = rows.iter().map(|row| done(&row.completed, headline)).sum();
    let by_count = (MIN_PER_BIN * rows.len() as f64 / (completed as f64).max(1.0)).ceil() as usize;
    let by_count = by_count.min(rows.len() / MIN_BINS);
    let wanted = rows.len().div_ceil(WANTED).max(by_count).min(MAX_BUCKET_SECONDS);
    wanted.max(rows.len().div_ceil(MAX_BUCKETS)).max(1)
}

/// Completed of a transaction type; 0 for one that the plan doesn't name.
pub(super) fn done(completed: &[u64], index: usize) -> u64 {
    completed.get(index).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(seconds: usize) -> Vec<TimelineRow> {
        let row = |second: usize| TimelineRow {
            elapsed_s: (second + 1) as f64,
            stage: if second < 100 { Stage::Ramp } else { Stage::Measured },
            completed: vec![100, 90],
            p99_ms: if second == 777 { 5_000.0 } else { 20.0 },
            ..TimelineRow::default()
        };
        (0..seconds).map(row).collect()
    }

    #[test]
    fn long_runs_are_thinned_and_keep_counts_and_extremes() {
        for (seconds, per_stretch) in [(1, 1), (480, 1), (481, 2), (7_200, 15), (28_800, 30), (172_800, 87)] {
            let time_buckets = TimeBuckets::from_rows(&rows(seconds), 0);
            assert_eq!(time_buckets.rows, per_stretch, "{seconds}");
            assert_eq!(time_buckets.list.iter().map(|s| s.completed[0]).sum::<u64>(), seconds as u64 * 100);
            assert!(time_buckets.list.len() <= MAX_BUCKETS + 1);
            assert_eq!(time_buckets.end(), seconds as f64);
            if seconds > 777 {
                assert!(time_buckets.list.iter().any(|s| s.response_ms[2] == 5_000.0), "the slow second is kept");
                assert_eq!(time_buckets.interval(), Some((100.0, seconds as f64)), "no bucket crosses the edge");
            }
        }
    }

    #[test]
    fn where_little_is_completed_a_stretch_is_longer() {
        let mut rows = rows(600);
        rows.iter_mut().for_each(|row| row.completed = vec![3]);
        assert_eq!(TimeBuckets::from_rows(&rows, 0).rows, 10);
        rows.iter_mut().for_each(|row| row.completed = vec![0]);
        assert_eq!(TimeBuckets::from_rows(&rows, 0).rows, 30, "no longer than the standard allows");
        assert_eq!(TimeBuckets::from_rows(&rows[..40], 0).rows, 2, "nor than leaves a course to be seen");
    }

    #[test]
    fn parts_of_a_second_and_idle_seconds_have_no_figure() {
        let row = |elapsed_s: f64, done: u64| TimelineRow { elapsed_s, completed: vec![done], ..Default::default() };
        let time_buckets = TimeBuckets::from_rows(&[row(1.0, 5), row(2.0, 0), row(2.01, 3)], 0);
        let rates: Vec<f64> = time_buckets.list.iter().map(|s| s.per_minute(s.completed[0])).collect();
        assert_eq!(rates[..2], [300.0, 0.0]);
        assert!(rates[2].is_nan());
        assert!(time_buckets.list[1].response_ms[0].is_nan(), "none completed, none timed");
    }
}
