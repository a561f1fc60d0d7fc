//! `weighbridge generate`: the initial rows as files.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use workload::tpcc::catalog::Catalog;
use workload::tpcc::generate::{GeneratePlan, GenerateProgress, generate};

use super::{Ended, Failure, Status, cores, slice};
use crate::cli::{Format, GenerateArgs};
use crate::progress::{Progress, Reading};
use crate::{interrupt, output};

pub(crate) fn run(args: &GenerateArgs) -> Ended {
    let Format::Csv = args.format;
    let (first_warehouse, warehouses, total) = slice(args.first_warehouse, args.warehouses, args.total_warehouses)?;
    let load_time = args.load_time.unwrap_or_else(jiff::Timestamp::now);
    let catalog = Catalog::new(args.seed, total, load_time.as_second() * 1_000_000, false);
    let plan = GeneratePlan {
        population: catalog.population(),
        first_warehouse,
        warehouses,
        whole: warehouses == total,
        jobs: args.jobs.map_or_else(cores, usize::from),
    };
    std::fs::create_dir_all(&args.out).map_err(|e| Failure::Failed(format!("{}: {e}", args.out.display())))?;

    let progress = Arc::new(GenerateProgress::default());
    let stopped = progress.clone();
    interrupt::on_stop(move || stopped.stop.store(true, Ordering::Relaxed));
    let shown = progress.clone();
    let bar = Progress::start("rows", move || Reading {
        done: shown.rows.load(Ordering::Relaxed),
        total: shown.expected_rows.load(Ordering::Relaxed),
        doing: String::new(),
    });
    let started = Instant::now();
    let files = generate(&plan, &args.out, &progress)?;
    drop(bar);

    let seconds = started.elapsed().as_secs_f64();
    let (rows, bytes) = files.iter().fold((0, 0), |(rows, bytes), file| (rows + file.rows, bytes + file.bytes));
    if args.json {
        let tables: serde_json::Map<String, serde_json::Value> = files
            .iter()
            .map(|file| {
                let path = file.path.display().to_string();
                (file.table.to_owned(), serde_json::json!({ "rows": file.rows, "bytes": file.bytes, "path": path }))
            })
            .collect();
        output::print_json(&serde_json::json!({
            "warehouses": warehouses, "rows": rows, "bytes": bytes, "seconds": seconds, "tables": tables,
        }))?;
    } else {
        let mut text = String::new();
        for file in &files {
            text.push_str(&format!(
                "{:>10} rows  {:>8.1} MB  {}\n",
                file.rows,
                file.bytes as f64 / 1e6,
                file.path.display()
            ));
        }
        text.push_str(&format!("{rows:>10} rows  {:>8.1} MB  in {seconds:.1} s", bytes as f64 / 1e6));
        output::print(&text)?;
    }
    Ok(Status::Done)
}
