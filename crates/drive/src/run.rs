//! A run from its first connection to its record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::ops::RangeInclusive;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use ::tpcc::input::Warehouses;
use ::tpcc::mix::Mix;
use ::tpcc::terminal::Terminal;
use record::folder::ACKNOWLEDGED;
use record::plan::{GatewayPlan, Pacing as PlannedPacing, Plan};
use record::run::{Client, Ended, FleetPart, LostWorker, ReconciledItem, Reconciliation, Target, Tool};
use record::{RecordError, Recorder, RunFolder, RunRecord};
use target::{Description, Dialect, Error, Gateways, Isolation, Session, Topology, Url, topology};
use tokio::sync::watch;
use workload::tpcc::catalog::{Catalog, CatalogError};
use workload::tpcc::ledger::{Ledger, State, reconcile};
use workload::tpcc::{Profile, Style, make_routines, rules};

use crate::collector::{Clocks, Collector, DELIVERIES, DeliveryFile, Files, OnError, Patience, Second};
use crate::dealing::{self, Affinity, Gateway};
use crate::fleet::{Coming, FleetError, Meeting, Start, Worker};
use crate::shard::{self, Remains, ShardPlan};
use crate::tare;

pub use record::plan::Pacing;

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database, by one gateway or several.
    pub gateways: Gateways,
    /// What binds terminals to gateways.
    pub affinity: Affinity,
    /// Warehouses that this client drives, or of which a worker of a fleet has its slice; none: all that are loaded.
    pub warehouses: Option<i32>,
    /// The first of them.
    pub first_warehouse: i32,
    /// Warehouses that all clients drive together, from 1 on; none: only this client's, or those of the fleet.
    pub total_warehouses: Option<i32>,
    /// Time before the measurement.
    pub ramp: Duration,
    /// The measurement interval.
    pub duration: Duration,
    /// Keying and think times.
    pub pacing: Pacing,
    /// Connections; none: what suits the run.
    pub connections: Option<u32>,
    /// Terminals; none: ten a warehouse, or as many as connections where there are no waits.
    pub terminals: Option<u32>,
    /// Statement style.
    pub style: Style,
    /// The mix.
    pub mix: Mix,
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
struct Prepared {
    catalog: Catalog,
    description: Description,
    topology: Topology,
    /// The state before the run; none of a target without data.
    before: Option<State>,
    plan: Plan,
    gateways: Vec<Gateway>,
    /// The gateways of each thread's connections.
    homes: Vec<Vec<usize>>,
    isolation: Isolation,
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
    let mut prepared = runtime()?.block_on(prepare(options))?;
    let meeting = meet(options, &mut prepared, stop)?;
    let mut record = RunRecord::new(prepared.plan.clone());
    record.tool = Tool { name: "weighbridge".into(), version: env!("CARGO_PKG_VERSION").into() };
    record.client = client_machine();
    record.target = Target {
        kind: options.gateways.dialect().name().into(),
        version: prepared.description.version.clone(),
        url: options.gateways.to_string(),
        settings: prepared.description.settings.clone(),
        embedded: options.gateways.dialect().embedded(),
        without_data: !prepared.catalog.keeps_data,
        placement: prepared.catalog.placement.facts(),
    };
    record.topology = serde_json::to_value(&prepared.topology).ok();

    let (folder, remains) = drive(options, &prepared, meeting.as_ref(), stop, make_folder, &mut record, observe)?;
    observe(Event::Ended);
    if let Some(meeting) = meeting {
        // Only when nobody works any more is the database at rest.
        note_lost(&mut record, runtime()?.block_on(meeting.end(Some(OTHERS_LIMIT))));
    }
    let mut ledger = empty_ledger(&prepared.plan);
    remains.iter().for_each(|shard| ledger.merge(&shard.ledger));
    let abandoned: usize = remains.iter().map(|shard| shard.abandoned).sum();
    if let Some(before) = &prepared.before {
        record.reconciliation = Some(match runtime()?.block_on(read_state(&options.gateways, &prepared.plan)) {
            Ok(after) => reconciliation(before, &after, &ledger, abandoned),
            Err(e) => Reconciliation { checked: Vec::new(), passed: false, detail: format!("could not be done: {e}") },
        });
    }
    folder.write_record(&record)?;
    Ok((folder, record))
}

