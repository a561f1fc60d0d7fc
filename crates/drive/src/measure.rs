//! The run itself: terminals are dealt to driver threads, the threads start together, and the collector records them.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use record::folder::ACKNOWLEDGED;
use record::run::{Ended, FleetPart};
use record::{RecordError, Recorder, RunFolder, RunRecord};
use tokio::sync::watch;
use workload::{Transactions, Worker};

use crate::assignment::{self, Affinity, Gateway};
use crate::collector::{Clocks, Collector, DeferredResults, Files};
use crate::driver_thread::{self, ThreadPlan, ThreadResult};
use crate::error_policy::ErrorPolicy;
use crate::fleet::Rendezvous;
use crate::options::{Event, Options, RunError, Stop, runtime};
use crate::prepare::Prepared;
use crate::tare;

/// The results of all driver threads.
type Results<T> = Vec<ThreadResult<<T as Transactions>::Ledger>>;

/// Connects, makes the run folder, drives, and returns what each thread acknowledged. `record` gets what was measured.
///
/// # Errors
/// Anything that keeps the run from starting; a folder that can't be written.
pub(crate) fn measure<T: Transactions>(
    options: &Options,
    prepared: &Prepared<T>,
    make_folder: impl FnOnce() -> Result<RunFolder, RecordError>,
    rendezvous: Option<&Rendezvous>,
    stop: &Stop,
    record: &mut RunRecord,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(RunFolder, Results<T>), RunError> {
    let plan = &prepared.plan;
    let transactions = &prepared.transactions;
    let ledger_header = prepared.before.as_ref().and_then(|before| transactions.ledger_header(before));
    let threads = plan.threads as usize;
    let wait_queues = if options.affinity == Affinity::None { 1 } else { prepared.gateways.len() };

    let (give_up, given_up) = watch::channel(false);
    let (ready, readiness) = mpsc::channel();
    let (report, reports) = mpsc::channel();
    let mut handles = Vec::new();
    let mut starts = Vec::new();
    let mut spares = Vec::new();
    for (number, terminals) in deal_terminals(prepared, wait_queues).into_iter().enumerate() {
        let thread_plan = ThreadPlan {
            number,
            gateways: prepared.gateways.iter().map(|gateway| gateway.url.clone()).collect(),
            gateway_of: prepared.gateway_of[number].clone(),
            wait_queues,
            terminals,
            transactions: transactions.clone(),
            statements: plan.statements,
            factor: plan.pacing.factor(),
            ramp: options.ramp,
            duration: options.duration,
            initial_delay: options.start.initial_delay,
            keeps_journal: ledger_header.is_some(),
        };
        let (start, go) = mpsc::channel();
        let (spare, empties) = mpsc::channel();
        // One to record into, one for the swap, so that no thread ever waits for the collector.
        for _ in 0..2 {
            let _ = spare.send(Box::new(Recorder::new(plan)));
        }
        let (ready, report, stop) = (ready.clone(), report.clone(), [stop.clone(), given_up.clone()]);
        let handle = std::thread::Builder::new()
            .name(format!("driver-{number}"))
            .spawn(move || driver_thread::run(thread_plan, &ready, &go, &report, &empties, stop))
            .map_err(|e| RunError::Machine(format!("can't start a thread: {e}")))?;
        handles.push(handle);
        starts.push(start);
        spares.push(spare);
    }
    drop((ready, report));
    for _ in 0..threads {
        readiness.recv().map_err(|_| RunError::Machine("a driver thread ended before the start".into()))??;
    }

    let (run_start, fleet) = agree_on_start(options, rendezvous)?;
    // Only now, so that a run that can't start leaves no folder behind.
    let folder = make_folder()?;
    observe(Event::Begun { plan, folder: &folder });
    let run_start = run_start.unwrap_or_else(|| Instant::now() + SHORTLY);
    let run_start_wall = SystemTime::now() + run_start.saturating_duration_since(Instant::now());
    let clocks = Clocks { run_start, run_start_wall, ramp: options.ramp };
    record.fleet = fleet;
    let timestamp = |at: SystemTime| jiff::Timestamp::try_from(at).ok();
    record.started_at = timestamp(clocks.run_start_wall);
    record.measured_from = timestamp(clocks.run_start_wall + options.ramp);
    let results = transactions.result_file().map(|result| DeferredResults::create(&folder, &result)).transpose()?;
    let files = Files {
        timeline: folder.timeline(plan)?,
        latency: folder.latency_log(record.started_at.unwrap_or_default(), plan)?,
        results,
        acknowledged: ledger_header.map(|header| create_ledger(&folder, &header)).transpose()?,
    };
    // From now on the folder is a run's, whatever happens to this process.
    folder.write_record(record)?;
    for start in &starts {
        let _ = start.send(clocks);
    }

    let error_policy = ErrorPolicy::new(options.on_error, give_up);
    let mut collector = Collector::new(record, &folder, files, clocks, threads, error_policy);
    collector.collect(&reports, &spares, &mut |second| observe(Event::Second(second)))?;
    let results: Option<Results<T>> = handles.into_iter().map(|handle| handle.join().ok().flatten()).collect();
    let results = results.ok_or_else(|| RunError::Machine("a driver thread failed".into()))?;
    collector.append_to_ledger(&transactions.ledger_end(results.iter().map(|result| result.abandoned).sum()))?;
    let measured_cpu = collector.measured_cpu;
    let stopped = collector.stopped_because();

    // The longest: what a thread that ended earlier did not do lowers the rate.
    let measured = results.iter().map(|result| result.measured).max().unwrap_or_default();
    record.measured_seconds = measured.as_secs_f64();
    record.ended_at = timestamp(SystemTime::now());
    record.ended = match stopped {
        Some(why) => Ended::Failed(why),
        None if measured < options.duration => Ended::Interrupted,
        None => Ended::Completed,
    };
    record.tare.cpu_seconds = measured_cpu;
    let headline = plan.headline().map_or(0, |index| record.counts[index].measured.completed);
    record.tare.cpu_us_per_headline = measured_cpu * 1e6 / (headline as f64).max(1.0);
    record.tare.cpu_share_of_threads = measured_cpu / (measured.as_secs_f64() * threads as f64).max(1e-9);
    record.tare.peak_rss_bytes = tare::memory_bytes().1;
    Ok((folder, results))
}

/// The terminals of each thread, each with the queue in which it waits for a connection.
fn deal_terminals<T: Transactions>(prepared: &Prepared<T>, wait_queues: usize) -> Vec<Vec<(T::Terminal, usize)>> {
    let plan = &prepared.plan;
    let mut terminals_of: Vec<Vec<(T::Terminal, usize)>> = (0..plan.threads).map(|_| Vec::new()).collect();
    let mut slots: Vec<_> = (0..wait_queues)
        .map(|queue| assignment::slots(&prepared.gateway_of, |gateway| gateway % wait_queues == queue))
        .map(|slots| slots.into_iter().cycle())
        .collect();
    for number in 0..plan.terminals {
        let terminal = prepared.transactions.terminal(plan, number);
        let key = prepared.transactions.affinity_key(&terminal);
        let serves = |gateway: &Gateway| key.is_some_and(|key| gateway.keys.contains(&key));
        // Without affinity all gateways serve all keys, and the first queue is the only one.
        let queue = prepared.gateways.iter().position(serves).unwrap_or(0);
        let thread = slots[queue].next().unwrap_or(0);
        terminals_of[thread].push((terminal, queue));
    }
    terminals_of
}

/// Creates the ledger of what will be acknowledged, which begins with the state before the run.
fn create_ledger(folder: &RunFolder, header: &[u8]) -> Result<File, RecordError> {
    let path = folder.file(ACKNOWLEDGED);
    let mut file = File::create_new(&path).map_err(|e| RecordError::io("create", &path, e))?;
    file.write_all(header).map_err(|e| RecordError::io("write", &path, e))?;
    Ok(file)
}

/// From now to the start of a run that has no other.
const SHORTLY: Duration = Duration::from_millis(20);

/// The start that the fleet agreed on or that `--start-at` set, and this client's part in the fleet.
fn agree_on_start(
    options: &Options,
    rendezvous: Option<&Rendezvous>,
) -> Result<(Option<Instant>, Option<FleetPart>), RunError> {
    if let Some(rendezvous) = rendezvous {
        let (start, clock) = runtime()?.block_on(rendezvous.start())?;
        let worker = options.start.worker;
        let fleet = FleetPart {
            worker: worker.map_or(1, Worker::number),
            workers: worker.map_or(1, Worker::count),
            clock_offset_seconds: clock.offset_us as f64 / 1e6,
            clock_error_seconds: clock.error_us as f64 / 1e6,
            lost: Vec::new(),
        };
        return Ok((Some(start), Some(fleet)));
    }
    let Some(at) = options.start.at else { return Ok((None, None)) };
    let ahead = SystemTime::from(at).duration_since(SystemTime::now()).map_err(|late| {
        RunError::Usage(format!(
            "--start-at {at} has passed {:.1} s ago: allow more time for connecting",
            late.duration().as_secs_f64()
        ))
    })?;
    Ok((Some(Instant::now() + ahead), None))
}
