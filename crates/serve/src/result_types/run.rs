//! Runs, of one client or merged.

use std::path::Path;
use std::time::{Duration, SystemTime};

use record::folder::{LATENCY_LOG, RUN_JSON, TIMELINE};
use record::run::{Ended, RunRecord};
use record::{OpenedRun, RunFolder, Summary, Verdict};
use report::Page;
use report::html::several;

use super::{Detect, ListEntry, Outcome, Rate, ResultType, bare, words};

pub(super) const KIND: ResultType =
    ResultType { section: "runs", name: "run", detect: Detect::Holds(RUN_JSON), is_series: false, facts, page };

/// A run that nobody holds, since its folder was copied or its process is gone, and that writes nothing for so long, is no
/// longer there.
const SILENCE: Duration = Duration::from_secs(20);

/// The same while nothing is to be written: before the first second, and while the data are looked at after the last.
const LONG_SILENCE: Duration = Duration::from_secs(15 * 60);

fn facts(path: &Path) -> Result<ListEntry, String> {
    let mut record = record::folder::read_record(&path.join(RUN_JSON)).map_err(|e| words(&e))?;
    if is_under_way(path, &record) {
        return Ok(ListEntry { outcome: Outcome::UnderWay, seconds: None, ..known(&record) });
    }
    if let Some(missing) = [LATENCY_LOG, TIMELINE].into_iter().find(|file| !path.join(file).is_file()) {
        return Err(format!("{missing}: no such file"));
    }
    let (summary, verdict) = match (record.summary.take(), record.verdict.take()) {
        (Some(summary), Some(verdict)) => (summary, verdict),
        // It was killed: what it left is judged.
        _ => {
            let opened = RunFolder::open(path).map_err(|e| words(&e))?;
            let (summary, verdict) = derived(&opened);
            record = opened.record;
            (summary, verdict)
        }
    };
    let rate = match summary.tpmc {
        Some(tpmc) => Rate { value: tpmc as f64, name: "tpmC".to_owned() },
        None => Rate { value: summary.nopm, name: record.plan.labels.metric.clone() },
    };
    Ok(ListEntry {
        rate: Some(rate),
        efficiency: summary.efficiency,
        outcome: Outcome::Verdict(verdict.status),
        seconds: Some(summary.measured_seconds),
        ..known(&record)
    })
}

/// What stands fast from the beginning.
fn known(record: &RunRecord) -> ListEntry {
    let (plan, target) = (&record.plan, &record.target);
    let clients = record.clients.len() as u64;
    ListEntry {
        when: record.started_at,
        database: target.kind.clone(),
        words: format!("{} {} {} {} {}", plan.workload, target.version, plan.style, plan.isolation, plan.region),
        note: if clients > 0 {
            format!("merged of {}", several(clients, "client"))
        } else if plan.workload_file.is_empty() {
            String::new()
        } else {
            format!("workload {}", plan.workload)
        },
        warehouses: plan.warehouses,
        seconds: Some(plan.duration_seconds),
        ..ListEntry::default()
    }
}

/// Whether more is to come.
fn is_under_way(path: &Path, record: &RunRecord) -> bool {
    if record.verdict.is_some() {
        return false;
    }
    // As long as its process is there it will come to a verdict, however long it looks at the data.
    if record::folder::is_held(path) {
        return true;
    }
    let written = |file: &str| path.join(file).metadata().and_then(|meta| meta.modified()).ok();
    let last = written(RUN_JSON).max(written(TIMELINE)).unwrap_or(SystemTime::UNIX_EPOCH);
    let goes_on = record.ended == Ended::Running && record.started_at.is_some_and(|at| at < jiff::Timestamp::now());
    let patience = if goes_on { SILENCE } else { LONG_SILENCE };
    // A clock that is ahead of ours makes no run end.
    last.elapsed().is_ok_and(|silence| silence < patience) || last > SystemTime::now()
}

fn derived(opened: &OpenedRun) -> (Summary, Verdict) {
    let summary = Summary::from_run(opened);
    let verdict = record::judge(&opened.record, &summary, &opened.timeline);
    (summary, verdict)
}

fn page(path: &Path) -> Result<Page, String> {
    let mut opened = RunFolder::open(path).map_err(|e| words(&e))?;
    bare(path, &mut opened.warnings);
    let (summary, verdict) = derived(&opened);
    Ok(report::page(&opened, &summary, &verdict))
}

/// A run that is under way, as far as it has come; `None`: it is not, or no longer.
pub(crate) fn under_way(path: &Path) -> Result<Option<(OpenedRun, Summary)>, String> {
    let opened = RunFolder::glance(path).map_err(|e| words(&e))?;
    if !is_under_way(path, &opened.record) {
        return Ok(None);
    }
    let summary = Summary::from_run(&opened);
    Ok(Some((opened, summary)))
}
