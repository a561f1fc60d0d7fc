//! `run.json`: the one document that says what a run was and what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::audit::Audit;
use crate::failover::Disturbances;
use crate::fault::Fault;
use crate::gateway::{GatewayCounts, Moves};
use crate::histogram::Stats;
use crate::merge::{ClientPart, RegionPart};
use crate::plan::Plan;
use crate::recorder::{Counts, Phase, Recorder, Tally};
use crate::statements::{self, StatementTimes};
use crate::summary::Summary;
use crate::verdict::Verdict;

/// The version that this tool writes, and the newest that it reads.
///
/// Fields may be added within a version, and readers ignore those they don't know; a change of
/// meaning takes the next number.
pub const RECORD_VERSION: u32 = 1;

/// Everything that stands in `run.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRecord {
    /// See [`RECORD_VERSION`].
    pub record_version: u32,
    /// What wrote the record.
    pub tool: Tool,
    /// The machine that drove.
    pub client: Client,
    /// The database that was driven.
    pub target: Target,
    /// How the data lay on the nodes at the start, as `weighbridge topology --json` tells it; `None`: not read.
    pub topology: Option<serde_json::Value>,
    /// What the run set out to do.
    pub plan: Plan,
    /// When the ramp began; terminals start then, or `initial_delay_seconds` of the plan later.
    pub started_at: Option<Timestamp>,
    /// When the measurement interval opened; `None` until then.
    pub measured_from: Option<Timestamp>,
    /// When the last terminal stopped; `None` until then.
    pub ended_at: Option<Timestamp>,
    /// How the run ended.
    pub ended: Ended,
    /// Length of the measurement interval as it really was, seconds.
    pub measured_seconds: f64,
    /// Counts per transaction type, in the order of the plan.
    pub counts: Vec<TransactionCounts>,
    /// Tallies of the measurement interval, in the order of the plan.
    pub tallies: Vec<Tally>,
    /// The clients of a merged run; empty for the run of one.
    pub clients: Vec<ClientPart>,
    /// The same by the regions that the clients name; empty if none does.
    pub regions: Vec<RegionPart>,
    /// Its part in a fleet; `None`: it met nobody, or is a merged run.
    pub fleet: Option<FleetPart>,
    /// What went through each gateway, in the order of the plan; empty where there is only one.
    pub gateways: Vec<GatewayRecord>,
    /// Where the time of each transaction type went, in the order of the plan; empty where statements were not timed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementTimes>,
    /// What the tool itself weighed.
    pub tare: Tare,
    /// Acknowledged work held against the database; `None`: not done.
    pub reconciliation: Option<Reconciliation>,
    /// Faults that were made on purpose, in the order of their beginnings.
    pub faults: Vec<Fault>,
    /// Lost connections and times without a success, as they came.
    #[serde(rename = "trouble")]
    pub disturbances: Disturbances,
    /// The ledger held against the database, transaction by transaction; `None`: not done.
    pub audit: Option<Audit>,
    /// Consistency conditions checked after the run; `None`: not done.
    pub checks: Option<Vec<CheckResult>>,
    /// Derived at the end; `None` until then.
    pub summary: Option<Summary>,
    /// Derived at the end; `None` until then.
    pub verdict: Option<Verdict>,
}

impl RunRecord {
    /// A record of the present version, with everything else empty and counts shaped by the plan.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let counts = plan
            .transactions
            .iter()
            .map(|rule| TransactionCounts { name: rule.name.clone(), ..Default::default() })
            .collect();
        let tallies = vec![Tally::default(); plan.tallies.len()];
        let gateways = vec![GatewayRecord::default(); plan.gateways.len()];
        RunRecord { record_version: RECORD_VERSION, plan, counts, tallies, gateways, ..Default::default() }
    }

    /// Adds what one second's merged recorder counted.
    pub fn add(&mut self, interval: &Recorder) {
        for (index, counts) in self.counts.iter_mut().enumerate() {
            counts.measured.merge(interval.counts(index, Phase::Measured));
            counts.outside.merge(interval.counts(index, Phase::Outside));
        }
        for (mine, theirs) in self.tallies.iter_mut().zip(interval.tallies(Phase::Measured)) {
            mine.merge(theirs);
        }
        let timed: Vec<StatementTimes> =
            interval.statement_recorders().iter().map(|recorder| recorder.times().clone()).collect();
        statements::merge_all(&mut self.statements, &timed);
        for (mine, theirs) in self.gateways.iter_mut().zip(interval.gateways()) {
            mine.measured.merge(theirs.counts(Phase::Measured));
            mine.outside.merge(theirs.counts(Phase::Outside));
            mine.moves.merge(&theirs.moves);
        }
    }
}

/// The program that wrote a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// `weighbridge`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The commit that it was built from, with `-changed` behind it if its sources were; empty: not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
}

/// What [`Tool::built_from`] was told.
static COMMIT: OnceLock<&'static str> = OnceLock::new();

impl Tool {
    /// Says which commit this process was built from. Only the binary knows: a crate that did would be compiled anew for
    /// each commit, and all those above it. The first call counts.
    pub fn built_from(commit: &'static str) {
        COMMIT.get_or_init(|| commit);
    }

