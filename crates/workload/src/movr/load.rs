//! The load: rows, then keys, indexes, foreign keys and statistics.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::movr::{Movr, Table as Name};
use target::bulk::BulkOptions;
use target::placement::Placement;
use target::{Access, Class, Error, Gateways, Session};

use super::{Options, TABLES, create, drop_tables, rows, table, tables_there};
use crate::tpcc::load::LoadProgress;

pub use target::bulk::Loaded;

/// Rows that are committed together, at least and at most. Keys are random: where rows live in their order each commit writes
/// most pages anew, so there should be few.
const PIECE_ROWS: (u64, u64) = (10_000, 100_000);

/// Pieces a session, so that none is idle for long at the end.
const PIECES_A_SESSION: u64 = 4;

/// Rows between two looks at how much has gathered.
const ROWS_AT_ONCE: u64 = 100;

/// Attempts at a piece that the database refuses with the wish for another try.
const ATTEMPTS: u32 = 20;

/// Why a load with several sessions ended early.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Tables are there already.
    #[error("the target already holds {0}: use --replace to drop what is MovR's")]
    Exists(String),
    /// Ctrl-C.
    #[error("interrupted: the data set is not complete; load it again with --replace")]
    Interrupted,
    /// The database refused.
    #[error(transparent)]
    Database(#[from] Error),
}

/// Rows of a table that lie one behind the other.
#[derive(Clone, Copy, Debug)]
struct Piece {
    table: Name,
    from: u64,
    to: u64,
}

/// The rows of a table in pieces, for so many sessions.
fn pieces(movr: &Movr, table: Name, sessions: usize) -> impl Iterator<Item = Piece> {
    let rows = movr.rows(table);
    let (least, most) = PIECE_ROWS;
    let at_once = (rows / (PIECES_A_SESSION * sessions.max(1) as u64)).clamp(least, most);
    (0..rows).step_by(at_once as usize).map(move |from| Piece { table, from, to: rows.min(from + at_once) })
}

