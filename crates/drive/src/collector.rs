//! The collector: merges what the shards hand over, second by second, and writes the run folder.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use record::folder::ACKNOWLEDGED;
use record::histogram::Histogram;
use record::latency_log::Interval;
use record::timeline::Stage;
use record::{Clock, LatencyLog, Phase, RecordError, Recorder, RunFolder, RunRecord, Timeline, TimelineRow};

use workload::tpcc::acknowledged::{Entry, Journal};

use crate::delivery::Delivered;
use crate::shard::Handover;
use crate::tare::{CpuMeter, memory_bytes};

/// The result file of the deferred Deliveries.
pub(crate) const DELIVERIES: &str = "deliveries.csv";

/// The clocks of a run: the monotonic one that measures, and the calendar's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) run_start: Instant,
    pub(crate) run_start_wall: SystemTime,
    pub(crate) ramp: Duration,
}

impl Clocks {
    fn epoch_us(&self, at: Instant) -> u128 {
        let wall = self.run_start_wall + at.saturating_duration_since(self.run_start);
        wall.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros()
    }
}

/// The files of a run in the making.
pub(crate) struct Files {
    pub(crate) timeline: Timeline,
    pub(crate) latency: LatencyLog,
    pub(crate) deliveries: DeliveryFile,
    /// None on a target without data.
    pub(crate) acknowledged: Option<File>,
}

/// What the shards have said so far.
pub(crate) struct Collector<'a> {
    pub(crate) record: &'a mut RunRecord,
    pub(crate) folder: &'a RunFolder,
    pub(crate) files: Files,
    pub(crate) clocks: Clocks,
    pub(crate) shards: usize,
    /// CPU used inside the measurement interval.
    pub(crate) measured_cpu: f64,
    merged: Recorder,
    /// Cleared for each second, as their memory is large.
    shown: Shown,
    meter: CpuMeter,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        record: &'a mut RunRecord,
        folder: &'a RunFolder,
        files: Files,
        clocks: Clocks,
        shards: usize,
    ) -> Self {
        let merged = Recorder::new(&record.plan);
        let (shown, meter) = (Shown::default(), CpuMeter::start());
        Self { record, folder, files, clocks, shards, measured_cpu: 0.0, merged, shown, meter }
    }

    /// Collects until every shard has handed over for the last time. Calls `observe` once a second.
    pub(crate) fn collect(
        &mut self,
        inbox: &mpsc::Receiver<(usize, Handover)>,
        spares: &[mpsc::Sender<Box<Recorder>>],
        observe: &mut dyn FnMut(&TimelineRow),
    ) -> Result<(), RecordError> {
        // A fleet may have agreed on a start some seconds ahead; what passes until then is in no second of the run.
        std::thread::sleep(self.clocks.run_start.saturating_duration_since(Instant::now()));
        self.meter = CpuMeter::start();
        let mut from = Duration::ZERO;
        loop {
            let mut row = TimelineRow::default();
            let mut last = true;
            // The shards' seconds end at the same instants, so one of each belongs together.
            for _ in 0..self.shards {
                let Ok((shard, handover)) = inbox.recv() else { return Ok(()) };
                self.merged.merge(&handover.recorder);
                row.waiting += handover.waiting as u64;
                row.backlog += handover.backlog as u64;
                last &= handover.last;
                self.files
                    .deliveries
                    .append(&handover.delivered, &self.clocks)
                    .map_err(|e| RecordError::io("write", &self.folder.file(DELIVERIES), e))?;
                self.keep(&handover.journal)?;
                let mut empty = handover.recorder;
                empty.clear();
                let _ = spares[shard].send(empty);
            }
            let to = self.clocks.run_start.elapsed();
            self.end_second(row, from, to, last, observe)?;
            from = to;
            if last {
                return Ok(());
            }
        }
    }

    /// Writes down what was acknowledged. It is not synced: the disk may be the database's, too, and who waits for it
    /// would hold the terminals up; a killed client's ledger is safe with the operating system.
    fn keep(&mut self, journal: &Journal) -> Result<(), RecordError> {
        let Some(file) = self.files.acknowledged.as_mut().filter(|_| !journal.bytes().is_empty()) else {
            return Ok(());
        };
        file.write_all(journal.bytes()).map_err(|e| RecordError::io("write", &self.folder.file(ACKNOWLEDGED), e))
    }

    /// Ends the ledger of what was acknowledged, with so many transactions still under way.
    pub(crate) fn end_ledger(&mut self, abandoned: usize) -> Result<(), RecordError> {
        let mut end = Journal::default();
        end.enter(0, Entry::End { abandoned: u32::try_from(abandoned).unwrap_or(u32::MAX) });
        self.keep(&end)
    }

    fn end_second(
        &mut self,
        mut row: TimelineRow,
        from: Duration,
        to: Duration,
        last: bool,
        observe: &mut dyn FnMut(&TimelineRow),
    ) -> Result<(), RecordError> {
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
        self.merged.clear();
        observe(&row);
        Ok(())
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

/// The result file of the deferred Deliveries (2.7.2.3).
pub(crate) struct DeliveryFile {
    file: BufWriter<File>,
}

impl DeliveryFile {
    /// Creates `deliveries.csv`.
    pub(crate) fn create(path: &std::path::Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        write!(file, "queued_us,completed_us,w_id,carrier_id")?;
        (1..=10).try_for_each(|d_id| write!(file, ",o_id_{d_id}"))?;
        writeln!(file)?;
        Ok(Self { file })
    }

    fn append(&mut self, delivered: &[Delivered], clocks: &Clocks) -> io::Result<()> {
        for entry in delivered {
            let (queued, completed) = (clocks.epoch_us(entry.queued), clocks.epoch_us(entry.completed));
            write!(self.file, "{queued},{completed},{},{}", entry.w_id, entry.carrier_id)?;
            for o_id in entry.o_ids {
                match o_id {
                    Some(o_id) => write!(self.file, ",{o_id}")?,
                    None => write!(self.file, ",")?,
                }
            }
            writeln!(self.file)?;
        }
        self.file.flush()
    }
}
