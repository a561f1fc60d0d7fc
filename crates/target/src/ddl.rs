//! The statements that create, load and index a database's tables.

use crate::RoutineLanguage;
use crate::placement::{DataPlacement, Placement};
use crate::schema::{ColumnType, ForeignKey, Index, JSON_CHARACTERS, Table};

/// How a database creates tables and indexes, and how rows get into them. The defaults are standard SQL.
pub trait Ddl: DataPlacement {
    /// The name of a column type.
    fn column_type(&self, kind: ColumnType) -> String {
        standard_type(kind)
    }

    /// Whether primary keys are cheaper to build after the load, and can be added then.
    fn primary_key_after_load(&self) -> bool;

    /// Whether secondary indexes are cheaper to build after the load.
    fn indexes_after_load(&self) -> bool {
        true
    }

    /// Whether foreign keys can be added and verified after the load.
    fn foreign_keys_after_load(&self) -> bool {
        true
    }

    /// Whether the server can copy one of its databases into a new one (`CREATE DATABASE … TEMPLATE`).
    fn copies_databases(&self) -> bool {
        false
    }

    /// Whether a rollback undoes DDL.
    fn transactional_ddl(&self) -> bool;

    /// Whether DDL fails with this error code when the object exists already.
    fn already_exists(&self, _code: &str) -> bool {
        false
    }

    /// The language of its routines; `None` if it has no routines.
    fn routines(&self) -> Option<RoutineLanguage> {
        None
    }

    /// Session settings that make a load faster and do not outlive the session.
    fn load_settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Session settings of a load once all rows are in, before keys and statistics.
    fn settings_after_rows(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a statement refreshes a table's statistics.
    fn has_statistics(&self) -> bool {
        true
    }

    /// The statement that refreshes a table's statistics.
    fn analyze(&self, table: &str) -> String;

    /// The keyword before an index's included columns; `None` if an index includes no other columns.
    fn storing(&self) -> Option<&'static str> {
        None
    }

    /// The clause after the closing parenthesis of CREATE TABLE.
    fn table_suffix(&self, _table: &Table) -> &'static str {
        ""
    }

    /// CREATE TABLE with its checks, with or without its primary key and its foreign keys.
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
        let name = table.name;
        let suffix = self.table_suffix(table);
        format!("CREATE TABLE {name} (\n  {}\n){suffix}{}", parts.join(",\n  "), self.spread_clause(table, placement))
    }

    /// The columns of CREATE TABLE, each with its type.
    fn columns(&self, table: &Table) -> Vec<String> {
        column_definitions(self, table)
    }

    /// The columns of the primary key; empty if the table has no key.
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

    /// The COPY statement that fills a table, committing after every `rows_per_commit` rows if a number is given.
    fn copy(&self, into: &str, columns: &str, _rows_per_commit: Option<u32>) -> String {
        format!("COPY {into} ({columns}) FROM STDIN (FORMAT binary)")
    }

    /// The session settings for a COPY that commits every so many rows; `None` if the database has no such COPY.
    fn copy_in_commits(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The statement with which the servers themselves fetch a table's rows as CSV from `urls`. The fourth column of its
    /// answer is the number of rows. `None` if they can't.
    fn import(&self, _table: &Table, _urls: &[String]) -> Option<String> {
        None
    }

    /// What the user must do by hand between a load and a run on several nodes.
    fn after_load(&self) -> Option<&'static str> {
        None
    }
}

/// A column type in standard SQL; text for what the standard has no type for.
pub(crate) fn standard_type(kind: ColumnType) -> String {
    match kind {
        ColumnType::SmallInt => "SMALLINT".into(),
        ColumnType::Int => "INTEGER".into(),
        ColumnType::BigInt => "BIGINT".into(),
        ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
        ColumnType::Char(n) => format!("CHAR({n})"),
        ColumnType::Varchar(n) => format!("VARCHAR({n})"),
        ColumnType::Timestamp => "TIMESTAMP".into(),
        ColumnType::Uuid => "CHAR(36)".into(),
        ColumnType::Json => format!("VARCHAR({JSON_CHARACTERS})"),
    }
}

/// Name, type and NOT NULL of each of a table's columns.
pub(crate) fn column_definitions<D: Ddl + ?Sized>(dialect: &D, table: &Table) -> Vec<String> {
    let null = |nullable: bool| if nullable { "" } else { " NOT NULL" };
    let columns = table.columns.iter();
    columns.map(|c| format!("{} {}{}", c.name, dialect.column_type(c.kind), null(c.nullable))).collect()
}

fn foreign_key(key: &ForeignKey) -> String {
    let columns = key.columns.join(", ");
    let parent_columns = key.parent_columns.join(", ");
    format!("CONSTRAINT {} FOREIGN KEY ({columns}) REFERENCES {} ({parent_columns})", key.name, key.parent)
}
