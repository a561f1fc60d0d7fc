//! `weighbridge load`: schema, rows, keys, statistics.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use drive::fleet::{JoinRequest, Rendezvous, Worker};
use target::{Gateways, Session};
use tokio::runtime::Runtime;
use workload::{AnyWorkload, Existing, LoadFlags, LoadProgress, Loaded, Transport, Workload, WorkloadError, dispatch};

use super::{Ended, Failure, Status, announce, gateways, require_data, require_file, runtime};
use crate::cli::{ClusterArgs, LoadArgs, Localities};
use crate::progress::Progress;
use crate::{interrupt, output};

pub(crate) fn run(args: &LoadArgs) -> Ended {
    let workload = AnyWorkload::read(&args.workload).map_err(Failure::Usage)?;
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "load")?;
    if args.resume || args.foreign_keys_only {
        require_file(gateways.first())?;
    }
    dispatch!(&workload, workload => load(workload, &gateways, args))
}

fn load<W: Workload>(workload: &W, gateways: &Gateways, args: &LoadArgs) -> Ended {
    let runtime = runtime()?;
    if args.foreign_keys_only {
        return add_foreign_keys(workload, &runtime, gateways, args.json.enabled);
    }
    let flags = flags(args)?;
    let plan = runtime.block_on(workload.plan_load(gateways, &flags)).map_err(Failure::from_workload)?;
    let live = args.view.live();
    let (loaded, seconds) = match flags.worker {
        // What was begun is there for each slice by itself.
        Some(worker) if !args.resume => {
            let facts = workload.load_facts(&plan, &flags);
            let request = JoinRequest { worker, task: "load", facts, seed: flags.seed, wait: args.fleet.fleet_wait };
            load_in_fleet(workload, &runtime, gateways, plan, request, live)?
        }
        _ => with_progress(workload, &runtime, gateways, plan, live)?,
    };
    if args.json.enabled {
        output::print_json(&json(&loaded, seconds))?;
    } else {
        output::print(&text(gateways, &loaded, seconds, args.resume))?;
    }
    if let Some(hint) = gateways.dialect().after_load().filter(|_| loaded.complete) {
        say!("{hint}");
    }
    Ok(Status::Done)
}

/// What the flags say to the workload.
pub(super) fn flags(args: &LoadArgs) -> Result<LoadFlags, Failure> {
    let cluster = &args.cluster;
    let localities = cluster.localities.as_ref().map(|localities| match localities {
        Localities::None => Vec::new(),
        Localities::Named(names) => names.clone(),
    });
    let existing = match (args.replace, args.resume) {
        (true, _) => Existing::Replace,
        (_, true) => Existing::Resume,
        _ => Existing::Refuse,
    };
    Ok(LoadFlags {
        seed: args.seed,
        jobs: args.jobs,
        existing,
        scale: args.custom.scale,
        warehouses: args.warehouses,
        first_warehouse: args.first_warehouse,
        total_warehouses: args.total_warehouses,
        worker: args.fleet.part.worker().map_err(Failure::Usage)?,
        foreign_keys: args.foreign_keys,
        load_time: args.load_time,
        partitions: cluster.partitions,
        localities,
        split: cluster.split,
        scatter: cluster.scatter,
        tablets: cluster.tablets,
        sharding: cluster.sharding,
        transport: transport(cluster),
        snapshot_rate: cluster.snapshot_rate.clone(),
        settle: cluster.settle,
    })
}

fn transport(args: &ClusterArgs) -> Transport {
    match (args.import_listen, &args.import_from, args.copy_batch) {
        (Some(listen), _, _) => Transport::Served { listen, url: args.import_url.clone() },
        (_, Some(from), _) => Transport::Fetched { from: from.clone() },
        (_, _, Some(rows)) => Transport::CopyInCommits(rows),
        _ => Transport::Copy,
    }
}

