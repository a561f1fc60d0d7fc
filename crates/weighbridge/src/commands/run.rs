//! `weighbridge run`: drive the terminals, measure, judge.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drive::{Event, Options, RunError, Second, Stop, Tpcc};
use record::folder::{ACKNOWLEDGED, PAGE, WORKLOAD};
use record::run::{Ended as RunEnded, NOT_ASKED_FOR};
use record::timeline::Stage;
use record::{OpenedRun, RecordError, RunFolder, RunRecord, Summary, TimelineRow};
use target::{Dialect, Gateways};

use super::{Ended, Failure, Status, announce, gateways, human, require_data, require_file};
use crate::cli::{DriveArgs, ResultFormat, RunArgs, USUAL_RESULTS, Workload};
use crate::faults::{Fault, FaultTarget, Injector};
use crate::interrupt;
use crate::metrics::Metrics;
use crate::tui::RunView;

pub(crate) fn run(args: &RunArgs) -> Ended {
    let workload = args.read_workload().map_err(Failure::Usage)?;
    let live = args.view.live();
    let args = &args.drive;
    let options = options(args, &workload, gateways(&args.target)?)?;
    let beside = Beside { faults: None, metrics: metrics(args)?, live };
    measure(&options, args.out.as_deref(), args.check, beside, args.output.format())
}

/// What a run is asked to do, as far as the command line tells, made sure of.
pub(super) fn options(args: &DriveArgs, workload: &Workload, gateways: Gateways) -> Result<Options, Failure> {
    args.style.require(gateways.dialect()).map_err(Failure::Usage)?;
    if args.check {
        require_data(&gateways, "check")?;
    }
    require_file(gateways.first())?;
    let start = args.fleet.start(&args.start, args.pace.ramp).map_err(Failure::Usage)?;
    if let Some(worker) = start.meets() {
        announce(worker, start.wait);
    }
    let workload = match workload {
        Workload::Custom(custom) => drive::Workload::Custom(custom.clone()),
        Workload::Tpcc => drive::Workload::Tpcc(Tpcc {
            warehouses: args.warehouses,
            first_warehouse: args.first_warehouse,
            total_warehouses: args.total_warehouses,
            style: args.style,
            mix: args.mix,
        }),
    };
    Ok(Options {
        gateways,
        workload,
        affinity: args.affinity,
        ramp: args.pace.ramp,
        duration: args.pace.duration,
        pacing: args.pace.pacing,
        connections: args.connections,
        terminals: args.terminals,
        isolation: args.isolation,
        statements: args.statements,
        region: args.region.clone().unwrap_or_default(),
        seed: args.seed.unwrap_or_else(any_seed),
        on_error: args.on_error.unwrap_or_default(),
        start,
    })
}

/// A seed that nobody chose; small enough to be typed again.
pub(super) fn any_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64 ^ u64::from(std::process::id())) % 1_000_000_000
}

/// The faults that are laid over a run.
pub(super) struct Faults {
    pub(super) place: Arc<FaultTarget>,
    pub(super) list: Vec<Fault>,
}

/// What goes on beside a run.
#[derive(Default)]
pub(super) struct Beside<'a> {
    pub(super) faults: Option<&'a Faults>,
    pub(super) metrics: Option<Metrics>,
    /// Whether it is shown live, rather than in plain lines.
    pub(super) live: bool,
}

/// The metrics that were asked for, which are told from now on.
pub(super) fn metrics(args: &DriveArgs) -> Result<Option<Metrics>, Failure> {
    Metrics::start(&args.metrics)
}

