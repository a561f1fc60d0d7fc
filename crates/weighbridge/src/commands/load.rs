//! `weighbridge load`: schema, rows, keys, statistics.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use drive::fleet::{JoinRequest, Rendezvous, Worker};
use target::placement::Placement;
use target::{Dialect, Gateways, Session};
use workload::AnyWorkload;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::load::{
    Existing, LoadError, LoadPlan, LoadProgress, LoadReport, Transport, add_foreign_keys, begin, load,
};

use super::{Ended, Failure, Status, announce, gateways, require_data, runtime, slice, slice_of};
use crate::cli::{ClusterArgs, LoadArgs, Localities};
use crate::progress::Progress;
use crate::{interrupt, output};

pub(crate) fn run(args: &LoadArgs) -> Ended {
    if let AnyWorkload::Custom(custom) = AnyWorkload::read(&args.workload).map_err(Failure::Usage)? {
        return super::load_custom::run(args, &custom);
    }
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "load")?;
    let runtime = runtime()?;
    if args.foreign_keys_only {
        return foreign_keys(&runtime, &gateways, args.json.enabled);
    }
    let begun = match args.resume {
        true => Some(runtime.block_on(read_catalog(&gateways))?),
        false => None,
    };
    let plan = plan(args, &gateways, begun.map(|begun| begun.warehouses))?;
    let (first_warehouse, warehouses) = (plan.first_warehouse, plan.warehouses);
    let (report, seconds) = match args.fleet.part.worker().map_err(Failure::Usage)? {
        // What was begun is there for each slice by itself.
        Some(worker) if !args.resume => {
            let request = request(args, worker, &plan);
            with_others(&runtime, &gateways, plan, request, args.view.live())?
        }
        _ => with_progress(&runtime, &gateways, plan, args.view.live())?,
    };
    if args.json.enabled {
        output::print_json(&json(warehouses, &report, seconds))?;
    } else {
        let text = text(&gateways, (first_warehouse, warehouses), &report, seconds, args.resume);
        output::print(&text)?;
    }
    if let Some(hint) = gateways.dialect().after_load().filter(|_| report.complete) {
        say!("{hint}");
    }
    Ok(Status::Done)
}

/// What is to be loaded, where so many warehouses were begun with; refused if the database lacks something for it.
pub(super) fn plan(args: &LoadArgs, gateways: &Gateways, begun_warehouses: Option<i32>) -> Result<LoadPlan, Failure> {
    let worker = args.fleet.part.worker().map_err(Failure::Usage)?;
    let existing = match (args.replace, args.resume) {
        (true, _) => Existing::Replace,
        (_, true) => Existing::Resume,
        _ => Existing::Refuse,
    };
    let whole = begun_warehouses.filter(|_| args.warehouses.is_none() && args.first_warehouse == 1);
    let warehouses = args.warehouses.or(whole).unwrap_or(1);
    let (first_warehouse, warehouses, total) = match worker {
        Some(worker) => {
            let (first, slice) = slice_of(worker, warehouses)?;
            (first, slice, warehouses)
        }
        None => {
            let total = args.total_warehouses.or(begun_warehouses.filter(|_| args.warehouses.is_none()));
            slice(args.first_warehouse, warehouses, total)?
        }
    };
    if existing == Existing::Replace && first_warehouse > 1 && worker.is_none() {
        return Err(Failure::Usage(
            "--replace goes with the client that loads warehouse 1: the others join its load".to_owned(),
        ));
    }
    let load_time = args.load_time.unwrap_or_else(jiff::Timestamp::now);
    let mut catalog = Catalog::new(args.seed, total, load_time.as_second() * 1_000_000, args.foreign_keys);
    catalog.placement = placement(&args.cluster, gateways.dialect(), total);
    let plan = LoadPlan {
        first_warehouse,
        warehouses,
        catalog,
        jobs: jobs(gateways, args.jobs),
        existing,
        transport: transport(&args.cluster),
        snapshot_rate: args.cluster.snapshot_rate.clone(),
        settle: args.cluster.settle,
    };
    plan.check(gateways.dialect()).map_err(Failure::Usage)?;
    Ok(plan)
}

