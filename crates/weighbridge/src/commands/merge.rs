//! `weighbridge merge`: one result of the runs of many clients.

use record::merge::{MergeError, merge};
use record::{OpenedRun, RunFolder};

use super::{Ended, Failure};
use crate::cli::MergeArgs;

pub(crate) fn run(args: &MergeArgs) -> Ended {
    let runs: Result<Vec<OpenedRun>, _> = args.runs.iter().map(|run| RunFolder::open(run)).collect();
    let runs = runs?;
    for warning in runs.iter().flat_map(|run| &run.warnings) {
        eprintln!("warning: {warning}");
    }
    let merged = merge(runs, &args.out, args.force).map_err(|e| match e {
        MergeError::Unlike(_) | MergeError::Overlap { .. } => Failure::Usage(e.to_string()),
        MergeError::Record(e) => Failure::from(e),
    })?;
    super::report::show(&merged, args.output.format())
}
