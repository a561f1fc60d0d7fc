//! `timeline.csv`: one row a second, for charts and for the trend.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::RecordError;
use crate::folder::MAX_COUNT;
use crate::plan::Plan;

/// Where in the run a second lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stage {
    /// Before the measurement interval.
    #[default]
    Ramp,
    /// Inside it.
    Measured,
    /// After it.
    Drain,
}

impl Stage {
    /// The name in `timeline.csv`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stage::Ramp => "ramp",
            Stage::Measured => "measured",
            Stage::Drain => "drain",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Stage::Ramp, Stage::Measured, Stage::Drain].into_iter().find(|stage| stage.name() == name)
    }
}

/// One second of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelineRow {
    /// End of this second, counted from the start of the run, seconds.
    pub elapsed_s: f64,
    /// Where in the run.
    pub stage: Stage,
    /// Completed per transaction type, in the order of the plan.
    pub completed: Vec<u64>,
    /// Designed rollbacks.
    pub rolled_back: u64,
    /// Transactions that failed.
    pub errors: u64,
    /// Retries.
    pub retries: u64,
    /// Headline response time: median, ms.
    pub p50_ms: f64,
    /// Headline response time: 90th percentile, ms.
    pub p90_ms: f64,
    /// Headline response time: 99th percentile, ms.
    pub p99_ms: f64,
    /// Headline response time: largest, ms.
    pub max_ms: f64,
    /// Wait for a connection, headline: 99th percentile, ms.
    pub queue_p99_ms: f64,
    /// The tool's lag: 99th percentile, ms.
    pub lag_p99_ms: f64,
    /// CPU of the tool, percent of one core.
    pub cpu_percent: f64,
    /// Resident memory of the tool, bytes.
    pub rss_bytes: u64,
    /// Terminals waiting for a connection at the end of the second.
    pub waiting: u64,
    /// Deferred work queued at the end of the second.
    pub backlog: u64,
}

/// The file, open for appending.
#[derive(Debug)]
pub struct Timeline {
    path: PathBuf,
    writer: csv::Writer<File>,
}

/// The columns after those of the transactions.
const COLUMNS: [&str; 13] = [
    "rolled_back",
    "errors",
    "retries",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "max_ms",
    "queue_p99_ms",
    "lag_p99_ms",
    "cpu_percent",
    "rss_bytes",
    "waiting",
    "backlog",
];

/// The header for a plan: time, stage, one column a transaction, and the fixed ones.
fn header(plan: &Plan) -> Vec<&str> {
    let names = plan.transactions.iter().map(|rule| rule.name.as_str());
    ["elapsed_s", "phase"].into_iter().chain(names).chain(COLUMNS).collect()
}

impl Timeline {
    /// Starts a new file with the columns of `plan`.
    pub fn create(path: &Path, plan: &Plan) -> Result<Self, RecordError> {
        let file = File::create_new(path).map_err(|e| RecordError::io("create", path, e))?;
        let mut timeline = Timeline { path: path.to_path_buf(), writer: csv::Writer::from_writer(file) };
        timeline.write(&header(plan))?;
        Ok(timeline)
    }

    /// Appends one second and hands it to the operating system at once.
    pub fn append(&mut self, row: &TimelineRow) -> Result<(), RecordError> {
        let mut fields = vec![format!("{:.3}", row.elapsed_s), row.stage.name().to_owned()];
        fields.extend(row.completed.iter().map(u64::to_string));
        fields.extend([row.rolled_back, row.errors, row.retries].iter().map(u64::to_string));
        let times = [row.p50_ms, row.p90_ms, row.p99_ms, row.max_ms, row.queue_p99_ms, row.lag_p99_ms];
        fields.extend(times.iter().map(|ms| format!("{ms:.3}")));
        fields.push(format!("{:.1}", row.cpu_percent));
        fields.extend([row.rss_bytes, row.waiting, row.backlog].iter().map(u64::to_string));
        self.write(&fields)
    }