/// What a worker comes to the others with: the same data must be meant by all.
fn request(args: &LoadArgs, worker: Worker, plan: &LoadPlan) -> JoinRequest {
    let catalog = &plan.catalog;
    let date = args.load_time.map_or_else(|| "that of the first worker".to_owned(), |date| date.to_string());
    let facts = vec![
        ("warehouses of the whole database", catalog.warehouses.to_string()),
        ("seed", catalog.seed.to_string()),
        ("date", date),
        ("foreign keys", catalog.foreign_keys.to_string()),
        ("placement", catalog.placement.to_string()),
        ("--replace", args.replace.to_string()),
    ];
    JoinRequest { worker, task: "load", facts, seed: catalog.seed, wait: args.fleet.fleet_wait }
}

/// Loads a slice beside the other workers of a fleet: worker 1 makes the tables once all are there, and none goes on
/// before all are done.
fn with_others(
    runtime: &tokio::runtime::Runtime,
    gateways: &Gateways,
    mut plan: LoadPlan,
    request: JoinRequest,
    live: bool,
) -> Result<(LoadReport, f64), Failure> {
    let worker = request.worker;
    announce(worker, request.wait);
    let rendezvous = runtime.block_on(async {
        let rendezvous = Rendezvous::join(gateways, request, &interrupt::stop()).await?;
        if worker.number() == 1 {
            plan = begin(gateways, plan).await?;
            rendezvous.ready().await?;
        } else {
            plan.existing = Existing::Refuse;
            rendezvous.first_is_ready().await?;
        }
        Ok::<_, Failure>((rendezvous, plan))
    });
    let (rendezvous, plan) = rendezvous?;
    let (mut report, seconds) = with_progress(runtime, gateways, plan, live)?;
    let lost: Vec<String> = runtime.block_on(rendezvous.end(None)).iter().map(|lost| lost.worker.to_string()).collect();
    if !lost.is_empty() {
        let of = worker.count();
        return Err(Failure::Failed(format!(
            "this slice is loaded, but worker {} of {of} was lost: weighbridge load --resume --shard I/{of} loads a lost slice",
            lost.join(", ")
        )));
    }
    report.complete = runtime.block_on(read_catalog(gateways))?.complete;
    Ok((report, seconds))
}

/// More ranges than this are not cut if nobody asks for a number.
const USUAL_RANGES: u32 = 1000;

/// What was asked for, with what the database takes where nothing was said.
fn placement(args: &ClusterArgs, dialect: &dyn Dialect, warehouses: i32) -> Placement {
    let named = match &args.localities {
        Some(Localities::None) => Some(Vec::new()),
        Some(Localities::Named(names)) => Some(names.clone()),
        None => None,
    };
    let usual = || args.partitions.map_or(Vec::new(), |partitions| dialect.usual_localities(partitions));
    Placement {
        keys: warehouses,
        partitions: args.partitions,
        localities: named.unwrap_or_else(usual),
        ranges: args.split.map(|ranges| ranges.unwrap_or(USUAL_RANGES.min(warehouses.unsigned_abs()))),
        scatter: args.scatter,
        tablets: args.tablets,
        sharding: args.sharding,
    }
}

fn transport(args: &ClusterArgs) -> Transport {
    match (args.import_listen, &args.import_from, args.copy_batch) {
        (Some(listen), _, _) => Transport::Served { listen, url: args.import_url.clone() },
        (_, Some(from), _) => Transport::Fetched { from: from.clone() },
        (_, _, Some(rows)) => Transport::CopyInCommits(rows),
        _ => Transport::Copy,
    }
}

/// Refuses foreign keys after the load where the database can't add them.
pub(super) fn require_late_foreign_keys(dialect: &dyn Dialect) -> Result<(), Failure> {
    match dialect.foreign_keys_after_load() {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{} can't add foreign keys after the load: load with --foreign-keys",
            dialect.name()
        ))),
    }
}

