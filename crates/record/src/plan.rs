//! What a run set out to do, and the rules it is judged by, as they stand in `run.json`.
//!
//! Everything that a standard says comes in here as data: names, limits, clauses, windows. So a run
//! folder can be judged again from itself alone.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::labels::Labels;

/// Name of the total in [`Plan::common`].
pub(crate) const WAREHOUSES_OF_THE_FLEET: &str = "warehouses of the whole fleet";

/// The plan of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The workload: `tpcc`, or the name of one of the user's own, whose file lies in the run's folder.
    pub workload: String,
    /// How the workload is named and described to people.
    pub labels: Labels,
    /// Warehouses that this run drives; 0 for a workload that is not scaled by warehouses.
    pub warehouses: u32,
    /// The first of them, from 1.
    pub first_warehouse: u32,
    /// Warehouses driven by the whole fleet of clients; equals `warehouses` for a single client.
    pub total_warehouses: u32,
    /// Warehouses in the database (configured, 4.2.2).
    pub loaded_warehouses: u32,
    /// Keying and think times.
    pub pacing: Pacing,
    /// How statements travel: `row`, `batch`, `pipeline`, `procedure`.
    pub style: String,
    /// Isolation level asked of the database.
    pub isolation: String,
    /// How the next transaction is chosen, in words: `deck`, `45/43/4/4/4`.
    pub mix: String,
    /// Most headline transactions a minute that one warehouse can give with this mix at standard waits,
    /// all answers instant; 0 where there is no ceiling. Finite, as JSON has no infinity.
    pub ceiling_per_warehouse: f64,
    /// Connections to the database.
    pub connections: u32,
    /// What binds terminals to gateways: `none`, or their `warehouse`.
    pub affinity: String,
    /// The gateways, where there are several; empty: the one of the target's URL.
    pub gateways: Vec<GatewayPlan>,
    /// Terminals.
    pub terminals: u32,
    /// Driver threads.
    pub threads: u32,
    /// Planned ramp-up, seconds.
    pub ramp_seconds: f64,
    /// Planned measurement interval, seconds.
    pub duration_seconds: f64,
    /// When the ramp was to begin, by the client's clock; `None`: at once, or when the fleet was ready.
    pub start_at: Option<Timestamp>,
    /// How long after the ramp's beginning the terminals start, seconds.
    pub initial_delay_seconds: f64,
    /// Where the client stands, in its owner's words; empty: not told.
    pub region: String,
    /// Seed of the run's inputs.
    pub seed: u64,
    /// Seed of the data that it runs on.
    pub load_seed: u64,
    /// A hash of the file of a workload of the user's own; empty for TPC-C.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workload_file: String,
    /// Scale of the data of a workload of the user's own; 0 for TPC-C, whose scale is its warehouses.
    pub data_scale: f64,
    /// Whether the statements of the transactions are timed, each by itself.
    pub statements: bool,
    /// Run-time constants, such as the C values of NURand (2.1.6.1).
    pub constants: BTreeMap<String, i64>,
    /// The transaction types, in the order of every per-transaction list of the record.
    pub transactions: Vec<TransactionRule>,
    /// Windows of the generated input, in the order of the record's tallies.
    pub tallies: Vec<TallyRule>,
    /// What skipped deferred work is tolerated; `None`: no such work.
    pub skips: Option<SkipRule>,
    /// Throughput per warehouse.
    pub scale: ScaleRule,
    /// Shortest measurement interval of the standard, seconds (7200).
    pub standard_interval_seconds: f64,
    /// Clause of that interval (5.5.2.1).
    pub interval_clause: String,
    /// Clause of the steady state (5.5.1.1).
    pub steady_state_clause: String,
    /// Clause of the 90th percentile that is not below the mean (5.2.5.6).
    pub percentile_clause: String,
    /// Clause on transactions that fail (2.3.6).
    pub errors_clause: String,
    /// Why the plan leaves the standard on purpose; anything here makes the run `unconstrained`.
    #[serde(rename = "left_standard")]
    pub nonstandard: Vec<String>,
    /// Harmless deviations that are known beforehand; anything here makes it at best `engineering`.
    pub deviations: Vec<String>,
}

/// More warehouses, terminals or connections than any run has.
const MAX_RUN_SIZE: u32 = 100_000_000;

/// More terminals than any warehouse has, which by the standard is ten.
const MAX_TERMINALS_PER_WAREHOUSE: u32 = 40;

impl Plan {
    /// Position of the headline transaction (New-Order), if the plan names one.
    #[must_use]
    pub fn headline(&self) -> Option<usize> {
        self.transactions.iter().position(|t| t.headline)
    }

    /// The name of the headline transaction, for people; empty if the plan names none.
    #[must_use]
    pub fn headline_title(&self) -> &str {
        self.headline().map_or("", |index| self.transactions[index].title.as_str())
    }

    /// Whether warehouses scale the data and the load, and divide the run among the clients of a fleet.
    #[must_use]
    pub fn has_warehouses(&self) -> bool {
        self.warehouses > 0
    }

