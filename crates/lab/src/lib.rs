//! Local servers to try things on: made in a temporary folder, stopped and removed when dropped.
//!
//! They need the database's own programs on this machine and nothing else: no daemon, no port of
//! its own, no setting that outlives them. The code blocks, so that it serves tests and commands
//! alike; it starts programs, and knows no driver.

mod error;
mod mariadb;
mod postgres;
mod programs;

pub use error::LabError;
pub use mariadb::MariaDb;
pub use postgres::Postgres;

/// A PostgreSQL server for a test, or `None` (with a line on standard error) where its programs
/// are not installed.
///
/// # Panics
/// If the programs are missing and `CI` is `true`, where a test must not be skipped; if the server doesn't start.
pub fn postgres_or_skip() -> Option<Postgres> {
    or_skip(Postgres::start())
}

/// A MariaDB server for a test, or `None`, as [`postgres_or_skip`].
///
/// # Panics
/// As [`postgres_or_skip`].
pub fn mariadb_or_skip() -> Option<MariaDb> {
    or_skip(MariaDb::start())
}

fn or_skip<T>(started: Result<T, LabError>) -> Option<T> {
    match started {
        Ok(server) => Some(server),
        Err(e @ LabError::Missing { .. }) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("{e}"),
        Err(e @ LabError::Missing { .. }) => {
            eprintln!("skipped: {e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}
