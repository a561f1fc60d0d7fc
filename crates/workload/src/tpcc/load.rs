//! The load: schema, rows in parallel, keys where they cost least, statistics.
//!
//! It is cut into steps (a table of a warehouse, a table's keys, …). Each step is one
//! transaction that also records the step, so a load that is interrupted or killed at any moment
//! can be resumed and leaves every row exactly once.

mod cluster;
mod csv_server;
mod finish;
mod flags;
mod import;
mod steps;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use target::placement::Placement;
use target::schema::{Index, Table};
use target::{Access, Dialect, Error, Gateways, Session};

use super::catalog::{Catalog, CatalogError};
use super::rows;
use super::schema::{self, TABLES};
use steps::{RowStep, copy, done_steps};

pub use finish::add_foreign_keys;
pub use flags::{plan_from_flags, require_late_foreign_keys, total_warehouses};

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

/// How the rows come into the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// This client sends them, a table of a warehouse in one transaction.
    Copy,
    /// This client sends them, and the database commits them every so many rows.
    CopyInCommits(u32),
    /// The servers fetch them as CSV from this client, which makes them as they are asked for.
    Served {
        /// Where this client listens.
        listen: SocketAddr,
        /// How the servers reach it; none: at that address.
        url: Option<String>,
    },
    /// The servers fetch them as CSV from a place where `generate` has put them.
    Fetched {
        /// The folder, as the servers know it: `s3://…`, `nodelocal://1/…`, `http://…`.
        from: String,
    },
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
    /// How the rows come into the database.
    pub transport: Transport,
    /// How fast replicas may move between nodes while the load lasts, as the database writes it.
    pub snapshot_rate: Option<String>,
    /// How long to wait at the end until replicas have come to rest; none: not at all.
    pub settle: Option<Duration>,
}

impl LoadPlan {
    /// The whole of a load by this client, a session at a time, into an empty database.
    pub fn new(catalog: Catalog) -> Self {
        Self {
            first_warehouse: 1,
            warehouses: catalog.warehouses,
            catalog,
            jobs: 1,
            existing: Existing::Refuse,
            transport: Transport::Copy,
            snapshot_rate: None,
            settle: None,
        }
    }

    /// Refuses what the database lacks. Nothing is touched.
    ///
    /// # Errors
    /// One line that says what can't be had.
    pub fn check(&self, dialect: &dyn Dialect) -> Result<(), String> {
        let name = dialect.name();
        self.catalog.placement.check(dialect).map_err(|e| e.to_string())?;
        if let Transport::Served { listen, url: None } = self.transport
            && listen.ip().is_unspecified()
        {
            return Err(format!("--import-listen {listen}: say with --import-url how the servers reach it"));
        }
        if self.catalog.foreign_keys
            && let Some(why) = dialect.refuses_foreign_keys(&self.catalog.placement)
        {
            return Err(format!("--foreign-keys: {why}"));
        }
        match self.transport {
            Transport::CopyInCommits(_) if dialect.copy_in_commits().is_none() => {
                return Err(format!("{name} has no copy that commits on its way: leave out --copy-batch"));
            }
            Transport::Served { .. } | Transport::Fetched { .. } if dialect.import(&schema::ITEM, &[]).is_none() => {
                return Err(format!("{name} has no import: leave out --import-listen and --import-from"));
            }
            _ => {}
        }
        if self.snapshot_rate.is_some() && dialect.snapshot_rate().is_none() {
            return Err(format!("{name} has no snapshot rate"));
        }
        if self.settle.is_some() && dialect.unsettled().is_none() {
            return Err(format!("{name} does not say what is still to be moved: leave out --settle"));
        }
        Ok(())
    }

    /// The warehouses of this client's slice, for people.
    pub(super) fn title(&self) -> String {
        if self.warehouses == 1 {
            return format!("warehouse {}", self.first_warehouse);
        }
        format!("warehouses {} to {}", self.first_warehouse, self.last_warehouse())
    }

