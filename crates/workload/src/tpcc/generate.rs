//! The initial rows as files, for loaders of other makers.
//!
//! All threads work at all tables at once: each takes the next chunk of the table that is furthest behind, makes it, and
//! appends it when the chunks before it are there.

mod format;
#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ::tpcc::population::Population;
use target::schema::Table;

use self::format::{Counted, CsvFiles, Files};
use super::rows;
use super::schema::TABLES;

/// The format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated, no header, NULL as an empty field.
    Csv,
    /// Apache Parquet, compressed with Snappy: decimals as DECIMAL, dates as microseconds.
    Parquet,
}

impl Format {
    /// Whether this program was built with it.
    pub fn is_built_in(self) -> bool {
        self == Format::Csv || cfg!(feature = "parquet")
    }

    /// What the files' names end in.
    fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        }
    }
}

/// Where the rows go.
#[derive(Clone, Debug)]
pub enum Destination {
    /// A folder that is there: `stock.csv`, or `stock.11-20.csv` for a slice.
    Folder(PathBuf),
    /// Standard output, for one table.
    StandardOutput,
}

/// Which part of which database to generate.
#[derive(Clone, Debug)]
pub struct GeneratePlan {
    /// The rows.
    pub population: Population,
    /// The first warehouse of the slice. ITEM comes with warehouse 1.
    pub first_warehouse: i32,
    /// How many warehouses.
    pub warehouses: i32,
    /// Whether the slice is the whole database; otherwise its numbers are part of the files' names.
    pub whole: bool,
    /// The one table that is wanted; `None`: all.
    pub table: Option<&'static Table>,
    /// The format.
    pub format: Format,
    /// Threads.
    pub jobs: usize,
}

/// A file that was written.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The table.
    pub table: &'static str,
    /// Where its rows are; `None`: on standard output.
    pub path: Option<PathBuf>,
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

/// Writes the rows of the tables, each in the order of its key.
///
/// # Errors
/// A file that can't be written (its name is part of the message), a format that was not built in, or the stop asked for.
pub fn generate(
    plan: &GeneratePlan,
    destination: &Destination,
    progress: &GenerateProgress,
) -> io::Result<Vec<Generated>> {
    match plan.format {
        Format::Csv => generate_as::<CsvFiles>(plan, destination, progress),
        #[cfg(feature = "parquet")]
        Format::Parquet => generate_as::<parquet::ParquetFiles>(plan, destination, progress),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(io::Error::new(io::ErrorKind::Unsupported, "built without Parquet")),
    }
}

/// The name of a table's CSV file: a slice's numbers are part of it.
pub(super) fn file_name(table: &Table, first: i32, last: i32, whole: bool) -> String {
    format!("{}.{}", stem(table, first, last, whole), Format::Csv.extension())
}

fn stem(table: &Table, first: i32, last: i32, whole: bool) -> String {
    match whole {
        true => table.name.to_owned(),
        false => format!("{}.{first}-{last}", table.name),
    }
}

fn generate_as<F: Files>(
    plan: &GeneratePlan,
    destination: &Destination,
    progress: &GenerateProgress,
) -> io::Result<Vec<Generated>> {
    let wanted = |table: &&'static Table| match plan.table {
        Some(one) => one.name == table.name,
        None => !rows::global(table) || plan.first_warehouse == 1,
    };
    let tables = TABLES.into_iter().filter(wanted);
    let writers: Vec<TableWriter<F>> =
        tables.map(|table| TableWriter::begin(plan, table, destination)).collect::<io::Result<_>>()?;
    progress.expected_rows.store(writers.iter().map(TableWriter::expected_rows).sum(), Ordering::Relaxed);

    let queue =
        ChunkQueue { writers: &writers, dealt: Mutex::new(vec![0; writers.len()]), failed: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..plan.jobs.max(1)).map(|_| scope.spawn(|| queue.work(&plan.population, progress))).collect();
        // All are waited for; the first error is told.
        let ended: Vec<io::Result<()>> = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the generator failed"))))
            .collect();
        ended.into_iter().collect::<io::Result<()>>()
    })?;
    let mut done = writers.into_iter().map(TableWriter::end).collect::<io::Result<Vec<_>>>()?;
    done.sort_by_key(|file| file.table);
    Ok(done)
}

/// Rows of a table that are made at once: the pieces of these numbers.
struct Chunk {
    number: u64,
    pieces: Range<u64>,
}

/// What is to be made, dealt out to the threads.
struct ChunkQueue<'a, F: Files> {
    writers: &'a [TableWriter<F>],
    /// Pieces of each writer that have been dealt out.
    dealt: Mutex<Vec<u64>>,
    failed: AtomicBool,
}

impl<'a, F: Files> ChunkQueue<'a, F> {
    fn work(&self, population: &Population, progress: &GenerateProgress) -> io::Result<()> {
        while let Some((writer, chunk)) = self.deal() {
            let made = writer.make(&chunk, population, progress).and_then(|made| writer.append(chunk.number, made));
            match made {
                Ok(rows) => progress.rows.fetch_add(rows, Ordering::Relaxed),
                Err(e) => {
                    self.failed.store(true, Ordering::Relaxed);
                    writer.give_up();
                    return Err(writer.named(e));
                }
            };
        }
        Ok(())
    }