/// Loads a slice beside the other workers of a fleet: worker 1 makes the tables once all are there, and no worker goes
/// on before all are done.
fn load_in_fleet<W: Workload>(
    workload: &W,
    runtime: &Runtime,
    gateways: &Gateways,
    plan: W::LoadPlan,
    request: JoinRequest,
    live: bool,
) -> Result<(Loaded, f64), Failure> {
    let worker = request.worker;
    announce(worker, request.wait);
    let rendezvous = runtime.block_on(Rendezvous::join(gateways, request, &interrupt::stop()))?;
    let plan = if worker.number() == 1 {
        let plan = runtime.block_on(workload.begin_load(gateways, plan)).map_err(Failure::from_workload)?;
        runtime.block_on(rendezvous.ready())?;
        plan
    } else {
        runtime.block_on(rendezvous.first_is_ready())?;
        workload.join_load(plan)
    };
    let (mut loaded, seconds) = with_progress(workload, runtime, gateways, plan, live)?;
    require_all(worker, &runtime.block_on(rendezvous.end(None)))?;
    let complete = async { workload.is_loaded(&mut Session::connect(gateways.first()).await?).await };
    loaded.complete = runtime.block_on(complete).map_err(Failure::from_workload)?;
    Ok((loaded, seconds))
}

/// Refuses a fleet's load that lacks the slices of lost workers.
fn require_all(worker: Worker, lost: &[record::run::LostWorker]) -> Result<(), Failure> {
    if lost.is_empty() {
        return Ok(());
    }
    let workers = worker.count();
    let lost: Vec<String> = lost.iter().map(|lost| lost.worker.to_string()).collect();
    Err(Failure::Failed(format!(
        "this slice is loaded, but worker {} of {workers} was lost: weighbridge load --resume --shard I/{workers} loads a lost slice",
        lost.join(", ")
    )))
}

/// Loads with progress on standard error or in a live view; Ctrl-C ends the load in order. The seconds leave out waits
/// for other workers and for the display.
pub(super) fn with_progress<W: Workload>(
    workload: &W,
    runtime: &Runtime,
    gateways: &Gateways,
    plan: W::LoadPlan,
    live: bool,
) -> Result<(Loaded, f64), Failure> {
    let progress = stoppable();
    let title = format!("load of {} into {gateways}", workload.load_title(&plan));
    let _shown = Progress::of_load(title, live, progress.clone());
    let started = Instant::now();
    let loaded = runtime.block_on(workload.load(gateways, plan, progress)).map_err(Failure::from_workload)?;
    Ok((loaded, started.elapsed().as_secs_f64()))
}

/// The progress of a load that Ctrl-C ends in order.
fn stoppable() -> Arc<LoadProgress> {
    let progress = Arc::new(LoadProgress::default());
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    progress
}

/// Declares the foreign keys of data that are loaded.
fn add_foreign_keys<W: Workload>(workload: &W, runtime: &Runtime, gateways: &Gateways, json: bool) -> Ended {
    let started = Instant::now();
    let added: Result<(), WorkloadError> = runtime.block_on(workload.add_foreign_keys(gateways, stoppable()));
    added.map_err(Failure::from_workload)?;
    let seconds = started.elapsed().as_secs_f64();
    if json {
        output::print_json(&serde_json::json!({ "foreign_keys": true, "seconds": seconds }))?;
    } else {
        output::print(&format!("declared and verified the foreign keys of {gateways} in {seconds:.1} s"))?;
    }
    Ok(Status::Done)
}

fn text(gateways: &Gateways, loaded: &Loaded, seconds: f64, resumed: bool) -> String {
    let rows: u64 = loaded.rows.values().sum();
    let megabytes = loaded.bytes as f64 / 1e6;
    let pace = if resumed {
        // The rows of an earlier attempt are among them, so there is no rate.
        format!("of which this attempt sent {megabytes:.1} MB in {seconds:.1} s")
    } else {
        format!("{megabytes:.1} MB in {seconds:.1} s ({:.0} rows/s)", rows as f64 / seconds.max(1e-3))
    };
    let mut text = format!("loaded {} into {gateways}: {rows} rows, {pace}", loaded.what);
    if !loaded.complete {
        text.push_str("\nother slices are still to come: the last client to end makes keys, indexes and statistics");
    }
    text
}

fn json(loaded: &Loaded, seconds: f64) -> serde_json::Value {
    let tables: serde_json::Map<String, serde_json::Value> =
        loaded.rows.iter().map(|(table, rows)| ((*table).to_owned(), serde_json::json!({ "rows": rows }))).collect();
    let mut document = serde_json::json!({
        "rows": loaded.rows.values().sum::<u64>(),
        "bytes": loaded.bytes,
        "seconds": seconds,
        "complete": loaded.complete,
        "tables": tables,
    });
    for (name, value) in &loaded.facts {
        document[name] = value.clone();
    }
    document
}
