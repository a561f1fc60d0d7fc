//! Two sides of runs held against each other: what differs in how they were made, and what in what they gave.
//!
//! A run's seconds are not independent of each other, so they are gathered into batches, and what the batches still
//! share widens the interval. A percentile's error is found through its share: how much the batches differ in the part
//! of their times that lies below it. Ratios are compared on the scale of logarithms, by Welch's t.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::error::RecordError;
use crate::folder::{self, OpenedRun, RunFolder};
use crate::latency_log;
use crate::recorder::{Clock, Phase};
use crate::summary::Summary;
use crate::timeline::{self, Stage};
use crate::verdict::{self, Status};

/// Chance of calling equals different.
const ALPHA: f64 = 0.05;

/// Batches that an interval is cut into.
const BATCHES: usize = 30;

/// Fewest batches that tell a spread.
const MIN_BATCHES: usize = 10;

/// The widest interval that is told, to either side, as a logarithm: ten times.
const WIDEST_INTERVAL: f64 = std::f64::consts::LN_10;

/// From so many runs a side on, the runs themselves are the sample.
const MIN_RUNS: usize = 3;

/// Repetitions that differ by less than this share of their mean are equal but for the clock: they tell no spread.
const LEAST_SPREAD: f64 = 5e-4;

/// The percentiles that are compared.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.50), ("p90", 0.90), ("p95", 0.95), ("p99", 0.99)];

/// Facts that differ between any two runs, or follow from others.
const ALWAYS_DIFFERENT: [&str; 6] =
    ["plan.seed", "plan.start_at", "plan.constants", "plan.tallies", "plan.transactions", "plan.labels"];

/// A run as it is compared.
#[derive(Debug)]
pub struct Compared {
    opened: OpenedRun,
    summary: Summary,
    status: Status,
    /// The latency log's histograms by tag, second by second.
    seconds: latency_log::Seconds,
}

