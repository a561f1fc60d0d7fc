//! `weighbridge chaos`: a run with faults laid over it.

use std::sync::Arc;

use super::run::{Beside, Faults, measure, metrics, options};
use super::{Ended, gateways, require_data};
use crate::cli::{ChaosArgs, LabTargetArgs, TargetArgs, Workload};
use crate::faults::{Fault, FaultTarget, asked};

pub(crate) fn run(args: &ChaosArgs) -> Ended {
    let lasts = args.drive.pace.ramp + args.drive.pace.duration;
    let faults = asked(&args.faults, args.schedule.as_deref(), lasts)?;
    let place = place(&args.drive.target, &args.lab, &faults)?;
    require_data(&place.gateways, "put in danger")?;
    let options = options(&args.drive, &Workload::Tpcc, place.gateways.clone())?;
    let faults = Faults { place: Arc::new(place), list: faults };
    let beside = Beside { faults: Some(&faults), metrics: metrics(&args.drive)?, live: false };
    measure(&options, args.drive.out.as_deref(), args.drive.check, beside, args.drive.output.format())
}

/// Where the faults are made.
pub(super) fn place(target: &TargetArgs, lab: &LabTargetArgs, faults: &[Fault]) -> Result<FaultTarget, super::Failure> {
    match lab.lab {
        Some(kind) => FaultTarget::lab(kind, &super::lab::base(lab.dir.as_deref())?, faults),
        None => {
            // What the URLs say is wrong with them comes first.
            gateways(target)?;
            FaultTarget::of_urls(&target.urls, faults)
        }
    }
}