    /// What of it is larger than any run, so that sums over many clients stay numbers; `None`: nothing.
    pub(crate) fn beyond_all_sizes(&self) -> Option<&'static str> {
        let warehouses = [self.first_warehouse, self.warehouses, self.total_warehouses, self.loaded_warehouses];
        let of_gateways = self.gateways.iter().flat_map(|g| [g.connections, g.first_warehouse, g.warehouses]);
        let others = [self.terminals, self.connections, self.threads];
        if self.scale.terminals_per_warehouse > MAX_TERMINALS_PER_WAREHOUSE {
            return Some("a warehouse's number of terminals");
        }
        let too_large = warehouses.into_iter().chain(others).chain(of_gateways).any(|number| number > MAX_RUN_SIZE);
        too_large.then_some("the plan's number of warehouses, terminals, connections or threads")
    }

    /// What the parts of one run have in common, however many clients drive it: name and value, each in one line.
    #[must_use]
    pub fn common(&self) -> Vec<(&'static str, String)> {
        vec![
            ("workload", self.workload.clone()),
            ("data: seed of the load", self.load_seed.to_string()),
            ("data: constants", format!("{:?}", self.constants)),
            ("data: warehouses loaded", self.loaded_warehouses.to_string()),
            ("data: scale", self.data_scale.to_string()),
            (WAREHOUSES_OF_THE_FLEET, self.total_warehouses.to_string()),
            ("pacing", self.pacing.to_string()),
            ("style", self.style.clone()),
            ("isolation level", self.isolation.clone()),
            ("mix", self.mix.clone()),
            ("ramp-up and interval", format!("{} s and {} s", self.ramp_seconds, self.duration_seconds)),
        ]
    }

    /// Whether the run keeps to the standard, so that pacing, limits and efficiency mean something.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.nonstandard.is_empty()
    }
}

/// Keying and think times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// As the standard asks.
    #[default]
    Standard,
    /// None: the next transaction starts at once.
    None,
    /// The standard's, multiplied; below 1 is faster.
    Factor(f64),
}

impl Pacing {
    /// What the standard's waits are multiplied by: 1, 0 or the factor.
    #[must_use]
    pub fn factor(self) -> f64 {
        match self {
            Pacing::Standard => 1.0,
            Pacing::None => 0.0,
            Pacing::Factor(factor) => factor,
        }
    }
}

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pacing::Standard => f.write_str("standard"),
            Pacing::None => f.write_str("none"),
            Pacing::Factor(factor) => write!(f, "{factor}"),
        }
    }
}

/// A gateway of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GatewayPlan {
    /// Where it is, without a password.
    pub url: String,
    /// Connections that are dealt to it.
    pub connections: u32,
    /// The first warehouse whose terminals use it.
    pub first_warehouse: u32,
    /// How many those warehouses are.
    pub warehouses: u32,
}

/// A transaction type and the limits that the standard sets it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TransactionRule {
    /// Name in tags, columns and JSON: `new_order`.
    pub name: String,
    /// Name for people: `New-Order`.
    pub title: String,
    /// Whether it is the one whose rate is the result (New-Order).
    pub headline: bool,
    /// Smallest share of the mix, as a fraction; `None`: no rule, as for a mix changed on purpose.
    pub minimum_share: Option<f64>,
    /// Clause of the share.
    pub share_clause: String,
    /// Least keying time, seconds, of the standard.
    pub keying_seconds: f64,
    /// Least mean think time, seconds, of the standard.
    pub mean_think_seconds: f64,
    /// Clause of both waits.
    pub waits_clause: String,
    /// 90 % of the response times must be below this, seconds.
    pub response_limit_seconds: f64,
    /// Clause of the response time.
    pub response_clause: String,
    /// 90 % of the deferred parts must complete within this, seconds; `None`: nothing is deferred.
    pub deferred_limit_seconds: Option<f64>,
    /// Clause of the deferred part.
    pub deferred_clause: String,
}

/// A window that the standard sets the generated input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyRule {
    /// What is counted, for people: `remote order lines`.
    pub name: String,
    /// Clause of the window.
    pub clause: String,
    /// Share or mean.
    pub kind: TallyKind,
    /// Lower edge of the window: a fraction for a share.
    pub low: f64,
    /// Upper edge of the window.
    pub high: f64,
    /// What an honest generator gives on average.
    pub expected: f64,
    /// Trials with which the window's edge is three standard errors from `expected`.
    pub sample_for_3_sigma: u64,
    /// Variance of one trial: p(1-p) for a share.
    pub variance_per_trial: f64,
}

/// What a tally measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TallyKind {
    /// Hits of trials.
    #[default]
    Share,
    /// Mean of a value over trials.
    Mean,
}

/// How much deferred work may be skipped: the greater of a share and a count (2.7.4.2).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkipRule {
    /// Largest share of the completed deferred transactions, as a fraction.
    pub max_share: f64,
    /// Number that is tolerated whatever its share.
    pub max_count: u64,
    /// Clause.
    pub clause: String,
}

/// Throughput per warehouse (4.1.3, 4.2.2).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScaleRule {
    /// Most headline transactions a minute per driven warehouse (12.86); the base of the efficiency.
    pub max_per_warehouse: f64,
    /// Fewest per configured warehouse (9).
    pub min_per_warehouse: f64,
    /// Terminals per driven warehouse (10).
    pub terminals_per_warehouse: u32,
    /// Clause of both rates.
    pub clause: String,
    /// Clause of the terminals.
    pub terminals_clause: String,
}