    /// This process.
    pub fn this() -> Self {
        Self {
            name: "weighbridge".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: COMMIT.get().copied().unwrap_or_default().to_owned(),
        }
    }
}

/// Name, version and commit, as `weighbridge 0.1.0 (557ab248c)`.
impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)?;
        match self.commit.as_str() {
            "" => Ok(()),
            commit => write!(f, " ({commit})"),
        }
    }
}

/// The machine that drove.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Client {
    /// Operating system and its version.
    pub os: String,
    /// Processors that the tool may use.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
}

/// A client's part in a fleet whose workers met in the database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetPart {
    /// Its number, from 1.
    pub worker: u32,
    /// How many workers the fleet had.
    pub workers: u32,
    /// The database's clock less this machine's, seconds: what is to be added to the times of this record.
    pub clock_offset_seconds: f64,
    /// How far that may be off, either way, seconds.
    pub clock_error_seconds: f64,
    /// The workers that did not come to their end.
    pub lost: Vec<LostWorker>,
}

/// A worker that did not come to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LostWorker {
    /// Its number, from 1.
    pub worker: u32,
    /// Where it ran: host and process.
    pub host: String,
    /// When it was last seen, by the database's clock.
    pub last_seen: Option<Timestamp>,
}

/// The database that was driven.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// Which database: `postgres`.
    pub kind: String,
    /// Version, as it calls itself.
    pub version: String,
    /// Where it is, without a password; the caller redacts. Several gateways are separated by blanks.
    pub url: String,
    /// Settings that matter to a result.
    pub settings: BTreeMap<String, String>,
    /// Whether it works inside the tool's own process, as SQLite does.
    pub embedded: bool,
    /// Whether it keeps no data and only answers, so that nothing but the tool is measured.
    pub without_data: bool,
    /// What the load was asked for beyond the rows, by name: how it spread them over the cluster, and `foreign_keys`;
    /// empty: as the database does it by itself, and none.
    pub placement: BTreeMap<String, String>,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Not yet; or the tool was killed.
    #[default]
    Running,
    /// As planned.
    Completed,
    /// Stopped early by a person.
    Interrupted,
    /// Stopped by an error, in one line.
    Failed(String),
}

/// Counts of one transaction type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TransactionCounts {
    /// Name in the plan.
    pub name: String,
    /// Inside the measurement interval.
    pub measured: Counts,
    /// Ramp-up, straddling, drain.
    pub outside: Counts,
}

impl TransactionCounts {
    /// Everything that was acknowledged as completed, in the interval or not.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.measured.completed + self.outside.completed
    }
}

/// What went through one gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GatewayRecord {
    /// Inside the measurement interval.
    pub measured: GatewayCounts,
    /// Ramp-up, straddling, drain.
    pub outside: GatewayCounts,
    /// What became of its connections, in the whole run.
    pub moves: Moves,
}

/// What the tool itself weighed during the measurement interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tare {
    /// CPU time of the tool, seconds.
    pub cpu_seconds: f64,
    /// CPU time per completed headline transaction, microseconds.
    pub cpu_us_per_headline: f64,
    /// Largest resident memory of the tool, bytes.
    pub peak_rss_bytes: u64,
    /// CPU time over the time of all driver threads, 0..1.
    pub cpu_share_of_threads: f64,
    /// How late the tool's timer woke its terminals.
    pub lag: Stats,
}

/// Acknowledged work held against the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reconciliation {
    /// What was compared.
    pub checked: Vec<ReconciledItem>,
    /// Whether nothing acknowledged is missing and nothing is there that nobody asked for.
    pub passed: bool,
    /// One line for people.
    pub detail: String,
}

/// One comparison of acknowledged with kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReconciledItem {
    /// What was counted: `orders`.
    pub name: String,
    /// Acknowledged by the database.
    pub acknowledged: u64,
    /// Found in the database beyond what was there before.
    pub gained: u64,
    /// Outcome unknown, because the connection broke.
    pub unknown: u64,
    /// Acknowledged and not there.
    pub missing: u64,
}

/// Why a check was not made that `run --check` makes.
pub const NOT_ASKED_FOR: &str = "made by run --check";

/// One consistency condition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckResult {
    /// What must hold.
    pub name: String,
    /// Its clause.
    pub clause: String,
    /// Whether it holds, as far as it was looked at.
    pub passed: bool,
    /// Rows that violate it.
    pub violations: u64,
    /// One line for people.
    pub detail: String,
    /// Why it was not looked at; `None`: it was.
    pub skipped: Option<String>,
}

/// How many of a set of checks hold, fail, and were not looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// Looked at, and they hold.
    pub hold: usize,
    /// Looked at, and they don't.
    pub failed: usize,
    /// Not looked at, since they say nothing of the data as they are.
    pub skipped: usize,
}

impl CheckCounts {
    /// Counts the results.
    #[must_use]
    pub fn from_checks(checks: &[CheckResult]) -> Self {
        let skipped = checks.iter().filter(|check| check.skipped.is_some()).count();
        let failed = checks.iter().filter(|check| check.skipped.is_none() && !check.passed).count();
        CheckCounts { hold: checks.len() - failed - skipped, failed, skipped }
    }
}

impl std::fmt::Display for CheckCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} hold", self.hold, self.hold + self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}
