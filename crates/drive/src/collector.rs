//! The collector: merges the threads' interval reports, second by second, and writes the run folder.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use record::failover::{Gap, Lost};
use record::folder::ACKNOWLEDGED;
use record::histogram::Histogram;
use record::latency_log::Interval;
use record::timeline::Stage;
use record::{Clock, LatencyLog, Phase, RecordError, Recorder, RunFolder, RunRecord, Timeline, TimelineRow};

use workload::ResultFile;

use crate::driver_thread::IntervalReport;
use crate::error_policy::ErrorPolicy;
use crate::tare::{CpuMeter, memory_bytes};

/// The clocks of a run: the monotonic one that measures, and the calendar's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) run_start: Instant,
    pub(crate) run_start_wall: SystemTime,
    pub(crate) ramp: Duration,
}

impl Clocks {
    /// Microseconds since the Unix epoch, at an instant of the run.
    pub(crate) fn epoch_us(&self, at: Instant) -> u64 {
        let wall = self.run_start_wall + at.saturating_duration_since(self.run_start);
        wall.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
    }
}

/// A second of a run, as observers see it.
#[derive(Clone, Copy, Debug)]
pub struct Second<'a> {
    /// Its figures.
    pub row: &'a TimelineRow,
    /// What was recorded in it.
    pub recorder: &'a Recorder,
    /// The run with this second.
    pub record: &'a RunRecord,
    /// Connections that nobody uses at its end; the others are at work, or being replaced.
    pub idle: u64,
}

/// The files of a run in the making.
pub(crate) struct Files {
    pub(crate) timeline: Timeline,
    pub(crate) latency: LatencyLog,
    /// None where nothing is deferred.
    pub(crate) results: Option<DeferredResults>,
    /// None on a target without data.
    pub(crate) acknowledged: Option<File>,
}

