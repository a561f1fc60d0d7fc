//! Databases: sessions, prepared statements, bulk load, DDL dialects and error classes.
//!
//! There is one file per database ([`postgres`], [`sqlite`], …) above one file per wire ([`wire`]). What differs between
//! databases is a method of [`Dialect`], [`Ddl`], [`DataPlacement`] or [`Introspection`]; no crate above asks for a name.
//! No method knows TPC-C: a session runs [`Statement`]s in [`StatementBatch`]es and loads rows.

pub mod breakpoint;
pub mod bulk;
pub mod catalog;
pub mod cockroachdb;
mod ddl;
mod dialect;
mod error;
pub mod finding;
mod gateways;
mod introspection;
pub mod mysql;
pub mod null;
pub mod null_reply;
pub mod nuodb;
pub mod odbc;
pub mod placement;
pub mod plan;
pub mod postgres;
mod routine;
pub mod schema;
mod scratch_schema;
mod session;
pub mod snapshot;
pub mod sqlite;
mod statement;
mod statement_batch;
mod statement_timing;
pub mod tidb;
mod tls;
pub mod topology;
mod url;
mod value;
mod wire;
pub mod yugabytedb;

pub use ddl::Ddl;
pub use dialect::{Access, Dialect, Isolation, MultiRowUpdate, UnknownIsolation, Verified};
pub use error::{Class, Error};
pub use finding::{Finding, Level};
pub use gateways::Gateways;
pub use introspection::Introspection;
pub use placement::DataPlacement;
pub use routine::RoutineLanguage;
pub use scratch_schema::{SchemaSql, ScratchSchema};
pub use session::{Canceller, Description, Protocol, Session};
pub use statement::Statement;
pub use statement_batch::{Answer, Row, StatementBatch};
pub use statement_timing::StatementTiming;
pub use topology::Topology;
pub use url::{DEFAULT_URL, Url, UrlError};
pub use value::{Decimal, OwnedValue, Value};
pub use wire::WireKind;

/// Every database that can be measured. A new one needs its file and a line here.
pub static DATABASES: &[&dyn Dialect] = &[
    &sqlite::Sqlite,
    &postgres::Postgres,
    &cockroachdb::CockroachDb,
    &yugabytedb::YugabyteDb,
    &mysql::MYSQL,
    &mysql::MARIADB,
    &tidb::TiDb,
    &nuodb::NuoDb,
    &crate::odbc::ODBC,
    &null::Null,
];

/// The name of the database that answers `SELECT version()` like this; `None` if it is unknown.
pub fn identify(version: &str) -> Option<&'static str> {
    DATABASES.iter().find(|dialect| dialect.recognises(version)).map(|dialect| dialect.name())
}

#[cfg(test)]
mod tests {
    use super::identify;

    #[test]
    fn databases_are_known_by_their_version() {
        for (version, name) in [
            ("PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu", Some("postgres")),
            ("PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu", Some("yugabytedb")),
            ("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)", Some("cockroachdb")),
            ("8.0.36", Some("mysql")),
            ("8.4.0-commercial", Some("mysql")),
            ("10.11.14-MariaDB-0+deb12u2", Some("mariadb")),
            ("5.5.5-10.11.14-MariaDB", Some("mariadb")),
            ("8.0.11-TiDB-v8.5.4", Some("tidb")),
            ("Frobnicator 3", None),
        ] {
            assert_eq!(identify(version), name, "{version}");
        }
    }

    #[test]
    fn the_page_about_a_new_database_names_every_method() {
        let page = include_str!("../../../docs/add-a-database.md");
        let sources = [
            include_str!("dialect.rs"),
            include_str!("ddl.rs"),
            include_str!("placement.rs"),
            include_str!("introspection.rs"),
        ];
        for source in sources {
            let (_, methods) = source.split_once("\npub trait ").unwrap();
            let (methods, _) = methods.split_once("\n}\n").unwrap();
            for line in methods.lines() {
                let Some((name, _)) = line.strip_prefix("    fn ").and_then(|line| line.split_once('(')) else {
                    continue;
                };
                let listed = if line.ends_with(';') { format!("**`{name}`**") } else { format!(" `{name}`") };
                assert!(page.contains(&listed), "{listed}");
            }
        }
    }
}
