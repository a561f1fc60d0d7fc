//! `weighbridge merge`: one result of the runs of many clients.

use record::merge::{MergeError, merge};
use record::{OpenedRun, RunFolder};

use super::fetch::{Fetched, fetch};
use super::{Ended, Failure};
use crate::cli::MergeArgs;

pub(crate) fn run(args: &MergeArgs) -> Ended {
    let fetched = args.runs.iter().map(|run| fetch(run)).collect::<Result<Vec<Fetched>, Failure>>()?;
    let open =
        |run: &Fetched| RunFolder::open(&run.path).map(|opened| OpenedRun { source: run.source.clone(), ..opened });
    let runs = fetched.iter().map(open).collect::<Result<Vec<OpenedRun>, _>>()?;
    for warning in runs.iter().flat_map(|run| &run.warnings) {
        eprintln!("warning: {warning}");
    }
    let merged = merge(runs, &args.out, args.force).map_err(|e| match e {
        MergeError::Unlike(_) | MergeError::Overlap { .. } => Failure::Usage(e.to_string()),
        MergeError::Record(e) => Failure::from(e),
    })?;
    super::report::show(&merged, args.output.format())
}
