//! Wires: how statements travel to a database. One file per wire, all with the same layout.

use crate::scratch_schema::SchemaSql;

pub(crate) mod mysql;
pub(crate) mod null;
pub(crate) mod odbc;
pub(crate) mod pg;
pub(crate) mod sqlite;

/// The protocol that a database speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireKind {
    /// MySQL's.
    Mysql,
    /// No protocol: this process makes the answers.
    Null,
    /// The protocol of an ODBC driver.
    Odbc,
    /// PostgreSQL's.
    Postgres,
    /// No protocol: SQLite runs inside this process.
    Sqlite,
}

impl WireKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.defaults().name
    }

    /// How rows are loaded over it.
    pub fn bulk_path(self) -> &'static str {
        self.defaults().bulk_path
    }

    pub(crate) fn defaults(self) -> &'static WireDefaults {
        match self {
            WireKind::Mysql => &mysql::DEFAULTS,
            WireKind::Null => &null::DEFAULTS,
            WireKind::Odbc => &odbc::DEFAULTS,
            WireKind::Postgres => &pg::DEFAULTS,
            WireKind::Sqlite => &sqlite::DEFAULTS,
        }
    }
}

/// What databases with the same wire have in common, unless their dialect overrides it.
#[derive(Debug)]
pub(crate) struct WireDefaults {
    pub(crate) name: &'static str,
    pub(crate) bulk_path: &'static str,
    /// Whether several databases share this wire, and `SELECT version()` tells which one answers.
    pub(crate) tells_version: bool,
    /// [`crate::Dialect::pipelines`].
    pub(crate) pipelines: bool,
    /// [`crate::Dialect::backend`].
    pub(crate) backend: Option<&'static str>,
    /// [`crate::Dialect::cancel`], with `{}` for the backend.
    pub(crate) cancel: Option<&'static str>,
    /// [`crate::Dialect::clock`].
    pub(crate) clock: Option<&'static str>,
    /// The statements for a scratch schema; `None` if the database can't have one.
    pub(crate) scratch_schema: Option<SchemaSql>,
    /// The quote around names.
    pub(crate) quote: char,
    /// [`crate::Dialect::place`].
    pub(crate) placeholder: fn(usize) -> String,
    /// Text as a literal.
    pub(crate) text_literal: fn(&str) -> String,
    /// Whether decimals are stored as integers of their last digit.
    pub(crate) scaled_decimals: bool,
    /// The queries for a table's columns and indexes; `None` if the catalog can't be asked.
    pub(crate) catalog: Option<CatalogSql>,
    /// DROP INDEX, with `{index}` and `{table}` for the names.
    pub(crate) drop_index: &'static str,
}

/// Queries about the table named `$1`.
#[derive(Debug)]
pub(crate) struct CatalogSql {
    /// The names of its columns, in order.
    pub(crate) columns: &'static str,
    /// A row per index and column, in order: the index, the column (empty for an expression), and `partial` or nothing.
    pub(crate) indexes: &'static str,
    /// Its bytes with those of its indexes, if [`crate::topology`] leaves them out.
    pub(crate) bytes: Option<&'static str>,
}

impl WireDefaults {
    /// Standard SQL.
    pub(crate) const STANDARD: Self = Self {
        name: "",
        bulk_path: "",
        tells_version: false,
        pipelines: false,
        backend: None,
        cancel: None,
        clock: None,
        scratch_schema: None,
        quote: '"',
        placeholder: |_| "?".to_owned(),
        text_literal: |text| format!("'{}'", text.replace('\'', "''")),
        scaled_decimals: false,
        catalog: None,
        drop_index: "DROP INDEX {index}",
    };
}
