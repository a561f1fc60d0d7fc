//! What differs between databases.

use std::fmt;
use std::str::FromStr;

use crate::finding::Setting;
use crate::placement::{Placement, Spread};
use crate::plan::Explain;
use crate::schema::{ColumnType, ForeignKey, Index, JSON_CHARACTERS, Table};
use crate::scratch_schema::{self, SchemaSql};
use crate::topology::TopologyQuery;
use crate::{OwnedValue, RoutineLanguage};

/// Whether a transaction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    ReadOnly,
    /// It writes.
    ReadWrite,
}

/// Isolation levels by their SQL names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ (snapshot isolation in PostgreSQL).
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl Isolation {
    /// Each level with its name on the command line and in results.
    pub const NAMES: [(Isolation, &'static str); 3] = [
        (Isolation::ReadCommitted, "read-committed"),
        (Isolation::RepeatableRead, "repeatable-read"),
        (Isolation::Serializable, "serializable"),
    ];

    /// The level as SQL writes it.
    pub fn sql(self) -> &'static str {
        match self {
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES.iter().find(|(level, _)| level == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Isolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(level, _)| *level).ok_or_else(|| {
            format!("`{text}` is no isolation level: use read-committed, repeatable-read or serializable")
        })
    }
}

/// The protocol that a database speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireKind {
    /// MySQL's.
    Mysql,
    /// None: this process answers by itself.
    Null,
    /// Whatever an ODBC driver speaks.
    Odbc,
    /// PostgreSQL's.
    Postgres,
    /// None: SQLite runs inside this process.
    Sqlite,
}

impl WireKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            WireKind::Mysql => "MySQL",
            WireKind::Null => "none: answered in this process",
            WireKind::Odbc => "ODBC",
            WireKind::Postgres => "PostgreSQL",
            WireKind::Sqlite => "none: in this process",
        }
    }

    /// How rows are loaded over it.
    pub fn bulk_path(self) -> &'static str {
        match self {
            WireKind::Mysql => "LOAD DATA LOCAL, or multi-row INSERT",
            WireKind::Null => "none: nothing is kept",
            WireKind::Odbc => "INSERT with arrays of parameters",
            WireKind::Postgres => "COPY BINARY",
            WireKind::Sqlite => "prepared INSERT",
        }
    }
}

/// How it was made sure that a dialect is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// The tests run on servers of it; these versions.
    RealServer(&'static str),
    /// No server can be had for the tests; its grammar was asked, in this way.
    Grammar(&'static str),
    /// Written from its documentation; this is known of it.
    No(&'static str),
}

impl Verified {
    /// In two words, and with what.
    pub fn said(self) -> (&'static str, &'static str) {
        match self {
            Verified::RealServer(versions) => ("real server", versions),
            Verified::Grammar(how) => ("grammar checked", how),
            Verified::No(why) => ("not verified here", why),
        }
    }
}

/// How a database is told to change several rows at once, each in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiRowUpdate {
    /// `UPDATE … FROM … RETURNING`: writes and reads in one statement.
    FromReturning,
    /// `UPDATE … JOIN … SET`, after a `SELECT … FOR UPDATE` of what must be read.
    Join,
    /// Not at all: row by row, after a `SELECT … FOR UPDATE` of what must be read.
    OneByOne,
}

/// [`Dialect::clock`] of MySQL and its kin: free of time zones.
pub(crate) const MYSQL_CLOCK: &str = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

/// [`Dialect::clock`] of PostgreSQL and its kin: not the start of the transaction.
pub(crate) const POSTGRES_CLOCK: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";

/// [`Dialect::clock`] of SQLite, which counts days, to the millisecond.
pub(crate) const SQLITE_CLOCK: &str = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000000) AS INTEGER)";

/// A database's way of saying and doing things. What is not overridden is said as standard SQL says it.
pub trait Dialect: Send + Sync {
    /// The database's name: its URL scheme, and its name in results.
    fn name(&self) -> &'static str;

    /// The protocol that it speaks.
    fn wire(&self) -> WireKind;

    /// Whether this is what the database answers to `SELECT version()`.
    fn recognises(&self, version: &str) -> bool;

    /// How it was made sure that all this is right.
    fn verified(&self) -> Verified;

    /// The port where it listens if the URL names none.
    fn default_port(&self) -> u16;

    /// Turns a statement's standard SQL into this database's.
    fn adapt(&self, sql: String) -> String {
        sql
    }

