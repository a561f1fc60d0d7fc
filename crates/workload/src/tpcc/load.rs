//! The load: schema, rows in parallel, keys where they cost least, statistics.
//!
//! It is cut into steps (a table of a warehouse, a table's keys, …). Each step is one
//! transaction that also records the step, so a load that is interrupted or killed at any moment
//! can be resumed and leaves every row exactly once.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ::tpcc::population::Population;
use target::bulk::Loaded;
use target::schema::Table;
use target::{Access, Class, Error, Session, Url};

use super::catalog::{Catalog, CatalogError};
use super::procedure;
use super::rows;
use super::schema::{self, TABLES};

/// What to do when tables are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse.
    Refuse,
    /// Drop them.
    Replace,
    /// Go on where an interrupted load ended.
    Resume,
}

/// A load, as asked for.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// The first warehouse of this client's slice.
    pub first_warehouse: i32,
    /// How many warehouses this client loads.
    pub warehouses: i32,
    /// The facts of the whole load.
    pub catalog: Catalog,
    /// Sessions that load side by side.
    pub jobs: usize,
    /// What to do when tables are there already.
    pub existing: Existing,
}

impl LoadPlan {
    /// Whether this client is the one that makes the tables and loads what belongs to no warehouse.
    fn leads(&self) -> bool {
        self.first_warehouse == 1
    }
}

/// Why a load ended early.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Tables are there already.
    #[error("the target already holds {0}: use --resume to go on with an interrupted load, or --replace to drop them")]
    Exists(String),
    /// There is nothing to go on with.
    #[error("there is no load to resume here: leave out --resume")]
    NothingToResume,
    /// A slice before the tables.
    #[error("the tables are not there yet: start the client that loads warehouse 1 first")]
    NoTables,
    /// The slice has been begun.
    #[error("warehouse {0} of this slice has been loaded, or begun: use --resume")]
    SliceBegun(i32),
    /// What was asked for contradicts what the load was begun with.
    #[error("{0}")]
    Contradiction(String),
    /// Ctrl-C.
    #[error("interrupted: what is loaded stays; `weighbridge load --resume` with the same options goes on")]
    Interrupted,
    /// The catalog can't be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The database refused, with the table and warehouse.
    #[error(transparent)]
    Database(#[from] Error),
}

/// What a load moved.
#[derive(Clone, Debug, Default)]
pub struct LoadReport {
    /// Rows by table, of this client's slice, those of an earlier attempt included.
    pub rows: BTreeMap<&'static str, u64>,
    /// Bytes sent by this attempt.
    pub bytes: u64,
    /// Whether the whole load is complete (a slice may wait for others).
    pub complete: bool,
}

/// How far a load has come; read by whoever shows it.
#[derive(Debug, Default)]
pub struct LoadProgress {
    /// Rows expected in all.
    pub expected_rows: AtomicU64,
    /// Rows sent, those of an earlier attempt included.
    pub rows: AtomicU64,
    /// What is being done, in words.
    pub doing: Mutex<String>,
    /// Set from outside to end the load after the pieces under way.
    pub stop: AtomicBool,
}

impl LoadProgress {
    fn say(&self, what: String) {
        if let Ok(mut doing) = self.doing.lock() {
            *doing = what;
        }
    }
}

/// A step of rows: a table of a warehouse.
#[derive(Clone, Copy, Debug)]
struct RowStep {
    table: &'static Table,
    /// 0 for a table that belongs to no warehouse.
    w_id: i32,
}

impl RowStep {
    fn of(first: i32, count: i32, with_global: bool) -> Vec<RowStep> {
        let is_global = |table: &&&'static Table| rows::global(table);
        let mut steps = Vec::new();
        if with_global {
            steps.extend(TABLES.iter().filter(is_global).map(|table| RowStep { table, w_id: 0 }));
        }
        for w_id in first..first + count {
            steps.extend(TABLES.iter().filter(|table| !is_global(table)).map(|table| RowStep { table, w_id }));
        }
        steps
    }

    fn key(&self) -> (String, i32) {
        (self.table.name.to_owned(), self.w_id)
    }
}

impl std::fmt::Display for RowStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.w_id {
            0 => f.write_str(self.table.name),
            w_id => write!(f, "{} of warehouse {w_id}", self.table.name),
        }
    }
}

