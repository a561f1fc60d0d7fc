//! What a workload is to the rest of the program.
//!
//! [`Workload`] is a workload as a user names it; [`Transactions`] are its transactions, settled for one run. The
//! driver is compiled once for each workload, so neither costs anything while transactions run.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use record::audit::Audit;
use record::plan::{Pacing, Plan};
use record::run::{CheckResult, Reconciliation};
use serde_json::{Map, Value as Json};
use target::placement::Sharding;
use target::{Description, Dialect, Error, Gateways, Isolation, Session};

use crate::registry::RunFlags;
use crate::tpcc::check::CheckProgress;
use crate::tpcc::load::{Existing, LoadProgress, Transport};
use crate::worker::Worker;

/// What a user asks of a run that a workload has to know before it settles the rest.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest<'a> {
    /// The database, by one gateway or several.
    pub gateways: &'a Gateways,
    /// The isolation level; none: the database's default.
    pub isolation: Option<Isolation>,
    /// Keying and think times.
    pub pacing: Pacing,
    /// The worker of a fleet that this client is; none: it drives alone.
    pub worker: Option<Worker>,
}

/// A run as far as its workload settles it.
#[derive(Debug)]
pub struct Settled<T> {
    /// The transactions.
    pub transactions: T,
    /// The database, as it describes itself.
    pub description: Description,
    /// The plan, without what the driver decides: connections, terminals, threads, times.
    pub plan: Plan,
    /// How the load placed the data.
    pub placement: BTreeMap<String, String>,
    /// The keys that bind terminals to gateways.
    pub keys: Keys,
    /// Terminals of a run with waits; none: only the user can say.
    pub terminals: Option<u32>,
}

/// The affinity keys of a run: whole numbers from 1, in TPC-C the warehouses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// How many the database holds.
    pub loaded: i32,
    /// Those that this client drives.
    pub driven: RangeInclusive<i32>,
}

impl Keys {
    /// How many keys this client drives.
    pub fn driven_count(&self) -> u32 {
        (self.driven.end() - self.driven.start() + 1).unsigned_abs()
    }
}

/// What the flags of `load` say to a workload, which takes those that it declares ([`Workload::flags`]).
#[derive(Clone, Debug)]
pub struct LoadFlags {
    /// `--seed`: of all rows.
    pub seed: u64,
    /// `--jobs`: sessions that load side by side; none: as many as suit the machine and the database.
    pub jobs: Option<u16>,
    /// `--replace`, `--resume`.
    pub existing: Existing,
    /// `--scale`.
    pub scale: Option<f64>,
    /// `--warehouses`.
    pub warehouses: Option<i32>,
    /// `--first-warehouse`.
    pub first_warehouse: i32,
    /// `--total-warehouses`.
    pub total_warehouses: Option<i32>,
    /// `--shard`.
    pub worker: Option<Worker>,
    /// `--foreign-keys`.
    pub foreign_keys: bool,
    /// `--load-time`: the date in the rows; none: now.
    pub load_time: Option<Timestamp>,
    /// `--partitions`.
    pub partitions: Option<u32>,
    /// `--localities`; none: the database's usual ones.
    pub localities: Option<Vec<String>>,
    /// `--split`, with its number of ranges.
    pub split: Option<Option<u32>>,
    /// `--scatter`.
    pub scatter: bool,
    /// `--tablets`.
    pub tablets: Option<u32>,
    /// `--sharding`.
    pub sharding: Option<Sharding>,
    /// `--import-listen`, `--import-url`, `--import-from`, `--copy-batch`.
    pub transport: Transport,
    /// `--snapshot-rate`.
    pub snapshot_rate: Option<String>,
    /// `--settle`.
    pub settle: Option<Duration>,
}

impl LoadFlags {
    /// Sessions that load side by side.
    pub(crate) fn sessions(&self, gateways: &Gateways) -> usize {
        if !gateways.dialect().parallel_writers() {
            return 1;
        }
        self.jobs.map_or_else(|| gateways.default_sessions(), usize::from)
    }
}

/// What a load has done.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What it is, for people: `warehouses 1 to 10`.
    pub what: String,
    /// The same as fields of the JSON document.
    pub facts: Map<String, Json>,
    /// Rows by table, those of an earlier attempt included.
    pub rows: BTreeMap<&'static str, u64>,
    /// Bytes that this attempt sent.
    pub bytes: u64,
    /// Whether the whole load is complete: a slice may wait for others.
    pub complete: bool,
}

