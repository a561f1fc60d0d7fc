//! `weighbridge sweep`: a grid of runs, each from the same state of the data, in an order that chance has chosen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::folder::PAGE;
use record::sweep::{PlannedRun, Point, SWEEP_JSON, SWEEP_VERSION, Sweep, SweepPlan};
use record::verdict::Status as VerdictStatus;
use target::Gateways;
use tpcc::rng::Stream;
use workload::{AnyWorkload, Capability};

use super::restoring::{Restorer, end_all};
use super::run::any_seed;
use super::step::Step;
use super::{Ended, Failure, Status};
use crate::cli::{EveryRunArgs, NamedTarget, ResultFormat, SweepArgs};
use crate::{interrupt, output};

pub(crate) fn run(args: &SweepArgs) -> Ended {
    AnyWorkload::read(&args.workload)
        .and_then(|workload| workload.require(Capability::Sweep))
        .map_err(Failure::Usage)?;
    show(&carry_out(args)?, args.output.format().into())
}

/// Makes all runs, and returns the sweep's folder.
pub(super) fn carry_out(args: &SweepArgs) -> Result<PathBuf, Failure> {
    let targets = targets(args)?;
    let mut restorers: Vec<Restorer> = targets
        .iter()
        .map(|target| Restorer::new(&target.name, &target.urls, &args.restore))
        .collect::<Result<_, _>>()?;
    let folder = args.out.clone().unwrap_or_else(|| drive::results_folder("sweep"));
    let plan = match args.resume {
        true => resumed(&folder, &targets, &mut restorers)?,
        false => {
            let mut plan = plan(args, &targets, &restorers);
            expect_run(&plan)?;
            plan.databases = databases(&plan, &targets, &mut restorers, false)?;
            plan.create(&folder)?;
            plan
        }
    };
    // From now on a signal ends the sweep in order, also between two runs.
    interrupt::stop();
    let measured = measure(&plan, &targets, &restorers, &folder).map_err(|e| resumable(e, &folder));
    end_all(&restorers, measured)?;
    write_page(&folder, &folder.join(PAGE))?;
    Ok(folder)
}

/// Makes the runs that are not done yet.
fn measure(plan: &SweepPlan, targets: &[NamedTarget], restorers: &[Restorer], folder: &Path) -> Result<(), Failure> {
    for (number, planned) in (1..).zip(&plan.runs) {
        if SweepPlan::is_done(folder, planned) {
            continue;
        }
        let point = &plan.points[planned.point];
        let at = targets.iter().position(|target| is_at(point, target)).unwrap_or_default();
        say!("run {number} of {}: {}", plan.runs.len(), planned.folder);
        let document = one(&targets[at].urls, &restorers[at], plan, planned, folder)?;
        say!(
            "run {number} of {}: {} {:.0} NOPM, {}",
            plan.runs.len(),
            planned.folder,
            document["nopm"].as_f64().unwrap_or_default(),
            document["verdict"]["status"].as_str().unwrap_or_default()
        );
    }
    Ok(())
}

/// Writes a sweep's page, and says where.
pub(super) fn write_page(folder: &Path, page: &Path) -> Result<(), Failure> {
    Ok(super::report::write(page, &report::sweep_page(&Sweep::open(folder)?).file())?)
}

/// Prints a sweep's result; not believed if a run's verdict is `invalid`, or runs of one point had different settings.
pub(super) fn show(folder: &Path, format: ResultFormat) -> Ended {
    let sweep = Sweep::open(folder)?;
    for warning in &sweep.warnings {
        say!("warning: {warning}");
    }
    match format {
        ResultFormat::Table => output::print(&report::sweep_table(&sweep))?,
        ResultFormat::Json => output::print_json(&report::sweep_json(&sweep))?,
        ResultFormat::Markdown => output::print(&report::sweep_markdown(&sweep))?,
        ResultFormat::Cockroach | ResultFormat::Yugabyte => {
            return Err(Failure::Usage("a sweep has many results, and that format holds one".to_owned()));
        }
    }
    let invalid = sweep.results.iter().any(|result| {
        !result.conflict.is_empty() || result.runs.iter().any(|run| run.verdict == VerdictStatus::Invalid)
    });
    Ok(if invalid { Status::NotBelieved } else { Status::Done })
}

/// Whether a folder is a sweep's.
pub(super) fn is_sweep(folder: &Path) -> bool {
    folder.join(SWEEP_JSON).exists()
}