/// Loads, and returns what was loaded.
///
/// # Errors
/// Any error ends the load; what was committed stays and can be resumed.
pub async fn load(url: &Url, mut plan: LoadPlan, progress: Arc<LoadProgress>) -> Result<LoadReport, LoadError> {
    let mut session = Session::connect(url).await?;
    session.tune_for_load().await?;
    prepare(&mut session, &mut plan).await?;

    let done = done_steps(&mut session).await?;
    let slice = RowStep::of(plan.first_warehouse, plan.warehouses, plan.leads());
    if plan.existing != Existing::Resume
        && let Some(begun) = slice.iter().find(|step| done.contains(&step.key()))
    {
        return Err(LoadError::SliceBegun(begun.w_id));
    }
    let (there, open): (Vec<RowStep>, Vec<RowStep>) = slice.iter().partition(|step| done.contains(&step.key()));
    let rows_of = |steps: &[RowStep]| steps.iter().map(|step| rows::expected(step.table)).sum();
    progress.expected_rows.store(rows_of(&slice), Ordering::Relaxed);
    progress.rows.store(rows_of(&there), Ordering::Relaxed);
    let population = plan.catalog.population();
    let bytes = Arc::new(AtomicU64::new(0));
    let work = {
        let (progress, bytes) = (progress.clone(), bytes.clone());
        move |session: Session, step: RowStep| {
            let (progress, bytes) = (progress.clone(), bytes.clone());
            async move { load_step(session, step, &population, &progress, &bytes).await }
        }
    };
    in_parallel(url, plan.jobs, open, work).await?;

    let complete = finish(url, &mut session, &plan, &progress).await?;
    let rows = loaded_rows(&mut session, &plan).await?;
    Ok(LoadReport { rows, bytes: bytes.load(Ordering::Relaxed), complete })
}

/// Makes the tables, or finds those of the load to go on with.
async fn prepare(session: &mut Session, plan: &mut LoadPlan) -> Result<(), LoadError> {
    let all = TABLES.into_iter().chain([&schema::CATALOG, &schema::PROGRESS]);
    let mut there = Vec::new();
    for table in all.clone() {
        if session.has_table(table.name).await? {
            there.push(table.name);
        }
    }
    let joins = plan.existing == Existing::Resume || !plan.leads();
    if joins {
        if there.is_empty() {
            return Err(if plan.leads() { LoadError::NothingToResume } else { LoadError::NoTables });
        }
        let begun = Catalog::read(session).await?;
        same_load(plan, &begun)?;
        plan.catalog = begun;
        return Ok(());
    }
    if !there.is_empty() && plan.existing == Existing::Refuse {
        return Err(LoadError::Exists(format!("{} of the tables ({}, …)", there.len(), there[0])));
    }

    let dialect = session.dialect();
    if dialect.transactional_ddl() {
        session.begin(dialect.default_isolation(), Access::ReadWrite);
    }
    for table in all.rev().filter(|table| there.contains(&table.name)) {
        session.execute(&format!("DROP TABLE {}", table.name)).await?;
    }
    for table in TABLES {
        let foreign_keys = plan.catalog.foreign_keys && !dialect.foreign_keys_after_load();
        session.execute(&dialect.create_table(table, !dialect.primary_key_after_load(), foreign_keys)).await?;
    }
    session.execute(&dialect.create_table(&schema::CATALOG, true, false)).await?;
    session.execute(&dialect.create_table(&schema::PROGRESS, true, false)).await?;
    plan.catalog.write(session).await?;
    session.commit().await?;
    Ok(())
}

/// Refuses to mix two loads in one database.
fn same_load(plan: &LoadPlan, begun: &Catalog) -> Result<(), LoadError> {
    let asked = &plan.catalog;
    let differs = |what: &str, asked: String, begun: String| {
        LoadError::Contradiction(format!(
            "the load was begun with {what} {begun}, not {asked}: use the same, or --replace"
        ))
    };
    if asked.warehouses != begun.warehouses {
        return Err(differs("--total-warehouses", asked.warehouses.to_string(), begun.warehouses.to_string()));
    }
    Ok(())
}

/// The steps on record.
async fn done_steps(session: &mut Session) -> Result<HashSet<(String, i32)>, Error> {
    let answer = session.query("SELECT step, w_id FROM weighbridge_load", &[]).await?;
    answer.rows().map(|row| Ok((row.text(0)?.to_owned(), row.int(1)?))).collect()
}