impl Compared {
    /// Reads a run.
    ///
    /// # Errors
    /// As [`RunFolder::open`].
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let opened = RunFolder::open(path)?;
        let summary = Summary::from_run(&opened);
        let status = verdict::judge(&opened.record, &summary, &opened.timeline).status;
        let wanted = [Clock::Response, Clock::Deferred].map(|clock| format!(".{}", clock.name()));
        let measured = |tag: &str| wanted.iter().any(|clock| tag.ends_with(clock)) && !tag.starts_with("outside.");
        let seconds = latency_log::read_seconds(&path.join(folder::LATENCY_LOG), measured, &mut Vec::new())?;
        Ok(Self { opened, summary, status, seconds })
    }

    /// Where it came from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.opened.source
    }

    /// What is to be said of its record, one line each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.opened.warnings
    }

    /// The same run under the name of where it came from.
    #[must_use]
    pub fn named(mut self, source: &str) -> Self {
        source.clone_into(&mut self.opened.source);
        self
    }

    /// When the run began, if that is known.
    #[must_use]
    pub fn started_at(&self) -> Option<jiff::Timestamp> {
        self.opened.record.started_at
    }

    /// Whether this run repeats another one: the same database, version and plan.
    #[must_use]
    pub fn repeats(&self, other: &Compared) -> bool {
        let (mine, theirs) = (&self.opened.record.target, &other.opened.record.target);
        (&mine.kind, &mine.version, &mine.url, &mine.settings)
            == (&theirs.kind, &theirs.version, &theirs.url, &theirs.settings)
            && !differences(self, other).iter().any(|difference| difference.what.starts_with("plan."))
    }

    /// Completed transactions of one type, or of all, a minute; a batch each.
    fn rates(&self, index: Option<usize>) -> Vec<f64> {
        let rows = &self.opened.timeline;
        let measured = timeline::durations(rows).zip(rows).filter(|(_, row)| row.stage == Stage::Measured);
        let seconds: Vec<(f64, f64)> = measured
            .map(|(seconds, row)| {
                let completed = &row.completed;
                let count = index.map_or_else(|| completed.iter().sum(), |i| completed.get(i).copied().unwrap_or(0));
                (seconds, count as f64)
            })
            .collect();
        batches(&seconds)
            .map(|batch| {
                let (seconds, count) = batch.iter().fold((0.0, 0.0), |sum, s| (sum.0 + s.0, sum.1 + s.1));
                if seconds > 0.0 { count * 60.0 / seconds } else { 0.0 }
            })
            .collect()
    }

    fn rate(&self, index: Option<usize>) -> Estimate {
        let value = match index {
            Some(index) => {
                let count = self.summary.transactions.get(index).map_or(0, |figures| figures.count);
                count as f64 * 60.0 / self.summary.measured_seconds.max(1e-9)
            }
            None => self.summary.total_per_minute,
        };
        Estimate { value, ..Estimate::from_series(&self.rates(index)) }
    }

    /// A percentile of a transaction's time by a clock, in milliseconds.
    fn percentile(&self, transaction: &str, clock: Clock, q: f64) -> Option<Estimate> {
        let tag = latency_log::tag(transaction, Phase::Measured, clock);
        let all = self.opened.histograms.get(&tag)?;
        let at = |q: f64| all.quantile_us(q.clamp(0.0, 1.0)) as f64 / 1000.0;
        let (value, limit) = (at(q), all.quantile_us(q));
        let shares: Vec<f64> = batches(&self.seconds.for_tag(&tag))
            .filter_map(|batch| {
                let times = || batch.iter().copied().flatten();
                let count: u64 = times().map(|(_, count)| count).sum();
                let below = times().filter(|(us, _)| *us <= limit).map(|(_, count)| count).sum::<u64>();
                (count > 0).then(|| below as f64 / count as f64)
            })
            .collect();
        let share = Estimate::from_series(&shares);
        // One standard error of the share, to either side, in terms of the time.
        let error = (at(q + share.error) - at(q - share.error)) / 2.0;
        Some(Estimate { value, error, freedom: share.freedom })
    }
}

/// The seconds as batches of equal length; the last that is not full is left out.
fn batches<T>(seconds: &[T]) -> std::slice::ChunksExact<'_, T> {
    seconds.chunks_exact((seconds.len() / BATCHES).max(1))
}

/// A figure with its standard error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its standard error, in the same unit; infinite where it can't be told, which is null in JSON.
    #[serde(deserialize_with = "or_infinite")]
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
}

fn or_infinite<'de, D: serde::Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f64::INFINITY))
}

impl Estimate {
    /// The mean of a series whose neighbours may be alike.
    #[must_use]
    pub fn from_series(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        if values.len() < MIN_BATCHES {
            return Self { value: mean, error: f64::INFINITY, freedom: 1.0 };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let neighbours: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        // The estimate of so short a series is too low by about 1/n (Marriott and Pope 1954, 1 + 3 rho over n).
        let raw = if squares > 0.0 { neighbours / squares } else { 0.0 };
        let rho = (raw + (1.0 + 3.0 * raw) / n).clamp(0.0, 0.9);
        // The variance of a mean of values that share so much with their neighbours.
        let inflation = (1.0 + rho) / (1.0 - rho);
        let error = (squares / (n - 1.0) / n * inflation).sqrt();
        Self { value: mean, error, freedom: ((n - 1.0) / inflation).max(1.0) }
    }

    /// One figure of several runs.
    #[must_use]
    pub fn of_runs(runs: &[Estimate]) -> Self {
        let n = runs.len() as f64;
        let value = runs.iter().map(|run| run.value).sum::<f64>() / n;
        let squares: f64 = runs.iter().map(|run| (run.value - value).powi(2)).sum();
        let variance = squares / (n - 1.0).max(1.0);
        if runs.len() >= MIN_RUNS && variance.sqrt() > LEAST_SPREAD * value {
            return Self { value, error: (variance / n).sqrt(), freedom: n - 1.0 };
        }
        // Few runs, or equal ones, of which chance may have made a few: then what varies within each of them.
        let variance: f64 = runs.iter().map(|run| run.error.powi(2)).sum::<f64>() / (n * n);
        Self { value, error: variance.sqrt(), freedom: runs.iter().map(|run| run.freedom).sum() }
    }
}

/// One figure of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// What it is: `New-Order, a minute`.
    pub name: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// The base's figure.
    pub base: Estimate,
    /// The new side's.
    pub new: Estimate,
    /// New over base.
    pub ratio: f64,
    /// The 95 % interval of the ratio; `None` where the runs are too short to tell.
    pub interval: Option<[f64; 2]>,
    /// Chance of such a ratio, or a farther one, between equals.
    pub chance: Option<f64>,
    /// Whether chance is no explanation; for those beside the first, the number of them is allowed for (Holm).
    pub significant: bool,
}

