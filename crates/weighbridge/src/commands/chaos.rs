//! `weighbridge chaos`: a run with faults laid over it.

use std::sync::Arc;

use drive::Options;
use drive::faults::{Fault, FaultTarget, Faults, requested};
use workload::AnyWorkload;
use workload::tpcc::Tpcc;

use super::run::{Observer, measure, options, require};
use super::{Ended, Failure, gateways, require_data};
use crate::cli::{ChaosArgs, LabTargetArgs, TargetArgs};
use crate::metrics::Metrics;

pub(crate) fn run(args: &ChaosArgs) -> Ended {
    let lasts = args.drive.pace.ramp + args.drive.pace.duration;
    let list = requested(&args.faults, args.schedule.as_deref(), lasts).map_err(Failure::from_faults)?;
    let target = fault_target(&args.drive.target, &args.lab, &list)?;
    require_data(&target.gateways, "put in danger")?;
    let workload = args.drive.configure(AnyWorkload::Tpcc(Tpcc::default()));
    require(&workload, &target.gateways)?;
    let options = options(&args.drive, target.gateways.clone())?;
    let options = Options { faults: Some(faults(target, list)), ..options };
    let observer = Observer::new(Metrics::start(&args.drive.metrics)?, false);
    measure(&workload, &options, observer, args.drive.output.format())
}

/// Where the faults are made.
pub(super) fn fault_target(target: &TargetArgs, lab: &LabTargetArgs, faults: &[Fault]) -> Result<FaultTarget, Failure> {
    let target = match lab.lab {
        Some(kind) => FaultTarget::lab(kind, &super::lab::base(lab.dir.as_deref())?, faults),
        None => {
            // What the URLs say is wrong with them comes first.
            gateways(target)?;
            FaultTarget::from_urls(&target.urls, faults)
        }
    };
    target.map_err(Failure::from_faults)
}

/// Faults that say on standard error what they do.
pub(super) fn faults(target: FaultTarget, list: Vec<Fault>) -> Faults {
    Faults { target: Arc::new(target), list, notify: Arc::new(|line| say!("{line}")) }
}
