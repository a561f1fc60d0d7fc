//! What can go wrong at a database, classed by what a terminal may do about it.

use std::fmt;

/// What a failure means for the transaction it hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Serialization failure, deadlock or lock timeout: nothing was committed, the same inputs may be tried again.
    Retry,
    /// The connection is gone and nothing was committed (the failure came before COMMIT was sent).
    Lost,
    /// The connection broke while COMMIT was under way: committed or not, nobody knows.
    Unknown,
    /// A row that must exist is missing, or a statement touched another number of rows than it must (2.3.6).
    Integrity,
    /// Anything else: the same statement would fail again.
    Permanent,
}

/// A failed statement or connection. `Display` is one line, without the password.
#[derive(Clone, Debug)]
pub struct Error {
    class: Class,
    code: Option<String>,
    message: String,
}

impl Error {
    /// An error of `class` with the database's own code (SQLSTATE or native), where it has one.
    pub fn new(class: Class, code: Option<String>, message: impl Into<String>) -> Self {
        Self { class, code, message: message.into() }
    }

    /// A row or row count that contradicts what the transaction's profile needs.
    pub fn integrity(message: impl Into<String>) -> Self {
        Self::new(Class::Integrity, None, message)
    }

    /// A failure that a repetition would meet again.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::new(Class::Permanent, None, message)
    }

    /// What may be done about it.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The database's own code: SQLSTATE, or the native number.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The same error seen from COMMIT: a lost connection leaves the outcome unknown there, and so does an answer that
    /// could not be understood; only a server's own refusal, which has a code, says that nothing was committed.
    #[must_use]
    pub fn during_commit(mut self) -> Self {
        if self.class == Class::Lost || self.class == Class::Permanent && self.code.is_none() {
            self.class = Class::Unknown;
        }
        self
    }

    /// The same error with `context: ` in front.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.code {
            Some(code) => write!(f, " ({code})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
