//! One result of the runs of several clients: counts added, histograms merged, nothing averaged.

use std::fs;
use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::audit::Audit;
use crate::error::RecordError;
use crate::failover::Disturbances;
use crate::fault::Fault;
use crate::folder::{LATENCY_LOG, OpenedRun, RUN_JSON, RunFolder, TIMELINE};
use crate::histogram::{Histogram, Stats};
use crate::latency_log::{self, Interval, Seconds};
use crate::plan::{Plan, WAREHOUSES_OF_THE_FLEET};
use crate::recorder::{Clock, Phase};
use crate::run::{CheckResult, Ended, NOT_ASKED_FOR, ReconciledItem, Reconciliation, RunRecord};
use crate::statements;
use crate::summary::Summary;
use crate::timeline::{Stage, TimelineRow};

/// Starts may lie so far apart, as a share of the ramp-up and the interval, before clocks or clients are not believed.
const MAX_SKEW: f64 = 0.1;

/// Starts so far apart are said, in seconds.
const SMALL_SKEW: f64 = 1.0;

/// What [`left_by_terminals`] says between its figures.
const TERMINALS: &str = " terminals instead of ";

/// That a run has not the standard's number of terminals.
#[must_use]
pub fn left_by_terminals(terminals: u32, standard: u32) -> String {
    format!("{terminals}{TERMINALS}{standard} (4.2.2)")
}

/// One client of a merged run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientPart {
    /// Its run folder.
    pub folder: String,
    /// Where it stood; empty: not told.
    pub region: String,
    /// Its first warehouse.
    pub first_warehouse: u32,
    /// How many it drove.
    pub warehouses: u32,
    /// Its connections.
    pub connections: u32,
    /// Its inputs' seed.
    pub seed: u64,
    /// Its start after the first client's, seconds: by the database's clock, where they met there, or else their own.
    pub start_skew_seconds: f64,
    /// How it ended.
    pub ended: Ended,
    /// Its measurement interval as it really was, seconds.
    pub measured_seconds: f64,
    /// Its headline transactions a minute.
    pub nopm: f64,
    /// Their response time.
    pub response: Stats,
    /// Transactions of all types that failed.
    pub errors: u64,
    /// Its CPU time over the time of its driver threads, 0..1.
    pub cpu_share_of_threads: f64,
    /// Its largest resident memory, bytes.
    pub peak_rss_bytes: u64,
    /// Its timer's lag.
    pub lag: Stats,
}

/// The clients of a region together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RegionPart {
    /// Its name; empty: clients that name none.
    pub region: String,
    /// How many clients.
    pub clients: u32,
    /// Warehouses that they drove.
    pub warehouses: u32,
    /// Their headline transactions a minute, over the interval of the whole.
    pub nopm: f64,
    /// Those transactions' response time.
    pub response: Stats,
    /// Transactions of all types that failed.
    pub errors: u64,
}

/// Why runs can't be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// They are not parts of one run; each reason a clause.
    #[error("{}; --force merges them nevertheless, and says so", .0.join("; "))]
    Unlike(Vec<String>),
    /// A run that is not divided by warehouses, so one process drives all of it.
    #[error("{0} is a run of another workload than TPC-C: such a run has one client, so there is nothing to merge")]
    Whole(String),
    /// Two drove the same warehouses: their counts can't be added.
    #[error("{first} and {second} both drove warehouse {warehouse}: parts of one run don't overlap")]
    Overlap {
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// The first warehouse of both.
        warehouse: u32,
    },
    /// A folder can't be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Merges runs into a new folder, which reads like any other. It is there when it is whole: an interrupted merge leaves