/// Declares the foreign keys of data that are loaded.
fn foreign_keys(runtime: &tokio::runtime::Runtime, gateways: &Gateways, json: bool) -> Ended {
    super::require_file(gateways.first())?;
    let dialect = gateways.dialect();
    require_late_foreign_keys(dialect)?;
    let begun = runtime.block_on(read_catalog(gateways))?;
    if let Some(why) = dialect.refuses_foreign_keys(&begun.placement) {
        return Err(Failure::Usage(format!("--foreign-keys-only: {why}")));
    }
    let started = Instant::now();
    let progress = Arc::new(LoadProgress::default());
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    runtime.block_on(add_foreign_keys(gateways, progress))?;
    let seconds = started.elapsed().as_secs_f64();
    if json {
        output::print_json(&serde_json::json!({ "foreign_keys": true, "seconds": seconds }))?;
    } else {
        output::print(&format!("declared and verified the foreign keys of {gateways} in {seconds:.1} s"))?;
    }
    Ok(Status::Done)
}

async fn read_catalog(gateways: &Gateways) -> Result<Catalog, Failure> {
    super::require_file(gateways.first())?;
    Ok(Catalog::read(&mut Session::connect(gateways.first()).await?).await?)
}

/// Sessions that load side by side.
pub(super) fn jobs(gateways: &Gateways, asked: Option<u16>) -> usize {
    if !gateways.dialect().parallel_writers() {
        return 1;
    }
    asked.map_or_else(|| gateways.default_sessions(), usize::from)
}

/// Loads, with progress on standard error, or in a live view; Ctrl-C ends it in order. Says how many seconds that took,
/// waits for other workers left out, and those for the display.
pub(super) fn with_progress(
    runtime: &tokio::runtime::Runtime,
    gateways: &Gateways,
    plan: LoadPlan,
    live: bool,
) -> Result<(LoadReport, f64), LoadError> {
    let progress = Arc::new(LoadProgress::default());
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    let last = plan.first_warehouse + plan.warehouses - 1;
    let title = format!("load of warehouses {} to {last} into {gateways}", plan.first_warehouse);
    let _shown = Progress::of_load(title, live, progress.clone());
    let started = Instant::now();
    let report = runtime.block_on(load(gateways, plan, progress))?;
    Ok((report, started.elapsed().as_secs_f64()))
}

fn text(
    gateways: &Gateways,
    (first, warehouses): (i32, i32),
    report: &LoadReport,
    seconds: f64,
    resumed: bool,
) -> String {
    let rows: u64 = report.rows.values().sum();
    let which = match warehouses {
        1 => format!("warehouse {first}"),
        _ => format!("warehouses {first} to {}", first + warehouses - 1),
    };
    let megabytes = report.bytes as f64 / 1e6;
    // How many of the rows are of an earlier attempt, the report doesn't tell.
    let pace = match resumed {
        true => format!("of which this attempt sent {megabytes:.1} MB in {seconds:.1} s"),
        false => format!("{megabytes:.1} MB in {seconds:.1} s ({:.0} rows/s)", rows as f64 / seconds.max(1e-3)),
    };
    let mut text = format!("loaded {which} into {gateways}: {rows} rows, {pace}");
    if !report.complete {
        text.push_str("\nother slices are still to come: the last client to end makes keys, indexes and statistics");
    }
    text
}

fn json(warehouses: i32, report: &LoadReport, seconds: f64) -> serde_json::Value {
    let tables: serde_json::Map<String, serde_json::Value> =
        report.rows.iter().map(|(table, rows)| ((*table).to_owned(), serde_json::json!({ "rows": rows }))).collect();
    serde_json::json!({
        "warehouses": warehouses,
        "rows": report.rows.values().sum::<u64>(),
        "bytes": report.bytes,
        "seconds": seconds,
        "complete": report.complete,
        "tables": tables,
    })
}