/// The databases to measure: those with a name, or the one of `--url`.
fn targets(args: &SweepArgs) -> Result<Vec<NamedTarget>, Failure> {
    args.target.beside(&args.targets).map_err(Failure::Usage)?;
    let mut targets = args.targets.clone();
    if targets.is_empty() {
        targets.push(NamedTarget { name: String::new(), nodes: None, urls: args.target.urls.clone() });
    }
    for (at, target) in targets.iter().enumerate() {
        if targets[..at].iter().any(|earlier| earlier.name == target.name && earlier.nodes == target.nodes) {
            return Err(Failure::Usage(format!("--target {} is named twice", target.name)));
        }
    }
    for target in &mut targets {
        let gateways = Gateways::parse(&target.urls).map_err(|e| Failure::Usage(e.to_string()))?;
        target.nodes.get_or_insert(gateways.urls().len() as u32);
        for style in &args.style {
            style.require(gateways.dialect()).map_err(Failure::Usage)?;
        }
    }
    Ok(targets)
}

/// Whether a point of the grid lies on a target.
fn is_at(point: &Point, target: &NamedTarget) -> bool {
    (&point.target, Some(point.nodes)) == (&target.name, target.nodes)
}

/// The grid and the order of its runs.
fn plan(args: &SweepArgs, targets: &[NamedTarget], restorers: &[Restorer]) -> SweepPlan {
    let mut points = Vec::new();
    for target in targets {
        let nodes = target.nodes.unwrap_or(1);
        let per_node =
            |count: Option<u32>| count.map(|count| count.saturating_mul(nodes)).into_iter().collect::<Vec<_>>();
        let warehouses = [args.warehouses.clone(), per_node(args.warehouses_per_node)].concat();
        let connections = [args.connections.clone(), per_node(args.connections_per_node)].concat();
        for warehouses in axis(&warehouses) {
            for style in axis(&args.style) {
                for isolation in axis(&args.isolation) {
                    for connections in axis(&connections) {
                        points.push(Point {
                            target: target.name.clone(),
                            nodes,
                            warehouses,
                            style: style.map(|style| style.to_string()),
                            isolation: isolation.map(|isolation| isolation.to_string()),
                            connections,
                        });
                    }
                }
            }
        }
    }
    let seed = args.seed.unwrap_or_else(any_seed);
    let runs = (1..=args.repeat).flat_map(|repetition| round(&points, seed, repetition)).collect();
    let restore = restorers.first().map_or("none", |restorer| restorer.how().name()).to_owned();
    SweepPlan {
        sweep_version: SWEEP_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        points,
        databases: BTreeMap::new(),
        restore,
        arguments: every_run(&args.runs),
        runs,
    }
}

/// The values of an axis, each once; one of none where none was given.
fn axis<T: Clone + PartialEq>(values: &[T]) -> Vec<Option<T>> {
    let mut axis: Vec<Option<T>> = Vec::new();
    for value in values {
        if !axis.contains(&Some(value.clone())) {
            axis.push(Some(value.clone()));
        }
    }
    if axis.is_empty() { vec![None] } else { axis }
}

/// Flags of `run` that are the sweep's own matter.
const OURS: [&str; 10] = [
    "--url",
    "--out",
    "--json",
    "--format",
    "--seed",
    "--warehouses",
    "--connections",
    "--style",
    "--isolation",
    "--shard",
];

/// Refuses flags that `run` would refuse, before anything is touched.
fn expect_run(plan: &SweepPlan) -> Result<(), Failure> {
    if let Some(flag) = plan.arguments.iter().find(|flag| OURS.contains(&flag.as_str())) {
        return Err(Failure::Usage(format!("`{flag}` behind --: the sweep gives it to each run itself")));
    }
    let words = ["run".to_owned()].into_iter().chain(plan.arguments.iter().cloned()).collect::<Vec<_>>();
    super::step::parsed(&words).map(drop)
}

/// What each target is, by its name and size.
fn databases(
    plan: &SweepPlan,
    targets: &[NamedTarget],
    restorers: &mut [Restorer],
    resumed: bool,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut databases = BTreeMap::new();
    for (target, restorer) in targets.iter().zip(restorers) {
        let most = plan.points.iter().filter(|point| is_at(point, target)).filter_map(|point| point.warehouses).max();
        databases.insert(format!("{}@{}", target.name, target.nodes.unwrap_or(1)), restorer.examine(most, resumed)?);
    }
    Ok(databases)
}

