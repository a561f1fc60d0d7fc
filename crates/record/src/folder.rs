//! A run folder: where a run is written as it happens, and read back from.
//!
//! Writing is crash-safe: `run.json` is replaced whole, the other files only grow by whole lines, and
//! a reader leaves out a last line that was cut.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::consistency;
use crate::error::RecordError;
use crate::labels::Labels;
use crate::latency_log::{self, Histograms, LatencyLog};
use crate::plan::Plan;
use crate::recorder::{Clock, Phase};
use crate::run::{Ended, RECORD_VERSION, RunRecord, TransactionCounts};
use crate::timeline::{self, Stage, Timeline, TimelineRow};

/// The document of a run: see [`RunRecord`].
pub const RUN_JSON: &str = "run.json";
/// The histograms of a run: see [`LatencyLog`].
pub const LATENCY_LOG: &str = "latency.hlog";
/// The seconds of a run: see [`Timeline`].
pub const TIMELINE: &str = "timeline.csv";
/// The page that shows a run: derived from the other files, and never read.
pub const PAGE: &str = "report.html";
/// Everything that was acknowledged: the ledger for the audit, written by whoever drives.
pub const ACKNOWLEDGED: &str = "acknowledged.bin";
/// The file of a workload of the user's own, as it was when it was run.
pub const WORKLOAD: &str = "workload.toml";
/// The result file of deferred deliveries (2.7.2.3), written by whoever executes them.
pub const DELIVERIES: &str = "deliveries.csv";

/// The most that a record's counts are read up to: some thousand years of a million a second.
pub(crate) const MAX_COUNT: u64 = 1 << 55;

/// The file that proves that a folder can be written.
const PROBE: &str = ".probe";

/// What must fit onto the disk before a run begins.
const PROBE_BYTES: usize = 1 << 18;

/// A folder that a run is written to.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// A run read back from its folder.
#[derive(Debug, Clone)]
pub struct OpenedRun {
    /// The folder.
    pub path: PathBuf,
    /// What it is called: where it came from.
    pub source: String,
    /// `run.json`.
    pub record: RunRecord,
    /// `latency.hlog`, summed per tag.
    pub histograms: Histograms,
    /// `timeline.csv`.
    pub timeline: Vec<TimelineRow>,
    /// What was cut off, missing or rebuilt, one line each.
    pub warnings: Vec<String>,
}

/// Attempts to lock a folder: a process that checks whether it is locked holds the lock for a moment.
const LOCK_ATTEMPTS: u32 = 10;

/// The pause between two attempts.
const LOCK_RETRY_PAUSE: Duration = Duration::from_millis(5);

/// Marks a folder as one to which this process writes, until it ends.
pub fn hold(path: &Path) {
    let Ok(folder) = File::open(path) else { return };
    for _ in 0..LOCK_ATTEMPTS {
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY_PAUSE),
            // The lock goes with the process, however that ends.
            Ok(()) => return std::mem::forget(folder),
            Err(TryLockError::Error(_)) => return,
        }
    }
}

/// Whether a process on this machine [holds](hold) a folder. A copy of the folder is held by none.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|folder| matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Waits until no process [holds](hold) a folder.
///
/// # Errors
/// One still does when the time is over; or the folder can't be opened.
pub fn wait_until_left(path: &Path, limit: Duration) -> std::io::Result<()> {
    let folder = File::open(path)?;
    let begun = Instant::now();
    loop {
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < limit => std::thread::sleep(Duration::from_millis(100)),
            locked => return locked.map_err(Into::into),
        }
    }
}

impl RunFolder {
    /// Makes the folder and its parents, and proves that it can be written; an empty one that is there will do, and one
    /// in which such a proof was killed.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        fs::create_dir_all(path).map_err(|e| RecordError::io("create", path, e))?;
        for entry in fs::read_dir(path).map_err(|e| RecordError::io("read", path, e))? {
            if entry.map_err(|e| RecordError::io("read", path, e))?.file_name() != PROBE {
                return Err(RecordError::NotEmpty { path: path.to_path_buf() });
            }
        }
        // Better to learn of a read-only folder or a full disk now than after the run.
        let probe = path.join(PROBE);
        let written = fs::write(&probe, [0; PROBE_BYTES]);
        let removed = if probe.exists() { fs::remove_file(&probe) } else { Ok(()) };
        written.and(removed).map_err(|e| RecordError::io("write", path, e))?;
        Ok(RunFolder { path: path.to_path_buf() })
    }

    /// Reads a run back, finished or not.
    pub fn open(path: &Path) -> Result<OpenedRun, RecordError> {
        let folder = RunFolder { path: path.to_path_buf() };
        let mut warnings = Vec::new();
        let mut record = read_record(&folder.file(RUN_JSON))?;
        let histograms = latency_log::read(&folder.file(LATENCY_LOG), &mut warnings)?;
        let timeline = timeline::read(&folder.file(TIMELINE), &record.plan, &mut warnings)?;
        if record.ended == Ended::Running {
            recover(&mut record, &histograms, &timeline);
            warnings.push(format!(
                "{}: the run did not end; what was written until then is shown",
                folder.file(RUN_JSON).display()
            ));
        }
        let source = folder.path.display().to_string();
        let mut opened = OpenedRun { path: folder.path, source, record, histograms, timeline, warnings };
        let contradictions = consistency::contradictions(&opened);
        opened.warnings.extend(contradictions);
        Ok(opened)
    }

    /// Reads a run that is under way, without its histograms: little enough to be done every second.
    ///
    /// # Errors
    /// As [`RunFolder::open`], but for the latency log.
    pub fn glance(path: &Path) -> Result<OpenedRun, RecordError> {
        let folder = RunFolder { path: path.to_path_buf() };
        let mut warnings = Vec::new();
        let mut record = read_record(&folder.file(RUN_JSON))?;
        let timeline = timeline::read(&folder.file(TIMELINE), &record.plan, &mut warnings)?;
        if record.ended == Ended::Running {
            record.measured_seconds = measured_seconds(&timeline);
        }
        let source = folder.path.display().to_string();
        Ok(OpenedRun { path: folder.path, source, record, histograms: Histograms::default(), timeline, warnings })
    }

    /// The folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes `run.json`, replacing it whole: a reader sees the old one or the new one.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), RecordError> {
        let mut text = serde_json::to_vec_pretty(record).expect("a record has string keys and no failing types");
        text.push(b'\n');
        write_whole(&self.file(RUN_JSON), &text)
    }

    /// Starts `timeline.csv`.
    pub fn timeline(&self, plan: &Plan) -> Result<Timeline, RecordError> {
        Timeline::create(&self.file(TIMELINE), plan)
    }

    /// Starts `latency.hlog`, whose times count from `start`.
    pub fn latency_log(&self, start: Timestamp, plan: &Plan) -> Result<LatencyLog, RecordError> {
        LatencyLog::create(&self.file(LATENCY_LOG), start, plan)
    }
}