/// Runs, checks if asked to, judges, and prints the result.
pub(super) fn measure(
    options: &Options,
    out: Option<&Path>,
    check: bool,
    beside: Beside<'_>,
    format: ResultFormat,
) -> Ended {
    let (folder, mut record) = drive_to_the_end(options, out, beside, &interrupt::stop())?;
    // What can't be checked costs no result.
    let mut unchecked = None;
    if check && !record.target.without_data {
        match super::check::after_run(options, &record.plan) {
            Ok(checks) => {
                let known = record.checks.get_or_insert_default();
                known.retain(|check| check.skipped.as_deref() != Some(NOT_ASKED_FOR));
                known.extend(checks);
            }
            Err(why) => unchecked = Some(why),
        }
    }
    let opened = keep_result(&folder, record)?;
    // Without a page there is still a result to show.
    let page = super::report::write_page(&opened, &folder.file(PAGE));
    let status = super::report::show(&opened, format)?;
    page?;
    if let Some(why) = unchecked {
        return Err(why);
    }
    if let RunEnded::Failed(why) = &opened.record.ended {
        return Err(Failure::Failed(format!("the run was stopped: {why}")));
    }
    let lost = opened.record.audit.as_ref().is_some_and(|audit| !audit.passed);
    Ok(if lost { Status::NotBelieved } else { status })
}

/// Runs, with faults if there are any, brings the database back, and holds the ledger against it if anything may have
/// been lost.
pub(super) fn drive_to_the_end(
    options: &Options,
    out: Option<&Path>,
    beside: Beside<'_>,
    stop: &Stop,
) -> Result<(RunFolder, RunRecord), Failure> {
    let Beside { faults, mut metrics, live } = beside;
    let shown = RefCell::new(Shown::Nothing);
    let make_folder = |plan: &record::Plan| {
        let folder = RunFolder::create(&folder_name(out, options.gateways.dialect(), plan))?;
        record::folder::hold(folder.path());
        if let drive::Workload::Custom(custom) = &options.workload {
            record::folder::write_whole(&folder.file(WORKLOAD), custom.text.as_bytes())?;
        }
        say!(
            "{} terminals, {} connections{}, seed {}: {} of ramp, then {} measured; folder {}",
            plan.terminals,
            plan.connections,
            if plan.gateways.is_empty() { String::new() } else { format!(" over {} gateways", plan.gateways.len()) },
            plan.seed,
            human(options.ramp),
            human(options.duration),
            folder.path().display()
        );
        let view = live.then(|| RunView::start(plan, &options.gateways)).and_then(Result::ok);
        shown.replace(view.map_or_else(|| Shown::Lines(Lines::new(plan)), Shown::View));
        Ok::<RunFolder, RecordError>(folder)
    };
    let (mut injector, mut made) = (None, Vec::new());
    let mut watch = |event: Event<'_>| match event {
        Event::Second(second) => {
            let row = second.row;
            if let (Some(faults), None) = (faults, &injector) {
                // The first second tells exactly when the run began.
                let start = Instant::now() - Duration::from_secs_f64(row.elapsed_s);
                injector = Some(Injector::start(&faults.place, &faults.list, start));
            }
            if let Some(metrics) = &mut metrics {
                metrics.second(second);
            }
            shown.borrow_mut().second(&second);
        }
        Event::Ended => {
            shown.replace(Shown::Nothing);
            made = bring_back(faults, injector.take());
        }
    };
    let ran = drive::run(options, stop, make_folder, &mut watch);
    drop(shown.into_inner());
    if ran.is_err() && injector.is_some() {
        bring_back(faults, injector);
    }
    let (folder, mut record) = ran.map_err(|e| match e {
        RunError::Usage(message) => Failure::Usage(message),
        other => Failure::Failed(other.to_string()),
    })?;
    if faults.is_some() {
        if made.iter().any(|fault| fault.failed.is_none()) {
            record.plan.deviations.push("faults were made on purpose".to_owned());
        }
        record.faults = made;
        folder.write_record(&record)?;
    }
    // In a quiet run the sums of the reconciliation tell as much, and cost less.
    let quiet = record.reconciliation.as_ref().is_some_and(|held| held.checked.iter().all(|item| item.unknown == 0));
    let has_ledger = folder.file(ACKNOWLEDGED).exists();
    if has_ledger && (faults.is_some() || !quiet) {
        record.audit = super::auditing::after_run(&options.gateways, folder.path());
        folder.write_record(&record)?;
    }
    Ok((folder, record))
}

