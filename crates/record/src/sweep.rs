//! Many runs over a grid: what was planned, what has been done, and what each point of the grid gave.
//!
//! A sweep's folder holds its plan, `sweep.json`, and a folder for each run. Which runs are done is told by their folders
//! alone, so that an interrupted sweep goes on where it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::compare::{self, Compared, Effect};
use crate::error::RecordError;
use crate::folder::{self, RUN_JSON, RunFolder};
use crate::run::{Ended, Target};
use crate::statistics;
use crate::summary::Summary;
use crate::verdict::{self, Status};

/// The document of a sweep.
pub const SWEEP_JSON: &str = "sweep.json";

/// The form of that document.
pub const SWEEP_VERSION: u32 = 1;

/// What a sweep set out to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepPlan {
    /// [`SWEEP_VERSION`].
    pub sweep_version: u32,
    /// Version of the tool.
    pub tool_version: String,
    /// The points of the grid.
    pub points: Vec<Point>,
    /// What each target was when the sweep began, by its name: where it is, without a password, and which load it holds.
    pub databases: BTreeMap<String, String>,
    /// How the data are brought back to the same state before each run, in words: `reload`.
    pub restore: String,
    /// What every run is called with besides its point.
    pub arguments: Vec<String>,
    /// The runs in their order.
    pub runs: Vec<PlannedRun>,
}

/// A point of the grid.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// The target's name; empty where there is only one.
    pub target: String,
    /// Nodes of the target; 0: not told.
    pub nodes: u32,
    /// Warehouses that are driven; none: all that are loaded.
    pub warehouses: Option<u32>,
    /// Statement style; none: the usual one.
    pub style: Option<String>,
    /// Isolation level; none: the usual one.
    pub isolation: Option<String>,
    /// Connections; none: the usual number.
    pub connections: Option<u32>,
}

/// One run of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedRun {
    /// Its point, by position.
    pub point: usize,
    /// Which of the repetitions, from 1.
    pub repetition: u32,
    /// Seed of its inputs.
    pub seed: u64,
    /// Its folder in the sweep's.
    pub folder: String,
}

/// A sweep read back.
#[derive(Debug, Clone, Serialize)]
pub struct Sweep {
    /// Its folder.
    pub path: PathBuf,
    /// What it set out to do.
    pub plan: SweepPlan,
    /// What each point gave, in the plan's order; a point without a run has no figures.
    pub results: Vec<PointResult>,
    /// Every other target against the first one, where all else is the same.
    pub ratios: Vec<Ratio>,
    /// What could not be read, one line each.
    pub warnings: Vec<String>,
}

/// What a point gave.
#[derive(Debug, Clone, Serialize)]
pub struct PointResult {
    /// The point, with what its runs really used.
    pub point: Point,
    /// Its runs, in the order of their repetitions. Those that are invalid are in no mean.
    pub runs: Vec<RunFigures>,
    /// What differed between its runs though it must not. If anything did, no run counts and there is no mean.
    pub conflict: Vec<Conflict>,
    /// How many runs count: those that are not invalid.
    pub valid: u32,
    /// New-Orders a minute.
    pub nopm: Mean,
    /// Efficiency, as a fraction; none for runs that leave the standard.
    pub efficiency: Option<Mean>,
    /// 95th percentile of New-Order's response time, milliseconds.
    pub p95_ms: Mean,
    /// 99th percentile of the same.
    pub p99_ms: Mean,
}

/// A property of the database that was not the same in all runs of a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The server setting, or `database` or `version`.
    pub what: String,
    /// Its values, in the order in which the runs had them.
    pub values: Vec<ConflictingValue>,
}

/// A value of a [`Conflict`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictingValue {
    /// The value; `not set` for a setting that a run did not record.
    pub value: String,
    /// The folders of the runs that had it.
    pub runs: Vec<String>,
}