/// Fills the empty tables that [`create`] made, adds keys, indexes and foreign keys where they cost less after the rows, and
/// refreshes the statistics. `progress` is told what is being done and how many rows of it have been committed since it was
/// last told. The session keeps its settings.
///
/// # Errors
/// The database's refusal, with the table; what was committed stays.
pub async fn load(
    session: &mut Session,
    options: &Options,
    mut progress: impl FnMut(&'static str, u64),
) -> Result<Loaded, Error> {
    let movr = options.data();
    let mut all = Loaded::default();
    for name in Name::ALL {
        for piece in pieces(&movr, name, 1) {
            let loaded = send(session, &movr, piece).await?;
            progress(table(name).name, loaded.rows);
            all.rows += loaded.rows;
            all.bytes += loaded.bytes;
        }
    }
    finish(session, options, |what| progress(what, 0)).await?;
    Ok(all)
}

/// Makes the tables and loads, `jobs` sessions side by side where the database has more than one writer: the same rows as
/// [`create`] and [`load`] make. With `replace` tables that are there are dropped as by [`drop_tables`].
///
/// # Errors
/// Tables that are there; the database's refusal.
pub async fn load_all(
    gateways: &Gateways,
    options: &Options,
    jobs: usize,
    replace: bool,
    progress: Arc<LoadProgress>,
) -> Result<Loaded, LoadError> {
    let mut session = connect(gateways, 0).await?;
    let there: Vec<&str> = tables_there(&mut session).await?.iter().map(|table| table.name).collect();
    match (there.is_empty(), replace) {
        (true, _) => {}
        (false, true) => drop_tables(&mut session).await?,
        (false, false) => return Err(LoadError::Exists(format!("a table {}", there.join(" and a table ")))),
    }
    create(&mut session, options).await?;

    let movr = options.data();
    progress.expected_rows.store(Name::ALL.iter().map(|table| movr.rows(*table)).sum(), Ordering::Relaxed);
    let jobs = if gateways.dialect().parallel_writers() { jobs } else { 1 };
    let mut all = Loaded::default();
    // Parents first, for databases that hold the foreign keys against each row.
    for name in Name::ALL {
        say(&progress, table(name).name);
        let loaded = fill(gateways, &movr, name, jobs, &progress).await?;
        all.rows += loaded.rows;
        all.bytes += loaded.bytes;
    }
    session.tune_after_rows().await?;
    finish(&mut session, options, |what| say(&progress, what)).await?;
    Ok(all)
}

/// The rows of one table, by several sessions.
async fn fill(
    gateways: &Gateways,
    movr: &Movr,
    name: Name,
    jobs: usize,
    progress: &Arc<LoadProgress>,
) -> Result<Loaded, LoadError> {
    let queue: VecDeque<Piece> = pieces(movr, name, jobs).collect();
    let jobs = jobs.clamp(1, queue.len().max(1));
    let queue = Arc::new(Mutex::new(queue));
    let bytes = Arc::new(AtomicU64::new(0));
    let mut workers: tokio::task::JoinSet<Result<(), LoadError>> = tokio::task::JoinSet::new();
    for number in 0..jobs {
        let (gateways, movr, queue) = (gateways.clone(), *movr, queue.clone());
        let (bytes, progress) = (bytes.clone(), progress.clone());
        workers.spawn(async move {
            let mut session = connect(&gateways, number).await?;
            loop {
                let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                let Some(piece) = next else { return Ok(()) };
                if progress.stop.load(Ordering::Relaxed) {
                    return Err(LoadError::Interrupted);
                }
                let loaded = send(&mut session, &movr, piece).await?;
                progress.rows.fetch_add(loaded.rows, Ordering::Relaxed);
                bytes.fetch_add(loaded.bytes, Ordering::Relaxed);
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        // The first error drops the set, which ends the other workers; their transactions roll back.
        ended.map_err(|e| Error::permanent(format!("a worker of the load failed: {e}")))??;
    }
    Ok(Loaded { rows: movr.rows(name), bytes: bytes.load(Ordering::Relaxed) })
}

/// Connects session `number`, dealt out over the gateways.
async fn connect(gateways: &Gateways, number: usize) -> Result<Session, Error> {
    let mut session = Session::connect(gateways.dealt(number)).await?;
    session.tune_for_load().await?;
    if gateways.urls().len() > 1 {
        session.see_all_commits().await?;
        // A node that has not yet heard of the tables would refuse the first row: only reads wait for what is on its way.
        tables_there(&mut session).await?;
        session.commit().await?;
    }
    Ok(session)
}

/// Sends a piece, again where the database asks for it.
async fn send(session: &mut Session, movr: &Movr, piece: Piece) -> Result<Loaded, Error> {
    let mut attempt = 1;
    loop {
        match try_to_send(session, movr, piece).await {
            Err(e) if e.class() == Class::Retry && attempt < ATTEMPTS => {
                tracing::debug!("loading {} again: {e}", table(piece.table).name);
                session.rollback().await?;
                tokio::time::sleep(Duration::from_millis(50) * attempt).await;
                attempt += 1;
            }
            sent => return sent.map_err(|e| e.context(format_args!("loading {}", table(piece.table).name))),
        }
    }
}

async fn try_to_send(session: &mut Session, movr: &Movr, piece: Piece) -> Result<Loaded, Error> {
    session.begin(session.dialect().default_isolation(), Access::ReadWrite);
    let mut bulk = session.bulk(table(piece.table), &BulkOptions::default()).await?;
    for position in piece.from..piece.to {
        rows::write(movr, piece.table, position, &mut bulk);
        if position % ROWS_AT_ONCE == 0 {
            bulk.flush_if_full().await?;
        }
    }
    let loaded = bulk.finish().await?;
    session.commit().await?;
    Ok(loaded)
}

/// Keys and indexes, then foreign keys, then statistics.
async fn finish(session: &mut Session, options: &Options, mut say: impl FnMut(&'static str)) -> Result<(), Error> {
    let (dialect, placement) = (session.dialect(), Placement::default());
    say("keys and indexes");
    for table in TABLES {
        if dialect.primary_key_after_load() {
            run(session, table.name, &dialect.add_primary_key(table)).await?;
        }
        if dialect.indexes_after_load() {
            for index in table.indexes {
                run(session, index.name, &dialect.create_index(table, index, &placement)).await?;
            }
        }
    }
    if options.foreign_keys && dialect.foreign_keys_after_load() {
        say("foreign keys");
        for table in TABLES {
            for key in table.foreign_keys {
                run(session, key.name, &dialect.add_foreign_key(table, key)).await?;
            }
        }
    }
    if dialect.has_statistics() {
        say("statistics");
        for table in TABLES {
            run(session, table.name, &dialect.analyze(table.name)).await?;
        }
    }
    Ok(())
}

async fn run(session: &mut Session, what: &str, sql: &str) -> Result<(), Error> {
    session.execute(sql).await.map_err(|e| e.context(what))
}

fn say(progress: &LoadProgress, what: &str) {
    if let Ok(mut doing) = progress.doing.lock() {
        what.clone_into(&mut doing);
    }
}