/// How long the others may take to their end after this client's: they drain, too.
const OTHERS_LIMIT: Duration = Duration::from_secs(60);

/// Meets the other workers, if this client is one of a fleet, and takes over what they agree on.
fn meet(options: &Options, prepared: &mut Prepared, stop: &Stop) -> Result<Option<Meeting>, RunError> {
    let Some(worker) = options.start.meets() else { return Ok(None) };
    if !prepared.catalog.keeps_data {
        return Err(RunError::Usage(format!(
            "{} keeps no data, so that a fleet can't meet there: give all workers the same --start-at",
            options.gateways
        )));
    }
    let plan = &mut prepared.plan;
    let coming = Coming { worker, errand: "run", facts: plan.common(), seed: plan.seed, wait: options.start.wait };
    let meeting = runtime()?.block_on(Meeting::join(&options.gateways, coming, stop))?;
    plan.seed = meeting.seed();
    Ok(Some(meeting))
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

/// Looks at the database and settles what was left open.
async fn prepare(options: &Options) -> Result<Prepared, RunError> {
    let mut session = Session::connect(options.gateways.first()).await?;
    session.see_all_commits().await?;
    let catalog = match options.gateways.dialect().keeps_data() {
        true => Catalog::read_complete(&mut session).await?,
        false => Catalog::without_data(warehouses_asked_for(options)),
    };
    let description = session.describe().await?;
    let (plan, gateways) = plan(options, &catalog, &description)?;
    let mut plan = plan;
    let before = match catalog.keeps_data {
        true => Some(state_before(&mut session, &mut plan).await?),
        false => None,
    };
    if options.style == Style::Procedure && catalog.keeps_data {
        make_routines(&mut session).await?;
    }
    if gateways.len() > 1 && catalog.keeps_data {
        // A connection prepares its statements, which names tables and routines.
        Catalog::await_everywhere(&options.gateways).await?;
    }
    let homes = dealing::connections(plan.connections, gateways.len(), plan.threads as usize);
    if gateways.len() > 1 {
        plan.gateways = planned(&gateways, &homes);
    }
    let isolation = options.isolation.unwrap_or(options.gateways.dialect().default_isolation());
    let topology = topology_of(options.gateways.first()).await;
    Ok(Prepared { catalog, description, topology, before, plan, gateways, homes, isolation })
}

/// Warehouses of a target without data where nobody asks for a number.
const WAREHOUSES_WITHOUT_DATA: i32 = 100;

/// The warehouses for which a target without data is to answer: all that are asked for, by whichever client.
fn warehouses_asked_for(options: &Options) -> i32 {
    let own = options.warehouses.unwrap_or(WAREHOUSES_WITHOUT_DATA);
    let last = options.first_warehouse.saturating_add(own - 1);
    options.total_warehouses.unwrap_or(last).max(last)
}

/// The state of the warehouses before the run; that the data have aged is noted in the plan.
async fn state_before(session: &mut Session, plan: &mut Plan) -> Result<State, Error> {
    let (first, last) = slice(plan).into_inner();
    let before = State::read(session, first, last).await?;
    if before.warehouses() != plan.warehouses as usize {
        return Err(Error::integrity(format!(
            "of the warehouses {first} to {last} only {} are there: load the data anew with --replace",
            before.warehouses()
        )));
    }
    let age = before.orders_since_load();
    if age > 0 {
        let why = format!("the data are not as loaded: {age} orders have been entered since (5.5.1.3)");
        plan.deviations.push(why);
    }
    Ok(before)
}

/// How the data lie now, read in a session of its own that may be given up. A run doesn't fail for it.
async fn topology_of(url: &Url) -> Topology {
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
fn planned(gateways: &[Gateway], homes: &[Vec<usize>]) -> Vec<GatewayPlan> {
    let plan = |(index, gateway): (usize, &Gateway)| GatewayPlan {
        url: gateway.url.to_string(),
        connections: homes.iter().flatten().filter(|home| **home == index).count() as u32,
        first_warehouse: *gateway.warehouses.start() as u32,
        warehouses: gateway.warehouses.clone().count() as u32,
    };
    gateways.iter().enumerate().map(plan).collect()
}

fn slice(plan: &Plan) -> RangeInclusive<i32> {
    let first = plan.first_warehouse as i32;
    first..=first + plan.warehouses as i32 - 1
}

/// Reads the state after the run, through a gateway that has outlived it.
async fn read_state(gateways: &Gateways, plan: &Plan) -> Result<State, Error> {
    let (first, last) = slice(plan).into_inner();
    State::read(&mut Session::connect(gateways.living().await?.first()).await?, first, last).await
}

/// The warehouses that this client drives, and, if others drive the rest, those of all: 1 to that.
fn driven(options: &Options, loaded: i32) -> Result<(RangeInclusive<i32>, Option<i32>), String> {
    let first = options.first_warehouse;
    let warehouses = match options.warehouses {
        Some(warehouses) => warehouses,
        None if first <= loaded => loaded - first + 1,
        None => return Err(format!("--first-warehouse {first}: only {loaded} are loaded")),
    };
    let last = first.saturating_add(warehouses - 1);
    if last > loaded {
        return Err(format!(
            "warehouses {first} to {last} were asked for, but only {loaded} are loaded: ask for fewer, or load more"
        ));
    }
    if let Some(worker) = options.start.worker {
        return Ok((worker.slice(warehouses)?, Some(warehouses)));
    }
    match options.total_warehouses {
        Some(total) if total < last || total > loaded => Err(format!(
            "--total-warehouses {total} must lie between this client's last warehouse, {last}, and the {loaded} that \
             are loaded"
        )),
        total => Ok((first..=last, total)),
    }
}

/// The plan of the run, with all that it leaves or bends of the standard, and the gateways that it uses.
fn plan(options: &Options, catalog: &Catalog, description: &Description) -> Result<(Plan, Vec<Gateway>), RunError> {
    let usage = |message: String| RunError::Usage(message);
    let dialect = options.gateways.dialect();
    let (driven, fleet_drives) = driven(options, catalog.warehouses).map_err(usage)?;
    let (first, last) = (*driven.start(), *driven.end());
    let warehouses = last - first + 1;
    let total = fleet_drives.unwrap_or(warehouses);
    let isolation = options.isolation.unwrap_or(dialect.default_isolation());
    if !dialect.isolations().contains(&isolation) {
        let offered: Vec<String> = dialect.isolations().iter().map(ToString::to_string).collect();
        return Err(usage(format!(
            "{} does not offer the isolation level {isolation}: it has {}",
            dialect.name(),
            offered.join(", ")
        )));
    }

    options.style.require(dialect).map_err(usage)?;

    let gateways = dealing::gateways(&options.gateways, options.affinity, catalog.warehouses, &(first..=last));
    let gateways = gateways.map_err(usage)?;
    let standard_terminals = warehouses as u32 * ::tpcc::TERMINALS_PER_WAREHOUSE as u32;
    let suited = || suited_connections(dialect, warehouses as u32).max(gateways.len() as u32);
    let connections = options.connections.unwrap_or_else(suited);
    if (connections as usize) < gateways.len() {
        return Err(usage(format!(
            "--connections {connections} for {} gateways: each needs one at least",
            gateways.len()
        )));
    }
    let waits = options.pacing != Pacing::None;
    let terminals = options.terminals.unwrap_or(if waits { standard_terminals } else { connections });
    let threads =
        std::thread::available_parallelism().map_or(1, |n| n.get() as u32).min(connections).min(terminals).max(1);

    let mut left_standard = Vec::new();
    match options.pacing {
        Pacing::Standard => {}
        Pacing::None => left_standard.push("no keying and think times (5.2.5)".to_owned()),
        Pacing::Factor(factor) => left_standard.push(format!("keying and think times multiplied by {factor} (5.2.5)")),
    }
    if !options.mix.is_standard() {
        left_standard.push(format!("the mix {} (5.2.3)", options.mix));
    }
    if terminals != standard_terminals {
        left_standard.push(record::merge::left_by_terminals(terminals, standard_terminals));
    }
    if !dialect.passes_clause_3_4(isolation) {
        left_standard.push(format!("isolation level {isolation} (3.4.1)"));
    }
    let mut deviations = description.deviations.clone();
    if warehouses < catalog.warehouses && fleet_drives.is_none() {
        deviations.push(format!("{warehouses} of {} warehouses are driven (4.2.2)", catalog.warehouses));
    }

    let constants = BTreeMap::from([
        ("c_last_load".into(), i64::from(catalog.load.c_last)),
        ("c_last_run".into(), i64::from(catalog.run.c_last)),
        ("c_id_run".into(), i64::from(catalog.run.c_id)),
        ("ol_i_id_run".into(), i64::from(catalog.run.ol_i_id)),
    ]);
    let plan = Plan {
        workload: "tpcc".into(),
        warehouses: warehouses as u32,
        first_warehouse: first as u32,
        total_warehouses: total as u32,
        loaded_warehouses: catalog.warehouses as u32,
        pacing: options.pacing,
        style: options.style.to_string(),
        isolation: isolation.to_string(),
        mix: options.mix.to_string(),
        ceiling_per_warehouse: options.mix.ceiling_per_warehouse(),
        connections,
        affinity: options.affinity.to_string(),
        gateways: Vec::new(),
        terminals,
        threads,
        ramp_seconds: options.ramp.as_secs_f64(),
        duration_seconds: options.duration.as_secs_f64(),
        start_at: options.start.at,
        initial_delay_seconds: options.start.initial_delay.as_secs_f64(),
        region: options.region.clone(),
        statements: options.statements,
        seed: options.seed,
        load_seed: catalog.seed,
        constants,
        transactions: rules::transactions(&options.mix),
        tallies: rules::tallies(total),
        skips: Some(rules::skips()),
        scale: rules::scale(),
        standard_interval_seconds: ::tpcc::limits::MEASUREMENT_INTERVAL_SECONDS as f64,
        interval_clause: "5.5.2.1".into(),
        steady_state_clause: "5.5.1.1".into(),
        percentile_clause: "5.2.5.6".into(),
        errors_clause: "2.3.6".into(),
        left_standard,
        deviations,
    };
    Ok((plan, gateways))
}

/// A book of the warehouses that the run drives.
fn empty_ledger(plan: &Plan) -> Ledger {
    Ledger::new(plan.first_warehouse as i32, plan.warehouses)
}

/// The active warehouses from which remote ones are drawn: those of all clients, or this one's.
fn active(plan: &Plan) -> Warehouses {
    match plan.total_warehouses > plan.warehouses {
        true => Warehouses { first: 1, count: plan.total_warehouses as i32 },
        false => Warehouses { first: plan.first_warehouse as i32, count: plan.warehouses as i32 },
    }
}

/// The terminals of a run: spread over the warehouses, each fixed to a warehouse and a district.
fn terminals(options: &Options, prepared: &Prepared) -> Vec<Terminal> {
    let plan = &prepared.plan;
    let (warehouses, active) = (plan.warehouses as u64, active(plan));
    (0..u64::from(plan.terminals))
        .map(|at| {
            let w_id = plan.first_warehouse as i32 + (at % warehouses) as i32;
            let d_id = (at / warehouses % ::tpcc::DISTRICTS_PER_WAREHOUSE as u64) as i32 + 1;
            // Numbered over the whole database, so that no two clients share a stream.
            let number = (w_id as u64 - 1) + (at / warehouses) * plan.loaded_warehouses as u64;
            Terminal::new(plan.seed, number, w_id, d_id, active, prepared.catalog.run, options.mix)
        })
        .collect()
}

/// Starts the shards, collects what they measure, and waits for their end.
fn drive(
    options: &Options,
    prepared: &Prepared,
    meeting: Option<&Meeting>,
    stop: &Stop,
    make_folder: impl FnOnce(&Plan) -> Result<RunFolder, RecordError>,
    record: &mut RunRecord,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(RunFolder, Vec<Remains>), RunError> {
    let plan = &prepared.plan;
    let threads = plan.threads as usize;
    let lines = match options.affinity {
        Affinity::None => 1,
        Affinity::Warehouse => prepared.gateways.len(),
    };
    let mut terminals_of: Vec<Vec<(Terminal, usize)>> = (0..threads).map(|_| Vec::new()).collect();
    let mut seats: Vec<_> = (0..lines)
        .map(|line| dealing::seats(&prepared.homes, |home| home % lines == line).into_iter().cycle())
        .collect();
    for terminal in terminals(options, prepared) {
        let serves = |gateway: &Gateway| gateway.warehouses.contains(&terminal.w_id());
        // Without affinity all gateways serve all warehouses, and the first line is the only one.
        let line = prepared.gateways.iter().position(serves).unwrap_or(0);
        let thread = seats[line].next().unwrap_or(0);
        terminals_of[thread].push((terminal, line));
    }

    let (give_up, given_up) = watch::channel(false);
    let (ready, readiness) = mpsc::channel();
    let (handover, inbox) = mpsc::channel();
    let (mut shards, mut starts, mut spares) = (Vec::new(), Vec::new(), Vec::new());
    for (number, terminals) in terminals_of.into_iter().enumerate() {
        let shard_plan = ShardPlan {
            number,
            gateways: prepared.gateways.iter().map(|gateway| gateway.url.clone()).collect(),
            homes: prepared.homes[number].clone(),
            lines,
            terminals,
            profile: Profile { style: options.style, isolation: prepared.isolation },
            statements: plan.statements,
            factor: PlannedPacing::factor(plan.pacing),
            ramp: options.ramp,
            duration: options.duration,
            initial_delay: options.start.initial_delay,
            ledger: empty_ledger(plan),
            keeps_journal: prepared.before.is_some(),
        };
        let (start, go) = mpsc::channel();
        let (spare, empties) = mpsc::channel();
        // One to record into, one for the swap, so that no shard ever waits for the collector.
        for _ in 0..2 {
            let _ = spare.send(Box::new(Recorder::new(plan)));
        }
        let (ready, handover, stop) = (ready.clone(), handover.clone(), [stop.clone(), given_up.clone()]);
        let thread = std::thread::Builder::new()
            .name(format!("shard-{number}"))
            .spawn(move || shard::run(shard_plan, &ready, &go, &handover, &empties, stop))
            .map_err(|e| RunError::Machine(format!("can't start a thread: {e}")))?;
        shards.push(thread);
        starts.push(start);
        spares.push(spare);
    }
    drop((ready, handover));
    for _ in 0..threads {
        readiness.recv().map_err(|_| RunError::Machine("a driver thread ended before the start".into()))??;
    }

    let (run_start, fleet) = start(options, meeting)?;
    // Only now, so that a run that can't start leaves no folder behind.
    let folder = make_folder(plan)?;
    let run_start = run_start.unwrap_or_else(|| Instant::now() + SHORTLY);
    let run_start_wall = SystemTime::now() + run_start.saturating_duration_since(Instant::now());
    let clocks = Clocks { run_start, run_start_wall, ramp: options.ramp };
    record.fleet = fleet;
    let timestamp = |at: SystemTime| jiff::Timestamp::try_from(at).ok();
    record.started_at = timestamp(clocks.run_start_wall);
    record.measured_from = timestamp(clocks.run_start_wall + options.ramp);
    let deliveries = folder.file(DELIVERIES);
    let files = Files {
        timeline: folder.timeline(plan)?,
        latency: folder.latency_log(record.started_at.unwrap_or_default(), plan)?,
        deliveries: DeliveryFile::create(&deliveries).map_err(|e| RecordError::io("create", &deliveries, e))?,
        acknowledged: prepared.before.as_ref().map(|before| open_ledger(&folder, before)).transpose()?,
    };
    // From now on the folder is a run's, whatever happens to this process.
    folder.write_record(record)?;
    for start in &starts {
        let _ = start.send(run_start);
    }

    let patience = Patience::new(options.on_error, give_up);
    let mut collector = Collector::new(record, &folder, files, clocks, threads, patience);
    collector.collect(&inbox, &spares, &mut |second| observe(Event::Second(second)))?;
    let remains: Option<Vec<Remains>> = shards.into_iter().map(|shard| shard.join().ok().flatten()).collect();
    let remains = remains.ok_or_else(|| RunError::Machine("a driver thread failed".into()))?;
    collector.end_ledger(remains.iter().map(|shard| shard.abandoned).sum())?;
    let (measured_cpu, stopped) = (collector.measured_cpu, collector.stopped_because());

    let measured = remains.iter().map(|shard| shard.measured).min().unwrap_or_default();
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
    Ok((folder, remains))
}

/// Begins the ledger of what will be acknowledged with the state before the run.
fn open_ledger(folder: &RunFolder, before: &State) -> Result<File, RecordError> {
    let path = folder.file(ACKNOWLEDGED);
    let mut file = File::create_new(&path).map_err(|e| RecordError::io("create", &path, e))?;
    file.write_all(&before.opening()).map_err(|e| RecordError::io("write", &path, e))?;
    Ok(file)
}

/// From now to a start that nobody set.
const SHORTLY: Duration = Duration::from_millis(20);

/// The start that was set, by the fleet or by its time, and this client's part in the fleet.
fn start(options: &Options, meeting: Option<&Meeting>) -> Result<(Option<Instant>, Option<FleetPart>), RunError> {
    if let Some(meeting) = meeting {
        let (start, clock) = runtime()?.block_on(meeting.start())?;
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

/// What was acknowledged against what the database gained.
fn reconciliation(before: &State, after: &State, ledger: &Ledger, abandoned: usize) -> Reconciliation {
    let held = reconcile(before, after, ledger);
    let mut passed = held.iter().all(|item| item.passed());
    let count = |n: i64| u64::try_from(n).unwrap_or(0);
    let faults: Vec<&str> =
        held.iter().flat_map(|item| item.missing.iter().chain(&item.surplus)).map(String::as_str).collect();
    let mut detail = match faults.as_slice() {
        [] => "everything acknowledged is there, and nothing else".to_owned(),
        [first, ..] => format!("{} places differ, such as {first}", faults.len()),
    };
    if abandoned > 0 {
        passed = false;
        detail = format!("{abandoned} transactions had not ended 30 s after the interval; {detail}");
    }
    let checked = held
        .iter()
        .map(|item| ReconciledItem {
            name: item.name.into(),
            acknowledged: count(item.acknowledged),
            gained: count(item.gained),
            unknown: count(item.unknown),
            missing: item.missing.len() as u64,
        })
        .collect();
    Reconciliation { checked, passed, detail }
}

fn client_machine() -> Client {
    let os = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Client {
        os: format!("{} {}", std::env::consts::OS, os.trim()).trim_end().to_owned(),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        memory_bytes: tare::machine_memory_bytes(),
    }
}
