//! `weighbridge check`: is what the database holds consistent?

use std::sync::Arc;

use record::run::CheckResult;
use workload::{AnyWorkload, CheckProgress, CheckRequest, Workload, dispatch};

use super::run::show_checks;
use super::{Ended, Failure, Status, gateways, require_data, require_file, runtime};
use crate::cli::CheckArgs;
use crate::output;

pub(crate) fn run(args: &CheckArgs) -> Ended {
    let workload = AnyWorkload::read(&args.workload).map_err(Failure::Usage)?;
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "check")?;
    require_file(gateways.first())?;
    let request = CheckRequest {
        first: args.first_warehouse,
        count: args.warehouses,
        worker: args.part.worker().map_err(Failure::Usage)?,
        jobs: args.jobs.map_or_else(|| gateways.default_sessions(), usize::from),
        seconds_ago: args.as_of.map(|ago| ago.as_secs()),
    };
    let progress = Arc::<CheckProgress>::default();
    let bar = show_checks(&progress);
    let checked = dispatch!(&workload, workload => runtime()?.block_on(workload.check(&gateways, &request, progress)));
    drop(bar);
    show(&checked.map_err(Failure::from_workload)?, args.json.enabled)
}

fn show(results: &[CheckResult], json: bool) -> Ended {
    if json {
        output::print_json(&report::check_json(results))?;
    } else {
        output::print(&report::check_table(results))?;
    }
    Ok(if results.iter().all(|result| result.passed) { Status::Done } else { Status::NotBelieved })
}