/// none.
///
/// # Errors
/// [`MergeError::Overlap`]; [`MergeError::Unlike`] unless forced; what the folders refuse.
pub fn merge(mut runs: Vec<OpenedRun>, out: &Path, force: bool) -> Result<OpenedRun, MergeError> {
    if let Some(own) = runs.iter().find(|run| !run.record.plan.has_warehouses()) {
        return Err(MergeError::Whole(name(own)));
    }
    runs.sort_by_key(|run| run.record.plan.first_warehouse);
    for pair in runs.windows(2) {
        let (first, second) = (&pair[0], &pair[1]);
        if end(&first.record.plan) > second.record.plan.first_warehouse {
            return Err(MergeError::Overlap {
                first: name(first),
                second: name(second),
                warehouse: second.record.plan.first_warehouse,
            });
        }
    }
    let unlike = unlike(&runs);
    if !unlike.is_empty() && !force {
        return Err(MergeError::Unlike(unlike));
    }
    let mut seconds = Seconds::default();
    for run in &runs {
        seconds.merge(latency_log::read_seconds(&run.path.join(LATENCY_LOG), |_| true, &mut Vec::new())?);
    }
    let mut record = record(&runs);
    record.plan.deviations.extend(unlike.into_iter().map(|why| format!("merged by force: {why}")));
    let draft = out.join(DRAFT);
    if draft.exists() && !out.join(RUN_JSON).exists() {
        discard(out)?;
    }
    RunFolder::create(out)?;
    let made = write(&record, &seconds, timeline(&runs), &draft).and_then(|()| settle(out));
    if let Err(e) = made {
        let _ = discard(out).and_then(|()| fs::remove_dir(out).map_err(|e| RecordError::io("remove", out, e)));
        return Err(e.into());
    }
    Ok(RunFolder::open(out)?)
}

/// Where a merge is made, inside its folder.
const DRAFT: &str = ".merging";

/// Its files; the last one makes a run of them.
const FILES: [&str; 3] = [LATENCY_LOG, TIMELINE, RUN_JSON];

/// Moves what was made to its place.
fn settle(out: &Path) -> Result<(), RecordError> {
    let draft = out.join(DRAFT);
    for name in FILES {
        fs::rename(draft.join(name), out.join(name)).map_err(|e| RecordError::io("write", &out.join(name), e))?;
    }
    fs::remove_dir(&draft).map_err(|e| RecordError::io("remove", &draft, e))
}

/// Removes what a merge that did not come to its end has left.
fn discard(out: &Path) -> Result<(), RecordError> {
    let gone = |path: &Path, removed: std::io::Result<()>| match removed {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(RecordError::io("remove", path, e)),
        _ => Ok(()),
    };
    for path in FILES.map(|name| out.join(name)) {
        gone(&path, fs::remove_file(&path))?;
    }
    let draft = out.join(DRAFT);
    gone(&draft, fs::remove_dir_all(&draft))
}

/// Writes the files of the whole.
fn write(record: &RunRecord, seconds: &Seconds, mut rows: Vec<TimelineRow>, to: &Path) -> Result<(), RecordError> {
    let folder = RunFolder::create(to)?;
    folder.write_record(record)?;
    let mut log = folder.latency_log(record.started_at.unwrap_or_default(), &record.plan)?;
    for (second, sums) in seconds.histograms() {
        log.append(Duration::from_secs(second), Duration::from_secs(1), Interval::Summed(&sums))?;
        if let Some(row) = rows.get_mut(second as usize) {
            set_times(row, &sums, &record.plan);
        }
    }
    let mut file = folder.timeline(&record.plan)?;
    rows.iter().try_for_each(|row| file.append(row))
}

fn name(run: &OpenedRun) -> String {
    run.source.clone()
}

/// The warehouse behind a plan's last.
fn end(plan: &Plan) -> u32 {
    plan.first_warehouse + plan.warehouses
}

/// When a run began: by the database's clock, where the client has compared its own with it.
fn start(record: &RunRecord) -> Option<Timestamp> {
    let offset = record.fleet.as_ref().map_or(0.0, |fleet| fleet.clock_offset_seconds);
    record.started_at?.checked_add(SignedDuration::try_from_secs_f64(offset).ok()?).ok()
}

/// Starts after the first one, by the database's clock or the clients' own, seconds.
fn skews(runs: &[OpenedRun]) -> Vec<f64> {
    let starts: Vec<_> = runs.iter().map(|run| start(&run.record)).collect();
    let first = starts.iter().flatten().min().copied();
    let since = |start: Timestamp| first.map_or(0.0, |first| start.duration_since(first).as_secs_f64());
    starts.into_iter().map(|start| start.map_or(0.0, since)).collect()
}

/// What [`start`] went by.
fn clocks(runs: &[OpenedRun]) -> &'static str {
    if runs.iter().all(|run| run.record.fleet.is_some()) { "the database's clock" } else { "their own clocks" }
}

/// What all parts of a run have in common.
fn common(record: &RunRecord) -> Vec<(&'static str, String)> {
    let target = &record.target;
    let own = [
        ("version of the tool", record.tool.version.clone()),
        ("database", format!("{} {}", target.kind, target.version)),
    ];
    own.into_iter().chain(record.plan.common()).collect()
}

