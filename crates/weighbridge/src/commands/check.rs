//! `weighbridge check`: is what the database holds consistent?

use std::sync::Arc;
use std::sync::atomic::Ordering;

use record::Plan;
use record::run::CheckResult as Recorded;
use target::{Gateways, Session};
use workload::custom::{self, Custom, loaded};
use workload::tpcc::catalog::Catalog;
use workload::tpcc::check::{CheckOptions, CheckProgress, CheckResult, check};

use super::{Ended, Failure, Status, gateways, require_data, require_file, runtime, sessions, slice_of};
use crate::cli::{CheckArgs, Workload};
use crate::progress::{Progress, Reading};
use crate::{interrupt, output};

pub(crate) fn run(args: &CheckArgs) -> Ended {
    let workload = args.read_workload().map_err(Failure::Usage)?;
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "check")?;
    require_file(gateways.first())?;
    if let Workload::Custom(custom) = &workload {
        return show(&runtime()?.block_on(own_checks(&gateways, custom))?, args.json.enabled);
    }
    let worker = args.part.worker().map_err(Failure::Usage)?;
    let dialect = gateways.dialect();
    if args.as_of.is_some() && dialect.instant(0).is_none() {
        return Err(Failure::Usage(format!("{} can't read the past: leave out --as-of", dialect.name())));
    }
    let runtime = runtime()?;
    let catalog = runtime.block_on(async {
        Ok::<_, Failure>(Catalog::read_complete(&mut Session::connect(gateways.first()).await?).await?)
    })?;
    if !catalog.stores_data {
        return Err(super::without_data(&gateways, "check"));
    }
    let loaded = catalog.warehouses;
    let first = args.first_warehouse;
    let warehouses = args.warehouses.unwrap_or((loaded - first + 1).max(1));
    if i64::from(first) + i64::from(warehouses) - 1 > i64::from(loaded) {
        return Err(Failure::Usage(format!(
            "{warehouses} warehouses from {first} on were asked for, but only {loaded} are loaded"
        )));
    }
    let (first, warehouses) = match worker {
        Some(worker) => slice_of(worker, warehouses)?,
        None => (first, warehouses),
    };
    let jobs = args.jobs.map_or_else(|| sessions(&gateways), usize::from);
    let seconds_ago = args.as_of.map(|ago| ago.as_secs());
    let options = CheckOptions { first_warehouse: first, warehouses, jobs, seconds_ago };
    let results = with_progress(&runtime, &gateways, options)?;
    show(&results.iter().map(recorded).collect::<Vec<_>>(), args.json.enabled)
}

fn show(results: &[Recorded], json: bool) -> Ended {
    if json {
        output::print_json(&report::check_json(results))?;
    } else {
        output::print(&report::check_table(results))?;
    }
    Ok(if results.iter().all(|result| result.passed) { Status::Done } else { Status::NotBelieved })
}

/// The checks of a workload's file.
async fn own_checks(gateways: &Gateways, custom: &Custom) -> Result<Vec<Recorded>, Failure> {
    let mut session = Session::connect(gateways.first()).await?;
    session.see_all_commits().await?;
    loaded(custom, &mut session).await?;
    Ok(custom::conditions::check(custom, &mut session).await?)
}

/// Checks what a run has driven, through the gateways that have outlived it.
pub(super) fn after_run(options: &drive::Options, plan: &Plan) -> Result<Vec<Recorded>, Failure> {
    let runtime = runtime()?;
    let gateways = runtime.block_on(options.gateways.living())?;
    if let drive::Workload::Custom(custom) = &options.workload {
        let mut checks = runtime.block_on(own_checks(&gateways, custom))?;
        // What is held over the whole run stands in its reconciliation.
        checks.retain(|check| check.skipped.is_none());
        return Ok(checks);
    }
    let (first_warehouse, warehouses) = (plan.first_warehouse as i32, plan.warehouses as i32);
    let options = CheckOptions { first_warehouse, warehouses, jobs: sessions(&gateways), seconds_ago: None };
    Ok(with_progress(&runtime, &gateways, options)?.iter().map(recorded).collect())
}

fn with_progress(
    runtime: &tokio::runtime::Runtime,
    gateways: &Gateways,
    options: CheckOptions,
) -> Result<Vec<CheckResult>, Failure> {
    let progress = Arc::new(CheckProgress::default());
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    let shown = progress.clone();
    let _bar = Progress::start("checks", move || Reading {
        done: shown.done.load(Ordering::Relaxed),
        total: shown.total.load(Ordering::Relaxed),
        doing: String::new(),
    });
    Ok(runtime.block_on(check(gateways, options, progress))?)
}

/// A result as the run record keeps it.
pub(super) fn recorded(result: &CheckResult) -> Recorded {
    let detail = match result.examples.as_slice() {
        [] => result.what.to_string(),
        examples => format!("{}; violated by {}", result.what, examples.join("; ")),
    };
    Recorded {
        name: result.name.to_string(),
        clause: result.clause.to_string(),
        passed: result.passed,
        violations: result.violations,
        detail,
        skipped: result.skipped.clone(),
    }
}