/// Records a step in the transaction that does it. False if another client has done it.
async fn claim(session: &mut Session, step: &str, w_id: i32) -> Result<bool, Error> {
    let sql = "INSERT INTO weighbridge_load (step, w_id, rows_loaded) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING";
    Ok(session.query(sql, &[step.into(), w_id.into()]).await?.affected() == 1)
}

/// Runs `work` on every item, `jobs` sessions side by side. The first error ends them all.
async fn in_parallel<T, F, W>(url: &Url, jobs: usize, items: Vec<T>, work: W) -> Result<(), LoadError>
where
    T: Send + 'static,
    F: Future<Output = Result<Session, LoadError>> + Send + 'static,
    W: Fn(Session, T) -> F + Clone + Send + 'static,
{
    let jobs = jobs.clamp(1, items.len().max(1));
    let queue = Arc::new(Mutex::new(VecDeque::from(items)));
    let mut workers: tokio::task::JoinSet<Result<(), LoadError>> = tokio::task::JoinSet::new();
    for _ in 0..jobs {
        let (url, queue, work) = (url.clone(), queue.clone(), work.clone());
        workers.spawn(async move {
            let mut session = Session::connect(&url).await?;
            session.tune_for_load().await?;
            loop {
                let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                let Some(item) = next else { return Ok(()) };
                session = work(session, item).await?;
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        // The first error drops the set, which ends the other workers; their transactions roll back.
        ended.map_err(|e| Error::permanent(format!("a worker of the load failed: {e}")))??;
    }
    Ok(())
}

/// The rows of one step, in one transaction with its record.
async fn load_step(
    mut session: Session,
    step: RowStep,
    population: &Population,
    progress: &LoadProgress,
    bytes: &AtomicU64,
) -> Result<Session, LoadError> {
    progress.say(step.to_string());
    session.begin(session.dialect().default_isolation(), Access::ReadWrite);
    if !claim(&mut session, step.table.name, step.w_id).await? {
        session.rollback().await?;
        return Ok(session);
    }
    let named = |e: Error| e.context(format_args!("loading {step}"));
    let Some(loaded) = load_table(&mut session, step, population, progress).await.map_err(named)? else {
        return Err(LoadError::Interrupted);
    };
    bytes.fetch_add(loaded.bytes, Ordering::Relaxed);
    let sql = "UPDATE weighbridge_load SET rows_loaded = $3 WHERE step = $1 AND w_id = $2";
    let rows = i64::try_from(loaded.rows).unwrap_or(i64::MAX);
    session.query(sql, &[step.table.name.into(), step.w_id.into(), rows.into()]).await.map_err(named)?;
    session.commit().await.map_err(named)?;
    Ok(session)
}

/// One table of one warehouse. `None` if the load is to stop.
async fn load_table(
    session: &mut Session,
    step: RowStep,
    population: &Population,
    progress: &LoadProgress,
) -> Result<Option<Loaded>, Error> {
    let mut bulk = session.bulk(step.table).await?;
    for piece in rows::pieces(step.w_id) {
        if progress.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let rows = rows::write(population, step.table, piece, &mut bulk);
        bulk.flush_if_full().await?;
        progress.rows.fetch_add(rows, Ordering::Relaxed);
    }
    bulk.finish().await.map(Some)
}

/// Keys, indexes and statistics, once all rows of all slices are there. False if rows are still to come.
async fn finish(
    url: &Url,
    session: &mut Session,
    plan: &LoadPlan,
    progress: &Arc<LoadProgress>,
) -> Result<bool, LoadError> {
    let done = done_steps(session).await?;
    let all = RowStep::of(1, plan.catalog.warehouses, true);
    if !all.iter().all(|step| done.contains(&step.key())) {
        return Ok(false);
    }
    let dialect = session.dialect();
    // The largest first, so that the last job to end has the least to do.
    let mut tables: Vec<&'static Table> = TABLES.to_vec();
    tables.sort_by_key(|table| std::cmp::Reverse(rows::expected(table) * if rows::global(table) { 1 } else { 2 }));

    let mut keys = Vec::new();
    let mut foreign_keys = Vec::new();
    for table in &tables {
        let mut sql = Vec::new();
        if dialect.primary_key_after_load() && !table.primary_key.is_empty() {
            sql.push(dialect.add_primary_key(table));
        }
        sql.extend(table.indexes.iter().map(|index| dialect.create_index(table, index)));
        keys.push(Ddl { step: format!("keys of {}", table.name), sql });
        if plan.catalog.foreign_keys && dialect.foreign_keys_after_load() {
            let sql = table.foreign_keys.iter().map(|key| dialect.add_foreign_key(table, key)).collect();
            foreign_keys.push(Ddl { step: format!("foreign keys of {}", table.name), sql });
        }
    }
    for ddl in [&mut keys, &mut foreign_keys] {
        ddl.retain(|ddl| !done.contains(&(ddl.step.clone(), 0)));
    }
    let work = {
        let progress = progress.clone();
        move |session: Session, ddl: Ddl| {
            let progress = progress.clone();
            async move { run_ddl(session, ddl, &progress).await }
        }
    };
    in_parallel(url, plan.jobs, keys, work.clone()).await?;
    // One after the other: each locks both of its tables.
    in_parallel(url, 1, foreign_keys, work.clone()).await?;

    if let Some(language) = dialect.routines() {
        let routines = Ddl { step: "routines".to_owned(), sql: procedure::ddl(language) };
        match in_parallel(url, 1, vec![routines], work).await {
            // Only one of the styles needs them: its run asks again, and says what is missing.
            Err(LoadError::Database(e)) if e.class() == Class::Permanent => {
                tracing::warn!("loaded without what the style procedure needs: {e}");
            }
            made => made?,
        }
    }

    let statistics = {
        let progress = progress.clone();
        move |mut session: Session, table: &'static Table| {
            let progress = progress.clone();
            async move {
                stop_check(&progress)?;
                progress.say(format!("statistics of {}", table.name));
                let sql = session.dialect().analyze(table.name);
                session.execute(&sql).await.map_err(|e| e.context(format!("statistics of {}", table.name)))?;
                Ok(session)
            }
        }
    };
    in_parallel(url, plan.jobs, tables, statistics).await?;
    Catalog::write_complete(session).await?;
    Ok(true)
}

/// DDL of a table, done in one transaction with its record where the database can.
#[derive(Clone, Debug)]
struct Ddl {
    step: String,
    sql: Vec<String>,
}

async fn run_ddl(mut session: Session, ddl: Ddl, progress: &LoadProgress) -> Result<Session, LoadError> {
    stop_check(progress)?;
    progress.say(ddl.step.clone());
    let dialect = session.dialect();
    if !dialect.transactional_ddl() {
        // Each statement commits by itself, so the record comes after the deed, and a deed already done is passed over.
        for sql in &ddl.sql {
            match session.execute(sql).await {
                Err(e) if e.code().is_some_and(|code| dialect.already_exists(code)) => {}
                done => done.map_err(|e| e.context(&ddl.step))?,
            }
        }
        claim(&mut session, &ddl.step, 0).await?;
        return Ok(session);
    }
    session.begin(dialect.default_isolation(), Access::ReadWrite);
    if claim(&mut session, &ddl.step, 0).await? {
        for sql in &ddl.sql {
            session.execute(sql).await.map_err(|e| e.context(&ddl.step))?;
        }
        session.commit().await.map_err(|e| e.context(&ddl.step))?;
    } else {
        session.rollback().await?;
    }
    Ok(session)
}

fn stop_check(progress: &LoadProgress) -> Result<(), LoadError> {
    if progress.stop.load(Ordering::Relaxed) { Err(LoadError::Interrupted) } else { Ok(()) }
}

/// The rows of this client's slice by table, as its steps recorded them.
async fn loaded_rows(session: &mut Session, plan: &LoadPlan) -> Result<BTreeMap<&'static str, u64>, Error> {
    let sql =
        "SELECT step, SUM(rows_loaded) FROM weighbridge_load WHERE w_id = 0 OR w_id BETWEEN $1 AND $2 GROUP BY step";
    let last = plan.first_warehouse + plan.warehouses - 1;
    let answer = session.query(sql, &[plan.first_warehouse.into(), last.into()]).await?;
    let mut rows = BTreeMap::new();
    for row in answer.rows() {
        let step = row.text(0)?;
        let table = TABLES.iter().find(|table| table.name == step && (plan.leads() || !rows::global(table)));
        if let Some(table) = table {
            rows.insert(table.name, u64::try_from(row.big(1)?).unwrap_or(0));
        }
    }
    Ok(rows)
}
