//! SQLite, embedded.

use std::path::PathBuf;

use crate::UrlError;
use crate::ddl::{Ddl, standard_type};
use crate::dialect::{Access, Dialect, Isolation, Verified};
use crate::finding::{Level, Setting, Wanted};
use crate::introspection::Introspection;
use crate::placement::DataPlacement;
use crate::plan::{Explain, Form};
use crate::schema::{ColumnType, Table};
use crate::topology::TopologyQuery;
use crate::wire::WireKind;

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

    fn verified(&self) -> Verified {
        Verified::RealServer("the SQLite that this program carries")
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

    fn embedded(&self) -> bool {
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
}

impl Ddl for Sqlite {
    /// SQLite has no exact decimal (NUMERIC keeps 0.1 as a binary float), so decimals are integers
    /// of their last digit: cents, ten-thousandths.
    fn column_type(&self, kind: ColumnType) -> String {
        match kind {
            ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt | ColumnType::Decimal { .. } => {
                "INTEGER".into()
            }
            ColumnType::Uuid | ColumnType::Json => "TEXT".into(),
            kind => standard_type(kind),
        }
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

impl DataPlacement for Sqlite {}

impl Introspection for Sqlite {
    fn recognises(&self, version: &str) -> bool {
        version.starts_with("SQLite")
    }

    fn explain(&self) -> Option<Explain> {
        Some(Explain { plain: "EXPLAIN QUERY PLAN", run: "EXPLAIN QUERY PLAN", form: Form::SqliteLoops })
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        TOPOLOGY
    }

    fn judged_settings(&self) -> &'static [Setting] {
        SETTINGS
    }
}

/// The sizes of single tables would have to be counted page by page.
const TOPOLOGY: &[TopologyQuery] = &[
    TopologyQuery::Notes(&["SELECT 'embedded: one file, ' || page_count || ' pages of ' || page_size || ' bytes, ' \
         || (page_count * page_size / 1048576) || ' MiB' AS note FROM pragma_page_count, pragma_page_size"]),
    TopologyQuery::Parts {
        unit: None,
        queries: &[
            "SELECT tbl_name AS table_name, CASE type WHEN 'index' THEN name END AS index_name FROM sqlite_master \
             WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite_%'",
        ],
        renamed: &[],
    },
    // Only ANALYZE makes the table, and it counts the rows first.
    TopologyQuery::Parts {
        unit: None,
        queries: &[
            "SELECT tbl AS table_name, MAX(CAST(stat AS INTEGER)) AS row_count FROM sqlite_stat1 \
             WHERE tbl NOT LIKE 'sqlite_%' GROUP BY tbl",
            "SELECT name FROM sqlite_master WHERE FALSE",
        ],
        renamed: &[],
    },
    TopologyQuery::Unsupported(
        "SQLite has neither nodes nor ranges, partitions or copies: everything is in the one file",
    ),
];

const SETTINGS: &[Setting] = &[
    Setting::new(
        "journal_mode",
        Wanted::OneOf(&["wal"]),
        Level::Warn,
        "without the write-ahead log readers and the writer wait for each other; it needs a file system with shared memory",
    ),
    // Read as numbers: 1 is NORMAL, 2 FULL, 3 EXTRA.
    Setting::new(
        "synchronous",
        Wanted::OneOf(&["2", "3"]),
        Level::Warn,
        "the last commits can be lost in a crash of the machine (3.5.2)",
    )
    .is_deviation(),
];

/// Reads what follows `sqlite:`.
pub(crate) fn parse(rest: &str) -> Result<PathBuf, UrlError> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    match path {
        "" => Err("the sqlite URL names no file: write sqlite:weighbridge.db".into()),
        ":memory:" => {
            Err("a database in memory can't be shared by connections: name a file, as in sqlite:weighbridge.db".into())
        }
        path => Ok(PathBuf::from(path)),
    }
}
