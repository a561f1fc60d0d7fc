//! `weighbridge generate`: the initial rows as files.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use workload::tpcc::catalog::Catalog;
use workload::tpcc::generate::{Destination, Format, GeneratePlan, GenerateProgress, Generated, generate};
use workload::tpcc::load::total_warehouses;
use workload::tpcc::rows;
use workload::tpcc::schema::TABLES;

use super::{Ended, Failure, Status, cores};
use crate::cli::{self, GenerateArgs};
use crate::progress::{Progress, Reading};
use crate::{interrupt, output};

pub(crate) fn run(args: &GenerateArgs) -> Ended {
    let format = match args.format {
        cli::Format::Csv => Format::Csv,
        cli::Format::Parquet => Format::Parquet,
    };
    if !format.is_built_in() {
        let how = "--format parquet: this program was built without it; build it with `cargo build --release --features parquet`";
        return Err(Failure::Usage(how.to_owned()));
    }
    let first_warehouse = args.first_warehouse;
    let warehouses = args.warehouses;
    let total = total_warehouses(first_warehouse, warehouses, args.total_warehouses).map_err(Failure::Usage)?;
    let table = args.table.as_ref().and_then(|name| TABLES.into_iter().find(|table| table.name == name));
    if let Some(table) = table.filter(|table| rows::global(table) && first_warehouse > 1) {
        let whose = format!("--table {} comes with warehouse 1: leave out --first-warehouse", table.name);
        return Err(Failure::Usage(whose));
    }
    let destination = destination(args)?;
    let load_time = args.load_time.unwrap_or_else(jiff::Timestamp::now);
    let catalog = Catalog::new(args.seed, total, load_time.as_second() * 1_000_000, false);
    let plan = GeneratePlan {
        population: catalog.population(),
        first_warehouse,
        warehouses,
        whole: warehouses == total,
        table,
        format,
        jobs: args.jobs.map_or_else(cores, usize::from),
    };

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
    let files = generate(&plan, &destination, &progress).map_err(|e| match destination {
        Destination::StandardOutput if e.kind() == ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => e.into(),
    })?;
    drop(bar);

    let seconds = started.elapsed().as_secs_f64();
    let (rows, bytes) = files.iter().fold((0, 0), |(rows, bytes), file| (rows + file.rows, bytes + file.bytes));
    if args.json.enabled {
        let tables: serde_json::Map<String, serde_json::Value> = files
            .iter()
            .map(|file| {
                let file_json = serde_json::json!({ "rows": file.rows, "bytes": file.bytes, "path": path(file) });
                (file.table.to_owned(), file_json)
            })
            .collect();
        output::print_json(&serde_json::json!({
            "warehouses": warehouses, "rows": rows, "bytes": bytes, "seconds": seconds, "tables": tables,
        }))?;
        return Ok(Status::Done);
    }
    let line =
        |file: &Generated| format!("{:>10} rows  {:>8.1} MB  {}\n", file.rows, file.bytes as f64 / 1e6, path(file));
    let mut text: String = files.iter().map(line).collect();
    text.push_str(&format!("{rows:>10} rows  {:>8.1} MB  in {seconds:.1} s", bytes as f64 / 1e6));
    match destination {
        Destination::Folder(_) => output::print(&text)?,
        Destination::StandardOutput => say!("{text}"),
    }
    Ok(Status::Done)
}

/// Where the rows go; a folder is made.
fn destination(args: &GenerateArgs) -> Result<Destination, Failure> {
    if args.out.as_os_str() != "-" {
        std::fs::create_dir_all(&args.out).map_err(|e| Failure::Failed(format!("{}: {e}", args.out.display())))?;
        return Ok(Destination::Folder(args.out.clone()));
    }
    if args.table.is_none() {
        return Err(Failure::Usage("--out - takes one table: name it with --table".to_owned()));
    }
    if args.json.enabled {
        return Err(Failure::Usage("--json: standard output has the rows already".to_owned()));
    }
    Ok(Destination::StandardOutput)
}

fn path(file: &Generated) -> String {
    file.path.as_ref().map_or_else(|| "standard output".to_owned(), |path| path.display().to_string())
}
