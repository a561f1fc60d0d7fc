//! Sweeps: a grid of runs.

use std::path::Path;

use record::sweep::{SWEEP_JSON, Sweep, SweepPlan};
use report::Page;
use report::html::several;

use super::{Detect, ListEntry, ResultType, bare, words};

pub(super) const KIND: ResultType =
    ResultType { section: "sweeps", name: "sweep", detect: Detect::Holds(SWEEP_JSON), is_series: true, facts, page };

fn facts(path: &Path) -> Result<ListEntry, String> {
    let plan = SweepPlan::read(path).map_err(|e| words(&e))?;
    let note = format!("{}, {}", several(plan.points.len() as u64, "point"), several(plan.runs.len() as u64, "run"));
    Ok(ListEntry { note, ..ListEntry::default() })
}

fn page(path: &Path) -> Result<Page, String> {
    let mut sweep = Sweep::open(path).map_err(|e| words(&e))?;
    bare(path, &mut sweep.warnings);
    Ok(report::sweep_page(&sweep))
}
