//! `weighbridge doctor`: are this client and this target fit to be measured?

use drive::doctor::{Examination, examine};
use target::Level;

use super::{Ended, Status, gateways, require_data, require_file, runtime};
use crate::cli::DoctorArgs;

pub(crate) fn run(args: &DoctorArgs) -> Ended {
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "examine (`weighbridge calibrate` weighs the tool)")?;
    require_file(gateways.first())?;
    let jobs = gateways.default_sessions();
    let examination =
        Examination { gateways, warehouses: args.warehouses, connections: args.connections, check: args.check, jobs };
    let findings = runtime()?.block_on(examine(&examination));
    args.json.print(|| report::doctor_json(&findings), || report::doctor_table(&findings))?;
    let bad = findings.iter().any(|finding| finding.status == Level::Bad);
    Ok(if bad { Status::NotBelieved } else { Status::Done })
}