/// What is to be checked.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest {
    /// The first affinity key.
    pub first: i32,
    /// How many keys; none: all that are loaded.
    pub count: Option<i32>,
    /// The worker of a fleet that this client is, which checks its slice of them.
    pub worker: Option<Worker>,
    /// Sessions that check side by side.
    pub jobs: usize,
    /// How old a state of the database is checked, in seconds; none: the present.
    pub seconds_ago: Option<u64>,
}

/// Why a workload can't be loaded, run, checked or audited.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The request contradicts the database or itself; nothing was touched.
    #[error("{0}")]
    Usage(String),
    /// The data are not there, not complete, or in the way of a load.
    #[error("{0}")]
    NotLoaded(String),
    /// The database refused.
    #[error(transparent)]
    Database(#[from] Error),
}

/// A command in which workloads take flags of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `load`.
    Load,
    /// `run`.
    Run,
    /// `check`.
    Check,
}

/// A command that not every workload can be used with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// `sweep`.
    Sweep,
    /// `search`.
    Search,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Capability::Sweep => "sweep",
            Capability::Search => "search",
        })
    }
}

/// A workload as a user names it, with the options that only it takes.
#[expect(async_fn_in_trait, reason = "each caller awaits it in place, and needs no `Send`")]
pub trait Workload: Clone {
    /// Its transactions, settled for a run.
    type Transactions: Transactions;
    /// A load that is settled.
    type LoadPlan;

    /// The name in commands, plans and folder names.
    fn name(&self) -> &str;

    /// The long names of the flags that this workload takes in a command, and not every other one does.
    fn flags(_command: Command) -> &'static [&'static str] {
        &[]
    }

    /// Takes over the flags of `run` that it declares.
    fn configure(&mut self, _flags: &RunFlags) {}

    /// Whether the workload can be used with a command.
    fn can(&self, _capability: Capability) -> bool {
        false
    }

    /// Refuses a database that lacks what a run of the workload needs. The database is not asked.
    ///
    /// # Errors
    /// One line that says what is missing.
    fn require(&self, _dialect: &dyn Dialect) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// The files that a run folder keeps of the workload, as name and text.
    fn files(&self) -> Vec<(&'static str, &str)> {
        Vec::new()
    }

    /// Settles a load. Nothing is changed.
    ///
    /// # Errors
    /// If the flags contradict each other, the database, or the load that they are to resume.
    async fn plan_load(&self, gateways: &Gateways, flags: &LoadFlags) -> Result<Self::LoadPlan, WorkloadError>;

    /// What a load loads, for people: `warehouses 1 to 10`.
    fn load_title(&self, plan: &Self::LoadPlan) -> String;

    /// What the workers of a fleet must have asked alike, each with its name.
    fn load_facts(&self, _plan: &Self::LoadPlan, _flags: &LoadFlags) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Makes the tables for all workers of a fleet, and returns the plan with which this worker loads its slice.
    ///
    /// # Errors
    /// Tables that are there already; the database's refusal.
    async fn begin_load(&self, _gateways: &Gateways, plan: Self::LoadPlan) -> Result<Self::LoadPlan, WorkloadError> {
        Ok(plan)
    }

    /// The plan of a worker that joins a load whose tables another worker has made.
    fn join_load(&self, plan: Self::LoadPlan) -> Self::LoadPlan {
        plan
    }

    /// Loads. What was committed before an error stays.
    ///
    /// # Errors
    /// Tables that are there already; an interruption; the database's refusal.
    async fn load(
        &self,
        gateways: &Gateways,
        plan: Self::LoadPlan,
        progress: Arc<LoadProgress>,
    ) -> Result<Loaded, WorkloadError>;

    /// Whether the load is complete, with the slices of all workers.
    ///
    /// # Errors
    /// The database's refusal.
    async fn is_loaded(&self, session: &mut Session) -> Result<bool, WorkloadError>;

    /// Declares the foreign keys of data that were loaded without them.
    ///
    /// # Errors
    /// If the workload or the database can't; the database's refusal.
    async fn add_foreign_keys(&self, _gateways: &Gateways, _progress: Arc<LoadProgress>) -> Result<(), WorkloadError> {
        Err(WorkloadError::Usage(format!("{} declares its foreign keys with the load", self.name())))
    }

    /// Reads what the load left, and settles what the user left open.
    ///
    /// # Errors
    /// If the request contradicts the data, if there are none, or if the database refuses.
    async fn settle(
        &self,
        request: &RunRequest<'_>,
        session: &mut Session,
    ) -> Result<Settled<Self::Transactions>, WorkloadError>;

    /// Checks what the database holds.
    ///
    /// # Errors
    /// If the request contradicts the data, if there are none, or if the database refuses.
    async fn check(
        &self,
        gateways: &Gateways,
        request: &CheckRequest,
        progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError>;

    /// Checks what a run of this plan has driven.
    ///
    /// # Errors
    /// As [`Workload::check`].
    async fn check_after_run(
        &self,
        gateways: &Gateways,
        plan: &Plan,
        progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError>;

    /// Refuses bytes that are not a ledger of this workload. No database is asked.
    ///
    /// # Errors
    /// What is wrong with them, in one line.
    fn check_ledger(&self, ledger: &[u8]) -> Result<(), WorkloadError>;

    /// Looks for a ledger's acknowledged transactions in a database at rest. `ledger` is the file's bytes.
    ///
    /// # Errors
    /// If the bytes are not a ledger of this workload, or if the database refuses.
    async fn audit(&self, session: &mut Session, ledger: &[u8]) -> Result<Audit, WorkloadError>;

    /// Reads one of its tables, to see whether the database answers again.
    ///
    /// # Errors
    /// The database's refusal.
    async fn probe(&self, session: &mut Session) -> Result<(), Error>;
}

/// Where a terminal is in its cycle when the run starts.
#[derive(Debug)]
pub enum Start<I> {
    /// In the middle of keying, with so many microseconds of it left.
    Keying(I, u64),
    /// In the middle of thinking, with so many microseconds of it left.
    Thinking(u64),
}

/// Where a driver thread enters what the database has answered.
#[derive(Debug)]
pub struct CommitRecord<'a, L> {
    /// The sums.
    pub ledger: &'a mut L,
    /// The records of single transactions; none where nothing is written down.
    pub journal: Option<&'a mut Vec<u8>>,
    /// Milliseconds since the run's start.
    pub at_ms: u32,
}

