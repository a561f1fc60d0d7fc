//! A run from its first connection to its verdict, whatever the workload and whichever command asks for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use record::folder::ACKNOWLEDGED;
use record::run::{Client, LostWorker, NOT_ASKED_FOR, Reconciliation, Target, Tool};
use record::{OpenedRun, RunFolder, RunRecord, Summary};
use target::{Error, Gateways, Session};
use workload::{CheckProgress, Transactions, Workload, WorkloadError};

use crate::driver_thread::ThreadResult;
use crate::faults::Injector;
use crate::fleet::{JoinRequest, Rendezvous};
use crate::measure::measure;
use crate::options::{Event, Options, RunError, Stop, results_folder, runtime};
use crate::prepare::{Prepared, prepare};
use crate::recovery::{audit_after_run, await_recovery};
use crate::tare;

/// A run that has its verdict.
#[derive(Debug)]
pub struct Finished {
    /// The run folder as it was opened, with summary and verdict.
    pub run: OpenedRun,
    /// Why the checks that were asked for could not be made.
    pub unchecked: Option<WorkloadError>,
}

/// Runs a workload and judges the result: connect, make the folder, drive, reconcile, audit, check, derive summary and
/// verdict. `observe` gets every event.
///
/// # Errors
/// Anything that stops the run before its start, or the recording in its midst.
pub fn run<W: Workload>(
    workload: &W,
    options: &Options,
    stop: &Stop,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Finished, RunError> {
    // The runtime of a moment, so that no session of its own lasts through the run.
    let mut prepared = runtime()?.block_on(prepare(workload, options))?;
    let rendezvous = join_fleet(options, &mut prepared, stop)?;
    let mut record = begin_record(options, &prepared);
    let make_folder = || {
        let folder = RunFolder::create(&folder_path(workload, options, &prepared))?;
        record::folder::hold(folder.path());
        for (name, text) in workload.files() {
            record::folder::write_whole(&folder.file(name), text.as_bytes())?;
        }
        Ok(folder)
    };

    let mut injector = None;
    let mut observe_and_inject = |event: Event<'_>| {
        if let (Event::Second(second), Some(faults), None) = (&event, &options.faults, &injector) {
            // The first second tells exactly when the run began.
            injector = Some(Injector::start(faults, Instant::now() - Duration::from_secs_f64(second.row.elapsed_s)));
        }
        observe(event);
    };
    let measured =
        measure(options, &prepared, make_folder, rendezvous.as_ref(), stop, &mut record, &mut observe_and_inject);
    if let Ok((folder, _)) = &measured {
        // Readers of the folder see that it has ended; if this can't be written, the record at the end says so.
        let _ = folder.write_record(&record);
        observe(Event::Ended);
    }
    let faults_began = injector.is_some();
    let injected = injector.map(Injector::end).unwrap_or_default();
    if let Some(faults) = options.faults.as_ref().filter(|_| measured.is_ok() || faults_began) {
        let back = faults.target.restore(&faults.notify).map_err(|e| e.to_string());
        let back =
            back.and_then(|()| await_recovery(workload, &faults.target.gateways, stop).map_err(|e| e.to_string()));
        // What can't be brought back can't be audited either, and the audit says so.
        if let Err(why) = back {
            (faults.notify)(&format!("warning: {why}"));
        }
    }
    let (folder, results) = measured?;
    if let Some(rendezvous) = rendezvous {
        // Only when nobody works any more is the database at rest.
        note_lost(&mut record, runtime()?.block_on(rendezvous.end(Some(OTHERS_LIMIT))));
    }
    reconcile(options, &prepared, &results, &mut record)?;
    if options.faults.is_some() {
        if injected.iter().any(|fault| fault.failed.is_none()) {
            record.plan.deviations.push("faults were made on purpose".to_owned());
        }
        record.faults = injected;
    }
    // In a quiet run the sums of the reconciliation say as much, and cost less.
    let quiet = record.reconciliation.as_ref().is_some_and(|done| done.checked.iter().all(|item| item.unknown == 0));
    if folder.file(ACKNOWLEDGED).exists() && (options.faults.is_some() || !quiet) {
        folder.write_record(&record)?;
        record.audit = audit_after_run(workload, &options.gateways, folder.path(), stop);
    }
    let mut unchecked = None;
    if options.check && !record.target.without_data {
        folder.write_record(&record)?;
        unchecked = check(workload, options, &mut record, observe).err();
    }
    let run = judge(&folder, record)?;
    observe(Event::Judged(&run));
    Ok(Finished { run, unchecked })
}

/// How long the other workers of a fleet may take to end after this client: they drain, too.
const OTHERS_LIMIT: Duration = Duration::from_secs(60);