/// What the threads have said so far.
pub(crate) struct Collector<'a> {
    pub(crate) record: &'a mut RunRecord,
    pub(crate) folder: &'a RunFolder,
    pub(crate) files: Files,
    pub(crate) clocks: Clocks,
    pub(crate) threads: usize,
    /// CPU used inside the measurement interval.
    pub(crate) measured_cpu: f64,
    merged: Recorder,
    /// Cleared for each second, as their memory is large.
    shown: Shown,
    meter: CpuMeter,
    silence: OutageDetector,
    error_policy: ErrorPolicy,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        record: &'a mut RunRecord,
        folder: &'a RunFolder,
        files: Files,
        clocks: Clocks,
        threads: usize,
        error_policy: ErrorPolicy,
    ) -> Self {
        let merged = Recorder::new(&record.plan);
        let (shown, meter) = (Shown::default(), CpuMeter::start());
        Self {
            record,
            folder,
            files,
            clocks,
            threads,
            measured_cpu: 0.0,
            merged,
            shown,
            meter,
            silence: OutageDetector::default(),
            error_policy,
        }
    }

    /// Collects until every thread has handed over for the last time. Calls `observe` once a second.
    pub(crate) fn collect(
        &mut self,
        inbox: &mpsc::Receiver<(usize, IntervalReport)>,
        spares: &[mpsc::Sender<Box<Recorder>>],
        observe: &mut dyn FnMut(Second<'_>),
    ) -> Result<(), RecordError> {
        // A fleet may have agreed on a start some seconds ahead; what passes until then is in no second of the run. Only
        // of a run that is given up there is something to hear before.
        let mut early = inbox.recv_timeout(self.clocks.run_start.saturating_duration_since(Instant::now())).ok();
        self.meter = CpuMeter::start();
        let mut from = Duration::ZERO;
        let (mut given, mut ended) = (vec![0_u64; self.threads], vec![false; self.threads]);
        for second in 1_u64.. {
            let mut row = TimelineRow::default();
            let mut idle = 0;
            let mut successes: Option<(Instant, Instant)> = None;
            // The threads' seconds end at the same instants, so one of each belongs together; a stop, or a thread that was
            // held up, may make one fewer of them than another.
            while given.iter().zip(&ended).any(|(given, ended)| *given < second && !ended) {
                let Some((thread, report)) = early.take().or_else(|| inbox.recv().ok()) else {
                    ended.fill(true);
                    break;
                };
                given[thread] += 1;
                ended[thread] |= report.last;
                self.merged.merge(&report.recorder);
                row.waiting += report.waiting as u64;
                row.backlog += report.backlog as u64;
                idle += report.idle as u64;
                if let Some((first, latest)) = report.successes {
                    let (others_first, others_latest) = successes.unwrap_or((first, latest));
                    successes = Some((first.min(others_first), latest.max(others_latest)));
                }
                self.error_policy.hear(report.hard_failure);
                if let Some(results) = &mut self.files.results {
                    results.append(&report.result_lines)?;
                }
                self.append_to_ledger(&report.journal)?;
                let mut empty = report.recorder;
                empty.clear();
                let _ = spares[thread].send(empty);
            }
            let (to, last) = (self.clocks.run_start.elapsed(), ended.iter().all(|ended| *ended));
            self.note_trouble(successes, from, last.then_some(to));
            let row = self.end_second(row, from, to, last)?;
            observe(Second { row: &row, recorder: &self.merged, record: self.record, idle });
            self.merged.clear();
            from = to;
            if last {
                break;
            }
        }
        Ok(())
    }

    /// Notes lost connections and times without a success of a second; `end` is given in the last one.
    fn note_trouble(&mut self, successes: Option<(Instant, Instant)>, from: Duration, end: Option<Duration>) {
        let mut lost = 0;
        let mut completed = 0;
        let mut hard = 0;
        for index in 0..self.merged.transactions() {
            let queued = self.record.plan.transactions[index].deferred_limit_seconds.is_some();
            for phase in Phase::ALL {
                let counts = self.merged.counts(index, phase);
                for failures in [&counts.failures, &counts.deferred.failures] {
                    lost += failures.connection;
                    hard += failures.integrity + failures.other;
                }
                completed += if queued { counts.deferred.completed } else { counts.completed };
            }
        }
        let trouble = &mut self.record.disturbances;
        if lost > 0 && trouble.lost.len() < MOST_NOTES {
            trouble.lost.push(Lost { at_seconds: from.as_secs_f64(), failures: lost });
        }
        let since = |at: Instant| at.saturating_duration_since(self.clocks.run_start).as_secs_f64();
        let successes = successes.map(|(first, last)| (since(first), since(last)));
        let gap = self.silence.second(successes, completed, lost, end.map(|end| end.as_secs_f64()));
        trouble.gaps.extend(gap.filter(|_| trouble.gaps.len() < MOST_NOTES));
        self.error_policy.second(completed, hard);
    }

    /// Why the run was stopped before its time, if it was.
    pub(crate) fn stopped_because(&self) -> Option<String> {
        self.error_policy.stopped().cloned()
    }

    /// Appends to the ledger file. The ledger is not fsynced: waiting for the disk, which may be the database's too, would
    /// stall terminals. The operating system keeps the ledger of a killed client.
    pub(crate) fn append_to_ledger(&mut self, journal: &[u8]) -> Result<(), RecordError> {
        match &mut self.files.acknowledged {
            Some(file) if !journal.is_empty() => {
                file.write_all(journal).map_err(|e| RecordError::io("write", &self.folder.file(ACKNOWLEDGED), e))
            }
            _ => Ok(()),
        }
    }

    fn end_second(
        &mut self,
        mut row: TimelineRow,
        from: Duration,
        to: Duration,
        last: bool,
    ) -> Result<TimelineRow, RecordError> {
        let (cpu, wall) = self.meter.read();
        row.elapsed_s = to.as_secs_f64();
        row.stage = match () {
            () if last => Stage::Drain,
            () if from + wall / 2 < self.clocks.ramp => Stage::Ramp,
            () => Stage::Measured,
        };
        if row.stage == Stage::Measured {
            self.measured_cpu += cpu;
        }
        row.cpu_percent = 100.0 * cpu / wall.as_secs_f64().max(1e-9);
        row.rss_bytes = memory_bytes().0;
        self.shown.describe(&self.merged, self.record, &mut row);

        self.record.add(&self.merged);
        self.record.tare.peak_rss_bytes = memory_bytes().1;
        self.files.latency.append(from, to - from, Interval::Recorded(&self.merged))?;
        self.files.timeline.append(&row)?;
        self.folder.write_record(self.record)?;
        Ok(row)
    }
}

/// Notes of a kind that a record keeps: enough for hours of trouble.
const MOST_NOTES: usize = 10_000;

/// The shortest time without a success that is noted, seconds.
const SHORTEST_GAP: f64 = 1.0;

/// Transactions that would have been completed in a time that chance does not explain.
const UNEXPLAINED: f64 = 20.0;

/// Watches for times without a success.
#[derive(Debug, Default)]
struct OutageDetector {
    last_success: Option<f64>,
    completed: u64,
    /// Lost connections since the second of the last success.
    lost: u64,
}

