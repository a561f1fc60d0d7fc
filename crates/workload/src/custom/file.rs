//! The file of a workload, as it is written.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::per_database::PerDatabase;
use serde::Deserialize;

/// A workload, as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Custom {
    /// Its name: small letters, digits, `-` and `_`.
    pub name: String,
    /// What it is, in a line.
    #[serde(default)]
    pub about: String,
    /// The data set that it works on, where its tables are not its own: `movr`.
    pub data: Option<KnownData>,
    /// Its tables, parents first.
    #[serde(default, rename = "table")]
    pub tables: Vec<Table>,
    /// Rows to draw values from: a query each, asked when a run begins; `:pool.column` is then a parameter.
    #[serde(default)]
    pub pools: BTreeMap<String, PerDatabase<String>>,
    /// Its transactions. The rate of the first is the result.
    #[serde(default, rename = "transaction")]
    pub transactions: Vec<Transaction>,
    /// What must hold.
    #[serde(default, rename = "check")]
    pub checks: Vec<Check>,
    /// What the database must have gained by what was acknowledged.
    #[serde(default, rename = "ledger")]
    pub ledger: Vec<Gain>,
    /// The file itself.
    #[serde(skip)]
    pub text: String,
    /// What a command line calls it by: its name, or the path of its file.
    #[serde(skip)]
    pub called: String,
}

/// A data set that comes with the program.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum KnownData {
    /// MovR.
    Movr,
}

/// A table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its rows at scale 1.
    pub rows: u64,
    /// Whether it has as many at any scale.
    #[serde(default)]
    pub fixed: bool,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The columns of its primary key; none if it has none.
    #[serde(default)]
    pub primary_key: Vec<String>,
    /// Its secondary indexes, by name.
    #[serde(default)]
    pub indexes: BTreeMap<String, Vec<String>>,
    /// Its foreign keys, by name.
    #[serde(default)]
    pub foreign_keys: BTreeMap<String, ForeignKey>,
}

/// A column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type: `int`, `decimal(12, 2)`, `varchar(40)` and the like.
    #[serde(rename = "type")]
    pub kind: String,
    /// The generator of its values, or `of(TABLE.COLUMN)`: that of any row of a table before this one. A table that is
    /// loaded without rows needs none.
    #[serde(default)]
    pub value: String,
    /// The share of its rows that are NULL.
    #[serde(default)]
    pub nulls: f64,
}

/// A foreign key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignKey {
    /// The referencing columns.
    pub columns: Vec<String>,
    /// The referenced table.
    pub table: String,
    /// Its columns.
    pub references: Vec<String>,
}

/// A transaction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// Its name.
    pub name: String,
    /// How often it comes, beside the weights of the others.
    pub weight: u32,
    /// Generators of its parameters, by name, or `of(TABLE.COLUMN)`: all of one table are of one row.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// Its statements, in order.
    pub steps: Vec<Step>,
    /// `once`: all are one transaction; `auto`: the only one commits by itself, without BEGIN and COMMIT.
    #[serde(default)]
    pub commit: Commit,
    /// Whether it only reads, which its BEGIN says.
    #[serde(default)]
    pub read_only: bool,
    /// The share that is rolled back at the end, by design.
    #[serde(default)]
    pub rollback: f64,
    /// The keying time before it, such as `2s`.
    pub keying: Option<String>,
    /// The mean think time after it.
    pub think: Option<String>,
    /// 90 of 100 must be answered in this time.
    pub response_limit: Option<String>,
}

/// A statement of a transaction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The statement, in the database's own SQL.
    pub sql: PerDatabase<String>,
    /// Parameters of the steps behind it that take their values from the columns of its first row, in their order.
    #[serde(default)]
    pub keep: Vec<String>,
    /// The rows that it must return or change; with another number the transaction is rolled back, as an error.
    pub expect: Option<u64>,
    /// Whether the transaction ends here, and is rolled back, where this returns or changes no row; it counts as completed.
    #[serde(default)]
    pub or_end: bool,
}

/// What is a database transaction.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Commit {
    /// All statements.
    #[default]
    Once,
    /// The only statement, by itself.
    Auto,
}

/// What must hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What it is, in a few words.
    pub name: String,
    /// The query.
    pub sql: PerDatabase<String>,
    /// What its answer must be.
    pub must: Must,
}

/// What the answer to a check must be.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Must {
    /// Without a row: each is a violation.
    BeEmpty,
    /// The same after a run as before it.
    Stay,
}

/// What the database must have gained.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gain {
    /// What it is, in a few words.
    pub name: String,
    /// A query for a whole number.
    pub sql: PerDatabase<String>,
    /// By how much each committed transaction of a name adds to it, from 1 on.
    pub per: BTreeMap<String, u32>,
}

/// The workloads that come with the program, by name.
const BUILT_IN: [(&str, &str); 3] = [
    ("bank", include_str!("../../workloads/bank.toml")),
    ("key-value", include_str!("../../workloads/key-value.toml")),
    ("movr", include_str!("../../workloads/movr.toml")),
];

impl Custom {
    /// The names of those that come with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// One that comes with the program.
    ///
    /// # Errors
    /// As [`Custom::parse`].
    #[must_use]
    pub fn built_in(name: &str) -> Option<Result<Self, String>> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| Self::parse(text))
    }

    /// Reads a file, and makes sure of all that can be known without a database.
    ///
    /// # Errors
    /// What is wrong with it, and where, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut custom: Custom = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let message = e.message().replace('\n', " ");
            if line > 0 { format!("line {line}: {message}") } else { message }
        })?;
        text.clone_into(&mut custom.text);
        custom.called.clone_from(&custom.name);
        custom.check()?;
        Ok(custom)
    }

    /// Makes sure that all its statements have words for a database.
    ///
    /// # Errors
    /// The first that has none.
    pub fn require(&self, dialect: &dyn target::Dialect) -> Result<(), String> {
        let lacks = |what: &str, sql: &PerDatabase<String>| match sql.of(dialect) {
            Some(_) => Ok(()),
            None => Err(format!("workload {}: {what} has no statement for {}", self.name, dialect.name())),
        };
        for transaction in &self.transactions {
            for (at, step) in (1..).zip(&transaction.steps) {
                lacks(&format!("step {at} of {}", transaction.name), &step.sql)?;
            }
        }
        self.pools.iter().try_for_each(|(name, sql)| lacks(&format!("the pool {name}"), sql))?;
        self.checks.iter().try_for_each(|check| lacks(&format!("the check `{}`", check.name), &check.sql))?;
        self.ledger.iter().try_for_each(|gain| lacks(&format!("the ledger's `{}`", gain.name), &gain.sql))
    }
}

impl Transaction {
    /// The keying time before it.
    pub fn keying(&self) -> Duration {
        time(self.keying.as_deref())
    }

    /// The mean think time after it.
    pub fn think(&self) -> Duration {
        time(self.think.as_deref())
    }

    /// 90 of 100 must be answered in this time; zero: nothing is asked.
    pub fn response_limit(&self) -> Duration {
        time(self.response_limit.as_deref())
    }
}

/// A time that was made sure of when the file was read.
fn time(text: Option<&str>) -> Duration {
    text.and_then(|text| duration(text).ok()).unwrap_or_default()
}

/// A time as it is written: `250ms`, `1.5s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let parsed: Option<jiff::SignedDuration> = text.parse().ok();
    let time = parsed.and_then(|time| Duration::try_from(time).ok()).filter(|time| *time < Duration::from_secs(86_400));
    time.ok_or_else(|| format!("`{text}` is no time: write 250ms, 2s or 1m"))
}