impl Effect {
    /// Compares two figures; `None` where one of them is nothing.
    #[must_use]
    pub fn new(name: String, more_is_better: bool, base: Estimate, new: Estimate) -> Option<Self> {
        if base.value <= 0.0 || new.value <= 0.0 {
            return None;
        }
        let ratio = new.value / base.value;
        let parts = [base, new].map(|side| ((side.error / side.value).powi(2), side.freedom));
        let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
        let known = parts.iter().all(|(variance, _)| variance.is_finite() && *variance > 0.0);
        let freedom = variance.powi(2) / parts.iter().map(|(v, freedom)| v.powi(2) / freedom).sum::<f64>();
        let student = StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok().filter(|_| known);
        let error = variance.sqrt();
        // An interval that reaches from a tenth to the tenfold tells nothing but that too little was measured.
        let reach = |t: &StudentsT| t.inverse_cdf(1.0 - ALPHA / 2.0) * error;
        let student = student.filter(|t| reach(t) < WIDEST_INTERVAL);
        let interval = student.as_ref().map(|t| [-1.0, 1.0].map(|sign| (ratio.ln() + sign * reach(t)).exp()));
        let chance = student.as_ref().map(|t| 2.0 * t.cdf(-(ratio.ln() / error).abs()));
        let significant = chance.is_some_and(|chance| chance < ALPHA);
        Some(Self { name, more_is_better, base, new, ratio, interval, chance, significant })
    }

    /// How much worse the new side is, as a fraction; 0 if it is not.
    #[must_use]
    pub fn loss(&self) -> f64 {
        if self.more_is_better { (1.0 - self.ratio).max(0.0) } else { (self.ratio - 1.0).max(0.0) }
    }
}

/// Something in which the sides were made differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Which fact: `target.settings.shared_buffers`.
    pub what: String,
    /// The base's value; empty if it has none.
    pub base: String,
    /// The new side's.
    pub new: String,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The workload of both sides.
    pub workload: String,
    /// The base's runs.
    pub base: Vec<String>,
    /// The new side's.
    pub new: Vec<String>,
    /// Why they should not be compared; it was done nevertheless.
    pub objections: Vec<String>,
    /// In what they were made differently.
    pub differences: Vec<Difference>,
    /// What decides: the rate, or the response time where waits hold the rate.
    pub decisive: Effect,
    /// All the others.
    pub effects: Vec<Effect>,
    /// What the figures can't tell.
    pub cautions: Vec<String>,
    /// What every result of the workload says it is not.
    #[serde(default)]
    pub note: String,
}

/// Why two sides can't be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// They are not alike enough; each reason a clause.
    #[error("{}; --force compares them nevertheless, and says so", .0.join("; "))]
    Unlike(Vec<String>),
    /// There is nothing in one of them.
    #[error("{0}: nothing was measured that could be compared")]
    Nothing(String),
}