    /// The name of a column type.
    fn column_type(&self, kind: ColumnType) -> String {
        match kind {
            ColumnType::SmallInt => "SMALLINT".into(),
            ColumnType::Int => "INTEGER".into(),
            ColumnType::BigInt => "BIGINT".into(),
            ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
            ColumnType::Char(n) => format!("CHAR({n})"),
            ColumnType::Varchar(n) => format!("VARCHAR({n})"),
            ColumnType::Timestamp => "TIMESTAMP".into(),
            ColumnType::Uuid if self.wire() == WireKind::Postgres => "UUID".into(),
            ColumnType::Json if self.wire() == WireKind::Postgres => "JSONB".into(),
            ColumnType::Uuid => "CHAR(36)".into(),
            ColumnType::Json => format!("VARCHAR({JSON_CHARACTERS})"),
        }
    }

    /// Whether the database runs inside this process, so that its work is in the tool's own weight.
    fn embedded(&self) -> bool {
        false
    }

    /// Whether there are data at all: a target without any answers what its statements declare ([`crate::null_reply`]).
    fn stores_data(&self) -> bool {
        true
    }

    /// Whether primary keys cost least after the rows, and can be added then.
    fn primary_key_after_load(&self) -> bool;

    /// Whether secondary indexes cost least after the rows.
    fn indexes_after_load(&self) -> bool {
        true
    }

    /// Whether foreign keys can be added, and verified, after the rows.
    fn foreign_keys_after_load(&self) -> bool {
        true
    }

    /// Whether a database can be made as the copy of another one of the server (`CREATE DATABASE … TEMPLATE`).
    fn copies_databases(&self) -> bool {
        false
    }

    /// Whether DDL is part of the transaction around it, and rolled back with it.
    fn transactional_ddl(&self) -> bool;

    /// Whether an error with this code says that what DDL would make is there already.
    fn already_exists(&self, _code: &str) -> bool {
        false
    }

    /// How several rows are changed at once, each in its own way.
    fn multi_row_update(&self) -> MultiRowUpdate {
        MultiRowUpdate::FromReturning
    }

    /// Whether statements can be sent before the answers to earlier ones have come.
    fn pipelines(&self) -> bool {
        self.wire() == WireKind::Postgres
    }

    /// The language of its routines (`None`: it has none).
    fn routines(&self) -> Option<RoutineLanguage> {
        None
    }

    /// The most connections that are of use in a run (`None`: no limit of its own).
    fn useful_connections(&self) -> Option<u32> {
        None
    }

    /// Whether several sessions can write at the same time.
    fn parallel_writers(&self) -> bool {
        true
    }

    /// The isolation levels on offer.
    fn isolations(&self) -> &'static [Isolation];

    /// The weakest level on offer that passes clause 3.4.
    fn default_isolation(&self) -> Isolation;

    /// Whether `level` gives New-Order, Payment, Delivery and Order-Status what clause 3.4.1 asks for.
    fn passes_clause_3_4(&self, level: Isolation) -> bool;

    /// The statement that opens a transaction.
    fn begin(&self, isolation: Isolation, access: Access) -> String {
        let read_only = if access == Access::ReadOnly { " READ ONLY" } else { "" };
        format!("BEGIN ISOLATION LEVEL {}{read_only}", isolation.sql())
    }

    /// Settings of a session that loads: they make bulk work faster and change nothing that stays.
    fn load_settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a session that loads says once all rows are there, before keys and statistics.
    fn settings_after_rows(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a statement refreshes a table's statistics.
    fn has_statistics(&self) -> bool {
        true
    }

    /// The statement that refreshes a table's statistics.
    fn analyze(&self, table: &str) -> String;

    /// How the database is asked for a plan; `None`: it shows none.
    fn explain(&self) -> Option<Explain> {
        None
    }

    /// The query for the server's end of a session: two answers in one session mean that something stands between.
    fn backend(&self) -> Option<&'static str> {
        match self.wire() {
            WireKind::Mysql => Some("SELECT CONNECTION_ID()"),
            WireKind::Postgres => Some("SELECT pg_backend_pid()"),
            WireKind::Null | WireKind::Odbc | WireKind::Sqlite => None,
        }
    }

    /// The statement that breaks off what the session at `backend` is doing, for another session; `None`: there is none,
    /// or the server does so by itself once the connection is gone.
    fn cancel(&self, backend: &str) -> Option<String> {
        match self.wire() {
            WireKind::Mysql => Some(format!("KILL QUERY {backend}")),
            WireKind::Postgres => Some(format!("SELECT pg_cancel_backend({backend})")),
            WireKind::Null | WireKind::Odbc | WireKind::Sqlite => None,
        }
    }