/// One run's figures.
#[derive(Debug, Clone, Serialize)]
pub struct RunFigures {
    /// Its folder in the sweep's.
    pub folder: String,
    /// The database and its version: `postgres 17.2`.
    pub database: String,
    /// New-Orders a minute.
    pub nopm: f64,
    /// Efficiency, as a fraction; none for a run that leaves the standard.
    pub efficiency: Option<f64>,
    /// Percentiles of New-Order's response time, milliseconds.
    pub p95_ms: f64,
    /// See `p95_ms`.
    pub p99_ms: f64,
    /// Transactions that failed.
    pub errors: u64,
    /// The verdict.
    pub verdict: Status,
    /// Why it is invalid, if it is: the rules.
    pub reasons: Vec<String>,
    /// In what it deviates from the standard.
    pub deviations: Vec<String>,
}

/// A mean with its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Mean {
    /// The mean; 0 of nothing.
    pub value: f64,
    /// The interval's ends; none where a single figure tells no spread.
    pub interval: Option<[f64; 2]>,
}

/// A target against the first one.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    /// The point of the first target, by position.
    pub base: usize,
    /// The other's.
    pub new: usize,
    /// What decides between them.
    pub effect: Effect,
}

impl Mean {
    /// The mean of repetitions.
    fn of(values: &[f64]) -> Self {
        let value = values.iter().sum::<f64>() / (values.len() as f64).max(1.0);
        let error = (values.len() > 1).then(|| statistics::mean_error(values));
        Mean { value, interval: error.map(|error| [(value - error).max(0.0), value + error]) }
    }
}

impl SweepPlan {
    /// Writes it into the sweep's folder, which is made if it isn't there.
    ///
    /// # Errors
    /// If there is one already, or the folder can't be written.
    pub fn create(&self, path: &Path) -> Result<(), RecordError> {
        RunFolder::create(path)?;
        let file = path.join(SWEEP_JSON);
        let mut text = serde_json::to_vec_pretty(self).expect("a plan has string keys and no failing types");
        text.push(b'\n');
        folder::write_whole(&file, &text)
    }

    /// Reads it back.
    ///
    /// # Errors
    /// If it is not there, is damaged, or of a later version.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let file = path.join(SWEEP_JSON);
        let text = fs::read(&file).map_err(|e| RecordError::io("read", &file, e))?;
        let plan: SweepPlan = serde_json::from_slice(&text).map_err(|e| RecordError::Damaged {
            path: file.clone(),
            line: e.line() as u64,
            detail: format!("not a sweep's plan: {e}"),
        })?;
        if plan.sweep_version > SWEEP_VERSION {
            return Err(RecordError::TooNew { path: file, found: plan.sweep_version, known: SWEEP_VERSION });
        }
        let strange = plan.runs.iter().find(|run| run.point >= plan.points.len());
        let folders: std::collections::BTreeSet<&str> = plan.runs.iter().map(|run| run.folder.as_str()).collect();
        let elsewhere = folders.iter().any(|folder| !is_name(folder));
        if plan.runs.is_empty() || strange.is_some() || folders.len() < plan.runs.len() || elsewhere {
            let detail =
                "not a sweep's plan: it names no runs, a run of no point, a folder twice, or one elsewhere".to_owned();
            return Err(RecordError::Damaged { path: file, line: 1, detail });
        }
        Ok(plan)
    }

    /// Whether a run came to its planned end.
    #[must_use]
    pub fn is_done(path: &Path, run: &PlannedRun) -> bool {
        let record = folder::read_record(&path.join(&run.folder).join(RUN_JSON));
        record.is_ok_and(|record| record.ended == Ended::Completed && record.verdict.is_some())
    }
}

/// Whether a folder's name leads nowhere but into the folder that it is in.
fn is_name(folder: &str) -> bool {
    let mut parts = Path::new(folder).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == folder)
}