/// Compares two sides, each of one run or of several repetitions.
///
/// # Errors
/// [`CompareError::Unlike`], unless forced: one side keeps to the standard and the other does not, or a run is invalid.
pub fn compare(base: &[Compared], new: &[Compared], force: bool) -> Result<Comparison, CompareError> {
    let (Some(first), Some(other)) = (base.first(), new.first()) else {
        return Err(CompareError::Nothing("a side without a run".to_owned()));
    };
    let objections = objections(base, new);
    if !objections.is_empty() && !force {
        return Err(CompareError::Unlike(objections));
    }
    let plan = &first.opened.record.plan;
    let side = |runs: &[Compared], of: &dyn Fn(&Compared) -> Option<Estimate>| {
        let estimates: Option<Vec<Estimate>> = runs.iter().map(of).collect();
        estimates.map(|estimates| Estimate::of_runs(&estimates))
    };
    let effect = |name: String, more_is_better: bool, of: &dyn Fn(&Compared) -> Option<Estimate>| {
        Effect::new(name, more_is_better, side(base, of)?, side(new, of)?)
    };
    let headline = plan.headline();
    let mut effects = Vec::new();
    let title = headline.map_or("transactions".to_owned(), |index| plan.transactions[index].title.clone());
    effects.extend(effect(format!("{title}s a minute"), true, &|run| Some(run.rate(headline))));
    effects.extend(effect("all transactions a minute".to_owned(), true, &|run| Some(run.rate(None))));
    for rule in &plan.transactions {
        // What is only queued is answered at once, which tells nothing: then it is how long it took to be carried out.
        let (what, clock) = match rule.deferred_limit_seconds {
            Some(_) => ("deferred part", Clock::Deferred),
            None => ("response time", Clock::Response),
        };
        for (label, q) in PERCENTILES {
            let name = format!("{} {what}, {label}, ms", rule.title);
            effects.extend(effect(name, false, &|run| run.percentile(&rule.name, clock, q)));
        }
    }
    // Where waits hold the rate, the response time is what can change.
    let decisive =
        if plan.is_standard() { format!("{title} response time, p90, ms") } else { format!("{title}s a minute") };
    let at = effects.iter().position(|effect| effect.name == decisive);
    let decisive = at.map(|at| effects.remove(at)).ok_or_else(|| CompareError::Nothing(name_of(first, other)))?;
    allow_for_number(&mut effects);
    let mut cautions = Vec::new();
    if base.len().min(new.len()) < MIN_RUNS {
        cautions.push(format!(
            "fewer than {MIN_RUNS} runs a side: what changes from run to run (caches, placement, neighbours) is not in the intervals"
        ));
    }
    if decisive.interval.is_none() {
        cautions.push(format!(
            "nothing here tells a spread, neither within runs so short nor between equal ones: measure {MIN_BATCHES} seconds a run at least"
        ));
    }
    let names = |runs: &[Compared]| runs.iter().map(|run| run.source().to_owned()).collect();
    let differences = differences(first, other);
    let workload = plan.workload.clone();
    Ok(Comparison {
        workload,
        base: names(base),
        new: names(new),
        objections,
        differences,
        decisive,
        effects,
        cautions,
        note: plan.labels.disclaimer.clone(),
    })
}

fn name_of(base: &Compared, new: &Compared) -> String {
    format!("{} and {}", base.source(), new.source())
}

