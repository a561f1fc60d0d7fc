//! `weighbridge verify`: can a claimed figure be true?

use record::claim::{Allowed, Claim, judge};
use record::verdict::{Finding, Judgement};
use tpcc::input::Kind;
use tpcc::mix::Mix;
use workload::tpcc::rules;

use super::{Ended, Status};
use crate::cli::VerifyArgs;

pub(crate) fn run(args: &VerifyArgs) -> Ended {
    let claim = Claim {
        rate: args.tpmc,
        warehouses: args.warehouses,
        configured: args.configured,
        terminals: args.terminals,
        response_seconds: args.response.map(|duration| duration.as_secs_f64()),
        interval_seconds: args.duration.map(|duration| duration.as_secs_f64()),
    };
    let findings = judged(&claim);
    args.json.print(|| report::claim_json(&findings), || report::claim_table(&findings))?;
    let possible = findings.iter().all(|finding| finding.outcome != Judgement::Fail);
    Ok(if possible { Status::Done } else { Status::NotBelieved })
}

/// A claim against all that the standard allows.
pub(super) fn judged(claim: &Claim) -> Vec<Finding> {
    // The mix with the most New-Orders that the standard permits.
    let mix = Mix::standard();
    let allowed = Allowed {
        scale: rules::scale(),
        headline_share: mix.share(Kind::NewOrder),
        cycle_seconds: mix.mean_cycle_seconds(1.0),
        interval_seconds: tpcc::limits::MEASUREMENT_INTERVAL_SECONDS as f64,
        interval_clause: "5.5.2.1".into(),
    };
    judge(claim, &allowed)
}
