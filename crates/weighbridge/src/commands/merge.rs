//! `weighbridge merge`: one result of the runs of many clients.

use record::OpenedRun;
use record::merge::{MergeError, merge};

use super::fetch::{Fetched, fetch};
use super::{Ended, Failure};
use crate::cli::MergeArgs;

pub(crate) fn run(args: &MergeArgs) -> Ended {
    let fetched = args.runs.iter().map(|run| fetch(run)).collect::<Result<Vec<Fetched>, Failure>>()?;
    let runs = fetched.iter().map(Fetched::open).collect::<Result<Vec<OpenedRun>, Failure>>()?;
    for warning in runs.iter().flat_map(|run| &run.warnings) {
        say!("warning: {warning}");
    }
    let merged = merge(runs, &args.out, args.force).map_err(|e| match e {
        MergeError::Unlike(_) | MergeError::Whole(_) | MergeError::Overlap { .. } => Failure::Usage(e.to_string()),
        MergeError::Record(e) => Failure::from(e),
    })?;
    super::report::show(&merged, args.output.format())
}