impl OutageDetector {
    /// Takes a second's first and last success, how many there were, and its lost connections; returns the gap that has
    /// ended with it, or with the run.
    fn second(&mut self, successes: Option<(f64, f64)>, completed: u64, lost: u64, end: Option<f64>) -> Option<Gap> {
        self.lost += lost;
        let last = self.last_success;
        let until = successes.map(|(first, _)| first).or(end);
        let gap = last.zip(until).filter(|(from, to)| {
            let (length, rate) = (to - from, self.completed as f64 / from.max(1.0));
            length >= SHORTEST_GAP && (self.lost > 0 || rate * length >= UNEXPLAINED)
        });
        if let Some((_, latest)) = successes {
            (self.last_success, self.lost) = (Some(latest), lost);
        }
        self.completed += completed;
        gap.map(|(from_seconds, to)| Gap { from_seconds, to_seconds: successes.map(|_| to) })
    }
}

/// The times of a second that are shown, of both phases together.
#[derive(Default)]
struct Shown {
    response: Histogram<u32>,
    queue: Histogram<u32>,
    lag: Histogram<u32>,
}

impl Shown {
    /// Fills what the merged recorder knows of a second.
    fn describe(&mut self, merged: &Recorder, record: &RunRecord, row: &mut TimelineRow) {
        let headline = record.plan.headline().unwrap_or(0);
        let Self { response, queue, lag } = self;
        [&mut *response, queue, lag].into_iter().for_each(Histogram::clear);
        for phase in Phase::ALL {
            response.merge(merged.histogram(headline, phase, Clock::Response));
            queue.merge(merged.histogram(headline, phase, Clock::Queue));
            lag.merge(merged.lag_histogram(phase));
        }
        row.completed = (0..merged.transactions())
            .map(|index| Phase::ALL.iter().map(|phase| merged.counts(index, *phase).completed).sum())
            .collect();
        for index in 0..merged.transactions() {
            for phase in Phase::ALL {
                let counts = merged.counts(index, phase);
                row.rolled_back += counts.rolled_back;
                row.errors += counts.failures.total() + counts.deferred.failures.total();
                row.retries += counts.retries + counts.deferred.retries;
            }
        }
        let stats = response.stats();
        (row.p50_ms, row.p90_ms, row.p99_ms, row.max_ms) = (stats.p50, stats.p90, stats.p99, stats.max);
        row.queue_p99_ms = queue.stats().p99;
        row.lag_p99_ms = lag.stats().p99;
    }
}

/// The file of what deferred transactions did.
pub(crate) struct DeferredResults {
    path: PathBuf,
    file: BufWriter<File>,
}

impl DeferredResults {
    /// Creates the file with its first line.
    pub(crate) fn create(folder: &RunFolder, result: &ResultFile) -> Result<Self, RecordError> {
        let path = folder.file(result.name);
        let create = || {
            let mut file = BufWriter::new(File::create(&path)?);
            file.write_all(result.header.as_bytes())?;
            Ok(file)
        };
        let file = create().map_err(|e| RecordError::io("create", &path, e))?;
        Ok(Self { path, file })
    }

    fn append(&mut self, lines: &[u8]) -> Result<(), RecordError> {
        self.file.write_all(lines).and_then(|()| self.file.flush()).map_err(|e| RecordError::io("write", &self.path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_silence_that_chance_does_not_explain_is_a_gap() {
        let mut busy = OutageDetector::default();
        assert_eq!(busy.second(Some((0.1, 0.9)), 100, 0, None), None);
        assert_eq!(busy.second(Some((1.1, 1.2)), 30, 0, None), None, "shorter than a second");
        assert_eq!(busy.second(None, 0, 0, None), None, "it has not ended");
        let gap = busy.second(Some((3.5, 3.9)), 20, 0, None);
        assert_eq!(gap, Some(Gap { from_seconds: 1.2, to_seconds: Some(3.5) }), "a stall without an error");
        let open = busy.second(None, 0, 0, Some(9.0));
        assert_eq!(open, Some(Gap { from_seconds: 3.9, to_seconds: None }), "nothing until the end");

        let mut quiet = OutageDetector::default();
        assert_eq!(quiet.second(Some((0.5, 0.5)), 1, 0, None), None);
        assert_eq!(quiet.second(None, 0, 0, None), None);
        assert_eq!(quiet.second(Some((2.7, 2.8)), 1, 1, None).map(|gap| gap.to_seconds), Some(Some(2.7)), "a lost one");
        assert_eq!(quiet.second(None, 0, 0, None), None);
        assert!(quiet.second(Some((4.5, 4.6)), 1, 0, None).is_some(), "lost in the second of the last success");
        assert_eq!(quiet.second(None, 0, 0, None), None);
        assert_eq!(quiet.second(Some((6.6, 6.7)), 1, 0, None), None, "two seconds of few terminals");
    }
}
