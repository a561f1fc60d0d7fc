//! How a database ran, or would run, a statement.

use serde::{Deserialize, Serialize};

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// To be read by people, a line an operator.
    pub lines: Vec<String>,
    /// How each table is reached, in the plan's order.
    pub accesses: Vec<TableAccess>,
    /// What the database counted as it ran the statement: rows read, or [`Plan::unit`]; `None`: it was not run, or does
    /// not tell.
    pub work: Option<f64>,
    /// What `work` counts.
    pub unit: String,
}

/// How a plan reaches a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableAccess {
    /// The table, or its alias in the statement, as the database names it there.
    pub table: String,
    /// The index; `None`: none, or the table's own key where the database doesn't name it.
    pub index: Option<String>,
    /// Whether it looks for keys or reads all.
    pub how: How,
    /// Whether the index alone answers.
    pub covering: bool,
    /// The rows that the database expected to read here or to get from here.
    pub estimated_rows: Option<f64>,
    /// The rows that it read here or got from here, in all, if it was run.
    pub rows: Option<f64>,
}

/// Whether keys are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// All rows of the table are read.
    Scan,
    /// A whole index is read.
    IndexScan,
    /// Keys, or ranges of keys, are looked for.
    Seek,
}

impl How {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            How::Scan => "full scan",
            How::IndexScan => "full index scan",
            How::Seek => "seek",
        }
    }
}

impl std::fmt::Display for TableAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.table, self.how.words())?;
        if let Some(index) = &self.index {
            let covering = if self.covering { ", covering" } else { "" };
            write!(f, " by {index}{covering}")?;
        }
        Ok(())
    }
}

impl Plan {
    /// The tables' accesses in a few words: `users: seek by users_name, covering; rides: full scan`.
    #[must_use]
    pub fn summary(&self) -> String {
        let parts: Vec<String> = self.accesses.iter().map(TableAccess::to_string).collect();
        parts.join("; ")
    }
}