/// In what the runs are not parts of one.
fn unlike(runs: &[OpenedRun]) -> Vec<String> {
    let mut unlike = Vec::new();
    let Some(first) = runs.first() else { return unlike };
    let alone = runs.iter().all(|run| run.record.plan.total_warehouses == run.record.plan.warehouses);
    let expected = common(&first.record);
    for (at, (fact, expected)) in expected.iter().enumerate() {
        // Without a common total each client names its own share.
        if *fact == WAREHOUSES_OF_THE_FLEET && alone {
            continue;
        }
        for run in &runs[1..] {
            let found = &common(&run.record)[at].1;
            if found != expected {
                unlike.push(format!("{fact}: {found} in {}, {expected} in {}", name(run), name(first)));
            }
        }
    }
    let length = first.record.plan.ramp_seconds + first.record.plan.duration_seconds;
    for (run, skew) in runs.iter().zip(skews(runs)) {
        if skew > (MAX_SKEW * length).max(SMALL_SKEW) {
            unlike.push(format!(
                "{} started {skew:.1} s after the first: no part of one run, or its clock is off",
                name(run)
            ));
        }
    }
    unlike
}

/// The faults that any client made, by the time of the whole.
fn faults(runs: &[OpenedRun]) -> Vec<Fault> {
    let shifted = runs.iter().zip(skews(runs)).flat_map(|(run, skew)| {
        run.record.faults.iter().map(move |fault| Fault { at_seconds: fault.at_seconds + skew, ..fault.clone() })
    });
    let mut faults: Vec<Fault> = shifted.collect();
    faults.sort_by(|a, b| a.at_seconds.total_cmp(&b.at_seconds));
    faults
}

/// The record of the whole.
fn record(runs: &[OpenedRun]) -> RunRecord {
    let first = &runs[0].record;
    let mut whole = RunRecord { summary: None, verdict: None, ..first.clone() };
    whole.clients = clients(runs);
    whole.fleet = None;
    whole.audit = Audit::merged(&runs.iter().map(|run| run.record.audit.as_ref()).collect::<Vec<_>>());
    whole.faults = faults(runs);
    // A client that got no answer is no silence of all: that stands in its own folder.
    whole.disturbances = Disturbances::default();
    whole.plan.region = String::new();
    let plans = || runs.iter().map(|run| &run.record.plan);
    let plan = &mut whole.plan;
    plan.warehouses = plans().map(|plan| plan.warehouses).sum();
    plan.total_warehouses = plans().map(|plan| plan.total_warehouses).max().unwrap_or(0).max(plan.warehouses);
    plan.connections = plans().map(|plan| plan.connections).sum();
    plan.terminals = plans().map(|plan| plan.terminals).sum();
    plan.threads = plans().map(|plan| plan.threads).sum();
    plan.statements = plans().any(|plan| plan.statements);
    plan.nonstandard = union(plans().map(|plan| &plan.nonstandard));
    // What each client said of its own terminals is said once, of all.
    plan.nonstandard.retain(|line| !line.contains(TERMINALS));
    let standard_terminals = plan.warehouses * plan.scale.terminals_per_warehouse;
    if plan.terminals != standard_terminals {
        plan.nonstandard.push(left_by_terminals(plan.terminals, standard_terminals));
    }
    plan.deviations = union(plans().map(|plan| &plan.deviations));
    // What one client alone left out the others may have driven.
    plan.deviations.retain(|deviation| !deviation.ends_with("warehouses are driven (4.2.2)"));
    plan.deviations.extend(gaps(runs));
    if plan.warehouses < plan.loaded_warehouses {
        plan.deviations
            .push(format!("{} of {} warehouses are driven (4.2.2)", plan.warehouses, plan.loaded_warehouses));
    }
    let late = whole.clients.iter().map(|client| client.start_skew_seconds).fold(0.0, f64::max);
    if late > SMALL_SKEW {
        plan.deviations.push(format!("the clients started up to {late:.1} s apart, by {}", clocks(runs)));
    }
    for client in whole.clients.iter().filter(|client| client.ended != Ended::Completed) {
        plan.deviations
            .push(format!("{} did not end as planned: {:.1} s of it count", client.folder, client.measured_seconds));
    }
    let same_gateways =
        plans().all(|other| other.gateways.iter().map(|g| &g.url).eq(first.plan.gateways.iter().map(|g| &g.url)));
    if !same_gateways {
        plan.gateways.clear();
        whole.gateways.clear();
        plan.deviations
            .push("the clients used different gateways: figures per gateway stand in their own folders".into());
    }
    for run in &runs[1..] {
        let part = &run.record;
        for (mine, theirs) in whole.counts.iter_mut().zip(&part.counts) {
            mine.measured.merge(&theirs.measured);
            mine.outside.merge(&theirs.outside);
        }
        statements::merge_all(&mut whole.statements, &part.statements);
        whole.tallies.iter_mut().zip(&part.tallies).for_each(|(mine, theirs)| mine.merge(theirs));
        for (mine, theirs) in whole.gateways.iter_mut().zip(&part.gateways) {
            mine.measured.merge(&theirs.measured);
            mine.outside.merge(&theirs.outside);
            mine.moves.merge(&theirs.moves);
        }
        for (mine, theirs) in whole.plan.gateways.iter_mut().zip(&part.plan.gateways) {
            mine.connections += theirs.connections;
            mine.warehouses += theirs.warehouses;
        }
    }
    let parts = || runs.iter().map(|run| &run.record);
    whole.started_at = parts().filter_map(|part| part.started_at).min();
    whole.measured_from = parts().filter_map(|part| part.measured_from).max();
    whole.ended_at = parts().filter_map(|part| part.ended_at).max();
    // The longest: what a client that ended early did not do lowers the rate.
    whole.measured_seconds = parts().map(|part| part.measured_seconds).fold(0.0, f64::max);
    whole.regions = regions(runs, whole.measured_seconds);
    whole.ended = parts().map(|part| &part.ended).max_by_key(|ended| gravity(ended)).cloned().unwrap_or_default();
    whole.tare.cpu_seconds = parts().map(|part| part.tare.cpu_seconds).sum();
    let headline = whole.plan.headline().map_or(0, |index| whole.counts[index].measured.completed);
    whole.tare.cpu_us_per_headline = whole.tare.cpu_seconds * 1e6 / (headline as f64).max(1.0);
    whole.tare.peak_rss_bytes = parts().map(|part| part.tare.peak_rss_bytes).sum();
    whole.tare.cpu_share_of_threads = parts().map(|part| part.tare.cpu_share_of_threads).fold(0.0, f64::max);
    whole.reconciliation = reconciliation(runs);
    whole.checks = checks(runs);
    whole
}

