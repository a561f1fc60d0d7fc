//! Faults that were made on purpose during a run.

use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fault {
    /// What was done: `kill node2`.
    pub what: String,
    /// When it began, from the start of the run, seconds.
    pub at_seconds: f64,
    /// How long it took to be done, seconds: a restart lasts until the server takes connections.
    pub took_seconds: f64,
    /// Why it could not be done; `None`: it was done.
    pub failed: Option<String>,
}

impl Fault {
    /// One line for people.
    #[must_use]
    pub fn line(&self) -> String {
        let Fault { what, at_seconds, took_seconds, failed } = self;
        let took = if *took_seconds >= 0.1 { format!(", done {took_seconds:.1} s later") } else { String::new() };
        match failed {
            None => format!("{at_seconds:.1} s: {what}{took}"),
            Some(why) => format!("{at_seconds:.1} s: {what} FAILED: {why}"),
        }
    }
}
