//! What a run is asked to do, what it reports as it goes, and why it may not come about.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use record::plan::{Pacing, Plan};
use record::{OpenedRun, RecordError, RunFolder};
use target::{Dialect, Error, Gateways, Isolation};
use tokio::sync::watch;
use workload::{CheckProgress, WorkloadError};

use crate::assignment::Affinity;
use crate::collector::Second;
use crate::error_policy::OnError;
use crate::faults::Faults;
use crate::fleet::{FleetError, Start};

/// What a run is asked to do, whatever its workload.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database, by one gateway or several.
    pub gateways: Gateways,
    /// What binds terminals to gateways.
    pub affinity: Affinity,
    /// Time before the measurement.
    pub ramp: Duration,
    /// The measurement interval.
    pub duration: Duration,
    /// Keying and think times.
    pub pacing: Pacing,
    /// Connections; none: as many as suit the run.
    pub connections: Option<u32>,
    /// Terminals; none: the workload's number, or as many as connections where there are no waits.
    pub terminals: Option<u32>,
    /// Isolation level; none: the database's default.
    pub isolation: Option<Isolation>,
    /// Where this client is, in its owner's words; empty: unknown.
    pub region: String,
    /// Whether to time each statement of the transactions.
    pub statements: bool,
    /// Seed of the inputs; in a fleet the seed of worker 1 counts.
    pub seed: u64,
    /// What to do about errors that would come again.
    pub on_error: OnError,
    /// When the run begins, and with which other clients.
    pub start: Start,
    /// Faults to inject.
    pub faults: Option<Faults>,
    /// Whether to check the data afterwards.
    pub check: bool,
    /// The run folder; none: a new one in [`RESULTS`], named for the moment and the run.
    pub out: Option<PathBuf>,
}

impl Options {
    /// A run of `duration` in which nothing else is asked for.
    #[must_use]
    pub fn new(gateways: Gateways, duration: Duration) -> Self {
        Self {
            gateways,
            affinity: Affinity::None,
            ramp: Duration::ZERO,
            duration,
            pacing: Pacing::Standard,
            connections: None,
            terminals: None,
            isolation: None,
            region: String::new(),
            statements: false,
            seed: 1,
            on_error: OnError::default(),
            start: Start::default(),
            faults: None,
            check: false,
            out: None,
        }
    }

    /// The connections that were asked for, or that suit so many affinity keys; each gateway needs one.
    pub(crate) fn connections_for(&self, keys: u32, gateways: usize) -> Result<u32, String> {
        let suited = || suited_connections(self.gateways.dialect(), keys).max(gateways as u32);
        let connections = self.connections.unwrap_or_else(suited);
        if (connections as usize) < gateways {
            return Err(format!("--connections {connections} for {gateways} gateways: each needs one at least"));
        }
        Ok(connections)
    }

    /// Completes a plan with what follows from the options alone.
    pub(crate) fn complete(&self, plan: &mut Plan, connections: u32, terminals: u32) {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        plan.connections = connections;
        plan.terminals = terminals;
        plan.threads = cores.min(connections).min(terminals).max(1);
        plan.affinity = self.affinity.to_string();
        plan.ramp_seconds = self.ramp.as_secs_f64();
        plan.duration_seconds = self.duration.as_secs_f64();
        plan.start_at = self.start.at;
        plan.initial_delay_seconds = self.start.initial_delay.as_secs_f64();
        plan.region.clone_from(&self.region);
        plan.statements = self.statements;
        plan.seed = self.seed;
    }
}

/// Default number of connections: two for each affinity key, within these bounds.
const DEFAULT_CONNECTIONS: std::ops::RangeInclusive<u32> = 8..=128;

/// The connections of a run that asks for no number.
pub(crate) fn suited_connections(dialect: &dyn Dialect, keys: u32) -> u32 {
    let useful = dialect.useful_connections().unwrap_or(u32::MAX);
    keys.saturating_mul(2).clamp(*DEFAULT_CONNECTIONS.start(), *DEFAULT_CONNECTIONS.end()).min(useful)
}

/// The folder in which results are kept unless `--out` names another.
pub const RESULTS: &str = "results";

/// A folder in [`RESULTS`] that is named for the moment and for `what` it holds.
#[must_use]
pub fn results_folder(what: &str) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
    Path::new(RESULTS).join(format!("{now}-{what}"))
}

/// The signal that ends a run early.
pub type Stop = watch::Receiver<bool>;

/// What a run reports as it goes.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// All connections are open and the run folder is made.
    Begun {
        /// The plan.
        plan: &'a Plan,
        /// The run folder.
        folder: &'a RunFolder,
    },
    /// A second has passed.
    Second(Second<'a>),
    /// The terminals have stopped; the state of the database is read next.
    Ended,
    /// The checks of the data begin; [`CheckProgress::stop`] ends them.
    Checking(&'a Arc<CheckProgress>),
    /// The record is complete, with summary and verdict.
    Judged(&'a OpenedRun),
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The options contradict the database or each other; nothing was touched.
    #[error("{0}")]
    Usage(String),
    /// The data are not there, or not complete.
    #[error("{0}")]
    NotLoaded(String),
    /// The database refused before the run began.
    #[error(transparent)]
    Database(#[from] Error),
    /// The fleet does not come about.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The run folder can't be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The machine refused something.
    #[error("{0}")]
    Machine(String),
}

impl From<WorkloadError> for RunError {
    fn from(error: WorkloadError) -> Self {
        match error {
            WorkloadError::Usage(message) => RunError::Usage(message),
            WorkloadError::NotLoaded(message) => RunError::NotLoaded(message),
            WorkloadError::Database(error) => RunError::Database(error),
        }
    }
}

/// A runtime of one thread, for what happens before and after the run.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, RunError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| RunError::Machine(format!("can't start a runtime: {e}")))
}
