//! Databases: sessions, prepared statements, bulk load, DDL dialects and error classes.
//!
//! One file a database ([`postgres`], [`sqlite`], …) above one file a wire ([`wire`]). What differs
//! between databases is a method of its [`Dialect`]; nothing above this crate asks for a name.
//! This crate knows nothing of TPC-C: it runs [`Statement`]s in [`Wave`]s and moves rows.

pub mod bulk;
pub mod cockroachdb;
mod dialect;
mod error;
mod gateways;
pub mod mysql;
pub mod nuodb;
pub mod odbc;
pub mod placement;
pub mod postgres;
mod routine;
pub mod schema;
mod session;
pub mod sqlite;
mod statement;
pub mod tidb;
mod tls;
mod url;
mod value;
mod wave;
mod wire;
pub mod yugabytedb;

pub use dialect::{Access, Dialect, Isolation, MultiRowUpdate, WireKind};
pub use error::{Class, Error};
pub use gateways::Gateways;
pub use routine::RoutineLanguage;
pub use session::{Description, Session};
pub use statement::Statement;
pub use url::{DEFAULT_URL, Url, UrlError};
pub use value::{Decimal, OwnedValue, Value};
pub use wave::{Answer, Row, Wave};

/// Every database that can be measured: adding one is adding its file and its line here.
pub static DATABASES: &[&dyn Dialect] = &[
    &sqlite::Sqlite,
    &postgres::Postgres,
    &cockroachdb::CockroachDb,
    &yugabytedb::YugabyteDb,
    &mysql::MySql,
    &mysql::MariaDb,
    &tidb::TiDb,
    &nuodb::NuoDb,
    &crate::odbc::ODBC,
];
