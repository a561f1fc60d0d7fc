//! What the tool itself weighs on this machine: runs on a target without data, and the cost of recording.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use ::tpcc::input::{Input, Kind, Warehouses};
use ::tpcc::mix::Mix;
use ::tpcc::terminal::Terminal;
use record::{Outcome, Phase, Recorder, Sample, Stats, Summary};
use target::{Gateways, Session, Url};
use workload::tpcc::acknowledged;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::{Output, Profile, Style, Tpcc, execute, prepare, rules};

use crate::options::{Options, RunError, Stop, runtime};
use crate::run::run;
use crate::tare::CpuMeter;

/// What is to be weighed: a run at the standard's pace on a target without data.
#[derive(Clone, Debug)]
pub struct Load {
    /// The target.
    pub gateways: Gateways,
    /// Statement style.
    pub style: Style,
    /// Warehouses, of ten terminals each.
    pub warehouses: i32,
    /// Connections.
    pub connections: u32,
    /// How long to measure.
    pub duration: Duration,
}

/// What a run weighed.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Terminals.
    pub terminals: u32,
    /// Driver threads.
    pub threads: u32,
    /// Transactions completed in the interval.
    pub transactions: u64,
    /// Transactions that failed.
    pub errors: u64,
    /// CPU of this process in it, seconds.
    pub cpu_seconds: f64,
    /// Most memory of this process so far, bytes.
    pub peak_rss_bytes: u64,
    /// How late the timer woke the terminals.
    pub lag: Stats,
}

impl Reading {
    /// CPU that a transaction of the mix takes, microseconds: timers, inputs, statements, recording, all of it.
    pub fn cpu_us_per_transaction(&self) -> f64 {
        self.cpu_seconds * 1e6 / (self.transactions as f64).max(1.0)
    }

    /// Warehouses at the standard's pace that one core drives, from what a transaction takes; a run that was held up
    /// has no better figure for it.
    pub fn warehouses_per_core(&self) -> f64 {
        let mix = Mix::standard();
        let a_second = mix.ceiling_per_warehouse() / mix.share(Kind::NewOrder) / 60.0;
        1e6 / (self.cpu_us_per_transaction() * a_second).max(1e-3)
    }
}

/// Time before the measurement: the first terminals' own, and that of whatever is done once.
const RAMP: Duration = Duration::from_secs(2);

/// Transactions of the recording trial.
const RECORDED: u32 = 2_000_000;

/// Runs `load`, with a run folder at `folder` that is removed again.
///
/// # Errors
/// As [`run`].
pub fn weigh(load: &Load, folder: &Path, stop: &Stop) -> Result<Reading, RunError> {
    let tpcc = Tpcc { warehouses: Some(load.warehouses), style: load.style, ..Tpcc::default() };
    let options = Options {
        ramp: RAMP,
        connections: Some(load.connections),
        out: Some(folder.to_owned()),
        ..Options::new(load.gateways.clone(), load.duration)
    };
    let ran = run(&tpcc, &options, stop, &mut |_| {});
    let reading = ran.map(|finished| {
        let record = &finished.run.record;
        let summary = Summary::from_run(&finished.run);
        Reading {
            terminals: record.plan.terminals,
            threads: record.plan.threads,
            transactions: record.counts.iter().map(|counts| counts.measured.completed).sum(),
            errors: summary.transactions.iter().map(|figures| figures.errors).sum(),
            cpu_seconds: record.tare.cpu_seconds,
            peak_rss_bytes: record.tare.peak_rss_bytes,
            lag: summary.lag,
        }
    });
    let _ = fs::remove_dir_all(folder);
    reading
}

/// CPU nanoseconds that it takes to record a transaction with its waits.
pub fn recording_ns() -> f64 {
    let plan = record::Plan { transactions: rules::transactions(&Mix::standard()), ..record::Plan::default() };
    let mut recorder = Recorder::new(&plan);
    let mut meter = CpuMeter::start();
    for n in 0..u64::from(RECORDED) {
        let kind = Kind::ALL[(n % 5) as usize].index();
        // Any spread of times that touches the histograms here and there.
        let us = n.wrapping_mul(2_654_435_761) % 50_000;
        let sample =
            Sample { response_us: us, service_us: us / 2, queue_us: us / 8, retries: 0, outcome: Outcome::Committed };
        record_cycle(&mut recorder, kind, us, &sample);
    }
    let (cpu, _) = meter.read();
    assert_eq!(recorder.counts(0, Phase::Measured).completed, u64::from(RECORDED) / 5);
    cpu * 1e9 / f64::from(RECORDED)
}

/// What the ledger of acknowledgements weighs.
#[derive(Clone, Copy, Debug)]
pub struct LedgerWeight {
    /// CPU nanoseconds a transaction of the mix, entering and writing.
    pub ns: f64,
    /// Bytes a transaction of the mix.
    pub bytes: f64,
}

/// Different transactions in the ledger's trial.
const ANSWERS: usize = 1000;

/// Transactions between two writes.
const HANDED_OVER: usize = 10_000;

/// Weighs the ledger with what transactions of the standard mix enter, written to `file`, which is removed again.
///
/// # Errors
/// If the file can't be written.
pub fn weigh_ledger(file: &Path) -> Result<LedgerWeight, RunError> {
    let answered = runtime()?.block_on(answers())?;
    let mut journal = Vec::new();
    let mut written = 0;
    let refused = |e: std::io::Error| RunError::Machine(format!("{}: {e}", file.display()));
    let mut to = fs::File::create(file).map_err(refused)?;
    let mut meter = CpuMeter::start();
    for round in 0..RECORDED as usize / HANDED_OVER {
        for (input, output) in answered.iter().cycle().take(HANDED_OVER) {
            acknowledged::acknowledge(&mut journal, round as u32, input, output);
        }
        to.write_all(&journal).map_err(refused)?;
        written += journal.len();
        journal.clear();
    }
    let (cpu, _) = meter.read();
    fs::remove_file(file).map_err(refused)?;
    Ok(LedgerWeight { ns: cpu * 1e9 / f64::from(RECORDED), bytes: written as f64 / f64::from(RECORDED) })
}

/// Transactions of the standard mix with the answers of a target without data.
async fn answers() -> Result<Vec<(Input, Output)>, RunError> {
    let url = Url::parse("null:").map_err(|e| RunError::Usage(e.to_string()))?;
    let mut session = Session::connect(&url).await?;
    let profile = Profile::new(Style::Batch, url.dialect().default_isolation(), url.dialect())?;
    prepare(&mut session, profile).await?;
    let (constants, active) = (Catalog::without_data(100).run, Warehouses { first: 1, count: 100 });
    let mut terminal = Terminal::new(1, 0, 1, 1, active, constants, Mix::standard());
    let mut answered = Vec::new();
    for _ in 0..ANSWERS {
        let input = terminal.next_input();
        let output = execute(&mut session, profile, &input).await?;
        answered.push((input, output));
    }
    Ok(answered)
}

/// What a terminal records in one cycle: keying, the transaction, thinking, and the lag of both waits.
fn record_cycle(recorder: &mut Recorder, kind: usize, us: u64, sample: &Sample) {
    recorder.keying(kind, Phase::Measured, us * 100);
    recorder.lag(Phase::Measured, us / 50);
    recorder.transaction(kind, Phase::Measured, sample);
    recorder.think(kind, Phase::Measured, us * 1000);
    recorder.lag(Phase::Measured, us / 40);
}

/// Bytes of memory that this machine has to spare.
pub fn spare_memory_bytes() -> u64 {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap_or("");
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}