/// Writes a file, replacing it whole: a reader sees the old one or the new one, also after a crash or on a full disk.
///
/// It is not synced: the record of a run is written every second, beside a database that may share the disk.
///
/// # Errors
/// If it can't be written; what was there before still is.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), RecordError> {
    let failed = |e| RecordError::io("write", path, e);
    // A pipe or a terminal takes what is written to it, and is not to be replaced.
    if path.exists() && !path.is_file() {
        return fs::write(path, content).map_err(failed);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.new"));
    // One that is there is left over, or a link that leads elsewhere.
    let _ = fs::remove_file(&draft);
    let written = File::create_new(&draft).and_then(|mut file| file.write_all(content));
    written.and_then(|()| fs::rename(&draft, path)).map_err(|e| {
        // What is left of it would only fill the disk further.
        let _ = fs::remove_file(&draft);
        failed(e)
    })
}

/// Reads a `run.json` alone.
pub fn read_record(path: &Path) -> Result<RunRecord, RecordError> {
    /// Only what decides whether the rest can be understood.
    #[derive(Deserialize)]
    struct Versioned {
        record_version: u32,
    }
    let text = fs::read(path).map_err(|e| RecordError::io("read", path, e))?;
    let damaged = |e: serde_json::Error| RecordError::Damaged {
        path: path.to_path_buf(),
        line: e.line() as u64,
        detail: format!("not a run record: {e}"),
    };
    let Versioned { record_version } = serde_json::from_slice(&text).map_err(damaged)?;
    if record_version > RECORD_VERSION {
        return Err(RecordError::TooNew { path: path.to_path_buf(), found: record_version, known: RECORD_VERSION });
    }
    let absurd = |what: String| RecordError::Damaged {
        path: path.to_path_buf(),
        line: 1,
        detail: format!("not a run record: {what} is more than anything counts"),
    };
    let document: Value = serde_json::from_slice(&text).map_err(damaged)?;
    if let Some(name) = uncountable(&document) {
        return Err(absurd(name.to_owned()));
    }
    let mut record: RunRecord = serde_json::from_slice(&text).map_err(damaged)?;
    if record.plan.labels == Labels::default() {
        record.plan.labels = Labels::of_version_1(&record.plan);
    }
    match record.plan.beyond_all_sizes() {
        Some(what) => Err(absurd(what.to_owned())),
        None => Ok(record),
    }
}

/// The name of a number that nothing reaches by counting, so that sums of such numbers stay numbers. Seeds may be any.
fn uncountable(value: &Value) -> Option<&str> {
    match value {
        Value::Object(fields) => {
            let mut counts = fields.iter().filter(|(name, _)| !name.ends_with("seed"));
            counts
                .find_map(|(name, value)| if is_uncountable(value) { Some(name.as_str()) } else { uncountable(value) })
        }
        Value::Array(items) => {
            items.iter().find_map(|item| if is_uncountable(item) { Some("a number") } else { uncountable(item) })
        }
        _ => None,
    }
}

fn is_uncountable(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| number > MAX_COUNT)
}

/// Brings a record that was never finished up to what the growing files hold, which is at most one second more.
fn recover(record: &mut RunRecord, histograms: &Histograms, timeline: &[TimelineRow]) {
    for TransactionCounts { name, measured, outside } in &mut record.counts {
        for (phase, counts) in [(Phase::Measured, measured), (Phase::Outside, outside)] {
            counts.completed = histograms.stats(name, phase, Clock::Response).count;
            counts.deferred.completed = histograms.stats(name, phase, Clock::Deferred).count;
        }
    }
    record.measured_seconds = measured_seconds(timeline);
}

/// The length of the measurement interval by its seconds.
fn measured_seconds(timeline: &[TimelineRow]) -> f64 {
    let measured = timeline::durations(timeline).zip(timeline).filter(|(_, row)| row.stage == Stage::Measured);
    measured.map(|(seconds, _)| seconds).sum()
}