/// All points once, shuffled, so that whatever drifts with time falls on all of them alike. The runs of a round have
/// the same seed: what differs between them is the point.
fn round(points: &[Point], seed: u64, repetition: u32) -> Vec<PlannedRun> {
    let mut chance = Stream::for_terminal(seed, u64::from(repetition));
    let mut order: Vec<usize> = (0..points.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, chance.uniform(0, last as i64) as usize);
    }
    let run = |point: usize| PlannedRun {
        point,
        repetition,
        seed: seed.wrapping_add(u64::from(repetition)),
        folder: format!("{}-r{repetition}", name(&points[point])),
    };
    order.into_iter().map(run).collect()
}

/// A point as a folder's name: what was asked for.
fn name(point: &Point) -> String {
    let mut parts = Vec::new();
    if !point.target.is_empty() {
        parts.push(point.target.clone());
        parts.push(format!("{}n", point.nodes));
    }
    parts.extend(point.warehouses.map(|n| format!("{n}w")));
    parts.extend(point.connections.map(|n| format!("{n}c")));
    parts.extend(point.style.clone());
    parts.extend(point.isolation.clone());
    if parts.is_empty() { "run".to_owned() } else { parts.join("-") }
}

/// The flags that every run of a series has.
pub(super) fn every_run(args: &EveryRunArgs) -> Vec<String> {
    let seconds = |time: std::time::Duration| format!("{}s", time.as_secs());
    let own = [
        ("--ramp", seconds(args.pace.ramp)),
        ("--duration", seconds(args.pace.duration)),
        ("--pacing", args.pace.pacing.to_string()),
    ];
    let own = own.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
    own.chain(args.arguments.iter().cloned()).collect()
}

/// The plan in the folder, for the databases that are given again.
fn resumed(folder: &Path, targets: &[NamedTarget], restorers: &mut [Restorer]) -> Result<SweepPlan, Failure> {
    let plan = SweepPlan::read(folder)?;
    if let Some(missing) = plan.points.iter().find(|point| !targets.iter().any(|target| is_at(point, target))) {
        let how = match missing.target.as_str() {
            "" => format!("--url with {} gateways", missing.nodes),
            name => format!("--target {name}@{}", missing.nodes),
        };
        return Err(Failure::Usage(format!("the sweep was begun with {how}: give it again")));
    }
    if let Some(restorer) = restorers.iter().find(|restorer| restorer.how().name() != plan.restore) {
        let how = restorer.how().name();
        return Err(Failure::Usage(format!("the sweep began with --restore {}, not {how}", plan.restore)));
    }
    let now = databases(&plan, targets, restorers, true)?;
    match plan.databases.iter().find(|(name, then)| now.get(*name) != Some(then)) {
        Some((name, then)) => Err(Failure::Usage(format!(
            "the sweep began with {then}, and this is {}: its runs would not be of one database",
            now.get(name).map_or("another target", String::as_str)
        ))),
        None => Ok(plan),
    }
}

/// How long the run of a sweep that was killed may take to end: it ends in order, and works on the data until then.
const LAST_WORDS: Duration = Duration::from_secs(60);

/// One run, from its data to its record.
fn one(
    urls: &[String],
    restorer: &Restorer,
    plan: &SweepPlan,
    planned: &PlannedRun,
    folder: &Path,
) -> Result<serde_json::Value, Failure> {
    let point = &plan.points[planned.point];
    let out: PathBuf = folder.join(&planned.folder);
    if out.exists() {
        // Of an interrupted sweep; only whole runs count.
        let left = record::folder::wait_until_left(&out, LAST_WORDS);
        left.and_then(|()| std::fs::remove_dir_all(&out))
            .map_err(|e| Failure::Failed(format!("can't remove the unfinished {}: {e}", out.display())))?;
    }
    restorer.before_run(point.warehouses)?;
    let mut words = vec!["run".to_owned()];
    let mut flag = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| [name.to_owned(), value]).into_iter().flatten())
    };
    flag("--warehouses", point.warehouses.map(|n| n.to_string()));
    flag("--connections", point.connections.map(|n| n.to_string()));
    flag("--style", point.style.clone());
    flag("--isolation", point.isolation.clone());
    flag("--seed", Some(planned.seed.to_string()));
    flag("--out", Some(out.display().to_string()));
    words.extend(plan.arguments.iter().cloned());
    Step::new(urls, words).run().map(|(_, document)| document)
}

fn resumable(failure: Failure, folder: &Path) -> Failure {
    match failure {
        // With the same --restore it would fail again.
        Failure::Failed(message) if message.contains("\nhint: choose") => Failure::Failed(message),
        Failure::Failed(message) | Failure::Usage(message) => Failure::Failed(format!(
            "{message}\nhint: completed runs are kept; continue with `weighbridge sweep --resume --out {}`, the same URLs and the \
             same --restore",
            super::step::quoted(&folder.display().to_string())
        )),
        other => other,
    }
}