fn union<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> Vec<String> {
    let mut all = Vec::new();
    for line in lists.flatten() {
        if !all.contains(line) {
            all.push(line.clone());
        }
    }
    all
}

/// Warehouses of the fleet that nobody drove.
fn gaps(runs: &[OpenedRun]) -> Vec<String> {
    let plans: Vec<&Plan> = runs.iter().map(|run| &run.record.plan).collect();
    let total = plans.iter().map(|plan| plan.total_warehouses).max().unwrap_or(0);
    let starts = plans.iter().map(|plan| plan.first_warehouse).chain([total.max(end(plans[plans.len() - 1]) - 1) + 1]);
    let ends = [1].into_iter().chain(plans.iter().map(|plan| end(plan)));
    let open = ends.zip(starts).filter(|(end, start)| end < start);
    open.map(|(end, start)| format!("warehouses {end} to {} were driven by none of these clients", start - 1)).collect()
}

fn clients(runs: &[OpenedRun]) -> Vec<ClientPart> {
    let part = |(run, skew): (&OpenedRun, f64)| {
        let record = &run.record;
        let summary = Summary::from_run(run);
        ClientPart {
            folder: name(run),
            region: record.plan.region.clone(),
            first_warehouse: record.plan.first_warehouse,
            warehouses: record.plan.warehouses,
            connections: record.plan.connections,
            seed: record.plan.seed,
            start_skew_seconds: skew,
            ended: record.ended.clone(),
            measured_seconds: record.measured_seconds,
            nopm: summary.nopm,
            response: summary.headline(&record.plan).map(|figures| figures.response).unwrap_or_default(),
            errors: summary.transactions.iter().map(|figures| figures.errors).sum(),
            cpu_share_of_threads: record.tare.cpu_share_of_threads,
            peak_rss_bytes: record.tare.peak_rss_bytes,
            lag: summary.lag,
        }
    };
    runs.iter().zip(skews(runs)).map(part).collect()
}

