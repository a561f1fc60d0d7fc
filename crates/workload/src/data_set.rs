//! Tables whose rows are known by their positions: made, filled over the bulk paths, finished, dropped.
//!
//! [`create`], [`load`] and [`drop_tables`] work on one session and name no schema, so a data set can stand in one of its
//! own. [`load_all`] does the same work with several sessions side by side.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use target::bulk::{Bulk, BulkOptions};
use target::placement::Placement;
use target::schema::Table;
use target::{Access, Class, Error, Gateways, Session};

use crate::tpcc::load::LoadProgress;

pub use target::bulk::Loaded;

/// Tables with rows that are known by their positions.
pub trait DataSet: Clone + Send + Sync + 'static {
    /// Its name, as people say it.
    fn name(&self) -> &str;

    /// Its tables, parents first.
    fn tables(&self) -> &[&'static Table];

    /// How many rows a table has; tables are known by their positions among [`DataSet::tables`].
    fn rows(&self, table: usize) -> u64;

    /// Says the row at a position of a table, field by field in the order of its columns.
    fn write(&self, table: usize, position: u64, sink: &mut Bulk<'_>);

    /// Whether the foreign keys are declared: after the rows, or with the tables where the database can't later.
    fn foreign_keys(&self) -> bool;
}

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
    /// Tables are there already: which, and of which data set.
    #[error("the target already holds {0}: use --replace to drop what is {1}'s")]
    Exists(String, String),
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
    table: usize,
    from: u64,
    to: u64,
}

/// The rows of a table in pieces, for so many sessions.
fn pieces<D: DataSet>(data: &D, table: usize, sessions: usize) -> impl Iterator<Item = Piece> + use<D> {
    let rows = data.rows(table);
    let (least, most) = PIECE_ROWS;
    let at_once = (rows / (PIECES_A_SESSION * sessions.max(1) as u64)).clamp(least, most);
    (0..rows).step_by(at_once as usize).map(move |from| Piece { table, from, to: rows.min(from + at_once) })
}

/// Makes the empty tables; what costs less after the rows is left to [`load`].
///
/// # Errors
/// The database's refusal, as when one of them is there already.
pub async fn create(session: &mut Session, data: &impl DataSet) -> Result<(), Error> {
    let (dialect, placement) = (session.dialect(), Placement::default());
    if dialect.transactional_ddl() {
        session.begin(dialect.default_isolation(), Access::ReadWrite);
    }
    for table in data.tables() {
        let foreign_keys = data.foreign_keys() && !dialect.foreign_keys_after_load();
        let primary_key = !dialect.primary_key_after_load();
        let mut sql = vec![dialect.create_table(table, primary_key, foreign_keys, &placement)];
        if !dialect.indexes_after_load() {
            sql.extend(table.indexes.iter().map(|index| dialect.create_index(table, index, &placement)));
        }
        for sql in sql {
            if let Err(e) = session.execute(&sql).await {
                // Its error is of no interest beside this one.
                let _ = session.rollback().await;
                return Err(e.context(table.name));
            }
        }
    }
    session.commit().await
}

