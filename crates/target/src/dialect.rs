//! What differs between databases.

use std::fmt;
use std::str::FromStr;

use crate::RoutineLanguage;
use crate::schema::{ColumnType, ForeignKey, Index, Table};

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
    const NAMES: [(Isolation, &'static str); 3] = [
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
    /// PostgreSQL's.
    Postgres,
    /// None: SQLite runs inside this process.
    Sqlite,
}

/// How a database is told to change several rows at once, each in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiRowUpdate {
    /// `UPDATE … FROM … RETURNING`: writes and reads in one statement.
    FromReturning,
    /// `UPDATE … JOIN … SET`, after a `SELECT … FOR UPDATE` of what must be read.
    Join,
}

/// A database's way of saying and doing things. What is not overridden is said as standard SQL says it.
pub trait Dialect: Send + Sync {
    /// The database's name: its URL scheme, and its name in results.
    fn name(&self) -> &'static str;

    /// The protocol that it speaks.
    fn wire(&self) -> WireKind;

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
        }
    }

    /// Whether the database runs inside this process, so that its work is in the tool's own weight.
    fn embedded(&self) -> bool {
        false
    }

    /// Whether primary keys cost least after the rows, and can be added then.
    fn primary_key_after_load(&self) -> bool;

    /// Whether foreign keys can be added, and verified, after the rows.
    fn foreign_keys_after_load(&self) -> bool {
        true
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

    /// The statement that refreshes a table's statistics.
    fn analyze(&self, table: &str) -> String;

    /// What follows the closing parenthesis of CREATE TABLE.
    fn table_suffix(&self, _table: &Table) -> &'static str {
        ""
    }

    /// CREATE TABLE, with its primary key and its foreign keys or without.
    fn create_table(&self, table: &Table, primary_key: bool, foreign_keys: bool) -> String {
        let mut parts: Vec<String> = Vec::new();
        for column in table.columns {
            let null = if column.nullable { "" } else { " NOT NULL" };
            parts.push(format!("{} {}{null}", column.name, self.column_type(column.kind)));
        }
        if primary_key && !table.primary_key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", table.primary_key.join(", ")));
        }
        if foreign_keys {
            parts.extend(table.foreign_keys.iter().map(foreign_key));
        }
        format!("CREATE TABLE {} (\n  {}\n){}", table.name, parts.join(",\n  "), self.table_suffix(table))
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
    fn create_index(&self, table: &Table, index: &Index) -> String {
        format!("CREATE INDEX {} ON {} ({})", index.name, table.name, index.columns.join(", "))
    }
}

fn foreign_key(key: &ForeignKey) -> String {
    let (columns, parent_columns) = (key.columns.join(", "), key.parent_columns.join(", "));
    format!("CONSTRAINT {} FOREIGN KEY ({columns}) REFERENCES {} ({parent_columns})", key.name, key.parent)
}
