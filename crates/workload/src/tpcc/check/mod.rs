//! The check of a database: consistency conditions, invariants and the rules of the population.
//!
//! A check is a query of the rows that violate it, so an empty answer is a pass. It is written
//! once, in standard SQL, and asked for one warehouse after the other; a check that must scan a
//! table whole (HISTORY has no key, ORDER-LINE none by supply warehouse) is asked for as many
//! warehouses at once as sessions allow. Amounts are compared with amounts or with bound decimals,
//! never with literals, because a database may store them in another unit.
//!
//! Examples show values as the database stores them: on SQLite amounts are in cents, rates in ten-thousandths.

mod conditions;
mod invariants;
mod loaded;
mod population;
mod run;

use std::sync::atomic::{AtomicBool, AtomicU64};

use target::{Decimal, Error, Value};

use super::catalog::CatalogError;

pub use run::{check, check_only};

/// What must hold, and the query of the rows for which it does not.
#[derive(Debug)]
pub struct Check {
    /// `C1` to `C12` for the conditions, `I1` to `I14` for the invariants, words for the population.
    pub name: &'static str,
    /// Its clause.
    pub clause: &'static str,
    /// What must hold, in words.
    pub what: &'static str,
    scope: Scope,
    applies: Applies,
    /// The values of the parameters that follow those of the scope.
    bound: &'static [Value<'static>],
    sql: &'static str,
}

impl Check {
    /// The usual check: of one warehouse, at any time.
    const USUAL: Check = Check {
        name: "",
        clause: "",
        what: "",
        scope: Scope::Warehouse,
        applies: Applies::Always,
        bound: &[],
        sql: "",
    };
}

/// What one query looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// One warehouse, `$1`.
    Warehouse,
    /// The warehouses `$1` to `$2`: for small tables, and for scans of whole tables.
    Range,
    /// ITEM, which belongs to no warehouse.
    Items,
}

/// When a check makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Applies {
    /// After any number of transactions.
    Always,
    /// Before the first.
    AsLoaded,
}

/// An amount to compare with.
const fn cents(cents: i64) -> Value<'static> {
    Value::Decimal(Decimal { unscaled: cents, scale: 2 })
}

/// An amount without cents.
const fn dollars(whole: i64) -> Value<'static> {
    cents(whole * 100)
}

/// All checks, in the order of the results.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    [conditions::CONDITIONS, invariants::INVARIANTS, population::POPULATION].into_iter().flatten()
}

/// Which warehouses to check, and how many sessions do it side by side.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// The first warehouse.
    pub first_warehouse: i32,
    /// How many warehouses.
    pub warehouses: i32,
    /// Sessions.
    pub jobs: usize,
    /// How many seconds ago the data are looked at, all checks at the same instant; none: as they are when each is asked.
    pub seconds_ago: Option<u64>,
}

impl CheckOptions {
    fn last_warehouse(&self) -> i32 {
        self.first_warehouse.saturating_add(self.warehouses).saturating_sub(1)
    }
}

/// How far a check has come; read by whoever shows it.
#[derive(Debug, Default)]
pub struct CheckProgress {
    /// Queries to be asked in all.
    pub total: AtomicU64,
    /// Queries answered.
    pub done: AtomicU64,
    /// Set from outside to end the check after the queries under way.
    pub stop: AtomicBool,
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The check's name.
    pub name: &'static str,
    /// Its clause.
    pub clause: &'static str,
    /// What must hold, in words.
    pub what: &'static str,
    /// Whether it holds; a skipped check passes.
    pub passed: bool,
    /// Rows that violate it.
    pub violations: u64,
    /// A few of them, as `w_id=1, w_ytd=300001.00, sum_d_ytd=300000.00`.
    pub examples: Vec<String>,
    /// Why it was not checked, if it was not.
    pub skipped: Option<String>,
}

impl From<&CheckResult> for record::run::CheckResult {
    fn from(result: &CheckResult) -> Self {
        let detail = match result.examples.as_slice() {
            [] => result.what.to_string(),
            examples => format!("{}; violated by {}", result.what, examples.join("; ")),
        };
        Self {
            name: result.name.to_string(),
            clause: result.clause.to_string(),
            passed: result.passed,
            violations: result.violations,
            detail,
            skipped: result.skipped.clone(),
        }
    }
}

/// Why a check could not be made. One line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// There are no data, or the load has not come to its end.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Warehouses that the load does not have.
    #[error("warehouses {first} to {last}: the load has warehouses 1 to {loaded}")]
    NoSuchWarehouses {
        /// The first that was asked for.
        first: i32,
        /// The last that was asked for.
        last: i32,
        /// How many there are.
        loaded: i32,
    },
    /// The database can't read the past.
    #[error("{0} can't read the past: leave out --as-of")]
    NoPast(&'static str),
    /// Ctrl-C.
    #[error("interrupted: not everything was checked")]
    Interrupted,
    /// The database refused, with the check's name.
    #[error(transparent)]
    Database(#[from] Error),
}