/// Those of the tables of whose names the session sees one, whosever it is.
///
/// # Errors
/// The database's refusal.
pub async fn tables_there(session: &mut Session, tables: &[&'static Table]) -> Result<Vec<&'static Table>, Error> {
    let mut there = Vec::new();
    for table in tables {
        if session.has_table(table.name).await? {
            there.push(*table);
        }
    }
    Ok(there)
}

/// Drops those of the tables that are there. Their names are common, so nothing is dropped unless all that are there have
/// the columns of the data set's.
///
/// # Errors
/// A table of somebody else; the database's refusal.
pub async fn drop_tables(session: &mut Session, data: &impl DataSet) -> Result<(), Error> {
    refuse_foreign(session, data, &[]).await?;
    for table in tables_there(session, data.tables()).await?.iter().rev() {
        session.execute(&format!("DROP TABLE {}", table.name)).await?;
    }
    session.commit().await
}

/// Refuses to drop what is not the data set's; the `noted` tables are, whatever their columns.
///
/// # Errors
/// A table of somebody else; the database's refusal.
pub async fn refuse_foreign(session: &mut Session, data: &impl DataSet, noted: &[String]) -> Result<(), Error> {
    for table in tables_there(session, data.tables()).await? {
        if !noted.iter().any(|noted| noted == table.name) && !is_ours(session, table).await? {
            return Err(Error::permanent(format!(
                "the table {} is not {}'s, by its columns: it is left alone. Load into a database of its own, or drop it",
                table.name,
                data.name()
            )));
        }
    }
    Ok(())
}

/// Whether the table of this name has these columns, and no others.
async fn is_ours(session: &mut Session, table: &Table) -> Result<bool, Error> {
    let named = format!("SELECT {} FROM {} WHERE 1 = 0", table.column_list(), table.name);
    if let Err(e) = session.query(&named, &[]).await {
        let refused = e.class() == target::Class::Permanent;
        return if refused { session.rollback().await.map(|()| false) } else { Err(e) };
    }
    // Only a row tells all the columns; without one there is nothing to lose.
    let answer = session.query(&format!("SELECT * FROM {} LIMIT 1", table.name), &[]).await?;
    Ok(answer.get(0).is_none_or(|row| row.columns().len() == table.columns.len()))
}

/// Fills the empty tables that [`create`] made, adds keys, indexes and foreign keys where they cost less after the rows, and
/// refreshes the statistics. `progress` is told what is being done and how many rows of it have been committed since it was
/// last told. The session keeps its settings.
///
/// # Errors
/// The database's refusal, with the table; what was committed stays.
pub async fn load(
    session: &mut Session,
    data: &impl DataSet,
    mut progress: impl FnMut(&'static str, u64),
) -> Result<Loaded, Error> {
    let mut all = Loaded::default();
    for (at, table) in data.tables().iter().enumerate() {
        for piece in pieces(data, at, 1) {
            let loaded = send(session, data, piece).await?;
            progress(table.name, loaded.rows);
            all.rows += loaded.rows;
            all.bytes += loaded.bytes;
        }
    }
    finish(session, data, |what| progress(what, 0)).await?;
    Ok(all)
}

/// Makes the tables and loads, `jobs` sessions side by side where the database has more than one writer: the same rows as
/// [`create`] and [`load`] make. With `replace` tables that are there are dropped as by [`drop_tables`].
///
/// # Errors
/// Tables that are there; the database's refusal.
pub async fn load_all(
    gateways: &Gateways,
    data: &impl DataSet,
    jobs: usize,
    replace: bool,
    progress: Arc<LoadProgress>,
) -> Result<Loaded, LoadError> {
    let mut session = connect(gateways, 0).await?;
    match replace {
        true => drop_tables(&mut session, data).await?,
        false => refuse_existing(&mut session, data).await?,
    }
    create(&mut session, data).await?;

    let expected = (0..data.tables().len()).map(|table| data.rows(table)).sum();
    progress.expected_rows.store(expected, Ordering::Relaxed);
    let jobs = if gateways.dialect().parallel_writers() { jobs } else { 1 };
    let mut all = Loaded::default();
    // Parents first, for databases that hold the foreign keys against each row.
    for (at, table) in data.tables().iter().enumerate() {
        say(&progress, table.name);
        let loaded = fill(gateways, data, at, jobs, &progress).await?;
        all.rows += loaded.rows;
        all.bytes += loaded.bytes;
    }
    session.tune_after_rows().await?;
    finish(&mut session, data, |what| say(&progress, what)).await?;
    Ok(all)
}

/// Refuses to load where tables of the data set's names are.
///
/// # Errors
/// Which they are; the database's refusal.
pub async fn refuse_existing(session: &mut Session, data: &impl DataSet) -> Result<(), LoadError> {
    let there: Vec<&str> = tables_there(session, data.tables()).await?.iter().map(|table| table.name).collect();
    match there.is_empty() {
        true => Ok(()),
        false => Err(LoadError::Exists(format!("a table {}", there.join(" and a table ")), data.name().to_owned())),
    }
}

/// The rows of one table, by several sessions.
async fn fill(
    gateways: &Gateways,
    data: &impl DataSet,
    table: usize,
    jobs: usize,
    progress: &Arc<LoadProgress>,
) -> Result<Loaded, LoadError> {
    let queue: VecDeque<Piece> = pieces(data, table, jobs).collect();
    let jobs = jobs.clamp(1, queue.len().max(1));
    let queue = Arc::new(Mutex::new(queue));
    let bytes = Arc::new(AtomicU64::new(0));
    let mut workers: tokio::task::JoinSet<Result<(), LoadError>> = tokio::task::JoinSet::new();
    for number in 0..jobs {
        let (gateways, data, queue) = (gateways.clone(), data.clone(), queue.clone());
        let (bytes, progress) = (bytes.clone(), progress.clone());
        workers.spawn(async move {
            let mut session = connect(&gateways, number).await?;
            if gateways.urls().len() > 1 {
                // A node that has not yet heard of the tables would refuse the first row: only reads wait for what is on its way.
                tables_there(&mut session, data.tables()).await?;
                session.commit().await?;
            }
            loop {
                let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                let Some(piece) = next else { return Ok(()) };
                if progress.stop.load(Ordering::Relaxed) {
                    return Err(LoadError::Interrupted);
                }
                let loaded = send(&mut session, &data, piece).await?;
                progress.rows.fetch_add(loaded.rows, Ordering::Relaxed);
                bytes.fetch_add(loaded.bytes, Ordering::Relaxed);
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        // The first error drops the set, which ends the other workers; their transactions roll back.
        ended.map_err(|e| Error::permanent(format!("a worker of the load failed: {e}")))??;
    }
    Ok(Loaded { rows: data.rows(table), bytes: bytes.load(Ordering::Relaxed) })
}

/// Connects session `number`, dealt out over the gateways.
async fn connect(gateways: &Gateways, number: usize) -> Result<Session, Error> {
    let mut session = Session::connect(gateways.dealt(number)).await?;
    session.tune_for_load().await?;
    if gateways.urls().len() > 1 {
        session.see_all_commits().await?;
    }
    Ok(session)
}

/// Sends a piece, again where the database asks for it.
async fn send(session: &mut Session, data: &impl DataSet, piece: Piece) -> Result<Loaded, Error> {
    let name = data.tables()[piece.table].name;
    let mut attempt = 1;
    loop {
        match try_to_send(session, data, piece).await {
            Err(e) if e.class() == Class::Retry && attempt < ATTEMPTS => {
                tracing::debug!("loading {name} again: {e}");
                session.rollback().await?;
                tokio::time::sleep(Duration::from_millis(50) * attempt).await;
                attempt += 1;
            }
            sent => return sent.map_err(|e| e.context(format_args!("loading {name}"))),
        }
    }
}

async fn try_to_send(session: &mut Session, data: &impl DataSet, piece: Piece) -> Result<Loaded, Error> {
    session.begin(session.dialect().default_isolation(), Access::ReadWrite);
    let mut bulk = session.bulk(data.tables()[piece.table], &BulkOptions::default()).await?;
    for position in piece.from..piece.to {
        data.write(piece.table, position, &mut bulk);
        if position % ROWS_AT_ONCE == 0 {
            bulk.flush_if_full().await?;
        }
    }
    let loaded = bulk.finish().await?;
    session.commit().await?;
    Ok(loaded)
}

/// Keys and indexes, then foreign keys, then statistics.
async fn finish(session: &mut Session, data: &impl DataSet, mut say: impl FnMut(&'static str)) -> Result<(), Error> {
    let (dialect, placement) = (session.dialect(), Placement::default());
    say("keys and indexes");
    for table in data.tables() {
        if dialect.primary_key_after_load() && !table.primary_key.is_empty() {
            run(session, table.name, &dialect.add_primary_key(table)).await?;
        }
        if dialect.indexes_after_load() {
            for index in table.indexes {
                run(session, index.name, &dialect.create_index(table, index, &placement)).await?;
            }
        }
    }
    if data.foreign_keys() && dialect.foreign_keys_after_load() {
        say("foreign keys");
        for table in data.tables() {
            for key in table.foreign_keys {
                run(session, key.name, &dialect.add_foreign_key(table, key)).await?;
            }
        }
    }
    if dialect.has_statistics() {
        say("statistics");
        for table in data.tables() {
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