    fn write(&mut self, fields: &[impl AsRef<[u8]>]) -> Result<(), RecordError> {
        let written = self.writer.write_record(fields).map_err(std::io::Error::from).and_then(|()| self.writer.flush());
        written.map_err(|e| RecordError::io("write", &self.path, e))
    }
}

/// Reads the file of a run with this plan; what was tolerated is said in `warnings`.
pub fn read(path: &Path, plan: &Plan, warnings: &mut Vec<String>) -> Result<Vec<TimelineRow>, RecordError> {
    let bytes = std::fs::read(path).map_err(|e| RecordError::io("read", path, e))?;
    let text = String::from_utf8_lossy(&bytes);
    let damaged =
        |line: usize, detail: String| RecordError::Damaged { path: path.to_path_buf(), line: line as u64, detail };
    let columns = header(plan);
    let mut rows = Vec::new();
    let mut lines = text.split_inclusive('\n').enumerate().peekable();
    match lines.next() {
        Some((_, head)) if head.trim_end().split(',').eq(columns.iter().copied()) => {}
        Some((_, head)) if head.ends_with('\n') => {
            return Err(damaged(
                1,
                format!("not the timeline of this run: the columns must be `{}`", columns.join(",")),
            ));
        }
        _ => warnings.push(format!("{}: empty; the run recorded no second", path.display())),
    }
    while let Some((index, line)) = lines.next() {
        // A line without its end may be cut inside its last number and still look whole.
        match parse(line, plan.transactions.len()).filter(|_| line.ends_with('\n')) {
            Some(row) => rows.push(row),
            None if lines.peek().is_none() => {
                warnings.push(format!("{}:{}: the last line is cut off and was left out", path.display(), index + 1));
            }
            None => return Err(damaged(index + 1, format!("expected {} columns; the file is damaged", columns.len()))),
        }
    }
    Ok(rows)
}

/// One row of so many transaction types; `None` if it is none.
fn parse(line: &str, transactions: usize) -> Option<TimelineRow> {
    let mut fields = line.trim_end().split(',');
    let elapsed_s = number(fields.next()?)?;
    let stage = Stage::parse(fields.next()?)?;
    let mut completed = Vec::with_capacity(transactions);
    for _ in 0..transactions {
        completed.push(count(fields.next()?)?);
    }
    let row = TimelineRow {
        elapsed_s,
        stage,
        completed,
        rolled_back: count(fields.next()?)?,
        errors: count(fields.next()?)?,
        retries: count(fields.next()?)?,
        p50_ms: number(fields.next()?)?,
        p90_ms: number(fields.next()?)?,
        p99_ms: number(fields.next()?)?,
        max_ms: number(fields.next()?)?,
        queue_p99_ms: number(fields.next()?)?,
        lag_p99_ms: number(fields.next()?)?,
        cpu_percent: number(fields.next()?)?,
        rss_bytes: count(fields.next()?)?,
        waiting: count(fields.next()?)?,
        backlog: count(fields.next()?)?,
    };
    fields.next().is_none().then_some(row)
}

fn count(field: &str) -> Option<u64> {
    field.parse().ok().filter(|count| *count <= MAX_COUNT)
}

/// No figure of a run comes near the ends of what a number can be, where scales and sums overflow.
const MAX_NUMBER: f64 = 1e15;

fn number(field: &str) -> Option<f64> {
    field.parse().ok().filter(|value: &f64| (0.0..=MAX_NUMBER).contains(value))
}

/// The length of each row, seconds: from the end of the row before it, or from the start of the run.
pub fn durations(rows: &[TimelineRow]) -> impl Iterator<Item = f64> + '_ {
    let mut last = 0.0;
    rows.iter().map(move |row| {
        let seconds = (row.elapsed_s - last).max(0.0);
        last = row.elapsed_s;
        seconds
    })
}
