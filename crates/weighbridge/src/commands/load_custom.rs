//! `weighbridge load` of a workload other than TPC-C: the data set MovR, or the tables of a file.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use target::Gateways;
use workload::custom::file::KnownData;
use workload::custom::{self, Custom, Data};
use workload::data_set::DataSet;
use workload::movr::Options;
use workload::tpcc::load::LoadProgress;

use super::load::jobs;
use super::{Ended, Failure, Status, gateways, require_data, runtime};
use crate::cli::LoadArgs;
use crate::progress::Progress;
use crate::{interrupt, output};

pub(super) fn run(args: &LoadArgs, custom: &Custom) -> Ended {
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "load")?;
    let scale = args.custom.scale.unwrap_or(1.0);
    match custom.data {
        Some(KnownData::Movr) if scale > movr::MAX_SCALE => {
            Err(Failure::Usage(format!("--scale {scale}: movr has at most {}", movr::MAX_SCALE)))
        }
        Some(KnownData::Movr) => {
            let data = Options { scale, seed: args.seed, foreign_keys: true };
            filled(args, &gateways, (custom, scale), &data)
        }
        None => {
            custom.require(gateways.dialect()).map_err(Failure::Usage)?;
            let data = Data::new(custom, scale, args.seed).map_err(Failure::Usage)?;
            // A run would refuse them, when all rows are there.
            let drawn = custom.require_values(&data);
            drawn.map_err(|why| Failure::Usage(format!("at --scale {scale}: {why}")))?;
            filled(args, &gateways, (custom, scale), &data)
        }
    }
}

/// Loads with progress, and says what was loaded.
fn filled(args: &LoadArgs, gateways: &Gateways, (custom, scale): (&Custom, f64), data: &impl DataSet) -> Ended {
    let name = &custom.name;
    let progress = Arc::new(LoadProgress::default());
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    let title = format!("load of {name} at scale {scale} into {gateways}");
    let shown = Progress::of_load(title, args.view.live(), progress.clone());
    let started = Instant::now();
    let what = (data, scale, args.seed);
    let loading = custom::load(gateways, custom, what, jobs(gateways, args.jobs), args.replace, progress);
    let loaded = runtime()?.block_on(loading)?;
    let seconds = started.elapsed().as_secs_f64();
    drop(shown);
    if args.json.enabled {
        let rows = data.tables().iter().enumerate().map(|(at, table)| (table.name, data.rows(at)));
        let tables: serde_json::Map<String, serde_json::Value> =
            rows.map(|(table, rows)| (table.to_owned(), serde_json::json!({ "rows": rows }))).collect();
        output::print_json(&serde_json::json!({
            "workload": name,
            "scale": scale,
            "seed": args.seed,
            "rows": loaded.rows,
            "bytes": loaded.bytes,
            "seconds": seconds,
            "tables": tables,
        }))?;
    } else {
        output::print(&format!(
            "loaded {name} at scale {scale} into {gateways}: {} rows, {:.1} MB in {seconds:.1} s ({:.0} rows/s)",
            loaded.rows,
            loaded.bytes as f64 / 1e6,
            loaded.rows as f64 / seconds.max(1e-3),
        ))?;
    }
    Ok(Status::Done)
}
