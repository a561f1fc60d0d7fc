//! `weighbridge acid durability`: the database crashes under load; is everything there that it acknowledged (3.5)?

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use drive::{Options, Pacing, Tpcc, Workload};
use record::audit::Audit;
use record::folder::PAGE;
use record::run::{CheckCounts, CheckResult};
use record::{OpenedRun, Summary};
use target::Gateways;

use super::run::{Beside, Faults, any_seed, drive_to_the_end, keep_result, results_folder};
use super::{Ended, Failure, Status, auditing, chaos, check, require_data, require_file};
use crate::cli::DurabilityArgs;
use crate::faults::{Action, Fault};
use crate::{interrupt, output};

pub(crate) fn run(args: &DurabilityArgs) -> Ended {
    let faults = faults(args);
    let place = chaos::place(&args.target, &args.lab, &faults)?;
    let gateways = place.gateways.clone();
    require_data(&gateways, "lose")?;
    require_file(gateways.first())?;
    if let Some(folder) = &args.audit {
        return audit_only(args, &gateways, folder);
    }
    let workload = Workload::Tpcc(Tpcc { warehouses: args.warehouses, ..Tpcc::default() });
    let options = Options {
        pacing: Pacing::None,
        connections: args.connections,
        seed: any_seed(),
        ..Options::new(gateways.clone(), workload, args.crash_after + args.duration)
    };
    let out = args.out.clone().unwrap_or_else(|| results_folder(&format!("durability-{}", gateways.dialect().name())));
    let faults = Faults { place: Arc::new(place), list: faults };
    let beside = Beside { faults: Some(&faults), ..Beside::default() };
    let (folder, mut record) = drive_to_the_end(&options, Some(&out), beside, &interrupt::stop())?;
    let checked = check::after_run(&options, &record.plan);
    record.checks = checked.as_ref().ok().cloned();
    let opened = keep_result(&folder, record)?;
    super::report::write_page(&opened, &folder.file(PAGE))?;
    checked?;
    conclude(args, &opened)
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
    let ledger = auditing::ledger(folder)?;
    let ledger = ledger.ok_or_else(|| Failure::Failed(format!("{}: there is no ledger in it", folder.display())))?;
    auditing::await_recovery(gateways)?;
    let audit = auditing::against(gateways, &ledger)?;
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
    match audit.held.iter().all(|held| held.acknowledged == 0) {
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
    if record.trouble.lost.is_empty() && record.trouble.gaps.is_empty() {
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
    let trouble = report::trouble_text(&opened.record, &Summary::of(opened));
    let failed =
        checks.iter().filter(|check| !check.passed).map(|check| format!("    {}: {}\n", check.name, check.detail));
    format!(
        "{trouble}\n{}\nChecks of the data: {}\n{}Durability: {}\n",
        report::audit_table(audit),
        CheckCounts::of(checks),
        failed.collect::<String>(),
        if passed { "nothing acknowledged is missing" } else { "FAILED" }
    )
}

fn status(passed: bool) -> Status {
    if passed { Status::Done } else { Status::NotBelieved }
}