/// The clients by region, in the order of the warehouses; none if no client names one.
fn regions(runs: &[OpenedRun], measured_seconds: f64) -> Vec<RegionPart> {
    let mut parts: Vec<(RegionPart, u64, Histogram<u64>)> = Vec::new();
    for run in runs {
        let plan = &run.record.plan;
        let at = parts.iter().position(|(part, ..)| part.region == plan.region).unwrap_or_else(|| {
            parts.push((RegionPart { region: plan.region.clone(), ..Default::default() }, 0, Histogram::new()));
            parts.len() - 1
        });
        let (part, count, times) = &mut parts[at];
        part.clients += 1;
        part.warehouses += plan.warehouses;
        part.errors += run.record.counts.iter().map(|counts| counts.measured.failures.total()).sum::<u64>();
        if let Some(headline) = plan.headline() {
            *count += run.record.counts[headline].measured.completed;
            let tag = latency_log::tag(&plan.transactions[headline].name, Phase::Measured, Clock::Response);
            run.histograms.get(&tag).into_iter().for_each(|own| times.merge(own));
        }
    }
    if parts.iter().all(|(part, ..)| part.region.is_empty()) {
        return Vec::new();
    }
    let whole = |(part, count, times): (RegionPart, u64, Histogram<u64>)| RegionPart {
        nopm: count as f64 * 60.0 / measured_seconds.max(1e-9),
        response: times.stats(),
        ..part
    };
    parts.into_iter().map(whole).collect()
}

/// How much an end says against a result: of several the gravest is that of the whole.
fn gravity(ended: &Ended) -> u8 {
    match ended {
        Ended::Completed => 0,
        Ended::Interrupted => 1,
        Ended::Running => 2,
        Ended::Failed(_) => 3,
    }
}

/// All of them together: failed if any was, and done only if each was.
fn reconciliation(runs: &[OpenedRun]) -> Option<Reconciliation> {
    let parts = || runs.iter().filter_map(|run| run.record.reconciliation.as_ref().map(|part| (run, part)));
    let passed = parts().all(|(_, part)| part.passed);
    if passed && parts().count() < runs.len() {
        return None;
    }
    let mut items: Vec<ReconciledItem> = Vec::new();
    for item in parts().flat_map(|(_, part)| &part.checked) {
        match items.iter_mut().find(|known| known.name == item.name) {
            Some(known) => {
                known.acknowledged += item.acknowledged;
                known.gained += item.gained;
                known.unknown += item.unknown;
                known.missing += item.missing;
            }
            None => items.push(item.clone()),
        }
    }
    let failed = parts().filter(|(_, part)| !part.passed).map(|(run, part)| format!("{}: {}", name(run), part.detail));
    let detail = if passed { parts().next()?.1.detail.clone() } else { failed.collect::<Vec<_>>().join("; ") };
    Some(Reconciliation { checked: items, passed, detail })
}

/// The checks that the clients made, each of its own warehouses, with all violations; and whose were not checked, if any
/// were.
fn checks(runs: &[OpenedRun]) -> Option<Vec<CheckResult>> {
    let mut all: Vec<CheckResult> = Vec::new();
    for check in runs.iter().filter_map(|run| run.record.checks.as_ref()).flatten() {
        match all.iter_mut().find(|known| known.name == check.name) {
            Some(known) => {
                known.passed &= check.passed;
                known.violations += check.violations;
                known.skipped = known.skipped.take().or_else(|| check.skipped.clone());
            }
            None => all.push(check.clone()),
        }
    }
    if all.is_empty() {
        return None;
    }
    all.extend(runs.iter().filter(|run| run.record.checks.is_none()).map(|run| CheckResult {
        name: format!("all of {}", name(run)),
        passed: true,
        detail: "the conditions for the warehouses of this client".to_owned(),
        skipped: Some(NOT_ASKED_FOR.to_owned()),
        ..CheckResult::default()
    }));
    Some(all)
}

/// The seconds of all clients, each counted from its own start.
fn timeline(runs: &[OpenedRun]) -> Vec<TimelineRow> {
    let length = runs.iter().map(|run| run.timeline.len()).max().unwrap_or(0);
    (0..length)
        .map(|second| {
            let rows: Vec<&TimelineRow> = runs.iter().filter_map(|run| run.timeline.get(second)).collect();
            let sum = |of: fn(&TimelineRow) -> u64| rows.iter().map(|row| of(row)).sum();
            let types = rows.iter().map(|row| row.completed.len()).max().unwrap_or(0);
            let completed = |index: usize| rows.iter().filter_map(|row| row.completed.get(index)).sum();
            let stage = |stage: Stage| rows.iter().any(|row| row.stage == stage);
            TimelineRow {
                elapsed_s: rows.iter().map(|row| row.elapsed_s).fold(0.0, f64::max),
                stage: match () {
                    () if stage(Stage::Measured) => Stage::Measured,
                    () if stage(Stage::Ramp) => Stage::Ramp,
                    () => Stage::Drain,
                },
                completed: (0..types).map(completed).collect(),
                rolled_back: sum(|row| row.rolled_back),
                errors: sum(|row| row.errors),
                retries: sum(|row| row.retries),
                cpu_percent: rows.iter().map(|row| row.cpu_percent).sum(),
                rss_bytes: sum(|row| row.rss_bytes),
                waiting: sum(|row| row.waiting),
                backlog: sum(|row| row.backlog),
                ..TimelineRow::default()
            }
        })
        .collect()
}