/// Ends the faults of a run that is over, undoes what they left behind, and waits until the database answers.
fn bring_back(faults: Option<&Faults>, injector: Option<Injector>) -> Vec<record::fault::Fault> {
    let made = injector.map(Injector::end).unwrap_or_default();
    if let Some(faults) = faults {
        let back = faults.place.restore().and_then(|()| super::auditing::await_recovery(&faults.place.gateways));
        // What can't be brought back can't be audited either, which is where it is said.
        if let Err(Failure::Failed(why) | Failure::Usage(why)) = back {
            say!("warning: {why}");
        }
    }
    made
}

/// Derives summary and verdict from the folder, and keeps them in it.
pub(super) fn keep_result(folder: &RunFolder, record: RunRecord) -> Result<OpenedRun, Failure> {
    folder.write_record(&record)?;
    let opened = RunFolder::open(folder.path())?;
    let mut record = opened.record.clone();
    let summary = Summary::from_run(&opened);
    let verdict = record::judge(&opened.record, &summary, &opened.timeline);
    record.summary = Some(summary);
    record.verdict = Some(verdict);
    folder.write_record(&record)?;
    Ok(RunFolder::open(folder.path())?)
}

/// The folder asked for, or one named for the moment and the run.
fn folder_name(out: Option<&Path>, dialect: &dyn Dialect, plan: &record::Plan) -> PathBuf {
    let size = if plan.has_warehouses() { format!("-{}w", plan.warehouses) } else { String::new() };
    out.map_or_else(|| results_folder(&format!("{}-{}{size}", plan.workload, dialect.name())), Path::to_owned)
}

/// A folder that is named for the moment and for what is in it.
pub(super) fn results_folder(what: &str) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
    Path::new(USUAL_RESULTS).join(format!("{now}-{what}"))
}

/// How a run is shown while it goes.
enum Shown {
    Lines(Lines),
    View(RunView),
    Nothing,
}

impl Shown {
    fn second(&mut self, second: &Second<'_>) {
        match self {
            Shown::Lines(lines) => lines.show(second.row),
            Shown::View(view) => view.second(second),
            Shown::Nothing => {}
        }
    }
}

/// A line a second on standard error.
struct Lines {
    /// What the rates of the headline are called.
    rates: [String; 2],
    headline: usize,
    lines: u32,
    last_s: f64,
    measured_s: f64,
    measured_headline: u64,
}

/// Lines between two headers.
const HEADER_EVERY: u32 = 20;

impl Lines {
    fn new(plan: &record::Plan) -> Self {
        let rates = plan.labels.rate_columns.clone();
        let headline = plan.headline().unwrap_or(0);
        Self { rates, headline, lines: 0, last_s: 0.0, measured_s: 0.0, measured_headline: 0 }
    }

    /// Rates are per minute: the headline of this second, the headline since the measurement began, all transactions.
    fn show(&mut self, row: &TimelineRow) {
        if self.lines.is_multiple_of(HEADER_EVERY) {
            say!(
                " elapsed  phase    {:>11}  {:>11}  tx/min now  p50 ms  p90 ms  p99 ms   max ms  errors  retries  waiting  cpu %",
                self.rates[0],
                self.rates[1],
            );
        }
        self.lines += 1;
        let seconds = (row.elapsed_s - self.last_s).max(1e-3);
        self.last_s = row.elapsed_s;
        let counted = row.completed.get(self.headline).copied().unwrap_or(0);
        if row.stage == Stage::Measured {
            self.measured_s += seconds;
            self.measured_headline += counted;
        }
        let rate = |count: u64, seconds: f64| 60.0 * count as f64 / seconds.max(1e-3);
        say!(
            "{:7.1}s  {:<8} {:>11.0} {:>12.1} {:>11.0} {:>7.1} {:>7.1} {:>7.1} {:>8.1} {:>7} {:>8} {:>8} {:>6.0}",
            row.elapsed_s,
            row.stage.name(),
            rate(counted, seconds),
            rate(self.measured_headline, self.measured_s),
            rate(row.completed.iter().sum(), seconds),
            row.p50_ms,
            row.p90_ms,
            row.p99_ms,
            row.max_ms,
            row.errors,
            row.retries,
            row.waiting,
            row.cpu_percent,
        );
    }
}
