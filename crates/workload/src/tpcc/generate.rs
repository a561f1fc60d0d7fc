//! The initial rows as CSV files, for loaders of other makers.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ::tpcc::population::Population;
use target::bulk::Csv;
use target::schema::Table;

use super::rows;
use super::schema::TABLES;

/// Which part of which database to generate.
#[derive(Clone, Copy, Debug)]
pub struct GeneratePlan {
    /// The rows.
    pub population: Population,
    /// The first warehouse of the slice. ITEM comes with warehouse 1.
    pub first_warehouse: i32,
    /// How many warehouses.
    pub warehouses: i32,
    /// Whether the slice is the whole database; otherwise its numbers are part of the files' names.
    pub whole: bool,
    /// Threads.
    pub jobs: usize,
}

/// A file that was written.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The table.
    pub table: &'static str,
    /// Where its rows are.
    pub path: PathBuf,
    /// How many.
    pub rows: u64,
    /// How large.
    pub bytes: u64,
}

/// How far it has come.
#[derive(Debug, Default)]
pub struct GenerateProgress {
    /// Rows expected in all.
    pub expected_rows: AtomicU64,
    /// Rows written.
    pub rows: AtomicU64,
    /// Set from outside to end early.
    pub stop: AtomicBool,
}

/// Bytes gathered before they go to the file.
const CHUNK_BYTES: usize = 1 << 20;

/// Writes one file a table into `folder`: `stock.csv`, or `stock.11-20.csv` for a slice. Rows stand in the order of the key.
///
/// # Errors
/// A file that can't be written (its name is part of the message), or the stop asked for.
pub fn generate(plan: &GeneratePlan, folder: &Path, progress: &GenerateProgress) -> io::Result<Vec<Generated>> {
    let tables: Vec<&'static Table> =
        TABLES.into_iter().filter(|table| !rows::global(table) || plan.first_warehouse == 1).collect();
    let expected =
        |table: &&'static Table| rows::expected(table) * if rows::global(table) { 1 } else { plan.warehouses as u64 };
    progress.expected_rows.store(tables.iter().map(expected).sum(), Ordering::Relaxed);

    // The largest first; each thread takes the next table when it is done with one.
    let mut open = tables;
    open.sort_by_key(expected);
    let open = Mutex::new(open);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.jobs.max(1))
            .map(|_| {
                scope.spawn(|| -> io::Result<()> {
                    while let Some(table) = open.lock().ok().and_then(|mut open| open.pop()) {
                        let written = write_table(plan, table, folder, progress)?;
                        if let Ok(mut done) = done.lock() {
                            done.push(written);
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(_) => Err(io::Error::other("a thread of the generator failed")),
        })
    })?;
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|file: &Generated| file.table);
    Ok(done)
}

/// The name of a table's file: a slice's numbers are part of it.
pub(super) fn file_name(table: &Table, first: i32, last: i32, whole: bool) -> String {
    match whole {
        true => format!("{}.csv", table.name),
        false => format!("{}.{first}-{last}.csv", table.name),
    }
}

fn write_table(
    plan: &GeneratePlan,
    table: &'static Table,
    folder: &Path,
    progress: &GenerateProgress,
) -> io::Result<Generated> {
    let last = plan.first_warehouse + plan.warehouses - 1;
    let path = folder.join(file_name(table, plan.first_warehouse, last, plan.whole));
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
    let mut file = File::create_new(&path).map_err(named)?;
    let (mut csv, mut rows, mut bytes) = (Csv::default(), 0, 0);
    let warehouses = if rows::global(table) { 0..=0 } else { plan.first_warehouse..=last };
    for piece in warehouses.flat_map(rows::pieces) {
        if progress.stop.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted: the files are not complete"));
        }
        let written = rows::write(&plan.population, table, piece, &mut csv);
        rows += written;
        progress.rows.fetch_add(written, Ordering::Relaxed);
        if csv.len() >= CHUNK_BYTES {
            bytes += flush(&mut csv, &mut file).map_err(named)?;
        }
    }
    bytes += flush(&mut csv, &mut file).map_err(named)?;
    Ok(Generated { table: table.name, path, rows, bytes })
}

fn flush(csv: &mut Csv, file: &mut File) -> io::Result<u64> {
    file.write_all(csv.rows())?;
    let bytes = csv.len() as u64;
    csv.clear();
    Ok(bytes)
}