/// The times of a second, which can't be added from the clients' rows.
fn set_times(row: &mut TimelineRow, sums: &latency_log::Histograms, plan: &Plan) {
    let headline = plan.headline().map_or("", |index| plan.transactions[index].name.as_str());
    let both = |tag: &dyn Fn(Phase) -> String| {
        let mut sum = Histogram::<u64>::new();
        Phase::ALL.into_iter().filter_map(|phase| sums.get(&tag(phase))).for_each(|histogram| sum.merge(histogram));
        sum.stats()
    };
    let response = both(&|phase| latency_log::tag(headline, phase, Clock::Response));
    (row.p50_ms, row.p90_ms, row.p99_ms, row.max_ms) = (response.p50, response.p90, response.p99, response.max);
    row.queue_p99_ms = both(&|phase| latency_log::tag(headline, phase, Clock::Queue)).p99;
    row.lag_p99_ms = both(&latency_log::lag_tag).p99;
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A client with one warehouse.
    fn client(warehouse: u32, ended: Ended) -> OpenedRun {
        let plan = Plan { first_warehouse: warehouse, warehouses: 1, total_warehouses: 2, ..Plan::default() };
        OpenedRun {
            path: PathBuf::new(),
            source: format!("client-{warehouse}"),
            record: RunRecord { plan, ended, ..RunRecord::default() },
            histograms: latency_log::Histograms::default(),
            timeline: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn reconciled(missing: u64) -> Option<Reconciliation> {
        let item = ReconciledItem { name: "orders".into(), acknowledged: 10, missing, ..ReconciledItem::default() };
        let detail = if missing > 0 { format!("{missing} missing") } else { "all there".to_owned() };
        Some(Reconciliation { checked: vec![item], passed: missing == 0, detail })
    }

    #[test]
    fn the_gravest_end_is_that_of_the_whole() {
        let failed = Ended::Failed("refused".into());
        let clients = [client(1, Ended::Interrupted), client(2, failed.clone())];
        assert_eq!(record(&clients).ended, failed);
        assert_eq!(record(&[client(1, Ended::Interrupted), client(2, Ended::Running)]).ended, Ended::Running);
        assert_eq!(record(&[client(1, Ended::Completed), client(2, Ended::Completed)]).ended, Ended::Completed);
    }

    #[test]
    fn what_one_client_lost_is_lost() {
        let mut clients = [client(1, Ended::Running), client(2, Ended::Completed)];
        clients[1].record.reconciliation = reconciled(5);
        let whole = record(&clients).reconciliation.unwrap();
        assert_eq!((whole.passed, whole.detail.as_str()), (false, "client-2: 5 missing"));
        clients[1].record.reconciliation = reconciled(0);
        assert_eq!(record(&clients).reconciliation, None, "one of them has not looked");
        clients[0].record.reconciliation = reconciled(0);
        let whole = record(&clients).reconciliation.unwrap();
        assert_eq!((whole.passed, whole.checked[0].acknowledged), (true, 20));
    }

    #[test]
    fn checks_of_one_client_are_not_those_of_all() {
        let check = |passed, violations| {
            Some(vec![CheckResult { name: "C1".into(), passed, violations, ..CheckResult::default() }])
        };
        let mut clients = [client(1, Ended::Completed), client(2, Ended::Completed)];
        assert_eq!(record(&clients).checks, None);
        clients[0].record.checks = check(false, 2);
        let not_asked: Vec<_> = record(&clients).checks.unwrap().into_iter().filter(|c| c.skipped.is_some()).collect();
        assert_eq!(not_asked[0].name, "all of client-2");
        clients[1].record.checks = check(false, 3);
        let whole = record(&clients).checks.unwrap();
        assert_eq!((whole.len(), whole[0].passed, whole[0].violations), (1, false, 5));
    }
}
