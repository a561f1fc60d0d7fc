//! The same questions put to real drivers: PostgreSQL's, MariaDB's and SQLite's.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod arrays;
mod errors;
mod transactions;
mod values;

use std::any::Any;

use odbc::{Answer, Connection, Parameter};

/// A database behind a driver.
struct Source {
    name: &'static str,
    connection_string: String,
    /// What it lives in; gone when dropped.
    _home: Box<dyn Any>,
}

impl Source {
    fn connect(&self) -> Connection {
        Connection::open(&self.connection_string).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
}

/// Every database that can be had here.
fn sources() -> Vec<Source> {
    [Some(sqlite()), postgres(), mariadb()].into_iter().flatten().collect()
}

fn sqlite() -> Source {
    let folder = tempfile::tempdir().unwrap();
    let connection_string = format!("Driver={{SQLite3}};Database={}", folder.path().join("a.db").display());
    Source { name: "SQLite", connection_string, _home: Box::new(folder) }
}

fn postgres() -> Option<Source> {
    let server = lab::postgres_or_skip()?;
    let connection_string =
        format!("Driver={{PostgreSQL Unicode}};Server=127.0.0.1;Port={};Database=postgres;Uid=postgres", server.port());
    Some(Source { name: "PostgreSQL", connection_string, _home: Box::new(server) })
}

fn mariadb() -> Option<Source> {
    let settings = [("character-set-server", "utf8mb4"), ("collation-server", "utf8mb4_bin")];
    let server = lab::or_skip(lab::MariaDb::start_with(&settings))?;
    server.create_database("bench").unwrap();
    let connection_string =
        format!("Driver={{MariaDB Unicode}};Server=127.0.0.1;Port={};Database=bench;Uid=root;Option=2", server.port());
    Some(Source { name: "MariaDB", connection_string, _home: Box::new(server) })
}

/// Prepares and runs a statement once.
fn run(connection: &Connection, sql: &str, row: &[Parameter<'_>]) -> Result<Answer, odbc::Error> {
    connection.prepare(sql)?.execute(&mut connection.row(row)?)
}
