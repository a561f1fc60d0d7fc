//! What is timed: statements, how they travel, and what is around them.

use crate::error::excerpt;
use target::{Isolation, Protocol};
use workload::template::Template;

/// How the statements of a subject end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Each commits by itself.
    #[default]
    Alone,
    /// All are one transaction, and its COMMIT is timed with it.
    Commit,
    /// All are one transaction that is rolled back afterwards, which is not timed.
    Rollback,
}

impl Ending {
    /// Each ending with its name on the command line and in results.
    pub const NAMES: [(Ending, &'static str); 3] =
        [(Ending::Alone, "none"), (Ending::Commit, "commit"), (Ending::Rollback, "rollback")];

    /// Its name on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(ending, _)| *ending == self).map_or("", |(_, name)| name)
    }
}

/// What is timed, as one.
#[derive(Clone, Debug)]
pub struct BenchCase {
    /// The statements, in their order.
    pub steps: Vec<Step>,
    /// What they are part of.
    pub ending: Ending,
    /// The level of their transaction; `None`: the database's usual one.
    pub isolation: Option<Isolation>,
    /// How they travel.
    pub protocol: Protocol,
    /// Whether all of them are sent at once, as one text.
    pub one_flight: bool,
    /// Sessions that do the same side by side; the time is that of all.
    pub connections: usize,
    /// How often each session does it.
    pub times: u32,
    /// Statements before each time, not timed.
    pub prepare: Vec<Template>,
    /// Statements that undo it, not timed.
    pub undo: Vec<Template>,
}

impl BenchCase {
    /// Times one statement that commits by itself.
    #[must_use]
    pub fn from_statement(statement: Template) -> Self {
        Self {
            steps: vec![Step::from_statement(statement)],
            ending: Ending::Alone,
            isolation: None,
            protocol: Protocol::Prepared,
            one_flight: false,
            connections: 1,
            times: 1,
            prepare: Vec::new(),
            undo: Vec::new(),
        }
    }
}

/// A statement of a subject.
#[derive(Clone, Debug)]
pub struct Step {
    /// The statement.
    pub statement: Template,
    /// How often it runs, each time with other values.
    pub times: u32,
    /// The name under which the rows that it returns give values to the steps behind it: `name.column` is of the first
    /// row, and a copy of a parameter in a repeated part is of the row of its number.
    pub keep: Option<String>,
    /// The rows that it must change, or else the transaction is tried again.
    pub expect: Option<u64>,
}

impl Step {
    /// For people: the statement with its parameters' names, on one line and not too long.
    #[must_use]
    pub fn shown(&self) -> String {
        let sql = excerpt(&self.statement.named());
        match self.times {
            1 => sql,
            times => format!("{times} times: {sql}"),
        }
    }

    /// Runs a statement once.
    #[must_use]
    pub fn from_statement(statement: Template) -> Self {
        Self { statement, times: 1, keep: None, expect: None }
    }
}