/// The file of what deferred transactions did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFile {
    /// Its name in the run folder.
    pub name: &'static str,
    /// Its first line, with the line end.
    pub header: String,
}

/// The transactions of a workload, settled for one run. A transaction type is known by its position in the plan. Each
/// driver thread has a value of its own.
#[expect(async_fn_in_trait, reason = "a driver thread's runtime is of one thread, and needs no `Send`")]
pub trait Transactions: Clone + Send + 'static {
    /// Draws inputs.
    type Terminal: Send + 'static;
    /// The input of a transaction: the same in each attempt.
    type Input: 'static;
    /// The answer.
    type Output: 'static;
    /// The sums of what was acknowledged.
    type Ledger: Send + 'static;
    /// The database's state, with which the ledger is reconciled.
    type State;

    /// The end of the run folder's name: `-10w`.
    fn size_suffix(&self) -> String {
        String::new()
    }

    /// Notes in a plan that the driver has completed where it leaves the standard.
    fn note_nonstandard(&self, plan: &mut Plan);

    /// Makes the database ready for the run, and reads the state that it begins with; none of a null target.
    ///
    /// # Errors
    /// The database's refusal, or data that are not all there.
    async fn begin(
        &self,
        session: &mut Session,
        gateways: &Gateways,
        plan: &mut Plan,
    ) -> Result<Option<Self::State>, WorkloadError>;

    /// Prepares a new session, so that no transaction pays for it.
    ///
    /// # Errors
    /// The database's refusal.
    async fn prepare(&self, session: &mut Session) -> Result<(), Error>;

    /// The terminal of this number, from 0.
    fn terminal(&self, plan: &Plan, number: u32) -> Self::Terminal;

    /// The key that may bind a terminal to a gateway.
    fn affinity_key(&self, _terminal: &Self::Terminal) -> Option<i32> {
        None
    }

    /// Where a terminal is when the run starts; waits are multiplied by `factor`.
    fn start(&self, terminal: &mut Self::Terminal, factor: f64) -> Start<Self::Input>;

    /// Selects the next transaction and draws its input.
    fn next_input(&self, terminal: &mut Self::Terminal) -> Self::Input;

    /// The transaction type of an input.
    fn transaction_type(&self, input: &Self::Input) -> usize;

    /// The name of a transaction type, for people.
    fn title(&self, transaction_type: usize) -> &str;

    /// The keying time, in microseconds.
    fn keying_us(&self, transaction_type: usize, factor: f64) -> u64;

    /// The think time after a transaction, in microseconds.
    fn think_us(&self, terminal: &mut Self::Terminal, transaction_type: usize, factor: f64) -> u64;

    /// Whether the terminal only queues it and goes on.
    fn is_deferred(&self, _input: &Self::Input) -> bool {
        false
    }

    /// Attempts a transaction once. After an error the session holds no open transaction.
    ///
    /// # Errors
    /// [`target::Class::Retry`] asks for another attempt with the same input.
    async fn execute(&self, session: &mut Session, input: &Self::Input) -> Result<Self::Output, Error>;

    /// Whether it was rolled back by design.
    fn is_rolled_back(&self, output: &Self::Output) -> bool;

    /// The file of what deferred transactions did; none where nothing is deferred.
    fn result_file(&self) -> Option<ResultFile> {
        None
    }

    /// Appends the line of a deferred transaction; times in microseconds since the Unix epoch.
    fn write_result(
        &self,
        _lines: &mut Vec<u8>,
        _input: &Self::Input,
        _output: &Self::Output,
        _queued_us: u64,
        _completed_us: u64,
    ) {
    }

    /// How many parts of a deferred transaction found nothing to do.
    fn skipped_parts(&self, _output: &Self::Output) -> u32 {
        0
    }

    /// Reports (index, hits, trials) of a completed transaction, for the plan's tallies.
    fn tally(&self, _input: &Self::Input, _output: &Self::Output, _count: impl FnMut(usize, u64, u64)) {}

    /// An empty ledger.
    fn empty_ledger(&self) -> Self::Ledger;

    /// Enters an acknowledged transaction.
    fn acknowledge(&self, commit: CommitRecord<'_, Self::Ledger>, input: &Self::Input, output: &Self::Output);

    /// Enters a failure, which counts where the outcome is unknown.
    fn failed(&self, commit: CommitRecord<'_, Self::Ledger>, input: &Self::Input, error: &Error);

    /// Adds another thread's ledger.
    fn merge(&self, ledger: &mut Self::Ledger, other: &Self::Ledger);

    /// The first bytes of the ledger file; none where no ledger is written.
    fn ledger_header(&self, _before: &Self::State) -> Option<Vec<u8>> {
        None
    }

    /// The last bytes of the ledger file, with the number of transactions that had not ended.
    fn ledger_end(&self, _abandoned: usize) -> Vec<u8> {
        Vec::new()
    }

    /// Reads the state with which the ledger is reconciled.
    ///
    /// # Errors
    /// The database's refusal.
    async fn read_state(&self, session: &mut Session) -> Result<Self::State, Error>;

    /// Checks what must be the same after the run as before it.
    fn check_invariants(&self, _before: &Self::State, _after: &Self::State) -> Vec<CheckResult> {
        Vec::new()
    }

    /// Compares what was acknowledged with what the database gained; `abandoned` transactions had not ended. None
    /// where the workload declares nothing to compare.
    fn reconcile(
        &self,
        before: &Self::State,
        after: &Self::State,
        ledger: &Self::Ledger,
        abandoned: usize,
    ) -> Option<Reconciliation>;
}

/// Refuses an isolation level that a database does not have.
///
/// # Errors
/// One line that names the levels that it has.
pub fn require_isolation(dialect: &dyn Dialect, isolation: Isolation) -> Result<(), WorkloadError> {
    if dialect.isolations().contains(&isolation) {
        return Ok(());
    }
    let offered: Vec<String> = dialect.isolations().iter().map(ToString::to_string).collect();
    Err(WorkloadError::Usage(format!(
        "{} does not offer the isolation level {isolation}: it has {}",
        dialect.name(),
        offered.join(", ")
    )))
}
