//! What can keep a measurement from its end.

use std::time::Duration;

use target::Class;

/// One line each.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database refused, or is gone.
    #[error("{0}")]
    Database(#[from] target::Error),
    /// A parameter without a value.
    #[error("{0}")]
    Value(#[from] workload::values::Unknown),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
    /// A statement took longer than it may, and was broken off.
    #[error("a statement took longer than {0:?} and was broken off (--timeout): {1}")]
    TimedOut(Duration, String),
    /// A transaction was tried again and again.
    #[error("a transaction was tried {0} times, and always met a conflict: {1}")]
    Conflicts(u32, String),
    /// What was asked for can't be done; nothing was touched.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Whether a connection is gone, and with it perhaps the database.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, Error::Database(e) if matches!(e.class(), Class::Lost | Class::Unknown))
    }
}

/// The start of a statement, on one line, for messages.
#[must_use]
pub fn excerpt(sql: &str) -> String {
    let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(100) {
        Some((at, _)) => format!("{} ...", &line[..at]),
        None => line,
    }
}
