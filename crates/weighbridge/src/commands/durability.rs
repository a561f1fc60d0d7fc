//! `weighbridge acid durability`: the database crashes under load; is everything there that it acknowledged (3.5)?

use std::path::Path;
use std::time::Duration;

use drive::faults::{Action, Fault};
use drive::{Options, Pacing, audit_ledger, await_recovery, read_ledger, results_folder};
use record::audit::Audit;
use record::run::{CheckCounts, CheckResult};
use record::{OpenedRun, Summary};
use target::Gateways;
use workload::AnyWorkload;
use workload::tpcc::Tpcc;

use super::run::{Observer, any_seed, drive};
use super::{Ended, Failure, Status, chaos, require_data, require_file};
use crate::cli::DurabilityArgs;
use crate::{interrupt, output};

pub(crate) fn run(args: &DurabilityArgs) -> Ended {
    let list = faults(args);
    let target = chaos::fault_target(&args.target, &args.lab, &list)?;
    let gateways = target.gateways.clone();
    require_data(&gateways, "lose")?;
    require_file(gateways.first())?;
    if let Some(folder) = &args.audit {
        return audit_only(args, &gateways, folder);
    }
    let out = args.out.clone().unwrap_or_else(|| results_folder(&format!("durability-{}", gateways.dialect().name())));
    let options = Options {
        pacing: Pacing::None,
        connections: args.connections,
        seed: any_seed(),
        faults: Some(chaos::faults(target, list)),
        check: true,
        out: Some(out),
        ..Options::new(gateways, args.crash_after + args.duration)
    };
    let workload = AnyWorkload::Tpcc(Tpcc { warehouses: args.warehouses, ..Tpcc::default() });
    let (finished, page) = drive(&workload, &options, Observer::new(None, false))?;
    page?;
    if let Some(why) = finished.unchecked {
        return Err(Failure::from_workload(why));
    }
    conclude(args, &finished.run)
}

/// The crash, and what brings the database back.
fn faults(args: &DurabilityArgs) -> Vec<Fault> {
    let node = args.node.clone().unwrap_or_else(|| "node1".to_owned());
    let (crash, back) = match (&args.lab.lab, &args.crash_command) {
        (Some(_), _) => (Some(Action::Kill(node.clone())), Some(Action::Restart(node))),
        (None, command) => (command.clone().map(Action::Command), args.restart_command.clone().map(Action::Command)),
    };
    let at = |at: Duration| move |action| Fault { at, action };
    let crash = crash.map(at(args.crash_after));
    crash.into_iter().chain(back.map(at(args.crash_after + args.down))).collect()
}

/// The audit of a run that is over.
fn audit_only(args: &DurabilityArgs, gateways: &Gateways, folder: &Path) -> Ended {
    let tpcc = Tpcc::default();
    let ledger = read_ledger(&tpcc, folder).map_err(Failure::from_run)?;
    let ledger = ledger.ok_or_else(|| Failure::Failed(format!("{}: there is no ledger in it", folder.display())))?;
    await_recovery(&tpcc, gateways, &interrupt::stop()).map_err(Failure::from_run)?;
    let audit = audit_ledger(&tpcc, gateways, &ledger).map_err(Failure::from_run)?;
    something_to_lose(&audit)?;
    if args.json.enabled {
        output::print_json(&serde_json::json!({ "passed": audit.passed, "audit": audit, "folder": folder }))?;
    } else {
        output::print(&report::audit_table(&audit))?;
    }
    Ok(status(audit.passed))
}

/// Refuses to conclude anything from a ledger without acknowledgements.
fn something_to_lose(audit: &Audit) -> Result<(), Failure> {
    match audit.items.iter().all(|held| held.acknowledged == 0) {
        true => Err(Failure::Failed(format!("nothing was acknowledged that could have been lost: {}", audit.detail))),
        false => Ok(()),
    }
}

fn conclude(args: &DurabilityArgs, opened: &OpenedRun) -> Ended {
    let record = &opened.record;
    let audit = record.audit.as_ref().ok_or_else(|| Failure::Failed("the ledger was not audited".to_owned()))?;
    let checks = record.checks.as_deref().unwrap_or_default();
    let passed = audit.passed && checks.iter().all(|check| check.passed);
    let no_crash = |why: String| Err(Failure::Failed(format!("there was no crash: {why}")));
    match record.faults.first() {
        Some(fault) if fault.failed.is_none() => {}
        fault => return no_crash(fault.map_or_else(|| "the run ended before".to_owned(), record::fault::Fault::line)),
    }
    // A command that says it has crashed something need not have.
    if record.disturbances.lost.is_empty() && record.disturbances.gaps.is_empty() {
        return no_crash("no connection was lost, and the answers went on".to_owned());
    }
    something_to_lose(audit)?;
    if args.json.enabled {
        output::print_json(&serde_json::json!({
            "passed": passed,
            "audit": audit,
            "checks": checks,
            "faults": record.faults,
            "outages": record.summary.as_ref().map(|summary| &summary.outages),
            "folder": opened.path,
        }))?;
    } else {
        output::print(&text(opened, audit, checks, passed))?;
    }
    Ok(status(passed))
}

fn text(opened: &OpenedRun, audit: &Audit, checks: &[CheckResult], passed: bool) -> String {
    let outages = report::outages_text(&opened.record, &Summary::from_run(opened));
    let failed =
        checks.iter().filter(|check| !check.passed).map(|check| format!("    {}: {}\n", check.name, check.detail));
    format!(
        "{outages}\n{}\nChecks of the data: {}\n{}Durability: {}\n",
        report::audit_table(audit),
        CheckCounts::from_checks(checks),
        failed.collect::<String>(),
        if passed { "nothing acknowledged is missing" } else { "FAILED" }
    )
}

fn status(passed: bool) -> Status {
    if passed { Status::Done } else { Status::NotBelieved }
}