impl Sweep {
    /// Reads a sweep and all its runs that are done.
    ///
    /// # Errors
    /// As [`SweepPlan::read`].
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let plan = SweepPlan::read(path)?;
        let mut warnings = Vec::new();
        let mut opened: Vec<Vec<Compared>> = plan.points.iter().map(|_| Vec::new()).collect();
        let mut results: Vec<PointResult> = Vec::new();
        for (index, point) in plan.points.iter().enumerate() {
            let mut point = point.clone();
            let (mut runs, mut databases) = (Vec::new(), Vec::new());
            for planned in plan.runs.iter().filter(|run| run.point == index) {
                if !SweepPlan::is_done(path, planned) {
                    warnings.push(format!("{}: not done", planned.folder));
                    continue;
                }
                match run(path, planned, &mut point).and_then(|read| {
                    opened[index].push(Compared::open(&path.join(&planned.folder))?);
                    Ok(read)
                }) {
                    Ok((figures, database)) => {
                        runs.push(figures);
                        databases.push((planned.folder.clone(), database));
                    }
                    Err(e) => warnings.push(e.to_string()),
                }
            }
            results.push(PointResult::of(point, runs, conflicts(&databases)));
        }
        let ratios = ratios(&plan.points, &results, &opened);
        Ok(Sweep { path: path.to_path_buf(), plan, results, ratios, warnings })
    }

    /// Whether all runs keep to the standard, so that their rates are tpmC.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.results.iter().all(|result| result.valid == 0 || result.efficiency.is_some())
    }
}

/// Reads one run's figures and its database; the point learns what was left to the usual.
fn run(path: &Path, planned: &PlannedRun, point: &mut Point) -> Result<(RunFigures, Target), RecordError> {
    let opened = RunFolder::open(&path.join(&planned.folder))?;
    let summary = Summary::from_run(&opened);
    let verdict = verdict::judge(&opened.record, &summary, &opened.timeline);
    let plan = &opened.record.plan;
    point.warehouses = Some(plan.warehouses);
    point.style = Some(plan.style.clone());
    point.isolation = Some(plan.isolation.clone());
    point.connections = Some(plan.connections);
    let response = summary.headline(plan).map(|figures| figures.response).unwrap_or_default();
    let figures = RunFigures {
        folder: planned.folder.clone(),
        database: format!("{} {}", opened.record.target.kind, opened.record.target.version),
        nopm: summary.nopm,
        efficiency: summary.efficiency,
        p95_ms: response.p95,
        p99_ms: response.p99,
        errors: summary.transactions.iter().map(|figures| figures.errors).sum(),
        verdict: verdict.status,
        reasons: verdict.reasons.iter().map(|finding| finding.rule.clone()).collect(),
        deviations: verdict.deviations,
    };
    Ok((figures, opened.record.target))
}

/// Finds what differs between the databases of runs that are to be alike, each beside its run's folder.
fn conflicts(databases: &[(String, Target)]) -> Vec<Conflict> {
    let settings: BTreeSet<&String> = databases.iter().flat_map(|(_, target)| target.settings.keys()).collect();
    let one = |what: &str, value: &dyn Fn(&Target) -> String| {
        let mut values: Vec<ConflictingValue> = Vec::new();
        for (folder, target) in databases {
            let value = value(target);
            match values.iter_mut().find(|known| known.value == value) {
                Some(known) => known.runs.push(folder.clone()),
                None => values.push(ConflictingValue { value, runs: vec![folder.clone()] }),
            }
        }
        (values.len() > 1).then(|| Conflict { what: what.to_owned(), values })
    };
    let fixed = [one("database", &|target| target.kind.clone()), one("version", &|target| target.version.clone())];
    let settings = settings
        .into_iter()
        .map(|name| one(name, &|target| target.settings.get(name).map_or_else(|| "not set".to_owned(), Clone::clone)));
    fixed.into_iter().chain(settings).flatten().collect()
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is ", self.what)?;
        for (at, ConflictingValue { value, runs }) in self.values.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let value = if value.is_empty() { "''" } else { value };
            write!(f, "{comma}{value} in {}", runs.join(" and "))?;
        }
        Ok(())
    }
}