    /// The last warehouse of this client's slice.
    fn last_warehouse(&self) -> i32 {
        self.first_warehouse + self.warehouses - 1
    }

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
    /// Foreign keys for data that have them.
    #[error("the foreign keys are there already")]
    HasForeignKeys,
    /// Replicas were still moving when the time for it was over.
    #[error("the data are loaded, but after {} s {open} ranges were still to be moved: give --settle more time, with --resume", limit.as_secs())]
    Unsettled {
        /// What was still to be moved.
        open: i64,
        /// The time for it.
        limit: Duration,
    },
    /// The rows can't be served to the database.
    #[error("can't serve rows at {0}: {1}")]
    Server(SocketAddr, std::io::Error),
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

/// Makes the tables, so that clients of other slices can begin too. [`load`] goes on with the plan that is returned.
///
/// # Errors
/// Tables that are there already; the database's refusal.
pub async fn begin(gateways: &Gateways, mut plan: LoadPlan) -> Result<LoadPlan, LoadError> {
    let mut session = connect(gateways, 0).await?;
    prepare(&mut session, &mut plan).await?;
    plan.existing = Existing::Resume;
    Ok(plan)
}

/// Loads, and returns what was loaded.
///
/// # Errors
/// Any error ends the load; what was committed stays and can be resumed.
pub async fn load(
    gateways: &Gateways,
    mut plan: LoadPlan,
    progress: Arc<LoadProgress>,
) -> Result<LoadReport, LoadError> {
    let mut session = connect(gateways, 0).await?;
    prepare(&mut session, &mut plan).await?;

    let done = done_steps(&mut session).await?;
    let slice = RowStep::of(plan.first_warehouse, plan.warehouses, plan.leads());
    if plan.existing != Existing::Resume
        && let Some(begun) = slice.iter().find(|step| done.contains(&step.key()))
    {
        return Err(LoadError::SliceBegun(begun.w_id));
    }
    let (there, mut open): (Vec<RowStep>, Vec<RowStep>) = slice.iter().partition(|step| done.contains(&step.key()));
    if !plan.catalog.foreign_keys || session.dialect().foreign_keys_after_load() {
        open.sort_by_key(RowStep::turn);
    } // else parents first, as the tables stand
    let rows_of = |steps: &[RowStep]| steps.iter().map(|step| rows::expected(step.table)).sum();
    // Who sees that rows are expected is to see which of them are there.
    progress.rows.store(rows_of(&there), Ordering::Relaxed);
    progress.expected_rows.store(rows_of(&slice), Ordering::Release);
    let rate = cluster::raise_snapshot_rate(&mut session, &plan).await?;
    let plan = Arc::new(plan);
    let loaded = fill(gateways, &mut session, &plan, &done, open, &progress).await;
    let restored = cluster::restore_snapshot_rate(&mut session, rate).await;
    let (bytes, complete) = loaded?;
    restored?;
    let rows = loaded_rows(&mut session, &plan).await?;
    Ok(LoadReport { rows, bytes, complete })
}

/// Rows, keys, statistics, rest. Returns the bytes sent, and whether the whole load is complete.
async fn fill(
    gateways: &Gateways,
    session: &mut Session,
    plan: &Arc<LoadPlan>,
    done: &HashSet<(String, i32)>,
    open: Vec<RowStep>,
    progress: &Arc<LoadProgress>,
) -> Result<(u64, bool), LoadError> {
    let bytes = match plan.transport {
        Transport::Copy | Transport::CopyInCommits(_) => copy(gateways, plan, open, progress).await?,
        Transport::Served { .. } | Transport::Fetched { .. } => {
            import::import(gateways, plan, done, progress).await?;
            0
        }
    };
    let complete = finish::finish(gateways, session, plan, progress).await?;
    if complete && let Some(limit) = plan.settle {
        cluster::settle(session, limit, progress).await?;
    }
    Ok((bytes, complete))
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
        return begin_partial_steps(session, plan).await;
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
    let placement = &plan.catalog.placement;
    for table in TABLES {
        let foreign_keys = plan.catalog.foreign_keys && !dialect.foreign_keys_after_load();
        let primary_key = !dialect.primary_key_after_load();
        session.execute(&dialect.create_table(table, primary_key, foreign_keys, placement)).await?;
        let mut spread = dialect.spread_table(table, placement);
        if !dialect.indexes_after_load() {
            spread.extend(table.indexes.iter().flat_map(|index| index_ddl(session, table, index, placement)));
        }
        for sql in spread {
            session.execute(&sql).await.map_err(|e| e.context(format_args!("spreading {}", table.name)))?;
        }
    }
    for table in [&schema::CATALOG, &schema::PROGRESS] {
        session.execute(&dialect.create_table(table, true, false, placement)).await?;
    }
    plan.catalog.write(session).await?;
    session.commit().await?;
    begin_partial_steps(session, plan).await
}

/// Says in the catalog, before any row, that from now on a step that breaks off leaves rows behind.
async fn begin_partial_steps(session: &mut Session, plan: &mut LoadPlan) -> Result<(), LoadError> {
    if plan.transport != Transport::Copy && !plan.catalog.partial_steps {
        Catalog::write_partial_steps(session).await?;
        session.commit().await?;
        plan.catalog.partial_steps = true;
    }
    Ok(())
}

/// An index, and what spreads it.
fn index_ddl(session: &Session, table: &Table, index: &Index, placement: &Placement) -> Vec<String> {
    let dialect = session.dialect();
    let mut sql = vec![dialect.create_index(table, index, placement)];
    sql.extend(dialect.spread_index(table, index, placement));
    sql
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
    if !asked.placement.is_empty() && asked.placement != begun.placement {
        return Err(differs("the placement", asked.placement.to_string(), begun.placement.to_string()));
    }
    Ok(())
}

/// Connects session `number`, dealt out over the gateways.
async fn connect(gateways: &Gateways, number: usize) -> Result<Session, Error> {
    let mut session = Session::connect(gateways.dealt(number)).await?;
    session.tune_for_load().await?;
    if gateways.urls().len() > 1 {
        // What other gateways' sessions committed is built upon: tables, steps, rows.
        session.see_all_commits().await?;
    }
    Ok(session)
}

/// Runs `work` on every item, `jobs` sessions side by side. The first error ends them all.
async fn in_parallel<T, F, W>(gateways: &Gateways, jobs: usize, items: Vec<T>, work: W) -> Result<(), LoadError>
where
    T: Send + 'static,
    F: Future<Output = Result<Session, LoadError>> + Send + 'static,
    W: Fn(Session, T) -> F + Clone + Send + 'static,
{
    let jobs = jobs.clamp(1, items.len().max(1));
    let queue = Arc::new(Mutex::new(VecDeque::from(items)));
    let mut workers: tokio::task::JoinSet<Result<(), LoadError>> = tokio::task::JoinSet::new();
    for number in 0..jobs {
        let (gateways, queue, work) = (gateways.clone(), queue.clone(), work.clone());
        workers.spawn(async move {
            let mut session = connect(&gateways, number).await?;
            // A node that has not yet heard of the tables would refuse the first row: only reads wait for what is on its way.
            done_steps(&mut session).await?;
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
