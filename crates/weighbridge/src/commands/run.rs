//! `weighbridge run`: drive the terminals, measure, judge.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use drive::{Event, Options, Second};
use record::folder::PAGE;
use record::run::Ended as RunEnded;
use record::timeline::Stage;
use record::{RecordError, TimelineRow};
use target::Gateways;
use workload::{AnyWorkload, CheckProgress, Workload, dispatch};

use super::{Ended, Failure, Status, announce, gateways, human, require_data, require_file};
use crate::cli::{DriveArgs, ResultFormat, RunArgs};
use crate::interrupt;
use crate::metrics::Metrics;
use crate::progress::{Progress, Reading};
use crate::tui::RunView;

pub(crate) fn run(args: &RunArgs) -> Ended {
    let workload = args.drive.configure(AnyWorkload::read(&args.workload).map_err(Failure::Usage)?);
    let gateways = gateways(&args.drive.target)?;
    require(&workload, &gateways)?;
    let options = options(&args.drive, gateways)?;
    let observer = Observer::new(Metrics::start(&args.drive.metrics)?, args.view.live());
    measure(&workload, &options, observer, args.drive.output.format())
}

/// Refuses a database that can't run the workload, before anything is touched.
pub(super) fn require(workload: &AnyWorkload, gateways: &Gateways) -> Result<(), Failure> {
    dispatch!(workload, workload => workload.require(gateways.dialect())).map_err(Failure::from_workload)
}

/// What a run is asked to do, whatever its workload.
pub(super) fn options(args: &DriveArgs, gateways: Gateways) -> Result<Options, Failure> {
    if args.check {
        require_data(&gateways, "check")?;
    }
    require_file(gateways.first())?;
    let start = args.fleet.start(&args.start, args.pace.ramp).map_err(Failure::Usage)?;
    if let Some(worker) = start.meets() {
        announce(worker, start.wait);
    }
    Ok(Options {
        affinity: args.affinity,
        ramp: args.pace.ramp,
        pacing: args.pace.pacing,
        connections: args.connections,
        terminals: args.terminals,
        isolation: args.isolation,
        statements: args.statements,
        region: args.region.clone().unwrap_or_default(),
        seed: args.seed.unwrap_or_else(any_seed),
        on_error: args.on_error.unwrap_or_default(),
        start,
        check: args.check,
        out: args.out.clone(),
        ..Options::new(gateways, args.pace.duration)
    })
}

/// A seed that nobody chose; small enough to be typed again.
pub(super) fn any_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64 ^ u64::from(std::process::id())) % 1_000_000_000
}

/// Runs a workload, prints the result, and says how it ended.
pub(super) fn measure(workload: &AnyWorkload, options: &Options, observer: Observer, format: ResultFormat) -> Ended {
    let (finished, page) = drive(workload, options, observer)?;
    let run = &finished.run;
    // Without a page there is still a result to show.
    let status = super::report::show(run, format)?;
    page?;
    if let Some(why) = finished.unchecked {
        return Err(Failure::from_workload(why));
    }
    if let RunEnded::Failed(why) = &run.record.ended {
        return Err(Failure::Failed(format!("the run was stopped: {why}")));
    }
    let lost = run.record.audit.as_ref().is_some_and(|audit| !audit.passed);
    Ok(if lost { Status::NotBelieved } else { status })
}

/// Runs a workload while it is observed. The second result is how writing the page ended.
pub(super) fn drive(
    workload: &AnyWorkload,
    options: &Options,
    mut observer: Observer,
) -> Result<(drive::Finished, Result<(), RecordError>), Failure> {
    let stop = interrupt::stop();
    let mut observe = |event: Event<'_>| observer.event(options, event);
    let finished = dispatch!(workload, workload => drive::run(workload, options, &stop, &mut observe));
    Ok((finished.map_err(Failure::from_run)?, observer.page))
}

/// What watches a run: the live view or plain lines, metrics, the progress of the checks, and the page at the end.
pub(super) struct Observer {
    metrics: Option<Metrics>,
    live: bool,
    shown: Shown,
    checks: Option<Progress>,
    page: Result<(), RecordError>,
}

/// How a run is shown while it goes.
enum Shown {
    Lines(Lines),
    View(RunView),
    Nothing,
}

impl Observer {
    /// Serves metrics if they were asked for, and shows the run live or in plain lines.
    pub(super) fn new(metrics: Option<Metrics>, live: bool) -> Self {
        Self { metrics, live, shown: Shown::Nothing, checks: None, page: Ok(()) }
    }

    fn event(&mut self, options: &Options, event: Event<'_>) {
        match event {
            Event::Begun { plan, folder } => {
                say!(
                    "{} terminals, {} connections{}, seed {}: {} of ramp, then {} measured; folder {}",
                    plan.terminals,
                    plan.connections,
                    match plan.gateways.len() {
                        0 => String::new(),
                        gateways => format!(" over {gateways} gateways"),
                    },
                    plan.seed,
                    human(options.ramp),
                    human(options.duration),
                    folder.path().display()
                );
                let view = self.live.then(|| RunView::start(plan, &options.gateways)).and_then(Result::ok);
                self.shown = view.map_or_else(|| Shown::Lines(Lines::new(plan)), Shown::View);
            }
            Event::Second(second) => {
                if let Some(metrics) = &mut self.metrics {
                    metrics.second(second);
                }
                self.shown.second(&second);
            }
            Event::Ended => self.shown = Shown::Nothing,
            Event::Checking(progress) => {
                self.metrics = None;
                self.checks = Some(show_checks(progress));
            }
            Event::Judged(run) => {
                self.metrics = None;
                self.checks = None;
                self.page = super::report::write_page(run, &run.path.join(PAGE));
            }
        }
    }
}

/// Shows how far checks have come, and ends them early at Ctrl-C.
pub(super) fn show_checks(progress: &Arc<CheckProgress>) -> Progress {
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    let shown = progress.clone();
    Progress::start("checks", move || Reading {
        done: shown.done.load(Ordering::Relaxed),
        total: shown.total.load(Ordering::Relaxed),
        doing: String::new(),
    })
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
