//! A run from its first connection to its record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant, SystemTime};

use record::folder::{ACKNOWLEDGED, DELIVERIES};
use record::plan::{GatewayPlan, Pacing as PlannedPacing, Plan};
use record::run::{Client, Ended, FleetPart, LostWorker, Reconciliation, Target, Tool};
use record::{RecordError, Recorder, RunFolder, RunRecord};
use target::{Description, Dialect, Error, Gateways, Isolation, Session, Topology, Url, topology};
use tokio::sync::watch;
use workload::custom::Custom;
use workload::tpcc::catalog::CatalogError;

use crate::assignment::{self, Affinity, Gateway};
use crate::collector::{Clocks, Collector, DeliveryFile, ErrorPolicy, Files, OnError, Second};
use crate::custom::prepare as prepare_custom;
use crate::driver_thread::{self, ThreadPlan, ThreadResult};
use crate::fleet::{FleetError, JoinRequest, Rendezvous, Start, Worker};
use crate::tare;
use crate::tpcc::{Tpcc, prepare as prepare_tpcc};
use crate::work::Work;

pub use record::plan::Pacing;

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database, by one gateway or several.
    pub gateways: Gateways,
    /// What is driven.
    pub workload: Workload,
    /// What binds terminals to gateways.
    pub affinity: Affinity,
    /// Time before the measurement.
    pub ramp: Duration,
    /// The measurement interval.
    pub duration: Duration,
    /// Keying and think times.
    pub pacing: Pacing,
    /// Connections; none: what suits the run.
    pub connections: Option<u32>,
    /// Terminals; none: what the workload has, or as many as connections where there are no waits.
    pub terminals: Option<u32>,
    /// Isolation level; none: the weakest that passes clause 3.4.
    pub isolation: Option<Isolation>,
    /// Where this client stands, in its owner's words; empty: not told.
    pub region: String,
    /// Whether the statements of the transactions are timed, each by itself.
    pub statements: bool,
    /// Seed of the inputs; of a fleet that of worker 1 counts.
    pub seed: u64,
    /// What is done about errors that would come again.
    pub on_error: OnError,
    /// When it begins, and with whom.
    pub start: Start,
}

impl Options {
    /// A run of `duration` in which nothing else is asked for.
    #[must_use]
    pub fn new(gateways: Gateways, workload: Workload, duration: Duration) -> Self {
        Self {
            gateways,
            workload,
            affinity: Affinity::None,
            ramp: Duration::ZERO,
            duration,
            pacing: Pacing::Standard,
            connections: None,
            terminals: None,
            isolation: None,
            region: String::new(),
            statements: false,
            seed: 1,
            on_error: OnError::default(),
            start: Start::default(),
        }
    }

    /// The connections that were asked for, or that suit so many warehouses; each gateway needs one.
    pub(crate) fn connections_for(&self, warehouses: u32, gateways: usize) -> Result<u32, String> {
        let suited = || suited_connections(self.gateways.dialect(), warehouses).max(gateways as u32);
        let connections = self.connections.unwrap_or_else(suited);
        match (connections as usize) < gateways {
            true => Err(format!("--connections {connections} for {gateways} gateways: each needs one at least")),
            false => Ok(connections),
        }
    }

    /// What of a plan follows from the options alone.
    pub(crate) fn plan(&self, connections: u32, terminals: u32) -> Plan {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Plan {
            pacing: self.pacing,
            connections,
            affinity: self.affinity.to_string(),
            terminals,
            threads: cores.min(connections).min(terminals).max(1),
            ramp_seconds: self.ramp.as_secs_f64(),
            duration_seconds: self.duration.as_secs_f64(),
            start_at: self.start.at,
            initial_delay_seconds: self.start.initial_delay.as_secs_f64(),
            region: self.region.clone(),
            statements: self.statements,
            seed: self.seed,
            ..Plan::default()
        }
    }
}

/// A workload, with what only it is asked.
#[derive(Clone, Debug)]
pub enum Workload {
    /// The TPC-C derived one.
    Tpcc(Tpcc),
    /// One of the user's custom.
    Custom(Arc<Custom>),
}

/// The way to end a run early.
pub type Stop = watch::Receiver<bool>;