impl PointResult {
    fn of(point: Point, runs: Vec<RunFigures>, conflict: Vec<Conflict>) -> Self {
        let valid = || runs.iter().filter(|run| conflict.is_empty() && run.verdict != Status::Invalid);
        let mean = |of: fn(&RunFigures) -> f64| Mean::of(&valid().map(of).collect::<Vec<_>>());
        let efficiencies: Option<Vec<f64>> = valid().map(|run| run.efficiency).collect();
        PointResult {
            valid: valid().count() as u32,
            nopm: mean(|run| run.nopm),
            efficiency: efficiencies.filter(|all| !all.is_empty()).map(|all| Mean::of(&all)),
            p95_ms: mean(|run| run.p95_ms),
            p99_ms: mean(|run| run.p99_ms),
            point,
            runs,
            conflict,
        }
    }
}

/// Compares every other target with the first one, where all else is the same.
fn ratios(points: &[Point], results: &[PointResult], opened: &[Vec<Compared>]) -> Vec<Ratio> {
    let Some(first) = points.first() else { return Vec::new() };
    let elsewhere = |point: &Point| Point { target: String::new(), ..point.clone() };
    let mut ratios = Vec::new();
    for (new, point) in points.iter().enumerate().filter(|(_, point)| point.target != first.target) {
        let base = points.iter().position(|p| p.target == first.target && elsewhere(p) == elsewhere(point));
        let Some(base) = base else { continue };
        if [base, new].iter().any(|at| !results[*at].conflict.is_empty()) {
            continue;
        }
        // What was measured is shown, whatever its verdict: that stands beside it.
        if let Ok(comparison) = compare::compare(&opened[base], &opened[new], true) {
            ratios.push(Ratio { base, new, effect: comparison.decisive });
        }
    }
    ratios
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_run_is_in_that_of_the_sweep() {
        assert!(is_name("02-8c-1"));
        for elsewhere in ["", ".", "..", "../x", "/etc", "a/b", "a/", "./a"] {
            assert!(!is_name(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn settings_that_differ_within_a_point_are_named_with_their_runs() {
        let target = |commit: &str, version: &str| Target {
            kind: "postgres".to_owned(),
            version: version.to_owned(),
            settings: BTreeMap::from([("synchronous_commit".to_owned(), commit.to_owned())]),
            ..Target::default()
        };
        let runs = |all: &[(&str, &str)]| {
            let named = |(at, (commit, version)): (usize, &(&str, &str))| (format!("r{at}"), target(commit, version));
            conflicts(&all.iter().enumerate().map(named).collect::<Vec<_>>())
        };
        assert!(runs(&[]).is_empty() && runs(&[("on", "15"), ("on", "15")]).is_empty());
        let said: Vec<String> =
            runs(&[("on", "15"), ("off", "15"), ("off", "16")]).iter().map(Conflict::to_string).collect();
        assert_eq!(said, ["version is 15 in r0 and r1, 16 in r2", "synchronous_commit is on in r0, off in r1 and r2"]);
        let mut missing = vec![("a".to_owned(), target("on", "15")), ("b".to_owned(), target("on", "15"))];
        missing[1].1.settings.clear();
        assert_eq!(conflicts(&missing)[0].to_string(), "synchronous_commit is on in a, not set in b");
    }

    #[test]
    fn the_interval_of_a_mean_is_students() {
        let mean = Mean::of(&[9.0, 10.0, 11.0]);
        let [low, high] = mean.interval.unwrap();
        // t(0.975, 2) = 4.3027, s / sqrt(n) = 0.57735
        assert!((mean.value - 10.0).abs() < 1e-12 && (low - 7.515_86).abs() < 1e-4 && (high - 12.484_14).abs() < 1e-4);
        assert_eq!(Mean::of(&[7.0]), Mean { value: 7.0, interval: None });
    }
}
