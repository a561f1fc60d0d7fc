//! SQLite, embedded.

use std::path::PathBuf;

use crate::dialect::{Access, Dialect, Isolation, WireKind};
use crate::schema::{ColumnType, Table};

/// Opens a transaction that may write.
pub(crate) const BEGIN_WRITER: &str = "BEGIN IMMEDIATE";

/// SQLite's dialect.
#[derive(Debug)]
pub struct Sqlite;

impl Dialect for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn wire(&self) -> WireKind {
        WireKind::Sqlite
    }

    fn default_port(&self) -> u16 {
        0
    }

    /// `?n` for parameters; no row locks to ask for (one writer at a time); the clock by its own name.
    fn adapt(&self, sql: String) -> String {
        sql.replace('$', "?")
            .replace(" FOR UPDATE", "")
            .replace("LOCALTIMESTAMP", "strftime('%Y-%m-%d %H:%M:%f', 'now')")
    }

    /// SQLite has no exact decimal (NUMERIC keeps 0.1 as a binary float), so decimals are integers
    /// of their last digit: cents, ten-thousandths.
    fn column_type(&self, kind: ColumnType) -> String {
        match kind {
            ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt | ColumnType::Decimal { .. } => {
                "INTEGER".into()
            }
            ColumnType::Char(n) => format!("CHAR({n})"),
            ColumnType::Varchar(n) => format!("VARCHAR({n})"),
            ColumnType::Timestamp => "TIMESTAMP".into(),
        }
    }

    fn embedded(&self) -> bool {
        true
    }

    fn primary_key_after_load(&self) -> bool {
        false
    }

    /// SQLite has no ALTER TABLE that adds one.
    fn foreign_keys_after_load(&self) -> bool {
        false
    }

    fn transactional_ddl(&self) -> bool {
        true
    }

    /// One writer at a time: more connections only wait for each other.
    fn useful_connections(&self) -> Option<u32> {
        Some(4)
    }

    fn parallel_writers(&self) -> bool {
        false
    }

    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::Serializable]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::Serializable
    }

    fn passes_clause_3_4(&self, _level: Isolation) -> bool {
        true
    }

    /// A transaction that reads first and writes later would be refused at its first write, so writers lock at once.
    fn begin(&self, _isolation: Isolation, access: Access) -> String {
        match access {
            Access::ReadOnly => "BEGIN".into(),
            Access::ReadWrite => BEGIN_WRITER.into(),
        }
    }

    /// A larger cache for the trees that grow.
    fn load_settings(&self) -> &'static [&'static str] {
        &["PRAGMA cache_size = -262144"]
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE {table}")
    }

    /// Rows live in the primary key's own tree.
    fn table_suffix(&self, table: &Table) -> &'static str {
        if table.primary_key.is_empty() { "" } else { " WITHOUT ROWID" }
    }
}

/// Reads what follows `sqlite:`.
pub(crate) fn parse(rest: &str) -> Result<PathBuf, String> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    match path {
        "" => Err("the sqlite URL names no file: write sqlite:weighbridge.db".into()),
        ":memory:" => {
            Err("a database in memory can't be shared by connections: name a file, as in sqlite:weighbridge.db".into())
        }
        path => Ok(PathBuf::from(path)),
    }
}