    /// The next chunk of the writer that is furthest behind.
    fn deal(&self) -> Option<(&'a TableWriter<F>, Chunk)> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let mut dealt = locked(&self.dealt);
        let done = |i: usize| dealt[i] as f64 / self.writers[i].pieces as f64;
        let open = (0..self.writers.len()).filter(|i| dealt[*i] < self.writers[*i].pieces);
        let i = open.min_by(|a, b| done(*a).total_cmp(&done(*b)))?;
        let writer = &self.writers[i];
        let start = dealt[i];
        dealt[i] = (start + writer.pieces_at_once).min(writer.pieces);
        Some((writer, Chunk { number: start / writer.pieces_at_once, pieces: start..dealt[i] }))
    }
}

/// A table's file in the making.
struct TableWriter<F: Files> {
    table: &'static Table,
    path: Option<PathBuf>,
    first_warehouse: i32,
    pieces: u64,
    pieces_at_once: u64,
    maker: F::Maker,
    writing: Mutex<Writing<F>>,
    turn: Condvar,
}

struct Writing<F: Files> {
    /// `None`: it was given up.
    file: Option<F::File>,
    /// The number of the chunk that is to be appended.
    next: u64,
    rows: u64,
}

impl<F: Files> TableWriter<F> {
    fn begin(plan: &GeneratePlan, table: &'static Table, destination: &Destination) -> io::Result<Self> {
        let (first_warehouse, warehouses) =
            if rows::global(table) { (0, 1) } else { (plan.first_warehouse, plan.warehouses) };
        let path = match destination {
            Destination::StandardOutput => None,
            Destination::Folder(folder) => {
                let last = plan.first_warehouse + plan.warehouses - 1;
                let stem = stem(table, plan.first_warehouse, last, plan.whole);
                Some(folder.join(format!("{stem}.{}", plan.format.extension())))
            }
        };
        let named = |e| named(&path, e);
        let file = match &path {
            Some(path) => File::create_new(path).map_err(named)?,
            None => standard_output()?,
        };
        let (maker, file) = F::begin(table, Counted::new(file)).map_err(named)?;
        let pieces_at_once = (F::CHUNK_BYTES * rows::PIECES / rows::weight(table)).max(1);
        let writing = Mutex::new(Writing { file: Some(file), next: 0, rows: 0 });
        let pieces = rows::PIECES * u64::from(warehouses.unsigned_abs());
        Ok(Self { table, path, first_warehouse, pieces, pieces_at_once, maker, writing, turn: Condvar::new() })
    }

    fn expected_rows(&self) -> u64 {
        rows::expected(self.table) * self.pieces / rows::PIECES
    }

    /// Makes the rows of a chunk. Returns them with how many they are.
    fn make(&self, chunk: &Chunk, population: &Population, progress: &GenerateProgress) -> io::Result<(F::Chunk, u64)> {
        let (mut sink, mut written) = (F::sink(&self.maker), 0);
        for number in chunk.pieces.clone() {
            if progress.stop.load(Ordering::Relaxed) {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted: the files are not complete"));
            }
            written += rows::write(population, self.table, rows::piece(self.first_warehouse, number), &mut sink);
        }
        Ok((F::chunk(&self.maker, sink)?, written))
    }

    /// Appends a chunk once it is its turn. Returns its rows.
    fn append(&self, number: u64, (chunk, rows): (F::Chunk, u64)) -> io::Result<u64> {
        let mut writing = locked(&self.writing);
        while writing.file.is_some() && writing.next != number {
            writing = self.turn.wait(writing).unwrap_or_else(PoisonError::into_inner);
        }
        // Given up: whoever did so tells why.
        let Some(file) = &mut writing.file else { return Ok(0) };
        F::append(file, chunk)?;
        writing.next += 1;
        writing.rows += rows;
        self.turn.notify_all();
        Ok(rows)
    }

    /// Lets nobody wait for a chunk that will never come.
    fn give_up(&self) {
        locked(&self.writing).file = None;
        self.turn.notify_all();
    }

    fn end(self) -> io::Result<Generated> {
        let writing = self.writing.into_inner().unwrap_or_else(PoisonError::into_inner);
        let bytes = match writing.file {
            Some(file) => F::end(file).map_err(|e| named(&self.path, e))?,
            None => 0,
        };
        Ok(Generated { table: self.table.name, path: self.path, rows: writing.rows, bytes })
    }

    fn named(&self, e: io::Error) -> io::Error {
        if e.kind() == io::ErrorKind::Interrupted { e } else { named(&self.path, e) }
    }
}

fn named(path: &Option<PathBuf>, e: io::Error) -> io::Error {
    let name = path.as_ref().map_or("standard output".into(), |path| path.to_string_lossy());
    io::Error::new(e.kind(), format!("{name}: {e}"))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Standard output without the buffer that the library puts before it.
fn standard_output() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(owned))
}
