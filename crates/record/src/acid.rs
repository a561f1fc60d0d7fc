//! What the tests of clause 3 found at each isolation level.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::run::{CheckResult, Target, Tool};

/// What came of a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// What must not be seen was not seen.
    Passes,
    /// It was seen.
    Fails,
    /// The database has no such level.
    NotOffered,
    /// The test could not be brought to its end.
    #[default]
    Undecided,
}

/// One test at one level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestResult {
    /// Its short name: `isolation 3`.
    pub name: String,
    /// What it is about, in a few words.
    pub title: String,
    /// Its clause, or the paper that describes the phenomenon.
    pub source: String,
    /// Whether clause 3.4 asks for it; the others only describe the level.
    pub required: bool,
    /// What came of it.
    pub outcome: Outcome,
    /// Which of the cases that the standard names was seen (3.4.2.7 to 3.4.2.9).
    pub case: Option<char>,
    /// What was seen, in a sentence.
    pub seen: String,
}

/// All tests at one level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LevelResult {
    /// The level: `repeatable-read`.
    pub isolation: String,
    /// Whether the level was asked for, or is the one that runs use.
    pub judged: bool,
    /// The tests, in their order.
    pub tests: Vec<TestResult>,
}

impl LevelResult {
    /// Whether all that clause 3 asks of the level was seen to hold.
    #[must_use]
    pub fn gives_clause_3_4(&self) -> bool {
        self.tests.iter().filter(|test| test.required).all(|test| test.outcome == Outcome::Passes)
    }
}

/// The whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AcidResult {
    /// What made the tests.
    pub tool: Tool,
    /// The database.
    pub target: Target,
    /// When they began.
    pub started_at: Option<Timestamp>,
    /// Warehouses that the tests chose from, the first ones of the load.
    pub warehouses: u64,
    /// Seed of their choices.
    pub seed: u64,
    /// Gateways over which the sessions of a test were dealt out.
    pub gateways: usize,
    /// The levels, weakest first.
    pub levels: Vec<LevelResult>,
    /// The twelve consistency conditions before the tests (3.3.2).
    pub checks_before: Vec<CheckResult>,
    /// And after them.
    pub checks_after: Vec<CheckResult>,
}

impl AcidResult {
    /// Whether the conditions held before and after.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.checks_before.iter().chain(&self.checks_after).all(|check| check.passed)
    }

    /// Whether every judged level gives what clause 3.4 needs, on data that stayed consistent.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.is_consistent() && self.levels.iter().filter(|level| level.judged).all(LevelResult::gives_clause_3_4)
    }
}