/// What a run tells of itself as it goes.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A second has passed.
    Second(Second<'a>),
    /// The terminals have stopped; the state of the database is about to be read.
    Ended,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The options contradict the database or each other; nothing was touched.
    #[error("{0}")]
    Usage(String),
    /// The data are not there, or not complete.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The tables of a workload of the user's own are not there, or not complete.
    #[error("{0}")]
    NotLoaded(String),
    /// The database refused before the run began.
    #[error(transparent)]
    Database(#[from] Error),
    /// The fleet does not come about.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The run folder can't be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The machine refused something.
    #[error("{0}")]
    Machine(String),
}

/// Connections where nobody asks for a number: two a warehouse, within these bounds.
const DEFAULT_CONNECTIONS: std::ops::RangeInclusive<u32> = 8..=128;

/// How long the catalog may be read before a run; a cluster of many ranges takes its time.
const TOPOLOGY_LIMIT: Duration = Duration::from_secs(5);

/// The connections of a run that asks for no number.
pub(crate) fn suited_connections(dialect: &dyn Dialect, warehouses: u32) -> u32 {
    let useful = dialect.useful_connections().unwrap_or(u32::MAX);
    warehouses.saturating_mul(2).clamp(*DEFAULT_CONNECTIONS.start(), *DEFAULT_CONNECTIONS.end()).min(useful)
}

/// All that is known of a run before it starts.
pub(crate) struct Prepared<W: Work> {
    pub(crate) work: W,
    pub(crate) description: Description,
    pub(crate) topology: Topology,
    /// What the ledger is held against, before the run; none of a target without data.
    pub(crate) before: Option<W::State>,
    pub(crate) plan: Plan,
    /// How the data were placed, where the load was told.
    pub(crate) placement: BTreeMap<String, String>,
    pub(crate) gateways: Vec<Gateway>,
    /// The gateways of each thread's connections.
    pub(crate) gateway_of: Vec<Vec<usize>>,
}

/// Runs, and returns the record as far as the driver knows it: without summary, verdict and checks.
///
/// `make_folder` is called with the plan once all connections are there. `observe` gets every event.
///
/// # Errors
/// Anything that stops the run before its start, or the recording in its midst.
pub fn run(
    options: &Options,
    stop: &Stop,
    make_folder: impl FnOnce(&Plan) -> Result<RunFolder, RecordError>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(RunFolder, RunRecord), RunError> {
    // The runtime of a moment, so that no session of its own lasts through the run.
    match &options.workload {
        Workload::Tpcc(tpcc) => {
            let prepared = runtime()?.block_on(prepare_tpcc(options, tpcc))?;
            run_prepared(options, prepared, stop, make_folder, observe)
        }
        Workload::Custom(custom) => {
            let prepared = runtime()?.block_on(prepare_custom(options, custom.clone()))?;
            run_prepared(options, prepared, stop, make_folder, observe)
        }
    }
}

fn run_prepared<W: Work>(
    options: &Options,
    mut prepared: Prepared<W>,
    stop: &Stop,
    make_folder: impl FnOnce(&Plan) -> Result<RunFolder, RecordError>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(RunFolder, RunRecord), RunError> {
    let rendezvous = meet(options, &mut prepared, stop)?;
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

    let (folder, results) = drive(options, &prepared, rendezvous.as_ref(), stop, make_folder, &mut record, observe)?;
    // Whoever watches learns that it has ended; if this can't be written, the record at the end says so.
    let _ = folder.write_record(&record);
    observe(Event::Ended);
    if let Some(rendezvous) = rendezvous {
        // Only when nobody works any more is the database at rest.
        note_lost(&mut record, runtime()?.block_on(rendezvous.end(Some(OTHERS_LIMIT))));
    }
    let work = &prepared.work;
    let mut ledger = work.empty_ledger();
    results.iter().for_each(|shard| work.merge(&mut ledger, &shard.ledger));
    let abandoned: usize = results.iter().map(|shard| shard.abandoned).sum();
    if let Some(before) = &prepared.before {
        let failed = |detail| Some(Reconciliation { checked: Vec::new(), passed: false, detail });
        record.reconciliation = match runtime()?.block_on(read_state(&options.gateways, work)) {
            Ok(after) => {
                record.checks = Some(work.check_invariants(before, &after)).filter(|checks| !checks.is_empty());
                work.reconcile(before, &after, &ledger, abandoned)
            }
            Err(e) => failed(format!("could not be done: {e}")),
        };
    }
    folder.write_record(&record)?;
    Ok((folder, record))
}

/// Reads the state after the run, through a gateway that has outlived it.
async fn read_state<W: Work>(gateways: &Gateways, work: &W) -> Result<W::State, Error> {
    work.read_state(&mut Session::connect(gateways.living().await?.first()).await?).await
}

/// How long the others may take to their end after this client's: they drain, too.
const OTHERS_LIMIT: Duration = Duration::from_secs(60);

/// Meets the other workers, if this client is one of a fleet, and takes over what they agree on.
fn meet<W: Work>(options: &Options, prepared: &mut Prepared<W>, stop: &Stop) -> Result<Option<Rendezvous>, RunError> {
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

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, RunError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| RunError::Machine(format!("can't start a runtime: {e}")))
}

/// How the data lie now, read in a session of its own that may be given up. A run doesn't fail for it.
pub(crate) async fn topology_of(url: &Url) -> Topology {
    let note = |note: String| Topology { notes: vec![note], ..Topology::default() };
    let read = async {
        let mut session = Session::connect(url).await?;
        Ok::<_, Error>(topology::read(&mut session).await)
    };
    match tokio::time::timeout(TOPOLOGY_LIMIT, read).await {
        Ok(Ok(topology)) => topology,
        Ok(Err(e)) => note(format!("not read: {e}")),
        Err(_) => note(format!("not read: it took more than {} s", TOPOLOGY_LIMIT.as_secs())),
    }
}

/// The gateways as the record keeps them.
pub(crate) fn planned(gateways: &[Gateway], gateway_of: &[Vec<usize>]) -> Vec<GatewayPlan> {
    let plan = |(index, gateway): (usize, &Gateway)| GatewayPlan {
        url: gateway.url.to_string(),
        connections: gateway_of.iter().flatten().filter(|assigned| **assigned == index).count() as u32,
        first_warehouse: *gateway.warehouses.start() as u32,
        warehouses: gateway.warehouses.clone().count() as u32,
    };
    gateways.iter().enumerate().map(plan).collect()
}

/// What is left of all shards.
type Ends<W> = Vec<ThreadResult<<W as Work>::Ledger>>;

/// Starts the shards, collects what they measure, and waits for their end.
fn drive<W: Work>(
    options: &Options,
    prepared: &Prepared<W>,
    rendezvous: Option<&Rendezvous>,
    stop: &Stop,
    make_folder: impl FnOnce(&Plan) -> Result<RunFolder, RecordError>,
    record: &mut RunRecord,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(RunFolder, Ends<W>), RunError> {
    let plan = &prepared.plan;
    let ledger_header = prepared.before.as_ref().and_then(|before| prepared.work.ledger_header(before));
    let threads = plan.threads as usize;
    let wait_queues = match options.affinity {
        Affinity::None => 1,
        Affinity::Warehouse => prepared.gateways.len(),
    };
    let mut terminals_of: Vec<Vec<(W::Terminal, usize)>> = (0..threads).map(|_| Vec::new()).collect();
    let mut slots: Vec<_> = (0..wait_queues)
        .map(|line| {
            assignment::slots(&prepared.gateway_of, |assigned| assigned % wait_queues == line).into_iter().cycle()
        })
        .collect();
    for number in 0..plan.terminals {
        let terminal = prepared.work.terminal(plan, number);
        let warehouse = prepared.work.warehouse(&terminal);
        let serves = |gateway: &Gateway| warehouse.is_some_and(|w_id| gateway.warehouses.contains(&w_id));
        // Without affinity all gateways serve all warehouses, and the first line is the only one.
        let line = prepared.gateways.iter().position(serves).unwrap_or(0);
        let thread = slots[line].next().unwrap_or(0);
        terminals_of[thread].push((terminal, line));
    }

    let (give_up, given_up) = watch::channel(false);
    let (ready, readiness) = mpsc::channel();
    let (report, inbox) = mpsc::channel();
    let (mut shards, mut starts, mut spares) = (Vec::new(), Vec::new(), Vec::new());
    for (number, terminals) in terminals_of.into_iter().enumerate() {
        let thread_plan = ThreadPlan {
            number,
            gateways: prepared.gateways.iter().map(|gateway| gateway.url.clone()).collect(),
            gateway_of: prepared.gateway_of[number].clone(),
            wait_queues,
            terminals,
            work: prepared.work.clone(),
            statements: plan.statements,
            factor: PlannedPacing::factor(plan.pacing),
            ramp: options.ramp,
            duration: options.duration,
            initial_delay: options.start.initial_delay,
            keeps_journal: ledger_header.is_some(),
        };
        let (start, go) = mpsc::channel();
        let (spare, empties) = mpsc::channel();
        // One to record into, one for the swap, so that no shard ever waits for the collector.
        for _ in 0..2 {
            let _ = spare.send(Box::new(Recorder::new(plan)));
        }
        let (ready, report, stop) = (ready.clone(), report.clone(), [stop.clone(), given_up.clone()]);
        let thread = std::thread::Builder::new()
            .name(format!("shard-{number}"))
            .spawn(move || driver_thread::run(thread_plan, &ready, &go, &report, &empties, stop))
            .map_err(|e| RunError::Machine(format!("can't start a thread: {e}")))?;
        shards.push(thread);
        starts.push(start);
        spares.push(spare);
    }
    drop((ready, report));
    for _ in 0..threads {
        readiness.recv().map_err(|_| RunError::Machine("a driver thread ended before the start".into()))??;
    }

    let (run_start, fleet) = start(options, rendezvous)?;
    // Only now, so that a run that can't start leaves no folder behind.
    let folder = make_folder(plan)?;
    let run_start = run_start.unwrap_or_else(|| Instant::now() + SHORTLY);
    let run_start_wall = SystemTime::now() + run_start.saturating_duration_since(Instant::now());
    let clocks = Clocks { run_start, run_start_wall, ramp: options.ramp };
    record.fleet = fleet;
    let timestamp = |at: SystemTime| jiff::Timestamp::try_from(at).ok();
    record.started_at = timestamp(clocks.run_start_wall);
    record.measured_from = timestamp(clocks.run_start_wall + options.ramp);
    let deferring = plan.transactions.iter().any(|rule| rule.deferred_limit_seconds.is_some());
    let files = Files {
        timeline: folder.timeline(plan)?,
        latency: folder.latency_log(record.started_at.unwrap_or_default(), plan)?,
        deliveries: deferring.then(|| DeliveryFile::create(&folder.file(DELIVERIES))).transpose()?,
        acknowledged: ledger_header.map(|ledger_header| open_ledger(&folder, &ledger_header)).transpose()?,
    };
    // From now on the folder is a run's, whatever happens to this process.
    folder.write_record(record)?;
    for start in &starts {
        let _ = start.send(run_start);
    }

    let error_policy = ErrorPolicy::new(options.on_error, give_up);
    let mut collector = Collector::new(record, &folder, files, clocks, threads, error_policy);
    collector.collect(&inbox, &spares, &mut |second| observe(Event::Second(second)))?;
    let results: Option<Ends<W>> = shards.into_iter().map(|shard| shard.join().ok().flatten()).collect();
    let results = results.ok_or_else(|| RunError::Machine("a driver thread failed".into()))?;
    collector.end_ledger(results.iter().map(|shard| shard.abandoned).sum())?;
    let (measured_cpu, stopped) = (collector.measured_cpu, collector.stopped_because());

    // The longest: what a thread that ended earlier did not do lowers the rate.
    let measured = results.iter().map(|shard| shard.measured).max().unwrap_or_default();
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

/// Begins the ledger of what will be acknowledged with the state before the run.
fn open_ledger(folder: &RunFolder, ledger_header: &[u8]) -> Result<File, RecordError> {
    let path = folder.file(ACKNOWLEDGED);
    let mut file = File::create_new(&path).map_err(|e| RecordError::io("create", &path, e))?;
    file.write_all(ledger_header).map_err(|e| RecordError::io("write", &path, e))?;
    Ok(file)
}

/// From now to a start that nobody set.
const SHORTLY: Duration = Duration::from_millis(20);

/// The start that was set, by the fleet or by its time, and this client's part in the fleet.
fn start(options: &Options, rendezvous: Option<&Rendezvous>) -> Result<(Option<Instant>, Option<FleetPart>), RunError> {
    if let Some(rendezvous) = rendezvous {
        let (start, clock) = runtime()?.block_on(rendezvous.start())?;
        let worker = options.start.worker;
        let fleet = FleetPart {
            worker: worker.map_or(1, Worker::number),
            workers: worker.map_or(1, Worker::of),
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

fn client_machine() -> Client {
    let os = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Client {
        os: format!("{} {}", std::env::consts::OS, os.trim()).trim_end().to_owned(),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        memory_bytes: tare::machine_memory_bytes(),
    }
}