/// Meets the other workers, if this client is one of a fleet, and takes over what they agree on.
fn join_fleet<T: Transactions>(
    options: &Options,
    prepared: &mut Prepared<T>,
    stop: &Stop,
) -> Result<Option<Rendezvous>, RunError> {
    let Some(worker) = options.start.meets() else { return Ok(None) };
    if prepared.before.is_none() {
        return Err(RunError::Usage(format!(
            "{} keeps no data, so that a fleet can't meet there: give all workers the same --start-at",
            options.gateways
        )));
    }
    let plan = &mut prepared.plan;
    let request = JoinRequest { worker, task: "run", facts: plan.common(), seed: plan.seed, wait: options.start.wait };
    let rendezvous = runtime()?.block_on(Rendezvous::join(&options.gateways, request, stop))?;
    plan.seed = rendezvous.seed();
    Ok(Some(rendezvous))
}

/// The record as far as it is known before the start.
fn begin_record<T: Transactions>(options: &Options, prepared: &Prepared<T>) -> RunRecord {
    let mut record = RunRecord::new(prepared.plan.clone());
    record.tool = Tool::this();
    record.client = client_machine();
    record.target = Target {
        kind: options.gateways.dialect().name().into(),
        version: prepared.description.version.clone(),
        url: options.gateways.to_string(),
        settings: prepared.description.settings.clone(),
        embedded: options.gateways.dialect().embedded(),
        without_data: prepared.before.is_none(),
        placement: prepared.placement.clone(),
    };
    record.topology = serde_json::to_value(&prepared.topology).ok();
    record
}

/// The folder that was asked for, or one named for the moment, the workload and its size.
fn folder_path<W: Workload>(workload: &W, options: &Options, prepared: &Prepared<W::Transactions>) -> PathBuf {
    let named = || {
        let size = prepared.transactions.size_suffix();
        results_folder(&format!("{}-{}{size}", workload.name(), options.gateways.dialect().name()))
    };
    options.out.clone().unwrap_or_else(named)
}

/// Notes the workers that did not come to their end: the result lacks their part.
fn note_lost(record: &mut RunRecord, lost: Vec<LostWorker>) {
    let Some(fleet) = &mut record.fleet else { return };
    for worker in &lost {
        let seen = worker.last_seen.map_or_else(String::new, |at| format!(", last seen at {at:.3}"));
        let why = format!("worker {} of {} was lost ({}{seen})", worker.worker, fleet.workers, worker.host);
        tracing::warn!("{why}");
        record.plan.deviations.push(why);
    }
    fleet.lost = lost;
}

/// Compares what was acknowledged with what the database gained, and checks what must not have changed.
fn reconcile<T: Transactions>(
    options: &Options,
    prepared: &Prepared<T>,
    results: &[ThreadResult<T::Ledger>],
    record: &mut RunRecord,
) -> Result<(), RunError> {
    let Some(before) = &prepared.before else { return Ok(()) };
    let transactions = &prepared.transactions;
    let mut ledger = transactions.empty_ledger();
    results.iter().for_each(|result| transactions.merge(&mut ledger, &result.ledger));
    let abandoned: usize = results.iter().map(|result| result.abandoned).sum();
    match runtime()?.block_on(read_state(&options.gateways, transactions)) {
        Ok(after) => {
            record.checks = Some(transactions.check_invariants(before, &after)).filter(|checks| !checks.is_empty());
            record.reconciliation = transactions.reconcile(before, &after, &ledger, abandoned);
        }
        Err(e) => {
            let detail = format!("could not be done: {e}");
            record.reconciliation = Some(Reconciliation { checked: Vec::new(), passed: false, detail });
        }
    }
    Ok(())
}

/// Reads the state after the run, through a gateway that still answers.
async fn read_state<T: Transactions>(gateways: &Gateways, transactions: &T) -> Result<T::State, Error> {
    transactions.read_state(&mut Session::connect(gateways.living().await?.first()).await?).await
}

/// Checks the data that the run has driven.
fn check<W: Workload>(
    workload: &W,
    options: &Options,
    record: &mut RunRecord,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), WorkloadError> {
    let progress = Arc::<CheckProgress>::default();
    observe(Event::Checking(&progress));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::permanent(format!("can't start a runtime: {e}")))?;
    let checks = runtime.block_on(async {
        let gateways = options.gateways.living().await?;
        workload.check_after_run(&gateways, &record.plan, progress).await
    })?;
    let known = record.checks.get_or_insert_default();
    known.retain(|check| check.skipped.as_deref() != Some(NOT_ASKED_FOR));
    known.extend(checks);
    Ok(())
}

/// Derives summary and verdict from the folder, and keeps them in it.
fn judge(folder: &RunFolder, record: RunRecord) -> Result<OpenedRun, RunError> {
    folder.write_record(&record)?;
    let mut run = RunFolder::open(folder.path())?;
    let summary = Summary::from_run(&run);
    run.record.verdict = Some(record::judge(&run.record, &summary, &run.timeline));
    run.record.summary = Some(summary);
    folder.write_record(&run.record)?;
    Ok(run)
}

fn client_machine() -> Client {
    let os = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Client {
        os: format!("{} {}", std::env::consts::OS, os.trim()).trim_end().to_owned(),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        memory_bytes: tare::machine_memory_bytes(),
    }
}