/// What speaks against comparing the sides at all.
fn objections(base: &[Compared], new: &[Compared]) -> Vec<String> {
    let mut objections = Vec::new();
    let all = || base.iter().chain(new);
    let differ = |of: &dyn Fn(&Compared) -> String| {
        let mut values: Vec<String> = all().map(of).collect();
        values.sort();
        values.dedup();
        (values.len() > 1).then(|| values.join(" and "))
    };
    if let Some(workloads) = differ(&|run| run.opened.record.plan.workload.clone()) {
        objections.push(format!("different workloads: {workloads}"));
    }
    let kept = |run: &Compared| if run.opened.record.plan.is_standard() { "standard" } else { "unconstrained" };
    if let Some(kinds) = differ(&|run| kept(run).to_owned()) {
        objections.push(format!("{kinds} runs measure different things"));
    }
    let data = |run: &Compared| if run.opened.record.target.without_data { "without data" } else { "with data" };
    if let Some(kinds) = differ(&|run| data(run).to_owned()) {
        objections.push(format!("targets {kinds} measure different things"));
    }
    for run in all().filter(|run| run.status == Status::Invalid) {
        objections.push(format!("{} is invalid", run.source()));
    }
    for runs in [base, new] {
        let repeated =
            runs.iter().skip(1).flat_map(|run| differences(&runs[0], run).into_iter().map(move |d| (run, d)));
        let plans = repeated.filter(|(_, difference)| difference.what.starts_with("plan."));
        objections.extend(plans.map(|(run, difference)| {
            let Difference { what, base, new } = difference;
            format!("{} is no repetition of {}: {what} {new}, not {base}", run.source(), runs[0].source())
        }));
    }
    objections
}

/// Allows for the number of comparisons: the smallest chance must be the smallest by their number (Holm 1979).
fn allow_for_number(effects: &mut [Effect]) {
    let mut order: Vec<usize> = (0..effects.len()).filter(|at| effects[*at].chance.is_some()).collect();
    order.sort_by(|a, b| effects[*a].chance.partial_cmp(&effects[*b].chance).unwrap_or(std::cmp::Ordering::Equal));
    let mut holds = true;
    for (rank, at) in order.iter().enumerate() {
        let left = (order.len() - rank) as f64;
        holds &= effects[*at].chance.is_some_and(|chance| chance * left < ALPHA);
        effects[*at].significant = holds;
    }
}

/// A fact by its path; those of a list of words have one path, and are told apart by the word.
type Facts = BTreeMap<(String, String), String>;

/// The facts in which two runs were made differently.
fn differences(base: &Compared, new: &Compared) -> Vec<Difference> {
    let facts = |run: &Compared| {
        let record = &run.opened.record;
        let nodes = record.topology.as_ref().map(|topology| topology["nodes"].clone());
        let mut facts = Facts::new();
        let of = |value: Result<Value, serde_json::Error>| value.unwrap_or(Value::Null);
        flatten("tool", &of(serde_json::to_value(&record.tool)), &mut facts);
        flatten("client", &of(serde_json::to_value(&record.client)), &mut facts);
        flatten("target", &of(serde_json::to_value(&record.target)), &mut facts);
        flatten("topology.nodes", &nodes.unwrap_or(Value::Null), &mut facts);
        flatten("plan", &of(serde_json::to_value(&record.plan)), &mut facts);
        facts
    };
    let (base, new) = (facts(base), facts(new));
    let names: BTreeSet<_> = base.keys().chain(new.keys()).collect();
    let value = |facts: &Facts, name| facts.get(name).cloned().unwrap_or_default();
    names
        .into_iter()
        .filter(|name| base.get(*name) != new.get(*name))
        .filter(|(path, _)| !ALWAYS_DIFFERENT.iter().any(|known| path.starts_with(known)))
        .map(|name| Difference { what: name.0.clone(), base: value(&base, name), new: value(&new, name) })
        .collect()
}

/// The leaves of a JSON value by their path. A list of words is a set: where a word stands in it is no fact.
fn flatten(path: &str, value: &Value, facts: &mut Facts) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| flatten(&format!("{path}.{name}"), value, facts))
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| match item {
            Value::String(word) => drop(facts.insert((path.to_owned(), word.clone()), word.clone())),
            item => flatten(&format!("{path}.{}", at + 1), item, facts),
        }),
        Value::Null => {}
        Value::String(text) => drop(facts.insert((path.to_owned(), String::new()), text.clone())),
        other => drop(facts.insert((path.to_owned(), String::new()), other.to_string())),
    }
}
