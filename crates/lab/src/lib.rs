//! Local servers to try things on: made in a temporary folder, stopped and removed when dropped; or kept, in a folder
//! that says what runs there.
//!
//! They need the database's own programs on this machine and nothing else: no daemon, no port of
//! its own, no setting that outlives them. The code blocks, so that it serves tests and commands
//! alike; it starts programs, and knows no driver.

mod cockroachdb;
mod control;
mod delays;
mod error;
mod galera;
mod kind;
mod line;
mod mariadb;
mod network;
mod persistent;
mod postgres;
mod postgres_cluster;
mod postgres_regions;
mod process;
mod programs;
mod proxy;
mod site;
mod tidb;
mod yugabytedb;

pub use cockroachdb::CockroachDb;
pub use control::Control;
pub use delays::{Delays, DelaysError};
pub use error::LabError;
pub use galera::Galera;
pub use kind::Kind;
pub use mariadb::MariaDb;
pub use network::{Network, RegionLink, hold};
pub use persistent::{Condition, DATABASE, Description, Distance, Layout, down, find, folder, up};
pub use postgres::Postgres;
pub use postgres_cluster::PostgresCluster;
pub use postgres_regions::PostgresRegions;
pub use process::Process;
pub use programs::state_folder;
pub use proxy::Proxy;
pub use site::{Node, interrupt};
pub use tidb::TiDb;
pub use yugabytedb::YugabyteDb;

/// A server for a test, or `None` (with a line on standard error) where its programs are not installed.
///
/// # Panics
/// If the programs are missing and `CI` is `true`, where a test must not be skipped; if the server doesn't start.
pub fn or_skip<S>(started: Result<S, LabError>) -> Option<S> {
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

/// [`Postgres::start`] for a test, as [`or_skip`].
pub fn postgres_or_skip() -> Option<Postgres> {
    or_skip(Postgres::start())
}

/// [`Postgres::start_newest`] for a test, as [`or_skip`].
pub fn newest_postgres_or_skip() -> Option<Postgres> {
    or_skip(Postgres::start_newest())
}

/// [`PostgresCluster::start`] with two standbys for a test, as [`or_skip`].
pub fn postgres_cluster_or_skip() -> Option<PostgresCluster> {
    or_skip(PostgresCluster::start(3))
}

/// [`PostgresRegions::start`] for a test, as [`or_skip`].
pub fn postgres_regions_or_skip(delays: &Delays) -> Option<PostgresRegions> {
    or_skip(PostgresRegions::start(delays))
}

/// [`MariaDb::start`] for a test, as [`or_skip`].
pub fn mariadb_or_skip() -> Option<MariaDb> {
    or_skip(MariaDb::start())
}

/// [`Galera::start`] with three nodes for a test, as [`or_skip`].
pub fn galera_or_skip() -> Option<Galera> {
    or_skip(Galera::start(3))
}

/// [`TiDb::start`] for a test, as [`or_skip`].
pub fn tidb_or_skip() -> Option<TiDb> {
    or_skip(TiDb::start())
}
