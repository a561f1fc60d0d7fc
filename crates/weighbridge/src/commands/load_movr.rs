//! `weighbridge load movr`: the data set MovR.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use workload::movr::{Loaded, Options, TABLES, load_all};
use workload::tpcc::load::LoadProgress;

use super::load::jobs;
use super::{Ended, Status, gateways, require_data, runtime};
use crate::cli::LoadArgs;
use crate::progress::{Progress, Reading};
use crate::{interrupt, output};

pub(super) fn run(args: &LoadArgs) -> Ended {
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "load")?;
    let options = Options { scale: args.movr.scale.unwrap_or(1.0), seed: args.seed, foreign_keys: true };
    let progress = Arc::new(LoadProgress::default());
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    let shown = progress.clone();
    let bar = Progress::start("rows", move || Reading {
        done: shown.rows.load(Ordering::Relaxed),
        total: shown.expected_rows.load(Ordering::Relaxed),
        doing: shown.doing.lock().map(|doing| doing.clone()).unwrap_or_default(),
    });
    let started = Instant::now();
    let jobs = jobs(&gateways, args.jobs);
    let loaded = runtime()?.block_on(load_all(&gateways, &options, jobs, args.replace, progress))?;
    let seconds = started.elapsed().as_secs_f64();
    drop(bar);
    if args.json {
        output::print_json(&json(&options, loaded, seconds))?;
    } else {
        output::print(&format!(
            "loaded movr at scale {} into {gateways}: {} rows, {:.1} MB in {seconds:.1} s ({:.0} rows/s)",
            options.scale,
            loaded.rows,
            loaded.bytes as f64 / 1e6,
            loaded.rows as f64 / seconds.max(1e-3),
        ))?;
    }
    Ok(Status::Done)
}

fn json(options: &Options, loaded: Loaded, seconds: f64) -> serde_json::Value {
    let data = options.data();
    let rows = TABLES.iter().zip(movr::Table::ALL).map(|(table, name)| (table.name, data.rows(name)));
    let tables: serde_json::Map<String, serde_json::Value> =
        rows.map(|(table, rows)| (table.to_owned(), serde_json::json!({ "rows": rows }))).collect();
    serde_json::json!({
        "workload": "movr",
        "scale": options.scale,
        "seed": options.seed,
        "rows": loaded.rows,
        "bytes": loaded.bytes,
        "seconds": seconds,
        "tables": tables,
    })
}
