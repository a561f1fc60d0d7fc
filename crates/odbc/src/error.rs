//! What can go wrong.

use std::fmt;

/// A failed call. `Display` is one line.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The driver manager is missing, or can't be used.
    #[error("{0}")]
    Manager(String),
    /// The driver, or the database behind it, refused. The first diagnostic is the reason.
    #[error("{}", one_line(.0))]
    Driver(Vec<Diagnostic>),
    /// The driver takes one row of parameters at a time.
    #[error("the driver takes no arrays of parameters")]
    NoArrays,
    /// A value that can't be sent, or one that can't be read.
    #[error("{0}")]
    Value(String),
}

impl Error {
    /// The reason, where it came from the driver.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        match self {
            Error::Driver(diagnostics) => diagnostics.first(),
            _ => None,
        }
    }
}

/// A diagnostic record of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// SQLSTATE: five characters, the first two its class.
    pub state: String,
    /// The data source's own number; drivers differ in what they put in SQLSTATE alone.
    pub native: i32,
    /// The message, on one line.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, native {})", self.message, self.state, self.native)
    }
}

fn one_line(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or_else(|| "the ODBC driver gave no reason".to_owned(), ToString::to_string)
}