    /// How a schema of our own is made in somebody's database; `None`: it can't be. An embedded database has a file of
    /// its own instead.
    fn scratch_schema(&self) -> Option<SchemaSql> {
        match self.wire() {
            WireKind::Mysql => Some(scratch_schema::MYSQL),
            WireKind::Postgres => Some(scratch_schema::POSTGRES),
            WireKind::Null | WireKind::Odbc | WireKind::Sqlite => None,
        }
    }

    /// The word before the columns that an index only stores; `None`: it has no such columns.
    fn storing(&self) -> Option<&'static str> {
        (self.wire() == WireKind::Postgres).then_some("INCLUDE")
    }

    /// A name as the database's own SQL writes it: as it is, or in quotes where it needs them.
    fn quoted(&self, name: &str) -> String {
        let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        match (plain, self.wire()) {
            (true, _) if !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() => name.to_owned(),
            (_, WireKind::Mysql) => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// How a statement in the database's own SQL marks the place of its value `number`, from 1.
    fn place(&self, number: usize) -> String {
        match self.wire() {
            WireKind::Postgres => format!("${number}"),
            WireKind::Sqlite => format!("?{number}"),
            WireKind::Mysql | WireKind::Null | WireKind::Odbc => "?".to_owned(),
        }
    }

    /// A value as the database's own SQL writes it.
    fn literal(&self, value: &OwnedValue) -> String {
        match value {
            OwnedValue::Null => "NULL".to_owned(),
            // Its last digit is the integer's.
            OwnedValue::Decimal(decimal) if self.wire() == WireKind::Sqlite => decimal.unscaled.to_string(),
            OwnedValue::Int(_) | OwnedValue::Decimal(_) | OwnedValue::Float(_) => value.to_string(),
            OwnedValue::Text(_) | OwnedValue::Timestamp(_) => {
                let text = value.to_string().replace('\'', "''");
                match (self.wire(), text.contains('\\')) {
                    (WireKind::Mysql, true) => format!("'{}'", text.replace('\\', "\\\\")),
                    // Whatever standard_conforming_strings says.
                    (WireKind::Postgres, true) => format!("E'{}'", text.replace('\\', "\\\\")),
                    _ => format!("'{text}'"),
                }
            }
        }
    }

    /// The expression for the server's clock as the statement runs, in whole microseconds since the Unix epoch;
    /// `None`: it can't be asked.
    fn clock(&self) -> Option<&'static str> {
        match self.wire() {
            WireKind::Mysql => Some(MYSQL_CLOCK),
            WireKind::Postgres => Some(POSTGRES_CLOCK),
            WireKind::Sqlite => Some(SQLITE_CLOCK),
            WireKind::Null | WireKind::Odbc => None,
        }
    }

    /// The looks into its catalog that tell how the data lie.
    fn topology(&self) -> &'static [TopologyQuery] {
        &[]
    }

    /// The settings that are judged before a measurement.
    fn judged_settings(&self) -> &'static [Setting] {
        &[]
    }

    /// What follows the closing parenthesis of CREATE TABLE.
    fn table_suffix(&self, _table: &Table) -> &'static str {
        ""
    }

    /// The ways of spreading data that the database has.
    fn spreads(&self) -> &'static [Spread] {
        &[]
    }

    /// The places to which partitions are bound if none are named.
    fn usual_localities(&self, _partitions: u32) -> Vec<String> {
        Vec::new()
    }

    /// Why this placement can't go with foreign keys, if it can't.
    fn refuses_foreign_keys(&self, _placement: &Placement) -> Option<&'static str> {
        None
    }

    /// The columns of a primary key or an index, with how each decides where rows are.
    fn key_columns(&self, columns: &[&str], _placement: &Placement) -> String {
        columns.join(", ")
    }

    /// The clause that spreads a table, at the very end of CREATE TABLE.
    fn spread_clause(&self, _table: &Table, _placement: &Placement) -> String {
        String::new()
    }

    /// The statements that spread a table right after CREATE TABLE.
    fn spread_table(&self, _table: &Table, _placement: &Placement) -> Vec<String> {
        Vec::new()
    }

    /// The clause that spreads an index of a table with a spreading column, at the very end of CREATE INDEX.
    fn spread_index_clause(&self, _placement: &Placement) -> String {
        String::new()
    }

    /// The statements that spread an index right after CREATE INDEX.
    fn spread_index(&self, _table: &Table, _index: &Index, _placement: &Placement) -> Vec<String> {
        Vec::new()
    }

    /// The name under which the rows of a table with this value of the spreading column are loaded fastest.
    fn rows_of(&self, table: &Table, _placement: &Placement, _key: i32) -> String {
        table.name.to_owned()
    }

    /// CREATE TABLE with its checks, with its primary key and its foreign keys or without.
    fn create_table(&self, table: &Table, primary_key: bool, foreign_keys: bool, placement: &Placement) -> String {
        let mut parts = self.columns(table);
        let key = self.primary_key(table);
        if primary_key && !key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", self.key_columns(&key, placement)));
        }
        if foreign_keys {
            parts.extend(table.foreign_keys.iter().map(foreign_key));
        }
        parts.extend(table.checks.iter().map(|check| format!("CONSTRAINT {} CHECK ({})", check.name, check.condition)));
        let (name, suffix) = (table.name, self.table_suffix(table));
        format!("CREATE TABLE {name} (\n  {}\n){suffix}{}", parts.join(",\n  "), self.spread_clause(table, placement))
    }

    /// The columns of CREATE TABLE, each with its type.
    fn columns(&self, table: &Table) -> Vec<String> {
        column_definitions(self, table)
    }

    /// The columns of the primary key; none if the table has no key.
    fn primary_key(&self, table: &Table) -> Vec<&'static str> {
        table.primary_key.to_vec()
    }

    /// Adds the primary key after the load.
    fn add_primary_key(&self, table: &Table) -> String {
        format!("ALTER TABLE {} ADD PRIMARY KEY ({})", table.name, table.primary_key.join(", "))
    }

    /// Adds a foreign key after the load.
    fn add_foreign_key(&self, table: &Table, key: &ForeignKey) -> String {
        format!("ALTER TABLE {} ADD {}", table.name, foreign_key(key))
    }

    /// CREATE INDEX.
    fn create_index(&self, table: &Table, index: &Index, placement: &Placement) -> String {
        let columns = self.key_columns(index.columns, placement);
        let spread = if table.spread_by.is_some() { self.spread_index_clause(placement) } else { String::new() };
        format!("CREATE INDEX {} ON {} ({columns}){spread}", index.name, table.name)
    }

    /// The statement that fills a table from rows that follow it, committing every so many rows if asked to.
    fn copy(&self, into: &str, columns: &str, _rows_per_commit: Option<u32>) -> String {
        format!("COPY {into} ({columns}) FROM STDIN (FORMAT binary)")
    }

    /// Whether a copy can commit every so many rows, and the settings of a session that does so.
    fn copy_in_commits(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The statement with which the servers fetch a table's rows as CSV from `urls` by themselves. Its answer's fourth
    /// column is how many came. `None` if they can't.
    fn import(&self, _table: &Table, _urls: &[String]) -> Option<String> {
        None
    }

    /// The setting of the whole cluster that bounds how fast replicas move, if there is one.
    fn snapshot_rate(&self) -> Option<&'static str> {
        None
    }

    /// The query for how much is still to be moved between the nodes, if that can be asked.
    fn unsettled(&self) -> Option<&'static str> {
        None
    }

    /// What is to be done by hand after a load, before a run on several nodes.
    fn after_load(&self) -> Option<&'static str> {
        None
    }

    /// The query for the instant so many seconds ago, as [`Dialect::begin_at`] takes it; `None` if the past can't be read.
    fn instant(&self, _seconds_ago: u64) -> Option<String> {
        None
    }

    /// The statement that opens a transaction that reads the data as they were at an instant.
    fn begin_at(&self, _instant: &str) -> String {
        self.begin(self.default_isolation(), Access::ReadOnly)
    }

    /// The query for the names and values of the settings that matter to a measurement, if the wire's own doesn't serve.
    fn settings(&self) -> Option<&'static str> {
        None
    }
}

/// Names, types and NOT NULL of a table's own columns.
pub(crate) fn column_definitions<D: Dialect + ?Sized>(dialect: &D, table: &Table) -> Vec<String> {
    let null = |nullable: bool| if nullable { "" } else { " NOT NULL" };
    let columns = table.columns.iter();
    columns.map(|c| format!("{} {}{}", c.name, dialect.column_type(c.kind), null(c.nullable))).collect()
}

fn foreign_key(key: &ForeignKey) -> String {
    let (columns, parent_columns) = (key.columns.join(", "), key.parent_columns.join(", "));
    format!("CONSTRAINT {} FOREIGN KEY ({columns}) REFERENCES {} ({parent_columns})", key.name, key.parent)
}
